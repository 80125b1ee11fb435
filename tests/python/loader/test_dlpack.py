"""DLPack import and export, by the Array API standard 2023.12."""

from __future__ import annotations

import ctypes
import gc
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
import many_fields
from fuelrail import transforms as T
from loading import epoch_ids, tiny
from photographs import TINY_COUNT

Batch = tuple[fr.Array, ...]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


READ_ONLY, IS_COPIED = 1, 2

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype = ctypes.c_char_p
_name.argtypes = [ctypes.py_object]


def name_of(capsule: object) -> str:
    return _name(capsule).decode()


def versioned(capsule: object) -> Versioned:
    return Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))


def address_of(array: object) -> int:
    return np.asarray(array).__array_interface__["data"][0]


@pytest.fixture
def loader(tiny_file: pathlib.Path) -> fr.Loader:
    return tiny(tiny_file)


@pytest.fixture
def batch(loader: fr.Loader) -> Batch:
    return next(iter(loader))


# --- Export ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (None, "dltensor"),
        ((0, 8), "dltensor"),
        ((1, 0), "dltensor_versioned"),
        ((1, 1), "dltensor_versioned"),
        ((2, 0), "dltensor_versioned"),
    ],
)
def test_a_capsule_is_of_the_newest_version_that_the_consumer_knows(
    batch: Batch, asked: tuple[int, int] | None, name: str
) -> None:
    assert name_of(batch[4].__dlpack__(max_version=asked)) == name
    assert name_of(batch[4].__dlpack__()) == "dltensor"


def test_a_versioned_capsule_says_what_the_memory_is(batch: Batch) -> None:
    codes = {"int64": (0, 64), "bool": (6, 8), "float32": (2, 32)}
    for array in batch:
        capsule = array.__dlpack__(max_version=(1, 0))
        head = versioned(capsule)
        tensor = head.tensor
        assert head.major == 1
        assert head.flags & (READ_ONLY | IS_COPIED) == 0  # the holder may write to the memory
        assert (tensor.device_type, tensor.device_id) == array.__dlpack_device__() == (1, 0)
        assert tensor.ndim == array.ndim
        assert tuple(tensor.shape[: tensor.ndim]) == array.shape
        items = [int(np.prod(array.shape[i + 1 :])) for i in range(array.ndim)]
        assert tensor.strides[: tensor.ndim] == items
        assert (tensor.code, tensor.bits) == codes[array.dtype]
        assert tensor.lanes == 1
        assert tensor.data + tensor.byte_offset == address_of(array)


@pytest.mark.parametrize("copy", [None, False])
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_without_copy_the_memory_is_shared(
    batch: Batch, copy: bool | None, version: tuple[int, int] | None
) -> None:
    capsule = batch[4].__dlpack__(copy=copy, max_version=version)
    tensor = torch.utils.dlpack.from_dlpack(capsule)
    assert tensor.data_ptr() == address_of(batch[4])


def test_all_columns_of_many_fields_share_their_memory(many_fields_file: pathlib.Path) -> None:
    loader = fr.Loader(many_fields_file, 10, **many_fields.OPTIONS)
    batch = next(iter(loader))
    assert {"boxes.offsets", "labels.length"} <= batch["cameras"][0].keys()
    arrays = many_fields.arrays_of(batch)
    del batch
    for array in arrays:
        assert versioned(array.__dlpack__(max_version=(1, 0))).flags == 0
        tensor = torch.from_dlpack(array)
        assert tuple(tensor.shape) == array.shape
        assert tensor.data_ptr() == (address_of(array) if array.nbytes else 0)
    del arrays, array
    assert loader.stats().slots_lent == 1
    del tensor
    assert loader.stats().slots_lent == 0


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_copy_is_the_consumers_own(loader: fr.Loader, version: tuple[int, int] | None) -> None:
    iterator = iter(loader)
    for array in next(iterator):
        capsule = array.__dlpack__(copy=True, max_version=version)
        if version:
            assert versioned(capsule).flags == IS_COPIED
        expected = np.array(array)
        tensor = torch.utils.dlpack.from_dlpack(capsule)
        assert tensor.data_ptr() != address_of(array)
        np.asarray(array)[...] = 0
        del array, capsule
        gc.collect()
        np.testing.assert_array_equal(tensor.numpy(), expected)
    assert loader.stats().slots_lent == 0
    del tensor
    copies = [torch.from_dlpack(array, copy=True) for array in next(iterator)]
    assert loader.stats().slots_lent == 0
    assert copies[0].tolist() == list(range(10, 20))


@pytest.mark.parametrize("stream", [0, 1, -1, 140_000, "default"])
def test_a_stream_is_refused(batch: Batch, stream: object) -> None:
    batch[4].__dlpack__(stream=None)
    with pytest.raises(fr.InvalidArgumentError, match=r"no streams.*stream=None.*without `stream`"):
        batch[4].__dlpack__(stream=stream)


def test_other_devices_are_refused(batch: Batch) -> None:
    batch[4].__dlpack__(dl_device=(1, 0))
    batch[4].__dlpack__(dl_device=None)
    for device in ((2, 0), (1, 1), (10, 0)):
        with pytest.raises(BufferError):
            batch[4].__dlpack__(dl_device=device)


def test_arguments_that_the_standard_does_not_have_are_refused(batch: Batch) -> None:
    for wrong in ({"max_version": 1}, {"version": (1, 0)}, {"copy": "yes"}):
        with pytest.raises(TypeError):
            batch[4].__dlpack__(**wrong)
    with pytest.raises(TypeError):
        batch[4].__dlpack__(None)


@pytest.mark.parametrize("options", [{}, {"max_version": (1, 0)}, {"copy": True}])
def test_a_capsule_that_nobody_consumes_is_freed(
    loader: fr.Loader, options: dict[str, Any]
) -> None:
    batch = next(iter(loader))
    capsules = [array.__dlpack__(**options) for array in batch for _ in range(20)]
    del batch
    gc.collect()
    assert loader.stats().slots_lent == (0 if "copy" in options else 1)
    del capsules
    gc.collect()
    assert loader.stats().slots_lent == 0


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_is_consumed_once(loader: fr.Loader, version: tuple[int, int] | None) -> None:
    (_, _, _, _, image) = next(iter(loader))
    del _
    capsule = image.__dlpack__(max_version=version)
    tensor = torch.utils.dlpack.from_dlpack(capsule)
    assert name_of(capsule).startswith("used_dltensor")
    with pytest.raises(RuntimeError):
        torch.utils.dlpack.from_dlpack(capsule)
    del capsule, image
    gc.collect()
    assert loader.stats().slots_lent == 1
    assert tensor.shape == (10, 3, 4, 4)
    del tensor
    assert loader.stats().slots_lent == 0


def test_numpy_and_torch_get_memory_that_can_be_written_to(batch: Batch) -> None:
    numpy = np.from_dlpack(batch[4])
    assert numpy.flags.writeable
    tensor = torch.from_dlpack(batch[4])
    tensor.fill_(3)
    assert (numpy == 3).all()


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
def test_a_batch_without_rows_goes_through_dlpack(tiny_file: pathlib.Path) -> None:
    *_, empty = tiny(tiny_file, 48, rank=1, world_size=2)
    assert empty[4].shape == (0, 3, 4, 4)
    for options in ({}, {"copy": True}):
        capsule = empty[4].__dlpack__(max_version=(1, 0), **options)
        assert torch.utils.dlpack.from_dlpack(capsule).shape == (0, 3, 4, 4)


# --- Import ---------------------------------------------------------------------------------------


class Foreign:
    """An array of another library that supports only DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


PRODUCERS: dict[str, Callable[[list[float], str], Any]] = {
    "NumPy": lambda values, dtype: np.array(values, dtype),
    "torch": lambda values, dtype: torch.tensor(values, dtype=getattr(torch, dtype)),
    "memoryview": lambda values, dtype: memoryview(np.array(values, dtype)),
    "DLPack": lambda values, dtype: Foreign(np.array(values, dtype)),
    "DLPack, strided": lambda values, dtype: Foreign(np.repeat(np.array(values, dtype), 3)[::3]),
}
EACH = pytest.mark.parametrize("producer", PRODUCERS.values(), ids=PRODUCERS)
Producer = Callable[[list[float], str], Any]


@EACH
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_indices_come_from_any_producer(
    tiny_file: pathlib.Path, producer: Producer, dtype: str
) -> None:
    indices = producer([5, 3, 3, 96], dtype)
    assert [sample.id for sample in fr.open(tiny_file).subset(indices)] == [5, 3, 3, 96]
    assert epoch_ids(tiny(tiny_file, 1, batch_sampler=[indices])) == [5, 3, 3, 96]


@EACH
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool"])
def test_weights_come_from_any_producer(
    tiny_file: pathlib.Path, producer: Producer, dtype: str
) -> None:
    if dtype == "bool":
        with pytest.raises(fr.ArgumentTypeError, match=r"weights\[0\]"):
            tiny(tiny_file, weights=producer([1] * TINY_COUNT, dtype))
        return
    weights = [0.0] * TINY_COUNT
    weights[30] = weights[40] = 1.0
    assert set(epoch_ids(tiny(tiny_file, weights=producer(weights, dtype)))) == {30, 40}


@EACH
def test_numbers_of_transforms_come_from_any_producer(producer: Producer) -> None:
    mean = producer([0.5, 0.25, 0.125], "float32")
    assert T.Normalize(mean, mean) == T.Normalize((0.5, 0.25, 0.125), (0.5, 0.25, 0.125))
    assert T.CenterCrop(producer([3, 4], "int32")) == T.CenterCrop((3, 4))


def test_a_batchs_own_ids_choose_samples(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    ids, *_ = next(iter(tiny(tiny_file, 5, shuffle=True, seed=3)))
    again = tiny(data.subset(ids))
    assert epoch_ids(again) == ids.numpy().tolist()
    (fed,) = tiny(data, 1, batch_sampler=[ids])
    assert fed[0].numpy().tolist() == ids.numpy().tolist()


def test_an_array_whose_elements_cannot_be_read_is_refused(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    with pytest.raises(fr.ArgumentTypeError, match="expected an integer"):
        data.subset(Foreign(np.array([1.0])))
    with pytest.raises(fr.ArgumentTypeError, match="elements of the array cannot be read"):
        data.subset(Foreign(np.array([1j])))
    with pytest.raises(fr.ArgumentTypeError, match="expected a list of integers"):
        data.subset(Foreign(np.array(1)))

    class Broken:
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("on another device")

        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    with pytest.raises(fr.ArgumentTypeError, match="in CPU memory"):
        data.subset(Broken())


def test_what_was_read_by_dlpack_is_let_go(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    loader = tiny(tiny_file)
    batch = next(iter(loader))
    part = data.subset(batch[0])
    del batch
    assert loader.stats().slots_lent == 0
    assert len(part) == 10
