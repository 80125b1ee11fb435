"""The picture is the judge: whatever moves with an image is where the image shows it."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import fuelrail as fr
from fuelrail import transforms as T
from picture_judge import Judge
from scenes import Scene, draw_scene, moved_values, scene_fields, scene_values
from transform_lists import LISTS

SCENES = 3
"""The scenes of one sample. Each has another number as a leader, and other formats."""
SAMPLES = 2
CASES = 2000
SCHEMA = fr.Schema({"scenes": [scene_fields(i) for i in range(SCENES)]})
COLUMNS = ["scenes", "scenes.*.image.size", "scenes.*.image.affine"]


def packed(path: pathlib.Path, random: np.random.Generator) -> list[list[Scene]]:
    """Packs samples of new scenes, and returns the scenes of each sample."""
    samples = [[draw_scene(random) for _ in range(SCENES)] for _ in range(SAMPLES)]
    values = [{"scenes": [scene_values(one, i) for i, one in enumerate(each)]} for each in samples]
    fr.pack(values, path, schema=SCHEMA, overwrite=True)
    return samples


def test_masks_boxes_points_and_cameras_are_where_the_pixels_show_them(
    tmp_path: pathlib.Path,
) -> None:
    used: set[str] = set()
    judged = 0

    @settings(max_examples=CASES // (SCENES * SAMPLES) + 1)
    @given(transforms=LISTS, seed=st.integers(0, 2**64 - 1))
    def check(transforms: list[T.Transform], seed: int) -> None:
        nonlocal judged
        samples = packed(tmp_path / "x.rec", np.random.default_rng(seed))
        options: dict[str, Any] = {"dtype": "uint8", "layout": "NHWC", "boxes": "xyxy"}
        with fr.Loader(
            tmp_path / "x.rec",
            SAMPLES,
            transforms=transforms,
            seed=seed,
            min_size=3,
            fields=COLUMNS,
            **options,
        ) as loader:
            (batch,) = loader
        for i, columns in enumerate(batch["scenes"]):
            for position, scenes in enumerate(samples):
                scene = scenes[i]
                drawn = T.draw(
                    transforms, scene.size, seed, 0, position, boxes=scene.boxes, leader=i
                )
                judged += Judge(scene, drawn).judge(moved_values(columns, position, i))
        used.update(type(transform).__name__ for transform in transforms)

    check()
    assert used == {*T.__all__} - {"Normalize", "Transform", "draw"}
    assert judged > 2 * CASES
