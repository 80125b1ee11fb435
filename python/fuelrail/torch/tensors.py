"""Converts batches to tensors, and copies them to page-locked memory or to a CUDA device."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from fuelrail import _core
from fuelrail.delivery import Framework
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, UnsupportedError
from fuelrail.options import choice_of, shown, truth, typed

_FORMATS = ("contiguous_format", "channels_last")


class TensorFramework(Framework[torch.Tensor]):
    """Converts the columns of a batch to tensors. The tensors share the core's memory unless
    `pin_memory` or `device` requires a copy.
    """

    def __init__(
        self, memory_format: object, pin_memory: object = False, device: object = None
    ) -> None:
        """The parameters are options of `fuelrail.torch.DataLoader`. Errors: InvalidArgumentError
        or ArgumentTypeError for an invalid option; the errors of `target_device` and
        `require_cuda`.
        """
        self._interleaved = choice_of("memory_format", memory_format, _FORMATS) == _FORMATS[1]
        self._pins = truth("pin_memory", pin_memory)
        if self._pins:
            require_cuda("pin_memory")
        target = target_device(device)
        self._copy = None if target is None else SideStreamCopy(target)

    def native_layout(self, layout: str) -> str:
        if not self._interleaved:
            return layout
        if layout != "NCHW":
            raise InvalidArgumentError(
                '`memory_format=channels_last` needs layout="NCHW"',
                found=f"layout={layout!r}",
                remedy="Omit `layout`: with channels_last, images have the shape NCHW and are "
                "stored in the order NHWC",
            )
        return "NHWC"

    def column(self, array: _core.Array, is_image: bool) -> torch.Tensor:
        tensor = from_dlpack(array)
        if not (is_image and self._interleaved):
            return tensor
        # Without `detach`, this is a view, whose base tensor PyTorch would not release at exit.
        return tensor.movedim(-1, -3).detach()

    def place(self, columns: list[Any]) -> list[Any]:
        if self._copy is not None:
            return self._copy(columns)
        return _each_tensor(columns, torch.Tensor.pin_memory) if self._pins else columns


class SideStreamCopy:
    """Copies batches to a CUDA device on a separate stream, in parallel with earlier work on the
    current stream. Later work on the current stream waits for the copy.

    `__call__` first copies each tensor to page-locked memory. When `__call__` returns, this first
    copy is complete, and the loader may reuse the memory of the tensors that it passed. An error
    does not change the columns that were passed.
    """

    def __init__(self, device: torch.device) -> None:
        """`device` must be a CUDA device with an index, such as "cuda:0"."""
        self._device = device
        self._stream: Any = None  # created with the first batch, to create no CUDA context earlier

    def __call__(self, columns: list[Any]) -> list[Any]:
        if self._stream is None:
            self._stream = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        current = torch.cuda.current_stream(self._device)

        def copy(tensor: torch.Tensor) -> torch.Tensor:
            # Both memories are allocated on the side stream, where the copy runs: if an error
            # releases them, PyTorch does not reuse them before the copy is done.
            copied = tensor.pin_memory().to(self._device, non_blocking=True)
            copied.record_stream(current)  # and keeps the copy until the current stream has used it
            return copied

        with torch.cuda.stream(self._stream):
            copies = _each_tensor(columns, copy)
        current.wait_stream(self._stream)
        return copies


def target_device(device: object) -> torch.device | None:
    """Converts `device` to a CUDA device with an index, or to None for the CPU.

    Errors: ArgumentTypeError; InvalidArgumentError for an invalid `device` or an index out of
    range; UnsupportedError if CUDA is needed but not available, or if `device` is neither a CUDA
    device nor the CPU.
    """
    if device is None:
        return None
    if isinstance(device, bool) or not isinstance(device, (str, int, torch.device)):
        raise ArgumentTypeError(
            "`device` has the wrong type",
            expected='a device such as "cuda" or "cuda:1"',
            found=typed(device),
        )
    try:
        target = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    except RuntimeError:
        raise InvalidArgumentError(
            "`device` is invalid",
            expected='a device such as "cuda" or "cuda:1"',
            found=shown(device),
        ) from None
    if target.type == "cpu":
        return None
    if target.type != "cuda":
        raise UnsupportedError(
            "copying batches to this type of device is not supported",
            expected='"cuda" or "cpu"',
            found=shown(str(target)),
            remedy="Omit `device`, and move the tensors with `.to`",
        )
    # CUDA is queried only from here on: a query may start the driver, which fails after a fork.
    require_cuda("device")
    index = target.index
    if index is None:  # the current device: index 0 until CUDA is initialised
        index = torch.cuda.current_device() if torch.cuda.is_initialized() else 0
    count = torch.cuda.device_count()
    if index >= count:
        raise InvalidArgumentError(
            "the CUDA device does not exist",
            expected=f"a device index below {count}",
            found=shown(device),
        )
    return torch.device("cuda", index)


def require_cuda(option: str) -> None:
    """If CUDA is not available, raises an UnsupportedError that names `option`."""
    if torch.cuda.is_available():
        return
    built = torch.version.cuda is not None
    raise UnsupportedError(
        f"`{option}` needs CUDA, "
        + ("but no CUDA device is available" if built else "which this build of PyTorch lacks"),
        found=f"PyTorch {torch.__version__}",
        remedy=f"Check the output of `nvidia-smi`, or omit `{option}`"
        if built
        else f"Install PyTorch with CUDA, or omit `{option}`",
    )


def _each_tensor(columns: list[Any], function: Any) -> list[Any]:
    """Returns a copy of `columns` in which `function` was applied to every tensor, including those
    in nested lists. Bytes objects and strings are unchanged.
    """
    return [
        _each_tensor(column, function)
        if isinstance(column, list)
        else column
        if isinstance(column, (bytes, str))
        else function(column)
        for column in columns
    ]
