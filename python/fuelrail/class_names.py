"""Checks the argument `classes` and returns the class names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeAlias, Union

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, CoreWarnings, InvalidArgumentError, NotFoundError
from fuelrail.options import file_name, typed

__all__ = ["ClassNames", "class_names"]

ClassNames: TypeAlias = Union[Sequence[str], str, "os.PathLike[str]"]


def class_names(classes: ClassNames | None) -> list[str]:
    """Returns the class names as a list. The C++ core checks that no name is empty or repeated.

    classes: a list of names, or the path of a file or folder to read the names from. None gives an
        empty list.

    Errors: ArgumentTypeError if `classes` is neither a path nor a list of strings;
    InvalidArgumentError if `classes` is an empty list, or if the path or a name contains a NUL
    character or cannot be encoded; the errors of reading the file or folder.
    """
    if classes is None:
        return []
    if isinstance(classes, (str, bytes, os.PathLike)):
        path = file_name("`classes`", classes)
        with CoreWarnings() as said:
            try:
                return _core.read_class_names(os.fsencode(path), said)
            except NotFoundError as error:
                raise NotFoundError(
                    error.failure,
                    path=error.path,
                    remedy="`classes` is a list of names, or the path of what has them",
                ) from None
    if not isinstance(classes, Sequence):
        raise ArgumentTypeError(
            "`classes` has the wrong type",
            expected="a path or a list of names",
            found=typed(classes),
            remedy="Pass the `classes` of a dataset, or the path of a file with the names",
        )
    if not classes:
        raise InvalidArgumentError(
            "`classes` is empty",
            remedy="Omit it, or pass the `classes` of a dataset that has class names",
        )
    for name in classes:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                "a name in `classes` has the wrong type", expected="a string", found=typed(name)
            )
    return [file_name("a name in `classes`", name) for name in classes]
