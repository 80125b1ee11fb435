"""Batches of samples with many fields: groups, lists, text, rows of differing size, patterns."""

from __future__ import annotations

import gc
import pathlib
import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import fields as F
from fuelrail import transforms as T
from photographs import encoded, photograph, pixels

COUNT = 11
CAMERA = {
    "image": F.Image(),
    "boxes": F.Tensor("float32", (-1, 4), rows="objects"),
    "labels": F.Label(rows="objects"),
}
SCHEMA = fr.Schema(
    {
        "cameras": [CAMERA, CAMERA],
        "pose": F.Tensor("float64", (3, 4)),
        "grid": F.Tensor("int16", (-1, 2, -1)),
        "caption": F.Text(),
        "notes": F.Text(list=True),
        "blob": F.Bytes(),
        "clip": F.Image(list=True),
    }
)
SIZE = [T.Resize((8, 12))]

# The boxes here are tensors without a meaning, of which packing warns.
pytestmark = pytest.mark.filterwarnings("ignore:.* do not move")


def boxes(i: int, camera: int) -> np.ndarray:
    count = (i * 3 + camera) % 4
    corners = np.arange(count * 4).reshape(count, 4) + i + [0, 0, 99, 99]
    return corners.astype(np.float32)


def grid(i: int) -> np.ndarray:
    return (np.arange(i % 3 * 2 * (i % 4)) + i).reshape(i % 3, 2, i % 4).astype(np.int16)


def sample(i: int) -> list[Any]:
    """The values in the order of the fields."""
    values: list[Any] = []
    for camera in range(2):
        own = boxes(i, camera)
        picture = encoded(photograph(2 * i + camera, 30 + i, 40 - camera), "PNG")
        values += [picture, own, np.arange(len(own)) + 10 * camera]
    frames = [encoded(photograph(50 + k, 20, 30), "PNG") for k in range(i % 3)]
    return [
        *values,
        np.full((3, 4), i / 2),
        grid(i),
        f"sample {i} \N{SNOWMAN}",
        [f"note {k}" for k in range(i % 3)],
        bytes(i),
        frames,
    ]


def sample_file(
    path: pathlib.Path, samples: Iterable[list[Any]], schema: fr.Schema = SCHEMA
) -> pathlib.Path:
    fr.pack(map(schema.nest, samples), path, schema=schema, verify_images=False)
    return path


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("samples") / "drive.rec"
    return sample_file(path, map(sample, range(COUNT)))


def one_batch(loader: Any) -> Any:
    (batch,) = list(loader)
    return batch


def plain(value: Any) -> Any:
    """The values of a batch, as NumPy's arrays."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if isinstance(value, (str, bytes)) else np.asarray(value)


def test_a_batch_is_a_nested_dict_of_all_fields(drive: pathlib.Path) -> None:
    batch = one_batch(fr.Loader(drive, COUNT, transforms=SIZE, dtype="uint8"))
    assert list(batch) == ["cameras", "pose", "grid", "caption", "notes", "blob", "clip"]
    assert [list(camera) for camera in batch["cameras"]] == [["image", "boxes", "labels"]] * 2
    assert batch["cameras"][1]["image"].shape == (COUNT, 3, 8, 12)
    assert batch["pose"].shape == (COUNT, 3, 4)
    assert batch["caption"] == [f"sample {i} \N{SNOWMAN}" for i in range(COUNT)]
    assert batch["notes"][:3] == [[], ["note 0"], ["note 0", "note 1"]]
    assert batch["blob"] == [bytes(i) for i in range(COUNT)]
    assert [clip.shape for clip in batch["clip"][:3]] == [(n, 3, 8, 12) for n in range(3)]
    for i in range(COUNT):
        np.testing.assert_array_equal(batch["cameras"][1]["boxes"][i].numpy(), boxes(i, 1))
        np.testing.assert_array_equal(batch["grid"][i].numpy(), grid(i))
        assert batch["cameras"][1]["labels"][i].numpy().tolist() == [
            *range(10, 10 + len(boxes(i, 1)))
        ]


def test_fields_are_names_groups_and_patterns(drive: pathlib.Path) -> None:
    def keys(fields: Any, **options: Any) -> Any:
        return one_batch(fr.Loader(drive, COUNT, fields=fields, transforms=SIZE, **options))

    batch = keys(["cameras.1", "id"])
    assert list(batch) == ["cameras", "id"]
    assert batch["cameras"][0] is None
    assert list(batch["cameras"][1]) == ["image", "boxes", "labels"]
    assert list(keys(["*.image", "caption"], flat=True)) == [
        "cameras.0.image",
        "cameras.1.image",
        "caption",
    ]
    assert list(keys({"x": "cameras.0.image", "y": "caption"})) == ["x", "y"]
    sizes = keys(["cameras.*.image.size"])["cameras"][1]["image.size"].numpy()
    assert sizes.tolist() == [[30 + i, 39] for i in range(COUNT)]


def test_packed_columns_have_offsets_and_padded_columns_lengths(drive: pathlib.Path) -> None:
    ragged = {"*.boxes": "packed", "*.labels": "pad", "grid": "pad", "*": "list"}
    batch = one_batch(fr.Loader(drive, COUNT, ragged=ragged, transforms=SIZE))
    camera = batch["cameras"][1]
    assert list(camera) == ["image", "boxes", "boxes.offsets", "labels", "labels.length"]
    counts = [len(boxes(i, 1)) for i in range(COUNT)]
    assert camera["boxes.offsets"].numpy().tolist() == np.cumsum([0, *counts]).tolist()
    np.testing.assert_array_equal(
        camera["boxes"].numpy(), np.concatenate([boxes(i, 1) for i in range(COUNT)])
    )
    assert camera["labels"].shape == (COUNT, 3)
    assert camera["labels.length"].numpy().tolist() == [[count] for count in counts]
    assert batch["grid"].shape == (COUNT, 2, 2, 3)
    assert batch["grid.length"].shape == (COUNT, 2)
    for i in range(COUNT):
        rows, columns = batch["grid.length"].numpy()[i]
        expected = np.zeros((2, 2, 3), np.int16)
        expected[:rows, :, :columns] = grid(i)
        np.testing.assert_array_equal(batch["grid"].numpy()[i], expected)
    assert isinstance(batch["clip"], list)


def test_one_word_for_ragged_joins_every_column_that_can_be_joined(drive: pathlib.Path) -> None:
    fields = ["clip", "grid", "cameras.0.labels"]
    batch = one_batch(
        fr.Loader(drive, COUNT, fields=fields, ragged="packed", transforms=SIZE, flat=True)
    )
    assert list(batch) == [
        "clip", "clip.offsets", "grid", "cameras.0.labels", "cameras.0.labels.offsets",
    ]  # fmt: skip
    frames = sum(i % 3 for i in range(COUNT))
    assert batch["clip"].shape == (frames, 3, 8, 12)
    assert isinstance(batch["grid"], list)
    batch = one_batch(fr.Loader(drive, COUNT, fields=fields, ragged="pad", transforms=SIZE))
    assert batch["clip"].shape == (COUNT, 2, 3, 8, 12)
    assert not batch["clip"].numpy()[0].any()


def test_a_batch_of_samples_without_objects_has_empty_columns(drive: pathlib.Path) -> None:
    data = fr.open(drive).subset([0, 4, 8])
    for ragged, shape in (("packed", (0, 4)), ("pad", (3, 0, 4))):
        batch = one_batch(fr.Loader(data, 3, fields=["cameras.0.boxes"], ragged=ragged, flat=True))
        own, index = batch.values()
        assert (own.dtype, own.shape) == ("float32", shape)
        assert not index.numpy().any()
    (rows,) = one_batch(fr.Loader(data, 3, fields=["cameras.0.boxes"], flat=True)).values()
    assert [row.shape for row in rows] == [(0, 4)] * 3


def test_images_without_a_common_size_may_be_padded(drive: pathlib.Path) -> None:
    fields = {"x": "cameras.0.image"}
    options: dict[str, Any] = {"fields": fields, "dtype": "uint8", "layout": "NHWC"}
    batch = one_batch(fr.Loader(drive, COUNT, ragged="pad", **options))
    assert list(batch) == ["x", "x.length"]
    assert batch["x"].shape == (COUNT, 40, 40, 3)
    expected = np.zeros((40, 40, 3), np.uint8)
    expected[:33] = pixels(sample(3)[0])
    np.testing.assert_array_equal(batch["x"].numpy()[3], expected)
    assert batch["x.length"].numpy()[3].tolist() == [33, 40]


def test_a_packed_column_becomes_a_jagged_tensor_in_one_call(drive: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(drive, COUNT, fields=["*.boxes"], ragged="packed")
    camera = one_batch(loader)["cameras"][0]
    jagged = torch.nested.nested_tensor_from_jagged(camera["boxes"], camera["boxes.offsets"])
    assert jagged.values().data_ptr() == camera["boxes"].data_ptr()
    for i, own in enumerate(jagged.unbind()):
        np.testing.assert_array_equal(own.numpy(), boxes(i, 0))


def test_each_image_may_have_its_own_transforms_dtype_and_layout(drive: pathlib.Path) -> None:
    batch = one_batch(
        fr.Loader(
            drive,
            COUNT,
            transforms={"cameras.0.*": [T.CenterCrop(10)], "*": [T.CenterCrop(6)]},
            dtype={"cameras.1.image": "uint8", "*": "float16"},
            layout={"clip": "NHWC"},
            fields=["*.image", "clip"],
        )
    )
    left, right = (camera["image"] for camera in batch["cameras"])
    assert (left.dtype, left.shape) == ("float16", (COUNT, 3, 10, 10))
    assert (right.dtype, right.shape) == ("uint8", (COUNT, 3, 6, 6))
    assert batch["clip"][2].shape == (2, 6, 6, 3)
    without = fr.Loader(drive, COUNT, transforms={"clip": SIZE}, fields=["clip", "cameras.0.image"])
    assert isinstance(one_batch(without)["cameras"][0]["image"], list)


def test_leaders_draw_apart_and_frames_of_a_clip_together(drive: pathlib.Path) -> None:
    same = encoded(photograph(1, 40, 60), "PNG")
    path = drive.parent / "same.rec"
    schema = fr.Schema({"left": F.Image(), "right": F.Image(), "clip": F.Image(list=True)})
    sample_file(path, [[same, same, [same, same]]] * 5, schema)
    loader = fr.Loader(path, 5, seed=3, transforms=[T.RandomCrop(16)], fields=["*"])
    left, right, clips = one_batch(loader)
    assert not np.array_equal(left.numpy(), right.numpy())
    for clip in clips:
        np.testing.assert_array_equal(clip.numpy()[0], clip.numpy()[1])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (
            {"fields": ["cameras.*.imag"]},
            r"matches no field: found 'cameras\.\*\.imag'\. Did you mean 'cameras\.0\.image'",
        ),
        ({"fields": ["camera"]}, "Did you mean 'cameras'"),
        ({"fields": ["cameras", "*.image"]}, "selects 'cameras.0.image' twice"),
        ({"fields": {"x": "cameras"}}, "one name, 'x', for several fields: found 'cameras'"),
        (
            {
                "fields": {"b.offsets": "pose", "b": "cameras.0.boxes"},
                "ragged": {"*.boxes": "packed"},
            },
            "gives two columns the name 'b.offsets'",
        ),
        ({"transforms": {"*.imag": SIZE}}, "a pattern of `transforms` matches no field"),
        ({"transforms": {"*.boxes": SIZE}}, "a pattern of `transforms` matches no image"),
        (
            {"transforms": {"cameras.*": SIZE, "*.image": SIZE}},
            "two patterns of `transforms` match the field 'cameras.0.image'",
        ),
        ({"transforms": {"clip": T.CenterCrop(3)}}, r"`transforms\['clip'\]` is not a list"),
        ({"transforms": {3: SIZE}}, "a pattern of `transforms` has the wrong type"),
        ({"ragged": {"*.boxes": "packd"}}, r"`ragged\['\*.boxes'\]` is invalid.*'packed'"),
        ({"ragged": {"grid": "packed"}}, "the column 'grid' cannot be packed"),
        ({"ragged": {"*.boxes": "pad", "cameras.0.*": "packed"}}, "two patterns of `ragged`"),
        ({"ragged": "padded"}, "`ragged` is invalid.*Did you mean 'pad'"),
        ({"dtype": {"pose": "uint8"}}, "a pattern of `dtype` matches no image"),
        ({"layout": {"clip": "HWC"}}, r"`layout\['clip'\]` is invalid"),
        ({"flat": 1}, "`flat` has the wrong type"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_name_or_pattern_that_does_not_fit_is_refused(
    drive: pathlib.Path, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=match):
        fr.Loader(drive, 2, **options)


def test_batches_are_the_same_for_any_number_of_threads(drive: pathlib.Path) -> None:
    options: dict[str, Any] = {
        "shuffle": True,
        "ragged": {"*.boxes": "packed", "*": "pad"},
        "transforms": {"*.image": [T.RandomResizedCrop(16)], "clip": [T.Resize(10)]},
    }
    one, four = (
        [plain(batch) for batch in fr.Loader(drive, 3, threads=threads, **options)]
        for threads in (1, 4)
    )
    assert pickle.dumps(one) == pickle.dumps(four)


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
def test_a_substitute_brings_all_its_fields(tmp_path: pathlib.Path) -> None:
    samples = [sample(i) for i in range(COUNT)]
    samples[4][3] = b"no image"  # of the second camera
    path = sample_file(tmp_path / "bad.rec", samples)
    options: dict[str, Any] = {"transforms": SIZE, "ragged": {"*.labels": "packed"}, "flat": True}
    fields = ["id", "substituted", "cameras", "caption"]
    batch = one_batch(fr.Loader(path, COUNT, fields=fields, on_error="skip", **options))
    assert batch["substituted"].numpy().tolist() == [i == 4 for i in range(COUNT)]
    numbers = batch["id"].numpy().tolist()
    assert numbers[4] != 4
    assert batch["caption"] == [sample(i)[8] for i in numbers]
    counts = [len(boxes(i, 0)) for i in numbers]
    assert batch["cameras.0.labels.offsets"].numpy().tolist() == np.cumsum([0, *counts]).tolist()
    assert [len(own) for own in batch["cameras.0.boxes"]] == counts
    batches = iter(fr.Loader(path, 3, fields=fields, **options))
    assert len(next(batches)["caption"]) == 3
    with pytest.raises(fr.Error, match="record 4"):
        next(batches)
    assert next(batches)["caption"] == [sample(i)[8] for i in (6, 7, 8)]


def test_joined_columns_that_are_kept_never_change(drive: pathlib.Path) -> None:
    loader = fr.Loader(drive, 3, shuffle=True, fields=["*.boxes", "grid"], ragged="pad", prefetch=1)
    kept, copies = [], []
    for _ in range(4):
        for batch in loader:
            kept.append(batch["grid"].numpy())
            copies.append(kept[-1].copy())
    del loader, batch
    gc.collect()
    for array, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_batch_transforms_get_nested_dicts(drive: pathlib.Path) -> None:
    def halve(batch: Any, context: fr.BatchContext) -> Any:
        batch["pose"] = batch["pose"] / 2
        batch["seen"] = context.positions.tolist()
        return batch

    loader = fr.torch.DataLoader(drive, COUNT, transforms=SIZE, batch_transforms=[halve])
    batch = one_batch(loader)
    assert batch["seen"] == [*range(COUNT)]
    assert "position" not in batch
    assert batch["pose"][4, 0, 0] == 1
    assert batch["caption"][1].startswith("sample 1")


def test_channels_last_applies_to_clips_too(drive: pathlib.Path) -> None:
    options: dict[str, Any] = {"transforms": SIZE, "fields": ["clip"], "ragged": "pad"}
    clip = one_batch(fr.torch.DataLoader(drive, COUNT, **options))["clip"]
    last = one_batch(
        fr.torch.DataLoader(drive, COUNT, memory_format=torch.channels_last, **options)
    )["clip"]
    assert last.stride() != clip.stride()
    assert torch.equal(clip, last)


def test_a_loader_with_patterns_can_be_pickled(drive: pathlib.Path) -> None:
    options: dict[str, Any] = {
        "fields": ["cameras"],
        "transforms": {"cameras.*": SIZE},
        "ragged": {"*.boxes": "packed"},
        "flat": True,
    }
    loader = fr.Loader(drive, 4, **options)
    copy = pickle.loads(pickle.dumps(loader))
    assert pickle.dumps([*map(plain, copy)]) == pickle.dumps([*map(plain, loader)])


def test_map_datasets_take_groups_and_patterns(drive: pathlib.Path) -> None:
    dataset = fr.torch.MapDataset(
        drive, fields=["cameras.0", "caption"], transforms={"*.image": SIZE}
    )
    picture, own, labels, caption = pickle.loads(pickle.dumps(dataset))[3]
    assert picture.shape == (3, 8, 12)
    np.testing.assert_array_equal(own.numpy(), boxes(3, 0))
    assert len(labels) == len(own)
    assert caption.startswith("sample 3")


def test_a_sample_has_groups_and_dotted_names(drive: pathlib.Path) -> None:
    one = fr.open(drive)[5]
    assert one.id == 5
    np.testing.assert_array_equal(one["cameras"][1]["boxes"], boxes(5, 1))
    np.testing.assert_array_equal(one["cameras.1"]["boxes"], one.cameras[1]["boxes"])
    np.testing.assert_array_equal(one["cameras.1.boxes"], boxes(5, 1))
    assert one.caption == "sample 5 \N{SNOWMAN}"
    assert one.notes == ["note 0", "note 1"]
    assert one.pose.shape == (3, 4)
    assert list(one.nested()) == [
        "cameras", "pose", "grid", "caption", "notes", "blob", "clip",
    ]  # fmt: skip
    assert one.nested()["cameras"][0]["image"] == sample(5)[0]
    np.testing.assert_array_equal(one.decode("cameras.1.image"), pixels(sample(5)[3]))
    assert "cameras" in dir(one)
    with pytest.raises(AttributeError, match="Did you mean 'cameras'"):
        one.camera  # noqa: B018
    with pytest.raises(fr.InvalidArgumentError, match=r"unknown field 'cameras\.2'"):
        one["cameras.2"]


def test_a_flat_dataset_without_image_and_label_has_all_fields_by_default(
    tmp_path: pathlib.Path,
) -> None:
    schema = fr.Schema({"image": F.Image(), "caption": F.Text()})
    picture = encoded(photograph(1, 8, 12), "PNG")
    path = sample_file(tmp_path / "captions.rec", [[picture, "one"], [picture, ""]], schema)
    images, captions = one_batch(fr.Loader(path, 2, transforms=SIZE))
    assert images.shape == (2, 3, 8, 12)
    assert captions == ["one", ""]


def test_a_field_comes_before_the_loaders_own_column_of_that_name(tmp_path: pathlib.Path) -> None:
    names = ["id", "index", "position", "valid", "substituted"]
    rows = [{**dict.fromkeys(names, -i), "encoded": str(i)} for i in range(5)]
    fr.pack(rows, tmp_path / "rows.rec")
    own = [f"loader:{name}" for name in names]
    places = []

    def seen(batch: Any, context: fr.BatchContext) -> Any:
        places.extend(context.positions.tolist())
        return batch

    options: dict[str, Any] = {"as_dict": True, "last_batch": "pad", "batch_transforms": [seen]}
    batches = list(fr.Loader(tmp_path / "rows.rec", 3, fields=["*", *own], **options))
    assert list(batches[0]) == [*names, "encoded", *own]
    for name in names:
        assert batches[1][name].numpy().tolist() == [-3, -4, -4]
    assert batches[1]["encoded"] == ["3", "4", "4"]
    assert batches[1]["loader:id"].numpy().tolist() == [3, 4, 4]
    assert batches[1]["loader:valid"].numpy().tolist() == [True, True, False]
    assert places == [*range(6)]
    columns = one_batch(fr.Loader(tmp_path / "rows.rec", 5))
    assert columns[0].numpy().tolist() == [0, -1, -2, -3, -4]


@pytest.mark.parametrize("image", [3, ["a", "b"], np.zeros((2, 2), "f")])
def test_a_field_called_encoded_is_not_the_bytes_of_an_image_that_is_none(
    tmp_path: pathlib.Path, image: Any
) -> None:
    path = tmp_path / "encoded.rec"
    fr.pack([{"image": image, "encoded": i} for i in range(2)], path)
    (numbers,) = one_batch(fr.Loader(path, 2, fields=["encoded"]))
    assert numbers.numpy().tolist() == [0, 1]
    with pytest.raises(fr.InvalidArgumentError, match="unknown name: found 'loader:encoded'"):
        fr.Loader(path, 2, fields=["loader:encoded"])


def test_a_field_called_data_is_no_sign_of_raw_bytes(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "data.rec"
    fr.pack([{"data": np.full(3, i, "f"), "target": i} for i in range(2)], path)
    columns = one_batch(fr.Loader(path, 2))
    assert columns[0].numpy().tolist() == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(fr.InvalidArgumentError, match="unknown name: found 'image'"):
        fr.Loader(path, 2, fields=["image"])


def test_rows_that_no_schema_of_python_states_are_loaded(tmp_path: pathlib.Path) -> None:
    rows = F.Tensor("int64", (-1,), rows="group")
    schema = fr.Schema({"a": {"x": rows}, "b": {"y": rows}, "z": F.Text()})
    x, y, z = schema.native
    joined = (x, (*y[:6], 0, *y[7:]), z)  # one group in two dicts, as another program may write it
    vars(schema)["native"] = joined
    path = sample_file(tmp_path / "joined.rec", [[[1, 2], [3, 4], "text"]], schema)
    batch = one_batch(fr.Loader(path, 1))
    assert batch["b"]["y"][0].numpy().tolist() == [3, 4]
    assert fr.open(path)[0]["a.x"].tolist() == [1, 2]
    with pytest.raises(
        fr.UnsupportedError, match=r"the `rows` of the field 'b\.y' cannot be stated.*found 'a\.x'"
    ):
        fr.open(path).schema  # noqa: B018
