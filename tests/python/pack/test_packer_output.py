"""Packing to an existing output, and the texts of its failures."""

from __future__ import annotations

import pathlib

import pytest

import fuelrail as fr


def test_an_output_that_is_there_is_replaced_only_when_asked(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "out.rec"
    fr.pack(folder, out)
    before = out.read_bytes()
    with pytest.raises(fr.errors.IoError, match="already exists"):
        fr.pack(folder, out, resize=20)
    assert out.read_bytes() == before
    fr.pack(folder, out, resize=20, overwrite=True)
    assert out.read_bytes() != before


def test_warnings_come_out_of_a_packing_that_fails(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    lines = [f"7\t1\t{path}\n" for path in sorted(folder.glob("*/*.jpg"))[:2]]
    (tmp_path / "twice.lst").write_text("".join(lines) + "8\t1\tnowhere.jpg\n")
    with (
        pytest.warns(fr.errors.FuelrailWarning, match="an id of an earlier line"),
        pytest.raises(fr.errors.CorruptError),
    ):
        fr.pack(tmp_path / "twice.lst", tmp_path / "out.rec")


def test_images_in_no_part_of_a_split_are_counted(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    count = len(fr.open(folder))
    report = fr.pack(folder, tmp_path / "out.rec", split={"train": 0.5, "val": 0.25})
    assert report.unassigned == count - sum(file.records for file in report.files) > 0


def test_an_ffrecord_output_has_a_sidecar_and_no_index(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    out = tmp_path / "out.ffr"
    report = fr.pack(folder, out)
    assert report.files == (fr.PackedFile(str(out), len(fr.open(folder)), out.stat().st_size),)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.ffr", "out.ffr.frx"]
    before = out.read_bytes()
    for threads in (1, 3):
        fr.pack(folder, out, overwrite=True, threads=threads)
        assert out.read_bytes() == before


def test_an_ffrecord_output_is_split_into_ffrecord_files(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    report = fr.pack(folder, tmp_path / "out.ffr", split={"train": 0.5, "val": 0.5})
    names = [pathlib.Path(file.path).name for file in report.files]
    assert names == ["out_train.ffr", "out_val.ffr"]


def test_an_output_of_no_known_format_is_refused(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    for name in ("out", "out.tar", ".rec", "out.ffr.frx"):
        with pytest.raises(fr.InvalidArgumentError, match=r"ends in \.rec, \.ffr or \.bzna"):
            fr.pack(folder, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
