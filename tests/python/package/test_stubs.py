"""The committed stubs are what nanobind generates from the extension, and the package type-checks."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

import fuelrail

PACKAGE = pathlib.Path(__file__).parents[3] / "python" / "fuelrail"


def test_the_stubs_are_those_of_the_extension(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("nanobind")
    made = tmp_path / "_core.pyi"
    command = ["-m", "nanobind.stubgen", "-q", "-m", "fuelrail._core", "-o", str(made)]
    subprocess.run([sys.executable, *command], check=True)
    committed = PACKAGE / "_core.pyi"
    assert made.read_text() == committed.read_text(), (
        f"regenerate {committed}: python {' '.join(command[:-1])} {committed}"
    )


def test_the_installed_package_is_typed() -> None:
    installed = pathlib.Path(fuelrail.__file__).parent
    assert (installed / "py.typed").exists()
    assert (installed / "_core.pyi").exists()


USE = """
from typing import Any

import numpy
import numpy.typing
import torch

import fuelrail as fr
from fuelrail import fields as F

data: fr.Dataset = fr.open(["a.rec", "folder"])
sample: fr.Sample = data[0]
part: fr.Dataset = data[1:3]
with fr.torch.DataLoader(data, batch_size=4, shuffle="full",
                         transforms=[fr.transforms.CenterCrop((4, 5))]) as loader:
    for images, labels in loader:
        total: torch.Tensor = images.sum()
for columns in fr.Loader(data):
    shape: tuple[int, ...] = columns[0].shape


class Street(torch.utils.data.Dataset[dict[str, Any]]):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"image": "a.jpg", "boxes": [[0, 0, 1, 1]], "labels": [index]}


labels_field = F.Label(["car", "bus"], rows="objects")
names: tuple[str, ...] | None = labels_field.classes
schema = fr.Schema(
    {"image": F.Image(), "boxes": F.Boxes("xyxy", rows="objects"), "labels": labels_field})
field: F.FieldSpec = schema["labels"]
classes: list[str] = schema.classes["labels"]
known: bool = schema[0] in schema and "labels" in schema
report: fr.PackReport = fr.pack(Street(), "street.rec", schema=schema)
fr.pack((sample for sample in data), "part.rec", schema=data.schema)
fr.pack([(b"...", 1)], "pairs.rec", schema=[F.Image(), F.Label()])
made = fr.torch.MapDataset("street.rec", shared=[("image", "right")], min_size=2)
loaded = fr.Loader("street.rec", fields=["loader:id", "*"], ragged={"boxes": "packed"})
drawn = fr.transforms.draw([fr.transforms.HorizontalFlip()], (4, 5), leader=1)
mask: numpy.typing.NDArray[Any] = drawn.move_mask(numpy.zeros((4, 5), bool), fill=1)
"""
MISUSE = {
    "fr.Loader(data, batchsize=3)": "batchsize",
    "fr.transforms.CenterCrop('4')": "CenterCrop",
    "fr.transforms.HorizontalFlip(prob=0.5)": "prob",
    "data.spilt({})": "spilt",
}


def test_a_type_checker_understands_the_package(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "use.py"
    script.write_text(USE + "\n".join(MISUSE) + "\n")
    # The cache of `./run`'s type check, which already has torch's and NumPy's types.
    cache = PACKAGE.parent / ".mypy_cache"
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), str(script)]
    environment = {**os.environ, "MYPYPATH": ""}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    first = len(USE.splitlines()) + 1
    assert len(errors) == len(MISUSE), done.stdout
    for line, (place, name) in enumerate(MISUSE.items(), start=first):
        assert f"use.py:{line}: error" in errors[line - first], place
        assert name in errors[line - first]
