"""Raises an error when a program uses an MXNet name that fuelrail.mxnet does not have. The error
says what to use instead.

docs/from_mxnet.md lists the replacements.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import NoReturn

from fuelrail.options import nearest

__all__ = ["missing_from"]

_LOADER = (
    "Pass the dataset to torch.utils.data.DataLoader, or the file to fuelrail.torch.DataLoader"
)
_NUMPY = "Use the arrays of a batch like NumPy arrays, or pass them to torch.from_dlpack"
_MEMORY = "Use fuelrail.mxnet.io.ThreadedIter, which prefetches the items of any producer"
_DECODE = (
    "Decode records with recordio.unpack_img, or image files with fuelrail.open(folder)[i].decode()"
)
_FOLDER = "Open the folder with fuelrail.open"
_ISLICE = (
    "Limit the number of batches with itertools.islice, and call `reset` at the end of each epoch"
)
_ITERATORS = "Use fuelrail.mxnet.io.DataIter, the base class of all iterators"
_TRANSFORMS = "Use fuelrail.transforms, or pass a function of NumPy arrays to transform_first"

_INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(("nd", "np", "cpu", "gpu"), _NUMPY),
    "gluon.data.DataLoader": _LOADER,
    "gluon.data.vision.ImageFolderDataset": _FOLDER,
    "gluon.data.vision.transforms": _TRANSFORMS,
    **dict.fromkeys(("image.ImageIter", "image.ImageDetIter"), _LOADER),
    **dict.fromkeys(("image.imread", "image.imdecode"), _DECODE),
    "io.ResizeIter": _ISLICE,
    "io.MXDataIter": _ITERATORS,
    **{
        f"io.{name}": _MEMORY
        for name in ("NDArrayIter", "CSVIter", "LibSVMIter", "MNISTIter", "PrefetchingIter")
    },
}


def missing_from(module: str) -> Callable[[str], NoReturn]:
    """Returns a `__getattr__` function that raises an error for each name that `module` lacks.

    The error is an AttributeError, so that `hasattr` returns False. The text of the error names the
    replacement if one is known, or else the most similar existing name.

    If a replacement is known, the statement `from module import name` raises an ImportError,
    because Python would discard the text of an AttributeError in such a statement.
    """

    def missing(name: str) -> NoReturn:
        instead = _INSTEAD.get(f"{module}.{name}".removeprefix("fuelrail.mxnet."))
        if instead is not None:
            said = f"{module} has no '{name}'. {instead}."
            if _imports_a_name(sys._getframe(1)):
                raise ImportError(said, name=module)
            raise AttributeError(said)
        where = f"module '{module}' has no attribute '{name}'"
        known = sys.modules[module].__all__
        raise AttributeError(where if name.startswith("_") else f"{where}. {nearest(name, known)}")

    return missing


def _imports_a_name(frame: FrameType) -> bool:
    """Returns whether `frame` is executing `from module import name`."""
    return frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]
