"""Tensors over the core's memory, and copies of them on a device."""

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
    """Columns become tensors that share the core's memory, or copies elsewhere."""

    def __init__(
        self, memory_format: object, pin_memory: object = False, device: object = None
    ) -> None:
        """Errors: InvalidArgumentError, ArgumentTypeError; UnsupportedError without CUDA."""
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
                '`memory_format` goes with layout="NCHW"',
                found=f"layout={layout!r}",
                remedy="Leave `layout` out: channels_last has the memory of NHWC",
            )
        return "NHWC"

    def column(self, array: _core.Array, is_image: bool) -> torch.Tensor:
        tensor = from_dlpack(array)
        if not (is_image and self._interleaved):
            return tensor
        order = (0, 3, 1, 2) if tensor.ndim == 4 else (2, 0, 1)
        # Detached, it is no view of another tensor, which PyTorch would not let go of at exit.
        return tensor.permute(order).detach()

    def place(self, columns: list[Any]) -> list[Any]:
        if self._copy is not None:
            return self._copy(columns)
        return _each_tensor(columns, torch.Tensor.pin_memory) if self._pins else columns


class SideStreamCopy:
    """Copies to a CUDA device beside the work on the current stream, which waits for it when it
    comes to use the batch.

    Each tensor goes through page-locked memory, which PyTorch keeps until the copy is done; the
    loader's own memory is free at once. Where it fails, nothing of `columns` is lost.
    """

    def __init__(self, device: torch.device) -> None:
        """Requires: a CUDA device with an index."""
        self._device = device
        self._stream: Any = None  # with the first batch: no CUDA context before that

    def __call__(self, columns: list[Any]) -> list[Any]:
        if self._stream is None:
            self._stream = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        current = torch.cuda.current_stream(self._device)

        def copy(tensor: torch.Tensor) -> torch.Tensor:
            # Page-locked and device memory are taken, and the copy is done, on the side stream: so
            # what is let go half way is not reused before its copy is over.
            copied = tensor.pin_memory().to(self._device, non_blocking=True)
            copied.record_stream(current)  # nor before that stream, whose it becomes, is done
            return copied

        with torch.cuda.stream(self._stream):
            copies = _each_tensor(columns, copy)
        current.wait_stream(self._stream)
        return copies


def target_device(device: object) -> torch.device | None:
    """The CUDA device that `device` names, with its index; None for the CPU.

    CUDA is asked only about devices of its own: the answer may start the driver, which a fork does
    not survive. Errors: ArgumentTypeError and InvalidArgumentError for what names no device, or
    one that is not there; UnsupportedError for devices of other kinds, and without CUDA.
    """
    if device is None:
        return None
    if isinstance(device, bool) or not isinstance(device, (str, int, torch.device)):
        raise ArgumentTypeError(
            "`device` names no device", expected='"cuda", "cuda:1", ...', found=typed(device)
        )
    try:
        target = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    except RuntimeError:
        raise InvalidArgumentError(
            "`device` names no device", expected='"cuda", "cuda:1", ...', found=shown(device)
        ) from None
    if target.type == "cpu":
        return None
    if target.type != "cuda":
        raise UnsupportedError(
            "batches cannot be copied to such a device",
            expected='"cuda" or "cpu"',
            found=shown(str(target)),
            remedy="Leave `device` out, and move the tensors with `.to`",
        )
    require_cuda("device")
    index = target.index
    if index is None:  # the current one, which is the first until CUDA has been used
        index = torch.cuda.current_device() if torch.cuda.is_initialized() else 0
    count = torch.cuda.device_count()
    if index >= count:
        raise InvalidArgumentError(
            "`device` names a CUDA device that is not there",
            expected=f"an index below {count}, the number of devices",
            found=shown(device),
        )
    return torch.device("cuda", index)


def require_cuda(option: str) -> None:
    """Errors: UnsupportedError that says whether PyTorch or the machine lacks CUDA."""
    if torch.cuda.is_available():
        return
    built = torch.version.cuda is not None
    raise UnsupportedError(
        f"`{option}` needs CUDA, "
        + ("and PyTorch finds no device" if built else "which this build of PyTorch lacks"),
        found=f"torch {torch.__version__}",
        remedy="Look at what `nvidia-smi` says, or leave it out"
        if built
        else "Install PyTorch with CUDA, or leave it out",
    )


def _each_tensor(columns: list[Any], function: Any) -> list[Any]:
    """Lists keep their shape; bytes are left as they are."""
    return [
        _each_tensor(column, function)
        if isinstance(column, list)
        else column
        if isinstance(column, bytes)
        else function(column)
        for column in columns
    ]
