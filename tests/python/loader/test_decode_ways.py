"""JPEGs have the same pixels and errors, whichever way they are decoded."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import pytest

from photographs import encoded, photograph

# The epoch of a file: a hash of its batches, the skipped records and how images were decoded.
EPOCH = """
import hashlib, json, sys
import fuelrail as fr
from fuelrail import transforms as T
loader = fr.Loader(sys.argv[1], 4, transforms=[T.RandomResizedCrop(48)], seed=3, shuffle=True,
                   threads=2, prefetch=1, on_error="skip")
found = hashlib.sha256()
for images, labels in loader:
    found.update(images.numpy().tobytes() + labels.numpy().tobytes())
stats = loader.stats()
print(json.dumps({"hash": found.hexdigest(), "tolerated": stats.tolerated, "images": stats.images,
                  "bad": sorted((bad.index, str(bad.error)) for bad in loader.bad_records)}))
"""


def epoch(path: pathlib.Path, way: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", EPOCH, str(path)],
        env=os.environ | {"FUELRAIL_JPEG": way},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


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
    for other in (stream, libjpeg):
        assert {key: other[key] for key in ("hash", "tolerated", "bad")} == {
            key: guessed[key] for key in ("hash", "tolerated", "bad")
        }
    assert libjpeg["images"]["guessed"] == libjpeg["images"]["restart_markers"] == 0
