"""Checks and converts the keyword arguments of MXNet's iterators.

A keyword argument is a value, or a string in a form that MXNet accepts, for example "(3,224,224)".
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.mxnet.io.decimals import read_decimal
from fuelrail.options import (
    Option,
    choice_of,
    described,
    file_name,
    integer,
    nearest,
    real,
    shown,
    text,
    typed,
)

# The heading of each group of options, by the group's first option.
_GROUPS = {
    "path_imgrec": "Dataset:",
    "batch_size": "Batch:",
    "inter_method": "Augmentation, in the order in which it takes place:",
    "preprocess_threads": "Backend:",
    "verbose": "Auxiliary:",
}
_AUGMENTER = """A function that changes the images of a batch after all other augmentation. Its
argument is a NumPy array of shape (batch, channels, height, width), and it must return an array of
the same shape and type. Boxes are not passed to the function."""
REQUIRED = ("path_imgrec", "data_shape", "batch_size")
# Options of ImageRecordIter that ImageDetRecordIter does not have.
_NOT_OF_DETECTION = {
    "path_imgidx": "Remove it: as in MXNet, the detection iterator does not use an index"
}


def _rows(detection: bool) -> list[Option]:
    """Returns the iterator's options: those of the C++ core, then those that only Python uses."""
    without = "No effect, because batches are always in ordinary CPU memory."
    return [
        *itertools.starmap(Option, _core.record_parameters(detection)),
        Option("ctx", "one of cpu gpu cpu_pinned", None, "", without),
        Option("device_id", "int", None, "", without),
        Option("verbose", "bool", None, "", "No effect, because the iterator prints nothing."),
        Option("data_name", "text", "data", "", "Name of the images in `provide_data`."),
        Option("label_name", "text", "softmax_label", "", "Name of the labels in `provide_label`."),
        Option("aug_seq", f"one of {'det_' * detection}aug_default", None, "", "The augmenter."),
        Option("augmenter", "function", None, "", _AUGMENTER),
    ]


def described_keywords(detection: bool, defaults: Mapping[str, Any]) -> str:
    """Returns the list of keyword arguments for an iterator's docstring, grouped as in MXNet.

    defaults: defaults of the iterator's class, which override the defaults in the option table.
    """
    groups: dict[str, list[Option]] = {}
    for row in _rows(detection):
        if row.name in _GROUPS:
            group = groups.setdefault(_GROUPS[row.name], [])
        default = defaults.get(row.name, row.default)
        if isinstance(default, float):
            default = float(str(np.float32(default)))  # the core's 0.3 is a float32
        meaning = row.meaning
        if row.name in REQUIRED and row.name not in defaults:
            default, meaning = None, f"{meaning} Required."
        group.append(Option(f"{row.name} ({row.kind})", "", default, "", meaning))
    return "\n".join(itertools.starmap(described, groups.items()))


def read_keywords(keywords: Mapping[str, Any], detection: bool) -> dict[str, Any]:
    """Checks the keyword arguments and converts each value to the type of its option.

    Keywords with the value None are omitted from the result.

    Errors: ArgumentTypeError for an unknown keyword (the text suggests the nearest known keyword)
    and for a value of the wrong type; InvalidArgumentError for a value that is not a valid choice.
    """
    kinds = {row.name: row.kind for row in _rows(detection)}
    values: dict[str, Any] = {}
    for name, value in keywords.items():
        if name not in kinds:
            remedy = _NOT_OF_DETECTION.get(name) if detection else None
            raise ArgumentTypeError(
                f"unknown option '{name}'", remedy=remedy or nearest(name, [*kinds])
            )
        values[name] = _read(name, kinds[name], value)
    return {name: value for name, value in values.items() if value is not None}


def _read(name: str, kind: str, value: Any) -> Any:
    """Converts the `value` of option `name` to `kind`. Returns None if the default applies."""
    if kind == "path":
        return None if value is None else file_name(f"`{name}`", value)
    if kind == "text":
        return text(f"`{name}`", value)
    if kind == "function":
        if value is None or callable(value):
            return value
        raise ArgumentTypeError(
            f"`{name}` has the wrong type", expected="a function", found=typed(value)
        )
    if isinstance(value, int) and value.bit_length() > 10_000:  # Python cannot print it
        raise InvalidArgumentError(
            f"`{name}` is out of range", expected="a 64-bit integer", found=shown(value)
        )
    if _is_none(value) and (kind.startswith("one of ") or kind.endswith(" or None")):
        return None
    if kind.startswith("one of "):
        return choice_of(name, value, kind.split()[2:])
    if kind in ("ints", "floats", "shape"):
        return _listed(name, value, _number if kind == "floats" else _whole)
    if kind == "float or None":
        return _number(name, value)
    return {"bool": _truth, "int": _whole, "float": _decimal}[kind.split()[0]](name, value)


def _is_none(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value == "None")


def _truth(name: str, value: Any) -> bool:
    given = str(value).strip().lower()  # accepts NumPy's bools, as MXNet does
    for truth, names in ((True, ("true", "1")), (False, ("false", "0"))):
        if given in names:
            return truth
    raise ArgumentTypeError(
        f"`{name}` has the wrong type", expected="True, False, 1 or 0", found=typed(value)
    )


def _whole(name: str, value: Any) -> int:
    given: Any = value
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,4000}\s*", value):
        given = int(value)
    number = int(given) if isinstance(given, bool) else integer(given)
    if number is None:
        raise ArgumentTypeError(
            f"`{name}` has the wrong type", expected="an integer", found=typed(value)
        )
    return number


def _decimal(name: str, value: Any) -> float:
    """Parses `str(value)` as dmlc-core does, because MXNet passes all parameters as text."""
    number = read_decimal(str(value))
    if number is None:
        if isinstance(value, str):
            raise ArgumentTypeError(
                f"`{name}` has the wrong type", expected="a number", found=typed(value)
            )
        return _number(name, value)  # a bool, a tensor, a fraction, or no number at all
    if math.isinf(number):
        raise InvalidArgumentError(
            f"`{name}` is out of range",
            expected="0, or an absolute value from 1.2e-38 to 3.4e38",
            found=shown(value),
        )
    return number


def _number(name: str, value: Any) -> float:
    """Converts `value` to a float. If `value` is text, it is converted as Python's `float` does it,
    as MXNet does for items of lists and for options that may be None. All other options are read
    by `_decimal`.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise ArgumentTypeError(
                f"`{name}` has the wrong type", expected="a number", found=typed(value)
            ) from None
    return real(f"{name}", value)


def _listed(name: str, value: Any, read: Callable[[str, Any], Any]) -> list[Any]:
    """Converts `value` (a sequence, a number, or a text such as `(3, 8, 8)` or `1,2`) to a list."""
    items: Any = value
    if isinstance(value, str):
        inside = value.strip()
        if inside[:1] + inside[-1:] in ("()", "[]"):
            inside = inside[1:-1]
        items = [item for item in inside.split(",") if item.strip()]
    elif integer(value) is not None or isinstance(value, float):
        items = [value]
    try:
        items = list(items)
    except TypeError:
        raise ArgumentTypeError(
            f"`{name}` has the wrong type", expected="a list of numbers", found=typed(value)
        ) from None
    return [read(name, item) for item in items]
