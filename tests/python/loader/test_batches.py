"""Batches: their columns, and the memory and its owner."""

from __future__ import annotations

import gc
import itertools
import pathlib

import numpy as np

import fuelrail as fr
from loading import CROP, arrays, tiny
from photographs import TINY_COUNT


def test_batches_come_in_order_with_the_last_one_short(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10)
    batches = list(loader)
    assert len(batches) == len(loader) == 10
    assert [len(batch[0]) for batch in batches] == [10] * 9 + [7]
    columns = [np.concatenate(column) for column in zip(*map(arrays, batches), strict=True)]
    ids, positions, valid, labels, images = columns
    assert ids.tolist() == positions.tolist() == list(range(TINY_COUNT))
    assert valid.all()
    data = fr.open(tiny_file)
    assert labels.tolist() == [sample.label for sample in data]
    expected = np.stack([sample.decode() for sample in data]).transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(images, expected.astype(np.float32) / np.float32(255))


def test_columns_have_names_types_and_shapes(tiny_file: pathlib.Path) -> None:
    batch = next(iter(tiny(tiny_file, 3)))
    assert [array.dtype for array in batch] == ["int64", "int64", "bool", "int64", "float32"]
    assert [array.shape for array in batch] == [(3,), (3,), (3,), (3,), (3, 3, 4, 4)]
    assert repr(batch[4]) == "Array(shape=(3, 3, 4, 4), dtype='float32')"
    assert batch[4].nbytes == 3 * 3 * 4 * 4 * 4
    assert batch[4].ndim == 4
    assert len(batch[4]) == 3


def test_the_default_fields_are_image_and_label(tiny_file: pathlib.Path) -> None:
    images, labels = next(iter(fr.Loader(tiny_file, 2, transforms=CROP)))
    assert images.shape == (2, 3, 4, 4)
    assert labels.shape == (2,)


def test_one_field_is_a_tuple_of_one(tiny_file: pathlib.Path) -> None:
    (labels,) = next(iter(fr.Loader(tiny_file, 2, fields=["label"])))
    assert labels.shape == (2,)


def test_numpy_and_dlpack_share_the_batchs_memory(tiny_file: pathlib.Path) -> None:
    for array in next(iter(tiny(tiny_file, 3))):
        buffered, packed = np.asarray(array), np.from_dlpack(array)
        assert buffered.dtype == packed.dtype == array.dtype
        assert np.shares_memory(buffered, packed)
        assert buffered.flags.writeable
        assert buffered.flags.c_contiguous
        assert array.__dlpack_device__() == (1, 0)
        buffered[...] = 1
        assert (packed == 1).all()


def test_a_view_keeps_the_batchs_memory_alive(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10)
    views, copies = [], []
    for batch in itertools.islice(loader, 5):
        views.append([np.asarray(batch[4]), np.from_dlpack(batch[4]), memoryview(batch[4])])
        copies.append(np.array(batch[4]))
    del batch, loader
    gc.collect()
    for three, copy in zip(views, copies, strict=True):
        for view in three:
            np.testing.assert_array_equal(np.asarray(view), copy)


def test_what_is_written_into_a_batch_does_not_come_back(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10)
    first = [np.array(batch[4]) for batch in loader]
    for batch in loader:
        np.asarray(batch[4])[...] = -1
    for batch, expected in zip(loader, first, strict=True):
        np.testing.assert_array_equal(np.asarray(batch[4]), expected)
