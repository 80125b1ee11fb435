"""Packs images into record files, following MXNet's im2rec proposal (apache/mxnet #14503).

>>> from fuelrail.mxnet import Compose, Resize, im2rec
>>> im2rec("train.lst", Compose([Resize(256)]), {"num_workers": 8}, "train.rec")
'train.rec'

The command `fuelrail im2rec` replaces MXNet's script `im2rec.py`. `make_lists` writes the `.lst`
files.
"""

from __future__ import annotations

import inspect
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.mxnet.lists import MadeLists, make_lists
from fuelrail.mxnet.transforms import Compose, PixelFunction, flattened
from fuelrail.options import (
    Option,
    described,
    file_name,
    nearest,
    read_options,
    shown,
    switch,
    typed,
    whole,
)
from fuelrail.packer import PACK_OPTIONS, PackReport, pack_report
from fuelrail.progress import progress_of
from fuelrail.transforms import Transform

__all__ = ["Compose", "MadeLists", "im2rec", "make_lists", "np2rec"]

_LOG = logging.getLogger("fuelrail.mxnet.im2rec")

_IMAGE_OPTIONS = [Option(*row) for row in _core.image_options()]
_OF_PACK = ("nsplit", "part", "overwrite", "resume", "max_errors")
# Defaults of `dataset_params`.
_DEFAULTS: Mapping[str, Any] = {
    "num_workers": 1,
    "label_width": None,
    "pack_label": 0,
    **{row.name: row.default for row in PACK_OPTIONS if row.name in _OF_PACK},
    "max_errors": 0.01,
    **{row.name: row.default for row in _IMAGE_OPTIONS},
    "root": None,
    "progress": None,
}


def im2rec(
    list_file: str | os.PathLike[str],
    transforms: Compose | Sequence[Any] | Transform | PixelFunction | None = None,
    dataset_params: Mapping[str, Any] | None = None,
    output_path: str | os.PathLike[str] | None = None,
) -> str | list[str]:
    """Packs the images of a list into a record file.

    list_file: a text file with one image on each line, `index TAB label [TAB label ...] TAB path`.
        The index becomes the record's id and its key in the `.idx` file.
    transforms: a Compose, a list, one transform, or one function from pixels to pixels. They are
        applied to every image after the image settings in `dataset_params`. Default: no transforms.
    dataset_params: a mapping from the names below to values. A name that is missing has its default
        value. Default: None, which uses all defaults.
    output_path: the path of the new file, or an existing folder. The suffix `.rec` selects
        RecordIO, and `.ffr` selects FFRecord. In a folder, the file is named after the list.
        Default: the list's folder. For `X.rec`, the index `X.idx` and the sidecar `X.rec.frx` are
        also written.

    The `dataset_params` of MXNet's im2rec proposal (apache/mxnet #14503), with their defaults:

    - num_workers (1): number of threads that read, decode and encode. The number does not change
      the result; records are in the list's order.
    - label_width (None): number of labels that every line must have. None accepts any number.
    - pack_label (0): 1 stores all labels of a line, 0 stores only the first.
    - nsplit (1): number of parts, which are written to `X.part000.rec`, `X.part001.rec` and so on.
      Each part has consecutive images, and the sizes of the parts differ by at most one image.
      `fuelrail.merge` joins the parts.
    - part (all parts): the number of one part, counted from 0. Only this part is written, so that
      several machines can share the work.

    The proposal's image settings are listed at the end of this text. Boolean settings also accept 0
    and 1, and `resize` also accepts [width, height]. fuelrail adds these `dataset_params`:

    - max_errors (0.01): the largest allowed number (int) or fraction (float from 0 to 1) of
      unreadable images and lines. Unreadable images and lines are skipped, logged by the logger
      `fuelrail.mxnet.im2rec`, and listed with the reason in `X.rec.errors.jsonl`.
    - overwrite (False), resume (False), progress (none): as in `fuelrail.pack`. `resume` compares
      the functions in `transforms` only by name, so it does not notice that a function's code has
      changed. For each file that already exists with the right contents, `resume` logs a message
      of level INFO.
    - root (the list's folder): the folder that the list's paths are relative to.

    Returns: the path of the file, or a list of the paths of all parts if nsplit is above 1 and part
    is not given.

    Errors: InvalidArgumentError for an invalid value, and for an unknown name in `dataset_params`
    (the text suggests the nearest known name); ArgumentTypeError; NotFoundError; IoError;
    CorruptError if more images fail than max_errors allows (complete parts are kept); any exception
    that a function in `transforms` or the function `progress` raises.
    """
    params = _params(dataset_params)
    listed = file_name("`list_file`", list_file)
    options = _options(params, transforms)
    if params["label_width"] is not None:
        options["label_width"] = whole("label_width", params["label_width"], least=1)
    if params["root"] is not None:
        options["root"] = file_name("`root`", params["root"])
    output = _output(output_path, os.path.dirname(listed), os.path.basename(listed))
    report = pack_report(
        lambda said: _core.pack(
            [("", listed)], output, options, progress_of(params["progress"]), _log_failure, said
        )
    )
    return _paths(report, params)


def np2rec(
    data: Any,
    labels: Any,
    transforms: Compose | Sequence[Any] | Transform | PixelFunction | None = None,
    dataset_params: Mapping[str, Any] | None = None,
    output_path: str | os.PathLike[str] | None = None,
) -> str | list[str]:
    """Packs an array of images into a record file. An image's id is its index in `data`.

    data: N images, as an array of shape (N, H, W) for grey, (N, 3, H, W) for RGB or (N, 4, H, W)
        for RGBA. Integers range from 0 to 255. Floats range from 0 to 1; they are multiplied by 255
        and rounded. Values outside these ranges are clipped, with a FuelrailWarning. An image with
        a NaN counts as unreadable.
    labels: one number for each image or, if `pack_label` is 1, an array of shape (N, label_width)
        with several labels for each image.
    transforms: as for `im2rec`.
    dataset_params: as for `im2rec`, but without root, color, pass_through and resume. For RGBA
        images, encoding must be ".png".
    output_path: the path of the new file, `X.rec` or `X.ffr`, or an existing folder, in which the
        file is named `data.rec`. Default: the current folder.

    Returns: as `im2rec`. Errors: as `im2rec`; InvalidArgumentError for arrays of other shapes.
    """
    params = _params(
        dataset_params, without=("root", "color", "pass_through", "resume"), function="np2rec"
    )
    pixels = _images(data)
    values, width = _labels(labels, params)
    options = _options(params, transforms)
    output = _output(output_path, "", "data.rec")
    report = pack_report(
        lambda said: _core.pack_arrays(
            pixels,
            values,
            width,
            output,
            options,
            progress_of(params["progress"]),
            _log_failure,
            said,
        )
    )
    return _paths(report, params)


im2rec.__doc__ = (
    f"{inspect.getdoc(im2rec)}\n\n"
    f"{described('Settings for images, applied in this order:', _IMAGE_OPTIONS)}"
)

# --- Image settings ---


def _composed(transforms: object) -> list[Transform | PixelFunction]:
    if transforms is None:
        return []
    if isinstance(transforms, (list, tuple)):
        return flattened(Compose(transforms))
    return flattened(transforms)


def _on_pixels(function: PixelFunction) -> Callable[..., tuple[Any, int, int, int]]:
    """Wraps `function` for the C++ core, which passes an image as flat pixels and their shape."""

    def call(flat: Any, height: int, width: int, channels: int) -> tuple[Any, int, int, int]:
        made = np.asarray(function(flat.reshape(height, width, channels)))
        if made.dtype != np.uint8 or made.ndim not in (2, 3):
            raise ArgumentTypeError(
                "a function in the list of transforms returned an invalid image",
                expected="a uint8 array (height, width, channels)",
                found=f"{made.dtype} {made.shape}",
            )
        shape = made.shape if made.ndim == 3 else (*made.shape, 1)
        return np.ascontiguousarray(made), *shape

    return call


def _name_of(item: object) -> str:
    """Returns a name for a transform or function. The name is the same in all processes."""
    name = getattr(item, "__qualname__", None)
    if name is not None:
        return f"{getattr(item, '__module__', '')}.{name}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(item))  # addresses change from run to run


def _stages(items: list[Transform | PixelFunction]) -> list[Any]:
    """Converts `items` to a list of stages. Consecutive transforms form one stage, which is a list.
    Each function is a stage of its own, wrapped by `_on_pixels`.
    """
    stages: list[Any] = []
    for item in items:
        if not isinstance(item, (Transform, _core.CustomStage)):
            stages.append(_on_pixels(item))
            continue
        if not stages or not isinstance(stages[-1], list):
            stages.append([])
        stages[-1].append(item.native() if isinstance(item, Transform) else item)
    return stages


def _image_options(params: Mapping[str, Any], transforms: object) -> dict[str, Any]:
    items = _composed(transforms)
    resize = params["resize"]
    size = _size(resize) if isinstance(resize, (list, tuple)) else None
    given = {
        row.name: switch(row.name, params[row.name]) if row.kind == "bool" else params[row.name]
        for row in _IMAGE_OPTIONS
    }
    return {
        **read_options(_IMAGE_OPTIONS, given | {"resize": 0 if size or resize is None else resize}),
        "size": size or (0, 0),
        "stages": _stages(items),
        "stages_name": "; ".join(_name_of(item) for item in items),
    }


def _size(sides: Sequence[Any]) -> tuple[int, int]:
    """Checks that `sides` is [width, height], and returns (height, width)."""
    if len(sides) != 2:
        raise InvalidArgumentError(
            "`resize` is invalid",
            expected="[width, height], or the length of the shorter side",
            found=shown(sides),
        )
    return whole("resize", sides[1], least=1), whole("resize", sides[0], least=1)


# --- Parameters ---


def _params(
    given: Mapping[str, Any] | None, without: tuple[str, ...] = (), function: str = "im2rec"
) -> Mapping[str, Any]:
    """Checks the names in `given`. Returns all `dataset_params`: the values in `given`, and the
    default of each parameter that is not in `given`.
    """
    if given is None:
        return _DEFAULTS
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            "`dataset_params` has the wrong type",
            expected="a mapping from names to values",
            found=typed(given),
            remedy='Write it like {"num_workers": 4}',
        )
    known = [name for name in _DEFAULTS if name not in without]
    for name in given:
        if name in known:
            continue
        if name in _DEFAULTS:
            raise InvalidArgumentError(f"`{name}` does not apply to {function}")
        raise InvalidArgumentError(
            "unknown name in `dataset_params`", found=shown(name), remedy=nearest(str(name), known)
        )
    return {**_DEFAULTS, **given}


def _options(params: Mapping[str, Any], transforms: object) -> dict[str, Any]:
    given = {name: params[name] for name in _OF_PACK}
    return {
        **read_options(PACK_OPTIONS, given),
        "threads": whole("num_workers", params["num_workers"], least=1, bits=16),
        "images": _image_options(params, transforms),
        "first_label_only": not switch("pack_label", params["pack_label"]),
    }


def _output(output_path: object, folder: str, name: str) -> str:
    stem = os.path.splitext(name)[0] + ".rec"
    if output_path is None:
        return os.path.join(folder, stem)
    given = file_name("`output_path`", output_path)
    return os.path.join(given, stem) if os.path.isdir(given) else given


def _paths(report: PackReport, params: Mapping[str, Any]) -> str | list[str]:
    if report.failures:
        _LOG.warning(
            "skipped images: %d; the file %s lists them", len(report.failures), report.report
        )
    for made in report.files:
        if made.was_there:
            _LOG.info("%s already exists and has the right contents", made.path)
    paths = [made.path for made in report.files]
    return paths if params["nsplit"] > 1 and params["part"] is None else paths[0]


def _log_failure(path: str, reason: str) -> None:
    said = f"{path} cannot be packed: {reason}"
    # A name that is not valid UTF-8 must not make the logging handler fail.
    _LOG.warning("%s", said.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


# --- Arrays ---


def _images(data: object) -> Any:
    try:
        pixels = np.asarray(data)
    except ValueError as error:
        raise InvalidArgumentError(
            "`data` cannot be converted to one array",
            expected="images of one size",
            found=str(error),
            remedy="Resize the images to one size, or save them as image files and pack a list of "
            "these files with im2rec",
        ) from error
    if pixels.dtype.kind == "b":
        raise ArgumentTypeError(
            "`data` has the wrong type",
            expected="an array of integers or floats",
            found="an array of bool",
            remedy="Pass data.astype(np.uint8) * 255",
        )
    if pixels.dtype.kind not in "iuf" or pixels.dtype.itemsize > 8:
        raise ArgumentTypeError(
            "`data` has the wrong type",
            expected="an array of integers or floats",
            found=str(pixels.dtype),
        )
    if not pixels.dtype.isnative:
        pixels = pixels.astype(pixels.dtype.newbyteorder("="))
    return pixels


def _labels(labels: object, params: Mapping[str, Any]) -> tuple[list[float], int]:
    """Returns all labels as one flat list, and the number of labels per image."""
    given = np.asarray(labels)
    if given.dtype.kind not in "iufb" or given.ndim not in (1, 2):
        raise ArgumentTypeError(
            "`labels` has the wrong type or shape",
            expected="an array of numbers, of shape (N,) or (N, label_width)",
            found=f"{given.dtype} {given.shape}",
        )
    if not np.isfinite(given).all():
        raise InvalidArgumentError("a label is not a finite number")
    with np.errstate(over="ignore"):  # rejected below
        stored = given.astype(np.float32)
    whole_numbers = given.astype(np.float64) == np.trunc(given.astype(np.float64))
    if not np.array_equal(stored[whole_numbers], given[whole_numbers]):
        raise InvalidArgumentError(
            "a label is too large to be stored exactly as float32",
            remedy="Use smaller labels, for example class numbers that start at 0",
        )
    width = 1 if stored.ndim == 1 else stored.shape[1]
    if width > 1 and not switch("pack_label", params["pack_label"]):
        raise InvalidArgumentError(
            "`labels` has several labels for each image, but `pack_label` is off",
            expected="labels of shape (N,)",
            found=f"{given.shape}",
            remedy="To pack all labels, set `pack_label` to 1 in `dataset_params`",
        )
    if params["label_width"] is not None and width != whole("label_width", params["label_width"]):
        raise InvalidArgumentError(
            "the number of labels for each image differs from `label_width`",
            expected=str(params["label_width"]),
            found=str(width),
        )
    return stored.ravel().tolist(), width
