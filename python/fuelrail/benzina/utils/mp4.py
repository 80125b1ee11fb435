"""Finds boxes in MP4 files and reads their tables, as Benzina v0.0.5's `benzina.utils.mp4` does.

A box has a length, a type of four bytes, and a body, which may contain other boxes (ISO/IEC
14496-12). Every function takes a binary file: an open file, an `io.BytesIO`, or a `File` of
`fuelrail.benzina.utils.file`. Positions are offsets in bytes from the file's first byte. A position
of None stands for the file's current position. After a call, the file's position is undefined.

Nothing is read outside the file, or outside the box that a function looks in. A box of length 0
extends to the end of the box that contains it, or of the file. Errors of all functions: CorruptError,
with the offset, for a box whose length is invalid, for a missing box, for a table whose length
differs from its number of entries, and for more than 65,536 boxes in a row; TruncatedError for a
file that has become shorter. (Benzina's functions do not end, read other boxes, or raise
StopIteration.)
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy

from fuelrail.errors import CorruptError, TruncatedError, UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "BinaryFile",
    "BoxHeader",
    "find_headers_at",
    "find_sample_table_at",
    "find_video_configuration_at",
    "get_chunk_offset_at",
    "get_name_at",
    "get_sample_locations_at",
    "get_sample_size_at",
    "get_shape_at",
    "read_exactly",
]

_MAX_SIBLINGS = 65_536  # as in src/fuelrail/mp4/boxes.h
_MAX_NAME_BYTES = 65_536
_FULL_BYTES = 4  # version and flags, before the content of many boxes
_VISUAL_ENTRY_BYTES = 78  # of a visual sample entry, before its boxes


class BinaryFile(Protocol):
    """The methods of a binary file that this module needs."""

    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def tell(self) -> int: ...
    def read(self, size: int = -1, /) -> bytes: ...


class BoxHeader(NamedTuple):
    """The header of a box."""

    pos: int
    """Offset of the box's first byte in the file."""
    box_size: int
    """Bytes of the box, with its header."""
    box_type: bytes
    """Four bytes, such as b"moov"; for a box of the type `uuid` its 16 bytes."""
    header_size: int
    """Bytes of the header: 8; 16 with a 64-bit length; 16 more for the type `uuid`."""


def find_headers_at(
    file: BinaryFile,
    types: Collection[bytes],
    offset: int | None = None,
    length: int | None = None,
) -> Iterator[BoxHeader]:
    """Yields the headers of the boxes of some types among boxes that follow one another.

    types: the types to find, such as {b"trak"}.
    offset: the position of the first box.
    length: the bytes to search. Default: None, up to the end of the file.
    """
    pos = file.tell() if offset is None else offset
    end = file.seek(0, os.SEEK_END)
    if length is not None:
        end = min(end, pos + length)
    for _ in range(_MAX_SIBLINGS):
        if pos >= end:
            return
        box = _header_at(file, pos, end)
        if box.box_type in types:
            yield box
        pos += box.box_size
    if pos < end:
        raise _corrupt(
            file, pos, "the box follows too many others", expected=f"at most {_MAX_SIBLINGS}"
        )


def find_sample_table_at(file: BinaryFile, trak_pos: int | None = None) -> BoxHeader:
    """Returns the header of the box `stbl` in a track.

    trak_pos: the position of the track's box `trak`, or of a box before it.
    """
    box = _first(file, b"trak", trak_pos)
    for kind in (b"mdia", b"minf", b"stbl"):
        box = _child(file, box, kind)
    return box


def find_video_configuration_at(file: BinaryFile, stbl_pos: int | None = None) -> BoxHeader | None:
    """Returns the header of the box `hvcC` or `avcC`, which has the parameters of the decoder of a
    track (ISO/IEC 14496-15). Returns None for a track that is neither H.265 (`hvc1` or `hev1`) nor
    H.264 (`avc1`). (Benzina does not find `hev1`.)

    stbl_pos: the position of the track's box `stbl`, or of a box before it.
    """
    stsd = _child(file, _first(file, b"stbl", stbl_pos), b"stsd")
    entries = _inside(file, stsd, {b"avc1", b"hev1", b"hvc1"}, _FULL_BYTES + 4)
    entry = next(entries, None)
    if entry is None:
        return None
    return _child(file, entry, b"avcC", b"hvcC", skipped=_VISUAL_ENTRY_BYTES)


def get_name_at(file: BinaryFile, trak_pos: int | None = None) -> bytes:
    """Returns the name of a track's handler as it is stored, usually with a NUL at its end.

    trak_pos: as for `find_sample_table_at`.
    """
    mdia = _child(file, _first(file, b"trak", trak_pos), b"mdia")
    hdlr = _child(file, mdia, b"hdlr")
    begin = _FULL_BYTES + 20  # predefined, type, reserved
    size = _body_bytes(hdlr) - begin
    if size > _MAX_NAME_BYTES:
        raise _corrupt(
            file,
            hdlr.pos,
            "the name of a track is too long",
            expected=f"at most {_MAX_NAME_BYTES} bytes",
            found=str(size),
        )
    return _body(file, hdlr, begin, size)


def get_shape_at(file: BinaryFile, trak_pos: int | None = None) -> tuple[int, int]:
    """Returns (width, height) of a track in pixels: the whole parts of the numbers in its box
    `tkhd`. For an image of a `.bzna` file, this is the visible size.

    trak_pos: as for `find_sample_table_at`.
    """
    tkhd = _child(file, _first(file, b"trak", trak_pos), b"tkhd")
    version = _body(file, tkhd, 0, 1)[0]
    sides = _body(file, tkhd, 88 if version == 1 else 76, 8)  # two numbers of 16.16 bits
    return int.from_bytes(sides[0:2], "big"), int.from_bytes(sides[4:6], "big")


def get_chunk_offset_at(
    file: BinaryFile, stbl_pos: int | None = None
) -> tuple[NDArray[numpy.unsignedinteger], bytes]:
    """Returns the offsets of a track's chunks as an array, and the bytes of this array in the file.

    The array has the shape (chunks,) and the big-endian dtype uint32 (box `stco`) or uint64 (box
    `co64`). It shares its memory with the bytes. In a nested file, the offsets count from the
    nested file's first byte.

    stbl_pos: as for `find_video_configuration_at`.
    """
    box = _child(file, _first(file, b"stbl", stbl_pos), b"stco", b"co64")
    dtype = numpy.dtype(">u4" if box.box_type == b"stco" else ">u8")
    table = _table(file, box, _FULL_BYTES, dtype.itemsize)
    return numpy.frombuffer(table, dtype), table


def get_sample_size_at(
    file: BinaryFile, stbl_pos: int | None = None
) -> tuple[NDArray[numpy.unsignedinteger] | int, bytes | None]:
    """Returns the sizes of a track's samples in bytes, and the bytes of this table in the file.

    The sizes are an array with the shape (samples,) and the big-endian dtype uint32. It shares its
    memory with the bytes. If the file stores one size for all samples, the result is (size, None).

    stbl_pos: as for `find_video_configuration_at`.
    """
    sizes, _, table = _sample_sizes(file, _first(file, b"stbl", stbl_pos))
    return sizes, table


def get_sample_locations_at(
    file: BinaryFile, stbl_pos: int | None = None, base: int = 0
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """Returns the offset of each sample of a track in the file, and its size in bytes: two int64
    arrays of the shape (samples,). (Benzina does not have this function, and counts one sample per
    chunk, whatever the box `stsc` says.)

    stbl_pos: as for `find_video_configuration_at`.
    base: the position from which the offsets of chunks count. Default: 0, the file's first byte.

    Errors: also CorruptError for tables that contradict one another, and for a sample outside the
    file.
    """
    stbl = _first(file, b"stbl", stbl_pos)
    room = file.seek(0, os.SEEK_END) - base
    stored, count, _ = _sample_sizes(file, stbl)
    total = int(numpy.sum(stored, dtype=numpy.int64)) * (count if isinstance(stored, int) else 1)
    if total > room:  # samples do not overlap, so a small file cannot have a huge number of them
        raise _corrupt(
            file,
            stbl.pos,
            "the samples of a track are longer in total than the file",
            expected=f"at most {room} bytes",
            found=str(total),
        )
    chunks, _ = get_chunk_offset_at(file, stbl.pos)
    lengths = _chunk_lengths(file, stbl, len(chunks))
    if lengths.sum() != count:
        raise _corrupt(
            file,
            stbl.pos,
            "the tables of a track contradict one another",
            expected=f"{count} samples",
            found=f"{lengths.sum()} samples in {len(chunks)} chunks",
        )
    outside = f"at most {room} bytes"
    if (chunks > room).any():
        raise _corrupt(file, stbl.pos, "a sample is outside the file", expected=outside)
    sizes = numpy.broadcast_to(numpy.asarray(stored, numpy.int64), (count,))
    before = numpy.cumsum(sizes) - sizes  # bytes of the samples before each sample
    first = numpy.cumsum(lengths) - lengths  # the first sample of each chunk
    begins = chunks.astype(numpy.int64) - before[first]
    offsets = numpy.repeat(begins, lengths) + before
    if (offsets + sizes > room).any():
        raise _corrupt(file, stbl.pos, "a sample is outside the file", expected=outside)
    return offsets + base, sizes


def read_exactly(file: BinaryFile, offset: int, size: int) -> bytes:
    """Returns the `size` bytes at `offset`. Errors: TruncatedError for a file that ends before."""
    read_at = getattr(file, "read_at", None)  # a File has it, for threads that share the File
    if read_at is None:
        file.seek(offset)
        content = file.read(size)
    else:
        content = read_at(offset, size)
    if len(content) < size:
        raise TruncatedError(
            "the file ends too early",
            path=_name_of(file),
            offset=offset,
            expected=f"{size} bytes",
            found=str(len(content)),
        )
    return content


def _header_at(file: BinaryFile, pos: int, end: int) -> BoxHeader:
    """The header of the box at `pos`, which ends at `end` or before."""
    room = end - pos
    head = read_exactly(file, pos, min(room, 32))
    size, kind, header_size = int.from_bytes(head[:4], "big"), head[4:8], 8
    if size == 1:
        header_size = 16
        size = int.from_bytes(head[8:16], "big")
    elif size == 0:
        size = room
    if kind == b"uuid":
        kind = head[header_size : header_size + 16]
        header_size += 16
    if room < header_size or not header_size <= size <= room:
        raise _corrupt(
            file,
            pos,
            "a box has an invalid length",
            expected=f"at least {header_size} bytes"
            if room < header_size
            else f"{header_size} to {room} bytes",
            found=str(min(size, room)) if room < header_size else str(size),
        )
    return BoxHeader(pos, size, kind, header_size)


def _first(file: BinaryFile, kind: bytes, pos: int | None) -> BoxHeader:
    pos = file.tell() if pos is None else pos
    for box in find_headers_at(file, {kind}, pos):
        return box
    raise _corrupt(file, pos, "the file lacks a required box", expected=f"a box {kind.decode()}")


def _inside(
    file: BinaryFile, parent: BoxHeader, kinds: Collection[bytes], skipped: int
) -> Iterator[BoxHeader]:
    """The boxes of some types in the body of `parent` after its first `skipped` bytes."""
    _check_body(file, parent, skipped)
    begin = parent.header_size + skipped
    return find_headers_at(file, kinds, parent.pos + begin, parent.box_size - begin)


def _child(file: BinaryFile, parent: BoxHeader, *kinds: bytes, skipped: int = 0) -> BoxHeader:
    for box in _inside(file, parent, kinds, skipped):
        return box
    raise _corrupt(
        file,
        parent.pos,
        f"the box {_text(parent.box_type)} lacks a required box",
        expected="a box " + " or ".join(kind.decode() for kind in kinds),
    )


def _body_bytes(box: BoxHeader) -> int:
    return box.box_size - box.header_size


def _check_body(file: BinaryFile, box: BoxHeader, least: int) -> None:
    if _body_bytes(box) < least:
        raise _corrupt(
            file,
            box.pos,
            f"the box {_text(box.box_type)} is too short",
            expected=f"a body of at least {least} bytes",
            found=str(_body_bytes(box)),
        )


def _body(file: BinaryFile, box: BoxHeader, begin: int, size: int) -> bytes:
    """The bytes [begin, begin + size) of a box's body."""
    _check_body(file, box, begin + max(size, 0))
    return read_exactly(file, box.pos + box.header_size + begin, size)


def _table(file: BinaryFile, box: BoxHeader, begin: int, entry_bytes: int) -> bytes:
    """The table that fills the rest of a box, after the number of its entries at `begin`."""
    count = int.from_bytes(_body(file, box, begin, 4), "big")
    begin += 4
    room = _body_bytes(box) - begin
    if room != count * entry_bytes:
        raise _corrupt(
            file,
            box.pos,
            f"the box {_text(box.box_type)} has an invalid number of entries",
            expected=f"{count * entry_bytes} bytes for {count} entries",
            found=str(room),
        )
    return _body(file, box, begin, room)


def _sample_sizes(
    file: BinaryFile, stbl: BoxHeader
) -> tuple[NDArray[numpy.unsignedinteger] | int, int, bytes | None]:
    """The sizes, the number of samples, and the table, as `get_sample_size_at` returns them."""
    box = _child(file, stbl, b"stsz", b"stz2")
    if box.box_type == b"stz2":
        raise UnsupportedError(
            "the sizes of samples have fewer than 32 bits", path=_name_of(file), offset=box.pos
        )
    size = int.from_bytes(_body(file, box, _FULL_BYTES, 4), "big")
    if size > 0:
        return size, int.from_bytes(_body(file, box, _FULL_BYTES + 4, 4), "big"), None
    table = _table(file, box, _FULL_BYTES + 4, 4)
    return numpy.frombuffer(table, numpy.dtype(">u4")), len(table) // 4, table


def _chunk_lengths(file: BinaryFile, stbl: BoxHeader, chunks: int) -> NDArray[numpy.int64]:
    """The number of samples in each chunk."""
    box = _child(file, stbl, b"stsc")
    table = numpy.frombuffer(_table(file, box, _FULL_BYTES, 12), numpy.dtype(">u4"))
    runs = table.reshape(-1, 3).astype(numpy.int64)  # first chunk from 1, samples, description
    edges = numpy.append(runs[:, 0] - 1, chunks)
    if edges[0] != 0 or (numpy.diff(edges) <= 0).any() or (runs[:, 1] == 0).any():
        raise _corrupt(
            file,
            box.pos,
            "the box stsc has an invalid entry",
            expected=f"rising numbers of chunks from 1 to {chunks}, each with samples",
        )
    return numpy.repeat(runs[:, 1], numpy.diff(edges))


def _text(kind: bytes) -> str:
    return kind.decode("ascii", "backslashreplace")


def _name_of(file: BinaryFile) -> str | None:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else None


def _corrupt(
    file: BinaryFile,
    offset: int,
    failure: str,
    *,
    expected: str | None = None,
    found: str | None = None,
) -> CorruptError:
    return CorruptError(failure, path=_name_of(file), offset=offset, expected=expected, found=found)
