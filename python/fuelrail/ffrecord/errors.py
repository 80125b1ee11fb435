"""The errors of fuelrail.ffrecord. Programs that catch FFRecord's errors also catch these.

FFRecord raises RuntimeError for all errors in its C++ code, and AssertionError for invalid paths.
Each class here derives from one of these two, and from a class of `fuelrail.errors`. An error text
names the file and, if known, the position in the file.
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
    """A record, a record table or a packed folder has a wrong checksum or an invalid format."""


class TruncatedFileError(TruncatedError, RuntimeError):
    """The file ends before the end of its last record."""


class RecordRangeError(OutOfRangeError, RuntimeError):
    """A record index or a file index is out of range, or a `FileWriter` created for `n` records
    gets more than `n`.
    """


class FileAccessError(IoError, RuntimeError):
    """The operating system reported an error, for example for a read or a write."""


class MissingFolderError(NotFoundError, RuntimeError):
    """The folder of the output file does not exist, or a file was removed while it was in use."""


class FileNameError(InvalidArgumentError, AssertionError):
    """A path is invalid. For example, it does not end with `.ffr`, or is not a file."""


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
    """Converts a fuelrail error to the corresponding class of this module.

    path: the path to add if `error` does not have a path.
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
