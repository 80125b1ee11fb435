"""The provider of bench/inputs.py, as all of its contenders use it: two cameras of 720 x 1280 with boxes, classes and matrices.

The folder has `files/INDEX-CAMERA.jpg` and `.npy`, and `annotations.json` with the boxes and classes of each camera.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from fuelrail import fields as F
from fuelrail.inputs import DataProvider, DataType, SampleDataGroup

BATCH = 16
CHECKED = 4  # frames that `saving` saves


def structure(has_images: bool) -> SampleDataGroup:
    camera = SampleDataGroup()
    if has_images:
        camera.add_data_field("image", DataType.UINT8)
    camera.add_data_field("boxes", DataType.FLOAT)
    camera.add_data_field("classes", DataType.INT64)
    camera.add_data_field("intrinsics", DataType.FLOAT)
    camera.add_data_field("extrinsics", DataType.FLOAT)
    sample = SampleDataGroup()
    sample.add_data_group_field_array("cameras", camera, 2)
    sample.add_data_field("scene", DataType.STRING)
    sample.add_data_field("frame", DataType.INT64)
    return sample


def fields_of(annotation: Mapping[str, Any], camera: int) -> dict[str, Any]:
    pose = np.eye(4, dtype=np.float32)
    pose[0, 3] = camera  # metres to the right
    return {
        "boxes": np.array(annotation["boxes"], np.float32),
        "classes": np.array(annotation["labels"], np.int64),
        "intrinsics": np.array(annotation["intrinsics"], np.float32),
        "extrinsics": pose,
    }


class TwoCameras(DataProvider):
    """`records` samples of the folder's files, which are repeated. `kind`: "encoded" images (the bytes of JPEG files), "raw"
    ones (pixels), or "small": none."""

    def __init__(self, folder: pathlib.Path, kind: str, records: int) -> None:
        self._files, self._kind, self._records = folder / "files", kind, records
        self._frames = [
            [fields_of(annotation, camera) for camera, annotation in enumerate(cameras)]
            for cameras in json.loads((folder / "annotations.json").read_text())
        ]
        self._structure = structure(kind != "small")
        if kind != "small":
            self.roles = {
                "*.boxes": F.Boxes("xyxy", rows="objects"),
                "*.classes": F.Label(rows="objects"),
                "*.intrinsics": F.CameraMatrix(),
            }

    @property
    def sample_data_structure(self) -> SampleDataGroup:
        return self._structure.get_empty_like_self()

    def get_number_of_samples(self) -> int:
        return self._records

    def get_data(self, sample_index: int) -> SampleDataGroup:
        index = sample_index % len(self._frames)
        sample = self.sample_data_structure
        for number, fields in enumerate(self._frames[index]):
            camera = sample["cameras"][number]
            stem = self._files / f"{index:04}-{number}"
            if self._kind == "encoded":
                camera["image"] = np.fromfile(f"{stem}.jpg", np.uint8)
            elif self._kind == "raw":
                camera["image"] = np.load(f"{stem}.npy", mmap_mode="r")
            for name, value in fields.items():
                camera[name] = value
        sample["scene"] = f"street {index % 5}, frame {index}"
        sample["frame"] = sample_index
        return sample


def saving(path: pathlib.Path, batches: Iterable[Mapping[str, Any]]) -> Iterator[int]:
    """Yields the number of rows of each batch, and then saves the first CHECKED frames. The keys of a batch are those of
    `names`; a column is an array, or a list with a value for each row."""
    saved = {}
    for batch in batches:
        for row, frame in enumerate(np.asarray(batch["frame"]).ravel().tolist()):
            if frame < CHECKED:
                saved.update({f"{frame}.{name}": column[row] for name, column in batch.items()})
        yield len(batch["frame"])
    np.savez(path, **{name: np.array(value) for name, value in saved.items()})
