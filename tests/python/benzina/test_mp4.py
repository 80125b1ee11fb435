"""fuelrail.benzina.utils.mp4: what it finds, and what it refuses. `trak` makes the track of Benzina's
own test: three samples in three chunks.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.benzina.utils import mp4
from mp4_boxes import box, full_box, sizes_box, stbl, table, trak

SIZES = [198297, 127477, 192476]
OFFSETS = [10, 10 + 198297, 10 + 198297 + 127477]


def file_of(*boxes: bytes) -> io.BytesIO:
    return io.BytesIO(b"".join(boxes))


def track(**options: Any) -> io.BytesIO:
    return file_of(trak(b"bzna_input\0", stbl(SIZES, OFFSETS), shape=(512, 384), **options))


def found(file: io.BytesIO, kind: bytes) -> int:
    """Position of a box in a file of one track."""
    return file.getvalue().index(kind) - 4


def test_the_boxes_of_a_track_are_found() -> None:
    file = track()
    size = len(file.getvalue())
    tkhd, mdia = mp4.find_headers_at(file, {b"tkhd", b"mdia"}, offset=8)
    assert tkhd == (8, 104, b"tkhd", 8)
    assert mdia == (112, size - 112, b"mdia", 8)
    assert next(mp4.find_headers_at(file, {b"trak"}, 0)) == (0, size, b"trak", 8)
    at = found(file, b"stbl")
    assert mp4.find_sample_table_at(file, 0) == (at, size - at, b"stbl", 8)
    assert [one.box_type for one in mp4.find_headers_at(file, {b"tkhd", b"mdia"}, 8, 104)] == [
        b"tkhd"
    ]


@pytest.mark.parametrize("version", [0, 1])
def test_name_and_shape_are_those_of_the_track(version: int) -> None:
    file = track(version=version)
    assert mp4.get_name_at(file, 0) == b"bzna_input\0"
    assert mp4.get_shape_at(file, 0) == (512, 384)
    file.seek(0)
    assert mp4.get_shape_at(file) == (512, 384)  # at the current position


@pytest.mark.parametrize("wide", [False, True])
def test_offsets_and_sizes_are_arrays_and_their_bytes(wide: bool) -> None:
    file = file_of(stbl(SIZES, OFFSETS, wide=wide))
    offsets, content = mp4.get_chunk_offset_at(file, 0)
    assert offsets.dtype == np.dtype(">u8" if wide else ">u4")
    assert offsets.tolist() == OFFSETS
    assert content == offsets.tobytes()
    sizes, content = mp4.get_sample_size_at(file, 0)
    assert isinstance(sizes, np.ndarray)
    assert sizes.dtype == np.dtype(">u4")
    assert (sizes.tolist(), sizes.tobytes()) == (SIZES, content)


def test_one_size_for_all_samples_is_a_number() -> None:
    assert mp4.get_sample_size_at(file_of(stbl(8, OFFSETS)), 0) == (8, None)


@pytest.mark.parametrize("entry", ["hvc1", "hev1", "avc1"])
def test_the_configuration_of_a_video_is_found(entry: str) -> None:
    kind = "avcC" if entry == "avc1" else "hvcC"
    parts = [box("colr", bytes(7)), box(kind, b"sets"), box("pasp", bytes(8))]
    file = file_of(stbl(SIZES, OFFSETS, entry=box(entry, bytes(78), *parts)))
    header = mp4.find_video_configuration_at(file, 0)
    assert header == (found(file, kind.encode()), 12, kind.encode(), 8)


def test_other_entries_have_no_configuration() -> None:
    for entry in (box("mett", bytes(8), b"\0video/mp4\0"), box("av01", bytes(78)), b""):
        assert mp4.find_video_configuration_at(file_of(stbl(8, OFFSETS, entry=entry)), 0) is None


def test_long_lengths_user_types_and_lengths_of_zero_are_read() -> None:
    long = struct.pack(">I4sQ", 1, b"mdat", 20) + b"data"
    user = struct.pack(">I4s16s", 28, b"uuid", b"sixteen bytes ..") + b"1234"
    last = struct.pack(">I4s", 0, b"free") + bytes(5)
    file = file_of(long, user, last)
    types = {b"mdat", b"sixteen bytes ..", b"free"}
    assert list(mp4.find_headers_at(file, types, 0)) == [
        (0, 20, b"mdat", 16),
        (20, 28, b"sixteen bytes ..", 24),
        (48, 13, b"free", 8),
    ]
    assert list(mp4.find_headers_at(file, types, 0, 20)) == [(0, 20, b"mdat", 16)]
    inner = box("stbl", struct.pack(">I4s", 0, b"stco") + bytes(8))
    assert mp4.get_chunk_offset_at(file_of(inner, long), 0)[1] == b""  # the end of its parent


def test_a_search_ends_with_the_parent() -> None:
    """A box of the next track is not taken for one of this track."""
    lame = trak(b"a", box("stbl", sizes_box(8, 3)))
    file = file_of(lame, trak(b"b", stbl(8, OFFSETS)))
    with pytest.raises(fr.CorruptError, match="stbl lacks a required box: expected a box stco or"):
        mp4.get_chunk_offset_at(file, mp4.find_sample_table_at(file, 0).pos)
    with pytest.raises(fr.CorruptError, match="trak lacks a required box: expected a box mdia"):
        mp4.get_name_at(file_of(box("trak"), track().getvalue()), 0)


DAMAGE: dict[str, tuple[bytes, Callable[[io.BytesIO], object], str]] = {
    "a length of 7": (
        struct.pack(">I4s", 7, b"free") + bytes(8),
        lambda file: list(mp4.find_headers_at(file, set(), 0)),
        r"offset 0: a box has an invalid length: expected 8 to 16 bytes, found 7",
    ),
    "a long length without room": (
        struct.pack(">I4s", 1, b"free") + bytes(4),
        lambda file: list(mp4.find_headers_at(file, set(), 0)),
        r"offset 0: a box has an invalid length",
    ),
    "a length beyond the file": (
        box("free") + struct.pack(">I4s", 99, b"moov"),
        lambda file: list(mp4.find_headers_at(file, {b"moov"}, 0)),
        r"offset 8: a box has an invalid length: expected 8 to 8 bytes, found 99",
    ),
    "a length beyond the parent": (
        box("trak", struct.pack(">I4s", 9, b"tkhd")) + bytes(90),
        lambda file: mp4.get_shape_at(file, 0),
        r"offset 8: a box has an invalid length",
    ),
    "bytes that are no box": (
        box("free") + b"abc",
        lambda file: list(mp4.find_headers_at(file, set(), 0)),
        r"offset 8: a box has an invalid length: expected at least 8 bytes, found 3",
    ),
    "no such box": (
        box("free"),
        lambda file: mp4.find_sample_table_at(file, 0),
        r"offset 0: the file lacks a required box: expected a box trak",
    ),
    "many boxes": (
        box("free") * 65_537,
        lambda file: list(mp4.find_headers_at(file, {b"moov"}, 0)),
        r"offset 524288: the box follows too many others: expected at most 65536",
    ),
    "boxes in boxes": (
        b"".join(struct.pack(">I4s", 8 * (10_000 - i), b"trak") for i in range(10_000)),
        lambda file: mp4.get_name_at(file, 0),
        r"the box trak lacks a required box: expected a box mdia",
    ),
    "a short tkhd": (
        box("trak", full_box("tkhd", bytes(60))),
        lambda file: mp4.get_shape_at(file, 0),
        r"offset 8: the box tkhd is too short: expected a body of at least 84 bytes, found 64",
    ),
    "a short hdlr": (
        box("trak", box("mdia", box("hdlr", bytes(20)))),
        lambda file: mp4.get_name_at(file, 0),
        r"offset 16: the box hdlr is too short: expected a body of at least 24 bytes, found 20",
    ),
    "an endless name": (
        box("trak", box("mdia", box("hdlr", bytes(24 + 65_537)))),
        lambda file: mp4.get_name_at(file, 0),
        r"offset 16: the name of a track is too long",
    ),
    "a huge number of offsets": (
        box("stbl", full_box("stco", b"\xff" * 4, bytes(8))),
        lambda file: mp4.get_chunk_offset_at(file, 0),
        r"stco has an invalid number of entries: expected 17179869180 bytes .*, found 8",
    ),
    "too few sizes": (
        box("stbl", full_box("stsz", struct.pack(">III", 0, 2, 8))),
        lambda file: mp4.get_sample_size_at(file, 0),
        r"stsz has an invalid number of entries: expected 8 bytes for 2 entries, found 4",
    ),
    "a video without parameters": (
        stbl(8, OFFSETS, entry=box("hvc1", bytes(78))),
        lambda file: mp4.find_video_configuration_at(file, 0),
        r"the box hvc1 lacks a required box: expected a box avcC or hvcC",
    ),
    "a short video entry": (
        stbl(8, OFFSETS, entry=box("hvc1", bytes(70))),
        lambda file: mp4.find_video_configuration_at(file, 0),
        r"the box hvc1 is too short: expected a body of at least 78 bytes, found 70",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_refused_with_its_offset(damage: str) -> None:
    content, read, message = DAMAGE[damage]
    with pytest.raises(fr.CorruptError, match=message) as caught:
        read(io.BytesIO(content))
    assert caught.value.offset is not None


def locations(samples: bytes, media: int = 1000) -> list[tuple[int, int]]:
    offsets, sizes = mp4.get_sample_locations_at(file_of(samples, box("mdat", bytes(media))), 0)
    return list(zip(offsets.tolist(), sizes.tolist(), strict=True))


def test_chunks_may_have_several_samples() -> None:
    chunks = [1, 2, 1, 2, 1, 1, 3, 3, 1]  # 2 samples in chunk 1, 1 in chunk 2, 3 from chunk 3 on
    sizes = [1, 2, 3, 4, 5, 6]
    expected = [(100, 1), (101, 2), (50, 3), (200, 4), (204, 5), (209, 6)]
    assert locations(stbl(sizes, [100, 50, 200], chunks=chunks)) == expected
    assert locations(stbl(8, [100], chunks=[1, 2, 1], samples=2)) == [(100, 8), (108, 8)]
    assert locations(stbl([], [], chunks=[])) == []


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (stbl([1, 2], [0, 0], chunks=[1, 2, 1]), "expected 2 samples, found 4 samples in 2 chunks"),
        (stbl([1, 2], [0, 0], chunks=[2, 1, 1]), "the box stsc has an invalid entry"),
        (stbl([1, 2], [0, 0], chunks=[1, 1, 1, 1, 1, 1]), "the box stsc has an invalid entry"),
        (stbl([1, 2], [0, 0], chunks=[1, 0, 1]), "the box stsc has an invalid entry"),
        (stbl([1, 2], [0, 0], chunks=[1, 1, 1, 4, 1, 1]), "the box stsc has an invalid entry"),
        (stbl([1, 2], [0, 0], chunks=[]), "the box stsc has an invalid entry"),
        (stbl([1, 9], [0, 2000]), "a sample is outside the file"),
        (stbl([1, 990], [0, 900]), "a sample is outside the file"),
        (stbl([1, 9], [0, 2**64 - 1], wide=True), "a sample is outside the file"),
        (stbl([2**32 - 1] * 3, [0] * 3), "longer in total than the file"),
        (stbl(1, [0], chunks=[1, 2**32 - 1, 1], samples=2**32 - 1), "longer in total"),
        (stbl(2**32 - 1, [0], samples=2**32 - 1), "longer in total than the file"),
    ],
)
def test_tables_that_contradict_one_another_are_refused(samples: bytes, message: str) -> None:
    with pytest.raises(fr.CorruptError, match=message):
        locations(samples)


def test_sizes_of_few_bits_are_unsupported() -> None:
    with pytest.raises(fr.UnsupportedError, match="fewer than 32 bits"):
        mp4.get_sample_size_at(file_of(box("stbl", table("stz2", [1]))), 0)


def test_no_flipped_bit_makes_it_fail_otherwise() -> None:
    """Every bit of a small track, one after the other."""
    content = trak(b"bzna_input\0", stbl([3, 4], [8, 11]), shape=(5, 6)) + box("mdat", bytes(7))
    refused = 0
    for bit in range(8 * len(content)):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << bit % 8
        file = io.BytesIO(damaged)
        try:
            mp4.get_name_at(file, 0)
            mp4.get_shape_at(file, 0)
            at = mp4.find_sample_table_at(file, 0).pos
            mp4.find_video_configuration_at(file, at)
            offsets, sizes = mp4.get_sample_locations_at(file, at)
        except (fr.CorruptError, fr.UnsupportedError):
            refused += 1
        else:
            assert ((offsets + sizes <= len(content)) & (offsets >= 0)).all()
    assert refused > 2 * len(content)
