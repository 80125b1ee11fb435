"""The data of bench/samples.py: photographs with masks, boxes and cameras that are computed from them, and raw pixels.

Each set is a folder with `files/`, `annotations.json` (an entry for each file) and `all.rec`, which has the files repeated to the
wanted number of records. The same photographs give the same data.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageOps
from rounds import SAMPLE, WORK
from sample_jobs import CAMERA

import fuelrail as fr
from fuelrail import fields as F

LEVELS = 20  # the number of classes of masks
CLASSES = 80  # the number of classes of boxes
SHORT = 256  # the shorter side of raw pixels
ORIENTATION = 0x0112  # the tag of EXIF

Sample = dict[str, Any]
Rows = Sequence[Sample]


def photographs() -> list[pathlib.Path]:
    """Those that are stored upright: a mask has no EXIF orientation."""
    if not SAMPLE.is_dir():
        sys.exit(f"bench: {SAMPLE} does not exist; the benchmark needs its photographs")
    upright = []
    for path in sorted(SAMPLE.glob("*.JPEG")):
        with Image.open(path) as image:
            if image.getexif().get(ORIENTATION, 1) <= 1:
                upright.append(path)
    return upright


def random_boxes(random: np.random.Generator, height: int, width: int) -> Sample:
    """1 to 40 boxes with sides of 1/20 to 1/2 of the image's, and their classes."""
    count = int(random.integers(1, 41))
    sides = np.exp(random.uniform(np.log(1 / 20), np.log(1 / 2), (count, 2)))
    corners = random.uniform(0, 1 - sides)
    boxes = np.hstack([corners, corners + sides]) * (width, height, width, height)
    return {
        "boxes": boxes.round(2).tolist(),
        "labels": random.integers(0, CLASSES, count).tolist(),
    }


def with_masks(path: pathlib.Path, _: np.random.Generator, stem: pathlib.Path) -> Sample:
    """The mask: the photograph's smoothed brightness in LEVELS steps, whose regions have the borders of its objects."""
    shutil.copyfile(path, stem.with_suffix(".jpg"))
    with Image.open(path) as image:
        grey = image.convert("L")
    small = grey.resize((max(1, grey.width // 16), max(1, grey.height // 16)), Image.Resampling.BOX)
    smooth = np.asarray(small.resize(grey.size, Image.Resampling.BICUBIC), np.uint16)
    Image.fromarray((smooth * LEVELS // 256).astype(np.uint8)).save(stem.with_suffix(".png"))
    return {}


def with_boxes(path: pathlib.Path, random: np.random.Generator, stem: pathlib.Path) -> Sample:
    shutil.copyfile(path, stem.with_suffix(".jpg"))
    with Image.open(path) as image:
        return random_boxes(random, image.height, image.width)


def two_cameras(
    path: pathlib.Path, random: np.random.Generator, stem: pathlib.Path
) -> list[Sample]:
    """The photograph and its mirror image, fitted to the size of a camera's picture."""
    height, width = CAMERA
    with Image.open(path) as image:
        left = ImageOps.fit(image.convert("RGB"), (width, height), Image.Resampling.BICUBIC)
    cameras = []
    for number, picture in enumerate((left, ImageOps.mirror(left))):
        picture.save(stem.with_name(f"{stem.name}-{number}.jpg"), quality=90)
        matrix = [[1000.0, 0.0, width / 2], [0.0, 1000.0, height / 2], [0.0, 0.0, 1.0]]
        cameras.append({**random_boxes(random, height, width), "intrinsics": matrix})
    return cameras


def raw_pixels(path: pathlib.Path, _: np.random.Generator, stem: pathlib.Path) -> Sample:
    with Image.open(path) as image:
        scale = SHORT / min(image.size)
        size = (round(image.width * scale), round(image.height * scale))
        pixels = np.asarray(image.convert("RGB").resize(size, Image.Resampling.BICUBIC))
    np.save(stem.with_suffix(".npy"), pixels)
    return {}


def raw_squares(path: pathlib.Path, _: np.random.Generator, stem: pathlib.Path) -> Sample:
    with Image.open(path) as image:
        square = ImageOps.fit(image.convert("RGB"), (SHORT, SHORT), Image.Resampling.BICUBIC)
    np.save(stem.with_suffix(".npy"), np.asarray(square))
    return {}


OBJECTS = {"boxes": F.Boxes("xyxy", rows="objects"), "labels": F.Label(rows="objects")}


def arrays(annotation: Sample) -> Sample:
    """An annotation with arrays of the schema's types, also for the numbers of a JSON file."""
    dtypes = {"boxes": np.float32, "labels": np.int64, "intrinsics": np.float32}
    return {name: np.array(value, dtypes[name]) for name, value in annotation.items()}


def masks_sample(stem: pathlib.Path, _: Any, index: int) -> Sample:
    return {"image": stem.with_suffix(".jpg"), "mask": stem.with_suffix(".png")}


def boxes_sample(stem: pathlib.Path, annotation: Sample, index: int) -> Sample:
    return {"image": stem.with_suffix(".jpg"), **arrays(annotation)}


def cameras_sample(stem: pathlib.Path, annotation: list[Sample], index: int) -> Sample:
    cameras = [
        {"image": stem.with_name(f"{stem.name}-{number}.jpg"), **arrays(camera)}
        for number, camera in enumerate(annotation)
    ]
    return {"cameras": cameras}


def raw_sample(stem: pathlib.Path, _: Any, index: int) -> Sample:
    return {"image": stem.with_suffix(".npy"), "label": index}


RAW = fr.Schema({"image": F.Image(), "label": F.Label()})
CAMERA_FIELDS = {"image": F.Image(), **OBJECTS, "intrinsics": F.CameraMatrix()}
SETS: dict[str, tuple[Callable[..., Any], fr.Schema, Callable[..., Sample]]] = {
    "masks": (with_masks, fr.Schema({"image": F.Image(), "mask": F.Mask()}), masks_sample),
    "boxes": (with_boxes, fr.Schema({"image": F.Image(), **OBJECTS}), boxes_sample),
    "cameras": (
        two_cameras,
        fr.Schema({"cameras": [CAMERA_FIELDS, CAMERA_FIELDS]}),
        cameras_sample,
    ),
    "raw": (raw_pixels, RAW, raw_sample),
    "squares": (raw_squares, RAW, raw_sample),
}


def samples(folder: pathlib.Path, name: str, records: int) -> Iterator[Sample]:
    """The samples of a set, as `fr.pack` takes them."""
    annotations = json.loads((folder / "annotations.json").read_text())
    for record in range(records):
        index = record % len(annotations)
        yield SETS[name][2](folder / "files" / f"{index:04}", annotations[index], index)


def sample_set(name: str, records: int) -> pathlib.Path:
    """Makes the set, unless this version of the program has made it. Returns: its folder."""
    folder = WORK / f"samples-{name}-{records}"
    version = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()
    done = folder / "done"
    if done.exists() and done.read_text() == version:
        return folder
    print(f"making {folder} ...", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "files").mkdir(parents=True)
    make, schema, _ = SETS[name]
    annotations = [
        make(path, np.random.default_rng(index), folder / "files" / f"{index:04}")
        for index, path in enumerate(photographs()[:records])
    ]
    (folder / "annotations.json").write_text(json.dumps(annotations))
    fr.pack(samples(folder, name, records), folder / "all.rec", schema=schema)
    done.write_text(version)
    return folder
