"""Rewritten tests of FFRecord's own test suite; only the import differs."""

from __future__ import annotations

import fcntl
import os
import pathlib
import pickle
import random
import struct
import tempfile

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader as TorchLoader
from torch.utils.data import Subset as TorchSubset

import fuelrail
from ffrecord_numbers import FORKS
from fuelrail.ffrecord import (
    FileReader,
    FileWriter,
    PackedFolder,
    checkFsAlign,
    pack_folder,
)
from fuelrail.ffrecord.torch import DataLoader, Dataset, ReaderRegistry, Subset
from fuelrail.ffrecord.utils import dump

pytestmark = FORKS


def test_every_test_begins_by_printing_the_version() -> None:
    assert fuelrail.ffrecord.__version__ == fuelrail.__version__


def make_files(folder: pathlib.Path, nfiles: int) -> tuple[list[str], list[bytes]]:
    """Writes files of 100 samples; each sample is longer than the one before."""
    rng = random.Random(nfiles)
    names, samples = [], []
    for k in range(nfiles):
        names.append(str(folder / f"{k:03}.ffr"))
        writer = FileWriter(names[-1], 100)
        for i in range(100):
            samples.append(rng.randbytes(40 * (i + 1)))
            writer.write_one(samples[-1])
        writer.close()
    return names, samples


@pytest.mark.parametrize("nfiles", [1, 10])
def test_io_one_at_a_time(tmp_path: pathlib.Path, nfiles: int) -> None:
    names, samples = make_files(tmp_path, nfiles)
    reader = FileReader(names, check_data=True)
    assert reader.n == len(samples)
    order = list(range(len(samples)))
    random.Random(1).shuffle(order)
    for i in order:
        assert reader.read_one(i).tobytes() == samples[i]
    reader.close()


@pytest.mark.parametrize("nfiles", [1, 10])
def test_io_by_batches(tmp_path: pathlib.Path, nfiles: int) -> None:
    names, samples = make_files(tmp_path, nfiles)
    reader = FileReader(names, check_data=True)
    reader.validate()
    order = list(range(len(samples)))
    random.Random(2).shuffle(order)
    for begin in range(0, len(order), 10):
        batch = order[begin : begin + 10]
        for i, array in zip(batch, reader.read(batch), strict=True):
            assert array.tobytes() == samples[i]


def test_io_of_a_directory(tmp_path: pathlib.Path) -> None:
    names, samples = make_files(tmp_path, 5)
    reader = FileReader(str(tmp_path))
    assert reader.fnames == names
    assert [array.tobytes() for array in reader.read(list(range(500)))] == samples


def test_io_of_paths_and_with(tmp_path: pathlib.Path) -> None:
    with FileWriter(tmp_path / "a.ffr", 3) as writer:
        for i in range(3):
            writer.write_one(np.full(10, i, np.uint8))
    with FileReader(tmp_path / "a.ffr") as reader:
        assert [int(array[0]) for array in reader.read((2, 0, 1))] == [2, 0, 1]


def ask(fd: int) -> bool:
    buffer = bytearray(4)
    try:
        fcntl.ioctl(fd, 0x80046664, buffer)
    except OSError:
        return False
    return struct.unpack("i", buffer)[0] == 1


def test_fsalign() -> None:
    with tempfile.NamedTemporaryFile() as file:
        assert checkFsAlign(file.fileno()) == ask(file.fileno()) is False


def test_package(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for i in range(20):
        (folder / f"{i:03}.txt").write_bytes(os.urandom(100 + i))
    pack_folder(folder, tmp_path / "packed.ffr")
    packed = PackedFolder(tmp_path / "packed.ffr")
    assert packed.num_files() == 20
    assert packed.is_dir("")
    assert packed.is_file("003.txt")
    assert not packed.is_dir("003.txt")
    assert not packed.exists("020.txt")
    assert set(packed.list()) == {f"{i:03}.txt" for i in range(20)}
    for name in packed.list():
        assert packed.read_one(name).tobytes() == (folder / name).read_bytes()


def test_pickle(tmp_path: pathlib.Path) -> None:
    names, _ = make_files(tmp_path, 1)
    reader = FileReader(names)
    copy = pickle.loads(pickle.dumps(reader))
    for one, other in zip(reader.read([1, 50, 99]), copy.read([1, 50, 99]), strict=True):
        assert np.array_equal(one, other)


def test_registry(tmp_path: pathlib.Path) -> None:
    names, _ = make_files(tmp_path, 1)

    class Inner(ReaderRegistry):
        def __init__(self) -> None:
            super().__init__()
            self.one = FileReader(names)
            self.two = FileReader(names)

    class Outer(ReaderRegistry):
        def __init__(self) -> None:
            super().__init__()
            self.one = FileReader(names)
            self.two = FileReader(names)
            self.inner = Inner()

    assert len(Outer().ffreaders()) == 4


@pytest.mark.parametrize(("items", "nfiles"), [(200, 1), (200, 8), (50, 16), (10, 16)])
@pytest.mark.filterwarnings("ignore:.*requested files are written")
def test_utils(tmp_path: pathlib.Path, items: int, nfiles: int) -> None:
    dataset = [os.urandom(20 + i) for i in range(items)]
    target = tmp_path / ("all.ffr" if nfiles == 1 else "parts")
    dump(dataset, target, nfiles)
    reader = FileReader(target)
    assert len(reader.fnames) <= nfiles
    assert [array.tobytes() for array in reader.read(list(range(reader.n)))] == dataset


class Pairs(Dataset):
    def __init__(self, fnames: object) -> None:
        super().__init__(fnames, check_data=True)

    def process(self, indices: list[int], data: list[np.ndarray]) -> list[tuple]:
        return [pickle.loads(record) for record in data]


class Listed(torch.utils.data.Dataset):
    def __init__(self, pairs: list[tuple]) -> None:
        self.pairs = pairs

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, i: int) -> tuple:
        return self.pairs[i]


@pytest.fixture
def pairs(tmp_path: pathlib.Path) -> tuple[Pairs, Listed]:
    values = [(i, np.full((2, 2), i, np.float32)) for i in range(500)]
    with FileWriter(tmp_path / "pairs.ffr", 500) as writer:
        for value in values:
            writer.write_one(pickle.dumps(value))
    return Pairs(tmp_path / "pairs.ffr"), Listed(values)


def same(ours: object, theirs: object) -> None:
    mine, yours = list(ours), list(theirs)
    assert len(mine) == len(yours)
    for a, b in zip(mine, yours, strict=True):
        assert torch.equal(a[0], b[0])
        assert torch.equal(a[1], b[1])


@pytest.mark.parametrize("workers", [0, 8])
def test_pytorch_loader(pairs: tuple[Pairs, Listed], workers: int) -> None:
    ours, theirs = pairs
    same(
        DataLoader(ours, batch_size=32, num_workers=workers),
        TorchLoader(theirs, batch_size=32, num_workers=workers),
    )


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("workers", [0, 4])
def test_pytorch_set_step(pairs: tuple[Pairs, Listed], shuffle: bool, workers: int) -> None:
    ours, theirs = pairs
    loaders = [
        kind(
            dataset,
            batch_size=4,
            shuffle=shuffle,
            num_workers=workers,
            generator=torch.Generator().manual_seed(0),
        )
        for kind, dataset in ((DataLoader, ours), (TorchLoader, theirs))
    ]
    loaders[0].set_step(5)
    assert (len(loaders[0]), len(loaders[1])) == (120, 125)
    same(loaders[0], list(loaders[1])[5:])


def test_pytorch_concat_and_subset(pairs: tuple[Pairs, Listed]) -> None:
    ours, theirs = pairs
    same(DataLoader(ours + ours, 8), TorchLoader(theirs + theirs, 8))
    indices = [3, 400, 20, 7]
    same(DataLoader(Subset(ours, indices), 2), TorchLoader(TorchSubset(theirs, indices), 2))
