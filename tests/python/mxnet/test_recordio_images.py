"""recordio.pack_img and unpack_img, against the results of MXNet 1.9.1 (with OpenCV 4.8.1)."""

from __future__ import annotations

import hashlib
import io
import json
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from fuelrail.mxnet import recordio
from fuelrail.mxnet.recordio import IRHeader, MXIndexedRecordIO
from photographs import encoded, photograph

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "mxnet"
CASES: dict[str, Any] = json.loads((GOLDEN / "pack.json").read_text())
HEADER = IRHeader(0, 4.0, 77, 0)
MODES = (-1, 0, 1)

# The differences from MXNet, and their reasons.
NOT_READ = {"gif", "ppm"}  # not decoded by fuelrail; MXNet returns None for the first
WIDE = {"png_grey16"}  # 16 bits per channel, which iscolor=-1 would keep
CMYK = {"jpeg_cmyk"}  # rounded differently from OpenCV: within 1 level


def inputs() -> dict[str, np.ndarray]:
    """The arrays that MXNet packed, by their sha256."""
    stored = np.load(GOLDEN / "pack_img_inputs.npz")
    base, noise = stored["base"], stored["noise"]
    rgba = np.concatenate([base, base[:, :, :1]], axis=2)
    grey = base[:, :, 0]
    arrays = [base, noise, rgba, base.astype(np.uint16) * 257, base.astype(np.float32), grey]
    arrays += [base[:, :, i].copy() for i in (1, 2)]
    return {sha256_of(array): array for array in arrays}


def sha256_of(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def is_golden(pixels: np.ndarray, golden: dict[str, Any]) -> bool:
    return list(pixels.shape) == golden["shape"] and sha256_of(pixels) == golden["sha256"]


def packed_by(case: dict[str, Any]) -> bytes:
    label = [1, 2] if case["name"] == "list2_jpg" else 4
    array = inputs()[case["array"]["sha256"]]
    return recordio.pack_img(HEADER._replace(label=label), array, **case["arguments"])


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", CASES["pack_img"], ids=named)
def test_packed_pixels_read_back_as_mxnets_do(case: dict[str, Any]) -> None:
    if case["name"] in ("bmp", "unknown_ext", "u16_png"):
        with pytest.raises(fr.UnsupportedError):
            packed_by(case)
        return
    packed = packed_by(case)
    header, _ = recordio.unpack(packed)
    assert (header.id, header.id2) == (77, 0)
    for mode in MODES:
        read, pixels = recordio.unpack_img(packed, mode)
        assert read.id == 77
        assert is_golden(pixels, case[f"unpack_iscolor_{mode}"]), mode


def test_jpegs_are_mxnets_byte_for_byte() -> None:
    """Both use libjpeg-turbo with the same settings."""
    names = {"jpg95", "jpg90", "jpg1", "jpg100", "jpeg_ext", "JPG_upper", "grey_jpg", "rgba_jpg"}
    for case in CASES["pack_img"]:
        if case["name"] in names | {"noise_jpg", "float_jpg", "list2_jpg"}:
            packed = packed_by(case)
            assert hashlib.sha256(packed).hexdigest() == case["packed_sha256"], case["name"]


def golden_record(name: str) -> bytes:
    names = [case["name"] for case in CASES["unpack_img_of_codec_rec"]]
    reader = MXIndexedRecordIO(GOLDEN / "codec.idx", GOLDEN / "codec.rec", "r")
    return reader.read_idx(names.index(name))


@pytest.mark.parametrize("case", CASES["unpack_img_of_codec_rec"], ids=named)
def test_every_encoding_becomes_mxnets_pixels(case: dict[str, Any]) -> None:
    name, record = case["name"], golden_record(case["name"])
    for mode in MODES:
        if name in NOT_READ or (name in WIDE and mode == -1):
            with pytest.raises(fr.UnsupportedError):
                recordio.unpack_img(record, mode)
            continue
        _, pixels = recordio.unpack_img(record, mode)
        if name in CMYK:
            assert list(pixels.shape) == case[f"iscolor_{mode}"]["shape"]
        else:
            assert is_golden(pixels, case[f"iscolor_{mode}"]), mode


@pytest.mark.parametrize("mode", MODES)
def test_cmyk_is_within_one_level_of_opencv(mode: int) -> None:
    cv2 = pytest.importorskip("cv2")
    record = golden_record("jpeg_cmyk")
    _, content = recordio.unpack(record)
    wanted = cv2.imdecode(np.frombuffer(content, np.uint8), mode).astype(int)
    assert np.abs(recordio.unpack_img(record, mode)[1] - wanted).max() <= 1


def test_pixels_are_bgr() -> None:
    picture = photograph(3, 50, 70)
    record = recordio.pack(HEADER, encoded(picture, "PNG"))
    _, pixels = recordio.unpack_img(record)
    assert np.array_equal(pixels[:, :, ::-1], np.asarray(picture))
    _, again = recordio.unpack_img(recordio.pack_img(HEADER, pixels, 3, ".png"))
    assert np.array_equal(again, pixels)
    with Image.open(io.BytesIO(recordio.unpack(recordio.pack_img(HEADER, pixels))[1])) as jpeg:
        assert np.abs(np.asarray(jpeg).astype(int) - np.asarray(picture)).mean() < 8


def test_alpha_and_grey_come_back() -> None:
    generator = np.random.default_rng(1)
    for shape in ((9, 7), (9, 7, 1), (9, 7, 3), (9, 7, 4)):
        pixels = generator.integers(0, 256, shape, dtype=np.uint8)
        _, back = recordio.unpack_img(recordio.pack_img(HEADER, pixels, 9, ".png"))
        assert np.array_equal(back, pixels[:, :, 0] if shape[2:] == (1,) else pixels)


def test_arrays_need_not_be_contiguous() -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    for view in (pixels[::2, ::-1], pixels[:, :, ::-1], pixels.transpose(1, 0, 2)):
        _, back = recordio.unpack_img(recordio.pack_img(HEADER, view, 1, ".png"))
        assert np.array_equal(back, view)


def test_other_numbers_are_rounded_and_clipped() -> None:
    pixels = np.array([[-3.0, 0.5, 1.5, 254.6, 300.0, np.nan]], dtype=np.float32)
    _, back = recordio.unpack_img(recordio.pack_img(HEADER, pixels, 9, ".png"))
    assert back.tolist() == [[0, 0, 2, 255, 255, 0]]
    _, back = recordio.unpack_img(recordio.pack_img(HEADER, np.array([[-5, 7, 256]]), 9, ".png"))
    assert back.tolist() == [[0, 7, 255]]


def test_a_quality_out_of_range_is_the_nearest() -> None:
    pixels = np.asarray(photograph(1, 40, 40))
    for low, high, end, least, most in ((-1, 200, ".jpg", 1, 100), (-1, 95, ".png", 0, 9)):
        assert recordio.pack_img(HEADER, pixels, low, end) == recordio.pack_img(
            HEADER, pixels, least, end
        )
        assert recordio.pack_img(HEADER, pixels, high, end) == recordio.pack_img(
            HEADER, pixels, most, end
        )


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(fr.TruncatedError):
        recordio.unpack_img(recordio.pack(HEADER, b"\xff\xd8\xffgarbage"))
    png = encoded(photograph(1, 64, 64), "PNG")
    with pytest.raises(fr.DecodeError):
        recordio.unpack_img(recordio.pack(HEADER, png[:80] + bytes(20) + png[100:]))
    with pytest.raises(fr.UnsupportedError):
        recordio.unpack_img(recordio.pack(HEADER, b"this is no image"))
    with pytest.raises(fr.CorruptError, match="the record has no image"):
        recordio.unpack_img(recordio.pack(HEADER, b""))
    jpeg = encoded(photograph(1, 64, 64))
    with pytest.raises(fr.TruncatedError):
        recordio.unpack_img(recordio.pack(HEADER, jpeg[: len(jpeg) // 2]))
    with pytest.raises(ValueError, match="`iscolor` is invalid"):
        recordio.unpack_img(recordio.pack(HEADER, jpeg), 2)


def test_what_cannot_be_encoded_is_refused() -> None:
    pixels = np.zeros((4, 4, 3), np.uint8)
    for end in (".bmp", ".webp", "jpg", ""):
        with pytest.raises(fr.UnsupportedError, match=r"'\.jpg', '\.jpeg' or '\.png'"):
            recordio.pack_img(HEADER, pixels, img_fmt=end)
    for shape in ((4,), (4, 4, 2), (4, 4, 5), (0, 4, 3), (1, 4, 4, 3)):
        with pytest.raises(ValueError, match="`img` has the wrong shape"):
            recordio.pack_img(HEADER, np.zeros(shape, np.uint8))
    with pytest.raises(TypeError, match="`img` has the wrong type: expected an array of numbers"):
        recordio.pack_img(HEADER, "photo.jpg")
    with pytest.raises(TypeError, match="quality"):
        recordio.pack_img(HEADER, pixels, quality="high")  # type: ignore[arg-type]


def test_no_opencv_is_needed(python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    run = python("""if True:
        import pkgutil, sys
        sys.modules["cv2"] = sys.modules["mxnet"] = None  # an import raises ImportError
        import numpy as np
        import fuelrail.mxnet
        from fuelrail.mxnet import recordio
        for module in pkgutil.walk_packages(fuelrail.mxnet.__path__, "fuelrail.mxnet."):
            __import__(module.name)
        pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        packed = recordio.pack_img(recordio.IRHeader(0, 1.0, 0, 0), pixels, img_fmt=".png")
        assert (recordio.unpack_img(packed)[1] == pixels).all()
    """)
    assert run.returncode == 0, run.stderr
