"""A dataset for torch.utils.data.DataLoader, for people who keep their loop."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

import torch
from torch.utils.data import default_collate, get_worker_info

from fuelrail import _core
from fuelrail.dataset import OPENS_ALONE, Dataset, Openable
from fuelrail.dataset import open as open_dataset
from fuelrail.delivery import NativeColumn, check_images, columns_of
from fuelrail.errors import ArgumentTypeError, warn_user
from fuelrail.keywords import SampleKeywords
from fuelrail.loader import LOADER_OPTIONS
from fuelrail.options import (
    described,
    keywords,
    read_options,
    suggests_options_or,
    typed,
    whole,
)
from fuelrail.torch.tensors import TensorFramework
from fuelrail.transforms import native_list

if TYPE_CHECKING:
    from typing_extensions import Unpack

Sample = tuple[Any, ...]

_OWN: SampleKeywords = {"schema": None, "sidecar": "use", "transforms": None}
_OPTIONS = [option for option in LOADER_OPTIONS if option.name in SampleKeywords.__annotations__]
_TEXT = f"{inspect.getdoc(SampleKeywords)}\n{described('How they are made:', _OPTIONS)}"


class SampleBatch(Sequence[Sample]):
    """Samples that were decoded together: `columns` are the batch's tensors, or lists where rows
    differ in size; `self[i]` is a tuple of views of their rows.
    """

    def __init__(self, columns: Sequence[Any]) -> None:
        self.columns = list(columns)

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> SampleBatch: ...
    def __getitem__(self, index: int | slice) -> Sample | SampleBatch:
        """A sample, or for a slice a batch of some of them; nothing is copied."""
        if isinstance(index, slice):
            return SampleBatch([column[index] for column in self.columns])
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return tuple([column[index] for column in self.columns])


def collate(samples: Sequence[Any]) -> Any:
    """For `collate_fn`: a batch of a MapDataset as it is, without a copy, as the list of its tensors;
    anything else as `torch.utils.data.default_collate` does it.
    """
    return samples.columns if isinstance(samples, SampleBatch) else default_collate(list(samples))


class MapDataset(torch.utils.data.Dataset[Sample]):
    """Samples by index, decoded and transformed natively, a whole batch at a time in threads.

    >>> dataset = fuelrail.torch.MapDataset(
    ...     "train.rec", transforms=[fuelrail.transforms.RandomResizedCrop(224)])
    >>> loader = torch.utils.data.DataLoader(dataset, 256, shuffle=True,
    ...                                      collate_fn=fuelrail.torch.collate)
    >>> for epoch in range(90):
    ...     dataset.set_epoch(epoch)      # or every epoch has the same crops
    ...     for images, labels in loader:
    ...         loss = criterion(model(images), labels)

    Random transforms depend on `seed`, the epoch that `set_epoch` named and the index alone: not on
    when, where or how often a sample is asked for. An index that comes twice in one epoch has the
    same crop twice.

    Worker processes work, forked or spawned, and need not be many: each decodes in threads of its
    own, which share what this process may use. Persistent workers hear of `set_epoch` too.

    A subclass may override `__getitem__`, to call `super().__getitem__(index)` and change what that
    returns: torch's DataLoader gets these samples. They are decoded one by one, so that several
    worker processes are faster.
    """

    _native: _core.Loader | None

    @suggests_options_or(OPENS_ALONE, keywords(SampleKeywords, _OPTIONS, _OWN), _TEXT)
    def __init__(
        self,
        data: Dataset | Openable,
        *,
        fields: Sequence[str] = ("image", "label"),
        memory_format: Any = "contiguous_format",
        **options: Unpack[SampleKeywords],
    ) -> None:
        """Worker processes share the default number of `threads` evenly.

        data: a Dataset, or anything that `fuelrail.open` takes.
        fields: as of `fuelrail.torch.DataLoader`, in the order in which they are to come;
            `position` is the index. Default: image, label.
        memory_format: as of `fuelrail.torch.DataLoader`. Default: torch.contiguous_format.

        Errors: those of `fuelrail.torch.DataLoader`.
        """
        asked: dict[str, Any] = {**_OWN, **options}
        self._values = read_options(_OPTIONS, options)
        _core.check_loader_options(self._values)
        self._data = open_dataset(data, asked["schema"], sidecar=asked["sidecar"])
        native_list(asked["transforms"])  # checked before anything else is made of it
        self._transforms = list(asked["transforms"] or ())
        self._tensors = TensorFramework(memory_format)
        self._values["layout"] = self._tensors.native_layout(self._values["layout"])
        images = {field.name for field in self._data.schema if field.kind == "image"}
        self._fields = columns_of(fields)
        check_images(self._fields, self._data.schema)
        self._is_image = [field in images for field in self._fields]
        # In shared memory, so that worker processes that live on hear of the next epoch; whatever
        # torch's default device is.
        self._epoch = torch.zeros((), dtype=torch.int64, device="cpu")
        self._epoch.share_memory_()  # type: ignore[no-untyped-call]
        self._told = torch.zeros(2, dtype=torch.uint8, device="cpu")  # losses that were warned of
        self._told.share_memory_()  # type: ignore[no-untyped-call]
        self._prepare()
        self._ready(1)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, index: int) -> Sample:
        """One sample: a tensor for each field. Errors: OutOfRangeError, those of its record."""
        return self._decoded([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> Any:
        """The samples of these indices, decoded together: a SampleBatch. Where a subclass overrides
        `__getitem__`, which must not call this, a list of what it returns for each. This is what
        torch's DataLoader calls.

        FuelrailWarning once of 16-bit images, of which 8 bits are kept, and once of alpha, which
        is dropped, of all processes together. Errors: OutOfRangeError, ArgumentTypeError;
        those of the first record that cannot be read.
        """
        if isinstance(indices, (str, bytes)) or not hasattr(indices, "__iter__"):
            raise ArgumentTypeError("this is not a list of indices", found=typed(indices))
        if type(self).__getitem__ is not MapDataset.__getitem__:
            return [self[index] for index in indices]
        return self._decoded(indices)

    def _decoded(self, indices: Iterable[int]) -> SampleBatch:
        records = [self._data._index(index) for index in indices]
        if self._process != os.getpid():
            self._prepare()
        with self._lock:
            core = self._ready(len(records))
            try:
                core.set_epoch(int(self._epoch))
                turn = core.begin()
                core.feed(records, False)
                core.end_feed()
                taken: list[tuple[NativeColumn, ...]] = []
                core.next(turn, taken)
            except BaseException:
                self._native = None  # it may have been left half way
                raise
        for text in core.warnings():
            kind = int("alpha" in text)
            if not self._told[kind]:
                self._told[kind] = 1
                warn_user(text)
        return SampleBatch(self._tensors.columns(taken[0], self._is_image))

    def set_epoch(self, epoch: int) -> None:
        """Names the epoch of the samples to come, in [0, 2**32), here and in worker processes."""
        self._epoch.fill_(whole("epoch", epoch, bits=32))

    def __getstate__(self) -> dict[str, Any]:
        kept = (
            "_data",
            "_values",
            "_transforms",
            "_fields",
            "_tensors",
            "_is_image",
            "_epoch",
            "_told",
        )
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def _prepare(self) -> None:
        """Makes ready for this process: threads and locks stay behind at a fork."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._native = None
        self._rows = 0

    def _ready(self, rows: int) -> _core.Loader:
        core = self._native
        if core is None or rows > self._rows:
            core = self._native = self._make(rows)
        return core

    def _make(self, rows: int) -> _core.Loader:
        self._rows = max(rows, 1)
        values = {
            **self._values,
            "batch_size": self._rows,
            "threads": self._values["threads"] or _shared_threads(),
            "prefetch": 1,
        }
        return _core.Loader(
            self._data.container,
            values,
            shuffle=_core.Shuffle.none(),
            weights=None,
            fed="record",
            rank=0,
            world_size=1,
            transforms=native_list(self._transforms),
            fields=self._fields,
        )


def _shared_threads() -> int:
    worker = get_worker_info()
    return max(1, _core.default_threads() // (worker.num_workers if worker else 1))
