"""Records of FFRecord files by index."""

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

# Of one file, or of several.
Names: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"

__all__ = ["DamagedRecord", "FileReader"]

# What an iterator reads at once; one record, where that is longer.
_READ_AHEAD = 64  # records
_READ_AHEAD_BYTES = 64 << 20
_OPTIONS = [Option(*row) for row in _core.reader_options()]
_TEXT = described("How records are read:", _OPTIONS)


@dataclass(frozen=True)
class DamagedRecord:
    """What `FileReader.verify` finds."""

    index: int
    error: str
    """Where it lies and what is wrong."""


class FileReader(Closing):
    """The records of one or more `.ffr` files, in one index space.

    >>> with fuelrail.ffrecord.FileReader("train.ffr") as reader:
    ...     first, last = reader.read([0, -1])

    Records are one-dimensional, writable arrays of uint8 that own their memory. Any thread may
    read, many at once, and so may forked children. The memory of records that nobody holds any
    more is used again for others.
    """

    @suggests_options_or({}, keywords(ReadKeywords, _OPTIONS, {}), _TEXT)
    def __init__(
        self, fname: Names, check_data: bool = True, **options: Unpack[ReadKeywords]
    ) -> None:
        """Opens the files and reads their tables: 12 bytes of memory a record.

        fname: a file, a directory (all `.ffr` files in it, in the order of their names), or a list
            or tuple of files.
        check_data: verify the checksums of tables now, and of every record that is read. Default:
            True.

        Errors, which are also AssertionErrors: MissingFileError, FileNameError; also
        RuntimeErrors: CorruptFileError, TruncatedFileError, FileAccessError; ArgumentTypeError, and
        InvalidArgumentError for an option's value. A table that was written without a checksum, as
        by FFRecord's first versions, is a FuelrailWarning, each time until the file is written
        anew.
        """
        self._names = input_names(fname)
        self._check_data = switch("check_data", check_data)
        self._options = read_options(_OPTIONS, options)  # as a pickle has them
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
        """Number of records."""
        return len(self._core)

    @property
    def fnames(self) -> list[str]:
        """The files, in the order of their records."""
        return list(self._names)

    @property
    def check_data(self) -> bool:
        """Whether checksums are verified."""
        return self._check_data

    @property
    def read_backend(self) -> str:
        """Who reads what is not in the page cache: "io_uring" or "pread"."""
        return self._core.read_backend

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def read_one(self, index: int) -> Record:
        """One record. A negative index counts from the end. Errors: as `read`."""
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
        """The records of these indices, in this order; an index may come more than once, and a
        negative one counts from the end.

        indices: a list, a tuple, a range, an array or a tensor of integers, as many as fit in
        memory. All are read at once: neighbours in one read, what is in the page cache without
        waiting. Errors, which are also RuntimeErrors: RecordRangeError; CorruptFileError,
        TruncatedFileError and FileAccessError of the first record that failed; StateError when
        closed. ArgumentTypeError.
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
        """One record by an integer; a list of them by a slice or a list of indices."""
        if isinstance(index, slice):
            return self.read(range(self.n)[index])
        if integer(index) is not None:
            return self.read_one(cast("int", index))
        return self.read(cast("Sequence[int]", index))

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[Record]:
        """All records in order, read some at a time: up to 64, and 64 MiB."""
        begin = 0
        while begin < self.n:
            end = begin + self._core.run_of(begin, _READ_AHEAD, _READ_AHEAD_BYTES)
            yield from self.read(range(begin, end))
            begin = end

    def validate(self) -> None:
        """Checks the tables against their checksums once more; reads no record. Errors:
        CorruptFileError.
        """
        try:
            self._core.verify_tables()
        except Error as error:
            raise as_original(error) from None

    def verify(self, progress: Callable[[int], object] | None = None) -> list[DamagedRecord]:
        """Reads every record, whatever `check_data` says. Returns: those that cannot be read or
        whose checksum is wrong, in order; none for a sound file.

        A file's end is nowhere written down: that it was cut off, or added to, shows here, as
        damage of the last record. progress: called with the number of records done; what it raises
        ends the call. Errors: StateError when closed.
        """
        return [DamagedRecord(*found) for found in self._core.verify(progress)]

    def get_offsets(self, file_index: int) -> numpy.typing.NDArray[numpy.int64]:
        """Where the records of a file begin, and where the last one ends: int64, (n + 1,), the
        caller's own. Errors: RecordRangeError.
        """
        return self._core.offsets(self._file(file_index))

    def get_checksums(self, file_index: int) -> numpy.typing.NDArray[numpy.uint32]:
        """The CRC-32 of each record of a file: uint32, (n,), the caller's own. Errors:
        RecordRangeError.
        """
        return self._core.checksums(self._file(file_index))

    def close(self) -> None:
        """Closes the files. Arrays stay, and so do `n`, `validate`, offsets and checksums."""
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
            raise ArgumentTypeError("`file_index` is not an integer", found=typed(file_index))
        count = len(self._names)
        if not -count <= number < count:
            raise RecordRangeError(
                "the reader has no such file",
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
            "this is not a list of indices",
            expected="a list, a tuple or an array of integers",
            found=typed(indices),
        )
    if given and isinstance(given[0], list):
        raise InvalidArgumentError("the indices have more than one dimension", found=shown(indices))
    return given


def _no_index(value: object) -> ArgumentTypeError:
    return ArgumentTypeError("an index is not an integer", found=typed(value))
