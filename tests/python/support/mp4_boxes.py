"""MP4 files made box by box, in memory."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np


def box(kind: str, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), kind.encode()) + body


def full_box(kind: str, *parts: bytes, version: int = 0) -> bytes:
    return box(kind, bytes([version, 0, 0, 0]), *parts)


def table(kind: str, rows: Sequence[int] | np.ndarray, dtype: str = ">u4", width: int = 1) -> bytes:
    """A box of entries of `width` numbers."""
    numbers = np.array(rows, np.dtype(dtype))
    return full_box(kind, struct.pack(">I", len(numbers) // width), numbers.tobytes())


def sizes_box(sizes: Sequence[int] | np.ndarray | int, count: int = 0) -> bytes:
    """`stsz`: of one size for all samples, or with a table."""
    if isinstance(sizes, int):
        return full_box("stsz", struct.pack(">II", sizes, count))
    rows = np.array(sizes, np.dtype(">u4"))
    return full_box("stsz", struct.pack(">II", 0, len(rows)), rows.tobytes())


def stbl(
    sizes: Sequence[int] | np.ndarray | int,
    offsets: Sequence[int] | np.ndarray,
    *,
    wide: bool = False,
    chunks: Sequence[int] = (1, 1, 1),
    samples: int | None = None,
    entry: bytes = b"",
) -> bytes:
    """chunks: the entries of `stsc`. samples: their number, if all have one size; default: one per
    chunk. entry: the sample entry.
    """
    return box(
        "stbl",
        full_box("stsd", struct.pack(">I", 1 if entry else 0), entry),
        sizes_box(sizes, len(offsets) if samples is None else samples),
        table("stsc", chunks, width=3),
        table("co64" if wide else "stco", offsets, ">u8" if wide else ">u4"),
    )


def trak(
    name: bytes,
    samples: bytes,
    *,
    shape: tuple[int, int] = (0, 0),
    version: int = 1,
    handler: bytes = b"meta",
) -> bytes:
    """samples: the box `stbl`."""
    sides = struct.pack(">HHHH", shape[0], 7, shape[1], 7)  # 7 / 65536 is passed over
    return box(
        "trak",
        full_box("tkhd", bytes(84 if version else 72), sides, version=version),
        box(
            "mdia",
            full_box("hdlr", bytes(4), handler, bytes(12), name),
            box("minf", full_box("nmhd"), samples),
        ),
    )


def outer_file(media: bytes, *traks: bytes) -> bytes:
    """A `.bzna` file whose media begin at byte 40."""
    head = box("ftyp", b"isom", bytes(4), b"bznaisom")
    return head + struct.pack(">I4sQ", 1, b"mdat", 16 + len(media)) + media + box("moov", *traks)
