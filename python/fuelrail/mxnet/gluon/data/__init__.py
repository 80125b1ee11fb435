"""Replaces `mxnet.gluon.data`. The datasets work with the DataLoaders of Gluon and torch.

>>> from fuelrail.mxnet.gluon.data import RecordFileDataset
>>> from fuelrail.mxnet.gluon.data.vision import ImageRecordDataset
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuelrail.mxnet.absent_names import missing_from
from fuelrail.mxnet.gluon.data import vision as vision
from fuelrail.mxnet.gluon.data.dataset import Dataset, RecordFileDataset, SimpleDataset

__all__ = ["Dataset", "RecordFileDataset", "SimpleDataset", "vision"]

if not TYPE_CHECKING:  # with `__getattr__`, type checkers accept any name
    __getattr__ = missing_from(__name__)
