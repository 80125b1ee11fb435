"""Loads batches of a dataset with native threads."""

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
    default_fields,
    image_groups,
)
from fuelrail.errors import (
    FuelrailWarning,
    InvalidArgumentError,
    StateError,
    TooManyBadRecordsError,
    warn_user,
)
from fuelrail.keywords import LoaderKeywords, SampleKeywords
from fuelrail.options import (
    Option,
    by_pattern,
    described,
    keywords,
    read_options,
    suggests_options_or,
    whole,
)
from fuelrail.orders import WindowShuffle, listed_weights, make_order
from fuelrail.python_dataset import open_python
from fuelrail.python_source import PythonData, is_python_dataset
from fuelrail.shard import ALONE, LoaderShare, given_share
from fuelrail.state import plain_state
from fuelrail.transforms import copied_lists, native_lists

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Loader"]

P = ParamSpec("P")
R = TypeVar("R")
Element = TypeVar("Element")
"""The type of the columns of a batch, such as fuelrail.Array or torch.Tensor."""

# Remedies for options that only torch.utils.data.DataLoader or `open` takes.
_NOT_OPTIONS = {
    "dataset": "Pass it as `data`, or as the first argument without a name",
    "num_workers": "Use `threads`: native threads decode the samples, not worker processes. For a "
    "dataset in Python, pass `fuelrail.open_python(dataset, workers=2)`",
    "workers": "Pass `fuelrail.open_python(dataset, workers=2)`",
    "drop_last": 'Use `last_batch="drop"` for True, "short" (the default) for False',
    "pin_memory_device": "Omit it: `pin_memory` needs CUDA, and `device` selects the device",
    "collate_fn": "Omit it, because a batch is already a tuple of the columns in `fields`, or use "
    "`batch_transforms` to change batches",
    "prefetch_factor": "Use `prefetch`, the number of batches prepared ahead",
    "worker_init_fn": "Omit it: no Python runs in the threads, and `seed` seeds all randomness",
    "persistent_workers": "Omit it: the threads always persist between epochs",
    "multiprocessing_context": "Omit it: there are no worker processes",
    "generator": "Use `seed`, which seeds both the order and the random transforms",
    "timeout": "Use `stall_timeout`, in seconds; None, not 0, means no limit",
    "in_order": "Omit it: batches always come in order",
    **OPENS_ALONE,
}
_TORCHS = dict.fromkeys(
    ("memory_format", "pin_memory", "device"), "Use fuelrail.torch.DataLoader, or omit it"
)

# The options of every loader: the core's options, which the core checks, and Python's own options
# with their defaults.
_RESULTS, _SPEED = ([Option(*row) for row in rows] for rows in _core.loader_options())
LOADER_OPTIONS = (*_RESULTS, *_SPEED)
_OWN: LoaderKeywords = {
    "schema": None,
    "track": None,
    "split": None,
    "sidecar": "use",
    "shuffle": False,
    "weights": None,
    "sampler": None,
    "batch_sampler": None,
    "transforms": None,
    "shared": None,
    "fields": ("image", "label"),
    "as_dict": False,
    "flat": False,
    "batch_transforms": None,
    "rank": None,
    "world_size": None,
}
_TEXT = "\n".join(
    [
        inspect.getdoc(LoaderKeywords) or "",
        inspect.getdoc(SampleKeywords) or "",
        described("Options that change results:", _RESULTS),
        described("Options that change only speed:", _SPEED),
    ]
)
# Options of `fuelrail.open`, pickled as part of the dataset and not as options of the loader.
OPENED = ("schema", "track", "split", "sidecar")
_WARNINGS = 10  # the number of bad samples that are reported one by one


class _Held(NamedTuple):
    """A batch that an iterator has requested. If an exception such as Ctrl-C interrupts the
    request, the batch is kept, and the iterator's next call returns this batch.
    """

    turn: int
    taken: list[tuple[NativeColumn, ...]]
    """The core appends the batch to this list. A return value would be lost if a signal handler
    raised an exception as the call returns.
    """
    before: dict[str, Any]
    """The result of `_place` before this batch was requested."""


def takes_loader_options(
    remedies: Mapping[str, str],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates the `__init__` of a loader. Replaces `**options` in the signature with the options
    in LOADER_OPTIONS and `_OWN`, describes these options in the docstring, and rejects unknown
    options.

    remedies: a dict from the name of an unknown option to the advice in the error text.
    """
    return suggests_options_or(
        {**_NOT_OPTIONS, **remedies}, keywords(LoaderKeywords, LOADER_OPTIONS, _OWN), _TEXT
    )


class BaseLoader(Closing, Generic[Element]):
    """Base class of the loaders. A Framework object converts columns to its framework's arrays."""

    def _set_up(
        self,
        framework: Framework[Element],
        data: Dataset | Openable | PythonData,
        given: Mapping[str, Any],
        own: Mapping[str, Any],
    ) -> None:
        """Initialises the loader.

        given: `batch_size` and the options in LoaderKeywords that the user passed, with their
            values.
        own: the options that only the subclass has, such as `pin_memory`, with their values.
        """
        asked: dict[str, Any] = {**_OWN, **given}
        plain, patterns = by_pattern(LOADER_OPTIONS, given)
        values = read_options(LOADER_OPTIONS, plain)
        _core.check_loader_options(values)
        dataset = _opened(data, {name: asked[name] for name in OPENED})
        share_given = given_share(asked["rank"], asked["world_size"])
        share = share_given or ALONE
        fields = asked["fields"] if "fields" in given else default_fields(dataset._fields)
        weights = asked["weights"]
        drawn = None if weights is None else listed_weights(weights)
        self._skips = values["on_error"] == "skip"
        order, self._fed = make_order(
            shuffle=asked["shuffle"],
            weights=drawn,
            sampler=asked["sampler"],
            batch_sampler=asked["batch_sampler"],
            rank=share.rank,
            world_size=share.world_size,
            index=dataset._index,
            values=values,
        )
        self._delivery: Delivery[Element] = Delivery(
            framework,
            fields=fields,
            as_dict=asked["as_dict"],
            flat=asked["flat"],
            batch_transforms=asked["batch_transforms"],
            schema=dataset._fields,
            seed=values["seed"],
        )
        check_images(self._delivery.native_fields, dataset._fields)
        transforms, transforms_of = native_lists(asked["transforms"])
        framework.set_native_layouts(values, patterns)
        self._core = _core.Loader(
            dataset.container,
            values,
            **order,
            rank=share.rank,
            world_size=share.world_size,
            transforms=transforms,
            transforms_of=transforms_of,
            patterns=patterns,
            shared=image_groups(asked["shared"]),
            fields=self._delivery.native_fields,
        )
        self._delivery.expect(self._core.column_names())
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
        # The arguments that rebuild the loader from a pickle. Lists are copied, because the caller
        # may change them.
        batch_transforms = asked["batch_transforms"]
        self._given: dict[str, Any] = {
            **{
                name: dict(value) if isinstance(value, Mapping) else value
                for name, value in given.items()
                if name not in OPENED
            },
            **own,
            "rank": share_given and share.rank,
            "world_size": share_given and share.world_size,
            "weights": drawn,
            "transforms": copied_lists(asked["transforms"]),
            "fields": dict(fields) if isinstance(fields, Mapping) else list(fields),
            "batch_transforms": None if batch_transforms is None else list(batch_transforms),
        }
        self._held: deque[_Held] = deque()
        self._said: deque[str] = deque()  # the core's warnings that are not issued yet
        self._warned = 0  # the number of bad records that were reported
        self._closed = False
        close_at_exit(self, type(self).close)

    @property
    def dataset(self) -> Dataset:
        """The dataset that the loader reads."""
        return self._dataset

    @property
    def batch_size(self) -> int | None:
        """Number of samples in a batch on one rank. None if `batch_sampler` is used."""
        return self._batch_size

    @property
    def global_batch_size(self) -> int | None:
        """Number of samples that all ranks together get at each step: batch_size * world_size. None
        if `batch_sampler` is used.
        """
        if self._batch_size is None:
            return None
        return self._share.number("loader.global_batch_size")

    def __len__(self) -> int:
        """Number of batches in a full epoch, the same on every rank. This number does not change if
        the loader resumes in the middle of an epoch. `batches_left` counts the remaining batches.

        With `sampler` or `batch_sampler`, the number is computed from the sampler's length. Errors:
        TypeError if the sampler has no length.
        """
        return self._share.number("len(loader)") if self._fed is None else len(self._fed)

    @property
    def batches_left(self) -> int:
        """Number of remaining batches in the current epoch, the same on every rank. In a loop over
        the loader, the number is 0 during the last iteration. After the loop, the next epoch
        becomes the current epoch, and the number is `len(loader)`.

        Errors: TypeError for a `sampler` or `batch_sampler` without a length; StateError if the
        loader is closed.
        """
        self._check_open()
        if self._fed is None:
            left = self._share.number("loader.batches_left")
        else:
            left = max(len(self._fed) - self._fed.done(self._core), 0)
        return left + len(self._held)

    @property
    def batches_done(self) -> int:
        """Number of batches of the current epoch that were already returned, or were replaced by an
        error. If the loader has a length, `batches_done` is `len(loader) - batches_left`.

        Pass `batches_done` to a progress bar as its initial count. The bar then ends at 100 %, even
        if the loader was restored with a different batch size:

        >>> loader = fuelrail.Loader("train.rec", 4)
        >>> for batch in tqdm.tqdm(loader, initial=loader.batches_done):
        ...     pass

        `batches_done` is also available if the `sampler` or `batch_sampler` has no length. Errors:
        StateError if the loader is closed.
        """
        self._check_open()
        if self._fed is None:
            done = self._share.number("loader.batches_done")
        else:
            done = self._fed.done(self._core)
        return done - len(self._held)

    def __iter__(self) -> Iterator[Any]:
        """Starts the next epoch, and returns an iterator over its batches. A batch is a tuple of
        columns in the order of `fields`, a dict of columns by name, or a nested dict if the dataset
        has groups of fields. The `batch_transforms` have been applied to it.

        If some batches of the current epoch were already returned, the rest of this epoch is
        skipped. After `load_state_dict`, the first iterator resumes at the restored position. After
        a new iterator is created, all older iterators raise StateError. If a record of a batch
        cannot be read, the iterator raises the error in place of the batch. The following call of
        `next` returns the next batch. After TooManyBadRecordsError, the iterator returns no more
        batches.

        Errors: StateError if the loader is closed, or if `rank` was not given and the rank or world
        size of torch.distributed has changed since the first batch; InvalidArgumentError if an
        environment variable with the rank or world size is invalid.
        """
        self._check_open()
        self._dataset.begin_epoch()
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
        """Sets the number of the next epoch, in [0, 2**32). The next iterator starts at the first
        batch of this epoch. However, if `load_state_dict` has just restored a position in the epoch
        with this number, the next iterator starts at that position.

        Errors: InvalidArgumentError, ArgumentTypeError; StateError if the loader is closed.
        """
        self._check_open()
        self._core.set_epoch(whole("epoch", epoch, bits=32))
        self._held.clear()

    def state_dict(self) -> dict[str, Any]:
        """Returns the loader's position in the training run as a small dict of plain values, which
        takes less than 1 KB as JSON. The dict is the same on every rank, except with `sampler` or
        `batch_sampler`.

        The position does not include batches that were loaded in advance but not yet returned.

        With `sampler` or `batch_sampler`, the dict differs between ranks and has the additional key
        "sampler". The value of this key contains the number of batches returned in the epoch, the
        batch size and the number of ranks. If the sampler or its iterator has the methods
        `state_dict` and `load_state_dict`, the value also contains the sampler's state after the
        last returned batch.

        Errors: StateError if the loader is closed.
        """
        self._check_open()
        self._share.find()
        state: dict[str, Any] = {**json.loads(self._core.state()), **self._place()}
        with contextlib.suppress(IndexError):
            state.update(self._held[0].before)
        return copy.deepcopy(state)  # the sampler may change its own part later

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the position in `state`, a dict that `state_dict` returned. The next iterator
        starts at this position. The batch size, the number of ranks and the options that affect
        only speed may differ from those of the loader that saved the state.

        With `sampler` or `batch_sampler`, the batch size must be unchanged. If the state was saved
        in the middle of an epoch, or contains the sampler's own state, the number of ranks must be
        unchanged, too. If the sampler or its iterator has the method `load_state_dict`, the loader
        calls this method with the saved state. Otherwise, the loader reads the sampler from the
        beginning of the epoch, and skips the batches that were already returned.

        Errors: InvalidArgumentError if the state was saved with a different dataset, class names,
        seed or shuffle, if it was saved by a newer version of fuelrail, or if a value in it is
        invalid; ArgumentTypeError if `state` or a value in it has the wrong type; StateError if the
        loader is closed. After an error, the position is unchanged.
        """
        self._check_open()
        self._share.find()
        own: dict[str, Any] = json.loads(self._core.state())
        plain = json.dumps(plain_state(state, like=own))
        if self._fed is None or state.get("shuffle") != own["shuffle"]:
            self._core.restore(plain)
            self._held.clear()
            self._dataset.note_restored()
            return
        said = self._fed.check_state(state.get("sampler"))
        self._core.restore(plain)
        self._held.clear()
        self._fed.restore(said, self._core.progress())
        self._dataset.note_restored()

    @property
    def bad_records(self) -> list[_core.BadRecord]:
        """The bad samples in the batches returned so far. With on_error="skip", another sample was
        returned in place of each bad sample. Each sample is listed once.
        """
        return self._core.bad_records(0)

    def stats(self) -> _core.Stats:
        """Returns the time, queue depth, bytes and images of each stage of loading, and the stage
        that limits the speed. `print(loader.stats())` shows these numbers as a table.
        """
        return self._core.stats()

    def close(self) -> None:
        """Stops the loader's threads. Returned batches stay valid. Further calls do nothing."""
        self._closed = True
        self._share.freeze()
        self._held.clear()
        self._core.stop()

    def __reduce__(self) -> tuple[Callable[..., BaseLoader[Any]], tuple[Any, ...]]:
        """Supports `copy` and `pickle`, but only before the loader's first batch.

        The new loader has the same dataset, options and position. If `rank` and `world_size` were
        not given, the new loader looks them up in its own process. For `pickle`, a `sampler` or
        `batch_sampler` must be picklable.

        Errors: StateError if the loader has started, or if it is closed.
        """
        self._check_open()
        life = self._core.life()
        if life != "not started":
            raise StateError(
                "a loader whose threads have started cannot be copied or pickled",
                expected="a loader that has not started",
                found=life,
                remedy="Pickle it before its first batch, or pass its `state_dict()` to "
                "`load_state_dict` of a new loader",
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
        """Returns the next batch, or None at the end of the epoch."""
        self._check_open()
        self._share.find()
        held = _Held(turn, [], self._place())
        if self._held and self._held[0].turn == turn:  # else the core reports that `turn` is over
            held = self._held[0]
            del self._held[0]  # nothing above is a call, so no signal handler can raise before
        try:
            if not held.taken and not self._fill(held):
                return None
            self._warn()
            (columns,) = held.taken
            placed = self._delivery.place(columns)
        except BaseException:  # out of memory, Ctrl-C, a warning: the next call retries
            if held.taken:
                self._held.append(held)
            raise
        try:
            return self._delivery(columns, placed, epoch)
        except BaseException:  # dropped if a batch transform may have changed it
            if not self._delivery.transforms_batches:
                self._held.append(held)
            raise

    def _fill(self, held: _Held) -> bool:
        """Requests a batch and stores it in `held`. Returns False at the end of the epoch."""
        try:
            if self._fed is None:
                is_batch = self._core.next(held.turn, held.taken)
            else:
                is_batch = self._fed.take(self._core, held.turn, held.taken)
        except BaseException:
            with contextlib.suppress(FuelrailWarning):  # the error matters more than a warning
                self._warn()
            end_thread_at_exit()
            raise
        if not is_batch:
            self._warn()
        return is_batch

    def _place(self) -> dict[str, Any]:
        """Returns the entries of the `state_dict` that change from batch to batch."""
        epoch, position = self._core.progress()
        place: dict[str, Any] = {"epoch": epoch, "position": position}
        if self._fed is not None:
            place["sampler"] = self._fed.state(self._core)
        return place

    def _warn(self) -> None:
        """Shows the user all new warnings: the core's warnings, and warnings about bad samples."""
        self._said.extend(self._core.warnings())
        self._said.extend(self._dataset.take_warnings())
        while self._said:
            warn_user(self._said.popleft())
        if not self._skips:
            return
        for bad in self._core.bad_records(self._warned):
            self._warned += 1
            if self._warned <= _WARNINGS:
                warn_user(f"{bad.error.rstrip('.')}. The loader uses another sample instead.")
            elif self._warned == _WARNINGS + 1:
                warn_user("More samples are bad. The loader's `bad_records` lists all of them.")


class _Epoch(Iterator[Any]):
    """An iterator over the batches of one epoch. It keeps the loader alive."""

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
            remedy="Pickle the loader before its first batch, and call `iter` on the copy",
        )


def _opened(data: Any, options: dict[str, Any]) -> Dataset:
    """Opens what a loader is to read. options: those in OPENED."""
    if not is_python_dataset(data):
        return open_dataset(data, **options)
    for name in OPENED:
        if options[name] != _OWN[name]:  # type: ignore[literal-required]
            raise InvalidArgumentError(
                f"`{name}` cannot be given for a dataset that is written in Python",
                remedy="Pass the dataset `fuelrail.open_python(dataset, ...)`",
            )
    return open_python(data)


def _rebuilt(
    kind: Callable[..., BaseLoader[Any]],
    data: Dataset,
    options: dict[str, Any],
    state: dict[str, Any],
) -> BaseLoader[Any]:
    """Creates a loader from the values that `__reduce__` returned."""
    loader = kind(data, **options)
    loader.load_state_dict(state)
    return loader


class Loader(BaseLoader[_core.Array]):
    """Loads batches as tuples or dicts of `fuelrail.Array`, which supports DLPack and the buffer
    protocol.

    >>> loader = fuelrail.Loader("train.rec", 256, shuffle=True,
    ...                          transforms=[fuelrail.transforms.RandomResizedCrop(224)])
    >>> for images, labels in loader:
    ...     x = numpy.asarray(images)      # or images.numpy(), jax.dlpack.from_dlpack(images), ...

    `len(loader)` is the number of batches, so a progress bar can wrap the loader:

    >>> for images, labels in tqdm.tqdm(loader, unit="batch"):
    ...     pass

    The memory of a batch stays valid and unchanged while any of its arrays, or another object that
    shares the memory, is alive. The loader itself may be deleted earlier. Before its first batch, a
    loader can be pickled, or used in a forked child process. After the first batch, pickling it or
    using it in a forked child process raises StateError. See docs/lifetimes.md.
    """

    @takes_loader_options(_TORCHS)
    def __init__(
        self,
        data: Dataset | Openable | PythonData,
        batch_size: int = 1,
        **options: Unpack[LoaderKeywords],
    ) -> None:
        """Creates a loader. Its threads start with the first batch.

        Errors: InvalidArgumentError for an invalid value; ArgumentTypeError for a value of the
        wrong type or an unknown option; OutOfRangeError if `rank` is not below `world_size`; the
        errors of `fuelrail.open`. The first batch raises UnsupportedError if
        read_backend="io_uring" was passed and the kernel does not permit io_uring.
        """
        self._set_up(ArrayFramework(), data, {"batch_size": batch_size, **options}, {})


def _described(asked: Mapping[str, Any]) -> str:
    """Returns a short description of the order of samples, for `repr`."""
    shuffle = asked["shuffle"]
    if asked["weights"] is not None:
        return "by weights"
    for name in ("batch_sampler", "sampler"):
        if asked[name] is not None:
            return f"in the order of {name}"
    if shuffle == "window" or isinstance(shuffle, WindowShuffle):
        return "shuffled by windows"
    return "shuffled" if shuffle else "in order"
