"""Gluon's `mxnet.gluon.data`: datasets of record files, for its DataLoader and for torch's.

>>> from fuelrail.mxnet.gluon.data import RecordFileDataset
>>> from fuelrail.mxnet.gluon.data.vision import ImageRecordDataset
"""

from __future__ import annotations

from fuelrail.mxnet.gluon.data import vision as vision
from fuelrail.mxnet.gluon.data.dataset import Dataset, RecordFileDataset, SimpleDataset

__all__ = ["Dataset", "RecordFileDataset", "SimpleDataset", "vision"]
