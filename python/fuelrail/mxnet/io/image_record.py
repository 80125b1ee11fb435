"""`ImageRecordIter` and its siblings: batches of images from RecordIO files, by MXNet's names and rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from fuelrail import _core
from fuelrail.closing import close_at_exit, end_thread_at_exit
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, StateError, warn_user
from fuelrail.mxnet.io.data import DataBatch, DataDesc, DataIter, NDArray
from fuelrail.mxnet.io.parameters import read_keywords
from fuelrail.options import shown, text, typed

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
        keywords = {**self._own_defaults, **keywords}
        values = read_keywords(keywords, self._detection)
        for required in ("path_imgrec", "data_shape", "batch_size"):
            if required not in values:
                raise ArgumentTypeError(f"the keyword `{required}` is missing")
        augmenter = keywords.get("augmenter")
        if augmenter is not None and not callable(augmenter):
            raise ArgumentTypeError("`augmenter` cannot be called", found=typed(augmenter))
        names = [text(f"`{name}`", keywords.get(name, default)) for name, default in _NAMES]
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


_NAMES = (("data_name", "data"), ("label_name", "softmax_label"))


class ImageRecordIter(_RecordIter):
    """Batches of images from RecordIO files (im2rec writes them), decoded, augmented, normalised.

    MXNet's `mx.io.ImageRecordIter`: keywords only, in the five groups of its note on data loaders; values may be
    the text that MXNet makes of them ("(3,224,224)", "True"). Pixels, orders and, with `seed_aug`, random numbers
    are MXNet 1.9.1's; docs/mxnet_augmentation.md has the formulas, docs/from_mxnet.md what differs.

    Dataset:
        path_imgrec: the file, several divided by ";", a directory, or a pattern (docs/input_split.md). Required.
        path_imgidx: its .idx; parts are then of equally many records, and a shuffle is of all of them. It has to
            name every record. Default: none.
        path_imglist: a .lst whose labels, by the records' ids, take the place of the packed ones. Default: none.
        label_width: labels of an image, as many as are packed or listed. Default: 1.
        data_shape: (channels, height, width); 1 channel is grey, 3 are red, green, blue, 4 those and alpha, of
            images that have four. Required.
        num_parts, part_index: read one of so many parts of the data. Default: 1, 0.
        shuffle: with path_imgidx all records of the part, anew in each epoch; without, those of each chunk of
            8 MiB. Default: False.
        shuffle_chunk_size: without path_imgidx, visit sub-parts of about so many MiB in random order. Default: 0, off.
        shuffle_chunk_seed: of that order. Default: 0.
        seed: of the shuffle, and of random numbers without `seed_aug`. Default: 0.
    Batch:
        batch_size: rows of a batch; every batch has all of them. Required.
        round_batch: True: the last batch is filled from the data's beginning, and the next epoch goes on behind
            that; False: it is filled with its last row. `pad` counts the filling in both cases. Default: True.
    Augmentation, in the order in which it takes place:
        aug_seq: "aug_default", the only one there is; one's own is `augmenter`.
        seed_aug: random numbers are MXNet's of this seed, and repeat in every batch or chunk. Default: None: they
            are a function of (seed, epoch, position), different in each epoch, the same for any number of threads.
        inter_method: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 Lanczos, 9 by size, 10 at random. Default: 1.
        resize: the shorter side becomes so many pixels. Default: -1, off.
        rotate, max_rotate_angle, rotate_list: degrees; fixed, at most, one of. Default: -1, 0, none.
        max_shear_ratio, max_random_scale, min_random_scale, max_aspect_ratio, min_aspect_ratio: of the same affine
            map. Default: 0, 1, 1, 0, None.
        max_img_size, min_img_size: limits to what it makes. Default: 1e10, 0.
        pad: pixels of border on each side. Default: 0.
        fill_value: of border and map, 0 to 255. Default: 255.
        random_resized_crop, max_random_area, min_random_area: a crop of random area, and of an aspect ratio by the
            limits above, resized to the shape. Default: False, 1, 1.
        max_crop_size, min_crop_size: a square of random side, resized to the shape. Default: -1, -1, off.
        rand_crop: crops lie at random instead of in the middle. Default: False.
        brightness, contrast, saturation: factors 1 +- at most so much, in random order. Default: 0.
        random_h, random_s, random_l: added to hue, saturation, lightness, at most. Default: 0.
        pca_noise: standard deviation of lighting noise. Default: 0.
        mirror, rand_mirror: left and right exchanged: always; for one half. Default: False.
        mean_img: a mean image's file, subtracted pixel by pixel; where it is missing it is made from this part's
            images, and written. Default: none.
        mean_r, mean_g, mean_b, mean_a: float32 is (pixel - mean) * scale / std, of pixels in 0 to 255; int8 is
            pixel - mean, cut to -128 to 127; uint8 is the pixel. Default: 0.
        std_r, std_g, std_b, std_a, scale: as there. Default: 1.
        max_random_contrast, max_random_illumination: of floats, a factor and an addend. Default: 0.
        augmenter: called with each batch's images, a NumPy array (batch, channels, height, width), after all of
            the above; returns one of the same shape and type. In C++: AugmentOptions::stages. Default: none.
    Backend:
        preprocess_threads: threads that decode, and no more than there are processors. Default: 4.
        prefetch_buffer: batches made ahead, each in memory of its own. Default: 4.
        dtype: "float32", "uint8" or "int8". Default: float32.
        ctx ("cpu", "gpu", "cpu_pinned"), device_id: taken and without effect: batches are in ordinary memory, from
            where frameworks copy.
    Auxiliary:
        verbose: taken and without effect: the iterator prints nothing.
        data_name, label_name: in `provide_data` and `provide_label`. Default: "data", "softmax_label".

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

    Dataset:
        path_imgrec: as ImageRecordIter's. Default: "./data/imgrec.rec".
        path_imglist, data_shape, num_parts, part_index, shuffle, shuffle_chunk_size, shuffle_chunk_seed, seed: as
            ImageRecordIter's; there is no path_imgidx.
        label_width: how many numbers of a row of path_imglist count; a packed label of another length is an error.
            Default: -1, any.
        label_pad_width: numbers that labels are filled up to; 0 and -1: as many as the longest label of all parts.
            Default: 0.
        label_pad_value: what fills them. Default: -1.
    Batch:
        batch_size, round_batch: as ImageRecordIter's.
    Augmentation, in the order in which it takes place:
        aug_seq: "det_aug_default".
        inter_method, resize: as ImageRecordIter's.
        max_random_hue, max_random_saturation, max_random_illumination, max_random_contrast: at most so much.
            Default: 0.
        random_hue_prob, random_saturation_prob, random_illumination_prob, random_contrast_prob: with these
            probabilities. Default: 0.
        rand_mirror_prob: probability of an exchange of left and right. Default: 0.
        rand_pad_prob, max_pad_scale: probability of a canvas, of up to so many times the image's sides. Default: 0, 1.
        fill_value: of the canvas, 0 to 255. Default: 127.
        rand_crop_prob, num_crop_sampler: probability of a crop, by so many samplers. Default: 0, 1.
        min_crop_scales, max_crop_scales: sides, relative to the image's. These and the following lists have one value
            a sampler, or one for all. Default: 0, 1.
        min_crop_aspect_ratios, max_crop_aspect_ratios: width / height, in pixels. Default: 1.
        min_crop_overlaps, max_crop_overlaps: intersection over union with an object. Default: 0, 1.
        min_crop_sample_coverages, max_crop_sample_coverages: intersection over the crop's area. Default: 0, 1.
        min_crop_object_coverages, max_crop_object_coverages: intersection over the object's area; one object must
            satisfy all three. Default: 0, 1.
        max_crop_trials: tries of a sampler. Default: 25.
        crop_emit_mode, emit_overlap_thresh: which objects a crop keeps: "center", those whose centre it holds, or
            "overlap", those of which it holds more than the threshold. Default: "center", 0.3.
        resize_mode: "force" to the shape, "shrink" what is too large, "fit" as large as fits. Default: "force".
        mean_img: as ImageRecordIter's; not used if a mean_* is above 0.
        mean_r, mean_g, mean_b, mean_a: (pixel - mean) / std * scale, if one of them is above 0. Default: 0.
        std_r, std_g, std_b, std_a: as there; what is not above 0 divides by nothing. Default: 0.
        scale: as there. Default: 1.
        augmenter: as ImageRecordIter's; it sees no boxes.
    Backend:
        preprocess_threads, prefetch_buffer, ctx, device_id: as ImageRecordIter's.
        dtype: "float32" only. Default: float32.
    Auxiliary:
        verbose, data_name, label_name: as ImageRecordIter's.

    Errors: as ImageRecordIter's; CorruptError, with file, record and offset, for a label that is none.
    """

    _detection = True
    _own_defaults: ClassVar[dict[str, Any]] = {"path_imgrec": "./data/imgrec.rec"}
