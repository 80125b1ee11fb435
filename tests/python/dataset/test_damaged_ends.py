"""A damaged or truncated record file keeps its sidecar, which reveals the damage."""

from __future__ import annotations

import pathlib
import pickle
import shutil

import numpy as np
import pytest

import fuelrail as fr


@pytest.fixture
def packed(record_file: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the file with 31 photographs."""
    for end in ("", ".frx"):
        shutil.copy(f"{record_file}{end}", tmp_path / f"x.rec{end}")
    return tmp_path / "x.rec"


def flip(path: pathlib.Path, at: int, mask: int = 0x40) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= mask
    path.write_bytes(data)


@pytest.mark.filterwarnings("error")
def test_a_flip_in_the_first_record_is_an_error_of_that_record_alone(packed: pathlib.Path) -> None:
    right = [sample.label for sample in fr.open(packed)]
    flip(packed, 14)  # changes the first label from 0.0 to 2.0
    data = fr.open(packed)
    assert data.schema[1].dtype == "int64"
    assert len(data.classes) == 3
    with pytest.raises(fr.CorruptError, match=r"x\.rec: record 0, offset 0: .* checksum"):
        data[0]
    assert [data[i].label for i in range(1, len(data))] == right[1:]


def test_a_loader_skips_what_is_damaged_at_the_ends(packed: pathlib.Path) -> None:
    flip(packed, 100)
    flip(packed, -100)
    loader = fr.Loader(packed, 8, fields=["index", "label"], on_error="skip", threads=2)
    with pytest.warns(fr.FuelrailWarning):
        indices = np.concatenate([batch[0].numpy() for batch in loader])
    assert len(indices) == 31
    assert not {0, 30} & set(indices)


def test_a_cut_file_is_not_a_shorter_dataset(packed: pathlib.Path) -> None:
    place = fr.open(packed)[20].place
    with packed.open("r+b") as file:
        file.truncate(place.offset)  # between two records
    match = f"record 20, offset {place.offset}: the file is truncated.* remove .*x.rec.frx"
    with pytest.raises(fr.TruncatedError, match=match):
        fr.open(packed)
    with pytest.raises(fr.TruncatedError):
        fr.Loader(packed, 8)
    for data in (
        fr.open(packed, sidecar="ignore"),
        fr.open([packed], sidecar="ignore"),
        fr.Loader(packed, 8, sidecar="ignore").dataset,
        pickle.loads(pickle.dumps(fr.open(packed, sidecar="ignore"))),
    ):
        assert len(data) == 20
        assert list(data.classes) == []
    assert sorted(path.name for path in packed.parent.iterdir()) == ["x.rec", "x.rec.frx"]


def test_a_use_of_sidecars_that_there_is_not_is_refused(packed: pathlib.Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=r"sidecar.*is invalid"):
        fr.open(packed, sidecar="none")  # type: ignore[arg-type]
    with pytest.raises(fr.InvalidArgumentError, match="`sidecar` cannot be given"):
        fr.open(fr.open(packed), sidecar="ignore")
