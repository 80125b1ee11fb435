"""MapDataset in torch's DataLoader, for users who keep their training loop."""

from __future__ import annotations

import pathlib
import pickle
import threading
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fuelrail as fr
import many_fields
from fuelrail import transforms as T
from photographs import TINY_COUNT, encoded, photograph

FIELDS = ("image", "label", "id", "position")
RANDOM = [T.RandomResizedCrop(3), T.HorizontalFlip()]


def dataset(file: pathlib.Path, **options: Any) -> fr.torch.MapDataset:
    defaults = {"transforms": [T.CenterCrop(4)], "fields": FIELDS, "threads": 2}
    return fr.torch.MapDataset(file, **{**defaults, **options})


def torch_loader(data: fr.torch.MapDataset, batch_size: int = 10, **options: Any) -> Any:
    return torch.utils.data.DataLoader(
        data, batch_size, **{"collate_fn": fr.torch.collate, **options}
    )


def test_torchs_loader_gets_what_ours_gives(tiny_file: pathlib.Path) -> None:
    ours = fr.torch.DataLoader(tiny_file, 10, transforms=[T.CenterCrop(4)], fields=FIELDS)
    for theirs in (torch_loader(dataset(tiny_file)),
                   torch_loader(dataset(tiny_file), collate_fn=None)):  # fmt: skip
        for expected, found in zip(ours, theirs, strict=True):
            assert len(found) == len(expected)
            assert all(map(torch.equal, found, expected))


def test_torchs_sampler_says_the_order(tiny_file: pathlib.Path) -> None:
    order = [5, 96, 0, 5, 33]
    (batch,) = torch_loader(dataset(tiny_file), sampler=order)
    data = fr.open(tiny_file)
    assert batch[2].tolist() == batch[3].tolist() == order
    for image, label, i in zip(batch[0], batch[1], order, strict=True):
        assert label == data[i].label
        pixels = data[i].decode().transpose(2, 0, 1).astype(np.float32)
        np.testing.assert_array_equal(image.numpy() * np.float32(255), pixels)

    shuffled = torch_loader(
        dataset(tiny_file), shuffle=True, generator=torch.Generator().manual_seed(1)
    )
    first, second = ([i for batch in shuffled for i in batch[2].tolist()] for _ in range(2))
    assert sorted(first) == sorted(second) == [*range(TINY_COUNT)]
    assert first != second


def test_a_batch_is_decoded_at_once_and_not_copied(tiny_file: pathlib.Path) -> None:
    samples = dataset(tiny_file).__getitems__([3, 1, 4, 1, 5])
    assert len(samples) == 5
    assert samples.columns[2].tolist() == [3, 1, 4, 1, 5]
    assert fr.torch.collate(samples) is samples.columns
    for i, (image, _, id_, _) in enumerate(samples):
        assert image.data_ptr() == samples.columns[0][i].data_ptr()
        assert id_ == samples.columns[2][i]
    assert [part.tolist() for part in samples[1:3].columns[2:]] == [[1, 4], [1, 4]]
    assert samples[-1][2] == 5
    with pytest.raises(IndexError):
        samples[5]


def test_random_crops_depend_on_seed_epoch_and_index_alone(record_file: pathlib.Path) -> None:
    def images(data: fr.torch.MapDataset, indices: list[int]) -> dict[int, bytes]:
        batch = data.__getitems__(indices).columns
        return dict(zip(indices, [image.numpy().tobytes() for image in batch[0]], strict=True))

    data = dataset(record_file, transforms=RANDOM, seed=4)
    first = images(data, [*range(31)])
    assert images(data, [7, 3]) == {i: first[i] for i in (7, 3)}
    assert images(dataset(record_file, transforms=RANDOM, seed=4, threads=1), [3]) == {3: first[3]}
    data.set_epoch(1)
    second = images(data, [*range(31)])
    assert second != first
    data.set_epoch(0)
    assert images(data, [*range(31)]) == first
    assert images(dataset(record_file, transforms=RANDOM, seed=5), [*range(31)]) != first


@pytest.mark.parametrize(("context", "workers"), [("fork", 2), ("spawn", 1)])
def test_worker_processes_hear_of_the_epoch(
    record_file: pathlib.Path, context: str, workers: int
) -> None:
    data = dataset(record_file, transforms=RANDOM)
    data[0]  # its threads run already, so a forked worker needs new ones
    alone = torch_loader(data)
    others = torch_loader(
        data, num_workers=workers, persistent_workers=True, multiprocessing_context=context
    )
    came = []
    for epoch in (0, 1, 0):
        data.set_epoch(epoch)
        batches = list(others)
        for expected, found in zip(alone, batches, strict=True):
            assert all(map(torch.equal, found, expected))
        came.append(batches[0][0])
    assert torch.equal(came[0], came[2])
    assert not torch.equal(came[0], came[1])


def test_indices_are_those_of_a_list(tiny_file: pathlib.Path) -> None:
    data = dataset(tiny_file)
    assert len(data) == TINY_COUNT
    assert data[-1][2] == TINY_COUNT - 1
    assert data[np.int64(3)][2] == 3
    assert len(data.__getitems__([])) == 0
    for index in (TINY_COUNT, -TINY_COUNT - 1):
        with pytest.raises(fr.OutOfRangeError):
            data[index]
    for bad in ("12", 3, None):
        with pytest.raises(fr.ArgumentTypeError, match="`indices` has the wrong type"):
            data.__getitems__(bad)  # type: ignore[arg-type]
    assert data[5][2] == 5  # an error does not change it


def test_a_subset_of_torchs_and_one_of_ours_are_the_same(tiny_file: pathlib.Path) -> None:
    chosen = [50, 3, 20]
    theirs = torch.utils.data.Subset(dataset(tiny_file), chosen)
    ours = dataset(fr.open(tiny_file).subset(chosen))  # type: ignore[arg-type]
    assert [sample[2].item() for sample in theirs.__getitems__([2, 0])] == [20, 50]
    assert [sample[2].item() for sample in ours.__getitems__([2, 0])] == [20, 50]


class Negated(fr.torch.MapDataset):
    """A user's Python transform of one sample at a time."""

    def __getitem__(self, index: int) -> Any:
        image, label, *more = super().__getitem__(index)
        return -image, label, *more


@pytest.mark.parametrize("workers", [0, 1])
def test_torchs_loader_calls_the_getitem_of_a_subclass(
    tiny_file: pathlib.Path, workers: int
) -> None:
    plain = torch_loader(dataset(tiny_file), 30)
    own = Negated(tiny_file, transforms=[T.CenterCrop(4)], fields=FIELDS, threads=2)
    for theirs, ours in zip(plain, torch_loader(own, 30, num_workers=workers), strict=True):
        assert torch.equal(ours[0], -theirs[0])
        assert all(map(torch.equal, ours[1:], theirs[1:]))


def test_it_pickles(tiny_file: pathlib.Path) -> None:
    data = dataset(tiny_file, transforms=RANDOM, seed=9)
    data.set_epoch(3)
    again = pickle.loads(pickle.dumps(data))
    assert all(map(torch.equal, again[8], data[8]))


def test_threads_may_share_it(tiny_file: pathlib.Path) -> None:
    data = dataset(tiny_file)
    found: dict[int, list[int]] = {}

    def ask(begin: int) -> None:
        found[begin] = [data[i][2].item() for i in range(begin, begin + 20)]

    threads = [threading.Thread(target=ask, args=(begin,)) for begin in range(0, 80, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {begin: [*range(begin, begin + 20)] for begin in range(0, 80, 20)}


def test_samples_of_many_fields_are_those_of_the_loader(many_fields_file: pathlib.Path) -> None:
    options: dict[str, Any] = {
        "transforms": [T.RandomCrop(6), T.HorizontalFlip()],
        "seed": 4,
        "keep_empty": True,
        "boxes": "cxcywh",
        "shared": [("cameras.*.image",)],
    }
    data = fr.open(many_fields_file).subset(range(4))
    (batch,) = fr.torch.DataLoader(data, 4, flat=True, **options)
    samples = fr.torch.MapDataset(data, **options)
    assert list(batch) == list(data.schema.names)
    for i in range(4):
        for value, column in zip(samples[i], batch.values(), strict=True):
            assert many_fields.bits(value) == many_fields.bits(column[i])


def test_a_record_that_cannot_be_read_is_an_error_and_no_more(make_file: Any) -> None:
    images = [encoded(photograph(i, 20, 20)) for i in range(3)]
    file = make_file([images[0], b"these bytes are no image", images[2]], verify_images=False)
    data = dataset(file)
    with pytest.raises(fr.Error, match="record 1"):
        data.__getitems__([0, 1, 2])
    assert [sample[2].item() for sample in data.__getitems__([0, 2])] == [0, 2]


def test_bits_that_are_cut_are_said_once(make_file: Any) -> None:
    deep = encoded(Image.fromarray(np.full((32, 32), 300, np.uint16)), "PNG")
    data = dataset(make_file([deep, deep]))
    with pytest.warns(fr.FuelrailWarning, match="of which only the upper 8 are kept") as said:
        data.__getitems__([0, 1])
    data.__getitems__([0, 1, 1])  # by another native loader
    assert [warning.filename for warning in said] == [__file__]


def test_a_record_that_a_worker_cannot_read_is_an_error_with_its_traceback(make_file: Any) -> None:
    file = make_file([b"these bytes are no image"], verify_images=False)
    with pytest.raises(fr.UnsupportedError) as caught:
        list(torch_loader(dataset(file), num_workers=1))
    lines = str(caught.value).splitlines()
    assert lines[0] == "Caught UnsupportedError in DataLoader worker process 0."
    assert lines[1].startswith("Original Traceback")
    assert lines[-1].startswith(f"fuelrail.errors.UnsupportedError: {file}: record 0, offset ")
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_torchs_default_device_changes_nothing(tiny_file: pathlib.Path) -> None:
    expected = dataset(tiny_file, transforms=RANDOM).__getitems__([3, 1]).columns
    with torch.device("meta"):
        data = dataset(tiny_file, transforms=RANDOM)
        data.set_epoch(1)
        data.set_epoch(0)
        found = data.__getitems__([3, 1]).columns
        (batch,) = fr.torch.DataLoader(
            tiny_file, TINY_COUNT, transforms=[T.CenterCrop(4)], memory_format="channels_last"
        )
    assert all(map(torch.equal, found, expected))
    assert {column.device.type for column in [*found, *batch]} == {"cpu"}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"seed": -1}, "seed"),
        ({"threads": 0}, "threads"),
        ({"fields": "image"}, "fields"),
        ({"treads": 2}, "threads"),
    ],
)
def test_bad_options_are_refused_when_it_is_made(
    record_file: pathlib.Path, options: dict[str, Any], match: str
) -> None:
    with pytest.raises((fr.InvalidArgumentError, fr.ArgumentTypeError), match=match):
        fr.torch.MapDataset(record_file, **{"transforms": [T.CenterCrop(4)], **options})
