"""Decimals as dmlc-core reads MXNet's float parameters: often a float32 beside the nearest one.

Source, for facts: dmlc-core's `strtonum.h`, of which MXNet 1.9.1 has revision 5df8305; what MXNet itself
reads is in tests/golden/mxnet/decimals.json.
"""

from __future__ import annotations

import re

import numpy as np

__all__ = ["read_decimal"]

_DECIMAL = re.compile(
    r"\s*([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:e([+-]?)(\d+))?f?", re.ASCII | re.IGNORECASE
)
_FRACTION_DIGITS = 19  # further ones do not count
_MOST_EXPONENT = 38
_MOST = np.float32(3.402823466)  # before e+38
_LEAST = np.float32(1.175494351)  # before e-38


def read_decimal(text: str) -> float | None:
    """The float32 of a decimal: float32(integer part) + float32(fraction), then times powers of ten in float32.

    "1.8222" is 1.8222001, where the nearest float32 is 1.8222.

    Returns: None for text that is no decimal; an infinity where dmlc says that it is out of range, as from 1e-38 down.
    """
    parts = _DECIMAL.fullmatch(text)
    if parts is None:
        return None
    sign, whole, fraction, exponent_sign, exponent = (part or "" for part in parts.groups())
    value = _float32(int(whole or "0"))
    digits = fraction[:_FRACTION_DIGITS]
    if digits:
        value += np.float32(float(int(digits)) / float(10 ** len(digits)))
    scaled = _scaled(value, exponent_sign == "-", int(exponent or "0"))
    return float(-scaled if sign == "-" else scaled)


def _float32(whole: int) -> np.float32:
    """Rounded once: by way of a double it would be twice."""
    return np.uint64(min(whole, 2**64 - 1)).astype(np.float32)


def _scaled(value: np.float32, divides: bool, exponent: int) -> np.float32:
    """value times, or divided by, ten to that power."""
    at_limit = value < _LEAST if divides else value > _MOST
    if exponent > _MOST_EXPONENT or (exponent == _MOST_EXPONENT and at_limit):
        return np.float32(np.inf)
    scale = np.float32(1)
    for _ in range(exponent // 8):
        scale *= np.float32(1e8)
    for _ in range(exponent % 8):
        scale *= np.float32(10)
    with np.errstate(over="ignore"):
        return value / scale if divides else value * scale
