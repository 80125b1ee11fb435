"""Batches of a dataset, made by native threads."""

from __future__ import annotations

import contextlib
import copy
import inspect
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn, ParamSpec, TypeVar

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
    StateError,
    TooManyBadRecordsError,
    warn_user,
)
from fuelrail.keywords import LoaderKeywords, SampleKeywords
from fuelrail.options import (
    Option,
    described,
    keywords,
    read_options,
    suggests_options_or,
    whole,
)
from fuelrail.orders import WindowShuffle, listed_weights, make_order
from fuelrail.shard import ALONE, LoaderShare, given_share
from fuelrail.state import plain_state
from fuelrail.transforms import native_list

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Loader"]

P = ParamSpec("P")
R = TypeVar("R")
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
_TORCHS = dict.fromkeys(
    ("memory_format", "pin_memory", "device"), "Use fuelrail.torch.DataLoader, or leave it out"
)

# What every loader is told: the core's options, which it checks, and Python's own with defaults.
_RESULTS, _SPEED = ([Option(*row) for row in rows] for rows in _core.loader_options())
LOADER_OPTIONS = (*_RESULTS, *_SPEED)
_OWN: LoaderKeywords = {
    "schema": None,
    "sidecar": "use",
    "shuffle": False,
    "weights": None,
    "sampler": None,
    "batch_sampler": None,
    "transforms": None,
    "fields": ("image", "label"),
    "as_dict": False,
    "batch_transforms": None,
    "rank": None,
    "world_size": None,
}
_TEXT = "\n".join(
    [
        inspect.getdoc(LoaderKeywords) or "",
        inspect.getdoc(SampleKeywords) or "",
        described("What changes results:", _RESULTS),
        described("What changes speed only:", _SPEED),
    ]
)
_OPENED = ("schema", "sidecar")  # which a pickle has as the dataset, not as options
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


def takes_loader_options(
    remedies: Mapping[str, str],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """For an `__init__` whose `**options` are those of every loader. remedies: of unknown options."""
    return suggests_options_or(
        {**_NOT_OPTIONS, **remedies}, keywords(LoaderKeywords, LOADER_OPTIONS, _OWN), _TEXT
    )


class BaseLoader(Closing, Generic[Element]):
    """What the loaders of all frameworks share; a framework says how a column becomes its own."""

    def _set_up(
        self,
        framework: Framework[Element],
        data: Dataset | Openable,
        given: Mapping[str, Any],
        own: Mapping[str, Any],
    ) -> None:
        """given: what every loader is told, and `batch_size`; own: what this framework's is told."""
        asked: dict[str, Any] = {**_OWN, **given}
        values = read_options(LOADER_OPTIONS, given)
        _core.check_loader_options(values)
        dataset = open_dataset(data, asked["schema"], sidecar=asked["sidecar"])
        share_given = given_share(asked["rank"], asked["world_size"])
        share = share_given or ALONE
        weights, fields = asked["weights"], asked["fields"]
        drawn = None if weights is None else listed_weights(weights)
        self._skips = values["on_error"] == "skip"
        order, self._fed = make_order(
            shuffle=asked["shuffle"],
            weights=drawn,
            sampler=asked["sampler"],
            batch_sampler=asked["batch_sampler"],
            world_size=share.world_size,
            index=dataset._index,
            values=values,
        )
        self._delivery: Delivery[Element] = Delivery(
            framework,
            fields=fields,
            as_dict=asked["as_dict"],
            batch_transforms=asked["batch_transforms"],
            image_fields=[field.name for field in dataset.schema if field.kind == "image"],
            seed=values["seed"],
        )
        check_images(self._delivery.native_fields, dataset.schema)
        self._core = _core.Loader(
            dataset.container,
            {**values, "layout": framework.native_layout(values["layout"])},
            **order,
            rank=share.rank,
            world_size=share.world_size,
            transforms=native_list(asked["transforms"]),
            fields=self._delivery.native_fields,
        )
        self._batch_size = None if asked["batch_sampler"] is not None else values["batch_size"]
        shares_out = self._fed is None and values["last_batch"] == "short"
        self._share = LoaderShare(
            share_given,
            self._core,
            self._fed,
            batch_size=self._batch_size,
            shared_out=values["num_samples"] or len(dataset) if shares_out else None,
        )
        self._dataset = dataset
        self._options = (
            f"batch_size {values['batch_size']}",
            _described(asked),
            f"seed {values['seed']}",
            f"{values['threads'] or _core.default_threads()} threads",
        )
        # What a pickle makes the loader anew from: nobody changes it, and it can be read again.
        batch_transforms = asked["batch_transforms"]
        self._given: dict[str, Any] = {
            **{name: value for name, value in given.items() if name not in _OPENED},
            **own,
            "rank": share_given and share.rank,
            "world_size": share_given and share.world_size,
            "weights": drawn,
            "transforms": list(asked["transforms"] or ()),
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
    kind: Callable[..., BaseLoader[Any]],
    data: Dataset,
    options: dict[str, Any],
    state: dict[str, Any],
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

    @takes_loader_options(_TORCHS)
    def __init__(
        self,
        data: Dataset | Openable,
        batch_size: int = 1,
        **options: Unpack[LoaderKeywords],
    ) -> None:
        """Prepares the loader; threads start with the first batch.

        Errors: InvalidArgumentError for a bad value, naming the nearest good one;
        ArgumentTypeError for a value of the wrong type and for an unknown option, naming what to
        use instead of one of torch's; OutOfRangeError for a rank that is not below world_size;
        UnsupportedError with the first batch for read_backend="io_uring" where the kernel refuses
        it; those of `fuelrail.open`.
        """
        self._set_up(ArrayFramework(), data, {"batch_size": batch_size, **options}, {})


def _described(asked: Mapping[str, Any]) -> str:
    """The order, for people."""
    shuffle = asked["shuffle"]
    if asked["weights"] is not None:
        return "by weights"
    for name in ("batch_sampler", "sampler"):
        if asked[name] is not None:
            return f"in the order of {name}"
    if shuffle == "window" or isinstance(shuffle, WindowShuffle):
        return "shuffled by windows"
    return "shuffled" if shuffle else "in order"
