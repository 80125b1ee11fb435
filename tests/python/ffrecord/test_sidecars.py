"""The sidecar `X.ffr.frx` when `X.ffr` is rewritten, and a file whose sidecar is deleted."""

from __future__ import annotations

import pathlib
import warnings

import pytest

import ffrecord_files as files
import fuelrail as fr
from fuelrail.ffrecord import FileWriter, pack_folder


@pytest.fixture
def images(folder: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A file of images whose sidecar has class names."""
    fr.pack(folder, tmp_path / "a.ffr")
    return tmp_path / "a.ffr"


def sidecar(path: pathlib.Path) -> pathlib.Path:
    return path.with_name(path.name + ".frx")


def write(path: pathlib.Path, records: list[bytes]) -> None:
    with FileWriter(path, len(records)) as writer:
        for record in records:
            writer.write_one(record)


def test_a_file_written_anew_takes_the_old_ones_sidecar_with_it(images: pathlib.Path) -> None:
    write(images, files.numbered(5))
    assert not sidecar(images).exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = fr.open(images)
    assert [field.name for field in data.schema] == ["data"]
    assert data.classes == []
    assert sidecar(images).exists()  # its own, created by opening it


def test_so_does_a_packed_folder(images: pathlib.Path, folder: pathlib.Path) -> None:
    pack_folder(folder, images)
    assert not sidecar(images).exists()


def test_the_same_bytes_keep_it(images: pathlib.Path) -> None:
    before = sidecar(images).read_bytes()
    with fr.ffrecord.FileReader(images) as reader:
        records = [bytes(record) for record in reader]
    write(images, records)
    assert sidecar(images).read_bytes() == before
    assert fr.open(images).classes == ["ant", "bee", "cat"]


def test_one_that_nobody_can_read_goes_too(images: pathlib.Path) -> None:
    sidecar(images).write_bytes(b"no sidecar")
    write(images, files.numbered(5))
    assert not sidecar(images).exists()


def test_a_writer_that_gives_up_leaves_file_and_sidecar(images: pathlib.Path) -> None:
    before = {path: path.read_bytes() for path in (images, sidecar(images))}
    with FileWriter(images) as writer:
        writer.write_one(b"one")
        writer.discard()
    assert {path: path.read_bytes() for path in (images, sidecar(images))} == before


def test_another_programs_file_beside_it_is_a_warning(images: pathlib.Path) -> None:
    images.write_bytes(files.file_of(files.numbered(5)))
    before = sidecar(images).read_bytes()
    with pytest.warns(fr.FuelrailWarning, match="a sidecar is ignored"):
        data = fr.open(images)
    assert [field.name for field in data.schema] == ["data"]
    assert sidecar(images).read_bytes() == before


def test_without_its_sidecar_a_file_keeps_labels_and_checksums_and_loses_class_names(
    images: pathlib.Path,
) -> None:
    labels = [sample.label for sample in fr.open(images)]
    sidecar(images).unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # files of FFRecord never had one
        data = fr.open(images)
    assert [sample.label for sample in data] == labels
    assert data.verifies_checksums
    assert data.classes == []
    assert sidecar(images).exists()


def test_a_rec_without_its_sidecar_loses_checksums_too(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "a.rec"
    fr.pack(folder, path)
    assert fr.open(path).verifies_checksums
    sidecar(path).unlink()
    data = fr.open(path)
    assert not data.verifies_checksums
    assert data.classes == []


def test_a_companion_without_its_file_is_not_replaced_unasked(
    folder: pathlib.Path, images: pathlib.Path
) -> None:
    images.unlink()
    with pytest.raises(fr.IoError, match="companion file exists without its record file"):
        fr.pack(folder, images)
    fr.pack(folder, images, overwrite=True)
    index = images.with_name("b.idx")
    index.write_text("0\t0\n")
    with pytest.raises(fr.IoError, match="companion file exists without its record file"):
        fr.convert(images, images.with_name("b.rec"))
    assert index.read_text() == "0\t0\n"
