"""The one family of errors. Each says what failed, where, and what to do.

Every class also inherits the built-in exception that its kind of failure has in Python, so that
``except FileNotFoundError`` works as well as ``except fuelrail.NotFoundError``.
"""

from __future__ import annotations

import contextlib
import sys
import warnings

from fuelrail import _core

__all__ = [
    "ArgumentTypeError",
    "CorruptError",
    "DecodeError",
    "Error",
    "FuelrailWarning",
    "InvalidArgumentError",
    "IoError",
    "NotFoundError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "StallError",
    "StateError",
    "TooManyBadRecordsError",
    "TruncatedError",
    "UnsupportedError",
]


class Error(Exception):
    """The base of all errors that fuelrail raises.

    Its text is one line: ``<path>: record <i>, offset <n>: <failure>: expected <e>, found <f>.
    <remedy>.`` Each part is an attribute as well; what is not known is None. Only a failure that
    comes without any other part keeps its lines: it may be the whole text of an error in another
    process, traceback and all, which is how torch's DataLoader hands one on.
    """

    failure: str
    """What failed, one clause; of an error from another process the whole text."""
    path: str | None
    """URI of the file, as it was given."""
    record: int | None
    """Index of the record in its file, as in `Place.record`; a dataset may number it otherwise."""
    offset: int | None
    """Byte offset in the file."""
    expected: str | None
    found: str | None
    remedy: str | None
    """What to do, one imperative sentence."""

    def __init__(
        self,
        failure: str,
        *,
        path: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        expected: str | None = None,
        found: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(
            _core.compose_error(failure, path, record, offset, expected, found, remedy)
        )
        self.failure = failure
        self.path = path
        self.record = record
        self.offset = offset
        self.expected = expected
        self.found = found
        self.remedy = remedy


class InvalidArgumentError(Error, ValueError):
    """A caller's value is wrong."""


class ArgumentTypeError(InvalidArgumentError, TypeError):
    """An argument of the wrong type, or an option that does not exist."""


class OutOfRangeError(Error, IndexError):
    """There is no such record, epoch or rank."""


class NotFoundError(Error, FileNotFoundError):
    """There is no such file or directory."""


class IoError(Error, OSError):
    """The operating system refused or failed."""


class TruncatedError(Error, EOFError):
    """The data end too early."""


class CorruptError(Error, ValueError):
    """The data contradict their format."""


class DecodeError(Error, ValueError):
    """An image cannot become pixels."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory for what was asked for."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but not something that fuelrail does."""


class StateError(Error, RuntimeError):
    """The wrong moment: closed, in a forked child, in use elsewhere."""


class StallError(Error, TimeoutError):
    """No batch came for as long as `stall_timeout` says."""


class TooManyBadRecordsError(Error, RuntimeError):
    """More samples were passed over than `max_bad` allows."""


class FuelrailWarning(UserWarning):
    """What fuelrail says without failing: an index set aside, a sample passed over."""


def warn_user(text: str) -> None:
    """A FuelrailWarning that points at the innermost line that is not fuelrail's own."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
        level += 1
    warnings.warn(text, FuelrailWarning, stacklevel=level)


class CoreWarnings(list[str]):
    """What the core warns of in a block, issued when the block has ended. Where it ends by an error,
    that error is raised, also where warnings are errors.
    """

    def __enter__(self) -> CoreWarnings:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        hidden = () if error is None else (FuelrailWarning,)
        for text in self:
            with contextlib.suppress(*hidden):
                warn_user(text)


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and f"{module}.".startswith("fuelrail.")
