"""Trains on a data provider with fuelrail's loader, or on the same samples in a file.

python examples/structured_inputs/train.py                  # two processes make the samples

cd examples/structured_inputs
fuelrail pack --provider streets:Streets streets.rec
python train.py streets.rec                                 # the same batches, and the same losses
"""

from __future__ import annotations

import argparse
from typing import Any

from detector import SIZE, train
from streets import Streets

import fuelrail as fr
from fuelrail import transforms as T


def loader(data: Any, shuffle: bool = True) -> fr.torch.DataLoader:
    """data: a provider, or the path of a packed file. The batches are those of `train_dali.py`: its steps resize without a
    filter, and keep objects of which less than a pixel is left.
    """
    return fr.torch.DataLoader(
        data,
        8,
        shuffle=shuffle,
        seed=1,
        transforms=[T.Resize(SIZE, antialias=False)],
        keep_empty=True,
        dtype="uint8",
        layout="NHWC",
        ragged="pad",
        last_batch="drop",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", help="the packed file; default: the provider")
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()

    data = options.file or Streets()
    with loader(data) as batches:
        train(batches, options.epochs)


if __name__ == "__main__":
    main()
