"""MXNet's data API on fuelrail's engine. The package contains `recordio`, `io`, `gluon`, `image`
and `im2rec`.

docs/from_mxnet.md is the guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    import numpy  # noqa: F401  labels and pixels are NumPy arrays
except ImportError as absent:
    raise ImportError(
        "fuelrail.mxnet returns labels and pixels as NumPy arrays, but NumPy is not installed. "
        "Install it with `pip install numpy`."
    ) from absent

from fuelrail.mxnet import gluon, image, io, recordio, transforms
from fuelrail.mxnet.absent_names import missing_from
from fuelrail.mxnet.im2rec import im2rec, make_lists, np2rec
from fuelrail.mxnet.transforms import Brightness, Compose, Normalize, Resize, ResizedCrop

__all__ = [
    "Brightness",
    "Compose",
    "Normalize",
    "Resize",
    "ResizedCrop",
    "gluon",
    "im2rec",
    "image",
    "io",
    "make_lists",
    "np2rec",
    "recordio",
    "transforms",
]

if not TYPE_CHECKING:  # with `__getattr__`, type checkers accept any name
    __getattr__ = missing_from(__name__)
