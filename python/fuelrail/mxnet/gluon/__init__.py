"""Gluon's datasets for record files, in the module `fuelrail.mxnet.gluon.data`."""

from __future__ import annotations

from fuelrail.mxnet.gluon import data as data

__all__ = ["data"]
