"""Shared datasets, created with Pillow, and the settings of hypothesis."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import hypothesis
import pytest
from PIL import Image

import fuelrail as fr
from many_fields_writer import sample, write_samples
from photographs import TINY_COUNT, encoded, photograph

hypothesis.settings.register_profile(
    "fuelrail",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=int(os.environ.get("FUELRAIL_EXAMPLES", "40")),
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.load_profile("fuelrail")

os.environ["FUELRAIL_LEAK_WARNINGS"] = "1"  # scripts must print no leaks at exit


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """31 photographs in three classes, with many sizes and subsamplings."""
    root = tmp_path_factory.mktemp("photographs") / "folder"
    for i in range(31):
        directory = root / ("ant", "bee", "cat")[i % 3]
        directory.mkdir(parents=True, exist_ok=True)
        image = photograph(i, 60 + 7 * i, 200 - 4 * i)
        subsampling = ("4:4:4", "4:2:2", "4:2:0")[i % 3]
        (directory / f"{i:03}.jpg").write_bytes(
            encoded(image, quality=85 + i % 10, subsampling=subsampling, progressive=i % 5 == 0)
        )
    return root


@pytest.fixture(scope="session")
def record_file(folder: pathlib.Path) -> pathlib.Path:
    """The photographs of `folder` in one file."""
    path = folder.parent / "photographs.rec"
    fr.pack(folder, path)
    return path


@pytest.fixture(scope="session")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """97 images of 4 x 4 pixels; every pixel of image i is (i, 255 - i, label)."""
    root = tmp_path_factory.mktemp("tiny")
    for i in range(TINY_COUNT):
        directory = root / "folder" / f"class{i % 5}"
        directory.mkdir(parents=True, exist_ok=True)
        image = Image.new("RGB", (4, 4), (i, 255 - i, i % 5))
        (directory / f"{i:03}.png").write_bytes(encoded(image, "PNG"))
    fr.pack(root / "folder", root / "tiny.rec")
    return root / "tiny.rec"


@pytest.fixture(scope="session")
def many_fields_file(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """97 samples of many fields; see many_fields_writer.py."""
    path = tmp_path_factory.mktemp("many") / "fields.rec"
    return write_samples(path, [sample(i) for i in range(TINY_COUNT)])


@pytest.fixture(params=["tiny_file", "many_fields_file"])
def any_file(request: pytest.FixtureRequest) -> pathlib.Path:
    """Images with labels, and samples of many fields, 97 of each."""
    file: pathlib.Path = request.getfixturevalue(request.param)
    return file


@pytest.fixture
def make_file(tmp_path: pathlib.Path) -> Callable[..., pathlib.Path]:
    """Packs encoded images into a file; the default labels are 0, 1, ..."""

    def make(
        images: list[bytes], labels: list[object] | None = None, **options: object
    ) -> pathlib.Path:
        source = tmp_path / "source"
        source.mkdir(exist_ok=True)
        lines = []
        for i, image in enumerate(images):
            (source / f"{i:04}.img").write_bytes(image)
            label = i if labels is None else labels[i]
            columns = label if isinstance(label, (list, tuple)) else [label]
            lines.append("\t".join([str(i), *map(str, columns), f"{i:04}.img"]) + "\n")
        (source / "all.lst").write_text("".join(lines))
        output = tmp_path / "made.rec"
        fr.pack(source / "all.lst", output, overwrite=True, **options)
        return output

    return make


@pytest.fixture
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a script in a separate interpreter; a hang fails the test."""

    def run(script: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-X", "faulthandler", "-W", "error", "-c", script]
        return subprocess.run(
            [*command, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **options,
        )

    return run
