"""A batch belongs to its holder: it never changes, outlives the loader, and is released."""

from __future__ import annotations

import gc
import itertools
import pathlib
import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
import many_fields
from loading import CROP, FIELDS, tiny

KINDS = pytest.mark.parametrize("kind", [fr.Loader, fr.torch.DataLoader], ids=["fr", "torch"])
Kind = Callable[..., Any]


def make(kind: Kind, data: object, batch_size: int = 10, **options: object) -> Any:
    return kind(data, batch_size, **{"transforms": CROP, "fields": FIELDS, **options})


def make_any(kind: Kind, data: fr.Dataset, batch_size: int = 10, **options: object) -> Any:
    return kind(data, batch_size, **many_fields.options_of(data), **options)


def columns_of(batch: Any) -> list[np.ndarray]:
    return [np.asarray(array) for array in many_fields.arrays_of(batch)]


@KINDS
def test_a_hundred_kept_batches_never_change(any_file: pathlib.Path, kind: Kind) -> None:
    loader = make_any(kind, fr.open(any_file), 3, shuffle=True, prefetch=1, threads=2)
    kept, copies = [], []
    for batch in itertools.chain(loader, loader, loader, loader):
        kept.append(batch)
        copies.append(many_fields.bits(batch))
    assert len(kept) == 4 * 33
    assert loader.stats().slots_lent == len(kept)
    ranges = sorted(
        (column.ctypes.data, column.nbytes)
        for batch in kept for column in columns_of(batch) if column.nbytes
    )  # fmt: skip
    assert all(at + size <= after for (at, size), (after, _) in itertools.pairwise(ranges))
    for _ in itertools.chain(loader, loader):  # other batches reuse memory
        pass
    assert many_fields.bits(kept) == copies
    loader.close()
    del loader, batch
    gc.collect()
    assert many_fields.bits(kept) == copies


@KINDS
def test_tensors_outlive_their_loader_and_their_dataset(
    any_file: pathlib.Path, tmp_path: pathlib.Path, kind: Kind
) -> None:
    file = tmp_path / "gone.rec"
    file.write_bytes(any_file.read_bytes())
    loader = make_any(kind, fr.open([file, [any_file]]))
    batches = list(loader)
    copies = many_fields.bits(batches)
    del loader
    file.unlink()
    gc.collect()
    assert many_fields.bits(batches) == copies
    columns = columns_of(batches)
    for column in columns:  # the holder may write to it
        column[...] = 1
    assert all((column == 1).all() for column in columns)


@KINDS
def test_each_column_of_many_fields_keeps_its_batch(
    many_fields_file: pathlib.Path, kind: Kind
) -> None:
    loader = make_any(kind, fr.open(many_fields_file))
    count = len(columns_of(next(iter(loader))))
    assert count > 60
    for column in range(count):
        held = columns_of(next(iter(loader)))[column]
        assert loader.stats().slots_lent == 1, column
        del held
        assert loader.stats().slots_lent == 0


VIEWS: dict[str, Callable[[fr.Array], object]] = {
    "the array": lambda array: array,
    "memoryview": memoryview,
    "part of a memoryview": lambda array: memoryview(array)[1:],
    "NumPy's array": np.asarray,
    "NumPy's view of a view": lambda array: np.asarray(array)[1:, 0].T,
    "NumPy's by DLPack": np.from_dlpack,
    "a tensor": torch.from_dlpack,
    "a tensor's view": lambda array: torch.from_dlpack(array)[1:, :, 2:].permute(3, 0, 1, 2),
    "a tensor of NumPy's array": lambda array: torch.from_numpy(array.numpy()),
    "an array of a tensor": lambda array: torch.from_dlpack(array).numpy(),
    "a capsule": lambda array: array.__dlpack__(),
    "a versioned capsule": lambda array: array.__dlpack__(max_version=(1, 0)),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_batchs_memory_is_given_back_with_the_last_view(
    tiny_file: pathlib.Path, view: Callable[[fr.Array], object]
) -> None:
    loader = tiny(tiny_file)
    batch = next(iter(loader))
    assert loader.stats().slots_lent == 1
    held = view(batch[4])
    del batch
    gc.collect()
    assert loader.stats().slots_lent == 1
    del held
    gc.collect()
    assert loader.stats().slots_lent == 0


def test_one_column_keeps_the_batch(tiny_file: pathlib.Path) -> None:
    loader = make(fr.torch.DataLoader, tiny_file)
    ids, *others = next(iter(loader))
    del others
    assert loader.stats().slots_lent == 1
    del ids
    assert loader.stats().slots_lent == 0


def test_batches_may_be_let_go_on_other_threads(tiny_file: pathlib.Path) -> None:
    loader = make(fr.torch.DataLoader, tiny_file, 4)
    handed: queue.Queue[object] = queue.Queue()

    def drop() -> None:
        while handed.get() is not None:
            pass

    threads = [threading.Thread(target=drop) for _ in range(3)]
    for thread in threads:
        thread.start()
    for batch in itertools.chain(loader, loader):
        handed.put(batch)
    del batch
    for _ in threads:
        handed.put(None)
    for thread in threads:
        thread.join()
    assert loader.stats().slots_lent == 0


def test_memory_that_is_given_back_is_used_again(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 2, prefetch=2)
    seen = set()
    for batch in itertools.chain(loader, loader, loader):
        seen.add(np.asarray(batch[4]).__array_interface__["data"][0])
    # `prefetch` + 1 in preparation, one in use, one about to be released; some are allocated again.
    assert len(seen) <= 2 * (2 + 3)


def test_a_batch_that_failed_is_given_back(tiny_file: pathlib.Path) -> None:
    def order() -> Any:
        yield from ([0, 1], [2, 3])
        raise ValueError("mine")

    loader = tiny(tiny_file, 1, batch_sampler=order(), prefetch=1)
    with pytest.raises(ValueError, match="mine"):
        for _ in loader:
            pass
    del _
    assert loader.stats().slots_lent == 0


def test_a_sample_outlives_its_dataset(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    sample, pixels = data[7], data[7].decode()
    copy = pixels.copy()
    del data
    gc.collect()
    np.testing.assert_array_equal(pixels, copy)
    np.testing.assert_array_equal(sample.decode(), copy)
    pixels[...] = 0
    np.testing.assert_array_equal(sample.decode(), copy)
