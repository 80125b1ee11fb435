from __future__ import annotations

import inspect
import io
import json
import pathlib
import shutil
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from fuelrail.ffrecord import PackedFolder, pack_folder
from photographs import encoded, photograph, pixels


def test_bytes_pass_through_and_every_file_is_named(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    report = fr.pack(folder, tmp_path / "out.rec")
    assert report == fr.PackReport(
        files=(
            fr.PackedFile(str(tmp_path / "out.rec"), 31, (tmp_path / "out.rec").stat().st_size),
        ),
        failures=(),
        report=None,
    )
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"out.rec", "out.idx", "out.rec.frx"}
    originals = sorted(folder.glob("*/*.jpg"))
    assert [s.image for s in fr.open(tmp_path / "out.rec")] == [p.read_bytes() for p in originals]


def test_the_bytes_are_the_same_for_any_number_of_threads(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    contents = []
    for threads in (1, 2, 5):
        out = tmp_path / str(threads) / "out.rec"
        out.parent.mkdir()
        fr.pack(folder, out, resize=40, threads=threads)
        contents.append({path.name: path.read_bytes() for path in out.parent.iterdir()})
    assert contents[0] == contents[1] == contents[2]


def test_resize_shortens_the_shorter_side_and_never_enlarges(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    fr.pack(folder, tmp_path / "out.rec", resize=100, quality=90)
    for sample, path in zip(
        fr.open(tmp_path / "out.rec"), sorted(folder.glob("*/*.jpg")), strict=True
    ):
        before, after = pixels(path.read_bytes()).shape, pixels(sample.image).shape
        assert min(after[:2]) == min(100, *before[:2])


def test_a_split_gives_a_file_a_part(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    report = fr.pack(folder, tmp_path / "out.rec", split={"train": 0.8, "val": 0.2}, seed=5)
    train, val = (fr.open(tmp_path / f"out_{part}.rec") for part in ("train", "val"))
    assert [file.records for file in report.files] == [len(train), len(val)]
    assert sorted(s.id for s in fr.open([train, val])) == list(range(31))
    assert train.classes == val.classes == ["ant", "bee", "cat"]


def test_a_list_gives_ids_labels_and_paths(make_file: Callable[..., pathlib.Path]) -> None:
    images = [encoded(photograph(i, 20, 20)) for i in range(3)]
    data = fr.open(make_file(images, [2.5, -1, 7]))
    assert [s.image for s in data] == images
    assert [s.label for s in data] == [2.5, -1, 7]
    assert [s.id for s in data] == [0, 1, 2]


def test_progress_is_told_and_ends_complete(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    told: list[fr.PackProgress] = []
    fr.pack(folder, tmp_path / "out.rec", progress=told.append)
    assert told
    assert (told[-1].done, told[-1].total) == (31, 31)
    assert told[-1].bytes > 0
    assert [step.done for step in told] == sorted(step.done for step in told)


def test_an_error_in_the_progress_ends_packing_and_leaves_nothing(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    def fail(now: fr.PackProgress) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        fr.pack(folder, tmp_path / "out.rec", progress=fail)
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_images_are_a_warning(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "source"
    shutil.copytree(folder, source)
    (source / "ant" / "notes.txt").write_text("mine")
    with pytest.warns(fr.FuelrailWarning, match="1 file is skipped") as caught:
        report = fr.pack(source, tmp_path / "out.rec")
    assert report.files[0].records == 31
    assert [warning.filename for warning in caught] == [__file__]


def test_hidden_names_are_passed_over_and_a_list_takes_them(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "source"
    shutil.copytree(folder, source)
    hidden = source / ".ipynb_checkpoints" / "cat.jpg"
    hidden.parent.mkdir()
    hidden.write_bytes(encoded(photograph(0, 20, 20)))
    (source / "ant" / ".DS_Store").write_bytes(b"")
    said = r"2 names that begin with a dot are skipped: first .*\.ipynb_checkpoints"
    with pytest.warns(fr.FuelrailWarning, match=said):
        fr.pack(source, tmp_path / "out.rec")
    assert (tmp_path / "out.rec").read_bytes() == packed_bytes(folder, tmp_path)
    (tmp_path / "a.lst").write_text("0\t1\t.ipynb_checkpoints/cat.jpg\n")
    fr.pack(tmp_path / "a.lst", tmp_path / "listed.rec", root=source)
    assert fr.open(tmp_path / "listed.rec")[0].image == hidden.read_bytes()
    original = tmp_path / "packed.ffr"
    pack_folder(str(source), str(original))
    assert ".ipynb_checkpoints" in PackedFolder(str(original)).list()


def packed_bytes(folder: pathlib.Path, out: pathlib.Path) -> bytes:
    fr.pack(folder, out / "plain.rec")
    return (out / "plain.rec").read_bytes()


@pytest.fixture
def partly_bad(tmp_path: pathlib.Path) -> pathlib.Path:
    source = tmp_path / "source" / "class"
    source.mkdir(parents=True)
    for i in range(10):
        (source / f"{i}.jpg").write_bytes(encoded(photograph(i, 20, 20)))
    (source / "4.jpg").write_bytes(b"\xff\xd8\xff but no image")
    (source / "7.jpg").write_bytes(b"")
    return source.parent


@pytest.mark.parametrize("allowed", [2, 0.25, 1.0, np.int64(2)])
def test_bad_images_are_left_out_and_listed(
    partly_bad: pathlib.Path, tmp_path: pathlib.Path, allowed: int | float
) -> None:
    report = fr.pack(partly_bad, tmp_path / "out.rec", max_errors=allowed)
    assert [s.id for s in fr.open(tmp_path / "out.rec")] == [0, 1, 2, 3, 5, 6, 8, 9]
    assert [pathlib.Path(failure.path).name for failure in report.failures] == ["4.jpg", "7.jpg"]
    assert all(failure.reason for failure in report.failures)
    assert report.report is not None
    lines = pathlib.Path(report.report).read_text().splitlines()
    assert [json.loads(line)["path"] for line in lines] == [f.path for f in report.failures]


@pytest.mark.parametrize("allowed", [0, 1, 0.15])
def test_more_bad_images_than_allowed_are_an_error_without_an_output(
    partly_bad: pathlib.Path, tmp_path: pathlib.Path, allowed: int | float
) -> None:
    with pytest.raises(fr.CorruptError, match=r"found 2; .*lists all of them"):
        fr.pack(partly_bad, tmp_path / "out.rec", max_errors=allowed)
    report = (tmp_path / "out.rec.errors.jsonl").read_text().splitlines()
    names = [pathlib.Path(json.loads(line)["path"]).name for line in report]
    assert names == ["4.jpg", "7.jpg"]
    assert not list(tmp_path.glob("out.rec")) + list(tmp_path.glob("*.idx"))


def test_decode_finds_what_the_header_does_not_show(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    source = tmp_path / "source"
    shutil.copytree(folder, source)
    cut = sorted(source.glob("*/*.jpg"))[5]
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    assert not fr.pack(source, tmp_path / "unseen.rec").failures
    report = fr.pack(source, tmp_path / "out.rec", decode=True, max_errors=1)
    assert [failure.path for failure in report.failures] == [str(cut)]


def test_baseline_keeps_the_pixels_and_metadata_of_progressive_jpegs(
    tmp_path: pathlib.Path,
) -> None:
    image = photograph(1, 40, 50)
    (tmp_path / "source/a").mkdir(parents=True)
    progressive = tmp_path / "source/a/0.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(progressive, progressive=True, exif=exif, icc_profile=b"profile", comment=b"said")
    image.save(tmp_path / "source/a/1.jpg")
    report = fr.pack(tmp_path / "source", tmp_path / "out.rec", baseline=True)
    assert report.recoded == 1
    records = [sample.image for sample in fr.open(tmp_path / "out.rec")]
    assert records[1] == (tmp_path / "source/a/1.jpg").read_bytes()
    stored, original = Image.open(io.BytesIO(records[0])), Image.open(progressive)
    assert "progressive" in original.info
    assert "progressive" not in stored.info
    assert np.array_equal(np.asarray(stored), np.asarray(original))
    assert stored.getexif() == original.getexif() == exif
    for key in ("icc_profile", "comment"):
        assert stored.info[key] == original.info[key]
    assert fr.pack(tmp_path / "source", tmp_path / "plain.rec").recoded == 0


@pytest.mark.parametrize(
    ("options", "kind", "match"),
    [
        ({"resise": 256}, fr.ArgumentTypeError, "'resize'"),
        ({"resize": 0}, fr.InvalidArgumentError, "`resize` is out of range: expected 1 to 32768"),
        ({"quality": 101}, fr.InvalidArgumentError, "expected 1 to 100, found 101"),
        ({"nsplit": 2**70}, fr.InvalidArgumentError, "`nsplit` is out of range"),
        ({"quality": "high"}, fr.ArgumentTypeError, "quality"),
        ({"max_errors": 1.5}, fr.InvalidArgumentError, "max_errors"),
        ({"max_errors": -1}, fr.InvalidArgumentError, "max_errors"),
        ({"split": {"a": 2}}, fr.InvalidArgumentError, "fraction"),
        ({"split": {"a/b": 1}}, fr.InvalidArgumentError, "a/b"),
        ({"threads": 0}, fr.InvalidArgumentError, "threads"),
        ({"threads": True}, fr.ArgumentTypeError, "threads"),
        ({"seed": -1}, fr.InvalidArgumentError, "seed"),
        ({"max_errors": True}, fr.ArgumentTypeError, "max_errors"),
        ({"max_errors": "1%"}, fr.ArgumentTypeError, "max_errors"),
        ({"verify_images": "no"}, fr.ArgumentTypeError, "verify_images"),
        ({"decode": 1}, fr.ArgumentTypeError, "decode"),
        ({"split": {}}, fr.InvalidArgumentError, "`split` is empty"),
        ({"split": [("a", 0.5)]}, fr.ArgumentTypeError, "`split` has the wrong type: .*a mapping"),
        ({"split": {1: 0.5}}, fr.ArgumentTypeError, "name in `split` has .*a string, found 1"),
        ({"split": {"": 0.5}}, fr.InvalidArgumentError, "name in `split`"),
        ({"split": {"a\0b": 0.5}}, fr.InvalidArgumentError, r"NUL character: found 'a\\x00b'"),
        ({"split": {"\ud800": 0.5}}, fr.InvalidArgumentError, "Unicode"),
        ({"split": {"a\n": 0.5}}, fr.InvalidArgumentError, "name in `split`"),
        ({"split": {"a": True}}, fr.ArgumentTypeError, "number"),
        ({"split": {"a": float("nan")}}, fr.InvalidArgumentError, "fraction"),
        ({"root": 3}, fr.ArgumentTypeError, "`root` has the wrong type"),
        ({"root": "a\0b"}, fr.InvalidArgumentError, "`root` has a NUL"),
        ({"progress": "bar"}, fr.ArgumentTypeError, "progress"),
    ],
)
def test_bad_options_are_refused(
    folder: pathlib.Path,
    tmp_path: pathlib.Path,
    options: dict[str, object],
    kind: type[fr.Error],
    match: str,
) -> None:
    with pytest.raises(kind, match=match):
        fr.pack(folder, tmp_path / "out.rec", **options)
    assert list(tmp_path.iterdir()) == []


def test_the_signature_has_the_cores_names_and_defaults() -> None:
    parameters = inspect.signature(fr.pack).parameters
    text = " ".join(fr.pack.__doc__.split())
    for name, _, default, _, _ in fr._core.pack_options():
        assert parameters[name].default == default, name
        assert f" {name}: " in text, name


def test_a_packed_png_decodes_to_itself(make_file: Callable[..., pathlib.Path]) -> None:
    image = photograph(3, 31, 17)
    data = fr.open(make_file([encoded(image, "PNG")]))
    np.testing.assert_array_equal(data[0].decode(), np.asarray(image))


@pytest.mark.parametrize("name", [3, None, ["a"], "{}\0", "\ud800"])
def test_what_is_no_path_is_neither_source_nor_output(
    folder: pathlib.Path, tmp_path: pathlib.Path, name: object
) -> None:
    name = name.format(folder) if isinstance(name, str) else name
    with pytest.raises(fr.InvalidArgumentError, match="`source`"):
        fr.pack(name, tmp_path / "out.rec")
    with pytest.raises(fr.InvalidArgumentError, match="`output`"):
        fr.pack(folder, name)
    assert list(tmp_path.iterdir()) == []


def test_objects_are_refused_with_the_writers_that_take_them(tmp_path: pathlib.Path) -> None:
    for source in ((i for i in range(3)), [b"bytes"]):
        with pytest.raises(fr.ArgumentTypeError, match="`source` has the wrong type") as caught:
            fr.pack(source, tmp_path / "out.rec")  # type: ignore[arg-type]
        assert caught.value.remedy is not None
        for writer in ("MXIndexedRecordIO", "FileWriter", "np2rec"):
            assert writer in caught.value.remedy
