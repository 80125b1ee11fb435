"""FFRecord's errors: each is an error of fuelrail, and also of the type that FFRecord raises.

FFRecord raises RuntimeError for every error in its C++ code, and AssertionError for paths. So
``except RuntimeError`` still works, ``except fuelrail.CorruptError`` works too, and the text names
the file and the place.
"""

from __future__ import annotations

from fuelrail.errors import (
    CorruptError,
    Error,
    InvalidArgumentError,
    IoError,
    NotFoundError,
    OutOfRangeError,
    TruncatedError,
)

__all__ = [
    "CorruptFileError",
    "FileAccessError",
    "FileNameError",
    "MissingFileError",
    "MissingFolderError",
    "RecordRangeError",
    "TruncatedFileError",
]


class CorruptFileError(CorruptError, RuntimeError):
    """A record, a table or a packed folder contradicts its checksum or its format."""


class TruncatedFileError(TruncatedError, RuntimeError):
    """The file ends before its records do."""


class RecordRangeError(OutOfRangeError, RuntimeError):
    """The record does not exist, or there is no room for another record."""


class FileAccessError(IoError, RuntimeError):
    """An operation of the operating system failed."""


class MissingFolderError(NotFoundError, RuntimeError):
    """The folder of the output file does not exist, or a file was removed while in use."""


class FileNameError(InvalidArgumentError, AssertionError):
    """The path is not a `.ffr` name, or is a directory instead of a file, or the reverse."""


class MissingFileError(NotFoundError, AssertionError):
    """The file does not exist."""


_AS_ORIGINAL: dict[type[Error], type[Error]] = {
    CorruptError: CorruptFileError,
    TruncatedError: TruncatedFileError,
    OutOfRangeError: RecordRangeError,
    IoError: FileAccessError,
    NotFoundError: MissingFolderError,
}


def as_original(error: Error, path: str | None = None) -> Error:
    """Converts an error to the class that FFRecord's users catch. path: used if it has none."""
    kind = _AS_ORIGINAL.get(type(error), type(error))
    return kind(
        error.failure,
        path=path if error.path is None else error.path,
        record=error.record,
        offset=error.offset,
        expected=error.expected,
        found=error.found,
        remedy=error.remedy,
    )
