"""MXNet's `mx.recordio`: RecordIO files read and written record by record, and image records.

>>> from fuelrail.mxnet import recordio

A program that uses `mxnet.recordio` runs with this import in place of its own. What differs is
where MXNet loses data: a file has its name only once it is closed, and a writer that is pickled,
reset or used in a forked child is an error, where MXNet empties or mixes up the file.
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
    """The index has no such key."""

    __str__ = Exception.__str__


class MXRecordIO(Closing):
    """A RecordIO file (`.rec`), read or written from front to back.

    >>> from fuelrail.mxnet import recordio
    >>> record = recordio.MXRecordIO("tmp.rec", "w")
    >>> for i in range(5):
    ...     record.write(f"record_{i}".encode())
    >>> record.close()
    >>> record = recordio.MXRecordIO("tmp.rec", "r")
    >>> record.read()
    b'record_0'
    >>> record.close()

    Threads may share one: each call is a whole. A reader works in forked children and can be
    pickled: a child reads on from where its parent was, an unpickled one from the first record, and
    neither moves the other. A writer does neither. What is written has its name after `close`, which
    the end of a `with` or the last reference also brings; until then the file before stays. An
    exception inside `with` leaves that, too.
    """

    _reader: _core.RecordioReader | None = None
    _writer: _core.RecordioWriter | None = None
    _process = -1

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        """uri: a path, or a URI of a file system that fuelrail has. flag: "r" reads, "w" writes.

        Errors: InvalidArgumentError (a ValueError) for another flag; those of `open`.
        """
        self.uri = file_name("`uri`", uri)
        if flag not in ("r", "w"):
            raise InvalidArgumentError(
                "`flag` is not known",
                expected="'r' (read) or 'w' (write)",
                found=shown(flag),
                remedy="Write the records to a new file: there is no appending",
            )
        self.flag = flag
        self.writable = flag == "w"
        self.open()

    @property
    def is_open(self) -> bool:
        """Whether records can be read or written now, in this process."""
        if self.writable:
            return self._writer is not None and self._process == os.getpid()
        return self._reader is not None

    def open(self) -> None:
        """Opens the file: a reader at its first record, also one that is open. After `close` a
        writer begins a new file, which replaces the one of its name when it is closed.

        Errors: NotFoundError, IoError; UnsupportedError for a file system that there is not;
        StateError for a writer that is open.
        """
        if not self.writable:
            self._begin_reading()
            close_at_exit(self, MXRecordIO._close_unless_failed)
            return
        if self.is_open:
            raise StateError("the writer is open", path=self.uri, remedy="Close it first")
        index = self._index_uri()
        self._writer = _core.create_recordio(
            os.fsencode(_absolute(self.uri)),
            None if index is None else os.fsencode(_absolute(index)),
        )
        self._process = os.getpid()
        close_at_exit(self, MXRecordIO._close_unless_failed)

    def close(self) -> None:
        """Ends reading, or gives the file that was written its name; again it does nothing. In a
        forked child it lets go of its parent's file.

        Errors: IoError, after which there is no new file.
        """
        self._reader = None
        writer, self._writer = self._writer, None
        if writer is None or self._process != os.getpid():
            return
        try:
            writer.finish()
        finally:
            writer.discard()  # what is not finished

    def reset(self) -> None:
        """Goes back to the first record. Errors: StateError for a writer, whose records MXNet
        throws away here.
        """
        if self.writable:
            raise StateError(
                "a writer cannot be reset: its records would be lost",
                path=self.uri,
                remedy="Close it, and make a new one where the file shall begin anew",
            )
        self.close()
        self.open()

    def write(self, buf: bytes) -> None:
        """Appends a record. buf: bytes, or whatever has a buffer, of less than 2**29 bytes.

        Errors: StateError (a RuntimeError) for a reader, after `close` and in a forked child;
        InvalidArgumentError for more bytes; ArgumentTypeError; IoError.
        """
        writer = self._open_writer()
        _check_buffer(buf)
        writer.append(buf)

    def read(self) -> bytes | None:
        """The next record; None at the end, every time.

        Errors: StateError (a RuntimeError) for a writer and after `close`; TruncatedError and
        CorruptError with file and byte offset, again at every call; IoError.
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
        except Error as error:  # which nobody can catch here
            warn_user(f"the records are lost: {error}")

    def _close_unless_failed(self) -> None:
        """`close`, but nothing new is said of a file that a failed `write` has given up."""
        with contextlib.suppress(StateError):
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        if self.writable:
            raise ArgumentTypeError(
                "a writer cannot be pickled: its copy would empty the file",
                path=self.uri,
                remedy="Close it, and pickle the path",
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
            raise StateError(
                "a writer cannot be read", path=self.uri, remedy='Open the file with "r"'
            )
        if self._reader is None:
            raise StateError("the reader is closed", path=self.uri, remedy="Call `open`")
        return self._reader

    def _open_writer(self) -> _core.RecordioWriter:
        if not self.writable:
            raise StateError(
                "a reader cannot be written to", path=self.uri, remedy='Open the file with "w"'
            )
        if self._writer is None:
            raise StateError("the writer is closed", path=self.uri, remedy="Make a new one")
        return self._writer


class MXIndexedRecordIO(MXRecordIO):
    """A RecordIO file with its index (`.idx`), for records by key.

    >>> from fuelrail.mxnet import recordio
    >>> record = recordio.MXIndexedRecordIO("tmp.idx", "tmp.rec", "w")
    >>> for i in range(5):
    ...     record.write_idx(i, f"record_{i}".encode())
    >>> record.close()
    >>> record = recordio.MXIndexedRecordIO("tmp.idx", "tmp.rec", "r")
    >>> record.read_idx(3)
    b'record_3'
    >>> record.close()

    idx: byte offsets by key; of a key that comes more than once, the last. keys: in the index's
    order, with all repetitions.
    """

    def __init__(
        self,
        idx_path: str | os.PathLike[str],
        uri: str | os.PathLike[str],
        flag: str,
        key_type: Callable[[Any], Any] = int,
    ) -> None:
        """idx_path: the index. key_type: what makes a key of text and of `write_idx`'s argument.
        The rest, and errors: as MXRecordIO; CorruptError for a line of the index that is none; TruncatedError
        for `X.idx` of `X.rec` with fewer lines than the sidecar `X.rec.frx` has records.
        """
        self.idx_path = file_name("`idx_path`", idx_path)
        self.key_type = key_type
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        super().__init__(uri, flag)
        if self._reader is not None:
            self._reader.check_index(len(self.keys), os.fsencode(self.idx_path))

    def open(self) -> None:
        """As MXRecordIO; a reader reads the index too, each time: both are of one file, also where
        a writer of fuelrail replaces them meanwhile, or was killed at it (docs/packing.md).
        """
        super().open()
        if self.writable:
            self.idx, self.keys = {}, []

    def seek(self, idx: Any) -> None:
        """Goes to a record: `read` gives it next. Errors: UnknownKeyError (a KeyError);
        OutOfRangeError for an offset behind the file's end; StateError.
        """
        reader = self._open_reader()
        offset = self._offset(idx)
        try:
            reader.seek(offset)
        except Error as error:
            raise self._of_key(error, idx) from None

    def tell(self) -> int:
        """Of a writer: how many bytes have been written, which is the next record's offset.
        Errors: StateError.
        """
        return self._open_writer().position()

    def read_idx(self, idx: Any) -> bytes:
        """The record of a key; `read` goes on behind it.

        Errors: UnknownKeyError (a KeyError); CorruptError, TruncatedError and OutOfRangeError where
        no whole record begins at the offset that the index gives; StateError; IoError.
        """
        reader = self._open_reader()
        offset = self._offset(idx)
        try:
            record = reader.read_at(offset)
        except Error as error:
            raise self._of_key(error, idx) from None
        if record is None:
            raise self._of_key(
                CorruptError("no record begins where the index says", path=self.uri, offset=offset),
                idx,
            )
        return record

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Appends a record, and its key to the index.

        Errors: those of `write`; InvalidArgumentError for a key whose text has a TAB, a line end or
        space around it, or is empty. Neither changes the file.
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
            "the index has no such key",
            path=self.idx_path,
            expected=f"one of {len(self.idx)} keys",
            found=typed(idx),
            remedy="Look at `keys`; their type is `key_type`",
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
                "no such index",
                path=self.idx_path,
                remedy="Make one with the keys 0, 1, 2, ...: docs/from_mxnet.md, "
                '"An index by position"; or with the records\' ids as keys: '
                f"`fuelrail merge NEW.rec {self.uri}` writes NEW.idx",
            ) from None
        keys, idx = [], {}
        for line, (name, offset) in enumerate(entries):
            try:
                key = self.key_type(name)
            except ValueError as error:
                raise CorruptError(
                    f"entry {line} of the index has a key of another type",
                    path=self.idx_path,
                    expected=f"what {getattr(self.key_type, '__name__', 'key_type')} takes",
                    found=shown(name),
                    remedy="Give the `key_type` that it was written with",
                ) from error
            idx[key] = offset
            keys.append(key)
        self.keys, self.idx, self._reader = keys, idx, reader

    def _of_key(self, error: Error, idx: Any) -> Error:
        """The same error, which says whose record it is, and that the index may be wrong."""
        remedy = error.remedy
        if not isinstance(error, IoError):
            remedy = "See whether the index is this file's" + (
                f". If it is: {remedy}" if remedy else ""
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
    """The process may be in another folder when the file gets its name."""
    return uri if "://" in uri else os.path.abspath(uri)


def _check_buffer(buf: object) -> None:
    try:
        memoryview(buf).release()  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(
            "a record is not bytes", expected="a bytes-like object", found=typed(buf)
        ) from None
