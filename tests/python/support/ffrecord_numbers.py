"""A dataset of numbers for FFRecord's torch loader and for torch's own."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.data as torch_data

import ffrecord_files as files
from fuelrail.ffrecord.torch import Dataset

# Marks for test files that fork. Python 3.12 warns about a fork with threads, which fuelrail's
# threads survive. torch warns if there are fewer processors than workers.
FORKS = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]


class Numbers(Dataset):
    """A dataset whose records are numbers."""

    def process(self, indices: Sequence[int], data: list[np.ndarray]) -> list[int]:
        assert len(indices) == len(data)
        return [int.from_bytes(record.tobytes(), "little") for record in data]


class Plain(torch_data.Dataset):
    """The same numbers for torch's own loader."""

    def __init__(self, count: int, begin: int = 0) -> None:
        self.range = range(begin, begin + count)

    def __len__(self) -> int:
        return len(self.range)

    def __getitem__(self, i: int) -> int:
        return self.range[i]


def numbers(folder: pathlib.Path, count: int = 100, begin: int = 0) -> Numbers:
    """A dataset with `count` numbers, starting at `begin`."""
    records = [i.to_bytes(8, "little") for i in range(begin, begin + count)]
    return Numbers(files.write(folder / f"{begin}-{count}.ffr", records))


def lists(loader: Any) -> list[list[int]]:
    return [batch.tolist() for batch in loader]


def generator(seed: int = 3) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
