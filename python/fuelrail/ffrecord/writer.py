"""FFRecord files, written."""

from __future__ import annotations

import os
import warnings
from typing import Any, Protocol

from fuelrail import _core
from fuelrail.closing import Closing
from fuelrail.errors import ArgumentTypeError, Error, InvalidArgumentError, StateError, warn_user
from fuelrail.ffrecord.errors import as_original
from fuelrail.ffrecord.paths import output_name
from fuelrail.options import integer, shown, typed

__all__ = ["FileWriter"]

_PIECE_BYTES = 8 << 20


class _BinaryFile(Protocol):
    """What `open(name, "rb")` returns, buffered or not."""

    def readinto(self, buffer: Any, /) -> int | None: ...


class FileWriter(Closing):
    """Writes a `.ffr` file, record by record.

    >>> with fuelrail.ffrecord.FileWriter("squares.ffr", n=3) as writer:
    ...     for i in range(3):
    ...         writer.write_one(str(i * i).encode())

    The file has its name only when it is complete, on the device and closed: until then what had
    the name before stays, and an exception inside `with` leaves nothing behind. What is not closed
    and not complete when it is dropped is discarded, with a ResourceWarning.
    """

    _native: _core.FfrecordWriter | None = None

    def __init__(self, fname: str | os.PathLike[str], n: int | None = None) -> None:
        """fname: ends with `.ffr`. n: how many records will come; None = as many as come until
        `close`, which may then have to move what was written once more.

        Errors: FileNameError (also an AssertionError); InvalidArgumentError (a ValueError) for a
        bad `n`; MissingFolderError and FileAccessError (also RuntimeErrors); ArgumentTypeError.
        """
        self._name = output_name("`fname`", fname)
        self._n = None if n is None else _record_count(n)
        self._count = 0
        self._process = os.getpid()
        try:
            # Whole, as the process may be in another folder when the file gets its name.
            whole_name = self._name if "://" in self._name else os.path.abspath(self._name)
            self._native = _core.create_ffrecord(os.fsencode(whole_name), self._n)
        except Error as error:
            raise as_original(error) from None

    @property
    def n(self) -> int | None:
        """How many records were announced."""
        return self._n

    @property
    def count(self) -> int:
        """How many records have been written."""
        core = self._native
        return self._count if core is None else core.records

    def write_one(self, buf: Any) -> None:
        """Appends a record: all bytes of `buf`, which is whatever has a buffer (bytes, arrays of
        any shape, type and strides; these in C order).

        Errors, which are also RuntimeErrors: RecordRangeError for one more than announced, after
        which the writer can be used on; FileAccessError; StateError when closed, and in a forked
        child.
        ArgumentTypeError for what has no buffer.
        """
        core = self._open()
        try:
            core.append(buf)
        except Error as error:
            raise as_original(error) from None
        except TypeError as error:
            raise ArgumentTypeError(
                "a record has no bytes",
                expected="a bytes-like object",
                found=typed(buf),
                remedy="Turn it into bytes, as `pickle.dumps` does, or into an array",
            ) from error

    def write_file(self, file: _BinaryFile) -> None:
        """Appends a record: what `file` has from its position on, read some MiB at a time. What
        reading raises ends the writer, and leaves nothing; ArgumentTypeError for what cannot be
        read into a buffer: a name, a file opened as text. Other errors: as `write_one`.
        """
        core = self._open()
        if not hasattr(file, "readinto"):
            raise ArgumentTypeError(
                "this is not a file opened for reading bytes",
                found=typed(file),
                remedy='Pass `open(name, "rb")`',
            )
        piece = bytearray(_PIECE_BYTES)
        view = memoryview(piece)
        try:
            core.begin_record()
        except Error as error:
            raise as_original(error) from None
        try:
            while size := _read_into(file, piece):
                core.add(view[:size])
            core.end_record()
        except BaseException as error:
            self.discard()  # half a record is in it
            if isinstance(error, Error):
                raise as_original(error) from None
            raise

    def close(self) -> None:
        """Writes the table and gives the file its name; again it does nothing.

        Errors: StateError (a RuntimeError) where records are missing, which may still be written;
        FileAccessError, after which there is no new file.
        """
        if self._native is None:
            return
        if self._n is not None and self.count != self._n:
            raise StateError(
                "records are missing",
                path=self._name,
                expected=f"{self._n} records",
                found=f"{self.count}",
                remedy="Write all records that were announced, or announce none",
            )
        core, self._native = self._native, None
        try:
            core.finish()
        except Error as error:
            raise as_original(error) from None
        finally:
            self._count = core.records
            core.discard()  # what is not finished

    def discard(self) -> None:
        """Leaves nothing behind. It does nothing after `close`."""
        core, self._native = self._native, None
        if core is not None:
            self._count = core.records
            core.discard()

    def _end(self, failed: bool) -> None:
        try:
            if not failed:
                self.close()
        finally:
            self.discard()

    def __del__(self) -> None:
        if self._native is None or os.getpid() != self._process:
            return
        if self._n is not None and self.count == self._n:
            try:
                self.close()
            except Error as error:  # which nobody can catch here
                warn_user(f"the records are lost: {error}")
            return
        self.discard()
        warnings.warn(
            f"{self._name} was not closed; its {self._count} records are discarded",
            ResourceWarning,
            stacklevel=2,
            source=self,
        )

    def __repr__(self) -> str:
        announced = "" if self._n is None else f" of {self._n}"
        return f"<fuelrail.ffrecord.FileWriter: {self.count}{announced} records; {self._name}>"

    def _open(self) -> _core.FfrecordWriter:
        if self._native is None:
            raise StateError(
                "the writer is closed", path=self._name, remedy="Make a new one of another name"
            )
        return self._native


def _read_into(file: _BinaryFile, piece: bytearray) -> int:
    size = file.readinto(piece)
    if size is None:  # nothing now: it need not be the end
        raise InvalidArgumentError(
            "a file that does not wait for its bytes cannot be written",
            remedy="Open it without O_NONBLOCK",
        )
    return size


def _record_count(n: object) -> int:
    number = integer(n)
    if number is None:
        raise ArgumentTypeError("`n` is not an integer", found=typed(n))
    if not 0 <= number < 2**63:
        raise InvalidArgumentError(
            "`n` is out of range", expected="a number of records", found=shown(number)
        )
    return number
