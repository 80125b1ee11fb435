"""Samples of many fields for the suites that image datasets have: the options of their loaders, and
the bits of their batches. Scripts import it, so it imports neither NumPy nor torch.
"""

from __future__ import annotations

import os
from typing import Any

import fuelrail as fr
from fuelrail import transforms as T

FIELDS = (
    "id", "position", "valid", "cameras", "cameras.*.image.size", "cameras.*.image.affine", "clip",
    "caption", "notes",
)  # fmt: skip

# The first camera's columns have one size, the second one's differ: each form of column occurs.
OPTIONS: dict[str, Any] = {
    "fields": FIELDS,
    "transforms": {
        "cameras.0.image": [T.RandomIoUCrop(), T.RandomResizedCrop((8, 10)), T.HorizontalFlip()],
        "cameras.1.image": [T.HorizontalFlip(), T.RandomIoUCrop(), T.VerticalFlip()],
        "clip": [T.RandomCrop(6)],
    },
    "ragged": {
        "cameras.0.boxes": "packed",
        "cameras.0.points": "packed",
        "cameras.0.labels": "pad",
        "cameras.1.boxes": "pad",
        "cameras.1.mask": "pad",
        "clip": "packed",
        "*": "list",
    },
    "dtype": {"cameras.1.image": "uint8", "cameras.0.mask": "int64"},
}


def options_of(data: fr.Dataset) -> dict[str, Any]:
    """The options for the samples of `write_samples`, and for other datasets those for images."""
    if data.schema[0].name == "cameras.0.image":
        return OPTIONS
    return {"fields": ["id", "image"], "transforms": [T.CenterCrop(4)]}


def ids_of(batch: Any) -> list[int]:
    """The ids of a batch whose first field is `id`."""
    ids: Any = memoryview(batch["id"] if isinstance(batch, dict) else batch[0])
    return ids.tolist()


def bits(value: Any) -> Any:
    """The values of a batch, nested as they are: types, shapes and bytes in place of arrays."""
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [bits(item) for item in value]
    if hasattr(value, "shape"):
        view = memoryview(value.numpy() if hasattr(value, "data_ptr") else value)
        return str(value.dtype).removeprefix("torch."), view.shape, view.tobytes()
    return value


def arrays_of(value: Any) -> list[Any]:
    """All arrays or tensors of a batch, in nested groups and lists too."""
    if isinstance(value, (dict, list, tuple)):
        parts = value.values() if isinstance(value, dict) else value
        return [array for part in parts for array in arrays_of(part)]
    return [value] if hasattr(value, "shape") else []


FOR_SCRIPTS = f"""
import sys
sys.path.append({os.path.dirname(__file__)!r})
from many_fields import OPTIONS, bits, ids_of, options_of
"""
"""Begins scripts that run in their own interpreter."""
