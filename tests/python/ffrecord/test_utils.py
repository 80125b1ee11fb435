"""fuelrail.ffrecord.utils.dump."""

from __future__ import annotations

import os
import pathlib
import sys

import numpy as np
import pytest

import ffrecord_files as files
import fuelrail as fr
from fuelrail.ffrecord import FileReader
from fuelrail.ffrecord.utils import dump

# Python 3.12 warns about a fork with threads; fuelrail's own threads survive it.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def test_one_file(tmp_path: pathlib.Path) -> None:
    records = files.numbered(200)
    dump(records, tmp_path / "one.ffr", 1)
    assert (tmp_path / "one.ffr").read_bytes() == files.file_of(records)
    dump([], str(tmp_path / "none.ffr"), nfiles=1)
    assert FileReader(tmp_path / "none.ffr").n == 0


@pytest.mark.parametrize(
    ("items", "nfiles", "made"), [(200, 8, 8), (50, 16, 13), (10, 16, 10), (9, 8, 5)]
)
def test_several_files(tmp_path: pathlib.Path, items: int, nfiles: int, made: int) -> None:
    records = files.numbered(items)
    if made < nfiles:
        with pytest.warns(UserWarning, match=f"only {made} of the {nfiles} requested"):
            dump(records, tmp_path / "out", nfiles)
    else:
        dump(records, tmp_path / "out", nfiles)
    names = sorted(os.listdir(tmp_path / "out"))
    assert names == [f"PART_{i:05}.ffr" for i in range(made)]
    assert [bytes(one) for one in FileReader(tmp_path / "out")] == records


def test_arrays(tmp_path: pathlib.Path) -> None:
    arrays = [np.full((2, 3), i, np.float32) for i in range(6)]
    dump(arrays, tmp_path / "out", 2)
    reader = FileReader(tmp_path / "out")
    assert np.frombuffer(reader[5], np.float32).tolist() == 6 * [5.0]


def test_an_empty_dataset_fills_no_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="empty"):
        dump([], tmp_path / "out", 2)
    with pytest.raises(ValueError, match="nfiles"):
        dump([b"x"], tmp_path / "out", 0)


class Failing:
    """A dataset whose item 5 fails."""

    def __init__(self, fail: object) -> None:
        self.fail = fail

    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> bytes:
        if i == 5:
            self.fail()
        return b"x"


def test_c2_11_a_failing_process_is_an_error_and_leaves_no_part(tmp_path: pathlib.Path) -> None:
    def divide() -> None:
        raise ZeroDivisionError("of item 5")

    with pytest.raises(RuntimeError, match="PART_00002") as caught:
        dump(Failing(divide), tmp_path / "out", 4)
    assert "ZeroDivisionError: of item 5" in str(caught.value)
    assert isinstance(caught.value, fr.Error)
    assert os.listdir(tmp_path / "out") == []
    with pytest.raises(RuntimeError, match="without a message"):
        dump(Failing(lambda: os._exit(3)), tmp_path / "out", 4)
    assert [name for name in os.listdir(tmp_path / "out") if name.endswith(".ffr")] == []


def test_c2_11_tqdm_is_optional(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    dump(files.numbered(10), tmp_path / "out", 2, verbose=True)
    assert "10/10 items" in capsys.readouterr().out
    dump(files.numbered(3), tmp_path / "one.ffr", 1, verbose=True)
    assert capsys.readouterr().out == "3/3 items\n"


def test_a_failed_dump_leaves_what_was_there_before(tmp_path: pathlib.Path) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    before = b"of an earlier dump, say"
    (tmp_path / "PART_00002.ffr").write_bytes(before)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        dump(Failing(fail), tmp_path, 4)
    assert os.listdir(tmp_path) == ["PART_00002.ffr"]
    assert (tmp_path / "PART_00002.ffr").read_bytes() == before


def test_other_files_in_the_folder_are_a_warning(tmp_path: pathlib.Path) -> None:
    dump([b"x"] * 4, tmp_path, 4)
    with pytest.warns(fr.FuelrailWarning, match=r"not write, such as PART_00002\.ffr") as caught:
        dump([b"x"] * 4, tmp_path, 2)
    assert [one.filename for one in caught] == [__file__]
