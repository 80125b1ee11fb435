"""The contenders on `.bzna` files: FILE.bzna THREADS BATCH SIDE [--benzina]. With --benzina, through Benzina's API.

A measurement is several passes over the file, which has only a few batches: several epochs of fuelrail's loader, which reads
ahead into the next epoch; one longer epoch of Benzina's API, which cannot, because torch's sampler draws an epoch's order when
the epoch begins.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import torch
from answer import serve

import fuelrail as fr
import fuelrail.benzina.torch as bz
import fuelrail.benzina.torch.operations as ops

PASSES = 8


def main() -> None:
    path, threads, batch, side = sys.argv[1], *map(int, sys.argv[2:5])
    if "--benzina" in sys.argv:
        data = bz.dataset.ClassificationDataset(path)
        loader = bz.DataLoader(
            data,
            side,
            batch_size=batch,
            sampler=torch.utils.data.RandomSampler(data, num_samples=PASSES * len(data)),
            seed=1,
            device="cpu",
            threads=threads,
            bias_transform=(123.675, 116.28, 103.53),
            norm_transform=ops.ConstantNormTransform.from_std((58.395, 57.12, 57.375)),
            warp_transform=ops.RandomResizedCrop(),
        )
    else:
        loader = fr.torch.DataLoader(
            path,
            batch_size=batch,
            shuffle="full",
            seed=1,
            threads=threads,
            transforms=[
                fr.transforms.RandomResizedCrop(side),
                fr.transforms.HorizontalFlip(0.5),
                fr.transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
            ],
        )

    def run(epoch: int) -> Iterator[int]:
        if isinstance(loader, bz.DataLoader):
            passes = 1
        else:
            passes = PASSES
            loader.set_epoch(epoch * PASSES)
        for _ in range(passes):
            for images, _ in loader:
                yield len(images)

    serve(run, {}, dict)


if __name__ == "__main__":
    main()
