"""Creates a dataset of JPEG photographs from the sample pictures in scikit-image.

Each picture is a class. Training crops come from its left two thirds, and validation crops from its right third,
which training never sees. A crop is scaled to a photographic size (shorter side 240 to 375 pixels) and saved as JPEG.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import pathlib
import random
import sys
import time

import skimage
from PIL import Image

PICTURES = {
    "astronaut": "astronaut.png",
    "brick": "brick.png",
    "camera": "camera.png",
    "cat": "chelsea.png",
    "coffee": "coffee.png",
    "grass": "grass.png",
    "gravel": "gravel.png",
    "hubble": "hubble_deep_field.jpg",
    "motorcycle": "motorcycle_left.png",
    "retina": "retina.jpg",
    "rocket": "rocket.jpg",
    "tissue": "ihc.png",
}


@dataclasses.dataclass(frozen=True)
class Part:
    """The images of one class in one part of the dataset."""

    name: str  # the class
    part: str  # "train" or "val"
    count: int
    folder: pathlib.Path
    seed: int


def make_photographs(folder: pathlib.Path, train: int, val: int, seed: int = 0) -> None:
    """Writes `folder/train/CLASS/*.jpg` and `folder/val/CLASS/*.jpg`: about `train` and `val` images in total.

    The same arguments give the same files.
    """
    parts = [
        Part(name, part, total // len(PICTURES), folder, seed)
        for name in PICTURES
        for part, total in (("train", train), ("val", val))
    ]
    begin = time.perf_counter()
    done = 0
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for written in pool.map(_write_part, parts):
            done += written
            if sys.stdout.isatty():
                print(f"\r  {done} photographs", end="", flush=True)
    print(f"\r  {done} photographs in {time.perf_counter() - begin:.0f} s", flush=True)


def _write_part(part: Part) -> int:
    data = pathlib.Path(skimage.__file__).parent / "data"
    with Image.open(data / PICTURES[part.name]) as opened:
        picture = opened.convert("L" if opened.mode == "L" else "RGB")
    cut = picture.width * 2 // 3
    if part.part == "train":
        region = picture.crop((0, 0, cut, picture.height))
    else:
        region = picture.crop((cut, 0, picture.width, picture.height))
    generator = random.Random(f"{part.seed}/{part.part}/{part.name}")
    folder = part.folder / part.part / part.name
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(part.count):
        _random_crop(region, generator).save(
            folder / f"{i:05}.jpg", quality=generator.randint(80, 95)
        )
    return part.count


def _random_crop(region: Image.Image, generator: random.Random) -> Image.Image:
    aspect = generator.choice([4 / 3, 3 / 2, 1.0, 3 / 4, 2 / 3])
    widest = min(region.width, int(region.height * aspect))
    width = generator.randint(max(2, widest // 2), widest)
    height = min(region.height, round(width / aspect))
    left = generator.randint(0, region.width - width)
    top = generator.randint(0, region.height - height)
    shorter = generator.randint(240, 375)
    scale = shorter / min(width, height)
    size = (round(width * scale), round(height * scale))
    return region.crop((left, top, left + width, top + height)).resize(
        size, Image.Resampling.BILINEAR
    )
