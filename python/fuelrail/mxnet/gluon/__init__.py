"""Gluon's datasets that read record files: `fuelrail.mxnet.gluon.data`."""

from __future__ import annotations

from fuelrail.mxnet.gluon import data as data

__all__ = ["data"]
