"""Lists of images (`.lst`), as MXNet's `im2rec.py --list` makes them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError
from fuelrail.options import file_name, real, suggests_options, text, truth, typed, whole

__all__ = ["MadeLists", "make_lists"]

_EXTENSIONS = tuple(_core.list_extensions())


class MadeLists(NamedTuple):
    """What `make_lists` has written."""

    paths: list[str]
    """The lists, in the order of their rows."""
    labels: dict[str, int]
    """With `recursive`, the label of each folder with images, by its path below `root`."""
    images: int
    """How many images the folder has."""


@suggests_options
def make_lists(
    prefix: str | os.PathLike[str],
    root: str | os.PathLike[str],
    exts: Sequence[str] = _EXTENSIONS,
    chunks: int = 1,
    train_ratio: float = 1,
    test_ratio: float = 0,
    recursive: bool = False,
    shuffle: bool = True,
    overwrite: bool = False,
) -> MadeLists:
    """Writes lists of the images of a folder: the same bytes as `im2rec.py --list`.

    A row is `id TAB label TAB path below root`; ids count from 0 in the order in which the images
    are met.

    prefix: the lists are `PREFIX.lst`, `PREFIX_0.lst`, `PREFIX_train.lst`, `PREFIX_0_train.lst`...
    root: the folder.
    exts: what the names of images end in, in either case.
    chunks: how many lists the rows are cut into, `_0`, `_1`...
    train_ratio, test_ratio: fractions of each list that go into `_train.lst` and `_test.lst`; the
    rest goes into `_val.lst`. Where the two make 1 there is none, and a row that rounding leaves
    over is in no list. A train_ratio of 1 leaves the list whole, whatever test_ratio says.
    recursive: also the folders below; each folder with images is a label. Otherwise all are 0.
    shuffle: the order of CPython's `random.seed(100); random.shuffle(rows)`.
    overwrite: replaces lists that are there. Default: that is an IoError, and no list is written.

    Errors: NotFoundError for the folder, or when it has no image; InvalidArgumentError for numbers
    out of range and for a path with a TAB or a line end; ArgumentTypeError; IoError.
    """
    if isinstance(exts, (str, bytes)) or not isinstance(exts, Sequence):
        raise ArgumentTypeError(
            "`exts` is not a list of file extensions",
            found=typed(exts),
            remedy='Write it as [".jpg", ".png"]',
        )
    paths, folders, images = _core.make_lists(
        file_name("`prefix`", prefix),
        file_name("`root`", root),
        [text("a file extension", ext) for ext in exts],
        truth("recursive", recursive),
        truth("shuffle", shuffle),
        whole("chunks", chunks, least=1, bits=32),
        real("train_ratio", train_ratio),
        real("test_ratio", test_ratio),
        truth("overwrite", overwrite),
    )
    return MadeLists(paths, {folder: label for label, folder in enumerate(folders)}, images)
