"""Reads indices from a user's sampler, and saves and restores the sampler's state."""

from __future__ import annotations

import copy
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fuelrail import _core
from fuelrail.delivery import NativeColumn
from fuelrail.errors import (
    ArgumentTypeError,
    InvalidArgumentError,
    OutOfRangeError,
    StateError,
    warn_user,
)
from fuelrail.options import integer, listed, shown, typed, whole

__all__ = ["FedOrder"]

_OWNERS = ("sampler", "iterator")


class _Pulled(NamedTuple):
    """A batch that was read from the user's sampler."""

    records: list[int]
    ends_epoch: bool
    state: Any
    """The sampler's own state after this batch. None if it has no state to restore."""


class FedOrder:
    """Reads the user's `sampler` or `batch_sampler`, and passes its batches of indices to the core.

    The sampler runs on the thread that requests a batch. Before this thread waits for the batch, it
    reads up to `prefetch` + 1 batches ahead from the sampler. Therefore:
    - The core's threads run no Python code.
    - A sampler that uses a seeded global random generator draws the same numbers in every run.
    - Ctrl-C can interrupt the sampler.
    """

    def __init__(
        self,
        source: Iterable[Any],
        *,
        batch_size: int | None,
        drop_last: bool,
        index: Callable[[object], int],
        prefetch: int,
        rank: int,
        world_size: int,
    ) -> None:
        """source: the user's `sampler` or `batch_sampler`.
        batch_size: the number of indices in a batch. None if `source` is a `batch_sampler`.
        index: a function that checks an index from `source` and returns it as an int of at least 0.
            A negative index counts from the end.
        rank: which slice of each batch to read, if the batches of `source` are those of all ranks
            (`fuelrail.inputs.SamplerBase`).
        """
        self._source = source
        self._batch_size = batch_size
        self._drop_last = drop_last
        self._index = index
        self._prefetch = prefetch
        self._rank = rank
        self._of_all_ranks = hasattr(source, "get_next_batch_indices")
        self._same = {"world_size": world_size, "batch_size": batch_size}
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._one_shot_begun = False
        # Since the feed started:
        self._feeds = 0
        self._pulls: Iterator[_Pulled] = iter(())
        self._ahead: deque[_Pulled] = deque()  # pulled, but not handed out yet
        self._error: BaseException | None = None  # raised after the batches in `_ahead`
        self._over = False  # an error has ended the epoch
        self._ended = False  # the order has no more epochs
        self._batches = 0  # batches handed out in the epoch of the next batch
        self._done = 0  # batches handed out in the epoch of the last batch handed out
        self._state: Any = None
        self._rows = 1  # the largest batch for which the core has room
        self._before: tuple[int, int] | None = None  # progress when the current batch was requested
        # The restored state, and the progress at which it applies:
        self._resume: Mapping[str, Any] = {}
        self._resume_at = (-1, -1)

    def __len__(self) -> int:
        """Returns the number of batches in an epoch. Errors: TypeError if the sampler has no
        length.
        """
        batches: int | None = getattr(self._source, "num_batches", None)
        if self._of_all_ranks and batches is not None:
            return batches
        count = len(self._source)  # type: ignore[arg-type]
        if self._batch_size is None:
            return count
        return count // self._batch_size if self._drop_last else -(-count // self._batch_size)

    def begin(self, core: _core.Loader) -> None:
        """Prepares for a new iterator of the loader. If the sampler has raised an error, the next
        call of `take` starts a new iteration over the sampler.
        """
        with self.own_lock():
            if self._over and core.feeds() == self._feeds:
                core.reserve(0)

    def take(self, core: _core.Loader, turn: int, taken: list[tuple[NativeColumn, ...]]) -> bool:
        """Appends the columns of the next batch to `taken` and returns True. Returns False at the
        end of the epoch.

        turn: the number that `core.begin()` returned for this iterator.
        """
        with self.own_lock():
            self._top_up(core)
            if self._over and not self._ahead and not core.at_end():
                error, self._error = self._error, None
                try:
                    if error is not None:
                        raise error
                finally:
                    del error  # a cycle with the traceback would keep the error and a batch alive
                return False
            self._before = core.progress()
            try:
                is_batch = core.next(turn, taken)
                self._count(core, taken)
            except BaseException:  # from a bad record, or from a signal handler after a good batch
                self._count(core, taken)
                raise
            return is_batch

    def state(self, core: _core.Loader) -> dict[str, Any]:
        """Returns the dict that the loader's `state_dict` stores under "sampler". If the user's
        sampler has a state, the dict contains a reference to this state, not a copy.
        """
        with self.own_lock():
            batches, state = self._batches, self._state
            if core.feeds() != self._feeds:
                resume = self._resume_from(core.progress())
                batches, state = resume.get("batches", 0), resume.get("state")
            said = {**self._same, "batches": batches, "has_state": state is not None}
            return said if state is None else {**said, "state": state}

    def done(self, core: _core.Loader) -> int:
        """Returns the number of batches of the current epoch that were returned or failed to load.
        After `take` has returned False, the current epoch is the next one.
        """
        with self.own_lock():
            if core.feeds() != self._feeds:
                batches: int = self._resume_from(core.progress()).get("batches", 0)
                return batches
            return self._done if core.at_end() else self._batches

    def reshard(self, core: _core.Loader, rank: int, world_size: int) -> None:
        """Changes the rank and the world size. Errors: those of `check_state` if the restored state
        does not allow this world size. After an error, nothing has changed.
        """
        with self.own_lock():
            before, rank_before = self._same["world_size"], self._rank
            self._same["world_size"], self._rank = world_size, rank
            try:
                resume = self._resume_from(core.progress())
                if resume:
                    self.check_state(resume)
                core.reshard(rank, world_size)
            except BaseException:
                self._same["world_size"], self._rank = before, rank_before
                raise

    def check_state(self, said: object) -> dict[str, Any]:
        """Checks `said`, a value that the method `state` returned in an earlier run, and returns a
        copy of it. The batch size must be the same as in that run. The world size may differ only
        if `said` is from the beginning of an epoch and contains no state of the sampler. Errors:
        InvalidArgumentError.
        """
        if not isinstance(said, Mapping):
            raise InvalidArgumentError(
                "the state has no member 'sampler'",
                remedy="Pass the value that state_dict() returned",
            )
        batches = whole("sampler['batches']", said.get("batches"))
        begun = batches > 0 or said.get("has_state")
        for name, own in self._same.items():
            if said.get(name) != own and (begun or name != "world_size"):
                raise InvalidArgumentError(
                    f"the state's '{name}' differs from the loader's",
                    expected=str(own),
                    found=str(said.get(name)),
                    remedy="Use the batch size and the number of ranks of the run that saved the "
                    "state, as `sampler` and `batch_sampler` require",
                )
        if said.get("has_state") and "state" not in said:
            raise InvalidArgumentError(
                "the sampler's own state is missing",
                expected="a value in state['sampler']['state']",
                remedy="Save everything that state_dict() returns, for example with torch.save",
            )
        own = said.get("state")
        is_own = isinstance(own, Mapping) and own.get("of") in _OWNERS and "state" in own
        if own is not None and not is_own:
            raise InvalidArgumentError(
                "the sampler's own state is invalid",
                expected="a dict with the members 'of' and 'state'",
                found=shown(own),
                remedy="Pass the value that state_dict() returned",
            )
        return {**said, "batches": batches}

    def restore(self, said: Mapping[str, Any], at: tuple[int, int]) -> None:
        """Stores `said`, a state that `check_state` returned. When the next iteration over the
        sampler starts, it resumes from `said` if `core.progress()` returns `at`. Issues a
        FuelrailWarning if the sampler may be unable to resume.

        at: the restored epoch and position, in the form that `core.progress()` returns.
        """
        if said["batches"] > 0 and "state" not in said and not _repeats(self._source):
            warn_user(
                f"{type(self._source).__name__} has neither `state_dict` nor `set_epoch`, so the "
                "loader resumes correctly only if the sampler yields the same indices again. Use "
                "`shuffle`, `weights`, or a sampler with `set_epoch` or `state_dict`."
            )
        with self.own_lock():
            self._resume, self._resume_at = copy.deepcopy(dict(said)), at

    def own_lock(self) -> threading.RLock:
        """Returns the lock that every method holds. A caller may hold it over several calls."""
        if self._process != os.getpid():  # another thread may have held the lock at the fork
            self._process, self._lock = os.getpid(), threading.RLock()
        return self._lock

    # --- pulling, on the thread that requests a batch -------------------------------------------

    def _count(self, core: _core.Loader, taken: list[tuple[NativeColumn, ...]]) -> None:
        """Counts the batch that `core.next` just appended to `taken` or failed to load, if any, and
        removes it from the front of `_ahead`.
        """
        # An error leaves `taken` empty but advances the progress. A batch without rows does not
        # advance the progress. `_before` is None if the result was already counted.
        if self._before is None or (not taken and core.progress() == self._before):
            return
        pulled = self._ahead[0]  # nothing below is a call, so no signal handler can raise
        self._done = self._batches + 1
        self._batches = 0 if pulled.ends_epoch else self._done
        self._state = pulled.state
        self._before = None
        del self._ahead[0]

    def _resume_from(self, at: tuple[int, int]) -> Mapping[str, Any]:
        return self._resume if self._resume_at == at else {}

    def _start(self, core: _core.Loader) -> None:
        at = core.progress()
        resume = self._resume_from(at)
        self._feeds = core.feeds()
        self._ahead.clear()
        self._error = None
        self._over = self._ended = False
        self._batches, self._state = resume.get("batches", 0), resume.get("state")
        self._pulls = self._epochs(at[0], resume)

    def _top_up(self, core: _core.Loader) -> None:
        """Reads batches from the sampler until `_ahead` has `prefetch` + 1 batches. Passes each new
        batch to the core.
        """
        if core.feeds() != self._feeds:
            self._start(core)
        while not self._over and not self._ended and len(self._ahead) <= self._prefetch:
            try:
                pulled = next(self._pulls, None)
            except BaseException as error:
                self._over, self._error = True, error
                core.end_feed()
                if isinstance(error, Exception):
                    return
                self._error = StateError(
                    "the sampler was interrupted, for example by Ctrl-C, so the epoch cannot "
                    "continue",
                    remedy="Start over with `iter(loader)`",
                )
                raise  # Ctrl-C is raised at once, not after the batches in `_ahead`
            if pulled is None:
                self._ended = True
                core.end_feed()
                return
            try:
                self._make_room(core, len(pulled.records))
                self._ahead.append(pulled)
                core.feed(pulled.records, pulled.ends_epoch)
            except BaseException:  # Ctrl-C, before or after `pulled` was fed
                if not self._ahead or self._ahead[-1] is not pulled:
                    self._ahead.append(pulled)
                self._feed_anew(core, max(self._rows, len(pulled.records)))
                raise

    def _make_room(self, core: _core.Loader, rows: int) -> None:
        if rows <= self._rows:
            return
        self._feed_anew(core, rows if self._rows == 1 else max(rows, 2 * self._rows))

    def _feed_anew(self, core: _core.Loader, rows: int) -> None:
        """Makes the core accept batches of up to `rows` records, and passes all batches in `_ahead`
        to the core again.
        """
        core.reserve(rows)
        self._rows = rows
        self._feeds = core.feeds()
        for pulled in self._ahead:
            core.feed(pulled.records, pulled.ends_epoch)

    def _epochs(self, epoch: int, resume: Mapping[str, Any]) -> Iterator[_Pulled]:
        """Yields the batches of `epoch` and of all later epochs. Stops at an empty epoch."""
        for number in itertools.count(epoch):
            empty = True
            for pulled in self._epoch(number, resume if number == epoch else {}):
                empty = False
                yield pulled
            if empty:
                return

    def _epoch(self, epoch: int, resume: Mapping[str, Any]) -> Iterator[_Pulled]:
        source = self._source
        set_epoch = _method(source, "set_epoch") or _method(
            getattr(source, "sampler", None), "set_epoch"
        )
        if set_epoch:
            set_epoch(epoch)
        restored = resume.get("state")
        if restored is not None and restored["of"] == "sampler":
            _load_state(source, restored)
        iterator = self._iterate()
        if restored is not None and restored["of"] == "iterator":
            _load_state(iterator, restored)
        batches = self._cut(iterator)
        skip = 0 if restored is not None else resume.get("batches", 0)
        skipped = sum(1 for _ in itertools.islice(batches, skip))
        batch = next(batches, None)
        if skip > 0 and batch is None:
            raise InvalidArgumentError(
                "the sampler has too few batches to resume at the saved batch",
                expected=f"more than {skip} batches",
                found=f"{skipped}",
                remedy="Pass the `sampler` or `batch_sampler` of the run that saved the state",
            )
        while batch is not None:
            state = self._place_in(iterator)
            error = following = None
            try:
                following = next(batches, None)
            except Exception as caught:
                error = caught
            ends = following is None and error is None
            if ends:  # the next epoch starts from the beginning, or from the sampler's state
                afresh = state is None or state["of"] == "iterator" or set_epoch
                state = None if afresh else self._place_in(iterator)
            yield _Pulled(batch, ends, state)
            try:
                if error is not None:
                    raise error
            finally:
                del error
            batch = following

    def _iterate(self) -> Iterator[Any]:
        """Returns an iterator over the sampler. Errors: StateError if the sampler is itself an
        iterator and was partly read.
        """
        iterator = iter(self._source)
        if iterator is self._source:
            if self._one_shot_begun:
                raise StateError(
                    "the sampler is an iterator, and part of it has already been read",
                    remedy="Pass an iterable that can be read again, such as a list",
                )
            self._one_shot_begun = True
        return iterator

    def _cut(self, iterator: Iterator[Any]) -> Iterator[list[int]]:
        if self._batch_size is None:
            for batch in iterator:
                yield self._records(batch)
        else:
            while indices := list(itertools.islice(iterator, self._batch_size)):
                if len(indices) < self._batch_size and self._drop_last:
                    break
                yield self._records(indices)
        # An iterator that has ended may be read again: it stays empty, or starts over.
        self._one_shot_begun = False

    def _records(self, batch: object) -> list[int]:
        given = listed(batch)
        if not isinstance(given, Iterable):
            raise ArgumentTypeError(
                "a batch of `batch_sampler` has the wrong type",
                expected="a list of indices",
                found=typed(batch),
                remedy="If the sampler yields single indices, pass it as `sampler`"
                if integer(given) is not None
                else "",
            )
        indices = list(given)
        records = [self._index(index) for index in indices]
        if not self._of_all_ranks:
            return records
        if records != indices:  # a negative one, which would count from the end
            raise OutOfRangeError(
                "the sampler drew an index below 0", expected="at least 0", found=shown(indices)
            )
        return self._own_slice(records)

    def _own_slice(self, records: list[int]) -> list[int]:
        ranks = self._same["world_size"] or 1
        if len(records) % ranks:
            raise InvalidArgumentError(
                "a batch of the sampler cannot be divided among the ranks",
                expected=f"a multiple of {ranks} samples",
                found=str(len(records)),
            )
        size = len(records) // ranks
        return records[self._rank * size : (self._rank + 1) * size]

    def _place_in(self, iterator: Iterator[Any]) -> dict[str, Any] | None:
        for name, thing in (("iterator", iterator), ("sampler", self._source)):
            state_dict = _method(thing, "state_dict")
            if state_dict and _method(thing, "load_state_dict"):
                # Copied, because the sampler may change its state when later batches are pulled.
                return {"of": name, "state": copy.deepcopy(state_dict())}
        return None


def _repeats(source: object) -> bool:
    """Returns whether reading `source` twice for the same epoch yields the same indices."""
    if isinstance(source, Sequence) or hasattr(source, "tolist") or hasattr(source, "set_epoch"):
        return True
    inner = getattr(source, "sampler", None)
    if inner is not None:
        return _repeats(inner)
    return type(source).__name__ == "SequentialSampler"


def _load_state(owner: object, restored: Mapping[str, Any]) -> None:
    load_state_dict = _method(owner, "load_state_dict")
    if load_state_dict is None:
        raise InvalidArgumentError(
            "the sampler's own state cannot be restored",
            expected=f"a `load_state_dict` of the {restored['of']}",
            found=typed(owner),
            remedy="Pass the `sampler` or `batch_sampler` of the run that saved the state",
        )
    load_state_dict(copy.deepcopy(restored["state"]))


def _method(thing: object, name: str) -> Callable[..., Any] | None:
    method = getattr(thing, name, None)
    return method if callable(method) else None
