"""Batches of a dataset, made by native threads."""

from __future__ import annotations

import contextlib
import copy
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, NoReturn, TypeVar

from fuelrail import _core
from fuelrail.closing import Closing, close_at_exit, end_thread_at_exit
from fuelrail.dataset import OPENS_ALONE, Dataset, Openable
from fuelrail.dataset import open as open_dataset
from fuelrail.delivery import (
    ArrayFramework,
    Delivery,
    Framework,
    NativeColumn,
    check_images,
)
from fuelrail.errors import (
    FuelrailWarning,
    InvalidArgumentError,
    StateError,
    TooManyBadRecordsError,
    warn_user,
)
from fuelrail.options import (
    choice,
    choice_of,
    integer,
    real,
    shown,
    suggests_options_or,
    truth,
    whole,
)
from fuelrail.orders import WindowShuffle, listed_weights, make_order
from fuelrail.shard import ALONE, LoaderShare, given_share
from fuelrail.state import plain_state
from fuelrail.transforms import Transform, native_list

__all__ = ["Loader"]

Element = TypeVar("Element")
"""What one column of a batch is: an Array, a tensor."""

# What to write in place of the options of torch.utils.data.DataLoader and of `open`.
_NOT_OPTIONS = {
    "dataset": "Name it `data`, or give it first without a name",
    "num_workers": "Use `threads`: native threads decode, there are no worker processes",
    "drop_last": 'Use `last_batch="drop"` for True, "short" (the default) for False',
    "pin_memory_device": "Leave it out: `pin_memory` is for CUDA, and `device` copies there",
    "collate_fn": "Leave it out: a batch is already a tuple of the columns named by `fields`. "
    "What is to happen to it goes into `batch_transforms`",
    "prefetch_factor": "Use `prefetch`, the number of batches made ahead",
    "worker_init_fn": "Leave it out: no Python runs in the threads, and `seed` sets randomness",
    "persistent_workers": "Leave it out: the threads live on from epoch to epoch",
    "multiprocessing_context": "Leave it out: there are no worker processes",
    "generator": "Use `seed`, which sets both the order and the random transforms",
    "timeout": "Use `stall_timeout`, in seconds, and None where torch has 0",
    "in_order": "Leave it out: the order is always the sampler's",
    **OPENS_ALONE,
}

_OPENED = (
    "self",
    "data",
    "schema",
    "sidecar",
)  # arguments that a pickle has as the dataset, not as options
_WARNINGS = 10  # of bad samples that are named one by one


class _Held(NamedTuple):
    """A batch on its way. One that the core has handed out and the iterator has not waits here: it
    could not be copied to where it is wanted, a warning was made an error, a signal's handler has
    raised."""

    turn: int
    taken: list[tuple[NativeColumn, ...]]
    """The core puts the batch here itself: Python may run a signal's handler as soon as a call
    returns, and what the call returned is lost where the handler raises."""
    before: dict[str, Any]
    """Members of the state before it."""


class BaseLoader(Closing, Generic[Element]):
    """What the loaders of all frameworks share; a framework says how a column becomes its own."""

    _framework: Callable[[object, object, object], Framework[Element]]
    """Of `memory_format`, `pin_memory` and `device`."""

    @suggests_options_or(_NOT_OPTIONS)
    def __init__(
        self,
        data: Dataset | Openable,
        batch_size: int = 1,
        *,
        schema: str | None = None,
        sidecar: Literal["use", "ignore"] = "use",
        shuffle: bool | Literal["full", "window"] | WindowShuffle = False,
        weights: Iterable[float] | None = None,
        num_samples: int | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        seed: int = 0,
        transforms: Sequence[Transform] | None = None,
        fields: Sequence[str] | Mapping[str, str] = ("image", "label"),
        as_dict: bool = False,
        dtype: Any = "float32",
        layout: Literal["NCHW", "NHWC"] = "NCHW",
        batch_transforms: Sequence[Callable[..., Any]] | None = None,
        last_batch: Literal["short", "drop", "pad", "wrap"] = "short",
        rank: int | None = None,
        world_size: int | None = None,
        orientation: Literal["apply", "ignore"] = "apply",
        scaled_decode: bool = False,
        max_pixels: int = _core.DEFAULT_MAX_PIXELS,
        max_record_bytes: int = _core.DEFAULT_MAX_RECORD_BYTES,
        on_error: Literal["raise", "skip"] = "raise",
        max_bad: int | float | None = None,
        memory_format: Any = "contiguous_format",
        pin_memory: bool = False,
        device: Any = None,
        threads: int | None = None,
        prefetch: int = 2,
        read_threads: int = 4,
        read_backend: Literal["auto", "io_uring", "pread"] = "auto",
        direct_reads: bool = False,
        stall_timeout: float | None = None,
    ) -> None:
        """Prepares the loader; threads start with the first batch.

        What changes results:
            data: a Dataset, or anything that `fuelrail.open` takes.
            batch_size: samples a batch, on each rank. Default: 1.
            schema: what the records of `data` are, as `fuelrail.open` takes it. Default: what the
                file says.
            sidecar: whether the files' sidecars are used, as `fuelrail.open` takes it. Default:
                "use".
            shuffle: True or "full" permutes all samples anew in every epoch; "window" or a
                WindowShuffle mixes a few long runs of samples at a time; False, the default, keeps
                the order.
            weights: how often each sample is drawn, with replacement, in proportion: numbers of 0
                and more, one a sample. In place of `shuffle`.
            num_samples: drawn by `weights` in an epoch. Default: as many as there are samples.
            sampler: an iterable of indices, this rank's own, in place of a computed order: a list,
                a torch Sampler. It is iterated over anew for every epoch, after its `set_epoch`,
                if it has one, was told the epoch, and `prefetch` + 1 batches ahead of use, across
                the end of an epoch too. An error that it raises comes in the place of its batch and
                ends the epoch; an epoch without a sample ends the order.
            batch_sampler: the same of lists of indices, of any length: a torch BatchSampler.
            seed: of the order and of random transforms; 64 bits. Default: 0.
            transforms: a list of `fuelrail.transforms`. Where it does not give all images one size,
                they come as a list of one array an image. None where the dataset has no images.
            fields: the columns of a batch, each once, in the order in which they are to come:
                image: `dtype` and `layout`, (batch, 3, height, width) or (batch, height, width, 3);
                    or a list of (3, height, width), (height, width, 3);
                encoded: the image as it is stored (JPEG, PNG, ...): a list of bytes;
                label: int64 (batch,) where every sample has one and all are whole numbers, else
                    float32, (batch,) or (batch, labels), or a list of (labels,) where samples have
                    different numbers of labels;
                index: int64 (batch,), the sample's index in the dataset: `dataset[index]`;
                id: int64 (batch,), the format's number of the record (`Sample.id`), which need not
                    be an index, nor be there once only;
                position: int64 (batch,), the place in the epoch; with `sampler` and
                    `batch_sampler`, of this rank's n-th sample (from 0) n * world_size + rank;
                valid: bool (batch,), False for the filler rows of last_batch="pad";
                substituted: bool (batch,), True where on_error="skip" took another sample.
                any other field of the dataset by its name; bytes are a list of bytes.
                Default: image, label. A dict names them: {"x": "image", "y": "label"}.
            as_dict: whether a batch is a dict of the columns by name, as with a dict of `fields`,
                and not a tuple. Default: False.
            dtype: of the images: "float32" (the default), "float16", "bfloat16" (for DLPack and
                PyTorch; NumPy has none) or "uint8". Without Normalize, floats are in [0, 1].
            layout: "NCHW" (the default) or "NHWC"; channels are red, green, blue.
            batch_transforms: callables that the batch, tuple or dict, goes through when it is
                handed out: `batch = f(batch)`, or `f(batch, context=...)` where f has a parameter
                of that name, with a `fuelrail.BatchContext` (seed, epoch, positions). They run in
                order on the thread that asks for the batch; what one raises comes as it is, in
                place of the batch, and the loop can go on after it.
            last_batch: what becomes of samples that do not fill a global batch. "short", the
                default: shared evenly among the ranks (a FuelrailWarning where this rank gets
                none, so that its batch has no rows); "drop": left out; "pad": filled with the last
                sample, not valid; "wrap": filled from the beginning of the epoch.
            rank, world_size: this process's share of every global batch. Default: those of
                torch.distributed where it is initialised, else of the environment variables RANK
                and WORLD_SIZE (torchrun), else of SLURM_PROCID and SLURM_STEP_NUM_TASKS in a step
                that srun started, else 0 of 1. They are looked for with the first batch, and where
                `len` and the state are asked for, again until that batch: so the loader may be made
                before `init_process_group`. FuelrailWarning where `len`, `batches_left`,
                `batches_done` or `global_batch_size` has answered for another share; and once a
                process where SLURM's share is taken, and where the environment says that there are
                other processes and all samples are this one's.
            orientation: "apply", the default, turns images as their EXIF tag says; "ignore" does
                not.
            scaled_decode: decode JPEGs at 1/8, 1/4 or 1/2 of their size where the first resampling
                makes them at least as much smaller: faster, and not quite the same pixels
                (docs/transforms.md says how far off).
            max_pixels: an image that declares more is an error, before memory is taken for it.
                Default: 178,956,970. (docs/limits.md has all limits.)
            max_record_bytes: a record that is longer, as it is stored, is an error, before memory
                is taken for it. Default: 2 GiB.
            on_error: what becomes of a sample that cannot be read or decoded. "raise", the
                default: the error comes in place of its batch, and the loop can go on after it.
                "skip": its row is made of another sample, drawn by (seed, epoch, position), so
                that all ranks keep the same number of batches; id and label are that sample's.
                A FuelrailWarning names the first ten, and `bad_records` all. (Where warnings are
                made errors, such a one comes in place of its batch, which the next call gives.)
            max_bad: with "skip", how many samples may be bad in this rank's part of an epoch, or
                where they stand in for others; one more is a TooManyBadRecordsError in place of
                its batch, which ends the run until `set_epoch` or `load_state_dict`. An int
                counts, a float is a fraction of that part (with `sampler` and `batch_sampler`, of
                the dataset). Default: 0.01, but at least 10 samples.
        Of fuelrail.torch.DataLoader only:
            memory_format: torch.channels_last: images of shape (batch, 3, height, width) whose
                memory is that of NHWC. Default: torch.contiguous_format.
            pin_memory: copy batches into page-locked memory. Needs CUDA. Default: False.
            device: "cuda" (the device that is current now) or one like "cuda:1": copy batches
                there, by way of page-locked memory and on a stream of its own; `batch_transforms`
                run after that. Where there is no room for the copy, the iterator's next call tries
                that batch again. Default: none, the CPU.
        What changes speed only:
            threads: that decode. Default: the processors that this process may use, divided by
                LOCAL_WORLD_SIZE, which torchrun sets. Lightning and srun do not set it: where they
                start several processes on a machine without giving each its own processors, give
                `threads`.
            prefetch: batches made ahead, each in memory of its own. Default: 2.
            read_threads: reads at the same time to begin with; where storage is slow, the loader
                makes them more. Default: 4.
            read_backend: "io_uring", "pread" (native threads) or "auto", the default: io_uring
                where the kernel permits it. Threads read in either case what the kernel would wait
                for: a folder's files, and what lies on NFS or FUSE. `stats().read_backend` says who
                has read.
            direct_reads: read past the page cache, for files far larger than memory. Where the file
                system refuses, and of a folder, whose files are opened one at a time, a
                FuelrailWarning says so and reads are ordinary ones. Default: False.
            stall_timeout: seconds. Where no batch comes for so long, a StallError (a TimeoutError)
                says what it waits for: the stage (a file is looked at, read, decoded; the sampler),
                the file and offset, and the sample's index. The next call waits
                again, and gives the batch if it comes by then. Default: None, wait for ever.

        Errors: InvalidArgumentError for a bad value, naming the nearest good one;
        ArgumentTypeError for a value of the wrong type and for an unknown option, naming what to
        use instead of one of torch's; OutOfRangeError for a rank that is not below world_size;
        UnsupportedError for `pin_memory` and `device` where PyTorch has no CUDA, and with the
        first batch for read_backend="io_uring" where the kernel refuses it; those of
        `fuelrail.open`.
        """
        given = {name: value for name, value in locals().items() if name not in _OPENED}
        dataset = open_dataset(data, schema, sidecar=sidecar)
        share_given = given_share(rank, world_size)
        share = share_given or ALONE
        drawn = None if weights is None else listed_weights(weights)
        self._skips = choice_of("on_error", on_error, ("raise", "skip")) == "skip"
        order, self._fed = make_order(
            shuffle=shuffle,
            weights=drawn,
            num_samples=num_samples,
            sampler=sampler,
            batch_sampler=batch_sampler,
            batch_size=whole("batch_size", batch_size, least=1),
            last_batch=choice("last_batch", last_batch, _core.LastBatch).name,
            prefetch=whole("prefetch", prefetch, least=1, bits=16),
            world_size=share.world_size,
            index=dataset._index,
        )
        seed = whole("seed", seed, bits=64)
        framework = type(self)._framework(memory_format, pin_memory, device)
        self._delivery: Delivery[Element] = Delivery(
            framework,
            fields=fields,
            as_dict=as_dict,
            batch_transforms=batch_transforms,
            image_fields=[field.name for field in dataset.schema if field.kind == "image"],
            seed=seed,
        )
        check_images(self._delivery.native_fields, dataset.schema)
        self._core = _core.Loader(
            dataset.container,
            **order,
            seed=seed,
            rank=share.rank,
            world_size=share.world_size,
            last_batch=choice("last_batch", last_batch, _core.LastBatch),
            transforms=native_list(transforms),
            dtype=choice("dtype", dtype, _core.ImageDType),
            layout=native_layout(layout, framework),
            orientation=choice("orientation", orientation, _core.Orientation),
            scaled_decode=truth("scaled_decode", scaled_decode),
            max_pixels=whole("max_pixels", max_pixels, least=1),
            max_record_bytes=whole("max_record_bytes", max_record_bytes, least=1),
            fields=self._delivery.native_fields,
            skip=self._skips,
            max_bad=_max_bad(max_bad, self._skips),
            threads=0 if threads is None else whole("threads", threads, least=1, bits=16),
            prefetch=prefetch,
            read_threads=whole("read_threads", read_threads, least=1, bits=16),
            read_backend=choice("read_backend", read_backend, _core.ReadBackend),
            direct_reads=truth("direct_reads", direct_reads),
            stall_timeout=_seconds("stall_timeout", stall_timeout),
        )
        self._batch_size = None if batch_sampler is not None else whole("batch_size", batch_size)
        shares_out = self._fed is None and last_batch == "short"
        self._share = LoaderShare(
            share_given,
            self._core,
            self._fed,
            batch_size=self._batch_size,
            shared_out=order["samples"] or len(dataset) if shares_out else None,
        )
        self._dataset = dataset
        self._options = (
            f"batch_size {batch_size}",
            _described(shuffle, weights, sampler, batch_sampler),
            f"seed {seed}",
            f"{threads or _core.default_threads()} threads",
        )
        # What a pickle makes the loader anew from: nobody changes it, and it can be read again.
        self._given: dict[str, Any] = {
            **given,
            "rank": share_given and share.rank,
            "world_size": share_given and share.world_size,
            "weights": drawn,
            "transforms": list(transforms or ()),
            "fields": dict(fields) if isinstance(fields, Mapping) else list(fields),
            "batch_transforms": None if batch_transforms is None else list(batch_transforms),
        }
        self._held: deque[_Held] = deque()
        self._said: deque[str] = deque()  # by the core, and not passed on yet
        self._warned = 0  # of so many bad records
        self._closed = False
        close_at_exit(self, type(self).close)

    @property
    def dataset(self) -> Dataset:
        """What the loader reads."""
        return self._dataset

    @property
    def batch_size(self) -> int | None:
        """Samples a batch, on each rank; None with `batch_sampler`."""
        return self._batch_size

    @property
    def global_batch_size(self) -> int | None:
        """Samples a batch, on all ranks together: batch_size * world_size; None with
        `batch_sampler`.
        """
        if self._batch_size is None:
            return None
        return self._share.number("loader.global_batch_size")

    def __len__(self) -> int:
        """Batches of a whole epoch, the same on every rank, also where a restored one has fewer to
        come (`batches_left`).

        Of a fed order: what its own length says. Errors: TypeError where it has none.
        """
        return self._share.number("len(loader)") if self._fed is None else len(self._fed)

    @property
    def batches_left(self) -> int:
        """Batches of the current epoch that are still to come, the same on every rank: 0 while the
        loop works on the last one, and those of a whole epoch once the loop has ended.

        Errors: TypeError for a fed order without a length; StateError where the loader is closed.
        """
        self._check_open()
        if self._fed is None:
            left = self._share.number("loader.batches_left")
        else:
            left = max(len(self._fed) - self._fed.done(self._core), 0)
        return left + len(self._held)

    @property
    def batches_done(self) -> int:
        """Batches of the current epoch that are over: `len(loader)` - `batches_left`.

        So a bar of progress ends at 100 % after a restore too, also with another batch size:

        >>> loader = fuelrail.Loader("train.rec", 4)
        >>> for batch in tqdm.tqdm(loader, initial=loader.batches_done):
        ...     pass

        Of a fed order without a length too: those that were handed out. Errors: StateError where
        the loader is closed.
        """
        self._check_open()
        if self._fed is None:
            done = self._share.number("loader.batches_done")
        else:
            done = self._fed.done(self._core)
        return done - len(self._held)

    def __iter__(self) -> Iterator[Any]:
        """The next epoch's batches: tuples in the order of `fields`, or dicts by name; or whatever
        `batch_transforms` make of them.

        An epoch of which a batch was taken is over when the next `iter` is called, whether it was
        read to its end or not; after `load_state_dict`, the first iterator goes on from there.
        There is one iterator at a time: an older one raises StateError. An error (a record that
        cannot be read) comes in place of its batch, and the iterator can go on after it; but
        TooManyBadRecordsError ends it.

        Errors: StateError where the loader is closed, and where no rank was given and
        torch.distributed says another rank or world size than the batches so far were made for;
        InvalidArgumentError for a bad environment variable of rank or world size.
        """
        self._check_open()
        try:
            self._share.begin()
            turn = self._core.begin()
        except StateError:
            end_thread_at_exit()
            raise
        self._held.clear()
        if self._fed is not None:
            self._fed.begin(self._core)
        epoch = self._core.progress()[0] if self._delivery.wants_context else 0
        return _Epoch(self, turn, epoch)

    def set_epoch(self, epoch: int) -> None:
        """Makes `epoch` the next one, from its beginning: an integer in [0, 2**32).

        Right after `load_state_dict` into this very epoch, the restored position stays. Errors:
        InvalidArgumentError, ArgumentTypeError, StateError.
        """
        self._check_open()
        self._core.set_epoch(whole("epoch", epoch, bits=32))
        self._held.clear()

    def state_dict(self) -> dict[str, Any]:
        """Where the run stands: a few plain values, the same on every rank, under 1 KB as JSON.

        It counts the batches that the iterator has handed out, never those made ahead. With
        `sampler` or `batch_sampler`, it is this rank's own, and has the member "sampler": batches
        of the epoch, batch size and number of ranks, and what the sampler's `state_dict` (or its
        iterator's) said after the last batch handed out, if it has one. Errors: StateError where
        the loader is closed.
        """
        self._check_open()
        self._share.find()
        state: dict[str, Any] = {**json.loads(self._core.state()), **self._place()}
        with contextlib.suppress(IndexError):
            state.update(self._held[0].before)
        return copy.deepcopy(state)  # a sampler's own part of it belongs to the order

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where `state` was taken; batch size, number of ranks and speed may differ.

        With `sampler` or `batch_sampler`, batch size and, within an epoch, number of ranks may not:
        as many batches of its next iteration are skipped, or its `load_state_dict` (or its
        iterator's) is called.

        Errors: InvalidArgumentError that names the member, with what was expected and found, for a
        state of another dataset, class names, seed or shuffle, of a newer version, or with a bad
        value; ArgumentTypeError for what is no mapping. The loader stays where it was then.
        """
        self._check_open()
        self._share.find()
        own: dict[str, Any] = json.loads(self._core.state())
        plain = json.dumps(plain_state(state, like=own))
        if self._fed is None or state.get("shuffle") != own["shuffle"]:
            self._core.restore(plain)
            self._held.clear()
            return
        said = self._fed.check_state(state.get("sampler"))
        self._core.restore(plain)
        self._held.clear()
        self._fed.restore(said, self._core.progress())

    @property
    def bad_records(self) -> list[_core.BadRecord]:
        """What on_error="skip" passed over in the batches taken so far: each sample once."""
        return self._core.bad_records(0)

    def stats(self) -> _core.Stats:
        """Time, queue depth, bytes and images of every stage, and which stage limits.

        `print(loader.stats())` shows it as a table.
        """
        return self._core.stats()

    def close(self) -> None:
        """Stops the loader's threads now; batches taken from it stay valid. Safe to repeat."""
        self._closed = True
        self._share.freeze()
        self._held.clear()
        self._core.stop()

    def __reduce__(self) -> tuple[Callable[..., BaseLoader[Any]], tuple[Any, ...]]:
        """A loader that has not started travels: as its dataset, its options and its state.

        So a copy or an unpickled one is as if made there with the same options, and restored to
        this one's place: `rank` and `world_size` that were not given are found there. `sampler` and
        `batch_sampler` have to pickle themselves. Errors: StateError once it has started.
        """
        self._check_open()
        life = self._core.life()
        if life != "not started":
            raise StateError(
                "a loader whose threads have started cannot be copied or pickled",
                expected="one of which no batch was taken",
                found=life,
                remedy="Pickle it before its first batch, or send `loader.state_dict()`, make a "
                "loader there, and call `load_state_dict`",
            )
        return _rebuilt, (type(self), self._dataset, self._given, self.state_dict())

    def __repr__(self) -> str:
        life = "closed" if self._closed else self._core.life()
        *order, threads = self._options
        options = ", ".join([*order, str(self._share), threads])
        kind = f"{type(self).__module__}.{type(self).__qualname__}"
        return f"<{kind.replace('.loader.', '.')}: {options}; {life}; {self._dataset!r}>"

    def _check_open(self) -> None:
        if self._closed:
            end_thread_at_exit()
            raise StateError("the loader is closed")

    def _take(self, turn: int, epoch: int) -> Any:
        """The next batch, or None at the end of the epoch."""
        self._check_open()
        self._share.find()
        held = _Held(turn, [], self._place())
        if self._held and self._held[0].turn == turn:  # else `turn` is over, as the core says
            held = self._held[0]
            del self._held[0]  # no call up to here, so that no signal's exception comes
        try:
            if not held.taken and not self._fill(held):
                return None
            self._warn()
            (columns,) = held.taken
            placed = self._delivery.place(columns)
        except BaseException:  # no memory, Ctrl-C, a warning: the next call tries again
            if held.taken:
                self._held.append(held)
            raise
        try:
            return self._delivery(columns, placed, epoch)
        except BaseException:  # of a batch transform, in place of the batch, which it has changed
            if not self._delivery.transforms_batches:
                self._held.append(held)
            raise

    def _fill(self, held: _Held) -> bool:
        """Takes a batch from the core. Returns: False at the end of the epoch."""
        try:
            if self._fed is None:
                is_batch = self._core.next(held.turn, held.taken)
            else:
                is_batch = self._fed.take(self._core, held.turn, held.taken)
        except BaseException:
            with contextlib.suppress(FuelrailWarning):  # the error is what is to be heard
                self._warn()
            end_thread_at_exit()
            raise
        if not is_batch:
            self._warn()
        return is_batch

    def _place(self) -> dict[str, Any]:
        """Where the core stands: what of the state changes from batch to batch."""
        epoch, position = self._core.progress()
        place: dict[str, Any] = {"epoch": epoch, "position": position}
        if self._fed is not None:
            place["sampler"] = self._fed.state(self._core)
        return place

    def _warn(self) -> None:
        """Says what the core has said since the last batch, of the line that asks for one. Where
        that raises, the rest is said the next time.
        """
        self._said.extend(self._core.warnings())
        while self._said:
            warn_user(self._said.popleft())
        if not self._skips:
            return
        for bad in self._core.bad_records(self._warned):
            self._warned += 1
            if self._warned <= _WARNINGS:
                warn_user(f"{bad.error.rstrip('.')}. Another sample takes its place.")
            elif self._warned == _WARNINGS + 1:
                warn_user(
                    "More samples are bad. Those are listed in the loader's `bad_records` only."
                )


class _Epoch(Iterator[Any]):
    """One epoch's iterator. It keeps its loader alive."""

    def __init__(self, loader: BaseLoader[Any], turn: int, epoch: int) -> None:
        self._loader: BaseLoader[Any] | None = loader
        self._turn = turn
        self._epoch = epoch

    def __next__(self) -> Any:
        loader = self._loader
        if loader is not None:
            try:
                batch = loader._take(self._turn, self._epoch)
            except TooManyBadRecordsError:
                self._loader = None
                raise
            if batch is not None:
                return batch
            self._loader = None
        raise StopIteration

    def __reduce__(self) -> NoReturn:
        raise StateError(
            "an iterator of a loader cannot be copied or pickled",
            remedy="Pickle the loader before its first batch, and call `iter` there",
        )


def _rebuilt(
    kind: type[BaseLoader[Any]], data: Dataset, options: dict[str, Any], state: dict[str, Any]
) -> BaseLoader[Any]:
    """The loader that was pickled."""
    loader = kind(data, **options)
    loader.load_state_dict(state)
    return loader


class Loader(BaseLoader[_core.Array]):
    """Batches as tuples or dicts of `fuelrail.Array`, for what takes DLPack or buffers.

    >>> loader = fuelrail.Loader("train.rec", 256, shuffle=True,
    ...                          transforms=[fuelrail.transforms.RandomResizedCrop(224)])
    >>> for images, labels in loader:
    ...     x = numpy.asarray(images)      # or images.numpy(), jax.dlpack.from_dlpack(images), ...

    It has a length, in batches, so that a bar of progress is one around it:

    >>> for images, labels in tqdm.tqdm(loader, unit="batch"):
    ...     pass

    A batch's memory belongs to whoever holds one of its arrays, or anything made from one; nobody
    else writes to it, and it outlives the loader. A loader that has not started pickles, and works
    in a forked child; one that has started raises StateError there. docs/lifetimes.md has all of
    it.
    """

    _framework = ArrayFramework


def native_layout(layout: object, framework: Framework[Any]) -> _core.ImageLayout:
    """The core's layout for the user's. Errors: InvalidArgumentError, ArgumentTypeError."""
    asked = choice("layout", layout, _core.ImageLayout)
    if not framework.interleaved:
        return asked
    if asked is not _core.ImageLayout.NCHW:
        raise InvalidArgumentError(
            '`memory_format` goes with layout="NCHW"',
            found=f"layout={asked.name!r}",
            remedy="Leave `layout` out: channels_last has the memory of NHWC",
        )
    return _core.ImageLayout.NHWC


def _max_bad(value: object, skips: bool) -> int | float | None:
    if value is None:
        return None
    if not skips:
        raise InvalidArgumentError(
            '`max_bad` goes with on_error="skip"', remedy="Give both, or leave it out"
        )
    if isinstance(value, bool) or integer(value) is not None:
        return whole("max_bad", value, bits=64)
    return real("max_bad", value)


def _seconds(name: str, value: object) -> float | None:
    if value is None:
        return None
    seconds = real(name, value)
    if not seconds > 0:
        raise InvalidArgumentError(
            f"`{name}` is not above 0", found=shown(value), remedy="Use None to wait for ever"
        )
    return seconds


def _described(shuffle: object, weights: object, sampler: object, batch_sampler: object) -> str:
    """The order, for people."""
    if weights is not None:
        return "by weights"
    if sampler is not None or batch_sampler is not None:
        return "in the order of " + ("sampler" if batch_sampler is None else "batch_sampler")
    if shuffle == "window" or isinstance(shuffle, WindowShuffle):
        return "shuffled by windows"
    return "shuffled" if shuffle else "in order"
