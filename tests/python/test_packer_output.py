"""What packing does with an output that is there, and what it says when it fails."""

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
    with pytest.raises(fr.errors.IoError, match="is there already"):
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
        pytest.warns(fr.errors.FuelrailWarning, match="an id that an earlier line has"),
        pytest.raises(fr.errors.CorruptError),
    ):
        fr.pack(tmp_path / "twice.lst", tmp_path / "out.rec")


def test_images_in_no_part_of_a_split_are_counted(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    count = len(fr.open(folder))
    report = fr.pack(folder, tmp_path / "out.rec", split={"train": 0.5, "val": 0.25})
    assert report.unassigned == count - sum(file.records for file in report.files) > 0
