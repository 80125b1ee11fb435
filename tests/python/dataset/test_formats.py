"""Images of every format and kind decode to the same pixels as with Pillow."""

from __future__ import annotations

import io
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

import fuelrail as fr

# Pillow's modes and the options for writing each format.
KINDS: list[tuple[str, str, dict[str, object]]] = [
    *(("BMP", mode, {}) for mode in ("1", "L", "P", "RGB", "RGBA")),
    *(("WEBP", mode, {"lossless": True, "exact": True}) for mode in ("RGB", "RGBA")),
    *(("WEBP", mode, {"quality": q, "method": 2}) for mode in ("RGB", "RGBA") for q in (5, 80)),
    *(("PNG", mode, {}) for mode in ("1", "L", "LA", "P", "RGB", "RGBA")),
]
TIFF_KINDS: list[tuple[str, str, dict[str, object]]] = [
    *(
        ("TIFF", mode, {"compression": compression})
        for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK")
        for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits")
    ),
    ("TIFF", "1", {"compression": "group3"}),
    ("TIFF", "1", {"compression": "group4"}),
    ("TIFF", "RGB", {"compression": "jpeg", "quality": 80}),
    ("TIFF", "L", {"compression": "jpeg", "quality": 80}),
]


def random_image(mode: str, height: int, width: int, seed: int) -> Image.Image:
    random = np.random.default_rng(seed)
    channels = {"1": 1, "L": 1, "LA": 2, "P": 1, "RGB": 3, "RGBA": 4, "CMYK": 4}[mode]
    noise = random.integers(0, 256, (height, width, channels), dtype=np.uint8)
    slope = np.arange(height)[:, None, None] * 3 + np.arange(width)[None, :, None] * 5
    data = np.where(random.random((height, width, 1)) < 0.3, noise, slope % 256).astype(np.uint8)
    if mode == "P":
        image = Image.fromarray(data[:, :, 0], "L").convert("RGB").quantize(64)
        image.putpalette([int(v) for v in random.integers(0, 256, 3 * 64)])
        return image
    if mode == "1":
        return Image.fromarray(data[:, :, 0], "L").convert("1")
    return Image.frombytes(mode, (width, height), data.tobytes())


def written(image: Image.Image, kind: str, options: dict[str, object], orientation: int) -> bytes:
    if orientation != 1 and kind != "BMP":
        exif = Image.Exif()
        exif[0x0112] = orientation
        options = {**options, "exif": exif}
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def expected(data: bytes) -> np.ndarray:
    return np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))


def decoded(directory: pathlib.Path, kind: str, data: bytes) -> np.ndarray:
    """Decodes an image in a folder, which finds its files by extension."""
    folder = directory / "folder" / "class"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / f"image.{kind.lower()}").write_bytes(data)
    return np.asarray(fr.open(directory / "folder")[0].decode())


@pytest.fixture(scope="module")
def has_tiff(tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether this build decodes TIFF; another build's error says that it does not."""
    data = written(Image.new("RGB", (2, 2)), "TIFF", {}, 1)
    try:
        decoded(tmp_path_factory.mktemp("tiff"), "TIFF", data)
    except fr.UnsupportedError as error:
        if "this build of fuelrail does not support TIFF" not in str(error):
            raise
        return False
    return True


# Size, content and orientation.
IMAGES = st.tuples(st.integers(1, 70), st.integers(1, 70), st.integers(0, 2**32), st.integers(1, 8))


def check_kind(
    directory: pathlib.Path,
    kind: tuple[str, str, dict[str, object]],
    image: tuple[int, int, int, int],
) -> None:
    name, mode, options = kind
    height, width, seed, orientation = image
    data = written(random_image(mode, height, width, seed), name, options, orientation)
    found, wanted = decoded(directory, name, data), expected(data)
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found, wanted)


@given(kind=st.sampled_from(KINDS), image=IMAGES)
def test_every_kind_of_image_has_pillows_pixels(
    tmp_path: pathlib.Path,
    kind: tuple[str, str, dict[str, object]],
    image: tuple[int, int, int, int],
) -> None:
    check_kind(tmp_path, kind, image)


@given(kind=st.sampled_from(TIFF_KINDS), image=IMAGES)
def test_every_kind_of_tiff_has_pillows_pixels(
    tmp_path: pathlib.Path,
    has_tiff: bool,
    kind: tuple[str, str, dict[str, object]],
    image: tuple[int, int, int, int],
) -> None:
    if not has_tiff:
        pytest.skip("this build has no TIFF")
    check_kind(tmp_path, kind, image)


def test_packed_images_of_every_format_are_verified_and_decoded(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "folder" / "class"
    folder.mkdir(parents=True)
    image = random_image("RGB", 20, 30, 1)
    for kind in ("BMP", "PNG", "WEBP", "JPEG"):
        (folder / f"{kind}.{kind.lower()}").write_bytes(written(image, kind, {}, 1))
    fr.pack(tmp_path / "folder", tmp_path / "all.rec")
    data = fr.open(tmp_path / "all.rec")
    assert len(data) == 4
    for sample, path in zip(data, sorted(folder.iterdir()), strict=True):
        np.testing.assert_array_equal(np.asarray(sample.decode()), expected(path.read_bytes()))

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "fuelrail", *arguments]
        return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)

    path = str(tmp_path / "all.rec")
    assert command("verify", path, "--decode").returncode == 0
    info = json.loads(command("info", path, "--json").stdout)
    assert info["sample"]["formats"] == {"bmp": 1, "jpeg": 1, "png": 1, "webp": 1}
    assert command("cat", path, ":", "-o", str(tmp_path / "out")).returncode == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["0.bmp", "1.jpg", "2.png", "3.webp"]


def test_damage_of_every_format_is_found_by_verify(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "folder" / "class"
    folder.mkdir(parents=True)
    image = random_image("RGB", 20, 30, 1)
    for kind in ("BMP", "PNG", "WEBP", "JPEG"):
        data = written(image, kind, {}, 1)
        (folder / f"{kind}.{kind.lower()}").write_bytes(data[: len(data) // 2])
    line = [sys.executable, "-m", "fuelrail", "verify", str(tmp_path / "folder"), "--decode"]
    done = subprocess.run(
        [*line, "--json"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["damage"]) == 4
