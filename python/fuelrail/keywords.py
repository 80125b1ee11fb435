"""The types of the options, for type checkers. The core's tables (`_core.loader_options`) have the
names, defaults, bounds and meanings. A test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from fuelrail.orders import WindowShuffle
from fuelrail.transforms import Transform

__all__ = ["LoaderKeywords", "ReadKeywords", "SampleKeywords"]


class _ReadThreads(TypedDict, total=False):
    read_threads: int


class _ReadWays(TypedDict, total=False):
    read_backend: Literal["auto", "io_uring", "pread"]
    direct_reads: bool


class ReadKeywords(_ReadThreads, _ReadWays, total=False):
    """Options for reading files."""


class SampleKeywords(_ReadThreads, total=False):
    """How samples are read and transformed:
    schema: how to read the records of `data`, see `fuelrail.open`. Default: the format's default.
    sidecar: "use" or "ignore" the sidecars of the files, see `fuelrail.open`. Default: "use".
    transforms: a list of `fuelrail.transforms`. If it does not give all images one size, images
        come as a list with one array for each image. Must be omitted if the dataset has no images.
        Default: None.
    """

    schema: str | None
    sidecar: Literal["use", "ignore"]
    seed: int
    transforms: Sequence[Transform] | None
    dtype: Any
    layout: Literal["NCHW", "NHWC"]
    orientation: Literal["apply", "ignore"]
    scaled_decode: bool
    max_pixels: int
    max_record_bytes: int
    threads: int | None


class LoaderKeywords(SampleKeywords, _ReadWays, total=False):
    """Which samples are loaded, and in which columns:
    data: a Dataset, or anything that `fuelrail.open` takes.
    shuffle: True or "full" permutes all samples, differently in every epoch; "window" or a
        WindowShuffle mixes the samples of a few long runs at a time; False, the default, keeps
        the order of the dataset.
    weights: one number of at least 0 for each sample. Samples are drawn with replacement, each
        with a probability in proportion to its weight. Replaces `shuffle`.
    sampler: an iterable of dataset indices for this rank, such as a list or a torch Sampler.
        Replaces `shuffle`. Each epoch calls its `set_epoch(epoch)`, if it has one, and iterates
        over it again. It is read `prefetch` + 1 batches ahead, even past the end of an epoch. If
        it raises an error, the error comes in place of its batch and ends the epoch. An epoch
        without samples ends the order for good.
    batch_sampler: like `sampler`, but an iterable of lists of indices of any length, such as a
        torch BatchSampler. Each list is a batch.
    fields: the columns of a batch, in order, each at most once:
        image: dtype and layout as set by the options, shape (batch, 3, height, width) or (batch,
            height, width, 3); or a list of arrays (3, height, width) or (height, width, 3);
        encoded: the image as stored (JPEG, PNG, ...), a list of bytes;
        label: int64 (batch,) if every sample has one label and all labels are whole numbers;
            otherwise float32, (batch,) or (batch, labels), or a list of arrays (labels,) if
            samples differ in the number of labels;
        index: int64 (batch,), the sample's index in the dataset, as in `dataset[index]`;
        id: int64 (batch,), the id stored with the record (`Sample.id`), which may be repeated
            and need not be an index;
        position: int64 (batch,), the sample's place in the epoch. With `sampler` or
            `batch_sampler`, n * world_size + rank for the rank's n-th sample (from 0);
        valid: bool (batch,), False for the filler rows of last_batch="pad";
        substituted: bool (batch,), True for rows that on_error="skip" filled with another sample;
        any other field of the dataset, by its name. A field of raw bytes is a list of bytes.
        Default: image, label. A dict renames the columns: {"x": "image", "y": "label"}.
    as_dict: whether a batch is a dict of columns by name instead of a tuple. A batch is always a
        dict if `fields` is one. Default: False.
    batch_transforms: a list of functions that are applied to each batch (a tuple or a dict) when
        it is returned: `batch = f(batch)`, or `batch = f(batch, context=...)` if f has a
        parameter `context`, which gets a `fuelrail.BatchContext` (seed, epoch, positions). They
        run in order, on the thread that requests the batch. An exception that one raises comes
        in place of the batch, and the loop can continue after it.
    rank, world_size: this process's share of every global batch. Default: those of
        torch.distributed if it is initialised; otherwise the environment variables RANK and
        WORLD_SIZE (torchrun); otherwise SLURM_PROCID and SLURM_STEP_NUM_TASKS in a step that srun
        started; otherwise 0 and 1. They are looked up when the first batch, `len` or the state is
        requested, and again until the first batch, so the loader may be created before
        `init_process_group`. A FuelrailWarning is issued if `len`, `batches_left`, `batches_done`
        or `global_batch_size` returned a number for another share. One is also issued, once in
        each process, if SLURM's share is used, or if this process gets all samples although the
        environment shows other processes.
    """

    shuffle: bool | Literal["full", "window"] | WindowShuffle
    weights: Iterable[float] | None
    num_samples: int | None
    sampler: Iterable[Any] | None
    batch_sampler: Iterable[Any] | None
    fields: Sequence[str] | Mapping[str, str]
    as_dict: bool
    batch_transforms: Sequence[Callable[..., Any]] | None
    last_batch: Literal["short", "drop", "pad", "wrap"]
    rank: int | None
    world_size: int | None
    on_error: Literal["raise", "skip"]
    max_bad: int | float | None
    prefetch: int
    stall_timeout: float | None
