"""Datasets of `.bzna` files: `Dataset`, `ClassificationDataset` and `ImageNet`, as in Benzina v0.0.5's
`benzina.torch.dataset`.

A dataset gives the DataLoader its file, split, nested track and targets. Its own items are only for
looking at a file from Python.
"""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, Union

import numpy
import torch.utils.data

from fuelrail.benzina.utils.file import Sample, Track
from fuelrail.benzina.utils.file_bytes import Path
from fuelrail.benzina.utils.mp4 import read_exactly
from fuelrail.dataset import open as open_dataset
from fuelrail.errors import (
    ArgumentTypeError,
    CorruptError,
    InvalidArgumentError,
    UnsupportedError,
)
from fuelrail.options import choice_of, file_name, place_of, text, typed

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ClassificationDataset", "ClassificationItem", "Dataset", "ImageNet", "Item"]

Label: TypeAlias = str | Track
Archive: TypeAlias = Union[Path, "tuple[Track, Track]"]

_INPUT = "bzna_input"
_THUMB = "bzna_thumb"
_LABEL_BYTES = 8
_NO_LABEL = -1
# The tracks whose samples are records, with the split that `fuelrail.open` takes for each.
_SPLITS = {_INPUT: None} | {f"{_INPUT}_{name}": name for name in ("train", "validation", "test")}


class Item(NamedTuple):
    """An item of a Dataset."""

    input: Sample
    """The record: an MP4 file with the tracks "bzna_input" and, usually, "bzna_thumb"."""


class ClassificationItem(NamedTuple):
    """An item of a ClassificationDataset."""

    input: Sample
    """The record, as in Item."""
    input_label: str
    """The name of the record's track that a loader decodes."""
    target: tuple[numpy.int64]
    """The label; -1 for a record without a label."""


class Dataset(torch.utils.data.Dataset[Any]):
    """The records of a `.bzna` file, without their labels.

    `dataset[i]` is an Item; a negative index counts from the end. A dataset pickles as its path and
    its targets; unpickling opens the file again. A DataLoader yields the tuple `(images,)`.
    (Benzina's DataLoader does not take such a dataset.)
    """

    def __init__(
        self, archive: Label | os.PathLike[str] | None = None, track: Label = _INPUT
    ) -> None:
        """archive: the path of a file, in which a leading `~` and environment variables are
            replaced; or a Track, with which `track` is ignored.
        track: the name of a track in the file `archive`; or, without `archive`, a Track. Default:
            "bzna_input", all records. "bzna_input_train", "bzna_input_validation" and
            "bzna_input_test" are those of a split.

        Errors: InvalidArgumentError (a ValueError) for a file that does not exist, and for a file
        without the track; ArgumentTypeError (a ValueError) for other combinations of arguments; the
        errors of `Track.open`.
        """
        if isinstance(archive, Track):
            track, archive = archive, None
        if archive is None:
            if not isinstance(track, Track):
                raise ArgumentTypeError(
                    "without `archive`, `track` has the wrong type",
                    expected="a Track",
                    found=typed(track),
                )
        elif isinstance(track, Track):
            raise ArgumentTypeError(
                "with `archive`, `track` has the wrong type",
                expected="the name of a track",
                found=typed(track),
            )
        else:
            track = Track(_existing(_expanded("`archive`", archive)), text("`track`", track))
        self._track = track
        self._track.open()

    @property
    def filename(self) -> str | None:
        """The path of the file. None if the track's File was not given as a path."""
        return self._track.file.path

    @property
    def input_label(self) -> str:
        """The name of the track of each record that a loader decodes: "bzna_thumb"."""
        return _THUMB

    @property
    def split(self) -> str | None:
        """The split with which `fuelrail.open(filename, split=...)` has the samples of this dataset,
        in the same order. None: all records. Benzina does not have this property.

        Errors: UnsupportedError if the track is not one of records.
        """
        label = self._track.label
        name = (label.decode() if isinstance(label, bytes) else label).removesuffix("\0")
        if name not in _SPLITS:
            raise UnsupportedError(
                "the samples of this track cannot be loaded as images",
                path=self.filename,
                expected=f"one of the tracks {', '.join(_SPLITS)}",
                found=name,
            )
        return _SPLITS[name]

    @property
    def targets(self) -> NDArray[numpy.int64] | None:
        """The labels, as an int64 array of the shape (samples,). None for a dataset without
        labels.
        """
        return None

    def __len__(self) -> int:
        return len(self._track)

    def __getitem__(self, index: int) -> Any:
        return Item(self._track[index])

    def __add__(self, other: object) -> NoReturn:
        """Raises UnsupportedError (a NotImplementedError), as in Benzina."""
        raise UnsupportedError(
            "datasets of `.bzna` files cannot be added",
            remedy="Join the files with the command `fuelrail merge`",
        )


class ClassificationDataset(Dataset):
    """The records of a `.bzna` file with their labels. `dataset[i]` is a ClassificationItem. A
    DataLoader yields `(images, targets)`.
    """

    def __init__(
        self,
        archive: Archive | None = None,
        tracks: tuple[Label, Label] = (_INPUT, "bzna_target"),
        input_label: str = _THUMB,
    ) -> None:
        """archive: the path of a file, as for Dataset; or a pair of Tracks, with which `tracks` is
            ignored.
        tracks: the names of the tracks with the records and with their labels; or, without
            `archive`, a pair of Tracks. Default: ("bzna_input", "bzna_target").
        input_label: the name of the track of each record that a loader decodes: "bzna_thumb", of at
            most 512 x 512 pixels, or "bzna_input", the image in full size. Default: "bzna_thumb".

        Errors: those of Dataset; CorruptError for labels that are not 8 bytes long.
        """
        path, pair = _path_and_tracks("archive", archive, tracks)
        self._set_up(None if path is None else _existing(path), pair, input_label)

    @property
    def input_label(self) -> str:
        """The name of the track of each record that a loader decodes, as it was given."""
        return self._input_label

    @property
    def targets(self) -> NDArray[numpy.int64]:
        """The labels, as an int64 array of the shape (samples,). -1 for samples without a label:
        those beyond the end of the labels' track.
        """
        return self._targets

    def __getitem__(self, index: int) -> Any:
        at = place_of(index, len(self), "sample", self.filename)
        return ClassificationItem(self._input(at), self._input_label, (self._targets[at],))

    def _input(self, at: int) -> Sample:
        return self._track[at]

    def _set_up(self, path: str | None, pair: tuple[Label, Label], input_label: str) -> None:
        """path: of an existing file; None: `pair` has Tracks."""
        inputs, labels = pair
        super().__init__(inputs if isinstance(inputs, Track) else Track(path or "", inputs))
        self._input_label = text("`input_label`", input_label)
        if not isinstance(labels, Track):
            labels = Track(self._track.file, labels)
        labels.open()
        self._targets = _labels_of(labels, len(self._track))


class ImageNet(ClassificationDataset):
    """ImageNet (ILSVRC 2012) in a `.bzna` file: all of it, or a split."""

    def __init__(
        self,
        root: Archive | None = None,
        split: str | None = None,
        tracks: tuple[Label, Label] = (_INPUT, "bzna_target"),
        input_label: str = _THUMB,
    ) -> None:
        """root: the path of a file, or of a folder with the file `ilsvrc2012.bzna` or, without it,
            `ilsvrc2012.mp4`; or a pair of Tracks, with which `tracks` is ignored. Paths are as for
            Dataset.
        split: "train", "val" (or "validation") or "test". If the file has tracks of splits, these give the samples.
            Otherwise the last 100,000 records are the test split and the 50,000 before them the
            validation split; in a file of 1,431,086 records, 99,993 and 49,999
            (docs/formats/bzna.md). Indices and `targets` are those of the split. Default: None, all
            records.
        tracks, input_label: as for ClassificationDataset. Without `root`, a pair of Tracks.

        Errors: those of ClassificationDataset; InvalidArgumentError (a ValueError) for any other
        `split`, for a folder without such a file, for a split of a file that has neither its track
        nor more than 150,000 records, and for a split of a track that is not "bzna_input" or that
        was not given by a path; those of `fuelrail.open`.
        """
        path, pair = _path_and_tracks("root", root, tracks)
        if split is not None:
            split = choice_of("split", split, ("train", "val", "validation", "test"))
        self._set_up(None if path is None else _archive_in(path), pair, input_label)
        self._split = split
        if split is not None:
            self._records = self._records_of(split)
            self._targets = self._targets[self._records]

    @property
    def split(self) -> str | None:
        """As for Dataset: the `split` that was given, or None."""
        return self._split or super().split

    def __len__(self) -> int:
        return super().__len__() if self._split is None else len(self._records)

    def _input(self, at: int) -> Sample:
        return self._track[at if self._split is None else int(self._records[at])]

    def _records_of(self, split: str) -> NDArray[numpy.int64]:
        """The numbers of the records of a split."""
        if self.filename is None or super().split is not None:
            raise InvalidArgumentError(
                "`split` cannot be given for this track",
                expected=f"the track {_INPUT} of a file that was given by its path",
                found=repr(self._track),
                remedy="Omit `split`",
            )
        container = open_dataset(self.filename, split=split).container
        places = (container.place(i)[1] for i in range(len(container)))
        return numpy.fromiter(places, numpy.int64, len(container))


def _path_and_tracks(
    option: str, archive: Archive | None, tracks: tuple[Label, Label]
) -> tuple[str | None, tuple[Label, Label]]:
    """The path with `~` and variables replaced, and two names; or None and two Tracks."""
    path: str | None = None
    if isinstance(archive, (str, os.PathLike)):
        path = _expanded(f"`{option}`", archive)
    elif archive is not None:
        tracks = archive
    kind = Track if path is None else str
    if not (
        isinstance(tracks, (tuple, list))
        and len(tracks) == 2
        and all(isinstance(one, kind) for one in tracks)
    ):
        raise ArgumentTypeError(
            f"without a path as `{option}`, the tracks have the wrong type"
            if path is None
            else f"with a path as `{option}`, `tracks` has the wrong type",
            expected="a pair of Tracks" if path is None else "a pair of names of tracks",
            found=typed(tracks),
        )
    return path, (tracks[0], tracks[1])


def _expanded(option: str, path: Any) -> str:
    return os.path.expandvars(os.path.expanduser(file_name(option, path)))


def _existing(path: str) -> str:
    if not os.path.isfile(path):
        failure = "is not a file" if os.path.exists(path) else "does not exist"
        raise InvalidArgumentError(f"the archive {failure}", path=path, remedy="Check the path")
    return path


def _archive_in(root: str) -> str:
    """The file that `root` is, or that it contains."""
    if not os.path.isdir(root):
        return _existing(root)
    names = ("ilsvrc2012.bzna", "ilsvrc2012.mp4")
    for name in names:
        if os.path.isfile(path := os.path.join(root, name)):
            return path
    raise InvalidArgumentError(
        "the folder does not contain the archive", path=root, expected=" or ".join(names)
    )


def _labels_of(track: Track, count: int) -> NDArray[numpy.int64]:
    """The labels of the first `count` records. Labels that follow one another are read at once."""
    labels = numpy.full(count, _NO_LABEL, numpy.int64)
    offsets, sizes = (column[:count] for column in track.sample_locations())
    wrong = numpy.flatnonzero(sizes != _LABEL_BYTES)
    if len(wrong):
        raise CorruptError(
            "a label has the wrong length",
            path=track.file.name,
            record=int(wrong[0]),
            offset=int(offsets[wrong[0]]),
            expected=f"{_LABEL_BYTES} bytes",
            found=str(sizes[wrong[0]]),
        )
    edges = numpy.flatnonzero(numpy.diff(offsets) != _LABEL_BYTES) + 1
    begins = [0, *edges.tolist(), len(offsets)] if len(offsets) else []
    for begin, end in itertools.pairwise(begins):
        content = read_exactly(track.file, int(offsets[begin]), (end - begin) * _LABEL_BYTES)
        labels[begin:end] = numpy.frombuffer(content, numpy.dtype("<i8"))
    return labels
