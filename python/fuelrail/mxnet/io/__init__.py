"""Replaces MXNet's `mx.io` and dmlc-core's InputSplit and ThreadedIter.

`im2rec` and `np2rec` pack images into record files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuelrail.mxnet.absent_names import missing_from
from fuelrail.mxnet.im2rec import im2rec, np2rec
from fuelrail.mxnet.io.data import DataBatch, DataDesc, DataIter, NDArray
from fuelrail.mxnet.io.image_record import (
    ImageDetRecordIter,
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordUInt8Iter,
)
from fuelrail.mxnet.io.input_split import InputSplit, InputSplitShuffle
from fuelrail.mxnet.io.threaded_iter import ThreadedIter

# MXNet's names for older, deprecated iterators that return the same batches.
ImageRecordIter_v1 = ImageRecordIter
ImageRecordUInt8Iter_v1 = ImageRecordUInt8Iter

__all__ = [
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
    "InputSplit",
    "InputSplitShuffle",
    "NDArray",
    "ThreadedIter",
    "im2rec",
    "np2rec",
]

if not TYPE_CHECKING:  # with `__getattr__`, type checkers accept any name
    __getattr__ = missing_from(__name__)
