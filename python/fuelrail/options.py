"""Checks of what a user passes: a wrong name is answered with the nearest right one."""

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
    """A row of one of the core's tables of options."""

    name: str
    kind: str
    """Of its values: "bool", "int", "float or None", "one of a b c", ..."""
    default: Any
    bounds: str
    """As errors say them; empty: any value of the kind."""
    meaning: str

    def read(self, value: object) -> Any:
        """`value` as one of the kind; its bounds the core checks. Errors: ArgumentTypeError."""
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
            raise ArgumentTypeError(f"`{self.name}` is not an integer", found=typed(value))
        return number


def read_options(rows: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values for all of the core's options, those of `given` and defaults, as it takes them."""
    return {
        row.name: row.read(given[row.name]) if row.name in given else row.default for row in rows
    }


def keywords(
    types: type, rows: Iterable[Option], own: Mapping[str, Any]
) -> list[inspect.Parameter]:
    """What a function's `**options` stand for: the keys of the TypedDict `types`, with their
    defaults: Python's own, then the core's options in the order of its tables.
    """
    defaults = {**own, **{row.name: row.default for row in rows}}
    hints, kind = get_type_hints(types), inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(name, kind, default=defaults[name], annotation=hints[name])
        for name in sorted(hints, key=[*defaults].index)
    ]


def described(heading: str, rows: Iterable[Option]) -> str:
    """The options of the core for a docstring."""
    lines = [heading]
    for row in rows:
        default = "" if row.default is None else f" Default: {row.default!r}."
        text = f"{row.name}: {row.meaning}{default}"
        lines += textwrap.wrap(
            text, 100, initial_indent="    ", subsequent_indent=" " * 8, break_on_hyphens=False
        )
    return "\n".join(lines)


def suggests_options(function: Callable[P, R]) -> Callable[P, R]:
    """Makes an unknown keyword an ArgumentTypeError that suggests the nearest option."""
    return suggests_options_or({})(function)


def suggests_options_or(
    remedies: Mapping[str, str], options: Sequence[inspect.Parameter] = (), text: str = ""
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`suggests_options` for a function some of whose unknown options have remedies of their own.
    options: what its `**options` stand for; text: what its docstring says of them.
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
                        f"there is no option '{name}'",
                        remedy=remedies.get(name) or nearest(name, known),
                    )
            if len(args) > len(places):
                raise ArgumentTypeError(
                    "there are too many arguments without a name",
                    expected=" and ".join(f"`{name}`" for name in places if name != "self"),
                    found=shown(args[len(places)]),
                    remedy="Name the others, as in `option=value`",
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
    """`value` for an error's `found`: one short line, whatever its own `repr` does."""
    try:
        line = " ".join(repr(value).split())
    except Exception:  # foreign code; also an int of more than 4,300 digits
        return f"something of type {type(value).__name__}"
    return line if len(line) <= 80 else line[:77] + "..."


def typed(value: object) -> str:
    """As `shown`, with the type, where that is what is wrong."""
    return f"{shown(value)} ({type(value).__name__})"


def nearest(given: str, known: Sequence[str]) -> str:
    """The nearest of the known names, as a sentence."""
    return _core.suggest(given.encode("utf-8", "replace").decode(), known)


def choice(option: str, value: object, kind: type[E]) -> E:
    """The member of `kind` that is called `value`; see `choice_of`."""
    return kind[choice_of(option, value, list(kind.__members__))]


def choice_of(option: str, value: object, names: Sequence[str]) -> str:
    """The one of `names` that `value` is, or is called.

    Enumerations and types of other libraries go by their name: `torch.float16`, `numpy.float16`
    and torchvision's `InterpolationMode.BICUBIC` mean what the strings do.
    """
    given = getattr(value, "value", value)
    name = getattr(given, "__name__", given)
    if not isinstance(name, str):
        name = str(given) if named_by_text(given) else ""
    name = name.removeprefix("torch.")
    if name not in names:
        kind_of_error = InvalidArgumentError if name else ArgumentTypeError
        raise kind_of_error(
            f"`{option}` has no such value",
            found=shown(value),
            remedy=nearest(name, names),
        )
    return name


def named_by_text(value: object) -> bool:
    """Whether `str` of it is its name: dtypes, torch's memory formats."""
    kind = type(value).__name__.lower()
    return "dtype" in kind or kind == "memory_format"


def whole(option: str, value: object, least: int = 0, bits: int = 63) -> int:
    """`value` as an integer in [least, 2**bits). A bool is none."""
    number = integer(value)
    if number is None:
        raise ArgumentTypeError(f"`{option}` is not an integer", found=typed(value))
    if not least <= number < 2**bits:
        raise InvalidArgumentError(
            f"`{option}` is out of range",
            expected=f"at least {least}" if number < least else f"below 2**{bits}",
            found=shown(number),
        )
    return number


def integer(value: object) -> int | None:
    """The int that `value` is, as Python's, NumPy's and others' integers are; None for a bool."""
    if type(value) is int:
        return value
    if _is_bool(value):
        return None
    try:
        return int(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        return None


def _is_bool(value: object) -> bool:
    """Also NumPy's, and a tensor of bools."""
    return isinstance(value, bool) or "bool" in str(getattr(value, "dtype", None))


def place_of(
    index: object,
    size: int,
    thing: str,
    path: str | None = None,
    kind: type[OutOfRangeError] = OutOfRangeError,
) -> int:
    """An index in [-size, size) from the beginning. Errors: ArgumentTypeError; one of `kind`."""
    number = integer(index)
    if number is None:
        raise ArgumentTypeError("an index is not an integer", found=typed(index))
    if not -size <= number < size:
        raise kind(
            f"there is no such {thing}",
            path=path,
            expected=f"an index in [-{size}, {size})" if size else "nothing: it is empty",
            found=shown(number),
        )
    return number + size if number < 0 else number


def real(option: str, value: object) -> float:
    """`value` as a float. A bool is none, nor is text."""
    try:
        if _is_bool(value) or isinstance(listed(value), (str, bytes, bytearray, memoryview)):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"`{option}` is not a number", found=typed(value)) from None
    except OverflowError:
        raise InvalidArgumentError(
            f"`{option}` is out of range",
            expected="a number that a float holds",
            found=shown(value),
        ) from None


def listed(value: object) -> object:
    """An array or a tensor as numbers and lists of them; anything else as it is.

    It has `tolist`, as NumPy's, torch's and JAX's do, or speaks DLPack in the processor's memory,
    as `fuelrail.Array` does: of booleans, integers or floats of 32 or 64 bits. Errors:
    ArgumentTypeError for another one.
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
            "the elements of this array cannot be read",
            expected="booleans, integers or floats of 32 or 64 bits, in the processor's memory",
            found=typed(value),
            remedy="Turn it into a list, or into an array of another type",
        ) from None


def fractions(option: str, parts: object) -> dict[str, float]:
    """`parts` as named fractions; whether they can be, the core says."""
    if not isinstance(parts, Mapping):
        raise ArgumentTypeError(
            f"`{option}` is not a mapping from names to fractions",
            found=typed(parts),
            remedy='Write it as {"train": 0.9, "val": 0.1}',
        )
    return {
        text(f"a name in `{option}`", name): real(f"{option}[{shown(name)}]", part)
        for name, part in parts.items()
    }


def file_name(option: str, value: object) -> str:
    """A path as `os.fsdecode` gives it."""
    try:
        name = os.fsdecode(value)  # type: ignore[arg-type]
        os.fsencode(name)
    except TypeError:
        raise ArgumentTypeError(f"{option} is not a path", found=typed(value)) from None
    except UnicodeError:
        raise InvalidArgumentError(
            f"{option} cannot be a path in the file system's encoding", found=shown(value)
        ) from None
    if "\0" in name:
        raise InvalidArgumentError(f"{option} has a NUL character", found=shown(value))
    return name


def truth(option: str, value: object) -> bool:
    """`value`, which is True or False."""
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"`{option}` is neither True nor False", found=typed(value))
    return value


def switch(option: str, value: object) -> bool:
    """As `truth`, also of 1, 0 and NumPy's, which MXNet's and FFRecord's programs write."""
    known = integer(value) in (0, 1) or (_is_bool(value) and getattr(value, "ndim", 1) == 0)
    return truth(option, bool(value) if known else value)


def text(option: str, value: object) -> str:
    """`value` as text that the core takes: a str without lone surrogates and NUL characters."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{option} is not a string", found=typed(value))
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{option} is not valid Unicode", found=shown(value)) from None
    if "\0" in value:
        raise InvalidArgumentError(f"{option} has a NUL character", found=shown(value))
    return value
