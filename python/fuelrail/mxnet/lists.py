"""Writes image lists (`.lst` files) in the format of MXNet's `im2rec.py --list`."""

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
    """The result of `make_lists`."""

    paths: list[str]
    """The paths of the lists. The first list has the first rows, and so on."""
    labels: dict[str, int]
    """The label of each folder that has images. The keys are paths relative to `root`. The dict is
    empty unless `recursive` is True.
    """
    images: int
    """The number of images that were found."""


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
    """Writes lists of the images in a folder. The lists are byte-identical to those of MXNet's
    `im2rec.py --list`.

    A row has an id, a label and a path relative to `root`, separated by TABs. Ids count from 0 in
    the order in which the images are found.

    prefix: the start of each list's path. Depending on `chunks` and the ratios, the lists are
    `PREFIX.lst`, `PREFIX_0.lst`, `PREFIX_train.lst`, `PREFIX_0_train.lst` and so on.
    root: the folder.
    exts: the file extensions of images. Case is ignored. Default: .jpeg, .jpg and .png.
    chunks: the number of chunks into which the rows are divided. If `chunks` is above 1, the names
    of the lists contain `_0`, `_1` and so on. Default: 1.
    train_ratio, test_ratio: the fractions of each chunk that are written to `_train.lst` and
    `_test.lst`. The rest is written to `_val.lst`. If the ratios add up to 1, `_val.lst` is not
    written, and rows that remain because of rounding are in no list. If train_ratio is 1 (default),
    each chunk is one list, and test_ratio is ignored.
    recursive: also search subfolders, and give each folder that has images its own label. By
    default, subfolders are not searched and all labels are 0.
    shuffle: shuffle the rows like `random.seed(100); random.shuffle(rows)` in CPython.
    Default: True.
    overwrite: replace existing lists. By default, an IoError is raised if a list already exists,
    and no list is written.

    Errors: NotFoundError if the folder does not exist or has no images; InvalidArgumentError for a
    number out of range, and for a path that contains a TAB or a line end; ArgumentTypeError;
    IoError.
    """
    if isinstance(exts, (str, bytes)) or not isinstance(exts, Sequence):
        raise ArgumentTypeError(
            "`exts` has the wrong type",
            expected="a list of file extensions",
            found=typed(exts),
            remedy='Write it like [".jpg", ".png"]',
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
