"""`ImageRecordIter` and its variants: batches of images from RecordIO files, as in MXNet."""

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
    """The base class of this module's iterators. They differ only in their parameters."""

    _detection: ClassVar[bool] = False
    _own_defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, **keywords: Any) -> None:
        if args:
            raise ArgumentTypeError(
                "the iterator takes only keyword arguments",
                found=shown(args[0]),
                remedy="Name each argument, as in `path_imgrec='train.rec'`",
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
        self._held: deque[list[_Taken]] = deque()  # taken from the core, not yet returned
        self._closed = False
        close_at_exit(self, type(self).close)
        for line in said:
            warn_user(line)

    @property
    def provide_data(self) -> list[DataDesc]:
        """Name, shape and type of the only array in `DataBatch.data`.

        By default: ("data", (batch, channels, height, width)).
        """
        return [self._provided[0]]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Name, shape and type of the only array in `DataBatch.label`.

        By default: ("softmax_label", (batch,) or (batch, numbers per image)).
        """
        return [self._provided[1]]

    def reset(self) -> None:
        """Starts the next epoch.

        If the epoch has ended, the next one starts after the rows that `round_batch` borrowed for
        the last batch. If it has not ended, the rest is skipped, and the next epoch starts at the
        beginning of the part. (In MXNet, the start depends on how far MXNet has read ahead.) Before
        the first batch, `reset` does nothing.
        """
        self._check_open()
        self._held.clear()  # before the core's reset, after which Ctrl-C may arrive
        self._batch = None
        self._core.reset()

    def iter_next(self) -> bool:
        """Moves to the next batch.

        Returns: True, or False from the end of the epoch until `reset`. If Ctrl-C interrupts the
        call while `augmenter` runs, the batch is lost. At any other time, Ctrl-C loses no batch:
        the next call moves to it.

        Errors: StateError if the iterator is closed, or in a forked child if the parent created it.
        The following errors replace one batch; the next call moves to the batch after that one:
        CorruptError, TruncatedError, DecodeError and UnsupportedError, with file, record and
        offset; exceptions of `augmenter`.
        """
        self._batch = self._take()
        return self._batch is not None

    def next(self) -> DataBatch:
        """Returns the next batch.

        Errors: StopIteration from the end of the epoch until `reset`; those of `iter_next`.
        """
        batch = self._batch = self._take()  # another thread may have set `_batch` by now
        if batch is None:
            raise StopIteration
        return batch

    def getdata(self) -> NDArray:
        """Returns the images of the current batch: (batch, channels, height, width)."""
        array: NDArray = self._current().data[0]
        return array

    def getlabel(self) -> NDArray:
        """Returns the labels of the current batch.

        The array is float32, (batch,) with label_width=1, else (batch, numbers per image).
        """
        labels = self._current().label
        array: NDArray = (labels or [])[0]
        return array

    def getpad(self) -> int:
        """Returns the number of rows at the batch's end that do not belong to the epoch."""
        return self._current().pad or 0

    def getindex(self) -> Any:
        """Returns the ids of the batch's records, numpy.uint64 (batch,). MXNet returns zeros."""
        return self._current().index

    def stats(self) -> _core.Stats:
        """Returns time, queue depth, bytes and images of each stage, and which stage is slowest.

        To show them: `print(iterator.stats())`.
        """
        return self._core.stats()

    def close(self) -> None:
        """Stops the threads and the work in progress. Returned batches stay valid.

        After `close`, `next`, `iter_next` and `reset` raise StateError.
        """
        self._closed = True
        self._held.clear()
        self._core.stop()

    def __reduce__(self) -> NoReturn:
        raise StateError(
            "a record iterator cannot be pickled",
            remedy="Pickle its keyword arguments, and create a new iterator from them",
        )

    def _take(self) -> DataBatch | None:
        self._check_open()
        self._batch = None
        taken: list[_Taken] = []
        if self._held:
            taken = self._held[0]
            del self._held[0]  # no call between these lines, so no signal can raise here
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
        except BaseException:  # Ctrl-C after a batch was taken: the next call returns it
            if taken:
                self._held.append(taken)
            end_thread_at_exit()
            raise
        if self._augmenter is not None:  # an exception that it raises replaces the batch
            batch.data = [self._augmented(self._augmenter, batch.data[0])]
        return batch

    def _current(self) -> DataBatch:
        if self._batch is None:
            raise StateError(
                "no batch has been read yet", remedy="Call `iter_next` or `next` first"
            )
        return self._batch

    def _augmented(self, augmenter: Callable[[Any], Any], data: NDArray) -> NDArray:
        returned = augmenter(data.asnumpy())
        if returned is None:
            raise ArgumentTypeError("`augmenter` returned None", remedy="Return the array")
        made = NDArray(returned)
        if made.shape != data.shape or made.dtype != data.dtype:
            raise InvalidArgumentError(
                "`augmenter` returned an array that does not match `provide_data`",
                expected=f"{data.dtype.__name__} {data.shape}",
                found=f"{made.dtype.__name__} {made.shape}",
            )
        return made

    def _check_open(self) -> None:
        if self._closed:
            end_thread_at_exit()
            raise StateError("the iterator is closed", remedy="Create a new iterator")


class ImageRecordIter(_RecordIter):
    """Iterates over batches of decoded, augmented and normalised images from RecordIO files.

    It replaces MXNet's `mx.io.ImageRecordIter`, and reads the files that im2rec writes. All
    arguments are keyword arguments, listed below in the five groups of MXNet's note on data
    loaders. A value may also be given as text that MXNet would convert to the value
    ("(3,224,224)", "True"). The pixels, the order of the images and, with `seed_aug`, the random
    numbers are those of MXNet 1.9.1. docs/mxnet_augmentation.md has the formulas, and
    docs/from_mxnet.md lists the differences.

    Each batch has `data` [NDArray (batch, channels, height, width)], `label` [NDArray float32
    (batch,) or (batch, label_width)], `pad`, and `index` (the ids of the records).

    Errors: ArgumentTypeError for a missing keyword, a value of the wrong type, and an unknown
    keyword (the error names the nearest known one; MXNet ignores the keyword);
    InvalidArgumentError, with the keyword, for an invalid value; NotFoundError, IoError,
    CorruptError and TruncatedError for the files; those of `iter_next`.
    """


class ImageRecordUInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with dtype="uint8"."""

    _own_defaults: ClassVar[dict[str, Any]] = {"dtype": "uint8"}


class ImageRecordInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with dtype="int8"."""

    _own_defaults: ClassVar[dict[str, Any]] = {"dtype": "int8"}


class ImageDetRecordIter(_RecordIter):
    """Iterates over batches of images with boxes, for object detection.

    It replaces MXNet's `mx.io.ImageDetRecordIter`. All arguments are keyword arguments.
    Augmentation changes the boxes together with the images. The label of an image, in its record or
    in a list, starts with the header width (2 or more), the object width (5 or more) and any
    further header values. Then, for each object, come its class, left, top, right and bottom
    (fractions of the image's sides) and any further values. `label[0]` of a batch is float32
    (batch, numbers per image). Each row starts with the number of channels, then the height and the
    width that the image fills in `data`, then the length of the label and the label itself. The
    rest of the row is filled with label_pad_value.

    Errors: as for ImageRecordIter; CorruptError, with file, record and offset, for an invalid
    label.
    """

    _detection = True
    _own_defaults: ClassVar[dict[str, Any]] = {"path_imgrec": "./data/imgrec.rec"}


for _iterator in (ImageRecordIter, ImageDetRecordIter):
    _keywords = described_keywords(_iterator._detection, _iterator._own_defaults)
    _iterator.__doc__ = f"{inspect.getdoc(_iterator)}\n\n{_keywords}"
