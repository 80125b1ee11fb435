"""The types of the options, for type checkers. The core's tables (`_core.loader_options`) define
names, defaults, bounds and meanings. A test compares these types with the tables.
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
    """Options for reading and transforming samples:
    schema: how to interpret the records of `data`, as in `fuelrail.open`. Default: the format's
        default.
    sidecar: "use" or "ignore" the sidecars of the files, as in `fuelrail.open`. Default: "use".
    transforms: a list of transforms from `fuelrail.transforms`. If they do not give all images the
        same size, the images of a batch are a list with one array for each image. Must be omitted
        if the dataset has no images. Default: None.
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
    """Options that select the samples, their order and the columns:
    data: a Dataset, or anything that `fuelrail.open` takes.
    shuffle: True or "full" permutes all samples, differently in every epoch; "window" or a
        WindowShuffle mixes only samples of the same window, which consists of long runs of
        neighbouring samples; False, the default, keeps the order of the dataset.
    weights: one number of at least 0 for each sample. Samples are drawn with replacement, with
        probabilities proportional to the weights. Cannot be combined with `shuffle`.
    sampler: an iterable of dataset indices for this rank, such as a list or a torch Sampler. Cannot
        be combined with `shuffle`. In each epoch, the loader calls the sampler's
        `set_epoch(epoch)`, if that method exists, and iterates over the sampler again. It reads
        `prefetch` + 1 batches ahead, even beyond the end of an epoch. If the sampler raises an
        error, the loader raises it in place of the batch, and the epoch ends. After an epoch
        without samples, the sampler is not read again.
    batch_sampler: like `sampler`, but an iterable of lists of indices of any length, such as a
        torch BatchSampler. Each list is a batch.
    fields: the columns of a batch, in order and without repetitions:
        image: an array of shape (batch, 3, height, width) or (batch, height, width, 3), or a list
            of arrays of shape (3, height, width) or (height, width, 3); the options `dtype` and
            `layout` determine its element type and layout;
        encoded: the images as stored (JPEG, PNG, ...), as a list of bytes;
        label: int64 (batch,) if every sample has one label and all labels are whole numbers;
            otherwise float32, of shape (batch,) or (batch, labels), or a list of arrays of shape
            (labels,) if samples differ in the number of labels;
        index: int64 (batch,), the sample's index in the dataset, as in `dataset[index]`;
        id: int64 (batch,), the id stored with the record (`Sample.id`); several records may have
            the same id, and it may differ from the index;
        position: int64 (batch,), the sample's place in the epoch, over all ranks. With `sampler` or
            `batch_sampler`, it is n * world_size + rank for the rank's n-th sample (from 0);
        valid: bool (batch,), False for the filler rows of last_batch="pad";
        substituted: bool (batch,), True for rows that on_error="skip" filled with another sample;
        any other name: the dataset's field of this name. Raw bytes are a list of bytes.
        Default: image, label. A dict renames the columns: {"x": "image", "y": "label"}.
    as_dict: whether a batch is a dict of columns by name instead of a tuple. If `fields` is a
        dict, a batch is always a dict. Default: False.
    batch_transforms: a list of functions that are applied to each batch (a tuple or a dict), in
        order, on the thread that requests the batch: `batch = f(batch)`, or `batch = f(batch,
        context=...)` if f has a parameter `context`, which gets a `fuelrail.BatchContext` (seed,
        epoch, positions). If a function raises an exception, the loader raises it in place of the
        batch, and can continue with the next batch.
    rank, world_size: this process's share of every global batch. Default: the rank and world size
        of torch.distributed if it is initialised; otherwise those in the environment variables RANK
        and WORLD_SIZE (torchrun); otherwise those in SLURM_PROCID and SLURM_STEP_NUM_TASKS in a
        step that srun started; otherwise 0 and 1. The loader looks them up whenever `len`, the
        state or a batch is requested, until the first batch is requested. So the loader may be
        created before `init_process_group`. A FuelrailWarning is issued if a number that `len`,
        `batches_left`, `batches_done` or `global_batch_size` returned changes because a different
        share is found later. In each process, one FuelrailWarning is issued if SLURM's share is
        used, or if the process gets all samples although the environment shows other processes.
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
