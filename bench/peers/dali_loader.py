"""The contender NVIDIA DALI on the CPU: FILE.rec THREADS BATCH SIDE.

Uses DALI's record reader, fused decode and crop, and normaliser.
Between epochs, DALI's pipeline fills its queue of two batches. The measurement does not correct for this head start.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Iterator

from answer import serve
from nvidia.dali import fn, pipeline_def, types


@pipeline_def
def photographs(path: pathlib.Path, side: int):  # type: ignore[no-untyped-def]
    encoded, labels = fn.readers.mxnet(
        path=[str(path)],
        index_path=[str(path.with_suffix(".idx"))],
        random_shuffle=True,
        name="reader",
    )
    images = fn.decoders.image_random_crop(
        encoded, device="cpu", random_area=[0.08, 1.0], random_aspect_ratio=[3 / 4, 4 / 3]
    )
    images = fn.resize(images, size=[side, side], interp_type=types.INTERP_LINEAR, antialias=True)
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        mirror=fn.random.coin_flip(),
    )
    return images, labels


def main() -> None:
    path, threads, batch, side = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:5])
    begin = time.perf_counter()
    pipe = photographs(
        path,
        side,
        batch_size=batch,
        num_threads=threads,
        device_id=None,
        prefetch_queue_depth=2,
        seed=1,
    )
    pipe.build()
    pipe.run()
    first = time.perf_counter() - begin
    records = pipe.epoch_size("reader")

    def run(_: int) -> Iterator[int]:
        for _batch in range(-(-records // batch)):
            images, _labels = pipe.run()
            yield len(images)

    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    main()
