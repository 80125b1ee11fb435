"""Reads packed datasets and returns shuffled, decoded and augmented batches for training.

>>> import fuelrail as fr
>>> data = fr.open("train.rec")
>>> loader = fr.torch.DataLoader(data, batch_size=256, shuffle=True, seed=1, transforms=[
...     fr.transforms.RandomResizedCrop(224),
...     fr.transforms.HorizontalFlip(),
...     fr.transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
... ])
>>> for epoch in range(90):
...     for images, labels in loader:
...         pass

`import fuelrail` imports neither NumPy nor torch. The modules `fuelrail.torch`, `fuelrail.benzina`
and `fuelrail.ffrecord` are imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import fuelrail._interpreter  # noqa: F401  before the extension
from fuelrail import _core, fields, transforms
from fuelrail._core import Array, BadRecord, StageStats, Stats
from fuelrail.converter import convert
from fuelrail.dataset import Dataset, Place, Sample, open
from fuelrail.delivery import BatchContext
from fuelrail.errors import (
    ArgumentTypeError,
    CorruptError,
    DecodeError,
    Error,
    FuelrailWarning,
    InvalidArgumentError,
    IoError,
    NotFoundError,
    OutOfMemoryError,
    OutOfRangeError,
    StallError,
    StateError,
    TooManyBadRecordsError,
    TruncatedError,
    UnsupportedError,
)
from fuelrail.loader import Loader
from fuelrail.orders import WindowShuffle
from fuelrail.packer import PackedFile, PackFailure, PackReport, merge, pack
from fuelrail.progress import PackProgress
from fuelrail.python_dataset import open_python
from fuelrail.recoverer import Loss, Recovery, recover
from fuelrail.schema import Field, Schema

if TYPE_CHECKING:
    from fuelrail import benzina, ffrecord, torch

__all__ = [
    "ArgumentTypeError",
    "Array",
    "BadRecord",
    "BatchContext",
    "CorruptError",
    "Dataset",
    "DecodeError",
    "Error",
    "Field",
    "FuelrailWarning",
    "InvalidArgumentError",
    "IoError",
    "Loader",
    "Loss",
    "NotFoundError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "PackFailure",
    "PackProgress",
    "PackReport",
    "PackedFile",
    "Place",
    "Recovery",
    "Sample",
    "Schema",
    "StageStats",
    "StallError",
    "StateError",
    "Stats",
    "TooManyBadRecordsError",
    "TruncatedError",
    "UnsupportedError",
    "WindowShuffle",
    "__version__",
    "benzina",
    "convert",
    "ffrecord",
    "fields",
    "merge",
    "open",
    "open_python",
    "pack",
    "recover",
    "torch",
    "transforms",
]


__version__ = _core.version()


if not TYPE_CHECKING:  # so that type checkers still report unknown attributes

    def __getattr__(name: str) -> Any:
        if name in ("benzina", "ffrecord", "torch"):
            return importlib.import_module(f"fuelrail.{name}")
        raise AttributeError(f"module 'fuelrail' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
