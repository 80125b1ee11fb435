"""The bytes that a `File` reads: a file on disk, or a file object of the caller."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from fuelrail.errors import (
    ArgumentTypeError,
    IoError,
    NotFoundError,
    StateError,
)
from fuelrail.options import file_name, typed

if TYPE_CHECKING:
    from fuelrail.benzina.utils.mp4 import BinaryFile

__all__ = ["DiskFile", "LentFile", "Path"]

Path: TypeAlias = Union[str, "os.PathLike[str]"]


class DiskFile:
    """A file on disk, read at absolute positions: by any thread, and after a fork. Several `File`
    share one. A pickle has the path, and whether the file is open.
    """

    def __init__(self, path: Path) -> None:
        self.name = file_name("`disk_file`", path)
        self._descriptor = -1
        self._closer: weakref.finalize[[int], DiskFile] | None = None

    @property
    def closed(self) -> bool:
        return self._descriptor < 0

    def open(self) -> None:
        if not self.closed:
            return
        try:
            self._descriptor = os.open(self.name, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise NotFoundError("the file does not exist", path=self.name) from None
        except OSError as error:
            raise self._failed("the file cannot be opened", error) from None
        self._closer = weakref.finalize(self, os.close, self._descriptor)

    def close(self) -> None:
        if self._closer is not None:
            self._closer()
        self._descriptor = -1

    def size(self) -> int:
        return os.fstat(self._open_descriptor()).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        """Returns `size` bytes, or fewer at the end of the file."""
        descriptor = self._open_descriptor()
        pieces: list[bytes] = []
        try:
            while size > 0 and (piece := os.pread(descriptor, size, offset)):
                pieces.append(piece)
                offset += len(piece)
                size -= len(piece)
        except OSError as error:
            raise self._failed("the file cannot be read", error) from None
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _open_descriptor(self) -> int:
        if self.closed:
            raise StateError("the file is closed", path=self.name, remedy="Call `open`")
        return self._descriptor

    def _failed(self, failure: str, error: OSError) -> IoError:
        return IoError(failure, path=self.name, found=error.strerror)

    def __getstate__(self) -> tuple[str, bool]:
        return self.name, self.closed

    def __setstate__(self, state: tuple[str, bool]) -> None:
        name, closed = state
        self.__init__(name)  # type: ignore[misc]
        if not closed:
            self.open()


class LentFile:
    """A file object of the caller, which one thread at a time may read."""

    def __init__(self, file: BinaryFile) -> None:
        if not hasattr(file, "read") or not hasattr(file, "seek"):
            raise ArgumentTypeError(
                "`disk_file` has the wrong type",
                expected="a path or a binary file",
                found=typed(file),
            )
        self._file: Any = file

    @property
    def name(self) -> str | None:
        name = getattr(self._file, "name", None)
        return name if isinstance(name, str) else None

    @property
    def closed(self) -> bool:
        return bool(getattr(self._file, "closed", False))

    def open(self) -> None:
        if self.closed:
            raise StateError("the file object is closed", path=self.name)

    def close(self) -> None:
        self._file.close()

    def size(self) -> int:
        self.open()
        return int(self._file.seek(0, os.SEEK_END))

    def read_at(self, offset: int, size: int) -> bytes:
        self.open()
        self._file.seek(offset)
        return bytes(self._file.read(size))
