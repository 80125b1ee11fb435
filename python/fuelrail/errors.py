"""The error classes. The text of an error explains what failed, where it failed, and what to do.

Most error classes are also subclasses of a built-in exception. For example,
``except FileNotFoundError`` catches a ``fuelrail.NotFoundError``.
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
    """The base class of all errors that fuelrail raises.

    The text of an error is one line: ``<path>: record <i>, field '<name>', offset <n>: <failure>:
    expected <e>, found <f>. <remedy>.`` Each part is also an attribute. An unknown part is None, and
    the text does not contain it.

    If torch's DataLoader re-raises an error from a worker process, only `failure` is set. It then
    contains the original text and the traceback, with line breaks.
    """

    failure: str
    """What failed, as one clause. For an error from a worker process of torch, the whole text."""
    path: str | None
    """Path or URI of the file, as the caller passed it."""
    record: int | None
    """Index of the record in the file `path`. The sample's index in a dataset may differ."""
    field: str | None
    """Name of the sample's field, for an image of several. An item of a list is "frames[3]"."""
    offset: int | None
    """Byte offset in the file `path`."""
    expected: str | None
    found: str | None
    remedy: str | None
    """What the user can do, as one imperative sentence."""

    def __init__(
        self,
        failure: str,
        *,
        path: str | None = None,
        record: int | None = None,
        field: str | None = None,
        offset: int | None = None,
        expected: str | None = None,
        found: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(
            _core.compose_error(failure, path, record, field, offset, expected, found, remedy)
        )
        self.failure = failure
        self.path = path
        self.record = record
        self.field = field
        self.offset = offset
        self.expected = expected
        self.found = found
        self.remedy = remedy


class InvalidArgumentError(Error, ValueError):
    """An argument has an invalid value."""


class ArgumentTypeError(InvalidArgumentError, TypeError):
    """An argument has the wrong type, or an option is unknown."""


class OutOfRangeError(Error, IndexError):
    """An index, an epoch or a rank is out of range."""


class NotFoundError(Error, FileNotFoundError):
    """A file or directory does not exist."""


class IoError(Error, OSError):
    """A call to the operating system failed. `found` is the operating system's error text."""


class TruncatedError(Error, EOFError):
    """A file or an image is shorter than its format requires."""


class CorruptError(Error, ValueError):
    """A file is damaged, violates its format, or has changed unexpectedly."""


class DecodeError(Error, ValueError):
    """An image cannot be decoded."""


class OutOfMemoryError(Error, MemoryError):
    """Memory could not be allocated."""


class UnsupportedError(Error, NotImplementedError):
    """The request or the data are valid, but fuelrail does not support them."""


class StateError(Error, RuntimeError):
    """An object cannot be used because it is closed, is in use, or belongs to the parent process."""


class StallError(Error, TimeoutError):
    """No batch was available within `stall_timeout` seconds."""


class TooManyBadRecordsError(Error, RuntimeError):
    """More bad samples were skipped than `max_bad` allows."""


class FuelrailWarning(UserWarning):
    """A problem that is not an error, such as an ignored sidecar or a skipped sample."""


def warn_user(text: str) -> None:
    """Issues a FuelrailWarning that shows the line of user code that called fuelrail."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        frame = frame.f_back
        level += 1
    warnings.warn(text, FuelrailWarning, stacklevel=level)


def note_sample(error: Exception, index: int) -> None:
    """Adds to a program's own error the index of the sample that its dataset could not make."""
    if hasattr(error, "add_note"):  # from Python 3.11 on
        error.add_note(f"raised by the source of sample {index}")


class CoreWarnings(list[str]):
    """Collects the core's warnings inside a `with` block, and issues them when the block ends. If
    the block raises an exception, this exception is never replaced by a warning that a warnings
    filter turned into an error.
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
