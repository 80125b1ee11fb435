"""Writes FFRecord files."""

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
    """A source file for `write_file`: a file object, buffered or not, that was opened for reading
    in binary mode.
    """

    def readinto(self, buffer: Any, /) -> int | None: ...


class FileWriter(Closing):
    """Writes a `.ffr` file, record by record.

    >>> with fuelrail.ffrecord.FileWriter("squares.ffr", n=3) as writer:
    ...     for i in range(3):
    ...         writer.write_one(str(i * i).encode())

    The new file appears under its name only when it is complete and flushed to disk. Until then, an
    older file with the same name is kept. An exception inside the `with` block discards the new
    file.

    If a writer is deleted without `close`, the file is kept only if all `n` records were written.
    Otherwise it is discarded, and a ResourceWarning is issued.
    """

    _native: _core.FfrecordWriter | None = None

    def __init__(self, fname: str | os.PathLike[str], n: int | None = None) -> None:
        """Starts a new file.

        fname: the path of the file. It must end with `.ffr`.
        n: the number of records. Default: None (unknown). In that case, `close` may have to move
        all data once, because the record table is stored before the records.

        Errors: FileNameError (also an AssertionError); InvalidArgumentError (also a ValueError) for
        an invalid `n`; MissingFolderError and FileAccessError (both also RuntimeErrors);
        ArgumentTypeError.
        """
        self._name = output_name("`fname`", fname)
        self._n = None if n is None else _record_count(n)
        self._count = 0
        self._process = os.getpid()
        try:
            # Absolute: the process may change its folder before the file gets its name.
            whole_name = self._name if "://" in self._name else os.path.abspath(self._name)
            self._native = _core.create_ffrecord(os.fsencode(whole_name), self._n)
        except Error as error:
            raise as_original(error) from None

    @property
    def n(self) -> int | None:
        """The number of records that was passed to the constructor, or None."""
        return self._n

    @property
    def count(self) -> int:
        """The number of records written so far."""
        core = self._native
        return self._count if core is None else core.records

    def write_one(self, buf: Any) -> None:
        """Appends a record that contains all bytes of `buf`, a bytes-like object.

        An array may have any shape, type and strides. Its bytes are written in C order.

        Errors: RecordRangeError if the file already has `n` records; FileAccessError if the file
        cannot be written; StateError after `close` or in a forked child; ArgumentTypeError if `buf`
        is not bytes-like. All but the ArgumentTypeError are also RuntimeErrors. After a
        RecordRangeError, the writer can still be used.
        """
        core = self._open()
        try:
            core.append(buf)
        except Error as error:
            raise as_original(error) from None
        except TypeError as error:
            raise ArgumentTypeError(
                "the record has the wrong type",
                expected="a bytes-like object",
                found=typed(buf),
                remedy="Convert it to bytes, for example with `pickle.dumps`, or to an array",
            ) from error

    def write_file(self, file: _BinaryFile) -> None:
        """Appends a record that contains the bytes of `file` from its current position to its end.

        `file` is read a few MiB at a time. If reading raises an exception, the new `.ffr` file is
        discarded.

        Errors: the errors of `write_one`; ArgumentTypeError if `file` has no method `readinto`, for
        example if it is a file name or was opened as text.
        """
        core = self._open()
        if not hasattr(file, "readinto"):
            raise ArgumentTypeError(
                "`file` has the wrong type",
                expected="a file opened for reading in binary mode",
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
            self.discard()  # it has an incomplete record
            if isinstance(error, Error):
                raise as_original(error) from None
            raise

    def close(self) -> None:
        """Completes the file. Only then does it appear under its name. Further calls do nothing.

        Errors: StateError (also a RuntimeError) if fewer than `n` records were written; the
        missing records can still be written. FileAccessError if the file cannot be written; the
        new file is then discarded.
        """
        if self._native is None:
            return
        if self._n is not None and self.count != self._n:
            raise StateError(
                "records are missing",
                path=self._name,
                expected=f"{self._n}",
                found=f"{self.count}",
                remedy="Write all `n` records, or omit `n`",
            )
        core, self._native = self._native, None
        try:
            core.finish()
        except Error as error:
            raise as_original(error) from None
        finally:
            self._count = core.records
            core.discard()  # if `finish` failed

    def discard(self) -> None:
        """Discards the new file. Does nothing after `close`."""
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
            except Error as error:  # no caller could catch it
                warn_user(f"the writer was not closed, and its records are lost: {error}")
            return
        self.discard()
        warnings.warn(
            f"{self._name} was not closed, so its records are discarded (count: {self._count})",
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
                "the writer is closed", path=self._name, remedy="Create a writer for a new file"
            )
        return self._native


def _read_into(file: _BinaryFile, piece: bytearray) -> int:
    size = file.readinto(piece)
    if size is None:  # no bytes yet, but perhaps later
        raise InvalidArgumentError(
            "a record cannot be read from a file in non-blocking mode",
            remedy="Open the file without O_NONBLOCK",
        )
    return size


def _record_count(n: object) -> int:
    number = integer(n)
    if number is None:
        raise ArgumentTypeError("`n` has the wrong type", expected="an integer", found=typed(n))
    if not 0 <= number < 2**63:
        raise InvalidArgumentError(
            "`n` is out of range", expected="0 to 2**63 - 1", found=shown(number)
        )
    return number
