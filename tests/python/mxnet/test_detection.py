"""ImageDetRecordIter: all steps together, threads, seeds, epochs, lists, means, an augmenter."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from detection_images import (
    HEIGHT,
    WIDTH,
    Box,
    expect_boxes_on_their_pixels,
    label_of,
    row_of,
    rows_of,
    write_coded,
    write_records,
)
from fuelrail.mxnet import io
from photographs import encoded, photograph

COUNT = 14
RANDOM = {
    "inter_method": 10,
    "resize": 60,
    "max_random_hue": 20,
    "random_hue_prob": 0.5,
    "max_random_contrast": 0.3,
    "random_contrast_prob": 0.5,
    "rand_mirror_prob": 0.5,
    "rand_pad_prob": 0.5,
    "max_pad_scale": 2,
    "rand_crop_prob": 0.7,
    "min_crop_scales": 0.4,
    "max_crop_aspect_ratios": 2,
    "resize_mode": "fit",
}


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """COUNT photographs of many sizes, ids from 500, with 1 or 2 objects; and photographs.lst."""
    root = tmp_path_factory.mktemp("det")
    boxes = [Box(12, 15, 52, 75), Box(70, 9, 110, 81)]
    records = [
        (encoded(photograph(i, 50 + 3 * i, 90 - 2 * i)), label_of(boxes[: 1 + i % 2]))
        for i in range(COUNT)
    ]
    rows = [f"{500 + i}\t2\t5\t{i}\t0\t0\t0.5\t0.5\tphoto {i}.jpg\n" for i in range(COUNT)]
    (root / "photographs.lst").write_text("".join(rows))
    return write_records(root / "photographs.rec", records)


def make(path: pathlib.Path, **changed: Any) -> io.ImageDetRecordIter:
    options: dict[str, Any] = {"path_imgrec": path, "data_shape": (3, 40, 48), "batch_size": 4}
    return io.ImageDetRecordIter(**(options | RANDOM | changed))


def epoch_of(iterator: io.ImageDetRecordIter) -> list[bytes]:
    """The contents of all batches of an epoch; then the next epoch starts."""
    found = [
        batch.data[0].asnumpy().tobytes()
        + batch.label[0].asnumpy().tobytes()
        + batch.index.tobytes()
        + bytes([batch.pad])
        for batch in iterator
    ]
    iterator.reset()
    return found


def brighter(images: np.ndarray) -> np.ndarray:
    return images + np.float32(1)


def options_of(case: str, path: pathlib.Path, root: pathlib.Path) -> dict[str, Any]:
    return {
        "plain": {},
        "shuffle": {"shuffle": True},
        "unfilled": {"round_batch": False, "shuffle": True},
        "part": {"num_parts": 2, "part_index": 1, "batch_size": 3},
        "mean_img": {"mean_img": root / "mean.bin"},
        "list": {"path_imglist": path.with_suffix(".lst")},
        "augmenter": {"augmenter": brighter},
    }[case]


CASES = ["plain", "shuffle", "unfilled", "part", "mean_img", "list", "augmenter"]


@pytest.mark.parametrize("case", CASES)
def test_epochs_are_the_same_for_any_threads_and_differ(
    case: str, photographs: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    options = options_of(case, photographs, tmp_path)
    one = make(photographs, preprocess_threads=1, **options)
    epochs = [epoch_of(one) for _ in range(3)]
    assert epochs[0] != epochs[1] != epochs[2]
    (tmp_path / "mean.bin").unlink(missing_ok=True)  # recomputed, by many threads
    many = make(photographs, preprocess_threads=4, prefetch_buffer=1, **options)
    assert [epoch_of(many) for _ in range(3)] == epochs
    other = make(photographs, seed=1, **options)
    assert epoch_of(other) != epochs[0]


def test_reset_inside_an_epoch_begins_the_next_pass(photographs: pathlib.Path) -> None:
    reference = make(photographs, shuffle=True, round_batch=False)
    first, second = epoch_of(reference), epoch_of(reference)
    iterator = make(photographs, shuffle=True, round_batch=False)
    iterator.reset()  # before the first batch: does nothing
    assert iterator.next().data[0].asnumpy().tobytes() == first[0][: 4 * 4 * 3 * 40 * 48]
    iterator.reset()
    assert epoch_of(iterator) == second


@pytest.mark.parametrize("mode", ["force", "shrink", "fit"])
def test_boxes_lie_on_their_pixels_behind_all_steps(mode: str, tmp_path: pathlib.Path) -> None:
    boxes = [Box(12, 15, 52, 75), Box(70, 9, 110, 81)]
    path = write_coded(tmp_path / "coded.rec", boxes, 60)
    steps = {
        "inter_method": 0,
        "rand_mirror_prob": 0.5,
        "rand_pad_prob": 0.5,
        "max_pad_scale": 2,
        "rand_crop_prob": 0.7,
        "min_crop_scales": 0.5,
        "max_crop_aspect_ratios": 2,
        "min_crop_object_coverages": 0.5,
        "fill_value": 1,
        "batch_size": 12,
    }
    rows = rows_of(path, data_shape=(3, 150, 200), resize_mode=mode, **steps)
    for row in rows:
        assert row.objects
        expect_boxes_on_their_pixels(row, pixels=3 if mode == "shrink" else 9)
    assert {len(row.objects) for row in rows} == {1, 2}
    if mode == "shrink":
        assert min(row.size for row in rows) < (HEIGHT, WIDTH) < max(row.size for row in rows)


def test_boxes_of_a_list_take_the_place_of_those_that_are_packed(
    photographs: pathlib.Path,
) -> None:
    still = dict.fromkeys(("rand_mirror_prob", "rand_pad_prob", "rand_crop_prob"), 0)
    iterator = make(
        photographs, path_imglist=photographs.with_suffix(".lst"), shuffle=True, **still
    )
    assert iterator.provide_label[0].shape == (4, 4 + 7)
    seen = []
    for batch in iterator:
        for data, label, identity in zip(
            batch.data[0].asnumpy(), batch.label[0].asnumpy(), batch.index, strict=True
        ):
            row = row_of(data, label)
            assert row.objects == {int(identity) - 500: Box(0, 0, 0.5, 0.5)}
            seen.append(int(identity))
    assert set(seen) == set(range(500, 500 + COUNT))


def test_packed_labels_of_another_width_are_refused(photographs: pathlib.Path) -> None:
    iterator = make(photographs, label_width=7)
    with pytest.raises(fr.CorruptError, match=r"photographs\.rec: record 1, .*label_width.*12"):
        iterator.next()
    for width in (0, -2):
        with pytest.raises(fr.InvalidArgumentError, match="label_width"):
            make(photographs, label_width=width)


def test_labels_are_as_wide_in_every_part(photographs: pathlib.Path) -> None:
    ids: list[int] = []
    for part in range(3):
        iterator = make(photographs, num_parts=3, part_index=part, batch_size=1, label_pad_width=20)
        assert iterator.provide_label[0].shape == (1, 24)
        ids += [int(batch.index[0]) for batch in iterator]
        assert make(photographs, num_parts=3, part_index=part).provide_label[0].shape == (4, 16)
    assert ids == list(range(500, 500 + COUNT))


def test_a_mean_image_is_made_and_subtracted_unless_there_is_a_mean(
    photographs: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    still = dict.fromkeys(("rand_mirror_prob", "rand_pad_prob", "rand_crop_prob"), 0)
    still |= {"inter_method": 1, "random_hue_prob": 0, "random_contrast_prob": 0}
    options = {"round_batch": False, "resize_mode": "force", **still}

    def values(**parameters: Any) -> np.ndarray:
        batches = list(make(photographs, **options, **parameters))
        return np.concatenate([batch.data[0].asnumpy() for batch in batches])[:COUNT]

    plain = values()
    found = values(mean_img=tmp_path / "mean.bin", mean_r=-3, std_g=2, scale=3)
    expected = plain - plain.mean(axis=0, keepdims=True)
    expected *= np.float32([3, 1.5, 3]).reshape(3, 1, 1)
    np.testing.assert_allclose(found, expected, atol=1e-3)
    again = values(mean_img=tmp_path / "mean.bin", mean_r=9)
    np.testing.assert_array_equal(again[:, 0], plain[:, 0] - 9)
    np.testing.assert_array_equal(again[:, 1:], plain[:, 1:])


def test_an_augmenter_changes_images_and_no_boxes(photographs: pathlib.Path) -> None:
    plain, changed = make(photographs), make(photographs, augmenter=brighter)
    for expected, found in zip(plain, changed, strict=True):
        np.testing.assert_array_equal(found.data[0].asnumpy(), expected.data[0].asnumpy() + 1)
        np.testing.assert_array_equal(found.label[0].asnumpy(), expected.label[0].asnumpy())


def test_detection_of_bytes_is_refused(photographs: pathlib.Path) -> None:
    for dtype in ("uint8", "int8"):
        with pytest.raises(fr.InvalidArgumentError, match="float32"):
            make(photographs, dtype=dtype)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_channels_are_those_of_the_shape(channels: int, tmp_path: pathlib.Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (20, 30, 4), dtype=np.uint8)
    path = write_records(
        tmp_path / "rgba.rec",
        [(encoded(Image.fromarray(pixels), "PNG"), [*label_of([]), 0, 0, 0, 1, 1])],
    )
    iterator = io.ImageDetRecordIter(path_imgrec=path, data_shape=(channels, 20, 30), batch_size=1)
    batch = iterator.next()
    assert batch.label[0].asnumpy()[0, :3].tolist() == [channels, 20, 30]
    if channels > 1:
        expected = pixels[:, :, :channels].transpose(2, 0, 1)
        np.testing.assert_array_equal(batch.data[0].asnumpy()[0], expected)
