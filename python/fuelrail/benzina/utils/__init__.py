"""Reads the tracks and boxes of `.bzna` files in Python: `file` and `mp4`."""

from __future__ import annotations

from fuelrail.benzina.utils import file, mp4

__all__ = ["file", "mp4"]
