"""Names of MXNet's that are not here: their error says what to use. docs/from_mxnet.md, "What is not here"."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import NoReturn

from fuelrail.options import nearest

__all__ = ["missing_from"]

_LOADER = (
    "Give the dataset to torch.utils.data.DataLoader, or the file to fuelrail.torch.DataLoader"
)
_NUMPY = "A batch's arrays compute as NumPy's do, and torch.from_dlpack takes them"
_MEMORY = "It reads no images; fuelrail.mxnet.io.ThreadedIter prefetches whatever makes items"
_DECODE = "Decode records with recordio.unpack_img, files with fuelrail.open(folder)[i].decode()"
_FOLDER = "Open the folder with fuelrail.open"
_ISLICE = (
    "Take so many batches with itertools.islice, and call the iterator's `reset` at an epoch's end"
)
_ITERATORS = "The iterators are classes of their own; fuelrail.mxnet.io.DataIter is the base of all"
_TRANSFORMS = "Use fuelrail.transforms, or functions of NumPy's arrays with transform_first"

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
    """The `__getattr__` of a module below fuelrail.mxnet.

    Errors: AttributeError, so that `hasattr` is False, which says what to use, where that is known, or suggests the
    nearest name that is here. `from module import name` would put words of its own in an AttributeError's place: there
    what to use is said by an ImportError.
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
    """Whether the frame stands at the second half of `from module import name`."""
    return frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]
