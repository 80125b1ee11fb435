"""Reads and writes RecordIO files and image records. Replaces MXNet's `mx.recordio`.

>>> from fuelrail.mxnet import recordio

To switch from `mxnet.recordio`, a program has to change only its import. Two differences from MXNet
prevent the loss of data. A new file appears under its name only when its writer is closed. A writer
raises an error if it is pickled, reset, or used in a forked child. (In MXNet, these actions can
empty or corrupt the file.) docs/from_mxnet.md lists the other differences.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

from fuelrail import _core
from fuelrail.closing import Closing, close_at_exit
from fuelrail.errors import (
    ArgumentTypeError,
    CorruptError,
    Error,
    InvalidArgumentError,
    IoError,
    NotFoundError,
    OutOfRangeError,
    StateError,
    warn_user,
)
from fuelrail.mxnet.image_record import IRHeader, pack, pack_img, unpack, unpack_img
from fuelrail.options import file_name, shown, text, typed

__all__ = [
    "IRHeader",
    "MXIndexedRecordIO",
    "MXRecordIO",
    "UnknownKeyError",
    "pack",
    "pack_img",
    "unpack",
    "unpack_img",
]


class UnknownKeyError(OutOfRangeError, KeyError):
    """Raised for a key that is not in the index."""

    __str__ = Exception.__str__


class MXRecordIO(Closing):
    """Reads or writes the records of a RecordIO file (`.rec`) in order.

    >>> from fuelrail.mxnet import recordio
    >>> record = recordio.MXRecordIO("tmp.rec", "w")
    >>> for i in range(5):
    ...     record.write(f"record_{i}".encode())
    >>> record.close()
    >>> record = recordio.MXRecordIO("tmp.rec", "r")
    >>> record.read()
    b'record_0'
    >>> record.close()

    Threads may share an MXRecordIO; each call is atomic.

    A reader can be used in a forked child, where it continues at the parent's position. A reader
    can also be pickled; the unpickled reader starts at the first record. In both cases, the
    original reader keeps its position.

    A writer can neither be pickled nor be used in a forked child. The new file appears under its
    name at `close`, at the end of a `with` block, or when the writer is garbage-collected. Until
    then, an existing file of that name is kept. An exception inside a `with` block discards the new
    file.
    """

    _reader: _core.RecordioReader | None = None
    _writer: _core.RecordioWriter | None = None
    _process = -1

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        """Opens the file.

        uri: a path, or a URI such as "file:///data/train.rec". flag: "r" to read, "w" to write.

        Errors: InvalidArgumentError (a ValueError) for any other flag; the errors of `open`.
        """
        self.uri = file_name("`uri`", uri)
        if flag not in ("r", "w"):
            raise InvalidArgumentError(
                "`flag` is invalid",
                expected="'r' (read) or 'w' (write)",
                found=shown(flag),
                remedy="Appending is not supported: write the old and the new records to a new "
                "file",
            )
        self.flag = flag
        self.writable = flag == "w"
        self.open()

    @property
    def is_open(self) -> bool:
        """Whether the file is open. False for a writer in a forked child."""
        if self.writable:
            return self._writer is not None and self._process == os.getpid()
        return self._reader is not None

    def open(self) -> None:
        """Opens the file again.

        A reader moves to the first record, even if the file is already open. A writer starts a new
        file. When the writer is closed, the new file replaces the existing file.

        Errors: NotFoundError; IoError; UnsupportedError for an unsupported file system; StateError
        for a writer that is already open.
        """
        if not self.writable:
            self._begin_reading()
            close_at_exit(self, MXRecordIO._close_unless_failed)
            return
        if self.is_open:
            raise StateError(
                "the writer is already open", path=self.uri, remedy="Close the writer first"
            )
        index = self._index_uri()
        self._writer = _core.create_recordio(
            os.fsencode(_absolute(self.uri)),
            None if index is None else os.fsencode(_absolute(index)),
        )
        self._process = os.getpid()
        close_at_exit(self, MXRecordIO._close_unless_failed)

    def close(self) -> None:
        """Closes the file. When a writer is closed, the new file appears under its name.

        A second call does nothing. In a forked child, closing the parent's writer does not change
        the parent's file.

        Errors: IoError if the new file could not be written. The new file is then discarded.
        """
        self._reader = None
        writer, self._writer = self._writer, None
        if writer is None or self._process != os.getpid():
            return
        try:
            writer.finish()
        finally:
            writer.discard()  # if `finish` failed

    def reset(self) -> None:
        """Moves a reader to the first record.

        Errors: StateError for a writer. (In MXNet, `reset` deletes the records that the writer has
        written.)
        """
        if self.writable:
            raise StateError(
                "a writer cannot be reset, because its records would be lost",
                path=self.uri,
                remedy="To start the file over, close the writer and create a new one",
            )
        self.close()
        self.open()

    def write(self, buf: bytes) -> None:
        """Appends a record.

        buf: the record's content, a bytes-like object of less than 2**29 bytes.

        Errors: StateError (a RuntimeError) for a reader, after `close`, or in a forked child;
        InvalidArgumentError for 2**29 bytes or more; ArgumentTypeError; IoError.
        """
        writer = self._open_writer()
        _check_buffer(buf)
        writer.append(buf)

    def read(self) -> bytes | None:
        """Returns the next record, or None at the end of the file.

        Errors: StateError (a RuntimeError) for a writer and after `close`; IoError; TruncatedError
        and CorruptError, with file and byte offset. After a TruncatedError or CorruptError, all
        later calls raise this error again.
        """
        return self._open_reader().next()

    def _end(self, failed: bool) -> None:
        if failed and self._writer is not None:
            writer, self._writer = self._writer, None
            writer.discard()
        self.close()

    def __del__(self) -> None:
        try:
            self._close_unless_failed()
        except Error as error:  # no caller could catch it
            warn_user(f"the writer was not closed, and its records are lost: {error}")

    def _close_unless_failed(self) -> None:
        """Closes the file. Ignores the StateError that follows an earlier failure of `write`."""
        with contextlib.suppress(StateError):
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self.writable:
            raise ArgumentTypeError(
                "a writer cannot be pickled, because unpickling it would empty the file",
                path=self.uri,
                remedy="Close the writer, and pickle the path",
            )
        state = dict(self.__dict__)
        state["is_open"] = self.is_open
        state.pop("_reader", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        was_open = state.pop("is_open")
        self.__dict__.update(state)
        if was_open:
            self.open()

    def __repr__(self) -> str:
        state = "" if self.is_open else "; closed"
        return f"<fuelrail.mxnet.recordio.{type(self).__name__} {self.flag!r}: {self.uri}{state}>"

    def _begin_reading(self) -> None:
        self._reader = _core.open_recordio(os.fsencode(self.uri))

    def _index_uri(self) -> str | None:
        return None

    def _open_reader(self) -> _core.RecordioReader:
        if self.writable:
            raise StateError("a writer cannot read", path=self.uri, remedy='Open the file with "r"')
        if self._reader is None:
            raise StateError("the reader is closed", path=self.uri, remedy="Call `open`")
        return self._reader

    def _open_writer(self) -> _core.RecordioWriter:
        if not self.writable:
            raise StateError(
                "a reader cannot write", path=self.uri, remedy='Open the file with "w"'
            )
        if self._writer is None:
            raise StateError("the writer is closed", path=self.uri, remedy="Create a new writer")
        return self._writer


class MXIndexedRecordIO(MXRecordIO):
    """Reads or writes a RecordIO file with an index (`.idx`), which finds records by key.

    >>> from fuelrail.mxnet import recordio
    >>> record = recordio.MXIndexedRecordIO("tmp.idx", "tmp.rec", "w")
    >>> for i in range(5):
    ...     record.write_idx(i, f"record_{i}".encode())
    >>> record.close()
    >>> record = recordio.MXIndexedRecordIO("tmp.idx", "tmp.rec", "r")
    >>> record.read_idx(3)
    b'record_3'
    >>> record.close()

    The attribute `idx` is a dict that maps each key to the byte offset of its record. If a key is
    repeated, the offset is that of its last record. The attribute `keys` is a list of all keys in
    the order of the index, including repeated keys.
    """

    def __init__(
        self,
        idx_path: str | os.PathLike[str],
        uri: str | os.PathLike[str],
        flag: str,
        key_type: Callable[[Any], Any] = int,
    ) -> None:
        """Opens the file and its index.

        idx_path: the path of the index. uri, flag: as for MXRecordIO. key_type: a function that
        converts the text of a key in the index, or the `idx` passed to `write_idx`, to a key.

        Errors: as for MXRecordIO; CorruptError for an invalid line of the index; TruncatedError
        if the sidecar `X.rec.frx` lists more records than the index.
        """
        self.idx_path = file_name("`idx_path`", idx_path)
        self.key_type = key_type
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        super().__init__(uri, flag)
        if self._reader is not None:
            self._reader.check_index(len(self.keys), os.fsencode(self.idx_path))

    def open(self) -> None:
        """Does the same as `MXRecordIO.open`. A reader also reads its index file again.

        A reader always opens a file and an index that belong together, even if a fuelrail process
        is replacing them at that moment, or was killed while replacing them (docs/packing.md).
        """
        super().open()
        if self.writable:
            self.idx, self.keys = {}, []

    def seek(self, idx: Any) -> None:
        """Moves to the record with the key `idx`. The next `read` returns this record.

        Errors: UnknownKeyError (a KeyError); OutOfRangeError if the offset in the index is past the
        end of the file; StateError.
        """
        reader = self._open_reader()
        offset = self._offset(idx)
        try:
            reader.seek(offset)
        except Error as error:
            raise self._of_key(error, idx) from None

    def tell(self) -> int:
        """Returns the byte offset at which the next record will be written.

        Errors: StateError for a reader and after `close`.
        """
        return self._open_writer().position()

    def read_idx(self, idx: Any) -> bytes:
        """Returns the record with the key `idx`. The next `read` returns the following record.

        Errors: UnknownKeyError (a KeyError); CorruptError, TruncatedError and OutOfRangeError if no
        complete record starts at the offset in the index; StateError; IoError.
        """
        reader = self._open_reader()
        offset = self._offset(idx)
        try:
            record = reader.read_at(offset)
        except Error as error:
            raise self._of_key(error, idx) from None
        if record is None:
            raise self._of_key(
                CorruptError(
                    "no record starts at the offset given in the index",
                    path=self.uri,
                    offset=offset,
                ),
                idx,
            )
        return record

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Appends the record `buf` to the file, and the key `idx` to the index.

        Errors: those of `write`; InvalidArgumentError if the text of the key is empty, contains a
        TAB or a line end, or starts or ends with a space. If the key is invalid, nothing is
        written.
        """
        writer = self._open_writer()
        key = self.key_type(idx)
        _check_buffer(buf)
        offset = writer.append_keyed(text("a key", str(key)), buf)
        self.idx[key] = offset
        self.keys.append(key)

    def _index_uri(self) -> str | None:
        return self.idx_path

    def _offset(self, idx: Any) -> int:
        with contextlib.suppress(KeyError, TypeError):
            return self.idx[idx]
        raise UnknownKeyError(
            "the key does not exist in the index",
            path=self.idx_path,
            expected=f"one of the keys in the index (count: {len(self.idx)})",
            found=typed(idx),
            remedy="Use a key from the attribute `keys`. The string '5' and the integer 5 are "
            "different keys",
        )

    def _begin_reading(self) -> None:
        try:
            reader, entries = _core.open_indexed_recordio(
                os.fsencode(self.uri), os.fsencode(self.idx_path)
            )
        except NotFoundError as error:
            if error.path != self.idx_path:
                raise
            raise NotFoundError(
                "the index does not exist",
                path=self.idx_path,
                remedy="Create an index. To use the records' ids as keys, run "
                f"`fuelrail merge NEW.rec {self.uri}`, which also writes NEW.idx. For the keys 0, "
                '1, 2, ..., see "An index by position" in docs/from_mxnet.md',
            ) from None
        keys, idx = [], {}
        for line, (name, offset) in enumerate(entries):
            try:
                key = self.key_type(name)
            except ValueError as error:
                raise CorruptError(
                    f"`key_type` cannot convert the key of entry {line} in the index",
                    path=self.idx_path,
                    expected=f"text that {getattr(self.key_type, '__name__', 'key_type')} accepts",
                    found=shown(name),
                    remedy="Pass the `key_type` that the index was written with",
                ) from error
            idx[key] = offset
            keys.append(key)
        self.keys, self.idx, self._reader = keys, idx, reader

    def _of_key(self, error: Error, idx: Any) -> Error:
        """Returns a copy of `error` that also names the key `idx`. If `error` is not an IoError,
        the remedy of the copy begins with the advice to check the index.
        """
        remedy = error.remedy
        if not isinstance(error, IoError):
            remedy = "Check that the index belongs to this file" + (
                f". If it does: {remedy}" if remedy else ""
            )
        return type(error)(
            f"{error.failure}, for the key {shown(idx)} of {self.idx_path}",
            path=error.path or self.uri,
            offset=error.offset,
            expected=error.expected,
            found=error.found,
            remedy=remedy,
        )


def _absolute(uri: str) -> str:
    """Makes a path absolute, because the working directory may change before `close`."""
    return uri if "://" in uri else os.path.abspath(uri)


def _check_buffer(buf: object) -> None:
    try:
        memoryview(buf).release()  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(
            "the record has the wrong type", expected="a bytes-like object", found=typed(buf)
        ) from None
