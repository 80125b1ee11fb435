"""Reads records of FFRecord files by index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

import numpy

from fuelrail import _core
from fuelrail.closing import Closing
from fuelrail.errors import ArgumentTypeError, Error, InvalidArgumentError, warn_user
from fuelrail.ffrecord.errors import RecordRangeError, as_original
from fuelrail.ffrecord.paths import input_names
from fuelrail.keywords import ReadKeywords
from fuelrail.options import (
    Option,
    described,
    integer,
    keywords,
    listed,
    read_options,
    shown,
    suggests_options_or,
    switch,
    typed,
)

if TYPE_CHECKING:
    import numpy.typing
    from typing_extensions import Unpack

    Record: TypeAlias = numpy.typing.NDArray[numpy.uint8]

# One file, or several.
Names: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"

__all__ = ["DamagedRecord", "FileReader"]

# The most that an iterator reads at once, unless a single record is longer.
_READ_AHEAD = 64  # records
_READ_AHEAD_BYTES = 64 << 20
_OPTIONS = [Option(*row) for row in _core.reader_options()]
_TEXT = described("How records are read:", _OPTIONS)


@dataclass(frozen=True)
class DamagedRecord:
    """A damaged record that `FileReader.verify` found."""

    index: int
    error: str
    """A text that names the file, the record's position in the file, and the damage."""


class FileReader(Closing):
    """Reads records of one or more `.ffr` files by index. Indices are counted across all files.

    >>> with fuelrail.ffrecord.FileReader("train.ffr") as reader:
    ...     first, last = reader.read([0, -1])

    Records are one-dimensional, writable uint8 arrays that own their memory. Several threads and
    forked processes may use the same reader at once. When a record is no longer referenced, its
    memory is reused for new records.
    """

    @suggests_options_or({}, keywords(ReadKeywords, _OPTIONS, {}), _TEXT)
    def __init__(
        self, fname: Names, check_data: bool = True, **options: Unpack[ReadKeywords]
    ) -> None:
        """Opens the files and reads their record tables, which take 12 bytes of memory per record.

        fname: a file, a list or tuple of files, or a directory. A directory means all `.ffr` files
            in it, sorted by name.
        check_data: verify the checksums of the record tables when the files are opened, and the
            checksum of each record when it is read. Default: True.

        Errors: MissingFileError, FileNameError (both also AssertionErrors); CorruptFileError,
        TruncatedFileError, FileAccessError (all also RuntimeErrors); ArgumentTypeError;
        InvalidArgumentError for an invalid value of an option.

        FFRecord's first versions wrote no checksum of the record table. Each time a file without
        this checksum is opened, a FuelrailWarning is issued. To avoid the warning, copy the file's
        records to a new file with `FileReader` and `FileWriter`.
        """
        self._names = input_names(fname)
        self._check_data = switch("check_data", check_data)
        self._options = read_options(_OPTIONS, options)  # stored in pickles of the reader
        self._direct: bool = self._options["direct_reads"]
        self._closed = False
        try:
            self._core = _core.open_ffrecord(
                [os.fsencode(name) for name in self._names],
                check_data=self._check_data,
                options=self._options,
            )
        except Error as error:
            raise as_original(error) from None
        self._warn()

    @property
    def n(self) -> int:
        """The number of records in all files."""
        return len(self._core)

    @property
    def fnames(self) -> list[str]:
        """The paths of the files, in the order in which their records are numbered."""
        return list(self._names)

    @property
    def check_data(self) -> bool:
        """Whether checksums are verified."""
        return self._check_data

    @property
    def read_backend(self) -> str:
        """How data that is not in the page cache is read: "io_uring" or "pread"."""
        return self._core.read_backend

    @property
    def closed(self) -> bool:
        """Whether `close` has been called."""
        return self._closed

    def read_one(self, index: int) -> Record:
        """Returns one record. A negative index counts from the end. Errors: see `read`."""
        try:
            return self._core.read_one(index)
        except Error as error:
            raise as_original(error) from None
        except TypeError:
            raise _no_index(index) from None
        finally:
            if self._direct:
                self._warn()

    def read(self, indices: Sequence[int]) -> list[Record]:
        """Returns a list of the records at `indices`, in the order of `indices`.

        indices: a list, tuple, range, array or tensor of integers. An index may occur several
        times. Negative indices count from the end.

        All records are requested at once. Adjacent records are read together. Records that are in
        the page cache are read without waiting for the storage device.

        Errors: RecordRangeError for an index out of range; CorruptFileError, TruncatedFileError or
        FileAccessError for the first record that cannot be read; StateError after `close` (all also
        RuntimeErrors); ArgumentTypeError if an index is not an integer.
        """
        wanted = _index_list(indices)
        try:
            return self._core.read(wanted)
        except Error as error:
            raise as_original(error) from None
        except TypeError:
            bad = [one for one in wanted if integer(one) is None]
            if not bad:
                raise
            raise _no_index(bad[0]) from None
        finally:
            if self._direct:
                self._warn()

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int]) -> list[Record]: ...
    def __getitem__(self, index: int | slice | Sequence[int]) -> Record | list[Record]:
        """Returns one record for an integer, and a list for a slice or a list of indices."""
        if isinstance(index, slice):
            return self.read(range(self.n)[index])
        if integer(index) is not None:
            return self.read_one(cast("int", index))
        return self.read(cast("Sequence[int]", index))

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[Record]:
        """Iterates over all records in order. Reads up to 64 records and 64 MiB at a time."""
        begin = 0
        while begin < self.n:
            end = begin + self._core.run_of(begin, _READ_AHEAD, _READ_AHEAD_BYTES)
            yield from self.read(range(begin, end))
            begin = end

    def validate(self) -> None:
        """Verifies the checksums of the record tables again, without reading records.

        Errors: CorruptFileError if a checksum is wrong.
        """
        try:
            self._core.verify_tables()
        except Error as error:
            raise as_original(error) from None

    def verify(self, progress: Callable[[int], object] | None = None) -> list[DamagedRecord]:
        """Reads every record and verifies its checksum, even if `check_data` is False.

        Returns the records that cannot be read or have a wrong checksum, in order. Missing or extra
        bytes at the end of a file are reported as damage to its last record, because the format
        does not store the size of the file.

        progress: called with the number of records checked so far. If it raises an exception,
        `verify` stops and raises the same exception.

        Errors: StateError after `close`.
        """
        return [DamagedRecord(*found) for found in self._core.verify(progress)]

    def get_offsets(self, file_index: int) -> numpy.typing.NDArray[numpy.int64]:
        """Returns the offset of each record of one file, followed by the end of the last record.

        The result is a new int64 array of shape (n + 1,) for a file of n records.

        file_index: an index into `fnames`.

        Errors: RecordRangeError if `file_index` is out of range.
        """
        return self._core.offsets(self._file(file_index))

    def get_checksums(self, file_index: int) -> numpy.typing.NDArray[numpy.uint32]:
        """Returns the CRC-32 of each record of one file, as a new one-dimensional uint32 array.

        file_index: an index into `fnames`. Errors: RecordRangeError for an index out of range.
        """
        return self._core.checksums(self._file(file_index))

    def close(self) -> None:
        """Closes the files. Returned arrays stay valid.

        `n`, `validate`, `get_offsets` and `get_checksums` still work.
        """
        self._closed = True
        self._core.close()

    def __reduce__(self) -> Any:
        return _reopen, (self._names, self._check_data, self._options)

    def __repr__(self) -> str:
        name = self._names[0] if len(self._names) == 1 else f"{len(self._names)} files"
        state = "; closed" if self._closed else ""
        return f"<fuelrail.ffrecord.FileReader: {self.n:,} records; {name}{state}>"

    def _file(self, file_index: object) -> int:
        number = integer(file_index)
        if number is None:
            raise ArgumentTypeError(
                "`file_index` has the wrong type", expected="an integer", found=typed(file_index)
            )
        count = len(self._names)
        if not -count <= number < count:
            raise RecordRangeError(
                "`file_index` is out of range",
                expected=f"an index in [-{count}, {count})",
                found=shown(number),
            )
        return number + count if number < 0 else number

    def _warn(self) -> None:
        for text in self._core.take_warnings():
            warn_user(text)


def _reopen(names: list[str], check_data: bool, options: dict[str, Any]) -> FileReader:
    return FileReader(names, check_data, **options)


def _index_list(indices: object) -> list[Any]:
    if type(indices) is list:
        return indices
    if isinstance(indices, (list, tuple, range)):
        return list(indices)
    given = listed(indices)
    if not isinstance(given, list):
        raise ArgumentTypeError(
            "`indices` has the wrong type",
            expected="a list, a tuple or an array of integers",
            found=typed(indices),
        )
    if given and isinstance(given[0], list):
        raise InvalidArgumentError("`indices` has more than one dimension", found=shown(indices))
    return given


def _no_index(value: object) -> ArgumentTypeError:
    return ArgumentTypeError(
        "an index has the wrong type", expected="an integer", found=typed(value)
    )
