"""FFRecord's file format and API. A program written for FFRecord only needs to change its imports.

>>> from fuelrail.ffrecord import FileReader, FileWriter
>>> from fuelrail.ffrecord.torch import DataLoader, Dataset

Records are NumPy arrays. To train on images in `.ffr` files, use `fuelrail.torch.DataLoader`, which
reads, decodes and batches images in native threads.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

try:
    import numpy  # noqa: F401  records are NumPy arrays
except ImportError as absent:
    raise ImportError(
        "fuelrail.ffrecord returns records as NumPy arrays, but NumPy is not installed. Install it "
        "with `pip install numpy`."
    ) from absent

from fuelrail import _core
from fuelrail.ffrecord import utils as utils
from fuelrail.ffrecord.errors import (
    CorruptFileError,
    FileAccessError,
    FileNameError,
    MissingFileError,
    MissingFolderError,
    RecordRangeError,
    TruncatedFileError,
)
from fuelrail.ffrecord.fsalign import checkFsAlign
from fuelrail.ffrecord.packed_folder import PackedFolder, pack_folder
from fuelrail.ffrecord.reader import DamagedRecord, FileReader
from fuelrail.ffrecord.writer import FileWriter

__version__ = _core.version()  # the version of fuelrail

if TYPE_CHECKING:
    from fuelrail.ffrecord import torch as torch

__all__ = [
    "CorruptFileError",
    "DamagedRecord",
    "FileAccessError",
    "FileNameError",
    "FileReader",
    "FileWriter",
    "MissingFileError",
    "MissingFolderError",
    "PackedFolder",
    "RecordRangeError",
    "TruncatedFileError",
    "checkFsAlign",
    "pack_folder",
]  # not `torch` and `utils`, because `import *` must not replace the user's own `torch`


def __getattr__(name: str) -> Any:
    if name == "torch":  # imported at first use
        return importlib.import_module("fuelrail.ffrecord.torch")
    raise AttributeError(f"module 'fuelrail.ffrecord' has no attribute '{name}'")
