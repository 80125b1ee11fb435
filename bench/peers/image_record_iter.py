"""The contenders ImageRecordIter: mxnet|fuelrail FILE.rec THREADS BATCH SIDE. Only the import differs between the two."""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Iterator

from answer import serve


def main() -> None:
    who, path = sys.argv[1:3]
    threads, batch, side = map(int, sys.argv[3:6])
    if who == "mxnet":
        from mxnet.io import ImageRecordIter
    else:
        from fuelrail.mxnet.io import ImageRecordIter
    begin = time.perf_counter()
    batches = ImageRecordIter(
        path_imgrec=path,
        path_imgidx=str(pathlib.Path(path).with_suffix(".idx")),
        data_shape=(3, side, side),
        batch_size=batch,
        shuffle=True,
        preprocess_threads=threads,
        random_resized_crop=True,
        min_random_area=0.08,
        min_aspect_ratio=3 / 4,
        max_aspect_ratio=4 / 3,
        rand_mirror=True,
        mean_r=123.675,
        mean_g=116.28,
        mean_b=103.53,
        std_r=58.395,
        std_g=57.12,
        std_b=57.375,
        verbose=False,
    )
    next(batches).data[0].wait_to_read()
    first = time.perf_counter() - begin

    def stand_inside_an_epoch() -> None:
        """Discards the batches of the next epoch that fuelrail has read ahead outside of the measurement: the next reset drops
        them. MXNet does not read ahead past an epoch's end, and fuelrail.Loader gets a different epoch number."""
        if who == "fuelrail":
            batches.reset()
            next(batches)

    def run(_: int) -> Iterator[int]:
        batches.reset()
        for each in batches:
            each.data[0].wait_to_read()
            yield batch - each.pad

    serve(run, {"first_batch_seconds": first}, before=stand_inside_an_epoch)


if __name__ == "__main__":
    main()
