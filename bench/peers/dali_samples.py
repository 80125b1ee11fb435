"""The contender NVIDIA DALI on the CPU, on samples of many fields: JOB FOLDER RECORDS THREADS. It reads the files of FOLDER.

`masks`: DALI's own readers, of which two with equal seeds return an image and its mask together; the mask must have grey levels,
because DALI turns a palette into colours. `cameras`: a Python source returns both images, boxes, labels and matrices. DALI moves
boxes and matrices as affine maps; it cannot remove the boxes that a crop removes, so they become empty.
"""

from __future__ import annotations

import json
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from answer import serve
from nvidia.dali import fn, math, pipeline_def, types
from sample_jobs import CAMERA, CROPPED, JOBS, MEAN, SCALED, STD

SPARE = SCALED[0] - CROPPED[0]  # rows
SCALE = (SCALED[1] / CAMERA[1], SCALED[0] / CAMERA[0])  # in x and y


def normalized(images: Any, **crop: Any) -> Any:
    return fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[255 * value for value in MEAN],
        std=[255 * value for value in STD],
        **crop,
    )


@pipeline_def
def masks(folder: pathlib.Path, records: int) -> Any:
    def read(suffix: str) -> Any:
        files = sorted(map(str, (folder / "files").glob(f"*{suffix}")))
        files = [files[i % len(files)] for i in range(records)]
        encoded, _ = fn.readers.file(files=files, shuffle_after_epoch=True, seed=1)
        return encoded

    jpeg, png = read(".jpg"), read(".png")
    anchor, shape = fn.random_crop_generator(
        fn.peek_image_shape(jpeg), random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
    )
    mirror = fn.random.coin_flip()
    size = JOBS["masks"].size
    image = fn.decoders.image_slice(jpeg, anchor, shape, axis_names="HW")
    image = fn.resize(image, size=size, interp_type=types.INTERP_LINEAR, antialias=True)
    mask = fn.decoders.image_slice(png, anchor, shape, axis_names="HW", output_type=types.GRAY)
    mask = fn.resize(mask, size=size, interp_type=types.INTERP_NN)
    return normalized(image, mirror=mirror), fn.flip(mask, horizontal=mirror)


class Cameras:
    """A source of samples in random order."""

    def __init__(self, folder: pathlib.Path, records: int) -> None:
        self._files, self._records = folder / "files", records
        self._annotations = [
            [
                (
                    np.array(camera["boxes"], np.float32),
                    np.array(camera["labels"], np.int64),
                    np.array(camera["intrinsics"], np.float32)[:2],
                )
                for camera in cameras
            ]
            for cameras in json.loads((folder / "annotations.json").read_text())
        ]
        self._order = (0, np.random.default_rng(0).permutation(records))

    def __call__(self, info: Any) -> list[Any]:
        epoch, place = divmod(info.idx_in_epoch + info.epoch_idx * self._records, self._records)
        if epoch != self._order[0]:
            self._order = (epoch, np.random.default_rng(epoch).permutation(self._records))
        index = self._order[1][place] % len(self._annotations)
        values: list[Any] = []
        for number, annotation in enumerate(self._annotations[index]):
            path = self._files / f"{index:04}-{number}.jpg"
            values += [np.fromfile(path, np.uint8), *annotation]
        return values


@pipeline_def
def cameras(folder: pathlib.Path, records: int) -> Any:
    values = fn.external_source(Cameras(folder, records), num_outputs=8, batch=False)
    height, width = CROPPED
    outputs = []
    for jpeg, boxes, labels, matrix in (values[:4], values[4:]):
        image = fn.decoders.image(jpeg)
        image = fn.resize(image, size=SCALED, interp_type=types.INTERP_LINEAR, antialias=True)
        top = fn.random.uniform(values=[float(y) for y in range(SPARE + 1)])
        outputs.append(normalized(image, crop=CROPPED, crop_pos_x=0.0, crop_pos_y=top / SPARE))
        shift = fn.stack(types.Constant(0.0), -top)
        moved = fn.transforms.translation(fn.transforms.scale(scale=SCALE), offset=shift)
        corners = fn.reshape(boxes, shape=[-1, 2])
        corners = fn.coord_transform(corners, MT=moved)
        edges = types.Constant(np.array([[width, height]], np.float32))
        corners = math.min(math.max(corners, 0.0), edges)
        outputs += [fn.reshape(corners, shape=[-1, 4]), labels]
        outputs.append(fn.transforms.combine(matrix, moved))
    return tuple(outputs)


def main() -> None:
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    records, threads = map(int, sys.argv[3:5])
    job = JOBS[name]
    begin = time.perf_counter()
    pipe = {"masks": masks, "cameras": cameras}[name](
        folder,
        records,
        batch_size=job.batch,
        num_threads=threads,
        device_id=None,
        prefetch_queue_depth=2,
        seed=1,
    )
    pipe.build()
    pipe.run()
    first = time.perf_counter() - begin

    def run(_: int) -> Iterator[int]:
        for _batch in range(-(-records // job.batch)):
            yield len(pipe.run()[0])

    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    main()
