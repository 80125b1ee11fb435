"""MXNet's `mx.io` and dmlc's readers: iterators over record files, their batches, and what they read through."""

from __future__ import annotations

from fuelrail.mxnet.io.data import DataBatch, DataDesc, DataIter, NDArray
from fuelrail.mxnet.io.image_record import (
    ImageDetRecordIter,
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordUInt8Iter,
)
from fuelrail.mxnet.io.input_split import InputSplit, InputSplitShuffle
from fuelrail.mxnet.io.threaded_iter import ThreadedIter

__all__ = [
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordUInt8Iter",
    "InputSplit",
    "InputSplitShuffle",
    "NDArray",
    "ThreadedIter",
]
