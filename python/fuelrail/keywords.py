"""The types of the options, for type checkers. Names, defaults, bounds and meanings are the core's
tables (`_core.loader_options`), which a test compares with these.
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
    """How files are read."""


class SampleKeywords(_ReadThreads, total=False):
    """What samples are made of:
    schema: what the records of `data` are, as `fuelrail.open` takes it. Default: what the file
        says.
    sidecar: whether the files' sidecars are used, as `fuelrail.open` takes it. Default: "use".
    transforms: a list of `fuelrail.transforms`. Where it does not give all images one size,
        they come as a list of one array an image. None where the dataset has no images.
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
    """Which samples come, and in which columns:
    data: a Dataset, or anything that `fuelrail.open` takes.
    shuffle: True or "full" permutes all samples anew in every epoch; "window" or a
        WindowShuffle mixes a few long runs of samples at a time; False, the default, keeps the
        order.
    weights: how often each sample is drawn, with replacement, in proportion: numbers of 0 and
        more, one a sample. In place of `shuffle`.
    sampler: an iterable of indices, this rank's own, in place of a computed order: a list, a
        torch Sampler. It is iterated over anew for every epoch, after its `set_epoch`, if it
        has one, was told the epoch, and `prefetch` + 1 batches ahead of use, across the end of
        an epoch too. An error that it raises comes in the place of its batch and ends the
        epoch; an epoch without a sample ends the order.
    batch_sampler: the same of lists of indices, of any length: a torch BatchSampler.
    fields: the columns of a batch, each once, in the order in which they are to come:
        image: `dtype` and `layout`, (batch, 3, height, width) or (batch, height, width, 3); or
            a list of (3, height, width), (height, width, 3);
        encoded: the image as it is stored (JPEG, PNG, ...): a list of bytes;
        label: int64 (batch,) where every sample has one and all are whole numbers, else
            float32, (batch,) or (batch, labels), or a list of (labels,) where samples have
            different numbers of labels;
        index: int64 (batch,), the sample's index in the dataset: `dataset[index]`;
        id: int64 (batch,), the format's number of the record (`Sample.id`), which need not be
            an index, nor be there once only;
        position: int64 (batch,), the place in the epoch; with `sampler` and `batch_sampler`, of
            this rank's n-th sample (from 0) n * world_size + rank;
        valid: bool (batch,), False for the filler rows of last_batch="pad";
        substituted: bool (batch,), True where on_error="skip" took another sample.
        any other field of the dataset by its name; bytes are a list of bytes.
        Default: image, label. A dict names them: {"x": "image", "y": "label"}.
    as_dict: whether a batch is a dict of the columns by name, as with a dict of `fields`, and
        not a tuple. Default: False.
    batch_transforms: callables that the batch, tuple or dict, goes through when it is handed
        out: `batch = f(batch)`, or `f(batch, context=...)` where f has a parameter of that
        name, with a `fuelrail.BatchContext` (seed, epoch, positions). They run in order on the
        thread that asks for the batch; what one raises comes as it is, in place of the batch,
        and the loop can go on after it.
    rank, world_size: this process's share of every global batch. Default: those of
        torch.distributed where it is initialised, else of the environment variables RANK and
        WORLD_SIZE (torchrun), else of SLURM_PROCID and SLURM_STEP_NUM_TASKS in a step that srun
        started, else 0 of 1. They are looked for with the first batch, and where `len` and the
        state are asked for, again until that batch: so the loader may be made before
        `init_process_group`. FuelrailWarning where `len`, `batches_left`, `batches_done` or
        `global_batch_size` has answered for another share; and once a process where SLURM's
        share is taken, and where the environment says that there are other processes and all
        samples are this one's.
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
