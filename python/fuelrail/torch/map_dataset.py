"""A map-style dataset for torch.utils.data.DataLoader."""

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
from fuelrail.delivery import (
    NativeColumn,
    check_images,
    columns_of,
    default_fields,
    image_groups,
)
from fuelrail.errors import ArgumentTypeError, warn_user
from fuelrail.keywords import SampleKeywords
from fuelrail.loader import LOADER_OPTIONS, OPENED
from fuelrail.options import (
    by_pattern,
    described,
    keywords,
    read_options,
    suggests_options_or,
    typed,
    whole,
)
from fuelrail.torch.tensors import TensorFramework
from fuelrail.transforms import copied_lists, native_lists

if TYPE_CHECKING:
    from typing_extensions import Unpack

Sample = tuple[Any, ...]

_OWN: SampleKeywords = {
    "schema": None,
    "track": None,
    "split": None,
    "sidecar": "use",
    "transforms": None,
    "shared": None,
}
_OPTIONS = [option for option in LOADER_OPTIONS if option.name in SampleKeywords.__annotations__]
_TEXT = f"{inspect.getdoc(SampleKeywords)}\n{described('More options:', _OPTIONS)}"


class SampleBatch(Sequence[Sample]):
    """A sequence of samples that were decoded together. Each sample is a tuple with one value for
    each field.

    The attribute `columns` is a list with one column for each field. A column is a tensor, or a
    list if the samples differ in size. The samples share the memory of the columns.
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
        """Returns one sample, or a SampleBatch for a slice. Copies no data."""
        if isinstance(index, slice):
            return SampleBatch([column[index] for column in self.columns])
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return tuple([column[index] for column in self.columns])


def collate(samples: Sequence[Any]) -> Any:
    """The `collate_fn` to use with a MapDataset. Converts a SampleBatch to the list of its columns,
    without a copy. For other samples, calls `torch.utils.data.default_collate`.
    """
    return samples.columns if isinstance(samples, SampleBatch) else default_collate(list(samples))


class MapDataset(torch.utils.data.Dataset[Sample]):
    """A map-style dataset that decodes and transforms a whole batch at a time in native threads.

    >>> dataset = fuelrail.torch.MapDataset(
    ...     "train.rec", transforms=[fuelrail.transforms.RandomResizedCrop(224)])
    >>> loader = torch.utils.data.DataLoader(dataset, 256, shuffle=True,
    ...                                      collate_fn=fuelrail.torch.collate)
    >>> for epoch in range(90):
    ...     dataset.set_epoch(epoch)  # otherwise, every epoch has the same crops
    ...     for images, labels in loader:
    ...         loss = criterion(model(images), labels)

    Random transforms depend only on the option `seed`, the epoch number and the sample's index. So
    a sample that is read twice in an epoch is cropped in the same way both times.

    Worker processes may be forked or spawned. A few workers are enough, because each decodes with
    several threads. By default, all workers together use as many threads as the main process would
    use without workers. `set_epoch` also takes effect in persistent workers.

    A subclass may override `__getitem__` to change the result of `super().__getitem__(index)`.
    Samples are then decoded one at a time, so use several worker processes.
    """

    _native: _core.Loader | None

    @suggests_options_or(OPENS_ALONE, keywords(SampleKeywords, _OPTIONS, _OWN), _TEXT)
    def __init__(
        self,
        data: Dataset | Openable,
        *,
        fields: Sequence[str] | None = None,
        memory_format: Any = "contiguous_format",
        **options: Unpack[SampleKeywords],
    ) -> None:
        """Opens the dataset. By default, all worker processes together use one thread for each
        processor.

        data: a Dataset, or anything that `fuelrail.open` takes.
        fields: the fields of a sample, in order. The names, groups and patterns are the same as for
            `fields` of `fuelrail.torch.DataLoader`. But a sample is always a flat tuple: the fields
            of a group or a pattern are in the order of the dataset's schema. And the field
            `position` contains the sample's index in the dataset. Default: None, image and label,
            or all fields of a dataset without these two.
        memory_format: as in `fuelrail.torch.DataLoader`. Default: torch.contiguous_format.

        Errors: those of `fuelrail.torch.DataLoader`.
        """
        asked: dict[str, Any] = {**_OWN, **options}
        plain, self._patterns = by_pattern(_OPTIONS, options)
        self._values = read_options(_OPTIONS, plain)
        _core.check_loader_options(self._values)
        self._data = open_dataset(data, **{name: asked[name] for name in OPENED})
        native_lists(asked["transforms"])  # checked before it is copied
        self._transforms = copied_lists(asked["transforms"])
        self._tensors = TensorFramework(memory_format)
        self._tensors.set_native_layouts(self._values, self._patterns)
        schema = self._data._fields
        self._fields = default_fields(schema) if fields is None else columns_of(fields)
        check_images(self._fields, schema)
        self._shared = image_groups(asked["shared"])
        # In shared memory, so that persistent workers see a new epoch. On the CPU, whatever torch's
        # default device is.
        self._epoch = torch.zeros((), dtype=torch.int64, device="cpu")
        self._epoch.share_memory_()  # type: ignore[no-untyped-call]
        self._told = torch.zeros(2, dtype=torch.uint8, device="cpu")  # which warnings were issued
        self._told.share_memory_()  # type: ignore[no-untyped-call]
        self._prepare()
        self._ready(1)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, index: int) -> Sample:
        """Returns a sample as a tuple with one value for each field. Errors: OutOfRangeError,
        ArgumentTypeError, the errors of reading and decoding.
        """
        return self._decoded([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> Any:
        """Decodes the samples at `indices` together. torch's DataLoader calls this method for each
        batch.

        Returns a SampleBatch. If a subclass overrides `__getitem__`, this method calls the
        subclass's `__getitem__` for each index and returns a list of the results. That
        `__getitem__` must not call `__getitems__`.

        Issues a FuelrailWarning if 16-bit images are reduced to 8 bits, and another if an alpha
        channel is dropped. A dataset issues each of the two only once, even with several worker
        processes.
        Errors: OutOfRangeError; ArgumentTypeError; the error of the first record that cannot be
        read.
        """
        if isinstance(indices, (str, bytes)) or not hasattr(indices, "__iter__"):
            raise ArgumentTypeError(
                "`indices` has the wrong type", expected="a list of integers", found=typed(indices)
            )
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
                self._native = None  # an interrupted call may leave it unusable
                raise
        for text in core.warnings():
            kind = int("alpha" in text)
            if not self._told[kind]:
                self._told[kind] = 1
                warn_user(text)
        is_image = [is_image for _, is_image in core.column_names()]
        return SampleBatch(self._tensors.columns(taken[0], is_image))

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch number, in [0, 2**32). The new number applies to all samples that this
        process and its workers read later. Errors: InvalidArgumentError, ArgumentTypeError.
        """
        self._epoch.fill_(whole("epoch", epoch, bits=32))

    def __getstate__(self) -> dict[str, Any]:
        kept = (
            "_data",
            "_values",
            "_patterns",
            "_transforms",
            "_shared",
            "_fields",
            "_tensors",
            "_epoch",
            "_told",
        )
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def _prepare(self) -> None:
        """Creates a new lock and drops the native loader. A forked child cannot use those of its
        parent.
        """
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
        transforms, transforms_of = native_lists(self._transforms)
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
            transforms=transforms,
            transforms_of=transforms_of,
            patterns=self._patterns,
            shared=self._shared,
            fields=self._fields,
        )


def _shared_threads() -> int:
    worker = get_worker_info()
    return max(1, _core.default_threads() // (worker.num_workers if worker else 1))
