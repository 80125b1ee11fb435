"""torch's DataLoader, which can begin at any step of an epoch."""

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
    """A step that the loader cannot begin with."""


class _OneByOne:
    """A sampler whose indices are lists of one."""

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
    """How an epoch begins."""

    rng: list[torch.Tensor]
    """The states of the loader's generators."""
    reuses: bool
    """Persistent workers are there already: torch draws them no seed, as it does for new ones."""
    order: int | None = None
    """Of the batches before the first, where the epoch is gone on with."""


class _Epoch(Iterator[Any]):
    """torch's iterator, counted. Its workers end with it, so the loader does not hold it."""

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
    """torch's DataLoader, which can begin at any step of an epoch and has a state.

    >>> class Sizes(fuelrail.ffrecord.torch.Dataset):
    ...     def process(self, indices, data):
    ...         return [record.size for record in data]
    >>> loader = fuelrail.ffrecord.torch.DataLoader(Sizes("train.ffr"), batch_size=4, shuffle=True)
    >>> loader.set_step(1)             # of each epoch from now on, all but the first batch
    >>> state = loader.state_dict()    # in an epoch, too: another loader goes on after that batch
    >>> loader.load_state_dict(state)

    A `fuelrail.ffrecord.torch.Dataset` gets the list of a batch's indices, and `collate_fn` what it
    makes of them; other datasets are torch's business. Worker processes may start by any method.
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
        """The arguments are torch's; what is not named here (multiprocessing_context,
        pin_memory_device, in_order) goes to torch by name. prefetch_factor: without worker
        processes there is none. skippable: whether `set_step` and `state_dict` are wanted; they
        need batches (`batch_size` or `batch_sampler`).

        Errors: StepError (also an AssertionError) for `skippable` without batches; torch's.
        """
        if num_workers > 0:
            torch_options["prefetch_factor"] = prefetch_factor
        batched = batch_size is not None or batch_sampler is not None
        if skippable and not batched:
            raise StepError(
                "a loader without batches has no steps",
                remedy="Pass `skippable=False`, or a `batch_size`",
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
            # torch forbids to set it, lest what was made from another one stays.
            object.__setattr__(self, "batch_sampler", self._skipped)
        self._resumed: _Begin | None = None  # then `step` holds for one epoch alone
        self._running: object = None  # stands for the epoch that was begun last
        self._begun: _Begin | None = None
        self._taken = 0

    def set_step(self, step: int) -> None:
        """Leaves out the first `step` batches of every epoch that begins from now on, until another
        step is set; `len` does not count them. Nothing of them is read, but their indices are
        drawn: with the same generator, what follows is as in the whole epoch. All of them may be
        left out.

        Errors: StepError (also an AssertionError) unless 0 <= step <= the number of batches, and
        for a loader that is not skippable; TypeError for datasets without a length.
        """
        skipped = self._skippable()
        length = self._whole_length()
        number = integer(step)
        if number is None:
            raise ArgumentTypeError("`step` is not an integer", found=typed(step))
        if not 0 <= number <= length:
            raise StepError("there is no such step", expected=f"0 to {length}", found=shown(number))
        skipped.step = number
        self._resumed = None

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is: the batches of this epoch that were taken from it, and the random
        numbers with which the epoch began.

        Those are `generator`'s, or without one those of torch's global generator of the processor;
        also those of the sampler's own `generator`, where one that was passed has it, and the
        global ones where it has none. A sampler's `epoch` (torch's DistributedSampler) is in it.
        Errors: StepError for a loader that is not skippable; TypeError for datasets without a
        length.
        """
        skipped = self._skippable()
        begin = self._begun if self._running is not None else self._resumed
        if begin is None:
            begin = self._begin()
        taken = self._taken if self._running is not None else 0
        if taken and self.num_workers > 0 and not getattr(self, "in_order", True):
            raise StepError(
                "batches that come in any order have no step",
                remedy="Leave out `in_order=False`, or save the state between epochs",
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
        """The next epoch goes on where `state` was taken; the ones after it are whole.

        Its random numbers are set as the epoch begins, in the generators that `state_dict` names.
        The batches that are skipped are held against those that were taken: the first batch is an
        OrderError (a StateError) where they are others, as those of a sampler are that draws from
        elsewhere (Python's or NumPy's random numbers). Persistent workers are started anew. Errors:
        InvalidArgumentError for the state of another number of batches or of other generators, or
        another version's.
        """
        self._skippable()
        if not isinstance(state, dict) or state.get("version") != _STATE_VERSION:
            raise InvalidArgumentError(
                "this is not a state of such a loader",
                expected=f"version {_STATE_VERSION}",
                found=shown(state.get("version") if isinstance(state, dict) else typed(state)),
            )
        missing = sorted(_STATE_KEYS - state.keys())
        if missing:
            raise InvalidArgumentError(
                "this is not a state of such a loader", found=f"no {missing[0]!r} in it"
            )
        length = self._whole_length()
        if state["batches"] != length:
            raise InvalidArgumentError(
                "the state is one of another number of batches",
                expected=f"{length}",
                found=shown(state["batches"]),
                remedy="Use the dataset and the batch size that it was saved with",
            )
        generators = len(self._generators())
        if len(state["rng"]) != generators:
            raise InvalidArgumentError(
                "the state is one of another number of random generators",
                expected=f"{generators}",
                found=shown(len(state["rng"])),
                remedy="Use a `generator` and a sampler like those that it was saved with",
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
            self._whole_again()  # the epoch that was gone on with was left
        self._skipped.rewound = {}
        self._skipped.expected = None
        if self._resumed is None:
            self._begun = self._begin()
        else:
            self._begun = self._resumed
            self._iterator = None  # of persistent workers
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
            raise StepError("the loader is not skippable", remedy="Make it with `skippable=True`")
        return self._skipped

    def _epoch_sampler(self) -> Any:
        """What has an epoch: the sampler, or the batch sampler of the user's own."""
        for sampler in (self.sampler, self._skippable().batch_sampler):
            if hasattr(sampler, "set_epoch"):
                return sampler
        return None

    def _whole_length(self) -> int:
        try:
            return len(self._skippable().batch_sampler)
        except TypeError:
            raise ArgumentTypeError(
                "the dataset, or its sampler, has no length, so there are no steps",
                remedy="Give it `__len__`, or count its samples where they are made",
            ) from None

    def _begin(self) -> _Begin:
        reuses = self.persistent_workers and self._iterator is not None
        return _Begin([one.get_state() for one in self._generators()], reuses)

    def _generators(self) -> list[torch.Generator]:
        """What an epoch's order and its workers' seeds may be drawn from, each once."""
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
    """Whether a sampler may draw random numbers that go on from epoch to epoch."""
    steady = (
        torch.utils.data.SequentialSampler,
        torch.utils.data.DistributedSampler,
        torch.utils.data.BatchSampler,  # its sampler does
    )
    return sampler is not None and not isinstance(sampler, steady)


def _sampler(
    dataset: Dataset, sampler: Any, shuffle: bool | None, generator: torch.Generator | None
) -> Iterable[int]:
    """As torch's DataLoader chooses it."""
    if sampler is not None:
        chosen: Iterable[int] = sampler
        return chosen
    if shuffle:
        return torch.utils.data.RandomSampler(dataset, generator=generator)
    return torch.utils.data.SequentialSampler(dataset)
