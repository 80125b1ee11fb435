"""MXNet's `mx.io` and dmlc's readers: iterators over record files, their batches, and what they read through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuelrail.mxnet.absent_names import missing_from
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

if not TYPE_CHECKING:  # to whom any name would be one that is here
    __getattr__ = missing_from(__name__)
