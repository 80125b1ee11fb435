"""Keywords of MXNet's iterators, as values and as the text that MXNet makes of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.mxnet.io.decimals import read_decimal
from fuelrail.options import file_name, integer, nearest, real, shown, typed

# Taken, and without effect here; with the values that MXNet takes, where it takes only some.
_WITHOUT_EFFECT: Mapping[str, tuple[str, ...] | None] = {
    "aug_seq": None,  # the augmenter's name: see `_check_augmenter`
    "ctx": ("cpu", "gpu", "cpu_pinned"),
    "device_id": None,
    "verbose": None,
}
_OWN = ("augmenter", "data_name", "label_name")  # the Python class's own
# What ImageRecordIter has, and nothing of detection stands for.
_NOT_OF_DETECTION = {
    "path_imgidx": "Leave it out: the detection iterator, here as in MXNet, takes no index"
}
_BITS = 63


def read_keywords(keywords: Mapping[str, Any], detection: bool) -> dict[str, Any]:
    """The parameters among `keywords` as the core takes them.

    Errors: ArgumentTypeError for an unknown keyword, naming the nearest, and for a value that cannot be read as
    its parameter's; InvalidArgumentError for one of several values that it is not.
    """
    kinds = {name: kind for name, kind, *_ in _core.record_parameters(detection)}
    known = [*kinds, *_WITHOUT_EFFECT, *_OWN]
    values: dict[str, Any] = {}
    for name, value in keywords.items():
        if name in kinds:
            values[name] = _read(name, kinds[name], value)
        elif name in _WITHOUT_EFFECT:
            _check(name, value, detection)
        elif name not in _OWN:
            remedy = _NOT_OF_DETECTION.get(name) if detection else None
            raise ArgumentTypeError(
                f"there is no option '{name}'", remedy=remedy or nearest(name, known)
            )
    return {name: value for name, value in values.items() if value is not None}


def _check(name: str, value: Any, detection: bool) -> None:
    if name == "device_id":
        _read(name, "int", value)
    elif name == "verbose":
        _read(name, "bool", value)
    elif name == "ctx":
        _choice(name, _WITHOUT_EFFECT["ctx"] or (), value)
    else:
        _choice(name, ("det_aug_default" if detection else "aug_default",), value)


def _read(name: str, kind: str, value: Any) -> Any:
    """`value` of a parameter of that kind; None where it stands for the default."""
    if kind == "path":
        return None if value is None else file_name(f"`{name}`", value)
    if kind.startswith("one of "):
        return None if _is_none(value) else _choice(name, kind.split()[2:], value)
    if kind == "float or None":
        return None if _is_none(value) else _number(name, value)
    if kind == "int or None":
        return None if _is_none(value) else _in_bits(name, _whole(name, value))
    if kind == "shape":
        shape = _listed(name, value, _whole)
        if len(shape) != 3:
            raise InvalidArgumentError(
                f"`{name}` has not three numbers",
                expected="channels, height and width",
                found=shown(value),
            )
        return tuple(shape)
    if kind in ("ints", "floats"):
        return _listed(name, value, _whole if kind == "ints" else _number)
    return {"bool": _truth, "int": _whole, "float": _decimal}[kind](name, value)


def _is_none(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value == "None")


def _truth(name: str, value: Any) -> bool:
    given = str(value).strip().lower()  # also NumPy's, as MXNet reads it
    for truth, names in ((True, ("true", "1")), (False, ("false", "0"))):
        if given in names:
            return truth
    raise ArgumentTypeError(
        f"`{name}` is neither True nor False", expected="True, False, 1 or 0", found=typed(value)
    )


def _whole(name: str, value: Any) -> int:
    given: Any = value
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d+\s*", value):
        given = int(value) if len(value) < 64 else 1 << _BITS
    number = int(given) if isinstance(given, bool) else integer(given)
    if number is None:
        raise ArgumentTypeError(f"`{name}` is not an integer", found=typed(value))
    if not -(1 << _BITS) <= number < 1 << _BITS:
        raise InvalidArgumentError(
            f"`{name}` is out of range", expected=f"below 2**{_BITS}", found=shown(value)
        )
    return number


def _in_bits(name: str, value: int) -> int:
    """A seed of MXNet's is an int of 32 bits."""
    if not -(1 << 31) <= value < 1 << 31:
        raise InvalidArgumentError(
            f"`{name}` is out of range", expected="from -2**31 to 2**31 - 1", found=shown(value)
        )
    return value


def _decimal(name: str, value: Any) -> float:
    """What dmlc reads in `str(value)`, which is how MXNet hands a parameter on."""
    number = read_decimal(str(value))
    if number is None:
        if isinstance(value, str):
            raise ArgumentTypeError(f"`{name}` is not a number", found=typed(value))
        return _number(name, value)  # True, a tensor, a fraction; or no number at all
    if math.isinf(number):
        raise InvalidArgumentError(
            f"`{name}` is out of range",
            expected="0, or from 1.2e-38 to 3.4e38",
            found=shown(value),
        )
    return number


def _number(name: str, value: Any) -> float:
    """The nearest float: what MXNet reads in lists, and where None is a value."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise ArgumentTypeError(f"`{name}` is not a number", found=typed(value)) from None
    return real(f"{name}", value)


def _listed(name: str, value: Any, read: Callable[[str, Any], Any]) -> list[Any]:
    """A sequence, a number for a list of one, or the text of either, as `(3, 224, 224)` or `1,2`."""
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
        raise ArgumentTypeError(f"`{name}` is no list of numbers", found=typed(value)) from None
    return [read(name, item) for item in items]


def _choice(name: str, names: tuple[str, ...] | list[str], value: Any) -> str:
    given = getattr(value, "__name__", value)  # numpy.float32
    given = given if isinstance(given, str) else str(given)  # numpy.dtype("float32")
    if given in names:
        return given
    raise InvalidArgumentError(
        f"`{name}` has no such value", found=shown(value), remedy=nearest(given, list(names))
    )
