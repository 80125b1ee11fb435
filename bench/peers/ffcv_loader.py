"""The contender FFCV on the bytes of JPEG files: FILES RECORDS THREADS BATCH SIDE. FILES: a folder, whose files are repeated.

At its first run, it packs the files into a `.beton` file beside FILES. FFCV's own write_mode="jpg" would encode pixels again, so
the image field is given the files' bytes here. FFCV decodes whole images with libjpeg-turbo's fast DCT, and resizes crops with
OpenCV's `INTER_AREA`. Its images are channels-last in memory, which is its faster layout. os_cache=True maps the file into memory.
"""

from __future__ import annotations

import multiprocessing
import pathlib
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from answer import serve
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.fields.rgb_image import IMAGE_MODES
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, Squeeze, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from PIL import Image
from sample_jobs import MEAN, STD


class JpegField(RGBImageField):
    """An image field that stores the bytes of a JPEG file as they are."""

    def encode(
        self,
        destination: np.ndarray,
        path: pathlib.Path,
        malloc: Callable[[int], tuple[int, np.ndarray]],
    ) -> None:
        encoded = np.fromfile(path, np.uint8)
        destination["mode"] = IMAGE_MODES["jpg"]
        with Image.open(path) as image:
            destination["width"], destination["height"] = image.size
        destination["data_ptr"], storage = malloc(encoded.size)
        storage[:] = encoded


class Files:
    """The paths of a folder's files, repeated."""

    def __init__(self, folder: pathlib.Path, records: int) -> None:
        self._files, self._records = sorted(folder.iterdir()), records

    def __len__(self) -> int:
        return self._records

    def __getitem__(self, index: int) -> tuple[pathlib.Path, int]:
        label = index % len(self._files)
        return self._files[label], label


def main() -> None:
    folder, records, threads, batch, side = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:6])
    path = folder.with_name(f"{records}.beton")
    if not path.exists():
        making = path.with_suffix(".making")
        fields = {"image": JpegField(), "label": IntField()}
        DatasetWriter(str(making), fields, num_workers=threads).from_indexed_dataset(
            Files(folder, records)
        )
        multiprocessing.active_children()  # collects the ended processes of the writer
        making.rename(path)
    begin = time.perf_counter()
    image = [
        RandomResizedCropRGBImageDecoder((side, side)),
        RandomHorizontalFlip(),
        NormalizeImage(255 * np.array(MEAN), 255 * np.array(STD), np.float32),
        ToTensor(),
        ToTorchImage(convert_back_int16=False),
    ]
    loader = Loader(
        str(path),
        batch_size=batch,
        num_workers=threads,
        os_cache=True,
        order=OrderOption.RANDOM,
        drop_last=False,
        custom_fields={"image": RGBImageField},  # a `.beton` file does not name fields of users
        pipelines={"image": image, "label": [IntDecoder(), ToTensor(), Squeeze()]},
    )
    next(iter(loader))
    first = time.perf_counter() - begin

    def run(_: int) -> Iterator[int]:
        for images, _labels in loader:
            yield len(images)

    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    main()
