"""The types of the loader options, for type checkers.

The C++ core defines the names, defaults, bounds and meanings of its options in tables, which
`_core.loader_options` returns. A test compares the types in this file with these tables.
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
    schema: how to interpret the records, as in `fuelrail.open`. Default: the format's default.
    track: the image of each sample of a `.bzna` file, as in `fuelrail.open`.
    split: the samples of a `.bzna` file to read, as in `fuelrail.open`. Default: all samples.
    sidecar: "use" or "ignore", as in `fuelrail.open`. Default: "use".
    transforms: a list of transforms from `fuelrail.transforms`. If the transforms do not give all
        images the same size, the images of a batch are a list with one array for each image. Must
        be omitted if the dataset has no images. A dict gives a list to each pattern of names of
        image fields, {"cameras.*.image": [...], "*": [...]}: "*" in a pattern stands for any
        characters, and the pattern "*" is for images that no other pattern matches. Each image
        field of a sample has its own random numbers; the images of a field that is a list share
        them. Default: None.
    shared: groups of image fields that draw the same random numbers, such as the two images of a
        stereo camera: [("left", "right")]. A name may be a pattern: [("cameras.*.image",)]. Default:
        None, each image field draws its own.
    """

    schema: str | None
    track: str | None
    split: str | None
    sidecar: Literal["use", "ignore"]
    seed: int
    transforms: Sequence[Transform] | Mapping[str, Sequence[Transform]] | None
    shared: Sequence[Sequence[str]] | None
    dtype: Any
    layout: Literal["NCHW", "NHWC"] | Mapping[str, Literal["NCHW", "NHWC"]]
    orientation: Literal["apply", "ignore"]
    boxes: Literal[
        "field",
        "xyxy",
        "xywh",
        "cxcywh",
        "xyxy-relative",
        "xywh-relative",
        "cxcywh-relative",
    ]
    min_size: float
    min_area: float
    keep_empty: bool
    drop_points: bool
    scaled_decode: bool
    max_pixels: int
    max_record_bytes: int
    threads: int | None


class LoaderKeywords(SampleKeywords, _ReadWays, total=False):
    """Options that select the samples, their order and the columns:
    data: a Dataset, anything that `fuelrail.open` accepts, or a dataset or data provider that is
        written in Python, which `fuelrail.open_python` opens.
    shuffle: True or "full" shuffles all samples, with a new order in every epoch. "window" or a
        WindowShuffle shuffles the samples only within windows of many consecutive samples, so that
        reads are mostly sequential. False keeps the order of the dataset. Default: False.
    weights: a non-negative number for each sample. Samples are drawn with replacement, with
        probabilities proportional to the weights. Cannot be combined with `shuffle`.
    sampler: an iterable of dataset indices for this rank, such as a list or a torch Sampler. Cannot
        be combined with `shuffle`. At the start of each epoch, the loader calls the sampler's
        method `set_epoch(epoch)`, if it exists, and starts a new iteration over the sampler. The
        loader reads the sampler up to `prefetch` + 1 batches ahead, and so may start the sampler's
        next epoch before the current epoch ends. If the sampler raises an error, the loader raises
        this error in place of the batch, and the epoch ends. After an epoch without samples, the
        loader does not read the sampler again, so the following epochs are empty, too.
    batch_sampler: like `sampler`, but an iterable of lists of indices, such as a torch
        BatchSampler. Each list is a batch. The lists may differ in length. The batches of a
        `fuelrail.inputs.SamplerBase`, such as SequenceSampler, are those of all ranks: each rank
        reads its slice of them.
    fields: the names of a batch's columns, in order and without repetitions:
        image: the decoded images. The shape is (batch, 3, height, width) for layout="NCHW", and
            (batch, height, width, 3) for layout="NHWC". If the transforms do not give all images
            the same size, the column is a list of arrays without the dimension `batch`.
        encoded: the images as stored (JPEG, PNG, ...), as a list of bytes objects.
        label: int64 of shape (batch,) if every sample has one label and all labels are whole
            numbers. Otherwise float32, of shape (batch,) if every sample has one label, and of
            shape (batch, n) if every sample has n labels. If samples differ in the number of
            labels, the column is a list with one float32 array of labels for each sample.
        index: the sample's index in the dataset, as in `dataset[index]`. int64 of shape (batch,).
        id: the id stored with the record, as in `Sample.id`. Several records may have the same id,
            and the id may differ from the index. int64 of shape (batch,).
        position: the sample's place in the epoch, counted over all ranks. With `sampler` or
            `batch_sampler`, the n-th sample of a rank has the position n * world_size + rank, where
            n starts at 0. int64 of shape (batch,).
        valid: False for the rows that last_batch="pad" adds. bool of shape (batch,).
        substituted: True for the rows in which on_error="skip" replaced a bad sample. bool of shape
            (batch,).
        any other name: the dataset's field of this name. Raw bytes are returned as a list of bytes
            objects, text as a list of strings, and a field that is a list as a list of lists. Masks
            have the shape (batch, height, width); maps are float32 and have channels, in the order
            of `layout`. Masks, maps, boxes, points and camera matrices fit the image after the
            transforms.
        loader:id, loader:index, loader:position, loader:valid, loader:substituted,
            loader:encoded: the same as without "loader:", also if the dataset has a field of that
            name. Without "loader:", the dataset's field comes first.
        image.size: the height and width of the image field `image` before the transforms. int64 of
            shape (batch, 2).
        image.affine: the matrix that maps coordinates (x, y, 1) in the image before the transforms
            to coordinates in the batch's image. float64 of shape (batch, 2, 3).
        cameras: all fields of a group, here those whose names begin with "cameras.".
        cameras.*.image: all fields that match a pattern. "*" stands for any characters.
        Default: ("image", "label"), or all fields of a dataset without these two. A dict renames
        the columns: {"x": "image", "y": "label"}.
    as_dict: True returns each batch as a dict from column names to columns. False returns a tuple.
        If `fields` is a dict, each batch is always a dict. Default: False.
    flat: how batches of a dataset with groups of fields are returned. False returns nested dicts,
        with lists for numbers: batch["cameras"][0]["image"]. True returns a dict whose keys are the
        whole names: batch["cameras.0.image"]. Default: False.
    batch_transforms: a list of functions that change a batch, which is a tuple or a dict. The
        functions run in order, on the thread that requests the batch: `batch = f(batch)`. If a
        function has a parameter `context`, the call is `batch = f(batch, context=context)`, where
        `context` is a `fuelrail.BatchContext` with the seed, the epoch and the positions. If a
        function raises an exception, the loader raises the exception in place of the batch, and
        can continue with the next batch. Default: None.
    rank, world_size: the index of this process, from 0 to world_size - 1, and the number of
        processes.
        At each step, each process gets its own batch of `batch_size` samples. Default: the first of
        these pairs that is available:
        - the rank and world size of torch.distributed, if torch.distributed is initialised;
        - the environment variables RANK and WORLD_SIZE, which torchrun sets;
        - SLURM_PROCID and SLURM_STEP_NUM_TASKS, in a job step that srun started;
        - rank 0 and world size 1.
        The loader looks up the default whenever `len`, the state or the first batch is requested,
        so the loader may be created before `init_process_group`. After the first batch, the rank
        and world size stay the same. A FuelrailWarning is issued if a lookup changes a value that
        the program has already read from `len`, `batches_left`, `batches_done` or
        `global_batch_size`. Each process issues a FuelrailWarning once if the rank and world size
        come from SLURM's variables, or if the process gets all samples although environment
        variables suggest that several processes run.
    """

    shuffle: bool | Literal["full", "window"] | WindowShuffle
    weights: Iterable[float] | None
    num_samples: int | None
    sampler: Iterable[Any] | None
    batch_sampler: Iterable[Any] | None
    fields: Sequence[str] | Mapping[str, str]
    as_dict: bool
    flat: bool
    ragged: Literal["list", "pad", "packed"] | Mapping[str, Literal["list", "pad", "packed"]]
    batch_transforms: Sequence[Callable[..., Any]] | None
    last_batch: Literal["short", "drop", "pad", "wrap"]
    rank: int | None
    world_size: int | None
    on_error: Literal["raise", "skip"]
    max_bad: int | float | None
    prefetch: int
    stall_timeout: float | None
