from __future__ import annotations

import io
import os
import pathlib
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

import fuelrail as fr
from photographs import encoded, photograph, pixels


def ids(data: fr.Dataset) -> list[int]:
    return [sample.id for sample in data]


@pytest.fixture(scope="module")
def data(record_file: pathlib.Path) -> fr.Dataset:
    return fr.open(record_file)


def test_a_record_file_has_the_folders_samples(data: fr.Dataset, folder: pathlib.Path) -> None:
    files = sorted(folder.glob("*/*.jpg"))
    assert len(data) == len(files)
    assert data.classes == ["ant", "bee", "cat"]
    for sample, file in zip(data, files, strict=True):
        assert sample.image == file.read_bytes()
        assert data.classes[sample.label] == file.parent.name


def test_a_folder_opens_as_one_sub_folder_a_class(folder: pathlib.Path) -> None:
    data = fr.open(folder)
    files = sorted(folder.glob("*/*.jpg"))
    assert data.classes == ["ant", "bee", "cat"]
    assert [sample.image for sample in data] == [file.read_bytes() for file in files]
    assert [sample.label for sample in data] == [
        data.classes.index(file.parent.name) for file in files
    ]
    assert data[4].place.path == str(files[4])


def test_str_bytes_and_paths_open_alike(record_file: pathlib.Path) -> None:
    prints = {fr.open(name(record_file)).fingerprint for name in (str, pathlib.Path, bytes)}
    assert len(prints) == 1


def test_a_list_is_its_parts_one_after_another(
    data: fr.Dataset, record_file: pathlib.Path, folder: pathlib.Path
) -> None:
    both = fr.open([record_file, data[:3], [str(record_file)]])
    assert len(both) == 2 * len(data) + 3
    assert both[len(data) + 2].image == data[2].image
    assert both[len(data) + 3].image == data[0].image
    assert both.classes == data.classes


def test_parts_with_other_classes_do_not_join(data: fr.Dataset, tiny_file: pathlib.Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="class"):
        fr.open([data, tiny_file])


def test_a_dataset_opens_as_itself(data: fr.Dataset) -> None:
    assert fr.open(data) is data


@pytest.mark.parametrize(
    "source", [5, None, 1.5, {"a": 1}, {"a"}, bytearray(b"a"), np.array(3), fr.Dataset]
)
def test_what_is_no_path_is_refused(source: object) -> None:
    with pytest.raises(
        fr.ArgumentTypeError, match=r"`source` has the wrong type|cannot (be opened|open)"
    ):
        fr.open(source)


def test_a_dataset_of_torch_is_refused_by_its_name_and_not_read() -> None:
    class MyDataset:
        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: int) -> object:
            raise AssertionError

    with pytest.raises(fr.ArgumentTypeError, match=r"MyDataset.*open_python"):
        fr.open(MyDataset())


def test_a_path_with_a_nul_is_refused_and_not_cut(record_file: pathlib.Path) -> None:
    for path in (f"{record_file}\0", os.fsencode(record_file) + b"\0junk"):
        with pytest.raises(fr.InvalidArgumentError, match=r"NUL character: found .*\\x00"):
            fr.open(path)
    with pytest.raises(fr.InvalidArgumentError, match="encoding"):
        fr.open("\ud800.rec")


def test_an_unknown_option_of_open_is_refused(record_file: pathlib.Path) -> None:
    with pytest.raises(fr.ArgumentTypeError, match=r"unknown option 'cache'. Known: source"):
        fr.open(record_file, cache=True)


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(fr.InvalidArgumentError, match="empty"):
        fr.open([])


@given(index=st.integers(-40, 40))
def test_an_index_means_what_it_means_in_a_list(data: fr.Dataset, index: int) -> None:
    listed = range(len(data))
    try:
        expected = listed[index]
    except IndexError:
        with pytest.raises(fr.OutOfRangeError, match=str(index)):
            data[index]
    else:
        assert data[index].place.record == expected


@given(st.slices(31), st.slices(31))
def test_a_slice_means_what_it_means_in_a_list(
    data: fr.Dataset, first: slice, second: slice
) -> None:
    assert ids(data[first][second]) == ids(data)[first][second]


def test_numpy_integers_are_indices(data: fr.Dataset) -> None:
    assert data[np.int32(3)].image == data[3].image


@pytest.mark.parametrize("index", ["image", 1.0, None, True])
def test_what_is_no_integer_is_no_index(data: fr.Dataset, index: object) -> None:
    with pytest.raises(fr.ArgumentTypeError, match="index"):
        data[index]


@given(st.lists(st.integers(-31, 30)))
def test_a_subset_takes_indices_in_their_order(data: fr.Dataset, indices: list[int]) -> None:
    chosen = data.subset(indices)
    assert [sample.place.record for sample in chosen] == [i % 31 for i in indices]
    assert [sample.place.record for sample in data.subset(np.array(indices, np.int64))] == [
        i % 31 for i in indices
    ]


def test_a_subset_beyond_the_end_is_refused(data: fr.Dataset) -> None:
    with pytest.raises(fr.OutOfRangeError, match="31"):
        data.subset([0, 31])


@pytest.mark.parametrize("indices", [None, 3, "12", [1.0], [None], np.array(3), np.zeros((2, 2))])
def test_what_is_no_list_of_indices_is_refused(data: fr.Dataset, indices: object) -> None:
    with pytest.raises(fr.ArgumentTypeError, match=r"expected (a list of integers|an integer)"):
        data.subset(indices)


def test_a_slice_that_a_list_would_refuse_is_refused(data: fr.Dataset) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="the step of a slice is 0"):
        data[::0]
    with pytest.raises(fr.ArgumentTypeError, match="an integer or None"):
        data[0.5:]


def test_an_index_of_any_size_is_out_of_range(data: fr.Dataset) -> None:
    for index in (2**64, -(2**64), 10**5000):
        with pytest.raises(fr.OutOfRangeError, match=r"\[-31, 31\)"):
            data[index]


def test_a_mask_is_no_list_of_indices(data: fr.Dataset) -> None:
    with pytest.raises(fr.ArgumentTypeError, match="flatnonzero"):
        data.subset(np.ones(31, bool))


def test_a_split_is_disjoint_complete_and_repeatable(data: fr.Dataset) -> None:
    parts = data.split({"train": 0.75, "val": 0.25}, seed=3)
    train, val = ids(parts["train"]), ids(parts["val"])
    assert sorted(train + val) == ids(data)
    assert abs(len(val) - 31 / 4) <= 1
    again = data.split({"train": 0.75, "val": 0.25}, seed=3)
    assert ids(again["val"]) == val
    assert ids(data.split({"train": 0.75, "val": 0.25}, seed=4)["val"]) != val


@pytest.mark.parametrize(
    "parts", [{"a": 0.0}, {"a": 0.7, "b": 0.7}, {"a": -0.5}, {"a": float("nan")}]
)
def test_fractions_must_be_fractions(data: fr.Dataset, parts: dict[str, float]) -> None:
    with pytest.raises(fr.InvalidArgumentError):
        data.split(parts)


def test_a_split_that_is_no_mapping_is_refused(data: fr.Dataset) -> None:
    with pytest.raises(fr.ArgumentTypeError, match=r"mapping.*found \[0.5, 0.5\].*Write it like "):
        data.split([0.5, 0.5])
    with pytest.raises(fr.ArgumentTypeError, match="expected a number"):
        data.split({"train": "most"})
    with pytest.raises(fr.ArgumentTypeError, match="expected a number"):
        data.split({"train": None})
    with pytest.raises(fr.ArgumentTypeError, match="expected a number"):
        data.split({"train": True})
    with pytest.raises(fr.InvalidArgumentError, match="seed"):
        data.split({"train": 0.5}, seed=-1)
    with pytest.raises(fr.InvalidArgumentError, match="out of range"):
        data.split({"train": 10**400})


@pytest.mark.parametrize("name", [1, b"train", None, ("train", "val")])
def test_a_part_whose_name_is_no_string_is_refused(data: fr.Dataset, name: object) -> None:
    with pytest.raises(fr.ArgumentTypeError, match="name in `parts` has the wrong type"):
        data.split({name: 0.5})


@pytest.mark.parametrize(
    ("name", "match"), [("\udcff", "Unicode"), ("a\0b", "NUL"), ("", "no name")]
)
def test_a_part_whose_name_is_no_proper_text_is_refused(
    data: fr.Dataset, name: str, match: str
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=match):
        data.split({name: 0.5})


def test_the_fingerprint_is_of_the_content(
    data: fr.Dataset, record_file: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    copy = tmp_path / "other-name.rec"
    copy.write_bytes(record_file.read_bytes())
    assert fr.open(copy).fingerprint == data.fingerprint
    assert data[:30].fingerprint != data.fingerprint


def test_the_schema_names_the_fields(data: fr.Dataset) -> None:
    assert [field.name for field in data.schema] == ["image", "label"]
    assert data.schema[0] == ("image", "image", None, ())
    assert data.schema[1] == ("label", "tensor", "int64", ())
    assert data[0].fields == ("image", "label")


def test_a_misspelt_field_suggests_the_right_one(data: fr.Dataset) -> None:
    with pytest.raises(AttributeError, match="'image'"):
        _ = data[0].imgae
    with pytest.raises(fr.InvalidArgumentError, match="'label'"):
        data[0]["lable"]
    assert not hasattr(data[0], "caption")
    for name in (3, None, b"image"):
        with pytest.raises(fr.ArgumentTypeError, match="field name"):
            data[0][name]
        with pytest.raises(fr.ArgumentTypeError, match="field name"):
            data[0].decode(name)
    with pytest.raises(fr.InvalidArgumentError, match="NUL"):
        data[0]["image\0"]


def test_a_place_says_file_record_and_offset(data: fr.Dataset, record_file: pathlib.Path) -> None:
    assert data[0].place == fr.Place(str(record_file), 0, 0)
    assert data[10:].place(2) == data[12].place
    assert data.place(-1).offset > data.place(5).offset > 0


def test_samples_outlive_the_dataset(record_file: pathlib.Path) -> None:
    sample = fr.open(record_file)[7]
    array = sample.decode()
    again = np.array(array)
    image = sample.image
    del sample
    np.testing.assert_array_equal(array, again)
    np.testing.assert_array_equal(array, pixels(image))


def test_decoding_equals_pillow(data: fr.Dataset) -> None:
    for sample in data:
        array = sample.decode()
        assert array.dtype == np.uint8
        np.testing.assert_array_equal(array, pixels(sample.image))


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "P", "1"])
def test_png_modes_become_rgb(make_file: Callable[..., pathlib.Path], mode: str) -> None:
    image = photograph(1, 33, 21).convert(mode)
    data = fr.open(make_file([encoded(image, "PNG")]))
    np.testing.assert_array_equal(data[0].decode(), np.asarray(image.convert("RGB")))


def test_cmyk_equals_pillow_within_one_level(make_file: Callable[..., pathlib.Path]) -> None:
    image = photograph(1, 33, 21).convert("CMYK")
    jpeg = encoded(image, quality=95)
    array = fr.open(make_file([jpeg]))[0].decode()
    assert np.abs(array.astype(int) - pixels(jpeg)).max() <= 1


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied_unless_ignored(
    make_file: Callable[..., pathlib.Path], orientation: int
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    jpeg = encoded(photograph(2, 37, 53), exif=exif.tobytes(), quality=95)
    sample = fr.open(make_file([jpeg]))[0]
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(jpeg)))
    np.testing.assert_array_equal(sample.decode(), np.asarray(upright))
    np.testing.assert_array_equal(sample.decode(orientation="ignore"), pixels(jpeg))


def test_decode_options_are_checked(data: fr.Dataset) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="'ignore'"):
        data[0].decode(orientation="ignored")
    with pytest.raises(fr.ArgumentTypeError, match="'orientation'"):
        data[0].decode(orientaton="apply")
    with pytest.raises(fr.InvalidArgumentError, match="max_pixels"):
        data[0].decode(max_pixels=0)
    with pytest.raises(fr.InvalidArgumentError, match="label"):
        data[0].decode("label")


def test_an_image_above_the_limit_is_refused_with_its_place(
    data: fr.Dataset, record_file: pathlib.Path
) -> None:
    with pytest.raises(fr.DecodeError) as caught:
        data[3].decode(max_pixels=100)
    assert caught.value.path == str(record_file)
    assert caught.value.record == 3
    assert caught.value.offset == data[3].place.offset


@pytest.mark.parametrize(
    ("labels", "dtype", "shape"),
    [
        ([3, 0, 7], "int64", ()),
        ([0.5, 0, 7], "float32", ()),
        ([(1.5, 2), (3, 4), (5, 6)], "float32", (2,)),
        ([(1, 2, 3), (3, 4, 5), (5, 6, 7)], "float32", (3,)),
    ],
)
def test_labels_keep_their_type_and_width(
    make_file: Callable[..., pathlib.Path], labels: list[object], dtype: str, shape: tuple[int, ...]
) -> None:
    image = encoded(photograph(1, 20, 20))
    data = fr.open(make_file([image] * 3, labels))
    assert data.schema[1] == ("label", "tensor", dtype, shape)
    for sample, label in zip(data, labels, strict=True):
        if shape:
            assert isinstance(sample.label, np.ndarray)
            assert sample.label.dtype == dtype
            np.testing.assert_array_equal(sample.label, np.array(label, dtype))
        else:
            assert sample.label == label
            assert isinstance(sample.label, int if dtype == "int64" else float)


def test_labels_of_differing_width_are_arrays_of_their_own(
    make_file: Callable[..., pathlib.Path],
) -> None:
    image = encoded(photograph(1, 20, 20))
    data = fr.open(make_file([image] * 2, [(1, 2), (3, 4, 5)]))
    assert data.schema[1].shape == (-1,)
    assert list(data[1].label) == [3, 4, 5]
    ((labels,),) = list(fr.Loader(data, 2, fields=["label"]))
    assert [label.numpy().tolist() for label in labels] == [[1, 2], [3, 4, 5]]


def test_it_says_what_it_is(data: fr.Dataset, record_file: pathlib.Path) -> None:
    assert repr(data) == (
        f"<fuelrail.Dataset: 31 samples of image, label; 3 classes; {record_file}>"
    )
    assert "record 4" in repr(data[4])
    assert data.verifies_checksums


def test_a_name_given_to_the_core_is_never_cut(data: fr.Dataset) -> None:
    assert list(data.container.split([("a\0b", 0.5)], 0)) == ["a\0b"]
