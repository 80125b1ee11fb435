"""Parses decimals exactly as MXNet 1.9.1 parses its float parameters.

MXNet uses dmlc-core's `strtonum.h` (revision 5df8305). The result is often not the nearest float32.
The tests compare this parser with MXNet's results in tests/golden/mxnet/decimals.json.
"""

from __future__ import annotations

import re

import numpy as np

__all__ = ["read_decimal"]

_DECIMAL = re.compile(
    r"\s*([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:e([+-]?)(\d+))?f?", re.ASCII | re.IGNORECASE
)
_FRACTION_DIGITS = 19  # further digits are ignored
_MOST_EXPONENT = 38
_MOST = np.float32(3.402823466)  # times 10**38
_LEAST = np.float32(1.175494351)  # times 10**-38


def read_decimal(text: str) -> float | None:
    """Parses a decimal as dmlc-core does.

    dmlc-core adds float32(integer part) and float32(fraction) in float32, and then multiplies the
    sum by 10**exponent. For example, the result for "1.8222" is 1.8222001, whereas
    `np.float32("1.8222")` is 1.8222.

    Returns None if the text is not a decimal. Returns infinity if the number is too large. Also
    returns infinity for a number that is too close to 0, for example 1e-38, because dmlc-core does
    so.
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
    """Rounds `whole` to float32 in one step. (`np.float32(whole)` first rounds to float64.)"""
    return np.uint64(min(whole, 2**64 - 1)).astype(np.float32)


def _scaled(value: np.float32, divides: bool, exponent: int) -> np.float32:
    """Returns value * 10**exponent, or value / 10**exponent if `divides` is True."""
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
