"""`ImageRecordIter` and its siblings: batches of images from RecordIO files, by MXNet's names and rules."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from fuelrail import _core
from fuelrail.closing import close_at_exit, end_thread_at_exit
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, StateError, warn_user
from fuelrail.mxnet.io.data import DataBatch, DataDesc, DataIter, NDArray
from fuelrail.mxnet.io.parameters import REQUIRED, described_keywords, read_keywords
from fuelrail.options import shown

__all__ = [
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordUInt8Iter",
]

_Taken = tuple[_core.Array, _core.Array, _core.Array, int]  # data, label, index, pad


class _RecordIter(DataIter):
    """What the iterators share; they differ in their parameters."""

    _detection: ClassVar[bool] = False
    _own_defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, **keywords: Any) -> None:
        if args:
            raise ArgumentTypeError(
                "the iterator takes keywords only",
                found=shown(args[0]),
                remedy="Name it, as in `path_imgrec='train.rec'`",
            )
        values = read_keywords({**self._own_defaults, **keywords}, self._detection)
        for required in REQUIRED:
            if required not in values:
                raise ArgumentTypeError(f"the keyword `{required}` is missing")
        names = [values.pop("data_name", "data"), values.pop("label_name", "softmax_label")]
        augmenter = values.pop("augmenter", None)
        super().__init__(values["batch_size"])
        said: list[str] = []
        self._core = _core.RecordIter(values, self._detection, said)
        self._augmenter: Callable[[Any], Any] | None = augmenter
        self._provided = [
            DataDesc(name, shape, getattr(np, dtype))
            for name, (dtype, shape) in zip(
                names, (self._core.described("data"), self._core.described("label")), strict=True
            )
        ]
        self._batch: DataBatch | None = None
        self._held: deque[list[_Taken]] = deque()  # taken from the core, and not given
        self._closed = False
        close_at_exit(self, type(self).close)
        for line in said:
            warn_user(line)

    @property
    def provide_data(self) -> list[DataDesc]:
        """Name, shape and type of `DataBatch.data`'s one array: ("data", (batch, channels, height, width))."""
        return [self._provided[0]]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Name, shape and type of `DataBatch.label`'s one array: ("softmax_label", (batch,) or (batch, numbers))."""
        return [self._provided[1]]

    def reset(self) -> None:
        """Begins the next epoch.

        At the end of one it goes on behind the rows that round_batch borrowed for the last batch. Inside one, what
        is left of it is passed over, and the next epoch begins at the part's beginning: always so, where MXNet's
        depends on how far it has read ahead. Before the first batch it does nothing.
        """
        self._check_open()
        self._held.clear()  # first: Ctrl-C may come as soon as the core has done it
        self._batch = None
        self._core.reset()

    def iter_next(self) -> bool:
        """Goes to the next batch. Returns: whether there is one; False from the epoch's end until `reset`.

        Ctrl-C loses no batch, but one that it finds in `augmenter`: the next call gives it.

        Errors, in place of a batch, after which the next call goes on: CorruptError, TruncatedError, DecodeError,
        UnsupportedError with file, record and offset; what `augmenter` raises. StateError where the iterator is
        closed, or was started in the process that this one was forked from.
        """
        self._batch = self._take()
        return self._batch is not None

    def next(self) -> DataBatch:
        """The next batch. Errors: StopIteration at the end of the epoch, and until `reset`; those of `iter_next`."""
        batch = self._batch = self._take()  # another thread may have set `_batch` by now
        if batch is None:
            raise StopIteration
        return batch

    def getdata(self) -> NDArray:
        """The images of the current batch: (batch, channels, height, width)."""
        array: NDArray = self._current().data[0]
        return array

    def getlabel(self) -> NDArray:
        """The labels of the current batch: float32 (batch,) with label_width=1, else (batch, numbers)."""
        labels = self._current().label
        array: NDArray = (labels or [])[0]
        return array

    def getpad(self) -> int:
        """The rows at the current batch's end that are no part of the epoch."""
        return self._current().pad or 0

    def getindex(self) -> Any:
        """The ids of the current batch's records, numpy.uint64 (batch,), where MXNet gives zeros."""
        return self._current().index

    def stats(self) -> _core.Stats:
        """Time, queue depth, bytes and images of every stage, and which stage limits: `print(iterator.stats())`."""
        return self._core.stats()

    def close(self) -> None:
        """Ends the threads and the work in progress. Batches stay; anything else is a StateError from then on."""
        self._closed = True
        self._held.clear()
        self._core.stop()

    def __reduce__(self) -> NoReturn:
        raise StateError(
            "an iterator of records cannot be pickled",
            remedy="Pickle its keywords, and make it anew over there",
        )

    def _take(self) -> DataBatch | None:
        self._check_open()
        self._batch = None
        taken: list[_Taken] = []
        if self._held:
            taken = self._held[0]
            del self._held[0]  # no call up to here, so that no signal's exception comes
        try:
            if not taken and not self._core.next(taken):
                return None
            data, label, index, pad = taken[0]
            batch = DataBatch(
                data=[NDArray(data)],
                label=[NDArray(label)],
                pad=pad,
                index=np.asarray(index),
                provide_data=self.provide_data,
                provide_label=self.provide_label,
            )
        except BaseException:  # Ctrl-C behind a batch: the next call gives it
            if taken:
                self._held.append(taken)
            end_thread_at_exit()
            raise
        if self._augmenter is not None:  # what it raises comes in place of the batch
            batch.data = [self._augmented(self._augmenter, batch.data[0])]
        return batch

    def _current(self) -> DataBatch:
        if self._batch is None:
            raise StateError(
                "there is no current batch", remedy="Call `iter_next` or `next` before"
            )
        return self._batch

    def _augmented(self, augmenter: Callable[[Any], Any], data: NDArray) -> NDArray:
        returned = augmenter(data.asnumpy())
        if returned is None:
            raise ArgumentTypeError("`augmenter` returned None", remedy="Return the array")
        made = NDArray(returned)
        if made.shape != data.shape or made.dtype != data.dtype:
            raise InvalidArgumentError(
                "`augmenter` gives another array than `provide_data` says",
                expected=f"{data.dtype.__name__} {data.shape}",
                found=f"{made.dtype.__name__} {made.shape}",
            )
        return made

    def _check_open(self) -> None:
        if self._closed:
            end_thread_at_exit()
            raise StateError("the iterator is closed")


class ImageRecordIter(_RecordIter):
    """Batches of images from RecordIO files (im2rec writes them), decoded, augmented, normalised.

    MXNet's `mx.io.ImageRecordIter`: keywords only, in the five groups of its note on data loaders; values may be
    the text that MXNet makes of them ("(3,224,224)", "True"). Pixels, orders and, with `seed_aug`, random numbers
    are MXNet 1.9.1's; docs/mxnet_augmentation.md has the formulas, docs/from_mxnet.md what differs.

    Each batch: `data` [NDArray (batch, channels, height, width)], `label` [NDArray float32 (batch,) or
    (batch, label_width)], `pad`, `index` (ids of the records).

    Errors: ArgumentTypeError for an unknown keyword (MXNet ignores it), naming the nearest, for a missing one, and for
    a value of the wrong type; InvalidArgumentError for a bad value, naming the keyword; NotFoundError, IoError,
    CorruptError, TruncatedError for the files; those of `iter_next`.
    """


class ImageRecordUInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with dtype="uint8"."""

    _own_defaults: ClassVar[dict[str, Any]] = {"dtype": "uint8"}


class ImageRecordInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with dtype="int8"."""

    _own_defaults: ClassVar[dict[str, Any]] = {"dtype": "int8"}


class ImageDetRecordIter(_RecordIter):
    """Batches of images with boxes for detection, the boxes changed with the images.

    MXNet's `mx.io.ImageDetRecordIter`; keywords only. An image's label, packed or listed: header width (2 or more),
    object width (5 or more), further header values, then for each object class, left, top, right, bottom (fractions
    of the sides), and further values. A batch's `label[0]` is float32 (batch, numbers), each row: channels, rows and
    columns in use, length of the label, the label, then label_pad_value.

    Errors: as ImageRecordIter's; CorruptError, with file, record and offset, for a label that is none.
    """

    _detection = True
    _own_defaults: ClassVar[dict[str, Any]] = {"path_imgrec": "./data/imgrec.rec"}


for _iterator in (ImageRecordIter, ImageDetRecordIter):
    _keywords = described_keywords(_iterator._detection, _iterator._own_defaults)
    _iterator.__doc__ = f"{inspect.getdoc(_iterator)}\n\n{_keywords}"
