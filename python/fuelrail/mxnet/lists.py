"""Image lists (`.lst`), as MXNet's `im2rec.py --list` writes them."""

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
    """The paths of the lists, in the order of their rows."""
    labels: dict[str, int]
    """With `recursive`, the label of each folder that has images, by its path below `root`."""
    images: int
    """The number of images in the folder."""


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
    """Writes lists of the images in a folder, byte for byte as `im2rec.py --list` writes them.

    A row is `id TAB label TAB path below root`. Ids count from 0 in the order in which the images
    are found.

    prefix: the lists are `PREFIX.lst`, `PREFIX_0.lst`, `PREFIX_train.lst`, `PREFIX_0_train.lst`...
    root: the folder.
    exts: the file name extensions of images, in upper or lower case.
    chunks: the number of lists that the rows are divided into, `_0`, `_1`...
    train_ratio, test_ratio: the fractions of each list that go into `_train.lst` and `_test.lst`.
    The rest goes into `_val.lst`. If the two add up to 1, `_val.lst` is not written, and rows that
    are left over because of rounding are in no list. If train_ratio is 1, the list is not split,
    whatever test_ratio is.
    recursive: include subfolders; each folder that has images gets its own label. Otherwise all
    labels are 0.
    shuffle: use the order of CPython's `random.seed(100); random.shuffle(rows)`.
    overwrite: replace existing lists. By default, an IoError is raised if one of the lists exists,
    and no list is written.

    Errors: NotFoundError if the folder does not exist or has no image; InvalidArgumentError for a
    number out of range and for a path that contains a TAB or a line end; ArgumentTypeError;
    IoError.
    """
    if isinstance(exts, (str, bytes)) or not isinstance(exts, Sequence):
        raise ArgumentTypeError(
            "`exts` has the wrong type",
            expected="a list of file extensions",
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
