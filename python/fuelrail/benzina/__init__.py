"""Benzina's API on fuelrail's engine. `fuelrail.benzina.torch` contains the transforms of images
that are stored as H.265 stills.
"""

from __future__ import annotations
