"""Memory formats, devices, and samples of the map-style dataset."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Callable

import pytest

import fuelrail as fr
from fuelrail import transforms as T

torch = pytest.importorskip("torch")

from fuelrail.torch.tensors import require_cuda, target_device  # noqa: E402

LIST = [T.RandomResizedCrop((20, 30)), T.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.1))]
NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="PyTorch has CUDA here")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("memory_format", [torch.channels_last, "channels_last"])
def test_channels_last_has_the_same_values_over_nhwc_memory(
    record_file: pathlib.Path, dtype: str, memory_format: object
) -> None:
    options = {"batch_size": 8, "transforms": LIST, "dtype": dtype}
    plain = fr.torch.DataLoader(record_file, memory_format=torch.contiguous_format, **options)
    last = fr.torch.DataLoader(record_file, memory_format=memory_format, **options)
    for (images, labels), (other, other_labels) in zip(plain, last, strict=True):
        assert other.shape == images.shape
        assert other.is_contiguous(memory_format=torch.channels_last)
        assert other.stride() == (20 * 30 * 3, 1, 30 * 3, 3)
        assert torch.equal(images, other)
        assert torch.equal(labels, other_labels)


def test_a_batch_held_until_the_end_of_the_program_is_let_go(
    record_file: pathlib.Path, python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    script = """
import sys
import fuelrail as fr
loader = fr.torch.DataLoader(sys.argv[1], 2, memory_format="channels_last")
batch = next(iter(loader))
"""
    done = python(script, record_file)
    assert (done.returncode, done.stderr) == (0, "")


def test_channels_last_of_a_list_and_of_other_columns(record_file: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(
        record_file,
        4,
        dtype="uint8",
        memory_format=torch.channels_last,
        fields=["image", "encoded", "id"],
    )
    images, encoded, ids = next(iter(loader))
    for image, data, i in zip(images, encoded, ids.tolist(), strict=True):
        expected = torch.from_numpy(loader.dataset[i].decode())
        assert torch.equal(image.permute(1, 2, 0), expected)
        assert image.stride()[0] == 1
        assert isinstance(data, bytes)


def test_channels_last_with_nhwc_is_refused(record_file: pathlib.Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match='`memory_format` goes with layout="NCHW"'):
        fr.torch.DataLoader(
            record_file, 4, transforms=LIST, layout="NHWC", memory_format="channels_last"
        )
    with pytest.raises(fr.InvalidArgumentError, match="Did you mean 'channels_last'"):
        fr.torch.DataLoader(record_file, 4, transforms=LIST, memory_format="chanels_last")
    with pytest.raises(fr.InvalidArgumentError, match="memory_format"):
        fr.torch.DataLoader(record_file, 4, memory_format=torch.channels_last_3d)


def test_tensors_come_as_dicts_and_go_through_batch_transforms(record_file: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(
        record_file,
        8,
        transforms=LIST,
        fields={"x": "image", "y": "label"},
        batch_transforms=[lambda batch: {**batch, "x": batch["x"] * 2}],
    )
    (plain, _), batch = next(iter(fr.torch.DataLoader(record_file, 8, transforms=LIST))), None
    batch = next(iter(loader))
    assert torch.equal(batch["x"], plain * 2)
    assert batch["y"].dtype == torch.int64


@NO_CUDA
@pytest.mark.parametrize("options", [{"device": "cuda"}, {"pin_memory": True}], ids=str)
def test_cuda_is_refused_where_there_is_none(
    record_file: pathlib.Path, options: dict[str, object]
) -> None:
    (option,) = options
    with pytest.raises(fr.UnsupportedError, match=f"`{option}` needs CUDA.*found torch"):
        fr.torch.DataLoader(record_file, 4, transforms=LIST, **options)


def test_a_device_is_decided_on() -> None:
    assert target_device(None, has_cuda=False) is None
    assert target_device("cpu", has_cuda=False) is None
    assert target_device("cuda", has_cuda=True) == torch.device("cuda")
    assert target_device("cuda:3", has_cuda=True) == torch.device("cuda:3")
    assert target_device(torch.device("cuda", 1), has_cuda=True) == torch.device("cuda:1")
    assert target_device(2, has_cuda=True) == torch.device("cuda:2")
    require_cuda("device", has_cuda=True)


@pytest.mark.parametrize(
    ("device", "kind", "match"),
    [
        ("cuda", fr.UnsupportedError, "`device` needs CUDA"),
        ("meta", fr.UnsupportedError, "found 'meta'"),
        ("gpu", fr.InvalidArgumentError, "`device` names no device"),
        (True, fr.ArgumentTypeError, "`device` names no device"),
        (1.5, fr.ArgumentTypeError, "`device` names no device"),
        (-1, fr.InvalidArgumentError, "`device` names no device"),
    ],
)
def test_a_bad_device_is_refused(device: object, kind: type[fr.Error], match: str) -> None:
    with pytest.raises(kind, match=match):
        target_device(device, has_cuda=False)


def test_the_cpu_is_a_device(record_file: pathlib.Path) -> None:
    images, _ = next(iter(fr.torch.DataLoader(record_file, 2, transforms=LIST, device="cpu")))
    assert images.device.type == "cpu"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "uint8"])
def test_the_map_dataset_has_the_loaders_types_and_formats(
    record_file: pathlib.Path, dtype: str
) -> None:
    options = {
        "transforms": LIST[:1],
        "dtype": dtype,
        "memory_format": torch.channels_last,
        "fields": ["image", "label"],
    }
    samples = fr.torch.MapDataset(record_file, **options)
    for (images, labels), begin in zip(
        fr.torch.DataLoader(record_file, 8, **options), range(0, 31, 8), strict=True
    ):
        columns = samples.__getitems__(range(begin, begin + len(images))).columns
        assert columns[0].dtype == getattr(torch, dtype)
        assert columns[0].is_contiguous(memory_format=torch.channels_last)
        assert torch.equal(columns[0], images)
        assert torch.equal(columns[1], labels)


def test_the_map_datasets_images_may_differ_in_size(record_file: pathlib.Path) -> None:
    samples = fr.torch.MapDataset(record_file, dtype="uint8", fields=["image", "encoded", "label"])
    batch = samples.__getitems__([3, 1])
    assert len(batch) == 2
    for (image, encoded, label), i in zip(batch, (3, 1), strict=True):
        expected = torch.from_numpy(fr.open(record_file)[i].decode()).permute(2, 0, 1)
        assert torch.equal(image, expected)
        assert encoded == fr.open(record_file)[i].image
        assert label.item() == fr.open(record_file)[i].label
    images, _, _ = fr.torch.collate(batch)
    assert isinstance(images, list)
