"""Other columns than images: names, bytes, rows of different sizes, 16-bit floats."""

from __future__ import annotations

import gc
import io
import pathlib
import shutil
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from fuelrail import transforms as T
from loading import CROP, record_file
from photographs import TINY_COUNT, encoded, photograph, pixels


def test_as_dict_names_the_columns_by_field(tiny_file: pathlib.Path) -> None:
    batch = next(iter(fr.Loader(tiny_file, 3, transforms=CROP, as_dict=True)))
    assert list(batch) == ["image", "label"]
    assert batch["image"].shape == (3, 3, 4, 4)
    assert batch["label"].numpy().tolist() == [0, 0, 0]


def test_a_dict_of_fields_names_the_columns(tiny_file: pathlib.Path) -> None:
    fields = {"y": "label", "x": "image", "number": "id"}
    plain = next(iter(fr.Loader(tiny_file, 3, transforms=CROP, fields=list(fields.values()))))
    for as_dict in (False, True):
        loader = fr.Loader(tiny_file, 3, transforms=CROP, fields=fields, as_dict=as_dict)
        batch = next(iter(loader))
        assert list(batch) == ["y", "x", "number"]
        for column, expected in zip(batch.values(), plain, strict=True):
            np.testing.assert_array_equal(column.numpy(), expected.numpy())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"fields": {"x": "imagee"}}, "Did you mean 'image'"),
        ({"fields": {"x": "image", "y": "image"}}, "has 'image' twice"),
        ({"fields": {1: "image"}}, "a name in `fields` has the wrong type: .*found 1"),
        ({"fields": {"x": 1}}, r"`fields\[0\]` has the wrong type"),
        ({"fields": {}}, "`fields` is empty"),
        ({"as_dict": 1}, "`as_dict` has the wrong type: expected True or False"),
        ({"device": "cpu"}, "unknown option 'device'. Use fuelrail.torch.DataLoader"),
        ({"pin_memory": True}, "unknown option 'pin_memory'. Use fuelrail.torch"),
        ({"memory_format": "channels_last"}, "unknown option 'memory_format'. Use fuelrail.torch"),
        ({"batch_transforms": print}, "`batch_transforms` has the wrong type"),
        ({"batch_transforms": [print, 3]}, r"`batch_transforms\[1\]` has .*a function, found 3"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_columns_are_refused(
    tiny_file: pathlib.Path, options: dict[str, object], match: str
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=match):
        fr.Loader(tiny_file, 2, **{"transforms": CROP, **options})


def test_encoded_images_are_bytes_as_they_are_stored(record_file: pathlib.Path) -> None:
    data = fr.open(record_file)
    for labels, images in fr.Loader(data, 8, fields=["label", "encoded"]):
        assert all(type(image) is bytes for image in images)
        assert len(images) == len(labels)
    loader = fr.Loader(data, 31, shuffle=True, fields=["encoded", "id"])
    ((images, ids),) = list(loader)
    assert images == [data[i].image for i in ids.numpy().tolist()]
    assert Image.open(io.BytesIO(images[0])).size == data[int(ids.numpy()[0])].decode().shape[1::-1]


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("transforms", [[], [T.HorizontalFlip(1)]])
def test_images_without_a_common_size_are_a_list(
    record_file: pathlib.Path, layout: str, transforms: list[T.Transform]
) -> None:
    loader = fr.Loader(record_file, 8, transforms=transforms, dtype="uint8", layout=layout)
    seen = 0
    for images, labels in loader:
        assert isinstance(images, list)
        assert len(images) == len(labels)
        for image in images:
            expected = pixels(loader.dataset[seen].image)
            if transforms:
                expected = expected[:, ::-1]
            if layout == "NCHW":
                expected = expected.transpose(2, 0, 1)
            assert image.shape == expected.shape
            np.testing.assert_array_equal(image.numpy(), expected)
            seen += 1
    assert seen == 31


def test_a_shorter_side_gives_a_list_and_an_exact_size_an_array(record_file: pathlib.Path) -> None:
    images, _ = next(iter(fr.Loader(record_file, 4, transforms=[T.Resize(16)])))
    assert [min(image.shape[1:]) for image in images] == [16] * 4
    images, _ = next(iter(fr.Loader(record_file, 4, transforms=[T.Resize((16, 16))])))
    assert images.shape == (4, 3, 16, 16)


def test_rows_keep_their_batchs_memory_and_never_change(record_file: pathlib.Path) -> None:
    loader = fr.Loader(record_file, 4, shuffle=True, dtype="uint8", prefetch=1)
    rows, copies = [], []
    for _ in range(3):
        for images, _ in loader:
            rows.append(images[-1].numpy())
            copies.append(rows[-1].copy())
    del loader, images
    gc.collect()
    for row, copy in zip(rows, copies, strict=True):
        np.testing.assert_array_equal(row, copy)


def test_lists_are_the_same_for_any_number_of_threads(record_file: pathlib.Path) -> None:
    transforms = [T.ColorJitter(0.4), T.Resize(20)]
    runs = [
        list(fr.Loader(record_file, 7, shuffle=True, transforms=transforms, threads=threads))
        for threads in (1, 4)
    ]
    for one, other in zip(*runs, strict=True):
        for a, b in zip(one[0], other[0], strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_a_bad_image_in_a_list_is_passed_over(tmp_path: pathlib.Path) -> None:
    images = [encoded(photograph(i, 20 + i, 30 - i)) for i in range(8)]
    images[3] = b"no image"
    file = record_file(tmp_path / "bad.rec", images)
    loader = fr.Loader(file, 8, fields=["image", "substituted"], on_error="skip")
    with pytest.warns(fr.FuelrailWarning):
        ((rows, substituted),) = list(loader)
    assert substituted.numpy().tolist() == [i == 3 for i in range(8)]
    assert rows[5].shape == (3, 25, 25)


def test_index_is_the_samples_place_in_the_dataset_and_id_is_not(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)[::-3]
    chosen = [5, 2, 9]
    ((indices, ids),) = list(fr.Loader(data, 3, sampler=chosen, fields=["index", "id"]))
    assert indices.numpy().tolist() == chosen
    assert ids.numpy().tolist() == [data[i].id for i in chosen] != chosen
    assert [sample.id for sample in data.subset(indices)] == ids.numpy().tolist()


LABELS = [(1, 0.5, 3), (4, 5, 6), (7, 8, 9.25)]


def test_labels_of_one_width_are_one_array(make_file: Callable[..., pathlib.Path]) -> None:
    file = make_file([encoded(photograph(1, 20, 20))] * 3, LABELS)
    ((labels,),) = list(fr.Loader(file, 3, fields=["label"]))
    assert (labels.dtype, labels.shape) == ("float32", (3, 3))
    np.testing.assert_array_equal(labels.numpy(), np.array(LABELS, np.float32))


def golden(name: str, folder: pathlib.Path) -> fr.Dataset:
    """A copy, so that a sidecar can be written beside it."""
    path = pathlib.Path(__file__).parents[2] / "golden" / name
    return fr.open(shutil.copy(path, folder))


def test_labels_of_different_widths_are_a_list(tmp_path: pathlib.Path) -> None:
    data = golden("mxnet/det.rec", tmp_path)
    assert data.schema[1].shape == (-1,)
    loader = fr.Loader(data, len(data), fields=["label", "id"])
    ((labels, _),) = list(loader)
    assert isinstance(labels, list)
    assert len({len(label) for label in labels}) > 1
    for label, sample in zip(labels, data, strict=True):
        assert label.dtype == "float32"
        np.testing.assert_array_equal(label.numpy(), sample.label)


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
def test_a_batch_without_rows_has_empty_lists(tiny_file: pathlib.Path) -> None:
    loader = fr.Loader(fr.open(tiny_file)[:1], 4, fields=["image", "encoded"], rank=1, world_size=2)
    assert list(loader) == [([], [])]


def test_a_field_of_raw_bytes_is_a_list_of_bytes(tmp_path: pathlib.Path) -> None:
    data = golden("recordio/part1.rec", tmp_path)
    (field,) = data.schema
    assert field.kind == "bytes"
    (records,) = zip(*fr.Loader(data, 7, fields=[field.name]), strict=True)
    assert [record for batch in records for record in batch] == [s[field.name] for s in data]


def test_float16_and_bfloat16_are_float32_rounded(record_file: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    transforms = [T.RandomResizedCrop(33), T.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.1))]
    options = {"batch_size": 31, "transforms": transforms, "fields": ["image"]}
    ((exact,),) = list(fr.torch.DataLoader(record_file, **options))
    for dtype in (torch.float16, torch.bfloat16):
        ((images,),) = list(fr.torch.DataLoader(record_file, dtype=dtype, **options))
        assert images.dtype == dtype
        assert torch.equal(images, exact.to(dtype))


def test_numpy_and_buffers_refuse_bfloat16_and_dlpack_takes_it(tiny_file: pathlib.Path) -> None:
    images, _ = next(iter(fr.Loader(tiny_file, 2, transforms=CROP, dtype="bfloat16")))
    assert (images.dtype, images.nbytes) == ("bfloat16", 2 * 48 * 2)
    for ask in (images.numpy, lambda: np.asarray(images), lambda: np.array(images)):
        with pytest.raises(fr.UnsupportedError, match=r"NumPy has no bfloat16.*from_dlpack"):
            ask()
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(images)
    torch = pytest.importorskip("torch")
    assert torch.from_dlpack(images).dtype == torch.bfloat16


def test_array_is_what_numpy_asks_for(tiny_file: pathlib.Path) -> None:
    ids = next(iter(fr.Loader(tiny_file, TINY_COUNT, fields=["id"])))[0]
    assert np.shares_memory(ids.__array__(), np.asarray(ids))
    assert ids.__array__(np.float32).dtype == np.float32
    assert not np.shares_memory(ids.__array__(copy=True), np.asarray(ids))


def test_records_of_bytes_are_answered_with_how_to_get_them(tmp_path: pathlib.Path) -> None:
    with fr.ffrecord.FileWriter(tmp_path / "own.ffr", 4) as writer:
        for i in range(4):
            writer.write_one(bytes([i]))
    file = tmp_path / "own.ffr"
    for load in (fr.Loader, fr.torch.DataLoader, fr.torch.MapDataset):
        with pytest.raises(fr.InvalidArgumentError, match=r"Pass `fields=\[.data.\]`"):
            load(file)
    assert [batch for (batch,) in fr.Loader(file, 2, fields=["data"])] == [
        [b"\0", b"\1"],
        [b"\2", b"\3"],
    ]
    for load in (fr.Loader, fr.torch.DataLoader, fr.torch.MapDataset):
        for fields in (["data"], ["index"]):
            with pytest.raises(fr.InvalidArgumentError, match="Omit `transforms`"):
                load(file, fields=fields, transforms=[fr.transforms.HorizontalFlip()])
