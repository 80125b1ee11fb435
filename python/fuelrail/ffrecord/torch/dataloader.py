"""A subclass of torch's DataLoader that can start at any step of an epoch."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils.data

from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.ffrecord.torch.dataset import Dataset
from fuelrail.ffrecord.torch.skipped_batches import SkippedBatches, set_states
from fuelrail.options import integer, shown, typed

__all__ = ["DataLoader", "StepError"]

_STATE_VERSION = 1
_STATE_KEYS = {"step", "order", "batches", "rng", "reuses", "epoch"}


class StepError(InvalidArgumentError, AssertionError):
    """The step is out of range, or this loader does not support steps or saved states."""


class _OneByOne:
    """A sampler that wraps each index of another sampler in a list."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler

    def __iter__(self) -> Iterator[Any]:
        for index in self.sampler:
            yield index if isinstance(index, (list, tuple)) else [index]

    def __len__(self) -> int:
        return len(self.sampler)

    def __getattr__(self, name: str) -> Any:
        if name == "sampler":
            raise AttributeError(name)
        return getattr(self.sampler, name)


@dataclass(frozen=True)
class _Begin:
    """The loader's state at the start of an epoch."""

    rng: list[torch.Tensor]
    """The states of the loader's random generators."""
    reuses: bool
    """Whether persistent workers were already running. Torch draws a seed only for new workers."""
    order: int | None = None
    """The CRC-32 for the skipped batches of a resumed epoch, or None."""


class _Epoch(Iterator[Any]):
    """Wraps an iterator of torch's DataLoader, and reports each batch to `loader`.

    The loader keeps no reference to this object, because such a reference would keep the workers
    alive.
    """

    def __init__(self, loader: DataLoader, batches: Any, token: object) -> None:
        self._loader = weakref.ref(loader)
        self._batches = batches
        self._token = token

    def __next__(self) -> Any:
        loader = self._loader()
        try:
            batch = next(self._batches)
        except StopIteration:
            if loader is not None:
                loader._epoch_ended(self._token)
            raise
        if loader is not None:
            loader._batch_taken(self._token)
        return batch

    def __len__(self) -> int:
        return len(self._batches)

    def __getattr__(self, name: str) -> Any:
        if name == "_batches":
            raise AttributeError(name)
        return getattr(self._batches, name)


class DataLoader(torch.utils.data.DataLoader[Any]):
    """torch's DataLoader, extended to start at any step of an epoch and to save its state.

    >>> class Sizes(fuelrail.ffrecord.torch.Dataset):
    ...     def process(self, indices, data):
    ...         return [record.size for record in data]
    >>> loader = fuelrail.ffrecord.torch.DataLoader(Sizes("train.ffr"), batch_size=4, shuffle=True)
    >>> loader.set_step(1)             # every epoch from now on skips its first batch
    >>> state = loader.state_dict()    # at any time; a new loader can resume from it
    >>> loader.load_state_dict(state)

    A `fuelrail.ffrecord.torch.Dataset` gets all indices of a batch in one call. The result of this
    call is passed to `collate_fn`. Other datasets are read as in torch's DataLoader. Worker
    processes may use any start method.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = False,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = 2,
        persistent_workers: bool = False,
        skippable: bool = True,
        **torch_options: Any,
    ) -> None:
        """All arguments except `skippable` are those of torch's DataLoader.

        prefetch_factor: ignored if `num_workers` is 0.
        skippable: support `set_step`, `state_dict` and `load_state_dict`. This requires a
        `batch_size` or a `batch_sampler`. Default: True.
        torch_options: torch's other arguments (multiprocessing_context, pin_memory_device,
        in_order).

        Errors: StepError (also an AssertionError) if `skippable` is True and the loader has neither
        a `batch_size` nor a `batch_sampler`; the errors of torch's DataLoader.
        """
        if num_workers > 0:
            torch_options["prefetch_factor"] = prefetch_factor
        batched = batch_size is not None or batch_sampler is not None
        if skippable and not batched:
            raise StepError(
                "`skippable=True` requires `batch_size` or `batch_sampler`",
                remedy="Pass `skippable=False` or a `batch_size`",
            )
        if isinstance(dataset, Dataset) and not batched:
            sampler = _OneByOne(_sampler(dataset, sampler, shuffle, generator))
            shuffle = False
        super().__init__(
            dataset,
            batch_size=batch_size,
            shuffle=shuffle,
            sampler=sampler,
            batch_sampler=batch_sampler,
            num_workers=num_workers,
            collate_fn=collate_fn,
            pin_memory=pin_memory,
            drop_last=drop_last,
            timeout=timeout,
            worker_init_fn=worker_init_fn,
            generator=generator,
            persistent_workers=persistent_workers,
            **torch_options,
        )
        self.skippable = skippable
        self._skipped: SkippedBatches | None = None
        if skippable:
            self._skipped = SkippedBatches(self.batch_sampler)
            # torch forbids setting `batch_sampler` now, because other attributes depend on it.
            object.__setattr__(self, "batch_sampler", self._skipped)
        self._resumed: _Begin | None = None  # if set, `step` is for one epoch only
        self._running: object = None  # identifies the epoch that started last
        self._begun: _Begin | None = None
        self._taken = 0

    def set_step(self, step: int) -> None:
        """Skips the first `step` batches of every later epoch, until another step is set.

        The sampler still draws the indices of skipped batches, but their records are not read. So
        the remaining batches are the same as in a complete epoch with the same generator. `len`
        counts only the remaining batches, which may be 0.

        Errors: StepError (also an AssertionError) if `step` is negative or above the number of
        batches, or if the loader was created with `skippable=False`; TypeError if the dataset has
        no length.
        """
        skipped = self._skippable()
        length = self._whole_length()
        number = integer(step)
        if number is None:
            raise ArgumentTypeError(
                "`step` has the wrong type", expected="an integer", found=typed(step)
            )
        if not 0 <= number <= length:
            raise StepError(
                "`step` is out of range", expected=f"0 to {length}", found=shown(number)
            )
        skipped.step = number
        self._resumed = None

    def state_dict(self) -> dict[str, Any]:
        """Returns a state from which `load_state_dict` can resume.

        The state includes the number of batches that the loader has skipped or returned in this
        epoch, and the states of the random generators at the start of the epoch. These generators
        are the loader's `generator` and the sampler's `generator`. Torch's global CPU generator
        takes the place of each of the two that is missing. The state also includes the `epoch` of a
        sampler that has `set_epoch`, such as torch's DistributedSampler.

        Errors: StepError if the loader was created with `skippable=False`. StepError in the middle
        of an epoch if the loader has worker processes and `in_order=False`. TypeError if the
        dataset has no length.
        """
        skipped = self._skippable()
        begin = self._begun if self._running is not None else self._resumed
        if begin is None:
            begin = self._begin()
        taken = self._taken if self._running is not None else 0
        if taken and self.num_workers > 0 and not getattr(self, "in_order", True):
            raise StepError(
                "the state cannot be saved within an epoch if `in_order=False`",
                remedy="Remove `in_order=False`, or save the state between epochs",
            )
        step = skipped.step + taken
        return {
            "version": _STATE_VERSION,
            "step": step,
            "order": skipped.order.behind(step) if taken else begin.order,
            "batches": self._whole_length(),
            "rng": [one.clone() for one in begin.rng],
            "reuses": begin.reuses,
            "epoch": getattr(self._epoch_sampler(), "epoch", None),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores a saved state. The next loop over the loader resumes the interrupted epoch at
        the saved step. Later loops start at the first batch.

        When the resumed epoch starts, the random generators (see `state_dict`) are reset to their
        saved states, and persistent workers are restarted. The sampler then draws the skipped
        batches again. If the skipped batches differ from those of the interrupted epoch, the
        iterator raises OrderError (also a StateError) in place of the first batch. The batches can
        differ if, for example, the sampler uses the random generators of Python or NumPy, which the
        state does not include.

        Errors: InvalidArgumentError if the state is not a dict, is incomplete or has an unsupported
        version, or if it was saved by a loader with a different number of batches or of random
        generators; StepError if this loader was created with `skippable=False`; TypeError if the
        dataset has no length.
        """
        self._skippable()
        if not isinstance(state, dict):
            raise InvalidArgumentError(
                "the state is not a dict",
                expected="a dict that `state_dict` returned",
                found=typed(state),
            )
        if state.get("version") != _STATE_VERSION:
            raise InvalidArgumentError(
                "the state has an unsupported version",
                expected=f"version {_STATE_VERSION}",
                found=shown(state.get("version")),
            )
        missing = sorted(_STATE_KEYS - state.keys())
        if missing:
            raise InvalidArgumentError(
                "the state is incomplete", expected=f"an entry {missing[0]!r}"
            )
        length = self._whole_length()
        if state["batches"] != length:
            raise InvalidArgumentError(
                "the state is for a different number of batches",
                expected=f"{length}",
                found=shown(state["batches"]),
                remedy="Use the dataset and the batch size of the loader that saved the state",
            )
        generators = len(self._generators())
        if len(state["rng"]) != generators:
            raise InvalidArgumentError(
                "the state is for a different number of random generators",
                expected=f"{generators}",
                found=shown(len(state["rng"])),
                remedy="Create this loader with the same arguments as the loader that saved the "
                "state",
            )
        self.set_step(state["step"])
        self._resumed = _Begin(list(state["rng"]), state["reuses"], state["order"])
        self._running = None
        sampler = self._epoch_sampler()
        if state["epoch"] is not None and hasattr(sampler, "set_epoch"):
            sampler.set_epoch(state["epoch"])

    def __iter__(self) -> Any:
        if self._skipped is None:
            return super().__iter__()
        if self._running is not None and self._resumed is not None:
            self._whole_again()  # the resumed epoch was not finished
        self._skipped.rewound = {}
        self._skipped.expected = None
        if self._resumed is None:
            self._begun = self._begin()
        else:
            self._begun = self._resumed
            self._iterator = None  # drops persistent workers
            states = dict(zip(self._generators(), self._resumed.rng, strict=True))
            set_states(states)
            if self._resumed.reuses:
                self._skipped.rewound = states
            self._skipped.expected = self._resumed.order
        self._taken = 0
        batches = super().__iter__()
        self._running = object()
        return _Epoch(self, batches, self._running)

    def _batch_taken(self, token: object) -> None:
        if token is self._running:
            self._taken += 1

    def _epoch_ended(self, token: object) -> None:
        if token is not self._running:
            return
        self._running = None
        if self._resumed is not None:
            self._whole_again()

    def _whole_again(self) -> None:
        self._skippable().step = 0
        self._resumed = None

    def _skippable(self) -> SkippedBatches:
        if self._skipped is None:
            raise StepError("the loader is not skippable", remedy="Create it with `skippable=True`")
        return self._skipped

    def _epoch_sampler(self) -> Any:
        """Returns the sampler or batch sampler that has `set_epoch`, or None."""
        for sampler in (self.sampler, self._skippable().batch_sampler):
            if hasattr(sampler, "set_epoch"):
                return sampler
        return None

    def _whole_length(self) -> int:
        try:
            return len(self._skippable().batch_sampler)
        except TypeError:
            raise ArgumentTypeError(
                "the loader cannot start in the middle of an epoch or save its state, because the "
                "dataset or its sampler has no length",
                remedy="Define `__len__` in the dataset or sampler. To skip the first batches of "
                "an IterableDataset, skip their samples in its `__iter__`",
            ) from None

    def _begin(self) -> _Begin:
        reuses = self.persistent_workers and self._iterator is not None
        return _Begin([one.get_state() for one in self._generators()], reuses)

    def _generators(self) -> list[torch.Generator]:
        """Returns the random generators that may affect the sample order or the workers' seeds."""
        batch_sampler = self._skippable().batch_sampler
        owners = [self, *(one for one in (self.sampler, batch_sampler) if _draws(one))]
        if _draws(inner := getattr(batch_sampler, "sampler", None)):
            owners.append(inner)
        found: list[torch.Generator] = []
        for owner in owners:
            own = getattr(owner, "generator", None)
            generator = own if isinstance(own, torch.Generator) else torch.default_generator
            if not any(generator is one for one in found):
                found.append(generator)
        return found


def _draws(sampler: Any) -> bool:
    """Returns whether `sampler` may draw its order from a random generator that is not seeded again
    for each epoch. Returns True for a sampler of an unknown class.
    """
    steady = (
        torch.utils.data.SequentialSampler,
        torch.utils.data.DistributedSampler,
        torch.utils.data.BatchSampler,  # its sampler draws
    )
    return sampler is not None and not isinstance(sampler, steady)


def _sampler(
    dataset: Dataset, sampler: Any, shuffle: bool | None, generator: torch.Generator | None
) -> Iterable[int]:
    """Returns the sampler that torch's DataLoader would use with these arguments."""
    if sampler is not None:
        chosen: Iterable[int] = sampler
        return chosen
    if shuffle:
        return torch.utils.data.RandomSampler(dataset, generator=generator)
    return torch.utils.data.SequentialSampler(dataset)
