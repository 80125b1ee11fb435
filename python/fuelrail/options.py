"""Functions that check and convert arguments of the public API."""

from __future__ import annotations

import enum
import functools
import inspect
import operator
import os
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_type_hints

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, OutOfRangeError

P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=enum.Enum)

_BY_PLACE = inspect.Parameter.POSITIONAL_OR_KEYWORD
_ANY_KEYWORD = inspect.Parameter.VAR_KEYWORD


class Option(NamedTuple):
    """An option, as the C++ core defines it."""

    name: str
    kind: str
    """The type of the values, such as "bool", "int", "float or None" or "one of a b c"."""
    default: Any
    bounds: str
    """The allowed values, as error texts show them. Empty if every value of the kind is allowed."""
    meaning: str

    def read(self, value: object) -> Any:
        """Converts `value` to the type of this option. Does not check the bounds. Errors:
        ArgumentTypeError for a wrong type; InvalidArgumentError for an unknown choice.
        """
        kind = self.kind.removesuffix(" or None")
        if value is None and kind != self.kind:
            return None
        if kind.startswith("one of "):
            return choice_of(self.name, value, kind.split()[2:])
        if kind == "bool":
            return truth(self.name, value)
        number = integer(value)
        if kind == "float" or (kind == "int or float" and number is None):
            return real(self.name, value)
        if number is None:
            raise ArgumentTypeError(
                f"`{self.name}` has the wrong type", expected="an integer", found=typed(value)
            )
        return number


def read_options(rows: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a dict from option names to values: for each option in `rows`, the value in `given`,
    or else the option's default.
    """
    return {
        row.name: row.read(given[row.name]) if row.name in given else row.default for row in rows
    }


PATTERNED = ("dtype", "layout", "ragged")
"""The options whose value may also be a dict from patterns of field names to values."""


def by_pattern(
    rows: Iterable[Option], given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, list[tuple[str, Any]]]]:
    """Separates the values of the options in PATTERNED that are given as dicts.

    Returns `given`, in which such a dict is replaced with its value for "*", or omitted if it has
    none; and the other patterns and values of each option in PATTERNED. Errors: those of
    `Option.read`, and of `text` for a pattern.
    """
    plain = dict(given)
    patterns: dict[str, list[tuple[str, Any]]] = {name: [] for name in PATTERNED}
    for row in rows:
        values = given.get(row.name)
        if row.name not in PATTERNED or not isinstance(values, Mapping):
            continue
        del plain[row.name]
        for pattern, value in values.items():
            text(f"a pattern of `{row.name}`", pattern)
            read = row._replace(name=f"{row.name}[{shown(pattern)}]").read(value)
            if pattern == "*":
                plain[row.name] = read
            else:
                patterns[row.name].append((pattern, read))
    return plain, patterns


def keywords(
    types: type, rows: Iterable[Option], own: Mapping[str, Any]
) -> list[inspect.Parameter]:
    """Returns the keyword parameters that replace `**options` in a function's signature.

    types: a TypedDict with the name and the type of each parameter.
    rows: the options that the core defines.
    own: the names and defaults of the options that only Python defines. They come first in the
        result.
    """
    defaults = {**own, **{row.name: row.default for row in rows}}
    hints, kind = get_type_hints(types), inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(name, kind, default=defaults[name], annotation=hints[name])
        for name in sorted(hints, key=[*defaults].index)
    ]


def described(heading: str, rows: Iterable[Option]) -> str:
    """Returns text for a docstring: `heading`, then the meaning and default of each option."""
    lines = [heading]
    for row in rows:
        default = "" if row.default is None else f" Default: {row.default!r}."
        text = f"{row.name}: {row.meaning}{default}"
        lines += textwrap.wrap(
            text, 100, initial_indent="    ", subsequent_indent=" " * 8, break_on_hyphens=False
        )
    return "\n".join(lines)


def suggests_options(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function. A call with an unknown keyword argument then raises ArgumentTypeError,
    and the error text suggests the nearest known name.
    """
    return suggests_options_or({})(function)


def suggests_options_or(
    remedies: Mapping[str, str], options: Sequence[inspect.Parameter] = (), text: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Like `suggests_options`. Also adds options to the function's signature and docstring.

    remedies: a dict from the name of an unknown option to the advice in the error text.
    options: the parameters that replace `**options` in the function's signature.
    text: a description of these parameters, which is appended to the docstring.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        named = [one for one in signature.parameters.values() if one.kind is not _ANY_KEYWORD]
        signature = signature.replace(parameters=[*named, *options])
        parameters = signature.parameters
        known = [name for name in parameters if name != "self"]
        places = [name for name in parameters if parameters[name].kind is _BY_PLACE]

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in parameters:
                    raise ArgumentTypeError(
                        f"unknown option '{name}'",
                        remedy=remedies.get(name) or nearest(name, known),
                    )
            if len(args) > len(places):
                raise ArgumentTypeError(
                    "too many positional arguments",
                    expected="at most "
                    + " and ".join(f"`{name}`" for name in places if name != "self"),
                    found=f"an additional argument, {shown(args[len(places)])}",
                    remedy="Pass all other arguments by name, as in `option=value`",
                )
            return function(*args, **kwargs)

        if options:
            checked.__signature__ = signature  # type: ignore[attr-defined]
            hints = {name: one.annotation for name, one in parameters.items() if name != "self"}
            checked.__annotations__ = {**hints, "return": signature.return_annotation}
            checked.__doc__ = f"{inspect.getdoc(function)}\n\n{text}"
        return checked

    return decorate


def shown(value: object) -> str:
    """Returns `repr(value)` as one line of at most 80 characters, for error texts. If `repr` fails,
    the text has only the name of the type.
    """
    try:
        line = " ".join(repr(value).split())
    except Exception:  # from a foreign `repr`, or for an int of more than 4,300 digits
        return f"an object of type {type(value).__name__}"
    return line if len(line) <= 80 else line[:77] + "..."


def typed(value: object) -> str:
    """Returns `value` and its type as text, such as "3 (int)", for errors about wrong types."""
    return f"{shown(value)} ({type(value).__name__})"


def nearest(given: str, known: Sequence[str]) -> str:
    """Returns a sentence for an error text. The sentence suggests the name in `known` that is most
    similar to `given`, or lists all known names.
    """
    return _core.suggest(given.encode("utf-8", "replace").decode(), known)


def choice(option: str, value: object, kind: type[E]) -> E:
    """Like `choice_of`, but returns a member of the enumeration `kind`."""
    return kind[choice_of(option, value, list(kind.__members__))]


def choice_of(option: str, value: object, names: Sequence[str]) -> str:
    """Returns the name that `value` stands for. The name must be in `names`.

    `value` is the name itself or an object that has a name: a dtype or a type (`torch.float16`,
    `numpy.float16`), or an enumeration member (`InterpolationMode.BICUBIC`). Errors:
    InvalidArgumentError for an unknown name; ArgumentTypeError for a value without a name.
    """
    given = getattr(value, "value", value)
    name = getattr(given, "__name__", given)
    if not isinstance(name, str):
        name = str(given) if named_by_text(given) else ""
    name = name.removeprefix("torch.")
    if name not in names:
        kind_of_error = InvalidArgumentError if name else ArgumentTypeError
        raise kind_of_error(
            f"`{option}` is invalid",
            found=shown(value),
            remedy=nearest(name, names),
        )
    return name


def named_by_text(value: object) -> bool:
    """Returns whether `value` is a dtype or a torch.memory_format. If it is, `str(value)` is its
    name.
    """
    kind = type(value).__name__.lower()
    return "dtype" in kind or kind == "memory_format"


def whole(option: str, value: object, least: int = 0, bits: int = 63) -> int:
    """Returns `value` as an int. `value` must be an integer (of Python, NumPy or another library)
    with least <= value < 2**bits.

    option: the value's name in error texts.

    Errors: ArgumentTypeError for a bool and for any other value that is not an integer;
    InvalidArgumentError for an integer out of range.
    """
    number = integer(value)
    if number is None:
        raise ArgumentTypeError(
            f"`{option}` has the wrong type", expected="an integer", found=typed(value)
        )
    if not least <= number < 2**bits:
        raise InvalidArgumentError(
            f"`{option}` is out of range",
            expected=f"at least {least}" if number < least else f"below 2**{bits}",
            found=shown(number),
        )
    return number


def integer(value: object) -> int | None:
    """Converts an integer of Python, NumPy or another library to an int. Returns None for a bool
    and for a value of any other type.
    """
    if type(value) is int:
        return value
    if _is_bool(value):
        return None
    try:
        return int(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        return None


def _is_bool(value: object) -> bool:
    return isinstance(value, bool) or "bool" in str(getattr(value, "dtype", None))


def place_of(
    index: object,
    size: int,
    thing: str,
    path: str | None = None,
    kind: type[OutOfRangeError] = OutOfRangeError,
) -> int:
    """Checks `index` and returns it as an int of at least 0. A negative index counts from the end.

    size: the number of elements.
    thing: the word for an element in error texts.
    path: the path of the file, for error texts.

    Errors: ArgumentTypeError; an error of the class `kind` for an index outside [-size, size).
    """
    number = integer(index)
    if number is None:
        raise ArgumentTypeError(
            "an index has the wrong type", expected="an integer", found=typed(index)
        )
    if not -size <= number < size:
        raise kind(
            f"the {thing} index is out of range"
            if size
            else f"the {thing} index is out of range, because the dataset is empty",
            path=path,
            expected=f"[-{size}, {size})" if size else None,
            found=shown(number),
        )
    return number + size if number < 0 else number


def real(option: str, value: object) -> float:
    """Converts a number to a float. Errors: ArgumentTypeError for a bool, a string, and any other
    value that is not a number; InvalidArgumentError for an integer that is too large for a float.
    """
    try:
        if _is_bool(value) or isinstance(listed(value), (str, bytes, bytearray, memoryview)):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"`{option}` has the wrong type", expected="a number", found=typed(value)
        ) from None
    except OverflowError:
        raise InvalidArgumentError(
            f"`{option}` is out of range",
            expected="a number that fits in a Python float",
            found=shown(value),
        ) from None


def listed(value: object) -> object:
    """Converts an array or a tensor to a number or to nested lists of numbers. Returns any other
    value unchanged.

    Supports arrays that have the method `tolist`, as in NumPy, torch and JAX. Also supports DLPack
    arrays in CPU memory, such as `fuelrail.Array`, if the elements are booleans, integers, float32
    or float64. Errors: ArgumentTypeError for any other DLPack array.
    """
    if isinstance(value, type):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if not hasattr(value, "__dlpack__"):
        return value
    try:
        return _core.listed(value)
    except (BufferError, NotImplementedError, TypeError):
        raise ArgumentTypeError(
            "the elements of the array cannot be read",
            expected="an array of booleans, integers, float32 or float64 in CPU memory",
            found=typed(value),
            remedy="Convert the array to a list",
        ) from None


def fractions(option: str, parts: object) -> dict[str, float]:
    """Converts `parts`, such as {"train": 0.9, "val": 0.1}, to a dict from str to float. The core
    checks the values later.

    Errors: ArgumentTypeError; InvalidArgumentError for a name that is not valid Unicode or has a
    NUL character.
    """
    if not isinstance(parts, Mapping):
        raise ArgumentTypeError(
            f"`{option}` has the wrong type",
            expected="a mapping from names to fractions",
            found=typed(parts),
            remedy='Write it like {"train": 0.9, "val": 0.1}',
        )
    return {
        text(f"a name in `{option}`", name): real(f"{option}[{shown(name)}]", part)
        for name, part in parts.items()
    }


def file_name(option: str, value: object) -> str:
    """Converts a path to a str with `os.fsdecode`.

    option: the name of the option in error texts, such as "`root`".

    Errors: ArgumentTypeError for a value that is not a path; InvalidArgumentError for a path that
    cannot be encoded or has a NUL character.
    """
    try:
        name = os.fsdecode(value)  # type: ignore[arg-type]
        os.fsencode(name)
    except TypeError:
        raise ArgumentTypeError(
            f"{option} has the wrong type", expected="a path", found=typed(value)
        ) from None
    except UnicodeError:
        raise InvalidArgumentError(
            f"{option} cannot be encoded in the file system's encoding", found=shown(value)
        ) from None
    if "\0" in name:
        raise InvalidArgumentError(f"{option} has a NUL character", found=shown(value))
    return name


def truth(option: str, value: object) -> bool:
    """Returns `value` if it is True or False. Errors: ArgumentTypeError for any other value."""
    if not isinstance(value, bool):
        raise ArgumentTypeError(
            f"`{option}` has the wrong type", expected="True or False", found=typed(value)
        )
    return value


def switch(option: str, value: object) -> bool:
    """Like `truth`, but also accepts 1, 0 and NumPy bools, because MXNet and FFRecord do."""
    known = integer(value) in (0, 1) or (_is_bool(value) and getattr(value, "ndim", 1) == 0)
    return truth(option, bool(value) if known else value)


def text(option: str, value: object) -> str:
    """Checks that `value` is a str that the core accepts, and returns it.

    option: the value's name in error texts.

    Errors: ArgumentTypeError for any other type; InvalidArgumentError for a str with lone
    surrogates or NUL characters.
    """
    if not isinstance(value, str):
        raise ArgumentTypeError(
            f"{option} has the wrong type", expected="a string", found=typed(value)
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{option} is not valid Unicode", found=shown(value)) from None
    if "\0" in value:
        raise InvalidArgumentError(f"{option} has a NUL character", found=shown(value))
    return value
