"""Names of classes, as a caller gives them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeAlias, Union

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, CoreWarnings, InvalidArgumentError
from fuelrail.options import file_name, typed

__all__ = ["ClassNames", "class_names"]

ClassNames: TypeAlias = Union[Sequence[str], str, "os.PathLike[str]"]


def class_names(classes: ClassNames | None) -> list[str]:
    """The names that `classes` holds, or those of the file that it names; [] for None.

    Errors: those of reading the file; ArgumentTypeError for what is neither; InvalidArgumentError
    for names that cannot be: none at all, an empty one, one that is there twice.
    """
    if classes is None:
        return []
    if isinstance(classes, (str, bytes, os.PathLike)):
        path = file_name("`classes`", classes)
        with CoreWarnings() as said:
            return _core.read_class_names(os.fsencode(path), said)
    if not isinstance(classes, Sequence):
        raise ArgumentTypeError(
            "`classes` is neither a path nor a list of names",
            found=typed(classes),
            remedy="Give a dataset's `classes`, or the file that has the names",
        )
    if not classes:
        raise InvalidArgumentError(
            "`classes` names no class",
            remedy="Leave it out, or give a dataset that has class names",
        )
    for name in classes:
        if not isinstance(name, str):
            raise ArgumentTypeError("a name in `classes` is not a string", found=typed(name))
    return [file_name("a name in `classes`", name) for name in classes]
