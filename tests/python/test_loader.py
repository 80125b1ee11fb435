from __future__ import annotations

import gc
import io
import itertools
import os
import pathlib
import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

import fuelrail as fr
from conftest import TINY_COUNT, encoded, photograph, pixels
from fuelrail import transforms as T
from reference import Random, random_resized_crop_box

FIELDS = ("id", "position", "valid", "label", "image")
CROP = [T.CenterCrop(4)]


def arrays(batch: Sequence[fr.Array]) -> list[np.ndarray]:
    return [array.numpy() for array in batch]


def tiny(file: pathlib.Path, batch_size: int = 10, **options: object) -> fr.Loader:
    return fr.Loader(file, batch_size, **{"transforms": CROP, "fields": FIELDS, **options})


def epoch_ids(loader: fr.Loader) -> list[int]:
    return [i for batch in loader for i in batch[0].numpy().tolist()]


def crop_of(encoded_image: bytes, height: int, width: int) -> np.ndarray:
    image = pixels(encoded_image)
    top, left = round((image.shape[0] - height) / 2), round((image.shape[1] - width) / 2)
    return image[top : top + height, left : left + width]


# --- What a batch is --------------------------------------------------------------------------


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


def test_kept_batches_never_change(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 5, shuffle=True, prefetch=1)
    kept, copies = [], []
    for _ in range(3):
        for batch in loader:
            kept.append(batch)
            copies.append([np.array(column) for column in batch])
    for batch, copy in zip(kept, copies, strict=True):
        for column, expected in zip(batch, copy, strict=True):
            np.testing.assert_array_equal(np.asarray(column), expected)


def test_what_is_written_into_a_batch_does_not_come_back(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10)
    first = [np.array(batch[4]) for batch in loader]
    for batch in loader:
        np.asarray(batch[4])[...] = -1
    for batch, expected in zip(loader, first, strict=True):
        np.testing.assert_array_equal(np.asarray(batch[4]), expected)


# --- Pixels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_uint8_crops_are_the_decoders_pixels(record_file: pathlib.Path, layout: str) -> None:
    loader = fr.Loader(
        record_file, 31, transforms=[T.CenterCrop((50, 60))], dtype="uint8", layout=layout
    )
    ((images, _),) = list(loader)
    expected = np.stack([crop_of(sample.image, 50, 60) for sample in loader.dataset])
    if layout == "NCHW":
        expected = expected.transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(images.numpy(), expected)


def whole_epoch(file: object, transforms: list[T.Transform], **options: object) -> np.ndarray:
    """All images of one epoch, uint8 HWC."""
    loader = fr.Loader(
        file, 8, transforms=transforms, dtype="uint8", layout="NHWC", fields=["image"], **options
    )
    return np.concatenate([batch[0].numpy() for batch in loader])


FILTERS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}


@pytest.mark.parametrize("interpolation", FILTERS)
@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**64 - 1),
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    smallest=st.floats(0.01, 1.0),
    epoch=st.integers(0, 2**32 - 2),
)
def test_random_resized_crop_equals_pillow_within_one_level(
    record_file: pathlib.Path,
    interpolation: str,
    seed: int,
    size: tuple[int, int],
    smallest: float,
    epoch: int,
) -> None:
    scale, ratio = (smallest, 1.0), (0.5, 2.0)
    transform = T.RandomResizedCrop(size, scale, ratio, interpolation)
    loader = fr.Loader(
        record_file, 31, transforms=[transform], dtype="uint8", layout="NHWC", seed=seed
    )
    loader.set_epoch(epoch)
    ((images, _),) = list(loader)
    for position, sample in enumerate(loader.dataset):
        image = Image.open(io.BytesIO(sample.image)).convert("RGB")
        top, left, height, width = random_resized_crop_box(
            image.height, image.width, scale, ratio, Random(seed, epoch, position)
        )
        crop = image.crop((left, top, left + width, top + height))
        expected = np.asarray(crop.resize(size[::-1], FILTERS[interpolation]), int)
        assert np.abs(images.numpy()[position] - expected).max() <= 1


def shorter_side(image: Image.Image, side: int) -> tuple[int, int]:
    """torchvision's Resize(int): (width, height)."""
    if image.width <= image.height:
        return side, int(side * image.height / image.width)
    return int(side * image.width / image.height), side


@pytest.mark.parametrize("interpolation", FILTERS)
@pytest.mark.parametrize(("side", "crop"), [(40, 32), (64, 64), (100, 57), (33, (20, 31))])
def test_resize_and_center_crop_equal_pillow_within_one_level(
    record_file: pathlib.Path, side: int, crop: int | tuple[int, int], interpolation: str
) -> None:
    pair = whole_epoch(record_file, [T.Resize(side, interpolation), T.CenterCrop(crop)])
    one = whole_epoch(record_file, [T.ResizedCenterCrop(crop, side, interpolation)])
    np.testing.assert_array_equal(pair, one)
    height, width = (crop, crop) if isinstance(crop, int) else crop
    for actual, sample in zip(pair, fr.open(record_file), strict=True):
        image = Image.open(io.BytesIO(sample.image)).convert("RGB")
        resized = image.resize(shorter_side(image, side), FILTERS[interpolation])
        top, left = round((resized.height - height) / 2), round((resized.width - width) / 2)
        expected = np.asarray(resized, int)[top : top + height, left : left + width]
        assert np.abs(actual - expected).max() <= 1


def test_resize_to_a_size_and_list_sizes(record_file: pathlib.Path) -> None:
    images = whole_epoch(record_file, [T.Resize([20, 30])])
    assert images.shape == (31, 20, 30, 3)
    assert whole_epoch(record_file, [T.Resize([40]), T.CenterCrop([32])]).shape == (31, 32, 32, 3)


def test_a_center_crop_of_a_small_image_is_padded_with_black(tiny_file: pathlib.Path) -> None:
    images = whole_epoch(tiny_file, [T.CenterCrop(8)])
    assert (images[:, :2] == 0).all()
    assert (images[:, :, 6:] == 0).all()
    np.testing.assert_array_equal(images[:, 2:6, 2:6], whole_epoch(tiny_file, CROP))


def test_flips_turn_the_crop_over(record_file: pathlib.Path) -> None:
    crop = T.CenterCrop(40)
    plain = whole_epoch(record_file, [crop])
    flipped = whole_epoch(record_file, [crop, T.HorizontalFlip(1)])
    np.testing.assert_array_equal(flipped, plain[:, :, ::-1])
    flipped = whole_epoch(record_file, [T.VerticalFlip(1), crop])
    upside_down = [
        crop_of(encoded(Image.fromarray(pixels(s.image)[::-1]), "PNG"), 40, 40)
        for s in fr.open(record_file)
    ]
    np.testing.assert_array_equal(flipped, np.stack(upside_down))


def test_a_flip_happens_as_often_as_it_says(tiny_file: pathlib.Path) -> None:
    chosen = [Random(5, 0, position).uniform(1, 0) < 0.5 for position in range(31)]
    assert 5 < sum(chosen) < 26


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_normalize_equals_torch_bit_for_bit(record_file: pathlib.Path, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    crop = T.CenterCrop(50)
    pixel = torch.from_numpy(whole_epoch(record_file, [crop])).permute(0, 3, 1, 2).contiguous()
    expected = pixel.to(torch.float32).div(255)
    expected.sub_(torch.tensor(mean).view(3, 1, 1)).div_(torch.tensor(std).view(3, 1, 1))
    loader = fr.Loader(record_file, 31, transforms=[crop, T.Normalize(mean, std)], dtype=dtype)
    ((images, _),) = list(loader)
    actual = torch.from_dlpack(images)
    assert actual.dtype == getattr(torch, dtype)
    assert torch.equal(actual, expected.to(actual.dtype))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_applied_before_the_crop(
    make_file: Callable[..., pathlib.Path], orientation: int
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    jpeg = encoded(photograph(2, 71, 97), exif=exif.tobytes(), subsampling="4:2:0")
    file = make_file([jpeg])
    upright = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(jpeg))))
    crop = crop_of(encoded(Image.fromarray(upright), "PNG"), 31, 45)
    np.testing.assert_array_equal(whole_epoch(file, [T.CenterCrop((31, 45))])[0], crop)
    np.testing.assert_array_equal(
        whole_epoch(file, [T.CenterCrop((31, 45))], orientation="ignore")[0],
        crop_of(jpeg, 31, 45),
    )


def test_cmyk_becomes_rgb(make_file: Callable[..., pathlib.Path]) -> None:
    jpeg = encoded(photograph(1, 64, 48).convert("CMYK"), quality=95)
    image = whole_epoch(make_file([jpeg]), [T.CenterCrop(32)])[0]
    assert np.abs(image.astype(int) - crop_of(jpeg, 32, 32)).max() <= 1


# --- Order ------------------------------------------------------------------------------------

AUGMENT = [T.RandomResizedCrop(3), T.HorizontalFlip(), T.Normalize((0.5,) * 3, (0.25,) * 3)]


def test_threads_and_prefetch_change_no_bit(record_file: pathlib.Path) -> None:
    def epochs(threads: int, prefetch: int) -> list[bytes]:
        loader = fr.Loader(
            record_file, 7, shuffle=True, seed=11, threads=threads, prefetch=prefetch,
            transforms=[T.RandomResizedCrop(24), T.HorizontalFlip()], fields=FIELDS,
        )  # fmt: skip
        return [bytes(column) for _ in range(2) for batch in loader for column in batch]

    expected = epochs(1, 1)
    for threads, prefetch in [(2, 1), (3, 5), (8, 2)]:
        assert epochs(threads, prefetch) == expected


def test_shuffled_epochs_differ_and_are_complete(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, shuffle="full", seed=1)
    first, second = epoch_ids(loader), epoch_ids(loader)
    assert sorted(first) == sorted(second) == list(range(TINY_COUNT))
    assert first != second
    assert epoch_ids(tiny(tiny_file, shuffle=True, seed=1)) == first
    assert epoch_ids(tiny(tiny_file, shuffle=True, seed=2)) != first


def test_two_visits_of_a_sample_differ(record_file: pathlib.Path) -> None:
    loader = fr.Loader(record_file, 31, transforms=[T.RandomResizedCrop(16)])
    (first,), (second,) = list(loader), list(loader)
    different = np.asarray(first[0]) != np.asarray(second[0])
    assert different.any(axis=(1, 2, 3)).all()


@settings(max_examples=25)
@given(
    batch_size=st.integers(1, 40),
    world_size=st.integers(1, 5),
    last_batch=st.sampled_from(["short", "drop", "pad", "wrap"]),
    shuffle=st.booleans(),
)
def test_the_ranks_together_are_the_epoch(
    tiny_file: pathlib.Path, batch_size: int, world_size: int, last_batch: str, shuffle: bool
) -> None:
    order = epoch_ids(tiny(tiny_file, shuffle=shuffle, seed=9))
    total = batch_size * world_size
    ranks = []
    for rank in range(world_size):
        loader = tiny(
            tiny_file, batch_size, rank=rank, world_size=world_size, last_batch=last_batch,
            shuffle=shuffle, seed=9, threads=1,
        )  # fmt: skip
        batches = [arrays(batch) for batch in loader]
        count = TINY_COUNT // total if last_batch == "drop" else -(-TINY_COUNT // total)
        assert len(batches) == len(loader) == count
        ranks.append(batches)
    rows = [
        (id_, valid)
        for step in zip(*ranks, strict=True)
        for ids, _, valids, *_ in step
        for id_, valid in zip(ids.tolist(), valids.tolist(), strict=True)
    ]
    full = TINY_COUNT // total * total
    expected = [(id_, True) for id_ in order[:full]]
    if last_batch == "short":
        expected = [(id_, True) for id_ in order]
    elif last_batch != "drop" and full < TINY_COUNT:
        expected = [(id_, True) for id_ in order]
        missing = full + total - TINY_COUNT
        if last_batch == "pad":
            expected += [(order[-1], False)] * missing
        else:
            expected += [(order[i % TINY_COUNT], True) for i in range(missing)]
    assert rows == expected


def test_a_rank_without_rows_gets_an_empty_batch(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 48, rank=1, world_size=2)
    *_, last = loader
    assert [array.shape for array in last] == [(0,), (0,), (0,), (0,), (0, 3, 4, 4)]
    assert np.from_dlpack(last[4]).shape == (0, 3, 4, 4)
    assert np.asarray(last[4]).shape == (0, 3, 4, 4)


# --- Epochs -----------------------------------------------------------------------------------


def orders(file: pathlib.Path, epochs: int) -> list[list[int]]:
    loader = tiny(file, shuffle=True)
    return [epoch_ids(loader) for _ in range(epochs)]


@pytest.mark.parametrize("taken", [1, 3, 9, 10])
def test_leaving_the_loop_early_ends_the_epoch(tiny_file: pathlib.Path, taken: int) -> None:
    first, second, third = orders(tiny_file, 3)
    loader = tiny(tiny_file, shuffle=True)
    begun = [i for batch in itertools.islice(loader, taken) for i in batch[0].numpy().tolist()]
    assert begun == first[: taken * 10]
    assert epoch_ids(loader) == second
    assert epoch_ids(loader) == third


def test_an_iterator_that_was_not_used_takes_no_epoch(tiny_file: pathlib.Path) -> None:
    (first,) = orders(tiny_file, 1)
    loader = tiny(tiny_file, shuffle=True)
    iter(loader)
    assert epoch_ids(loader) == first


def test_an_exhausted_iterator_stays_so(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file)
    iterator = iter(loader)
    assert len(list(iterator)) == 10
    assert next(iterator, None) is None
    iter(loader)
    assert next(iterator, None) is None


def test_set_epoch_makes_it_the_next_one(tiny_file: pathlib.Path) -> None:
    expected = orders(tiny_file, 4)
    loader = tiny(tiny_file, shuffle=True)
    loader.set_epoch(2)
    assert epoch_ids(loader) == expected[2]
    assert epoch_ids(loader) == expected[3]
    loader.set_epoch(0)
    next(iter(loader))
    loader.set_epoch(0)
    assert epoch_ids(loader) == expected[0]
    loader.set_epoch(1)  # what comes anyway
    assert epoch_ids(loader) == expected[1]


@pytest.mark.parametrize("epoch", [-1, 2**32, "1", 0.5])
def test_an_epoch_is_a_number_of_32_bits(tiny_file: pathlib.Path, epoch: object) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="epoch"):
        tiny(tiny_file).set_epoch(epoch)


def test_there_is_one_iterator_at_a_time(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file)
    old = iter(loader)
    next(old)
    new = iter(loader)
    with pytest.raises(fr.StateError, match="one iterator"):
        next(old)
    assert next(new)[1].numpy()[0] == 0
    loader.set_epoch(5)
    with pytest.raises(fr.StateError, match="one iterator"):
        next(new)


def test_an_epoch_without_a_full_batch_is_empty_under_drop(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 98, last_batch="drop")
    assert len(loader) == 0
    assert list(loader) == []
    assert list(loader) == []


def test_a_closed_loader_says_so(tiny_file: pathlib.Path) -> None:
    with tiny(tiny_file) as loader:
        iterator = iter(loader)
        batch = next(iterator)
    loader.close()
    with pytest.raises(fr.StateError, match="closed"):
        next(iterator)
    for use in (lambda: iter(loader), loader.state_dict, lambda: loader.set_epoch(0)):
        with pytest.raises(fr.StateError, match="closed"):
            use()
    assert batch[0].numpy().tolist() == list(range(10))
    assert len(loader) == 10
    loader.stats()


def test_threads_may_share_a_loader(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 1)
    iterator = iter(loader)
    seen: list[int] = []

    def consume() -> None:
        while (batch := next(iterator, None)) is not None:
            seen.append(int(batch[0].numpy()[0]))
            loader.state_dict()

    threads = [threading.Thread(target=consume) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(TINY_COUNT))


def thread_count() -> int:
    return len(os.listdir("/proc/self/task"))


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_abandoned_loaders_leave_no_thread_and_no_descriptor(tiny_file: pathlib.Path) -> None:
    next(iter(tiny(tiny_file)))
    gc.collect()
    threads, files = thread_count(), open_files()
    for _ in range(50):
        loader = tiny(tiny_file, threads=3, prefetch=4)
        next(iter(loader))
    del loader
    gc.collect()
    assert (thread_count(), open_files()) == (threads, files)


def test_no_thread_starts_before_the_first_batch(tiny_file: pathlib.Path) -> None:
    gc.collect()
    before = thread_count()
    loader = tiny(tiny_file)
    iterator = iter(loader)
    loader.state_dict()
    assert thread_count() == before
    next(iterator)
    assert thread_count() > before


def test_the_stats_count_what_was_done(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10)
    kept = list(loader)
    stats = loader.stats()
    assert stats.process.items >= TINY_COUNT
    assert stats.deliver.items == 10
    assert stats.fetch.bytes > 0
    assert stats.seconds > 0
    assert stats.slots_lent == len(kept)
    assert stats.limit in ("fetch", "process", "consumer")
    assert "process=StageStats(" in repr(stats)


# --- Errors -----------------------------------------------------------------------------------


def damaged(image: bytes) -> bytes:
    return image[: len(image) // 2]


def test_a_bad_record_is_an_error_in_place_of_its_batch(
    make_file: Callable[..., pathlib.Path],
) -> None:
    images = [encoded(photograph(i, 64, 64)) for i in range(20)]
    images[7] = damaged(images[7])
    file = make_file(images)
    loader = fr.Loader(file, 5, transforms=[T.CenterCrop(60)], fields=["id", "image"])
    iterator = iter(loader)
    assert next(iterator)[0].numpy().tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(fr.Error) as caught:
        next(iterator)
    assert isinstance(caught.value, (fr.DecodeError, fr.TruncatedError))
    assert caught.value.path == str(file)
    assert caught.value.record == 7
    assert caught.value.offset == fr.open(file).place(7).offset
    assert [batch[0].numpy().tolist()[0] for batch in iterator] == [10, 15]
    with pytest.raises(fr.Error, match="record 7"):
        list(loader)


OPTIONS = [
    ({"batchsize": 3}, fr.ArgumentTypeError, "'batch_size'"),
    ({"suffle": True}, fr.ArgumentTypeError, "'shuffle'"),
    ({"num_workers": 3}, fr.ArgumentTypeError, "Known: "),
    ({"shuffle": "ful"}, fr.InvalidArgumentError, "'full'"),
    ({"shuffle": 1}, fr.InvalidArgumentError, "shuffle"),
    ({"dtype": "flaot32"}, fr.InvalidArgumentError, "'float32'"),
    ({"dtype": np.float64}, fr.InvalidArgumentError, "dtype"),
    ({"layout": "nchw"}, fr.InvalidArgumentError, "layout"),
    ({"last_batch": "dorp"}, fr.InvalidArgumentError, "'drop'"),
    ({"orientation": "applied"}, fr.InvalidArgumentError, "'apply'"),
    ({"fields": ["image", "labels"]}, fr.InvalidArgumentError, "'label'"),
    ({"fields": ["image", "image"]}, fr.InvalidArgumentError, "image"),
    ({"fields": []}, fr.InvalidArgumentError, "fields"),
    ({"fields": "image"}, fr.ArgumentTypeError, "fields"),
    ({"batch_size": 0}, fr.InvalidArgumentError, "batch_size"),
    ({"batch_size": -1}, fr.InvalidArgumentError, "batch_size"),
    ({"batch_size": 2.0}, fr.ArgumentTypeError, "batch_size"),
    ({"seed": 2**64}, fr.InvalidArgumentError, "seed"),
    ({"threads": 0}, fr.InvalidArgumentError, "threads"),
    ({"prefetch": 0}, fr.InvalidArgumentError, "prefetch"),
    ({"max_pixels": 0}, fr.InvalidArgumentError, "max_pixels"),
    ({"rank": 1}, fr.InvalidArgumentError, "world_size"),
    ({"rank": 2, "world_size": 2}, fr.OutOfRangeError, "rank"),
    ({"transforms": []}, fr.InvalidArgumentError, "CenterCrop"),
    ({"transforms": [T.Resize(8)]}, fr.InvalidArgumentError, "CenterCrop"),
    ({"transforms": T.CenterCrop(8)}, fr.ArgumentTypeError, "list"),
    ({"transforms": [T.CenterCrop(8), "flip"]}, fr.ArgumentTypeError, r"transforms\[1\]"),
    ({"transforms": [T.CenterCrop]}, fr.ArgumentTypeError, "'CenterCrop'"),
    ({"transforms": [T.Normalize((0,) * 3, (1,) * 3), *CROP]}, fr.InvalidArgumentError, "last"),
    (
        {"transforms": [*CROP, T.Normalize((0,) * 3, (1,) * 3)], "dtype": "uint8"},
        fr.InvalidArgumentError,
        "uint8",
    ),
]


@pytest.mark.parametrize(("options", "kind", "match"), OPTIONS, ids=lambda value: str(value)[:40])
def test_a_bad_option_is_refused_with_the_nearest_good_one(
    tiny_file: pathlib.Path, options: dict[str, object], kind: type[fr.Error], match: str
) -> None:
    with pytest.raises(kind, match=match):
        fr.Loader(tiny_file, **{"transforms": CROP, **options})


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float16")])
def test_a_dtype_may_be_numpys(tiny_file: pathlib.Path, dtype: object) -> None:
    images, _ = next(iter(fr.Loader(tiny_file, 2, transforms=CROP, dtype=dtype)))
    assert images.dtype == "float16"
    assert images.numpy().dtype == np.float16


def test_rank_and_world_size_come_from_the_environment(
    tiny_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert next(iter(tiny(tiny_file, 5)))[1].numpy().tolist() == [5, 6, 7, 8, 9]
    assert next(iter(tiny(tiny_file, 5, rank=0, world_size=1)))[1].numpy()[0] == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RANK", "one"),
        ("RANK", ""),
        ("RANK", "-1"),
        ("RANK", str(2**32)),
        ("WORLD_SIZE", "0"),
        ("WORLD_SIZE", "-4"),
        ("WORLD_SIZE", "4.0"),
        ("WORLD_SIZE", str(2**70)),
    ],
)
def test_junk_in_the_environment_is_refused_by_the_variables_name(
    tiny_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv(name, value)
    with pytest.raises(fr.InvalidArgumentError, match=f"variable {name} .*found '{value}'"):
        tiny(tiny_file)
