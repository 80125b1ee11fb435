"""The errors of fuelrail.ffrecord. Each is both a fuelrail error and the error FFRecord raises.

FFRecord raises RuntimeError for every error in its C++ code, and AssertionError for invalid paths.
So ``except RuntimeError`` still works, and so does ``except fuelrail.CorruptError``. The error text
names the file and the position in it.
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
    """A record, a table or a packed folder has a wrong checksum or an invalid format."""


class TruncatedFileError(TruncatedError, RuntimeError):
    """The file ends before the end of its last record."""


class RecordRangeError(OutOfRangeError, RuntimeError):
    """A record or file index is out of range, or the writer already has all its `n` records."""


class FileAccessError(IoError, RuntimeError):
    """An operation of the operating system failed."""


class MissingFolderError(NotFoundError, RuntimeError):
    """The folder of the output file does not exist, or a file was removed while in use."""


class FileNameError(InvalidArgumentError, AssertionError):
    """The name does not end with `.ffr`, no file is given, a directory is given instead of a file,
    or a file instead of a directory.
    """


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
    """Converts an error to the class that users of FFRecord catch.

    path: the path of the new error if `error` has none.
    """
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
