"""Benzina's DataLoader: batches of real stills, which need the plugin for H.265."""

from __future__ import annotations

import os
import pathlib
import pickle
import shutil
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
import fuelrail.benzina.torch as bz
import fuelrail.benzina.torch.operations as ops
from interrupting import Interrupting

pytestmark = pytest.mark.skipif(
    "FUELRAIL_HEVC" not in os.environ, reason="FUELRAIL_HEVC names no plugin for H.265"
)

IDENTITY = (1, 0, 0, 0, 1, 0, 0, 0, 1)


@pytest.fixture(scope="module")
def path(folder: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The photographs of `folder` in two splits: 31 and 31 records, some with thumbnails."""
    made = tmp_path_factory.mktemp("benzina") / "x.bzna"
    fr.pack({"train": folder, "validation": folder}, made, preset="ultrafast")
    return made


def dataset(path: pathlib.Path, **options: Any) -> bz.ClassificationDataset:
    return bz.ClassificationDataset(str(path), **options)


def batches(data: Any, shape: Any = 32, **options: Any) -> list[Any]:
    return list(bz.DataLoader(data, shape, device="cpu", **{"seed": 1, **options}))


def same(one: list[Any], other: list[Any]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(torch.equal(a, b) for x, y in pairs for a, b in zip(x, y, strict=True))


def test_a_batch_has_images_and_targets(path: pathlib.Path) -> None:
    data = dataset(path)
    made = batches(data, (20, 30), batch_size=8)
    assert len(made) == len(bz.DataLoader(data, 8, batch_size=8, device="cpu")) == 8
    images, targets = made[-1]
    assert images.shape == (6, 3, 20, 30)
    assert images.dtype == torch.float32
    assert targets.dtype == torch.int64
    np.testing.assert_array_equal(torch.cat([t for _, t in made]), data.targets)
    for index, image in enumerate(torch.cat([i for i, _ in made])):  # without a warp: a corner
        decoded = fr.open(path)[index].decode()[:20, :30].astype(float)
        difference = np.abs(image.permute(1, 2, 0).numpy() - decoded)  # floats are rounded once
        assert difference.max() <= 1
        assert difference.mean() < 0.01


def test_bias_is_subtracted_and_then_norm_multiplied(path: pathlib.Path) -> None:
    plain = batches(dataset(path), batch_size=62)[0][0]
    bias, norm = (1.0, 2.0, 3.0), (0.5, 0.25, 2.0)
    made = batches(dataset(path), batch_size=62, bias_transform=bias, norm_transform=norm)[0][0]
    expected = (plain - torch.tensor(bias).view(3, 1, 1)) * torch.tensor(norm).view(3, 1, 1)
    torch.testing.assert_close(made, expected, rtol=0, atol=0)


def test_threads_and_the_sidecar_do_not_change_batches(
    path: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    without = tmp_path / "x.bzna"
    shutil.copy(path, without)

    def run(of: pathlib.Path = path, **options: Any) -> list[Any]:
        torch.manual_seed(5)
        warp = ops.SimilarityTransform(scale=(0.08, 1), ratio=(3 / 4, 4 / 3), random_crop=True)
        return batches(dataset(of), batch_size=7, shuffle=True, warp_transform=warp, **options)

    expected = run(threads=1, multibuffering=1)
    assert same(run(threads=3), expected)
    assert same(run(without, threads=2), expected)
    assert not same(run(seed=2), expected)


def test_epochs_differ_and_a_seed_repeats_them(path: pathlib.Path) -> None:
    def loader() -> bz.DataLoader:
        warp = ops.RandomResizedCrop()
        return bz.DataLoader(
            dataset(path), 16, batch_size=31, seed=9, device="cpu", warp_transform=warp
        )

    first, second = loader(), loader()
    epochs = [list(first), list(first)]
    assert not same(*epochs)
    next(iter(second))  # an epoch that was not finished
    assert same(list(second), epochs[1])
    torch.manual_seed(3)
    drawn = bz.DataLoader(dataset(path), 16, device="cpu").seed
    torch.manual_seed(3)
    assert bz.DataLoader(dataset(path), 16, device="cpu").seed == drawn


def test_batches_are_the_callers_own(path: pathlib.Path) -> None:
    loader = bz.DataLoader(dataset(path), 16, batch_size=4, multibuffering=1, device="cpu")
    held, copies = [], []
    for images, _ in loader:
        held.append(images)
        copies.append(images.clone())
    assert all(torch.equal(*pair) for pair in zip(held, copies, strict=True))


class Recorder(ops.WarpTransform):
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def __call__(self, index: Any, in_shape: Any, out_shape: Any, rng: Any) -> Any:
        self.calls.append((index, tuple(in_shape), tuple(out_shape)))
        return ops.RandomResizedCrop()(index, in_shape, out_shape, rng)


def test_a_transform_of_the_user_is_called_for_each_sample(path: pathlib.Path) -> None:
    data = bz.ImageNet(str(path), split="val")
    own = Recorder()
    order = [5, 0, 30, 7]
    made = batches(data, (24, 16), sampler=order, batch_size=3, warp_transform=own)
    sizes = [fr.open(path, split="val")[i].decode().shape[1::-1] for i in order]
    assert own.calls == [(i, size, (16, 24)) for i, size in zip(order, sizes, strict=True)]
    built_in = batches(
        data, (24, 16), sampler=order, batch_size=3, warp_transform=ops.RandomResizedCrop()
    )
    assert same(made, built_in)  # the same random numbers, in Python and in the core
    np.testing.assert_array_equal(torch.cat([t for _, t in made]), data.targets[order])


def test_a_batch_sampler_may_yield_batches_of_any_size(path: pathlib.Path) -> None:
    order = [[0], [1, 2, 3], list(range(40)), [4], [5, 5], list(range(62))]
    warp = ops.RandomResizedCrop()
    made = batches(dataset(path), batch_sampler=order, warp_transform=warp)
    assert [len(images) for images, _ in made] == [len(batch) for batch in order]
    flat = [index for batch in order for index in batch]
    whole = batches(dataset(path), sampler=flat, batch_size=len(flat), warp_transform=warp)
    assert torch.equal(torch.cat([images for images, _ in made]), whole[0][0])


def test_tracks_and_bounds(path: pathlib.Path) -> None:
    data = dataset(path, input_label="bzna_input")
    index = 30  # 270 x 80 pixels in a frame of 512 x 512
    options: dict[str, Any] = {"sampler": [index], "oob_transform": 99.0}
    decoded = fr.open(path, track="bzna_input")[index].decode().astype(np.float32)
    height, width = decoded.shape[:2]
    (images, _), *_ = batches(data, (height, width + 9), **options)
    assert np.abs(images[0, :, :, :width].permute(1, 2, 0).numpy() - decoded).max() <= 1
    edge = images[0, :, :, width - 1 : width]
    assert (images[0, :, :, width:] - edge).abs().mean() < 12
    (images, _), *_ = batches(data, (height, width + 9), bounds="image", **options)
    assert (images[0, :, :, width:] == 99).all()
    shrink = ops.ConstantWarpTransform((4, 0, 1.5, 0, 4, 1.5, 0, 0, 1))
    (smooth, _), *_ = batches(data, 16, antialias=True, warp_transform=shrink, **options)
    mean = decoded[:64, :64].reshape(16, 4, 16, 4, 3).mean(axis=(1, 3))
    assert np.abs(smooth[0].permute(1, 2, 0).numpy() - mean).mean() < 2


def test_a_dataset_without_targets_gives_images_only(path: pathlib.Path) -> None:
    (batch, *_) = batches(bz.Dataset(str(path)), batch_size=5)
    assert isinstance(batch, tuple)
    assert [column.shape for column in batch] == [(5, 3, 32, 32)]


def test_a_damaged_sample_raises_in_place_of_its_batch(
    path: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    damaged = tmp_path / "x.bzna"
    shutil.copy(path, damaged)
    shutil.copy(f"{path}.frx", f"{damaged}.frx")
    place = fr.open(damaged)[9].place
    with damaged.open("r+b") as file:
        file.seek(place.offset + 60)
        file.write(b"\0" * 40)
    loader = bz.DataLoader(dataset(damaged), 8, batch_size=4, device="cpu")
    iterator, made = iter(loader), []
    for number in range(16):
        if number == 2:
            with pytest.raises(fr.CorruptError, match=r"x\.bzna: record 9"):
                next(iterator)
        else:
            made.append(next(iterator))
    with pytest.raises(StopIteration):
        next(iterator)
    assert same(
        made, [batch for i, batch in enumerate(batches(dataset(path), 8, batch_size=4)) if i != 2]
    )


class Failing(ops.WarpTransform):
    """Fails for one sample."""

    def __call__(self, index: Any, *_: Any) -> Any:
        if index == 9:
            raise KeyError("sample 9")
        return IDENTITY


def without_record_9(path: pathlib.Path, to: pathlib.Path) -> pathlib.Path:
    """A copy without a sidecar, in which nothing of record 9 can be read."""
    shutil.copy(path, to)
    place = fr.open(to)[9].place
    with to.open("r+b") as file:
        file.seek(place.offset)
        file.write(b"\0" * 4000)
    return to


def test_what_cannot_be_prepared_raises_in_place_of_its_batch(
    path: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    def collate(targets: list[Any]) -> Any:
        if len(targets) == 3:
            raise KeyError("3 targets")
        return (len(targets),)

    whole = batches(dataset(path), batch_size=4)
    good: dict[str, Any] = {"batch_size": 4}
    cases: list[tuple[pathlib.Path, dict[str, Any], Any, str]] = [
        (path, {**good, "warp_transform": Failing()}, KeyError, "sample 9"),
        (path, {**good, "sampler": [*range(9), 62, *range(10, 62)]}, fr.OutOfRangeError, "62"),
        (
            without_record_9(path, tmp_path / "x.bzna"),
            {**good, "warp_transform": ops.SimilarityTransform()},
            fr.DecodeError,
            "record 9",
        ),
        (path, {"batch_sampler": [[1], [2], [3, 4, 5], [6]], "collate_fn": collate}, KeyError, "3"),
    ]
    for of, options, error, text in cases:
        iterator = iter(bz.DataLoader(dataset(of), 32, device="cpu", **options))
        first, second = next(iterator), next(iterator)
        with pytest.raises(error, match=text):
            next(iterator)
        rest = list(iterator)
        assert len(rest) == len(options.get("batch_sampler", whole)) - 3
        if "sampler" in options:
            assert same([first, second, *rest], [*whole[:2], *whole[3:]])


def test_an_error_of_the_sampler_ends_the_epoch_after_the_batches_before_it(
    path: pathlib.Path,
) -> None:
    class Sampler:
        epochs = 0

        def __iter__(self) -> Any:
            self.epochs += 1
            yield from range(10)
            if self.epochs == 1:
                raise KeyError("no more")

    loader = bz.DataLoader(dataset(path), 8, batch_size=4, device="cpu", sampler=Sampler())
    iterator = iter(loader)
    assert [len(next(iterator)[0]) for _ in range(2)] == [4, 4]
    with pytest.raises(KeyError, match="no more"):
        next(iterator)
    assert next(iterator, None) is None
    assert [len(images) for images, _ in loader] == [4, 4, 2]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("call", "number"), [("feed", 2), ("reserve", 2), ("next", 2)])
def test_ctrl_c_loses_no_batch(path: pathlib.Path, call: str, number: int, after: bool) -> None:
    options: dict[str, Any] = {
        "batch_sampler": [[0], [1, 2, 3], range(20), [4]],
        "warp_transform": ops.RandomResizedCrop(),
        "seed": 1,
    }
    iterator = iter(bz.DataLoader(dataset(path), 32, device="cpu", multibuffering=1, **options))
    iterator._core = Interrupting(iterator._core, call, number, after)
    made, interrupts = [], 0
    while True:
        try:
            batch = next(iterator, None)
        except KeyboardInterrupt:
            interrupts += 1
            continue
        if batch is None:
            break
        made.append(batch)
    assert interrupts == 1
    assert same(made, batches(dataset(path), **options))


def test_iterators_of_a_loader_are_independent(path: pathlib.Path) -> None:
    def loader() -> bz.DataLoader:
        warp = ops.RandomResizedCrop()
        return bz.DataLoader(
            dataset(path), 16, batch_size=9, seed=4, device="cpu", warp_transform=warp
        )

    one, other = loader(), loader()
    pairs = list(zip(one, one, strict=True))
    assert same([a for a, _ in pairs], list(other))
    assert same([b for _, b in pairs], list(other))
    assert same(list(one), list(other))


def test_an_epoch_leaves_its_threads_to_the_next_and_nothing_else(path: pathlib.Path) -> None:
    class Batches:
        """Epochs with batches of different sizes."""

        def __init__(self, *sizes: int) -> None:
            self.sizes = list(sizes)

        def __iter__(self) -> Any:
            size = self.sizes.pop(0)
            return iter([range(i, min(i + size, 62)) for i in range(0, 62, size)])

    def loader(*sizes: int) -> bz.DataLoader:
        options: dict[str, Any] = {"batch_sampler": Batches(*sizes), "seed": 4, "device": "cpu"}
        return bz.DataLoader(dataset(path), 16, warp_transform=ops.RandomResizedCrop(), **options)

    def epoch(number: int, size: int) -> list[Any]:
        fresh = loader(*[62] * number, size)
        for _ in range(number):
            iter(fresh)
        return list(fresh)

    expected = epoch(1, 7), epoch(3, 1)
    kept = loader(20, 7, 30, 1)
    for _ in kept:
        break
    threads = set(os.listdir("/proc/self/task"))
    second = list(kept)
    iter(kept)  # an epoch without any batch
    assert kept.batch_sampler.sizes == [1]  # type: ignore[union-attr]
    fourth = list(kept)
    assert set(os.listdir("/proc/self/task")) <= threads
    assert same(second, expected[0])
    assert same(fourth, expected[1])


def test_a_loader_can_be_pickled_between_epochs(path: pathlib.Path) -> None:
    loader = bz.DataLoader(
        dataset(path),
        16,
        seed=4,
        device="cpu",
        batch_size=31,
        warp_transform=ops.RandomResizedCrop(),
    )
    list(loader)
    assert same(list(pickle.loads(pickle.dumps(loader))), list(loader))


def test_exclusions_and_invalid_arguments_are_errors(path: pathlib.Path) -> None:
    data = dataset(path)
    for options in (
        {"shuffle": True, "sampler": [1]},
        {"batch_sampler": [[1]], "batch_size": 2},
        {"batch_sampler": [[1]], "drop_last": True},
        {"shape": 0},
        {"shape": (1, 2, 3)},
        {"multibuffering": 0},
        {"seed": -1},
        {"seed": 2**32},
        {"bounds": "picture"},
        {"warp_transform": (1, 2, 3)},
        {"warp_transform": (1,) * 9},
        {"norm_transform": ops.ConstantBiasTransform(1)},
        {"timeout": -1},
        {"device": "tpu"},
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            bz.DataLoader(data, **{"shape": 8, "device": "cpu", **options})
    with pytest.raises(fr.UnsupportedError, match="CUDA"):
        bz.DataLoader(data, 8, device="cuda")


def test_the_cpu_is_mentioned_once(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bz.dataloader, "_told_of_cpu", False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            bz.DataLoader(dataset(path), 8)
    assert ["on the CPU" in str(one.message) for one in said] == [True]


def test_a_wait_has_a_limit(path: pathlib.Path) -> None:
    loader = bz.DataLoader(dataset(path), 8, batch_size=62, threads=1, timeout=1e-6, device="cpu")
    iterator = iter(loader)
    with pytest.raises(TimeoutError):
        next(iterator)
    while True:  # the batch is not lost
        try:
            images, _ = next(iterator)
        except TimeoutError:
            continue
        break
    assert len(images) == 62
