"""FFRecord's errors: fuelrail's, each of which is also what the original raised at that place.

The original raises RuntimeError for whatever its C++ side finds, and AssertionError for paths. So
``except RuntimeError`` goes on to work, ``except fuelrail.CorruptError`` works too, and the text
says where.
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
    """There is no such record, or no room for another."""


class FileAccessError(IoError, RuntimeError):
    """The operating system refused or failed."""


class MissingFolderError(NotFoundError, RuntimeError):
    """The folder of a file to be written does not exist, or a file has gone while it was in use."""


class FileNameError(InvalidArgumentError, AssertionError):
    """A path that is none of what is wanted there: not a `.ffr` file, a directory, a file."""


class MissingFileError(NotFoundError, AssertionError):
    """There is no such file."""


_AS_ORIGINAL: dict[type[Error], type[Error]] = {
    CorruptError: CorruptFileError,
    TruncatedError: TruncatedFileError,
    OutOfRangeError: RecordRangeError,
    IoError: FileAccessError,
    NotFoundError: MissingFolderError,
}


def as_original(error: Error, path: str | None = None) -> Error:
    """The same error, as one that the original's callers catch. path: where it says none itself."""
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
