"""Steps on boxes, points, masks and matrices in a DALI graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuelrail import transforms as T
from fuelrail.inputs import DataType
from fuelrail.inputs.processing_steps import (
    AffineTransformer,
    AnnotationElementConditionEval,
    BEVBBoxesTransformer3D,
    BoundingBoxToHeatmapConverter,
    ConditionalElementRemover,
    CoordinateCropper,
    PointsInRangeCheck,
    VisibleBboxSelector,
)
from step_samples import after, batch_of

F32 = np.float32
OBJECTS = {
    "points": np.array([0, 1, 0, 5, 10], np.int32),
    "range": np.array([[1.5], [60], [50.5], [2], [80]], F32),
    "hidden": np.array([False, True, False, False, True]),
    "id": np.array([1 << 24, (1 << 24) + 1, 3, 4, 2**40], np.int64),
    "level": np.array([0, 1, 2, 3, 255], np.uint8),
    "half": np.array([0, 0.25, 0.5, 1, 2], np.float16),
}


def condition(text: str, objects: Any = OBJECTS, remove: bool = False) -> dict[Any, Any]:
    step = AnnotationElementConditionEval("annotation", text, remove)
    group: dict[Any, Any] = batch_of(step, {"annotation": objects})["annotation"]
    return group


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("points >= 1", [0, 1, 0, 1, 1]),
        ("not points >= 1", [1, 0, 1, 0, 0]),
        ("points >= 1 and not hidden", [0, 0, 0, 1, 0]),
        ("points and level", [0, 1, 0, 1, 1]),
        ("range > 50.5 or hidden or points == 0", [1, 1, 1, 0, 1]),
        ("-level <= -3", [0, 0, 0, 1, 1]),
        ("level - 0 > 0", None),
        ("id == 16777217", [0, 1, 0, 0, 0]),
        ("id == 1099511627776", [0, 0, 0, 0, 1]),
        ("points < range", [1, 1, 1, 0, 1]),
        ("(points == 5) == hidden", [1, 0, 1, 0, 0]),
        ("hidden", [0, 1, 0, 0, 1]),
        ("half > 0.25", [0, 0, 1, 1, 1]),
    ],
)
def test_a_condition_gives_a_bool_for_each_object(text: str, expected: Any) -> None:
    if expected is None:
        with pytest.raises(ValueError, match="expected the end"):
            condition(f"r = {text}")
        return
    mask = condition(f"r = {text}")["r"]
    assert mask.dtype == np.bool_
    assert mask.tolist() == [[bool(truth) for truth in expected]]


def test_a_condition_of_no_objects_is_an_empty_mask() -> None:
    empty = {name: value[:0] for name, value in OBJECTS.items()}
    assert condition("r = points > 1 and range < 2", empty)["r"].shape == (1, 0)


def test_the_fields_of_a_condition_are_removed_if_wished() -> None:
    group = condition("points_and_range = points >= 1 and range < 70", remove=True)
    assert set(group) == {"hidden", "id", "level", "half", "points_and_range"}


def test_elements_are_removed_along_their_axes() -> None:
    mask = np.array([True, False, True, False])
    sample = {
        "a": {"keep": mask, "boxes": np.arange(16, dtype=F32).reshape(4, 4)},
        "b": {"a": {"keep": ~mask, "boxes": np.arange(16, dtype=F32).reshape(4, 4)}},
    }
    step = ConditionalElementRemover("a", "keep", ["boxes"], [1], [2], True)
    batch = batch_of(step, sample)
    assert batch["a"]["boxes"][0].tolist() == [[0, 2], [4, 6], [8, 10], [12, 14]]
    assert batch["b"]["a"]["boxes"][0, 0].tolist() == [1, 3]
    assert "keep" not in batch["a"]
    all_gone = {"a": {"keep": mask & False, "boxes": np.ones((4, 4), F32)}}
    step = ConditionalElementRemover("a", "keep", ["boxes"], [0], [2], False)
    assert batch_of(step, all_gone)["a"]["boxes"].shape == (1, 0, 4)


def test_a_mask_of_another_length_is_an_error_that_names_the_field() -> None:
    wrong = {"a": {"keep": np.ones(3, bool), "boxes": np.ones((4, 4), F32)}}
    step = ConditionalElementRemover("a", "keep", ["boxes"], [0], [2], False)
    with pytest.raises(RuntimeError, match=r"'boxes' has the shape \[4, 4\]"):
        batch_of(step, wrong)


def test_points_are_clipped_in_their_own_type() -> None:
    step = CoordinateCropper("p", [0.1, -1.5], [0.7, 300])
    floats = batch_of(step, {"p": np.array([[0, -9], [9, 9], [0.5, 999]], F32)})["p"]
    assert (floats[0] == np.array([[0.1, -1.5], [0.7, 9], [0.5, 300]], F32)).all()
    integers = batch_of(step, {"p": np.array([[5, 7], [0, 255]], np.uint8)})["p"]
    assert integers.dtype == np.uint8
    step = CoordinateCropper("p", [0.1, -1.5], [2.7, 300])
    integers = batch_of(step, {"p": np.array([[5, 7], [0, 255]], np.uint8)})["p"]
    assert integers[0].tolist() == [[2, 7], [1, 255]]


def test_the_engine_clips_boxes_to_an_image_alike() -> None:
    boxes = np.array([[-5, 3, 30, 99], [10, 10, 20, 20], [70, 2, 90, 30]], F32)
    step = CoordinateCropper("boxes", [0, 0, 0, 0], [80, 40, 80, 40])
    own = batch_of(step, {"boxes": boxes})["boxes"][0]
    assert (own == T.draw([], (40, 80)).move_boxes(boxes)[0]).all()


def test_points_on_the_border_are_inside() -> None:
    step = PointsInRangeCheck("p", "inside", [0.1, 0], [0.7, 1])
    points = np.array([[0.1, 0], [0.7, 1], [0.3, 1.01], [np.nan, 0]], F32)
    assert batch_of(step, {"p": points})["inside"].tolist() == [[True, True, False, False]]


@pytest.mark.parametrize("size", ["image_field_name", "image_hw_field_name", "image_hw"])
def test_the_size_of_an_image_comes_from_any_of_three_places(size: str) -> None:
    sample = {
        "image": np.zeros((10, 20, 3), np.uint8),
        "size": np.array([10, 20], np.int32),
        "boxes": np.array([[0, 0, 5, 5], [18, 0, 30, 5], [19, 0, 30, 5]], F32),
    }
    places: dict[str, Any] = {
        "image_field_name": "image",
        "image_hw_field_name": "size",
        "image_hw": [10, 20],
    }
    step = VisibleBboxSelector(
        "boxes",
        "mask",
        check_for_bbox_occlusion=False,
        minimum_bbox_size=2,
        **{size: places[size]},
    )
    assert batch_of(step, sample)["mask"].tolist() == [[True, True, False]]


def test_points_and_matrices_follow_an_image_size_without_an_image() -> None:
    camera = np.array([[500, 0, 55, 0], [0, 500, 50, 0], [0, 0, 1, 0], [0, 0, 0, 1]], F32)
    step = AffineTransformer(
        [50, 220],
        AffineTransformer.ResizingMode.STRETCH,
        image_hw_field_names="size",
        projection_matrix_field_names="camera",
        point_field_names=["boxes", "none"],
    )
    sample = {
        "size": np.array([100, 110], np.int64),
        "camera": camera,
        "boxes": np.array([[10, 20, 30, 40]], np.float64),
        "none": np.zeros((0, 2), F32),
    }
    batch = batch_of(step, sample)
    assert batch["size"].tolist() == [[50, 220]]
    assert batch["size"].dtype == np.int64
    assert batch["boxes"].tolist() == [[[20, 10, 60, 20]]]
    assert (batch["camera"][0] == np.diag([2, 0.5, 1, 1]).astype(F32) @ camera).all()
    assert batch["none"].shape == (1, 0, 2)


def test_boxes_move_with_the_world_and_the_cameras_stay() -> None:
    points = np.random.default_rng(0).uniform(-9, 9, (5, 3)).astype(F32)
    camera = np.random.default_rng(1).uniform(-1, 1, (3, 4)).astype(F32)
    sample = {"points": points, "angle": np.zeros((5, 1), F32), "camera": camera}
    step = BEVBBoxesTransformer3D(
        "points", None, None, "angle", "camera", None, None, (-3, 3), 2, (0.9, 1.1), (1, 1, 1)
    )
    batch = batch_of(step, *[sample] * 3, seed=5)
    for moved, camera_after in zip(batch["points"], batch["camera"], strict=True):
        before = camera @ np.vstack([points.T, np.ones(5)])
        now = camera_after @ np.vstack([moved.T, np.ones(5)])
        assert np.allclose(now, before, atol=1e-4)
    assert len(np.unique(batch["angle"])) == 3


def test_heatmaps_are_made_of_every_annotation() -> None:
    camera = {
        "image": np.zeros((40, 80, 3), np.uint8),
        "annotation": {
            "boxes": np.array([[0, 0, 40, 40], [60, 10, 76, 22]], F32),
            "category": np.array([1, 0], np.int32),
        },
    }
    step = BoundingBoxToHeatmapConverter(
        "annotation",
        "boxes",
        "heat",
        (20, 40),
        image_field_name="image",
        categories_in_name="category",
        num_categories=3,
        center_opt_out_name="center",
        is_active_opt_out_name="drawn",
    )
    sample = {"left": camera, "right": camera}
    names = after(step, sample)["left"]["annotation"].contained_top_level_field_names
    assert names == ("boxes", "category", "heat", "drawn", "center")
    batch = batch_of(step, sample, sample)
    for side in ("left", "right"):
        group = batch[side]["annotation"]
        assert group["heat"].shape == (2, 3, 20, 40)
        assert group["center"].dtype == np.int32
        assert group["center"][1].tolist() == [[10, 10], [34, 8]]
        assert group["heat"][1, 1, 10, 10] == group["heat"][1, 0, 8, 34] == 1
        assert not group["heat"][:, 2].any()
        assert group["drawn"].all()


def test_steps_run_without_conditionals_too() -> None:
    step = AnnotationElementConditionEval("annotation", "r = points >= 5 and not hidden", False)
    batch = batch_of(step, {"annotation": OBJECTS}, enable_conditionals=False)
    assert batch["annotation"]["r"].tolist() == [[False, False, False, True, False]]


def test_the_result_has_the_type_that_the_check_says() -> None:
    step = AnnotationElementConditionEval("a", "r = x > 1", False)
    assert after(step, {"a": {"x": np.zeros(2)}})["a"].get_type_of_field("r") is DataType.BOOL
