from __future__ import annotations

import pathlib

import pytest

import fuelrail as fr


@pytest.mark.parametrize("extension", ["rec", "ffr"])
def test_merged_parts_are_the_file_that_is_made_without_them(
    extension: str, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    fr.pack(folder, tmp_path / f"whole.{extension}")
    report = fr.pack(folder, tmp_path / f"p.{extension}", nsplit=4)
    assert [file.records for file in report.files] == [7, 8, 8, 8]
    made = fr.merge(tmp_path / f"m.{extension}", [file.path for file in report.files])
    assert made.records == 31
    whole = {p.name.removeprefix("whole"): p.read_bytes() for p in tmp_path.glob("whole*")}
    merged = {p.name.removeprefix("m"): p.read_bytes() for p in tmp_path.glob("m.*")}
    assert merged == whole


def test_a_part_made_alone_is_the_same(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    fr.pack(folder, tmp_path / "a" / "x.rec", nsplit=3)
    for part in (2, 0, 1):
        report = fr.pack(folder, tmp_path / "b" / "x.rec", nsplit=3, part=part)
        assert [pathlib.Path(f.path).name for f in report.files] == [f"x.part{part:03}.rec"]
    contents = [
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab"
    ]
    assert contents[0] == contents[1]


def test_progress_and_overwrite(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    parts = [file.path for file in fr.pack(folder, tmp_path / "x.rec", nsplit=2).files]
    seen: list[fr.PackProgress] = []
    fr.merge(tmp_path / "m.rec", parts, progress=seen.append)
    assert (seen[-1].done, seen[-1].total) == (31, 31)
    with pytest.raises(fr.IoError, match="already exists"):
        fr.merge(tmp_path / "m.rec", parts)
    fr.merge(tmp_path / "m.rec", parts[:1], overwrite=True)
    assert len(fr.open(tmp_path / "m.rec")) == 15

    def stop(progress: fr.PackProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fr.merge(tmp_path / "n.rec", parts, progress=stop)
    assert not list(tmp_path.glob("n.*"))


def test_what_cannot_be_merged_is_refused(
    folder: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fr.pack(folder, tmp_path / "x.rec")
    with pytest.raises(fr.InvalidArgumentError, match="list of files to merge is empty"):
        fr.merge(tmp_path / "m.rec", [])
    with pytest.raises(fr.ArgumentTypeError, match="`sources` has the wrong type"):
        fr.merge(tmp_path / "m.rec", str(tmp_path / "x.rec"))  # type: ignore[arg-type]
    with pytest.raises(fr.InvalidArgumentError, match="the output have different formats"):
        fr.merge(tmp_path / "m.ffr", [tmp_path / "x.rec"])
    with pytest.raises(fr.InvalidArgumentError, match="the output is also a source"):
        fr.merge(tmp_path / "x.rec", [tmp_path / "x.rec"], overwrite=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fr.InvalidArgumentError, match="the output is also a source"):
        fr.merge(tmp_path / "x.rec", ["x.rec"], overwrite=True)
    with pytest.raises(fr.NotFoundError):
        fr.merge(tmp_path / "m.rec", [tmp_path / "none.rec"])
    with pytest.raises(fr.InvalidArgumentError, match="listed twice"):
        fr.merge(tmp_path / "m.rec", ["x.rec", tmp_path / "x.rec"])
    fr.pack(folder, tmp_path / "y.rec")
    with pytest.raises(
        fr.InvalidArgumentError,
        match=r"y\.rec.*share a key.*found 0, which is also a key of x\.rec",
    ):
        fr.merge(tmp_path / "m.rec", ["x.rec", "y.rec"])
    assert not list(tmp_path.glob("m.*"))


def test_parts_that_cannot_be_are_refused(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for options, message in (
        ({"nsplit": 32}, "`nsplit` exceeds the number of images"),
        ({"nsplit": 2, "part": 2}, "`part` is out of range"),
        ({"nsplit": 2, "split": {"a": 0.5}}, "`split` and `nsplit` cannot be combined"),
    ):
        with pytest.raises(fr.InvalidArgumentError, match=message):
            fr.pack(folder, tmp_path / "x.rec", **options)
    assert list(tmp_path.iterdir()) == []
