from __future__ import annotations

import pathlib

import pytest

import fuelrail as fr


@pytest.mark.parametrize("extension", ["rec", "ffr"])
def test_the_good_records_become_a_file_with_classes_and_ids(
    extension: str, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / f"x.{extension}"
    fr.pack(folder, path)
    whole = fr.open(path)
    place = whole.place(12)
    contents = bytearray(path.read_bytes())
    contents[place.offset + 50] ^= 1
    path.write_bytes(contents)

    seen: list[fr.PackProgress] = []
    recovery = fr.recover(path, tmp_path / f"good.{extension}", progress=seen.append)
    assert recovery.lost_records == 1
    assert recovery.checksums
    (loss,) = recovery.losses
    assert (loss.offset, loss.record) == (place.offset, 12)
    assert "checksum" in loss.reason
    assert seen[-1].done == seen[-1].total

    good = fr.open(recovery.file.path)
    assert [sample.id for sample in good] == [i for i in range(31) if i != 12]
    assert good.classes == whole.classes
    with pytest.raises(fr.IoError, match="already exists"):
        fr.recover(path, tmp_path / f"good.{extension}")
