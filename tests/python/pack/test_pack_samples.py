"""`fuelrail.pack` of dicts: what is stored, and what is refused."""

from __future__ import annotations

import io
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fuelrail as fr
from fuelrail import fields as F
from photographs import encoded, photograph

SCHEMA = fr.Schema(
    {
        "cameras": [
            {
                "image": F.Image(),
                "boxes": F.Boxes("xyxy", rows="objects"),
                "labels": F.Label(["car", "bus"], rows="objects"),
            }
            for _ in range(2)
        ],
        "caption": F.Text(),
        "captions": F.Text(list=True),
        "number": F.Tensor("uint16"),
    }
)


def sample(i: int) -> dict[str, Any]:
    return {
        "cameras": [
            {
                "image": encoded(photograph(i + k, 20, 30 + i)),
                "boxes": [[k, 1, 2, 3]] * (i % 3),
                "labels": [k] * (i % 3),
            }
            for k in range(2)
        ],
        "caption": f"sample {i}",
        "captions": ["é"] * (i % 2),
        "number": i,
    }


SAMPLES = [sample(i) for i in range(10)]


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Source:
    """An indexable source that can fail."""

    fingerprint: object = None

    def __init__(self, fails_at: int | None = None) -> None:
        self.fails_at = fails_at
        self.asked: list[int] = []

    def __len__(self) -> int:
        return len(SAMPLES)

    def __getitem__(self, index: int) -> dict[str, Any]:
        self.asked.append(index)
        if index == self.fails_at:
            raise RuntimeError("the disk is on fire")
        return SAMPLES[index]


@pytest.mark.parametrize("extension", [".rec", ".ffr"])
def test_samples_come_back_as_they_were(tmp_path: pathlib.Path, extension: str) -> None:
    out = tmp_path / f"out{extension}"
    report = fr.pack(SAMPLES, out, schema=SCHEMA)
    assert [file.records for file in report.files] == [10]
    data = fr.open(out)
    assert data.schema == SCHEMA
    for i, given in enumerate(SAMPLES):
        found = data[i]
        assert found.id == i
        for k, camera in enumerate(given["cameras"]):
            assert found[f"cameras.{k}.image"] == camera["image"]
            assert found[f"cameras.{k}.boxes"].tolist() == camera["boxes"]
            assert found[f"cameras.{k}.boxes"].shape == (i % 3, 4)
            assert found[f"cameras.{k}.labels"].tolist() == camera["labels"]
        assert found["caption"] == given["caption"]
        assert found["captions"] == given["captions"]
        assert found["number"] == i


def test_the_bytes_are_the_same_for_any_number_of_threads_and_any_source(
    tmp_path: pathlib.Path,
) -> None:
    made = []
    for number, (source, threads) in enumerate(
        [(SAMPLES, 1), (Source(), 3), (iter(SAMPLES), 1), ((s for s in SAMPLES), 4)]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        fr.pack(source, folder / "out.rec", schema=SCHEMA, threads=threads)
        made.append(contents(folder))
    assert all(one == made[0] for one in made)


def test_parts_join_to_the_file_that_one_job_writes(tmp_path: pathlib.Path) -> None:
    fr.pack(SAMPLES, tmp_path / "one.rec", schema=SCHEMA)
    fr.pack(SAMPLES, tmp_path / "out.rec", schema=SCHEMA, nsplit=3)
    for part in range(3):
        fr.pack(SAMPLES, tmp_path / "alone.rec", schema=SCHEMA, nsplit=3, part=part)
        name = f"part{part:03}.rec"
        assert (tmp_path / f"out.{name}").read_bytes() == (tmp_path / f"alone.{name}").read_bytes()
    fr.merge(tmp_path / "joined.rec", [tmp_path / f"out.part{i:03}.rec" for i in range(3)])
    assert (tmp_path / "joined.rec").read_bytes() == (tmp_path / "one.rec").read_bytes()
    assert fr.open(tmp_path / "joined.rec").schema == SCHEMA


def test_a_run_resumes_after_the_samples_that_it_has(tmp_path: pathlib.Path) -> None:
    fr.pack(SAMPLES, tmp_path / "whole.rec", schema=SCHEMA)
    with pytest.raises(RuntimeError, match="the disk is on fire") as caught:
        fr.pack(Source(6), tmp_path / "out.rec", schema=SCHEMA, threads=1, resume=True)
    notes = getattr(caught.value, "__notes__", [])
    assert any("sample 6" in note for note in notes)
    assert not (tmp_path / "out.rec").exists()
    again = Source()
    fr.pack(again, tmp_path / "out.rec", schema=SCHEMA, threads=1, resume=True)
    assert again.asked == [0, 6, 7, 8, 9]
    assert (tmp_path / "out.rec").read_bytes() == (tmp_path / "whole.rec").read_bytes()


def test_a_source_with_another_fingerprint_is_another_job(tmp_path: pathlib.Path) -> None:
    def run(source: Source, fingerprint: object) -> None:
        source.fingerprint = fingerprint
        fr.pack(source, tmp_path / "out.rec", schema=SCHEMA, threads=1, resume=True)

    with pytest.raises(RuntimeError):
        run(Source(6), "/data/" * 30 + "v1")
    other = Source()
    with pytest.warns(fr.FuelrailWarning, match="different job"):
        run(other, "/data/" * 30 + "v2")
    assert other.asked == [*range(10)]
    with pytest.raises(
        fr.ArgumentTypeError, match="the `fingerprint` of the samples has the wrong"
    ):
        run(other, other.__len__)


def test_a_run_with_other_roles_starts_over(tmp_path: pathlib.Path) -> None:
    class Failing(list[dict[str, int]]):
        def __getitem__(self, i: Any) -> Any:
            if i == 6:
                raise RuntimeError("the disk is on fire")
            return super().__getitem__(i)

    numbers = [{"x": i} for i in range(9)]
    whole = tmp_path / "whole.rec"
    fr.pack(numbers, whole, schema={"x": F.Label()})
    options: dict[str, Any] = {"threads": 1, "resume": True}
    with pytest.raises(RuntimeError, match="on fire"):
        fr.pack(Failing(numbers), tmp_path / "out.rec", schema={"x": F.Tensor("int64")}, **options)
    with pytest.warns(fr.FuelrailWarning, match="belongs to a different job"):
        fr.pack(numbers, tmp_path / "out.rec", schema={"x": F.Label()}, **options)
    assert (tmp_path / "out.rec").read_bytes() == whole.read_bytes()


def test_an_output_that_equals_the_result_is_kept(tmp_path: pathlib.Path) -> None:
    fr.pack(SAMPLES, tmp_path / "out.rec", schema=SCHEMA)
    before = contents(tmp_path)
    report = fr.pack(SAMPLES, tmp_path / "out.rec", schema=SCHEMA, resume=True)
    assert [file.was_there for file in report.files] == [True]
    assert contents(tmp_path) == before
    code = repr(SCHEMA).replace("bus", "van")
    others = eval(code, {"fr": fr, "F": F})
    for changed, schema, message in [
        (SAMPLES, others, "fields with other class names"),
        ([*SAMPLES[:-1], sample(0)], SCHEMA, "record 9, which differs"),
        (SAMPLES[:-1], SCHEMA, "more records than the job makes"),
    ]:
        with pytest.raises(fr.IoError, match=message):
            fr.pack(changed, tmp_path / "out.rec", schema=schema, resume=True)
    assert contents(tmp_path) == before


def test_a_failing_iterator_raises_its_own_exception(tmp_path: pathlib.Path) -> None:
    def samples() -> Iterator[dict[str, Any]]:
        yield from SAMPLES[:3]
        raise KeyError("no more")

    with pytest.raises(KeyError, match="no more") as caught:
        fr.pack(samples(), tmp_path / "out.rec", schema=SCHEMA, threads=2)
    assert caught.value.__notes__ == ["raised by the source of sample 3"]  # type: ignore[attr-defined]
    with pytest.raises(KeyError, match="no more") as caught:
        fr.pack(samples(), tmp_path / "out.rec")  # the first samples are read before packing
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == ["raised by the source of sample 3"]
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_is_not_samples_is_refused_with_what_to_pass(tmp_path: pathlib.Path) -> None:
    for source, schema, message in [
        (SAMPLES[0], SCHEMA, r"`schema` applies only.*for one sample, pass a list: \[sample\]"),
        ({"x": 3}, None, r"`source` has the wrong type.*for one sample, pass a list: \[sample\]"),
        ([(b"image", 3)], None, 'a sample has the wrong type: expected a dict.*{"image": image,'),
    ]:
        with pytest.raises(fr.InvalidArgumentError, match=message):
            fr.pack(source, tmp_path / "out.rec", schema=schema)  # type: ignore[arg-type]


class Described(list[Any]):
    """Samples with what they are."""


def test_a_source_may_say_its_schema_or_roles(tmp_path: pathlib.Path) -> None:
    samples = Described(
        [{"pixels": np.zeros((30, 40, 3), np.uint8), "boxes": [[0.0, 1, 2, 3]]}] * 2
    )
    samples.roles = {"pixels": F.Image(encode="npy"), "boxes": F.Boxes("xyxy")}  # type: ignore[attr-defined]
    fr.pack(samples, tmp_path / "a.rec")
    found = fr.open(tmp_path / "a.rec").schema.fields
    assert isinstance(found["pixels"], F.Image)
    assert isinstance(found["boxes"], F.Boxes)
    samples.schema = fr.Schema(  # type: ignore[attr-defined]
        {"pixels": F.Tensor("uint8", (30, 40, 3)), "boxes": F.Tensor("float32", (-1, 4))}
    )
    samples.roles = ["of something else"]  # type: ignore[attr-defined]
    fr.pack(samples, tmp_path / "b.rec")
    assert fr.open(tmp_path / "b.rec").schema == samples.schema  # type: ignore[attr-defined]


def test_an_inferred_schema_is_stored_and_sample_65_is_named(tmp_path: pathlib.Path) -> None:
    samples: list[dict[str, Any]] = [{"x": i, "y": [0.5] * (i % 4)} for i in range(70)]
    for source in (samples, iter(samples)):
        fr.pack(source, tmp_path / "out.rec", overwrite=True)
        data = fr.open(tmp_path / "out.rec")
        assert data.schema == fr.Schema({"x": F.Tensor("int64"), "y": F.Tensor("float32", (-1,))})
        assert [one["x"] for one in data] == list(range(70))
    for surprise, message in [
        ({"x": 0.5, "y": []}, "'x' has the wrong dtype: expected int64, found float. The schema was"),
        ({"x": 1}, "the sample has no field 'y'"),
        ({"x": 1, "y": [], "z": 2}, "the sample has an unknown field 'z'"),
        ({"x": 1, "y": None}, "There is no null"),
    ]:  # fmt: skip
        samples[65] = surprise
        for source in (samples, iter(samples)):
            with pytest.raises(fr.CorruptError, match=f"sample 65: .*{message}"):
                fr.pack(source, tmp_path / "out.rec", overwrite=True)
    report = fr.pack(samples, tmp_path / "out.rec", overwrite=True, max_errors=1)
    assert [(failure.path, report.files[0].records) for failure in report.failures] == [
        ("sample 65", 69)
    ]


def test_images_are_paths_bytes_or_pixels(tmp_path: pathlib.Path) -> None:
    pixels = np.asarray(photograph(3, 24, 32))
    path = tmp_path / "a.png"
    Image.fromarray(pixels).save(path)
    mask = (np.arange(24 * 32, dtype=np.uint16) * 50).reshape(24, 32)
    schema = fr.Schema(
        {
            "path": F.Image(),
            "jpeg": F.Image(quality=80),
            "png": F.Image(encode="png"),
            "npy": F.Image(encode="npy"),
            "mask": F.Mask("path"),
            "panoptic": F.Mask("path", encoding="rgb"),
            "depth": F.Map("path"),
        }
    )
    given = {
        "path": path,
        "jpeg": pixels,
        "png": pixels,
        "npy": pixels,
        "mask": mask,
        "panoptic": mask.astype(np.int32) * 200,
        "depth": mask.astype(np.float32) / 7,
    }
    fr.pack([given], tmp_path / "out.rec", schema=schema)
    (found,) = fr.open(tmp_path / "out.rec")
    assert found["path"] == path.read_bytes()
    assert found["jpeg"][:3] == b"\xff\xd8\xff"
    with Image.open(io.BytesIO(found["jpeg"])) as jpeg:
        assert np.abs(np.asarray(jpeg).astype(int) - pixels).mean() < 10
    for name, expected in [("png", pixels), ("mask", mask)]:
        with Image.open(io.BytesIO(found[name])) as image:
            assert image.format == "PNG"
            assert np.array_equal(np.asarray(image), expected)
    with Image.open(io.BytesIO(found["panoptic"])) as image:
        wide = np.asarray(image).astype(np.int32)
        assert np.array_equal(wide @ [1, 256, 65536], given["panoptic"])
    assert np.array_equal(np.load(io.BytesIO(found["npy"])), pixels)
    assert np.array_equal(np.load(io.BytesIO(found["depth"])), given["depth"])


def test_a_sample_that_cannot_be_packed_is_named_with_its_field(tmp_path: pathlib.Path) -> None:
    schema = fr.Schema({"image": F.Image(), "mask": F.Mask(), "boxes": F.Boxes("xyxy")})
    good = {
        "image": encoded(photograph(1, 20, 30)),
        "mask": np.zeros((20, 30), np.uint8),
        "boxes": [[0, 0, 30, 20]],
    }
    for changed, message in [
        ({"image": b"no image"}, "the image of field 'image' cannot be read"),
        ({"image": tmp_path / "absent.jpg"}, r"the image of field 'image' cannot be read.*absent\.jpg"),
        ({"mask": np.zeros((20, 20), np.uint8)}, "the size of field 'mask' does not match its image"),
        ({"boxes": [[0, 0, 1, 1], [3, 0, 2, 1]]}, "a box of the field 'boxes' is invalid.*in row 1"),
    ]:  # fmt: skip
        with pytest.raises(fr.CorruptError, match=f"sample 1: .*{message}"):
            fr.pack([good, {**good, **changed}], tmp_path / "out.rec", schema=schema)
    fr.pack([{**good, "mask": np.zeros((41, 60), np.uint8)}], tmp_path / "out.rec", schema=schema)


def test_boxes_far_outside_are_counted_or_refused(tmp_path: pathlib.Path) -> None:
    schema = fr.Schema({"image": F.Image(), "boxes": F.Boxes("xywh")})
    image = encoded(photograph(1, 20, 30))
    samples = [
        {"image": image, "boxes": [[-20, 0, 70, 30]]},
        {"image": image, "boxes": [[0, 0, 61, 1]]},
    ]
    with pytest.warns(
        fr.FuelrailWarning, match=r"its size: 1; the first is \[0, 0, 61, 1\] in sample 1"
    ):
        fr.pack(samples, tmp_path / "out.rec", schema=schema)
    with pytest.raises(fr.CorruptError, match=r"sample 1: .*row 0 of 'boxes' is a box far outside"):
        fr.pack(samples, tmp_path / "out.rec", schema=schema, strict=True, overwrite=True)


def test_an_image_with_a_palette_may_be_a_mask(tmp_path: pathlib.Path) -> None:
    image = io.BytesIO()
    Image.new("P", (8, 8)).save(image, "PNG")
    given = {"image": image.getvalue(), "mask": image.getvalue()}
    schema = {"image": F.Image(), "mask": F.Mask()}
    with pytest.warns(
        fr.FuelrailWarning, match="of the field 'image' with a palette: 1; the first is in sample 0"
    ):
        fr.pack([given], tmp_path / "out.rec", schema=schema)


def test_masks_of_several_types_are_reported(tmp_path: pathlib.Path) -> None:
    schema = {"image": F.Image(), "mask": F.Mask()}
    masks = [np.zeros((20, 30), dtype) for dtype in (np.uint8, np.uint16, np.uint8)]
    samples = [{"image": encoded(photograph(1, 20, 30)), "mask": mask} for mask in masks]
    with pytest.warns(fr.FuelrailWarning, match='loader needs dtype={"mask": "uint16"}'):
        fr.pack(samples, tmp_path / "out.rec", schema=schema)


def test_options_that_do_not_apply_are_refused(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out.rec"
    for options, message in [
        ({"resize": 20}, "`resize` does not apply to samples of many fields"),
        ({"quality": 20}, "`quality` does not apply"),
        ({"classes": ["a"]}, "`classes` does not apply"),
        ({"schema": {"x": "int"}}, "'x' is not a field"),
    ]:
        with pytest.raises(fr.InvalidArgumentError, match=message):
            fr.pack(SAMPLES, out, **options)  # type: ignore[arg-type]
    for options in ({"nsplit": 2}, {"split": {"a": 0.5}}, {"resume": True}, {"max_errors": 0.5}):
        with pytest.raises(fr.InvalidArgumentError, match="samples whose number is unknown"):
            fr.pack(iter(SAMPLES), out, schema=SCHEMA, **options)  # type: ignore[arg-type]
    with pytest.raises(fr.UnsupportedError, match="cannot store samples of many fields"):
        fr.pack(SAMPLES, tmp_path / "out.bzna", schema=SCHEMA)
    with pytest.raises(fr.InvalidArgumentError, match="there are no samples to pack"):
        fr.pack([], out)
    for options in ({"schema": SCHEMA}, {"strict": True}):
        with pytest.raises(fr.InvalidArgumentError, match="applies only to samples"):
            fr.pack("folder", out, **options)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_progress_counts_samples(tmp_path: pathlib.Path) -> None:
    for source, total in [(SAMPLES, 10), (iter(SAMPLES), 0)]:
        told: list[fr.PackProgress] = []
        fr.pack(source, tmp_path / "out.rec", schema=SCHEMA, overwrite=True, progress=told.append)
        assert (told[-1].done, told[-1].total) == (10, total)


def test_files_agree_on_the_class_names_of_a_field(tmp_path: pathlib.Path) -> None:
    given = [{"image": encoded(photograph(1, 20, 30)), "kind": 1}]
    train, val = tmp_path / "train.rec", tmp_path / "val.rec"
    fr.pack(given, train, schema={"image": F.Image(), "kind": F.Label(["cat", "dog"])})
    assert fr.open(train).classes == ["cat", "dog"]
    fr.pack(given, val, schema={"image": F.Image(), "kind": F.Label(train)})
    assert fr.open([train, val]).classes == ["cat", "dog"]
    assert fr.open(val, classes=train).schema["kind"].classes == ("cat", "dog")
    with pytest.raises(fr.InvalidArgumentError, match="expected 'cow' as class 1, found 'dog'"):
        fr.open(val, classes=["cat", "cow"])


def test_boxes_are_checked_without_the_headers_of_images(tmp_path: pathlib.Path) -> None:
    given = [{"image": b"...", "boxes": [[0, 0, 1, 1], [0, 0, 1, -1]]}]
    schema = {"image": F.Image(), "boxes": F.Boxes("xywh")}
    message = "'boxes' has a box that .* is inverted: .*in row 1. Check the format of the boxes"
    with pytest.raises(fr.CorruptError, match=f"sample 0: .*{message}"):
        fr.pack(given, tmp_path / "out.rec", schema=schema, verify_images=False)


def test_a_bad_mask_is_named_by_its_file(tmp_path: pathlib.Path) -> None:
    mask = tmp_path / "mask.jpg"
    mask.write_bytes(encoded(photograph(1, 20, 30)))
    given = [{"image": encoded(photograph(1, 20, 30)), "mask": mask}]
    with pytest.raises(fr.CorruptError, match=r"sample 0: .*mask\.jpg: the image of field 'mask'"):
        fr.pack(given, tmp_path / "out.rec", schema={"image": F.Image(), "mask": F.Mask()})
    assert "mask.jpg: " in (tmp_path / "out.rec.errors.jsonl").read_text()


def test_a_wrong_schema_stops_packing_early(tmp_path: pathlib.Path) -> None:
    asked = []

    def samples() -> Iterator[dict[str, Any]]:
        for i in range(5000):
            asked.append(i)
            yield {"x": np.zeros(3)}

    with pytest.raises(fr.CorruptError, match=r"sample 0: 'x' has the wrong dtype: expected float"):
        fr.pack(samples(), tmp_path / "out.rec", schema={"x": F.Tensor("float32", (3,))})
    assert len(asked) < 1000


def test_boxes_that_are_no_group_with_their_labels_are_in_doubt(tmp_path: pathlib.Path) -> None:
    given = {"image": encoded(photograph(1, 20, 30)), "boxes": [[0, 0, 9, 9]], "labels": [0]}
    schema = {"image": F.Image(), "boxes": F.Boxes("xyxy"), "labels": F.Label(shape=(-1,))}
    with pytest.warns(fr.FuelrailWarning, match="'boxes' has as many rows as 'labels'"):
        fr.pack([given], tmp_path / "out.rec", schema=schema)


@pytest.mark.parametrize("dtype", F.DTYPES)
def test_a_tensor_of_every_type_is_read_and_can_be_packed_again(
    tmp_path: pathlib.Path, dtype: str
) -> None:
    given = torch.tensor([[0, 1], [1, 0]]).to(getattr(torch, dtype))
    sample = {"x": given, "number": given[0, 1], "group": [{"y": given[0]}]}
    fr.pack([sample], tmp_path / "one.rec")
    data = fr.open(tmp_path / "one.rec")
    fr.pack(data, tmp_path / "two.rec", schema=data.schema)
    assert fr.open(tmp_path / "two.rec").schema == data.schema
    assert (tmp_path / "two.rec").read_bytes() == (tmp_path / "one.rec").read_bytes()
    found = data[0].nested()
    for value, expected in [
        (found["x"], given), (found["group"][0]["y"], given[0]), (data[0]["number"], given[0, 1]),
    ]:  # fmt: skip
        assert str(getattr(value, "dtype", dtype)) == dtype
        number = value if isinstance(value, (bool, int, float)) else torch.from_dlpack(value)
        assert torch.equal(torch.as_tensor(number, dtype=expected.dtype), expected)


def test_tuples_need_a_schema_that_is_a_list_and_samples_one_of_theirs(
    tmp_path: pathlib.Path,
) -> None:
    image = encoded(photograph(1, 20, 30))
    pairs = [(image, i) for i in range(3)]
    fr.pack(pairs, tmp_path / "pairs.rec", schema=[F.Image(), F.Label()])
    data = fr.open(tmp_path / "pairs.rec")
    assert [one["1"] for one in data] == [0, 1, 2]
    fr.pack((one for one in data if one["1"]), tmp_path / "part.rec", schema=data.schema)
    fr.pack(data, tmp_path / "all.rec")  # it has its schema
    assert fr.open(tmp_path / "all.rec").schema == data.schema
    assert [one["1"] for one in fr.open(tmp_path / "part.rec")] == [1, 2]
    for source, schema, message in [
        (pairs, None, r'^sample 0: a sample has .* a dict .*\(tuple\).*\{"image": image'),
        (pairs, {"image": F.Image(), "label": F.Label()}, "^sample 0: a sample has the wrong type"),
        ([np.zeros(3)], None, "`source` has the wrong type.*np2rec"),
        (iter(data), None, "Pass `schema=data.schema`"),
    ]:
        with pytest.raises(fr.InvalidArgumentError, match=message):
            fr.pack(source, tmp_path / "out.rec", schema=schema)


def test_a_refused_call_takes_no_sample(tmp_path: pathlib.Path) -> None:
    (tmp_path / "there.rec").touch()
    samples = iter(SAMPLES)
    for out, options, kind in [
        ("there.rec", {}, fr.IoError),
        ("out.bzna", {}, fr.UnsupportedError),
        ("out.rec", {"threads": 0}, fr.InvalidArgumentError),
        ("out.rec", {"nsplit": 2}, fr.InvalidArgumentError),
    ]:
        with pytest.raises(kind):
            fr.pack(samples, tmp_path / out, **options)  # type: ignore[arg-type]
    fr.pack(samples, tmp_path / "there.rec", overwrite=True, schema=SCHEMA)
    assert len(fr.open(tmp_path / "there.rec")) == 10


def test_an_iterable_dataset_of_torch_is_iterated_whatever_else_it_has(
    tmp_path: pathlib.Path,
) -> None:
    class Stream(torch.utils.data.IterableDataset[dict[str, Any]]):
        def __len__(self) -> int:
            return len(SAMPLES)

        def __iter__(self) -> Iterator[dict[str, Any]]:
            return iter(SAMPLES)

    fr.pack(Stream(), tmp_path / "out.rec", schema=SCHEMA)
    assert len(fr.open(tmp_path / "out.rec")) == len(SAMPLES)


def test_a_mask_whose_colours_are_numbers_may_be_raw_pixels(tmp_path: pathlib.Path) -> None:
    numbers = np.arange(20 * 30, dtype=np.int32).reshape(20, 30) * 20_000
    schema = {"image": F.Image(), "mask": F.Mask(encoding="rgb", encode="npy")}
    given = {"image": encoded(photograph(1, 20, 30)), "mask": numbers}
    fr.pack([given], tmp_path / "out.rec", schema=schema)
    assert np.array_equal(fr.open(tmp_path / "out.rec")[0].decode("mask"), numbers)
