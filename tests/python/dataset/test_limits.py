"""docs/limits.md: small files that declare huge sizes are bad records and cost little."""

from __future__ import annotations

import io
import os
import pathlib
import signal
import struct
import warnings
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

import ffrecord_files as files
import fuelrail as fr
from fuelrail import transforms as T
from fuelrail.ffrecord import FileReader
from photographs import encoded, photograph

SIDE = 13300  # nearly the maximum number of pixels


def segment(marker: int, payload: bytes) -> bytes:
    return struct.pack(">BBH", 255, marker, len(payload) + 2) + payload


def jpeg(side: int, empty_scans: int) -> bytes:
    """A grey JPEG of one level; a scan without coefficients costs 15 bits for 16,384 blocks."""
    blocks = ((side + 7) // 8) ** 2
    tables = [
        segment(0xC4, bytes([place, 1, *[0] * 15, symbol]))
        for place, symbol in ((0, 0), (16, 0xE0))
    ]
    frame = segment(0xC2, struct.pack(">BHHBBBB", 8, side, side, 1, 1, 0x11, 0))
    first = segment(0xDA, bytes([1, 1, 0, 0, 0, 0])) + bytes(blocks // 8 + 1)
    runs = -(-blocks // 16384)
    empty = segment(0xDA, bytes([1, 1, 0, 1, 63, 0])) + bytes(15 * runs // 8 + 1)
    head = b"\xff\xd8" + segment(0xDB, bytes([0, *[1] * 64])) + frame + b"".join(tables)
    return head + first + empty * empty_scans + b"\xff\xd9"


def png(height: int, width: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b""))


def bmp(height: int, width: int) -> bytes:
    info = struct.pack("<IiiHHIIIIII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + info


BAD = {
    "scans": (jpeg(SIDE, 490), "contain too many blocks"),
    "jpeg": (jpeg(SIDE, 0)[:300], "2765569 blocks of at least 1 bit each"),
    "png": (png(SIDE, SIDE), "a byte of a PNG expands to at most 1032 bytes"),
    "bmp": (bmp(-SIDE, SIDE), "expected at least 530670054 bytes"),
    "side": (png(1, 65536), "a height and width of at most 65535 pixels"),
    "pixels": (png(60000, 60000), "max_pixels"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_image_that_claims_too_much_is_an_error(
    make_file: Callable[..., pathlib.Path], name: str
) -> None:
    image, match = BAD[name]
    data = fr.open(make_file([image], verify_images=False))
    with pytest.raises((fr.DecodeError, fr.TruncatedError), match=match) as caught:
        data[0].decode()
    assert caught.value.record == 0
    with pytest.raises((fr.DecodeError, fr.TruncatedError), match=match):
        list(fr.Loader(data, 1, transforms=[T.CenterCrop(SIDE)]))


def test_images_that_claim_too_much_are_passed_over(make_file: Callable[..., pathlib.Path]) -> None:
    good = encoded(photograph(1, 64, 64))
    data = fr.open(make_file([good, *(image for image, _ in BAD.values())], verify_images=False))
    loader = fr.Loader(data, 4, transforms=[T.CenterCrop(16)], on_error="skip")
    with pytest.warns(fr.FuelrailWarning, match="The loader uses another sample instead"):
        batches = list(loader)
    assert sum(len(labels.numpy()) for _, labels in batches) == len(data)
    assert {bad.index for bad in loader.bad_records} == set(range(1, len(data)))


def flat(mode: str, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, (2000, 2000)).save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "image",
    [
        flat("1", "PNG", optimize=True),
        flat("RGBA", "PNG", optimize=True),
        flat("L", "JPEG", optimize=True, quality=1),
        flat("RGB", "JPEG", optimize=True, quality=1, subsampling=2),
        flat("RGB", "JPEG", optimize=True, quality=1, subsampling=0, progressive=True),
        flat("CMYK", "JPEG", optimize=True, quality=1, progressive=True),
        flat("L", "BMP"),
    ],
    ids=lambda image: f"{len(image)} bytes",
)
def test_the_smallest_file_of_a_large_image_is_decoded(
    make_file: Callable[..., pathlib.Path], image: bytes
) -> None:
    sample = fr.open(make_file([image]))[0]
    assert sample.decode().shape == (2000, 2000, 3)


# --- Records ----------------------------------------------------------------------------------


def sparse(path: pathlib.Path, record_bytes: int) -> pathlib.Path:
    """A small record, and one whose bytes are a hole in the file."""
    first = 12 + 2 * 12
    path.write_bytes(files.table_of([zlib.crc32(b"good"), 1], [first, first + 4]) + b"good")
    os.truncate(path, first + 4 + record_bytes)
    return path


def test_a_record_that_claims_20_gibibytes_is_passed_over(tmp_path: pathlib.Path) -> None:
    data = fr.open(sparse(tmp_path / "a.ffr", 20 << 30))
    with pytest.raises(
        fr.CorruptError, match="expected at most 2147483648 bytes, found 21474836480"
    ) as caught:
        data[1]
    assert caught.value.record == 1
    loader = fr.Loader(data, 2, fields=["data"], on_error="skip")
    with pytest.warns(fr.FuelrailWarning, match="longer than allowed"):
        assert list(loader) == [([b"good", b"good"],)]


def test_max_record_bytes_can_be_lowered_and_raised(record_file: pathlib.Path) -> None:
    length = max(os.path.getsize(record_file), 100)

    def load(most: int) -> None:
        list(fr.Loader(record_file, 4, fields=["encoded"], max_record_bytes=most))

    load(length)
    with pytest.raises(fr.CorruptError, match=r"at most 99 bytes.*max_record_bytes"):
        load(99)
    with pytest.raises(fr.InvalidArgumentError, match="max_record_bytes"):
        load(0)


def test_a_reader_of_ffrecord_takes_no_memory_for_what_a_file_does_not_hold(
    tmp_path: pathlib.Path, python: Callable
) -> None:
    script = """if True:
        import sys
        import fuelrail as fr
        from fuelrail.ffrecord import FileReader
        reader = FileReader(sys.argv[1])
        assert bytes(reader.read_one(0)) == b"good"
        for read in (lambda: reader.read([0, 1]), lambda: reader[1]):
            try:
                read()
            except fr.CorruptError as error:
                assert error.record == 1 and "checksum" in str(error), error
            else:
                raise SystemExit(3)
        # Not getrusage, whose peak a child has from the process that started it.
        peak = open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]
        print(1024 * int(peak))
    """
    done = python(script, sparse(tmp_path / "a.ffr", (2 << 30) + 1))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 500 << 20


def test_a_packed_folder_takes_no_memory_for_names_that_the_file_does_not_hold(
    tmp_path: pathlib.Path,
) -> None:
    path, mark = tmp_path / "a.ffr", b"piouhjgbr"
    path.write_bytes(files.table_of([1], [24]) + mark)
    os.truncate(path, 24 + (2 << 30) + 1)
    with pytest.raises(fr.CorruptError, match="expected at most 2147483648 bytes"):
        fr.open(path, schema="class_folders")


def test_ctrl_c_ends_the_sum_of_a_record_that_claims_terabytes(tmp_path: pathlib.Path) -> None:
    """Tests a record that a reader requests, and one that opening has to check."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    reader = FileReader(sparse(tmp_path / "a.ffr", 4 << 40))
    odd_label = struct.pack("<IfQQ", 0, 0.5, 1, 0) + b"\xff\xd8\xff"  # follows a whole-number label
    images = [struct.pack("<IfQQ", 0, 1, 0, 0) + b"\xff\xd8\xff", odd_label]
    table = files.table_of([zlib.crc32(images[0]), 1], [36, 36 + len(images[0])])
    path = tmp_path / "b.ffr"
    path.write_bytes(table + b"".join(images))
    os.truncate(path, 4 << 40)
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        for begin in (lambda: reader.read([1]), lambda: reader[1], lambda: fr.open(path)):
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.02)
            with pytest.raises(KeyboardInterrupt):
                begin()
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert not path.with_name("b.ffr.frx").exists()


# --- What is lost -----------------------------------------------------------------------------


def test_lost_bits_and_lost_alpha_are_said_once_a_loader(
    make_file: Callable[..., pathlib.Path],
) -> None:
    deep = Image.fromarray(np.full((32, 32), 300, np.uint16))
    images = [encoded(photograph(1, 32, 32)), encoded(deep, "PNG")]
    images += [encoded(Image.new("RGBA", (32, 32)), "PNG"), *images]
    data = fr.open(make_file(images))
    for _ in range(2):
        loader = fr.Loader(data, 2, transforms=[T.CenterCrop(16)], threads=1)
        with pytest.warns(fr.FuelrailWarning) as said:
            assert len([*loader, *loader]) == 6
        texts = [str(one.message) for one in said]
        assert len(texts) == 2
        assert f"{data.place(1).path}: record 1, offset" in texts[0]
        assert "16 bits per channel, of which only the upper 8 are kept" in texts[0]
        assert f"{data.place(2).path}: record 2, offset" in texts[1]
        assert "may have an alpha channel, which is dropped" in texts[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(fr.Loader(data, 2, fields=["encoded", "label"]))
