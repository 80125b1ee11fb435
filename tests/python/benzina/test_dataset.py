"""fuelrail.benzina.torch.dataset: samples, labels and splits, as in Benzina v0.0.5."""

from __future__ import annotations

import inspect
import io
import os
import pathlib
import pickle

import numpy as np
import pytest
import torch.utils.data

import fuelrail as fr
import fuelrail.benzina.torch as bz
from bzna_files import RECORD, packed, page_file
from fuelrail.benzina.utils.file import File, Track
from mp4_boxes import outer_file, stbl, trak

needs_plugin = pytest.mark.skipif(
    "FUELRAIL_HEVC" not in os.environ, reason="FUELRAIL_HEVC names no plugin for H.265"
)


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    made = tmp_path / "x.bzna"
    made.write_bytes(page_file())
    return made


@pytest.fixture(scope="module")
def with_splits(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """12 records: six in the split train, with the labels 0, 0, 0, 1, 1, 1; then the same in
    validation.
    """
    return packed(tmp_path_factory.mktemp("splits"))


def labelled(path: pathlib.Path, labels: list[int], records: int, gap: int = 0) -> pathlib.Path:
    """A file of records of one byte, and labels with `gap` bytes between them."""
    content = b"".join(label.to_bytes(8, "little", signed=True) + bytes(gap) for label in labels)
    begin = 40 + records
    offsets = np.arange(len(labels)) * (8 + gap) + begin
    chunks = [1, 1, 1] if labels else []
    path.write_bytes(
        outer_file(
            bytes(records) + content,
            trak(b"bzna_input\0", stbl(1, np.arange(records) + 40)),
            trak(b"bzna_target\0", stbl(8, offsets, chunks=chunks)),
        )
    )
    return path


def test_names_and_defaults_are_benzinas() -> None:
    def defaults(kind: type) -> dict[str, object]:
        return {
            name: one.default
            for name, one in inspect.signature(kind).parameters.items()
            if name != "self"
        }

    pair = ("bzna_input", "bzna_target")
    assert defaults(bz.Dataset) == {"archive": None, "track": "bzna_input"}
    assert defaults(bz.dataset.ClassificationDataset) == {
        "archive": None,
        "tracks": pair,
        "input_label": "bzna_thumb",
    }
    assert list(defaults(bz.ImageNet)) == ["root", "split", "tracks", "input_label"]
    assert list(defaults(bz.ImageNet).values()) == [None, None, pair, "bzna_thumb"]
    assert issubclass(bz.ImageNet, bz.ClassificationDataset)
    assert issubclass(bz.ClassificationDataset, bz.Dataset)
    assert issubclass(bz.Dataset, torch.utils.data.Dataset)


def test_items_are_records_with_label(path: pathlib.Path) -> None:
    plain = bz.Dataset(str(path))
    assert (len(plain), plain.filename) == (1, str(path))
    assert (plain.input_label, plain.split, plain.targets) == ("bzna_thumb", None, None)
    (sample,) = plain[0]
    assert bytes(sample) == bytes(plain[-1].input) == RECORD
    data = bz.ClassificationDataset(path, input_label="bzna_input")
    item = data[-1]
    assert type(item).__mro__[1] is tuple
    assert (bytes(item.input), item.input_label, item.target) == (RECORD, "bzna_input", (3,))
    assert item.target[0].dtype == np.int64
    assert (data.targets.dtype, data.targets.tolist()) == (np.int64, [3])
    assert data.input_label == "bzna_input"
    for one in (plain, data, bz.ImageNet(path)):
        with pytest.raises(IndexError):
            one[1]
        with pytest.raises(NotImplementedError, match="cannot be added"):
            one + one


def test_paths_may_have_tilde_and_variables(
    path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(path.parent))
    monkeypatch.setenv("NAME_OF_FILE", "x")
    assert bz.Dataset("~/$NAME_OF_FILE.bzna").filename == str(path)
    assert bz.ClassificationDataset("~/${NAME_OF_FILE}.bzna").filename == str(path)
    for name in ("ilsvrc2012.mp4", "ilsvrc2012.bzna"):
        path.with_name(name).write_bytes(page_file())
        assert bz.ImageNet("~").filename == str(path.with_name(name))


def test_tracks_are_given_in_place_of_a_path(path: pathlib.Path) -> None:
    inputs, targets = Track(path, "bzna_input"), Track(str(path), "bzna_target")
    assert bz.Dataset(inputs, "ignored").filename == str(path)
    assert bytes(bz.Dataset(track=inputs)[0].input) == RECORD
    for data in (
        bz.ClassificationDataset((inputs, targets), ("ignored", "ignored")),
        bz.ClassificationDataset(tracks=(inputs, targets)),
        bz.ImageNet((inputs, targets)),
        bz.ImageNet(tracks=(inputs, targets)),
    ):
        assert (data.targets.tolist(), bytes(data[0].input)) == ([3], RECORD)
    file = File(io.BytesIO(page_file()))
    unnamed = bz.ImageNet((Track(file, "bzna_input"), Track(file, "bzna_target")))
    assert (unnamed.filename, unnamed.targets.tolist()) == (None, [3])


def test_wrong_arguments_are_value_errors(path: pathlib.Path) -> None:
    track = Track(path, "bzna_input")
    absent = path.with_name("absent")
    wrong = {
        "with `archive`, `track` has the wrong type": lambda: bz.Dataset(path, track),
        "without `archive`, `track` has": lambda: bz.Dataset(),
        "absent: the archive does not exist": lambda: bz.Dataset(absent),
        "the archive is not a file": lambda: bz.ClassificationDataset(path.parent),
        "with a path as `archive`": lambda: bz.ClassificationDataset(path, (track, track)),
        "without a path as `archive`": lambda: bz.ClassificationDataset(),
        "expected a pair of Tracks": lambda: bz.ClassificationDataset(tracks=(track,)),  # type: ignore[arg-type]
        "with a path as `root`": lambda: bz.ImageNet(path, tracks=(track, track)),
        "without a path as `root`": lambda: bz.ImageNet(),
        "absent: the archive does not": lambda: bz.ImageNet(absent),
        r"expected ilsvrc2012\.bzna or ilsvrc2012\.mp4": lambda: bz.ImageNet(path.parent),
        "`split` is invalid": lambda: bz.ImageNet(path, "all"),
        "no such track": lambda: bz.ClassificationDataset(path, ("bzna_input", "labels")),
        "has no split 'train'": lambda: bz.ImageNet(path, "train"),
    }
    for message, make in wrong.items():
        with pytest.raises(ValueError, match=message) as caught:
            make()
        assert isinstance(caught.value, fr.InvalidArgumentError)


@pytest.mark.parametrize("gap", [0, 3])
def test_samples_without_label_have_minus_one(tmp_path: pathlib.Path, gap: int) -> None:
    labels = [7, -5, 2**63 - 1]
    data = bz.ClassificationDataset(labelled(tmp_path / "a.bzna", labels, 5, gap))
    assert data.targets.tolist() == [*labels, -1, -1]
    assert data[-1].target == (-1,)
    for count, expected in ((2, labels[:2]), (3, labels)):
        path = labelled(tmp_path / "b.bzna", labels, count, gap)
        assert bz.ClassificationDataset(path).targets.tolist() == expected
    path = labelled(tmp_path / "c.bzna", [], 2)
    assert bz.ClassificationDataset(path).targets.tolist() == [-1, -1]


def test_labels_of_the_wrong_length_are_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.bzna"
    inputs = trak(b"bzna_input", stbl(4, [40, 44]))
    path.write_bytes(outer_file(bytes(24), inputs, trak(b"bzna_target", stbl([8, 4], [40, 48]))))
    with pytest.raises(fr.CorruptError, match=r"record 1, offset 48: a label has the wrong length"):
        bz.ClassificationDataset(path)


def test_the_samples_and_labels_are_those_of_open(with_splits: pathlib.Path) -> None:
    for split in (None, "train", "val"):
        expected = fr.open(with_splits, split=split)
        data = bz.ImageNet(with_splits, split)
        assert (len(data), data.split) == (len(expected), split)
        assert data.targets.tolist() == [sample.label for sample in expected]
        for i in (0, 4, -1):
            thumb = Track(data[i].input.as_file(), data.input_label)
            assert bytes(thumb[0]) == expected[i].image
            assert data[i].target == (expected[i].label,)
            at, count = thumb.sample_location(0)  # in the whole file
            assert with_splits.read_bytes()[at : at + count] == expected[i].image
        with pytest.raises(IndexError):
            data[len(data)]


def test_a_track_of_a_split_is_a_dataset_too(with_splits: pathlib.Path) -> None:
    tracks = ("bzna_input_validation", "bzna_target_validation")
    data = bz.ClassificationDataset(with_splits, tracks)
    assert (data.split, data.targets.tolist()) == ("validation", [0, 0, 0, 1, 1, 1])
    assert data[0].input.location == bz.ImageNet(with_splits, "val")[0].input.location
    assert bz.ImageNet(with_splits, tracks=tracks).split == "validation"
    assert bz.Dataset(with_splits, "bzna_input_train").split == "train"
    with pytest.raises(fr.InvalidArgumentError, match="`split` cannot be given for this track"):
        bz.ImageNet(with_splits, "val", tracks)
    file = File(io.BytesIO(with_splits.read_bytes()))
    pair = (Track(file, "bzna_input"), Track(file, "bzna_target"))
    with pytest.raises(fr.InvalidArgumentError, match="`split` cannot be given for this track"):
        bz.ImageNet(pair, "val")
    with pytest.raises(fr.UnsupportedError, match=r"cannot be loaded as images.*found bzna_fname"):
        _ = bz.Dataset(with_splits, "bzna_fname").split


@pytest.mark.parametrize(
    ("records", "validation", "test"), [(150_003, 50_000, 100_000), (1_431_086, 49_999, 99_993)]
)
def test_imagenet_without_tracks_of_splits_is_counted(
    tmp_path: pathlib.Path, records: int, validation: int, test: int
) -> None:
    numbers = np.arange(records, dtype=np.int64)
    labels = numbers[: records - test]  # as in Benzina's files
    path = tmp_path / "ilsvrc2012.bzna"
    path.write_bytes(
        outer_file(
            bytes(records) + labels.tobytes(),
            trak(b"bzna_input\0", stbl(1, numbers + 40)),
            trak(b"bzna_target\0", stbl(8, numbers[: len(labels)] * 8 + 40 + records)),
        )
    )
    train = records - validation - test
    ends = {
        "train": (0, train),
        "val": (train, train + validation),
        "test": (records - test, records),
    }
    for split in ("train", "val", "test") if records < 1_000_000 else ("val",):
        begin, end = ends[split]
        data = bz.ImageNet(tmp_path, split)
        assert len(data) == end - begin
        expected = numbers[begin:end] if split != "test" else np.full(test, -1)
        np.testing.assert_array_equal(data.targets, expected)
        assert data[-1].input.location == (40 + end - 1, 1)


def test_datasets_pickle_and_feed_torchs_loader(with_splits: pathlib.Path) -> None:
    data = bz.ImageNet(with_splits, "val")
    again = pickle.loads(pickle.dumps(data))
    assert bytes(again[5].input) == bytes(data[5].input)
    assert (again.split, again.targets.tolist()) == ("val", data.targets.tolist())
    loader = torch.utils.data.DataLoader(
        data, batch_size=3, num_workers=2, collate_fn=lambda items: [one.target for one in items]
    )
    assert [int(label) for batch in loader for (label,) in batch] == data.targets.tolist()
    assert len(torch.utils.data.Subset(data, [1, 2])) == 2


def test_the_name_mp4_is_found_but_has_no_splits_yet(with_splits: pathlib.Path) -> None:
    path = with_splits.with_suffix(".mp4")
    path.write_bytes(with_splits.read_bytes())
    assert len(bz.ImageNet(path)) == 12
    with pytest.raises(fr.UnsupportedError, match=r"Rename it so that its name ends in \.bzna"):
        bz.ImageNet(path, "train")


@needs_plugin
def test_the_thumbnails_of_photographs_are_those_of_open(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "x.bzna"
    fr.pack(folder, path, preset="ultrafast")
    data = bz.ClassificationDataset(path)
    expected = fr.open(path)
    assert data.targets.tolist() == [sample.label for sample in expected]
    for i in (0, 17, 30):
        record = data[i].input.as_file()
        thumb = Track(record, "bzna_thumb")
        assert bytes(thumb[0]) == expected[i].image
        height, width = expected[i].decode().shape[:2]
        assert thumb.shape == (width, height)
        at, size = thumb.video_configuration_location() or (0, 0)
        assert size > 20
        assert path.read_bytes()[at] == 1  # the version of the parameters
