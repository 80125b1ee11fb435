"""FFRecord files as datasets: records, folders of files, and packed class folders as images."""

from __future__ import annotations

import collections
import os
import pathlib
import pickle

import numpy
import pytest
import torch

import fuelrail as fr
import fuelrail.torch
from ffrecord_files import file_of, without_checksum, write
from fuelrail import transforms as T


def packed(folder: pathlib.Path, protocol: int) -> bytes:
    """A folder packed as by FFRecord's `pack_folder`."""
    records: list[bytes] = []

    def add(folder: pathlib.Path) -> collections.OrderedDict[str, object]:
        names: collections.OrderedDict[str, object] = collections.OrderedDict()
        for path in sorted(folder.iterdir(), key=lambda path: path.name):
            if path.is_dir():
                names[path.name] = add(path)
            else:
                names[path.name] = len(records)
                records.append(path.read_bytes())
        return names

    structure = pickle.dumps(add(folder), protocol=protocol)
    return file_of([*records, b"piouhjgbr" + structure])


@pytest.fixture(scope="module")
def pack(folder: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("packed") / "photographs.ffr"
    path.write_bytes(packed(folder, pickle.DEFAULT_PROTOCOL))
    return path


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_packed_folder_opens_as_the_folder_does(
    folder: pathlib.Path, tmp_path: pathlib.Path, protocol: int
) -> None:
    path = tmp_path / "x.ffr"
    path.write_bytes(packed(folder, protocol))
    data, unpacked = fr.open(path, schema="class_folders"), fr.open(folder)
    assert data.classes == unpacked.classes == ["ant", "bee", "cat"]
    assert data.schema == unpacked.schema
    assert data.fingerprint == unpacked.fingerprint
    assert data.verifies_checksums
    for mine, theirs in zip(data, unpacked, strict=True):
        assert (mine.image, mine.label, mine.id) == (theirs.image, theirs.label, theirs.id)
    assert data[3].place.path == str(path)


def test_batches_of_a_packed_folder_are_those_of_the_folder(
    folder: pathlib.Path, pack: pathlib.Path
) -> None:
    def epoch(data: fr.Dataset) -> list[tuple[torch.Tensor, torch.Tensor]]:
        transforms = [T.RandomResizedCrop(24), T.HorizontalFlip()]
        loader = fr.torch.DataLoader(
            data, batch_size=7, shuffle="full", seed=3, transforms=transforms
        )
        return [(images.clone(), labels.clone()) for images, labels in loader]

    batches = epoch(fr.open(pack, schema="class_folders"))
    for mine, theirs in zip(batches, epoch(fr.open(folder)), strict=True):
        assert torch.equal(mine[0], theirs[0])
        assert torch.equal(mine[1], theirs[1])


def test_loaders_take_a_schema_as_open_does(folder: pathlib.Path, pack: pathlib.Path) -> None:
    crop = [T.CenterCrop(24)]
    for load in (fr.Loader, fr.torch.DataLoader):
        (expected,) = load(folder, 31, transforms=crop, as_dict=True)
        loader = load(pack, 31, schema="class_folders", transforms=crop, as_dict=True)
        again = pickle.loads(pickle.dumps(loader))
        for batch in (*loader, *again):
            for name in ("image", "label"):
                assert numpy.array_equal(batch[name].numpy(), expected[name].numpy())
    items = fr.torch.MapDataset(pack, schema="class_folders", transforms=crop)
    assert torch.equal(items[30][0], fr.torch.MapDataset(folder, transforms=crop)[30][0])
    for load in (fr.Loader, fr.torch.DataLoader, fr.torch.MapDataset):
        with pytest.raises(fr.InvalidArgumentError, match="Did you mean 'class_folders'"):
            load(pack, schema="class_folder", transforms=crop)
        with pytest.raises(fr.InvalidArgumentError, match="`schema` cannot be given"):
            load(fr.open(folder), schema="class_folders", transforms=crop)


@pytest.mark.parametrize("form", ["rec", "ffr"])
def test_it_converts_into_what_packing_the_folder_makes(
    folder: pathlib.Path, pack: pathlib.Path, tmp_path: pathlib.Path, form: str
) -> None:
    made, expected = tmp_path / f"made.{form}", tmp_path / f"expected.{form}"
    report = fr.convert(pack, made, schema="class_folders")
    assert report == fr.PackedFile(str(made), 31, made.stat().st_size)
    fr.pack(folder, expected)
    ends = [f".{form}", f".{form}.frx"] + ([".idx"] if form == "rec" else [])
    for end in ends:
        mine, theirs = (tmp_path / f"{name}{end}" for name in ("made", "expected"))
        assert mine.read_bytes() == theirs.read_bytes()
    images, labels = next(iter(fr.torch.DataLoader(made, 4, transforms=[T.CenterCrop(8)])))
    assert images.shape == (4, 3, 8, 8)
    assert labels.tolist() == [0, 0, 0, 0]


def test_a_schema_that_cannot_be_converted_by_says_why(
    pack: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=r"unknown schema.*class_folders"):
        fr.convert(pack, tmp_path / "x.rec", schema="class_folder")
    fr.convert(pack, tmp_path / "a.rec", schema="class_folders")
    with pytest.raises(fr.InvalidArgumentError, match="Omit the schema"):
        fr.convert(tmp_path / "a.rec", tmp_path / "b.ffr", schema="class_folders")
    plain = write(tmp_path / "plain.ffr", [b"a", b"b"])
    with pytest.raises(fr.CorruptError, match="not a packed folder"):
        fr.convert(plain, tmp_path / "b.rec", schema="class_folders")
    assert not (tmp_path / "b.rec").exists()


def test_without_a_schema_a_packed_folder_is_its_records(pack: pathlib.Path) -> None:
    data = fr.open(pack)
    assert [field.name for field in data.schema] == ["data"]
    assert len(data) == 32
    assert data[31].data.startswith(b"piouhjgbr")
    assert data[0].data[:3] == b"\xff\xd8\xff"


def test_a_dataset_pickles_with_its_schema(pack: pathlib.Path) -> None:
    data = fr.open(pack, schema="class_folders")
    for dataset in (data, data[2:9], fr.open([data[:4], data])):
        again = pickle.loads(pickle.dumps(dataset))
        assert again.fingerprint == dataset.fingerprint
        assert again.schema == dataset.schema
        assert again[0].image == dataset[0].image


def test_a_list_of_packed_folders_is_one_dataset(pack: pathlib.Path) -> None:
    data = fr.open([pack, pack], schema="class_folders")
    assert len(data) == 62
    assert data[31].image == data[0].image


def test_a_schema_that_does_not_fit_is_refused(
    pack: pathlib.Path, folder: pathlib.Path, record_file: pathlib.Path
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="Did you mean 'class_folders'"):
        fr.open(pack, schema="class_folder")
    for source in (folder, record_file):
        with pytest.raises(fr.InvalidArgumentError, match="Omit the schema"):
            fr.open(source, schema="class_folders")
    with pytest.raises(fr.InvalidArgumentError, match="`schema` cannot be given"):
        fr.open(fr.open(pack), schema="class_folders")
    with pytest.raises(fr.ArgumentTypeError):
        fr.open(pack, schema=3)  # type: ignore[arg-type]


def test_a_malicious_pack_is_refused_and_nothing_runs(tmp_path: pathlib.Path) -> None:
    proof = tmp_path / "it ran"

    class Malicious:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch '{proof}'",)

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        structure = collections.OrderedDict(cat=Malicious())
        path = tmp_path / "x.ffr"
        last = b"piouhjgbr" + pickle.dumps(structure, protocol=protocol)
        path.write_bytes(file_of([b"image", last]))
        with pytest.raises(fr.CorruptError, match=r"fuelrail does not call.*posix\.system"):
            fr.open(path, schema="class_folders")
    assert not proof.exists()


def test_what_is_no_packed_folder_is_refused(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "x.ffr", [b"one", b"two"])
    with pytest.raises(fr.CorruptError, match="not a packed folder") as caught:
        fr.open(path, schema="class_folders")
    assert caught.value.path == str(path)
    assert caught.value.record == 1


def test_a_folder_of_ffr_files_opens_by_their_names(tmp_path: pathlib.Path) -> None:
    write(tmp_path / "PART_00001.ffr", [b"third"])
    write(tmp_path / "PART_00000.ffr", [b"first", b"second"])
    data = fr.open(tmp_path)
    assert [sample.data for sample in data] == [b"first", b"second", b"third"]
    assert data[2].place == (str(tmp_path / "PART_00001.ffr"), 0, 24)
    assert pickle.loads(pickle.dumps(data)).fingerprint == data.fingerprint
    (tmp_path / "1.jpg").write_bytes(b"image")
    with pytest.raises(fr.InvalidArgumentError, match="both FFRecord files and images"):
        fr.open(tmp_path)


def test_a_table_without_a_checksum_is_warned_of(tmp_path: pathlib.Path) -> None:
    path = without_checksum(write(tmp_path / "old.ffr", [b"one", b"two"]))
    with pytest.warns(fr.FuelrailWarning, match="has no checksum"):
        assert fr.open(path)[1].data == b"two"
    path.write_bytes(bytes(12 + 12 * 2) + b"records")
    with pytest.raises(fr.CorruptError, match="was never written"):
        fr.open(path)
