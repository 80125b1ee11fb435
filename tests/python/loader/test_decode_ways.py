"""Images have the same pixels and errors, whichever way they are decoded."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import pytest

import fuelrail as fr
from photographs import encoded, photograph

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "images"
# The epoch of a file: a hash of its batches, the skipped records and how images were decoded.
EPOCH = """
import hashlib, json, sys, warnings
import fuelrail as fr
warnings.simplefilter("ignore")
from fuelrail import transforms as T
loader = fr.Loader(sys.argv[1], 4, transforms=[T.RandomResizedCrop(48)], seed=3, shuffle=True,
                   threads=2, prefetch=1, on_error="skip")
found = hashlib.sha256()
for images, labels in loader:
    found.update(images.numpy().tobytes() + labels.numpy().tobytes())
stats = loader.stats()
print(json.dumps({"hash": found.hexdigest(), "tolerated": stats.tolerated, "images": stats.images,
                  "hints_refused": stats.hints_refused,
                  "bad": sorted((bad.index, str(bad.error).replace(sys.argv[1], "")) for bad in loader.bad_records)}))
"""


def epoch(path: pathlib.Path, way: str = "", png: str = "") -> dict:
    done = subprocess.run(
        [sys.executable, "-c", EPOCH, str(path)],
        env=os.environ | {"FUELRAIL_JPEG": way, "FUELRAIL_PNG": png},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def delivered(epoch: dict) -> tuple:
    return epoch["hash"], epoch["tolerated"], epoch["bad"]


def index(path: pathlib.Path) -> None:
    subprocess.run([sys.executable, "-m", "fuelrail", "index", path, "-q"], check=True)


@pytest.fixture
def jpegs() -> list[bytes]:
    """Baseline with several samplings, with restart markers, progressive, grey, CMYK, damaged."""
    picture = photograph(3, 150, 200)
    whole = encoded(picture)
    return [
        *(encoded(picture, subsampling=kind) for kind in ("4:4:4", "4:2:2", "4:2:0")),
        encoded(picture, restart_marker_rows=1),
        encoded(picture, restart_marker_blocks=3, optimize=True),
        encoded(picture, progressive=True),
        encoded(picture.convert("L")),
        encoded(picture.convert("CMYK")),
        whole[: len(whole) // 2],
        whole[:-2],
        whole[: len(whole) // 3] + b"\xff\xd9" + whole[len(whole) // 3 + 2 :],
    ] * 3


def test_every_way_gives_the_same_epoch(
    make_file: Callable[..., pathlib.Path], jpegs: list[bytes]
) -> None:
    path = make_file(jpegs)
    guessed, stream, libjpeg = (epoch(path, way) for way in ("", "stream", "libjpeg"))
    assert guessed["images"]["guessed"] > 0
    assert guessed["images"]["restart_markers"] > 0
    assert guessed["images"]["libjpeg"] > 0
    assert guessed["bad"]
    assert delivered(stream) == delivered(libjpeg) == delivered(guessed)
    assert libjpeg["images"]["guessed"] == libjpeg["images"]["restart_markers"] == 0


def test_pngs_give_the_same_epoch_by_libspng(make_file: Callable[..., pathlib.Path]) -> None:
    picture = photograph(3, 150, 200)
    whole = encoded(picture, "PNG")
    path = make_file(
        [
            *(encoded(picture.convert(mode), "PNG") for mode in ("RGB", "RGBA", "L", "P", "1")),
            (GOLDEN / "rgb16_interlaced.png").read_bytes(),
            whole[:-30],
            whole + b"more",
            whole[:2000] + b"x" + whole[2001:],
        ]
        * 3
    )
    ours, libspng = epoch(path), epoch(path, png="libspng")
    assert ours["images"]["png"] > 0
    assert ours["images"]["libspng"] > 0  # interlaced
    assert ours["images"]["suspect"] > 0  # with bytes behind the end
    assert ours["bad"]
    assert delivered(ours) == delivered(libspng)
    assert libspng["images"]["png"] == 0


@pytest.mark.parametrize("extension", ["rec", "ffr"])
def test_an_index_a_part_of_one_and_a_damaged_one_give_the_same_epoch(
    make_file: Callable[..., pathlib.Path],
    jpegs: list[bytes],
    tmp_path: pathlib.Path,
    extension: str,
) -> None:
    make_file(jpegs, nsplit=2)
    parts = [tmp_path / f"made.part00{number}.rec" for number in range(2)]

    def joined(name: str) -> pathlib.Path:
        merged = tmp_path / f"{name}.rec"
        fr.merge(merged, parts)
        if extension == "rec":
            return merged
        fr.convert(merged, tmp_path / f"{name}.ffr")
        return tmp_path / f"{name}.ffr"

    none = epoch(joined("none"))
    assert none["images"]["indexed"] == 0
    index(parts[0])
    half = epoch(joined("half"))
    index(parts[1])
    path = joined("all")
    whole = epoch(path)
    assert 0 < half["images"]["indexed"] < whole["images"]["indexed"]
    assert whole["hints_refused"] == 0
    sidecar = pathlib.Path(f"{path}.frx")
    damaged = bytearray(sidecar.read_bytes())
    damaged[-1] ^= 1  # in the entry points, which are last
    sidecar.write_bytes(damaged)
    of_damaged = epoch(path)
    assert of_damaged["images"]["indexed"] == 0
    assert delivered(none) == delivered(half) == delivered(whole) == delivered(of_damaged)


def test_packing_with_entry_points_is_packing_and_indexing(
    make_file: Callable[..., pathlib.Path], jpegs: list[bytes]
) -> None:
    path = make_file(jpegs, entry_points=True)
    sidecar = pathlib.Path(f"{path}.frx")
    packed = sidecar.read_bytes()
    index(path)
    assert sidecar.read_bytes() == packed
    assert epoch(path)["images"]["indexed"] > 0
