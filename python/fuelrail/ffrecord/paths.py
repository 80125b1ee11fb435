"""Checks the paths of FFRecord files. As in FFRecord, an invalid path raises an AssertionError."""

from __future__ import annotations

import os

from fuelrail.errors import ArgumentTypeError
from fuelrail.ffrecord.errors import FileNameError, MissingFileError
from fuelrail.options import file_name, typed

SUFFIX = ".ffr"


def path_name(what: str, value: object) -> str:
    """Converts a path (a str or an os.PathLike) to a str."""
    if not isinstance(value, (str, os.PathLike)):
        raise ArgumentTypeError(
            f"{what} has the wrong type", expected="a str or an os.PathLike", found=typed(value)
        )
    return file_name(what, value)


def output_name(what: str, value: object) -> str:
    """Converts the path of an output file to a str, and checks its suffix."""
    name = path_name(what, value)
    _check_suffix(name)
    return name


def input_names(fname: object) -> list[str]:
    """Returns the paths of the `.ffr` files that `fname` stands for. `fname` is the path of a file
    or a directory, or a list of files.

    Checks that each name ends with `.ffr`, and that each file exists, unless its name is a URI.
    """
    if isinstance(fname, (list, tuple)):
        names = [path_name("a file name", one) for one in fname]
    elif os.path.isdir(name := path_name("`fname`", fname)):
        names = sorted(
            os.path.join(name, entry) for entry in os.listdir(name) if entry.endswith(SUFFIX)
        )
        if not names:
            raise FileNameError(f"the directory has no {SUFFIX} file", path=name)
    else:
        names = [name]
    if not names:
        raise FileNameError("the list of files is empty")
    for name in names:
        if "://" not in name:
            _check_file(name)
        _check_suffix(name)
    return names


def _check_file(name: str) -> None:
    if not os.path.exists(name):
        raise MissingFileError("the file does not exist", path=name)
    if not os.path.isfile(name):
        raise FileNameError("the path is not a file", path=name)


def _check_suffix(name: str) -> None:
    if not name.endswith(SUFFIX):
        raise FileNameError(
            f"the file name does not end with {SUFFIX}",
            path=name,
            remedy="Rename the file if it is an FFRecord file",
        )
