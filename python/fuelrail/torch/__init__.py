"""The loader for PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from fuelrail.dataset import Dataset, Openable
from fuelrail.keywords import LoaderKeywords
from fuelrail.loader import BaseLoader, takes_loader_options
from fuelrail.python_source import PythonData
from fuelrail.torch.map_dataset import MapDataset, SampleBatch, collate
from fuelrail.torch.tensors import TensorFramework

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["DataLoader", "MapDataset", "SampleBatch", "collate"]


def __dir__() -> list[str]:
    return __all__


class DataLoader(BaseLoader[torch.Tensor]):
    """Loads batches as tuples or dicts of tensors, with the options of `fuelrail.Loader`.

    >>> loader = fuelrail.torch.DataLoader("train.rec", 256, shuffle=True,
    ...                                    transforms=[fuelrail.transforms.RandomResizedCrop(224)])
    >>> for images, labels in loader:
    ...     loss = criterion(model(images), labels)

    The tensors of a batch share the loader's memory, which stays unchanged while any of these
    tensors is alive. Forking, spawning and pickling work as with `fuelrail.Loader`. Labels are
    int64 if every sample has one label and all labels are whole numbers, otherwise float32.

    In a distributed job, create the loader with the same arguments in every process, either before
    or after the call of `init_process_group`. The loader uses the rank and world size that
    torch.distributed has when the first batch is requested.
    """

    @takes_loader_options({})
    def __init__(
        self,
        data: Dataset | Openable | PythonData,
        batch_size: int = 1,
        *,
        memory_format: Any = "contiguous_format",
        pin_memory: bool = False,
        device: Any = None,
        **options: Unpack[LoaderKeywords],
    ) -> None:
        """Creates a loader. Its threads start when the first batch is requested.

        memory_format: the memory format of the images. With torch.channels_last, images have the
            shape (batch, 3, height, width) but are stored in the order NHWC. Default:
            torch.contiguous_format.
        pin_memory: whether to copy batches to page-locked memory. Needs CUDA. Default: False.
        device: the CUDA device to which batches are copied, such as "cuda:1". The value "cuda"
            selects the device that is current when the loader is created. Batches are copied
            through page-locked memory on a separate stream, before the `batch_transforms` run. If
            the device has too little memory for a batch, an error is raised. The next request for a
            batch then tries the same batch again. Default: None, the CPU.

        Errors: those of `fuelrail.Loader`; UnsupportedError if CUDA is needed but not available, or
        if `device` is neither a CUDA device nor the CPU.
        """
        own = {"memory_format": memory_format, "pin_memory": pin_memory, "device": device}
        given = {"batch_size": batch_size, **options}
        self._set_up(TensorFramework(memory_format, pin_memory, device), data, given, own)
