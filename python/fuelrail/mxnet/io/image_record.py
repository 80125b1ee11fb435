"""MXNet's `ImageRecordIter` and its variants, which read batches of images from RecordIO files."""

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
    """The base class of this module's iterators, which differ only in their parameters."""

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
                raise ArgumentTypeError(f"the keyword argument `{required}` is missing")
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
        """A list of one DataDesc: the name, shape and type of the array in `DataBatch.data`.

        The default name is "data". The shape is (batch, channels, height, width).
        """
        return [self._provided[0]]

    @property
    def provide_label(self) -> list[DataDesc]:
        """A list of one DataDesc: the name, shape and type of the array in `DataBatch.label`.

        The default name is "softmax_label". The shape is (batch,) if label_width is 1, and
        (batch, label_width) otherwise. For ImageDetRecordIter, it is (batch, length of a label
        row).
        """
        return [self._provided[1]]

    def reset(self) -> None:
        """Starts the next epoch. Does nothing if no batch of this epoch has been read yet.

        If `round_batch` filled the last batch of an epoch with records from the beginning of the
        data, the next epoch starts after these records. If `reset` is called in the middle of an
        epoch, the next epoch starts at the beginning of the data. (In MXNet, the start depends on
        how far MXNet has read ahead.)
        """
        self._check_open()
        self._held.clear()  # before the core's reset, after which Ctrl-C may arrive
        self._batch = None
        self._core.reset()

    def iter_next(self) -> bool:
        """Moves to the next batch.

        Returns True if a next batch exists. At the end of the epoch, returns False until `reset` is
        called.

        If Ctrl-C interrupts `augmenter`, the batch is lost: the next call moves to the batch after
        it. If Ctrl-C interrupts any other part of the call, no batch is lost.

        Errors: StateError if the iterator is closed, and in a forked child if the parent created
        the iterator; CorruptError, TruncatedError, DecodeError and UnsupportedError, with file,
        record and offset; exceptions of `augmenter`. After any error except StateError, the failed
        batch is lost, and the next call moves to the batch after it.
        """
        self._batch = self._take()
        return self._batch is not None

    def next(self) -> DataBatch:
        """Returns the next batch.

        Errors: StopIteration at the end of the epoch, and on further calls until `reset`; the
        errors of `iter_next`.
        """
        batch = self._batch = self._take()  # another thread may have set `_batch` by now
        if batch is None:
            raise StopIteration
        return batch

    def getdata(self) -> NDArray:
        """Returns the images of the current batch, of shape (batch, channels, height, width)."""
        array: NDArray = self._current().data[0]
        return array

    def getlabel(self) -> NDArray:
        """Returns the labels of the current batch as a float32 array.

        The shape is (batch,) if label_width is 1, and (batch, label_width) otherwise. For
        ImageDetRecordIter, it is (batch, length of a label row).
        """
        labels = self._current().label
        array: NDArray = (labels or [])[0]
        return array

    def getpad(self) -> int:
        """Returns the number of padding rows at the end of the batch."""
        return self._current().pad or 0

    def getindex(self) -> Any:
        """Returns the ids of the current batch's records. (MXNet returns zeros.)

        The ids are a numpy.uint64 array of shape (batch,).
        """
        return self._current().index

    def stats(self) -> _core.Stats:
        """Returns the statistics of each stage (times, queue depth, numbers of bytes and images),
        and which stage is the slowest.

        `print(iterator.stats())` shows the statistics as a table.
        """
        return self._core.stats()

    def close(self) -> None:
        """Stops the iterator's threads. Batches that were already returned stay valid.

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
            raise ArgumentTypeError("`augmenter` returned None", remedy="Return the changed array")
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

    Replaces MXNet's `mx.io.ImageRecordIter`, and reads the files that im2rec writes. All arguments
    are keyword arguments. They are listed below, in the five groups of MXNet's documentation. A
    value may also be given as text in MXNet's form, for example "(3,224,224)" or "True".

    The images have the same order and the same pixels as in MXNet 1.9.1. Random augmentation gives
    the same pixels only if `seed_aug` is set. docs/mxnet_augmentation.md has the formulas, and
    docs/from_mxnet.md lists the differences from MXNet.

    Each batch is a DataBatch. `data` has one NDArray of shape (batch, channels, height, width).
    `label` has one float32 NDArray of shape (batch,) or (batch, label_width). `pad` is the number
    of padding rows at the end of the batch, and `index` has the ids of the records.

    Errors: ArgumentTypeError for a missing keyword, for a value of the wrong type, and for an
    unknown keyword (MXNet ignores unknown keywords); InvalidArgumentError for an invalid value;
    NotFoundError, IoError, CorruptError and TruncatedError for a missing, unreadable or damaged
    file; the errors of `iter_next`.
    """


class ImageRecordUInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with dtype="uint8"."""

    _own_defaults: ClassVar[dict[str, Any]] = {"dtype": "uint8"}


class ImageRecordInt8Iter(ImageRecordIter):
    """`ImageRecordIter` with dtype="int8"."""

    _own_defaults: ClassVar[dict[str, Any]] = {"dtype": "int8"}


class ImageDetRecordIter(_RecordIter):
    """Iterates over batches of images with boxes, for object detection.

    Replaces MXNet's `mx.io.ImageDetRecordIter`. All arguments are keyword arguments. Augmentation
    changes the boxes together with the images.

    The label of an image is stored in the image's record or in the file `path_imglist`. A label is
    a flat array of numbers: the header and then the objects. The header begins with the header
    width (the number of values in the header, at least 2) and the object width (the number of
    values of each object, at least 5). The values of an object are its class, its left, top, right
    and bottom edges as fractions of the image's width and height, and any further values.

    `label[0]` of a batch is a float32 array of shape (batch, length of a label row). A label row
    contains, in this order, the number of channels, the height and the width of the image in
    `data`, the length of the label, and the label. The rest of the row is filled with
    label_pad_value.

    Errors: as for ImageRecordIter; CorruptError, with file, record and offset, for an invalid
    label.
    """

    _detection = True
    _own_defaults: ClassVar[dict[str, Any]] = {"path_imgrec": "./data/imgrec.rec"}


for _iterator in (ImageRecordIter, ImageDetRecordIter):
    _keywords = described_keywords(_iterator._detection, _iterator._own_defaults)
    _iterator.__doc__ = f"{inspect.getdoc(_iterator)}\n\n{_keywords}"
