"""Reads the tracks and samples of `.bzna` files and of the MP4 files inside them: the classes
`File`, `Track` and `Sample` of Benzina v0.0.5's `benzina.utils.file`.

A file that is given by its path is read at absolute positions, so several threads and forked
processes may share it. A pickle has the path and no content; unpickling opens the file again and
reads its tables. A file object that the caller opened is read with `seek` and `read`, by one thread
at a time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from fuelrail.benzina.utils import mp4
from fuelrail.benzina.utils.file_bytes import DiskFile, LentFile, Path
from fuelrail.closing import Closing
from fuelrail.errors import (
    CorruptError,
    InvalidArgumentError,
    StateError,
)
from fuelrail.options import place_of, shown

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from typing_extensions import Self

    from fuelrail.benzina.utils.mp4 import BinaryFile

__all__ = ["File", "Sample", "Track", "Trak"]


class Trak(NamedTuple):
    """A track that a File has found."""

    label: bytes
    """The name of its handler, without a NUL at its end."""
    shape: tuple[int, int]
    """(width, height) in pixels."""
    stbl_pos: int
    """Position of its box `stbl`, the table of its samples."""


class File(Closing):
    """An MP4 file, or an MP4 file inside another file. All positions count from the first byte of
    the outer file.

    A `with` block opens a file that was given by its path, and closes it at its end.
    """

    def __init__(
        self,
        disk_file: Path | BinaryFile | DiskFile | LentFile,
        offset: int = 0,
        size: int | None = None,
    ) -> None:
        """disk_file: a path, which `open` or a `with` block opens; or a file object that is open,
            whose tracks are read at once.
        offset: the position of the MP4 file in the outer file. Default: 0.
        size: the bytes of the MP4 file. Nothing after them is read. Benzina does not have this
            parameter. Default: None, up to the end of the outer file.

        Errors: those of `open`, for a file object.
        """
        self._path: str | None = None
        if isinstance(disk_file, (str, os.PathLike)):
            self._bytes: DiskFile | LentFile = DiskFile(disk_file)
            self._path = self._bytes.name
        elif isinstance(disk_file, (DiskFile, LentFile)):
            self._bytes = disk_file
        else:
            self._bytes = LentFile(disk_file)
        self._offset, self._size, self._position = offset, size, offset
        self._traks: dict[bytes, Trak] | None = None
        if self._path is None:
            self._traks = self._read_traks()

    @property
    def path(self) -> str | None:
        """The path that was given. None for a file object, and for a file inside another file."""
        return self._path

    @property
    def name(self) -> str | None:
        """The path of the outer file. None for a file object that has no name."""
        return self._bytes.name

    @property
    def offset(self) -> int:
        """The position of the MP4 file in the outer file."""
        return self._offset

    @property
    def closed(self) -> bool:
        """Whether the outer file is closed."""
        return self._bytes.closed

    def open(self) -> None:
        """Opens the file and finds its tracks. Does nothing if it is open.

        Errors: NotFoundError; IoError; CorruptError for a file that has no box `moov` or is damaged;
        StateError for a file object that is closed.
        """
        self._bytes.open()
        if self._traks is None:
            self._traks = self._read_traks()

    def close(self) -> None:
        """Closes the outer file, also for the files inside it. A second call does nothing."""
        self._bytes.close()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Sets the position of the next `read`, and returns it.

        whence: `os.SEEK_SET`, `os.SEEK_CUR` or `os.SEEK_END`, as for Python's files.
        """
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}
        self._position = offset + (base[whence] if whence in base else self._end_position())
        return self._position

    def tell(self) -> int:
        """Returns the position of the next `read`."""
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Returns the next `size` bytes, or fewer at the end of the MP4 file.

        size: the bytes to read. Default: -1, up to the end.

        Errors: IoError; StateError for a closed file.
        """
        room = max(self._end_position() - self._position, 0)
        content = self.read_at(self._position, room if size < 0 else size)
        self._position += len(content)
        return content

    def read_at(self, offset: int, size: int) -> bytes:
        """Returns the `size` bytes at the position `offset`, or fewer at the end of the MP4 file.
        Neither uses nor changes the position of `read`. Benzina does not have this method.

        Errors: those of `read`.
        """
        room = max(self._end_position() - offset, 0)
        return self._bytes.read_at(offset, min(size, room))

    def trak(self, label: str | bytes) -> Trak | None:
        """Returns the first track with the name `label`, or None.

        label: the name; a NUL at its end is ignored.

        Errors: StateError (a RuntimeError) if the file was never opened.
        """
        return self._known_traks().get(_as_label(label))

    def labels(self) -> list[str]:
        """Returns the names of the tracks, in order. Benzina does not have this method.

        Errors: StateError if the file was never opened.
        """
        return [label.decode("utf-8", "backslashreplace") for label in self._known_traks()]

    def subfile(self, offset: int, size: int | None = None) -> File:
        """Returns an MP4 file inside this one. It shares the open file.

        offset, size: as for File.

        Errors: those of `open`.
        """
        return File(self._bytes, offset, size)

    def __enter__(self) -> Self:
        if self._path is not None:
            self.open()
        return self

    def _end(self, failed: bool) -> None:
        if self._path is not None:
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_traks": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if not self.closed:
            self.open()

    def __repr__(self) -> str:
        place = f" at byte {self._offset}" if self._offset else ""
        closed = "; closed" if self.closed else ""
        return f"<fuelrail.benzina.utils.file.File: {self.name or 'unnamed'}{place}{closed}>"

    def _end_position(self) -> int:
        end = self._bytes.size()
        return end if self._size is None else min(self._offset + self._size, end)

    def _known_traks(self) -> dict[bytes, Trak]:
        if self._traks is None:
            raise StateError("the file was never opened", path=self.name, remedy="Call `open`")
        return self._traks

    def _read_traks(self) -> dict[bytes, Trak]:
        moov = next(mp4.find_headers_at(self, {b"moov"}, self._offset), None)
        if moov is None:
            raise CorruptError(
                "the file has no tracks",
                path=self.name,
                offset=self._offset,
                expected="an MP4 file with a box moov",
            )
        begin, length = moov.pos + moov.header_size, moov.box_size - moov.header_size
        traks: dict[bytes, Trak] = {}
        for box in mp4.find_headers_at(self, {b"trak"}, begin, length):
            label = _as_label(mp4.get_name_at(self, box.pos))
            shape = mp4.get_shape_at(self, box.pos)
            stbl = mp4.find_sample_table_at(self, box.pos)
            traks.setdefault(label, Trak(label, shape, stbl.pos))
        return traks


class Track(Closing):
    """A track of an MP4 file: a sequence of samples.

    `len(track)` is the number of samples, and `track[i]` a Sample; a negative index counts from the
    end. Errors of indexing: OutOfRangeError (an IndexError); ArgumentTypeError.

    A `with` block opens a file that was given by its path, and closes it at its end. Before a track
    is opened, all other members except `label` and `file` raise a StateError.
    """

    def __init__(self, file: Path | File, label: str | bytes) -> None:
        """file: a path, which `open` or a `with` block opens; or a File. The track is found at once
            in a File that is open.
        label: the track's name, such as "bzna_input".

        Errors: those of `open`, if `file` is an open File.
        """
        self._owns = not isinstance(file, File)
        self._file = file if isinstance(file, File) else File(file)
        self._label = label
        self._trak: Trak | None = None
        if not self._file.closed:
            self.open()

    @property
    def file(self) -> File:
        """The file of the track."""
        return self._file

    @property
    def label(self) -> str | bytes:
        """The track's name, as it was given."""
        return self._label

    @property
    def shape(self) -> tuple[int, int]:
        """(width, height) in pixels. (0, 0) for a track without images."""
        return self._found().shape

    def open(self) -> None:
        """Opens the file and reads the locations of the samples. Does nothing if it is open.

        Errors: those of `File.open`; InvalidArgumentError if the file has no such track, with the
        names of its tracks; CorruptError for tables that contradict one another, and for samples
        outside the file.
        """
        self._file.open()
        if self._trak is None:
            trak = self._file.trak(self._label)
            if trak is None:
                raise InvalidArgumentError(
                    "the file has no such track",
                    path=self._file.name,
                    expected=f"one of the tracks {', '.join(self._file.labels())}",
                    found=shown(self._label),
                )
            self._locations = mp4.get_sample_locations_at(
                self._file, trak.stbl_pos, self._file.offset
            )
            self._trak = trak

    def close(self) -> None:
        """Closes the file. The length and the locations stay known. A second call does nothing."""
        self._file.close()

    def __len__(self) -> int:
        return len(self.sample_locations()[0])

    def __getitem__(self, index: int) -> Sample:
        return Sample(self, self._place(index))

    def __iter__(self) -> Iterator[Sample]:
        return (Sample(self, index) for index in range(len(self)))

    def sample_location(self, index: int) -> tuple[int, int]:
        """Returns the offset of a sample in the outer file, and its size in bytes. Errors: those of
        indexing.
        """
        offsets, sizes = self.sample_locations()
        at = self._place(index)
        return int(offsets[at]), int(sizes[at])

    def sample_locations(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
        """Returns the offset of each sample in the outer file, and its size in bytes, as two int64
        arrays of the shape (samples,). Benzina does not have this method.
        """
        self._found()
        return self._locations

    def sample_bytes(self, index: int) -> bytes:
        """Returns the content of a sample. Errors: those of indexing; IoError; TruncatedError for a
        file that has become shorter; StateError for a closed file.
        """
        return mp4.read_exactly(self._file, *self.sample_location(index))

    def sample_as_file(self, index: int) -> File:
        """Returns the MP4 file that a sample is. It shares the open file. Errors: those of indexing
        and of `File.open`.
        """
        return self._file.subfile(*self.sample_location(index))

    def video_configuration_location(self) -> tuple[int, int] | None:
        """Returns the offset in the outer file and the size in bytes of the decoder's parameters:
        the content of the box `hvcC` or `avcC`. Returns None for a track that is neither H.265 nor
        H.264. Errors: CorruptError; IoError; StateError.
        """
        box = mp4.find_video_configuration_at(self._file, self._found().stbl_pos)
        return None if box is None else (box.pos + box.header_size, box.box_size - box.header_size)

    def __enter__(self) -> Self:
        if self._owns:
            self.open()
        return self

    def _end(self, failed: bool) -> None:
        if self._owns:
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_trak": None}
        state.pop("_locations", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if not self._file.closed:
            self.open()

    def __repr__(self) -> str:
        return f"<fuelrail.benzina.utils.file.Track {shown(self._label)}: {self._file.name}>"

    def _found(self) -> Trak:
        if self._trak is None:
            raise StateError(
                "the track was never opened", path=self._file.name, remedy="Call `open`"
            )
        return self._trak

    def _place(self, index: int) -> int:
        return place_of(index, len(self), "sample", self._file.name)


class Sample:
    """A sample of a track. Its content is read anew by each call: `bytes(sample)`."""

    def __init__(self, track: Track, index: int) -> None:
        self._track = track
        self._index = index

    def __bytes__(self) -> bytes:
        return self._track.sample_bytes(self._index)

    @property
    def value(self) -> bytes:
        """The content. Errors: those of `Track.sample_bytes`."""
        return bytes(self)

    @property
    def location(self) -> tuple[int, int]:
        """The offset in the outer file, and the size in bytes."""
        return self._track.sample_location(self._index)

    def as_file(self) -> File:
        """Returns the MP4 file that the sample is. Errors: those of `Track.sample_as_file`."""
        return self._track.sample_as_file(self._index)

    def __repr__(self) -> str:
        track = self._track
        place = f"sample {self._index} of {shown(track.label)}: {track.file.name}"
        return f"<fuelrail.benzina.utils.file.Sample: {place}>"


def _as_label(label: str | bytes) -> bytes:
    name = label.encode() if isinstance(label, str) else label
    return name.removesuffix(b"\0")
