"""A bad sample is one error that names the sample, the field and the row, and says what to do."""

from __future__ import annotations

import io
import pathlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from fuelrail import fields as F
from photographs import encoded, photograph

SCHEMA = fr.Schema(
    {
        "image": F.Image(),
        "mask": F.Mask(),
        "map": F.Map(),
        "depth": F.Image("image"),
        "objects": {
            "boxes": F.Boxes("xyxy", rows="objects"),
            "labels": F.Label(["car", "bus"], rows="objects"),
        },
        "captions": F.Text(list=True),
        "numbers": F.Tensor("float32", (-1,)),
    }
)
PHOTOGRAPH = encoded(photograph(1, 20, 30))


def sample(**changed: Any) -> dict[str, Any]:
    return {
        "image": PHOTOGRAPH,
        "mask": np.zeros((20, 30), np.uint8),
        "map": np.zeros((20, 30), np.float32),
        "depth": encoded(photograph(2, 40, 60)),
        "objects": {"boxes": [[0, 0, 1, 1], [0, 0, 2, 2]], "labels": [0, 1]},
        "captions": ["one", "two"],
        "numbers": [0.5],
        **changed,
    }


def objects(boxes: Any, labels: Any) -> dict[str, Any]:
    return {"objects": {"boxes": boxes, "labels": labels}}


def png(image: Image.Image) -> bytes:
    return encoded(image, "PNG")


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


BOX = [0, 0, 1, 1]
RGB = Image.new("RGB", (30, 20))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (objects([BOX], [0, 1]), r"fields 'objects\.boxes' and 'objects\.labels' have different numbers of rows: expected 1 .*found 2 .*\. Give each of them one row"),
        (objects([BOX, [3, 0, 2, 1]], [0, 1]), r"a box of the field 'objects\.boxes' is invalid: expected .* a width and height of at least 0, found \(3, 0, 2, 1\) in row 1"),
        (objects([[0, np.nan, 1, 1]], [0]), r"a box of the field 'objects\.boxes' is invalid: .* in row 0"),
        (objects([[0, 0, np.inf, 1]], [0]), r"a box of the field 'objects\.boxes' is invalid: .* in row 0"),
        (objects([BOX, BOX], [0, 2]), r"field 'objects\.labels' has a label that .*: expected 0 to 1.*, found 2 in row 1\. Add the class"),
        (objects([BOX], [-1]), r"field 'objects\.labels' has a label .*found -1 in row 0"),
        ({"mask": np.zeros((20, 20), np.uint8)}, r"the size of field 'mask' does not match its image 'image': expected 20 x 30 .*found 20 x 20 .*Resize one of them, or set `of`"),
        ({"map": np.zeros((20, 32), np.float32)}, "the size of field 'map' does not match its image 'image'"),
        ({"depth": encoded(photograph(1, 30, 30))}, "the size of field 'depth' does not match its image 'image'"),
        ({"mask": png(RGB)}, r"the image of field 'mask' cannot be read \(the image has colours or alpha, .*Store the values as a grey PNG.*encoding=\"rgb\""),
        ({"mask": encoded(RGB.convert("L"))}, r"the image of field 'mask' cannot be read \(the mask is compressed with loss, .* found JPEG\. Store masks as PNG"),
        ({"mask": npy(np.zeros((20, 30), np.float32))}, r"field 'mask' cannot be read \(the numbers of the mask are floats: .*declare the field as a map"),
        ({"mask": npy(np.zeros((20, 30), object))}, r"field 'mask' cannot be read .*Python objects, which are never unpickled"),
        ({"map": npy(np.zeros((20, 30), ">f4"))}, r"field 'map' cannot be read .*big-endian elements.*newbyteorder"),
        ({"map": npy(np.asfortranarray(np.zeros((20, 30), "<f4")))}, r"field 'map' cannot be read .*Fortran order.*numpy\.ascontiguousarray"),
        ({"map": png(RGB)}, r"the image of field 'map' cannot be read \(the image has colours"),
        ({"captions": ["one", "\udcff"]}, r"item 1 of 'captions' is not valid Unicode: .*Replace the surrogates"),
        ({"captions": ["one", b"caf\xe9"]}, r"item 1 of 'captions' has the wrong type: .*Decode it with"),
        ({"numbers": np.array([1, None])}, r"'numbers' has the wrong dtype: expected float32, found an array of Python objects\. Pass an array of numbers"),
        ({"numbers": None}, r"'numbers' has the wrong type: .*found None .*There is no null"),
        ({"image": None}, r"'image' has the wrong type: .*There is no null"),
        ({"captions": [None]}, r"item 0 of 'captions' has the wrong type: .*There is no null"),
        ({"objects": None}, r"'objects' has the wrong type: .*There is no null"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_its_remedy(
    tmp_path: pathlib.Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(fr.CorruptError, match=f"^sample 1: .*{message}"):
        fr.pack([sample(), sample(**changed)], tmp_path / "out.rec", schema=SCHEMA)
    assert not (tmp_path / "out.rec").exists()


@pytest.mark.parametrize("place", [0, 65])
def test_a_missing_or_extra_key_is_named_at_any_sample(tmp_path: pathlib.Path, place: int) -> None:
    schema = {"x": F.Tensor("int64"), "name": F.Text()}
    missing: dict[str, Any] = {"x": 1}
    for wrong, message in [
        (missing, "the sample has no field 'name': found only x. There is no null"),
        ({"x": 1, "nam": "a", "name": "a"}, "the sample has an unknown field 'nam'. Did you mean"),
    ]:
        samples: list[dict[str, Any]] = [{"x": i, "name": "a"} for i in range(70)]
        samples[place] = wrong
        for source in (samples, iter(samples)):
            with pytest.raises(fr.CorruptError, match=f"^sample {place}: .*{message}"):
                fr.pack(source, tmp_path / "out.rec", schema=schema)


@pytest.mark.parametrize(
    ("name", "field", "mode"),
    [
        ("photo", F.Image(), "RGB"),
        ("frames", F.Image(list=True), "RGB"),
        ("mask", F.Mask(), "L"),
        ("panoptic", F.Mask(encoding="rgb"), "RGB"),
        ("depth", F.Map(), "L"),
    ],
)
def test_damage_behind_the_header_is_found_with_decode(
    tmp_path: pathlib.Path, name: str, field: Any, mode: str
) -> None:
    whole = encoded(photograph(1, 40, 60).convert(mode), "PNG")
    good, bad = ([whole, end] if name == "frames" else end for end in (whole, whole[:-400]))
    image = encoded(photograph(2, 40, 60))
    samples = [{"image": image, name: good}, {"image": image, name: bad}]
    schema = fr.Schema({"image": F.Image(), name: field})
    fr.pack(samples, tmp_path / "undecoded.rec", schema=schema)
    packed = fr.pack(samples, tmp_path / "x.rec", schema=schema, decode=True, max_errors=1)
    assert packed.files[0].records == 1
    place = "frames[1]" if name == "frames" else name
    assert f"the image of field '{place}' cannot be read (the PNG" in packed.failures[0].reason


def test_arrays_of_any_layout_are_converted(tmp_path: pathlib.Path) -> None:
    depths = np.arange(600, dtype=np.float32).reshape(20, 30)
    for given in (np.asfortranarray(depths), depths.astype(">f4"), depths[::-1][::-1]):
        made = sample(map=given, numbers=given[:, 1])
        fr.pack([made], tmp_path / "out.rec", schema=SCHEMA, overwrite=True)
        stored = fr.open(tmp_path / "out.rec")[0]
        np.testing.assert_array_equal(stored.decode("map"), depths)
        np.testing.assert_array_equal(stored["numbers"], depths[:, 1])


def test_a_hundred_thousand_objects_are_packed_and_loaded(tmp_path: pathlib.Path) -> None:
    count = 100_000
    boxes = np.tile(np.float32(BOX), (count, 1))
    crowd = sample(**objects(boxes, np.arange(count) % 2))
    fr.pack([crowd, sample()], tmp_path / "out.rec", schema=SCHEMA)
    data = fr.open(tmp_path / "out.rec")
    np.testing.assert_array_equal(data[0]["objects.boxes"], boxes)
    loader = fr.Loader(data, 2, fields=["objects.labels"], ragged="packed", flat=True)
    (batch,) = list(loader)
    assert batch["objects.labels.offsets"].numpy().tolist() == [0, count, count + 2]
    np.testing.assert_array_equal(batch["objects.labels"].numpy()[:count], np.arange(count) % 2)


@pytest.mark.parametrize("ragged", ["list", "pad", "packed"])
def test_a_batch_of_samples_without_objects_keeps_shapes_and_types(
    tmp_path: pathlib.Path, ragged: str
) -> None:
    fr.pack([sample(**objects([], []))] * 3, tmp_path / "out.rec", schema=SCHEMA)
    loader = fr.Loader(tmp_path / "out.rec", 3, fields=["objects"], ragged=ragged, flat=True)
    (batch,) = list(loader)
    for name, dtype, row in [("objects.boxes", "float32", (4,)), ("objects.labels", "int64", ())]:
        column = batch[name]
        arrays = column if ragged == "list" else [column]
        expected = (3, 0, *row) if ragged == "pad" else (0, *row)
        assert [array.shape for array in arrays] == [expected] * len(arrays)
        assert {array.dtype for array in arrays} == {dtype}
        if ragged == "pad":
            assert batch[f"{name}.length"].numpy().tolist() == [[0]] * 3
        if ragged == "packed":
            assert batch[f"{name}.offsets"].numpy().tolist() == [0, 0, 0, 0]


def test_names_at_their_limits_come_back(tmp_path: pathlib.Path) -> None:
    long = "b" * 255
    names = ["a", "A", "with-dash.in.a_path", "list.0.x", "list.1.x", long]
    fr.pack([dict.fromkeys(names, "text")], tmp_path / "out.rec")
    data = fr.open(tmp_path / "out.rec")
    assert list(data.schema.names) == names
    assert data[0]["A"] == data[0]["list"][1]["x"] == data[0][long] == "text"
    for wrong, message in [
        ("b" * 256, "the name of a field is too long: expected at most 255 bytes, found 256"),
        ("", "the field name '' is invalid: expected words of letters"),
        ("a..b", r"the field name 'a\.\.b' is invalid"),
    ]:
        with pytest.raises(fr.InvalidArgumentError, match=message):
            fr.pack([{wrong: "text"}], tmp_path / "wrong.rec")


def test_4096_fields_fit_in_a_record_and_4097_do_not(tmp_path: pathlib.Path) -> None:
    fields = {f"field{i}": i for i in range(4097)}
    with pytest.raises(fr.InvalidArgumentError, match="too many fields: expected at most 4096"):
        fr.pack([fields], tmp_path / "out.rec")
    del fields["field0"]
    fr.pack([fields], tmp_path / "out.rec")
    stored = fr.open(tmp_path / "out.rec")[0]
    assert {name: stored[name] for name in stored.fields} == fields


def test_files_of_two_schemas_are_not_joined(tmp_path: pathlib.Path) -> None:
    def file(name: str, schema: fr.Schema, **values: Any) -> pathlib.Path:
        fr.pack([{"image": PHOTOGRAPH, **values}] * 2, tmp_path / name, schema=schema)
        return tmp_path / name

    image, row = F.Image(), {"boxes": [[0, 0, 9, 9]]}
    first = file("a.rec", fr.Schema({"image": image, "boxes": F.Boxes("xyxy")}), **row)
    other = file("b.rec", fr.Schema({"image": image, "boxes": F.Boxes("xywh")}), **row)
    more = file(
        "c.rec", fr.Schema({"image": image, "boxes": F.Boxes("xyxy"), "t": F.Text()}), **row, t="x"
    )
    equal = file("d.ffr", fr.Schema({"image": image, "boxes": F.Boxes("xyxy")}), **row)
    assert len(fr.open([first, equal])) == 4
    with pytest.raises(
        fr.InvalidArgumentError,
        match=r"b\.rec: part 1 .*expected boxes: .*, xyxy, found boxes: .*, xywh\. Join",
    ):
        fr.open([first, other])
    with pytest.raises(fr.InvalidArgumentError, match="expected no field 't', found t: text"):
        fr.open([first, more])
    cars, buses = (
        file(f"{name}.rec", fr.Schema({"image": image, "kind": F.Label([name])}), kind=0)
        for name in ("car", "bus")
    )
    with pytest.raises(
        fr.InvalidArgumentError,
        match=r"field 'kind' has different class names: expected 'car' as class 0, found 'bus'",
    ):
        fr.open([cars, buses])


def test_an_empty_array_of_one_dimension_is_no_rows(tmp_path: pathlib.Path) -> None:
    empty = objects(np.array([], np.float32), np.array([], np.int64))
    fr.pack([sample(**empty)], tmp_path / "out.rec", schema=SCHEMA)
    assert fr.open(tmp_path / "out.rec")[0]["objects.boxes"].shape == (0, 4)


def test_a_function_in_place_of_samples_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(fr.ArgumentTypeError, match=r"`source` is a function.*call it"):
        fr.pack(lambda: [sample()], tmp_path / "out.rec", schema=SCHEMA)  # type: ignore[arg-type]
