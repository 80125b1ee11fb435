"""Datasets that are written in Python. Worker processes import this module."""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import many_fields_writer
from fuelrail.inputs import DataProvider, SampleDataGroup
from fuelrail.inputs.data_type import DataType


class ManyFields:
    """Samples of many fields, whose images are arrays."""

    fingerprint = "many fields"

    def __init__(self, count: int = 40) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> dict[str, Any]:
        return many_fields_writer.sample(index)


class Photographs:
    """Images as paths, with their numbers."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._paths = sorted(str(path) for path in folder.rglob("*.jpg"))

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> dict[str, Any]:
        if index % 2:
            return {"image": pathlib.Path(self._paths[index]).read_bytes(), "number": index}
        return {"image": self._paths[index], "number": index}


class Numbers:
    """The samples {"number": i}; `at` calls `do` before one of them is returned."""

    def __init__(
        self, count: int = 20, at: int = -1, do: Callable[[], Any] | None = None, bytes_: int = 0
    ) -> None:
        self.count, self.at, self.do, self.bytes = count, at, do, bytes_

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> dict[str, Any]:
        if index == self.at and self.do is not None:
            changed = self.do()
            if changed is not None:
                return changed
        sample: dict[str, Any] = {"number": index}
        if self.bytes:
            sample["bytes"] = np.full(self.bytes, index % 256, np.uint8)
        return sample


class ProcessIds:
    """The process that makes each sample."""

    def __len__(self) -> int:
        return 40

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"number": index, "process": os.getpid()}


# --- What `Numbers` can do ---


def raise_value_error() -> None:
    raise ValueError("this sample is bad")


def raise_surrogate() -> None:
    raise ValueError("no text: \udc80")


def raise_missing() -> None:
    open("/nowhere/image.jpg")  # noqa: SIM115


def exit_with_code() -> None:
    os._exit(3)


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    sys.exit("bye")


def hang(begun: pathlib.Path | None = None) -> None:
    """`begun`: a file to make first."""
    if begun is not None:
        begun.touch()
    while True:
        time.sleep(60)


def take_all_memory() -> None:
    raise MemoryError


def print_much() -> None:
    for _ in range(1000):
        print("a line on standard output " * 10)
    sys.stdout.flush()
    os.write(1, b"and more\n" * 1000)


def close_output() -> None:
    sys.stdout.close()


def other_field() -> dict[str, Any]:
    return {"count": 1}


def none() -> dict[str, Any]:
    return {"number": None}


def text_value() -> dict[str, Any]:
    return {"number": "7"}


def two_values() -> dict[str, Any]:
    return {"number": [1, 2]}


def object_array() -> dict[str, Any]:
    return {"number": np.array([object()], dtype=object)}


def big_endian() -> dict[str, Any]:
    return {"number": np.array(7, ">i8")}


def a_list() -> Any:
    return [1]


class OnlyOnce:
    """Ends the process, but only the first one that calls it."""

    def __init__(self, marker: pathlib.Path) -> None:
        self._marker = marker

    def __call__(self) -> None:
        try:
            self._marker.mkdir()
        except FileExistsError:
            return
        os._exit(4)


class WithLock(Numbers):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class WithFile(Numbers):
    def __init__(self) -> None:
        super().__init__()
        self.file = open(__file__)  # noqa: SIM115

    def close(self) -> None:
        self.file.close()


class LocksLate(Numbers):
    """Makes its lock at the first sample, so that it can be pickled before."""

    lock: Any = None

    def __getitem__(self, index: int) -> dict[str, Any]:
        if self.lock is None:
            self.lock = threading.Lock()
        with self.lock:
            return super().__getitem__(index)


class ShorterInWorkers(Numbers):
    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.count -= 1


# --- A provider ---


class Provider(DataProvider):
    """Two cameras with images, boxes, matrices and text, as groups of ACCV-Lab."""

    fingerprint = "two cameras"

    def __init__(self, count: int = 12, encoded: bool = False) -> None:
        self._count, self._encoded = count, encoded

    @property
    def sample_data_structure(self) -> SampleDataGroup:
        camera = SampleDataGroup()
        camera.add_data_field("image", DataType.UINT8)
        camera.add_data_field("bboxes", DataType.FLOAT)
        camera.add_data_field("classes", DataType.INT64)
        camera.add_data_field("intrinsics", DataType.FLOAT)
        sample = SampleDataGroup()
        sample.add_data_group_field_array("cameras", camera, 2)
        sample.add_data_field("scene", DataType.STRING)
        sample.add_data_field("speed", DataType.FLOAT)
        return sample

    def get_number_of_samples(self) -> int:
        return self._count

    def get_data(self, sample_index: int) -> SampleDataGroup:
        random = np.random.default_rng(sample_index)
        sample = self.sample_data_structure
        for k in range(2):
            camera = sample["cameras"][k]
            image = random.integers(0, 256, (16, 24, 3), dtype=np.uint8)
            camera["image"] = _encoded(image) if self._encoded else image
            count = sample_index % 3
            corners = random.uniform(0, 8, (count, 2))
            camera["bboxes"] = np.concatenate([corners, corners + 5], axis=1).astype(np.float32)
            camera["classes"] = random.integers(0, 4, count)
            camera["intrinsics"] = np.diag([50, 50, 1]).astype(np.float32)
        sample["scene"] = f"scene {sample_index // 4} ☂"
        sample["speed"] = sample_index / 2
        return sample


def _encoded(image: np.ndarray) -> np.ndarray:
    import io

    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return np.frombuffer(file.getvalue(), np.uint8)
