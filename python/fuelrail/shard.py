"""This process's share of every global batch: the one that was given, or the one that is found."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from fuelrail.errors import InvalidArgumentError, StateError, warn_user
from fuelrail.options import shown, whole

if TYPE_CHECKING:
    from fuelrail import _core
    from fuelrail.fed_order import FedOrder

_REMEDY = (
    "Call torch.distributed.init_process_group before the first batch and before `len(loader)`, or "
    "give `rank` and `world_size`"
)
# Variables of launchers, and the least value that says that the process is one of several.
_OF_SEVERAL = {
    "RANK": 1,
    "LOCAL_RANK": 1,
    "WORLD_SIZE": 2,
    "LOCAL_WORLD_SIZE": 2,
    "SLURM_PROCID": 1,
    "SLURM_NTASKS": 2,
    "OMPI_COMM_WORLD_SIZE": 2,
    "PMI_SIZE": 2,
}
_told: set[str] = set()  # of the environment, in this process


class Share(NamedTuple):
    """Rank and world size."""

    rank: int
    world_size: int

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.world_size}"


ALONE = Share(0, 1)


def given_share(rank: int | None, world_size: int | None) -> Share | None:
    """What the caller gave, if anything. Errors: InvalidArgumentError, ArgumentTypeError."""
    if (rank is None) != (world_size is None):
        raise InvalidArgumentError(
            "`rank` and `world_size` go together",
            found=f"rank={shown(rank)}, world_size={shown(world_size)}",
            remedy="Give both or neither",
        )
    if rank is None:
        return None
    return Share(whole("rank", rank, bits=32), whole("world_size", world_size, least=1, bits=32))


class LoaderShare:
    """A loader's share: the one that was given, or the one that is found until its first batch."""

    def __init__(
        self,
        given: Share | None,
        core: _core.Loader,
        fed: FedOrder | None,
        *,
        batch_size: int | None,
        shared_out: int | None,
    ) -> None:
        """core, fed: those of the loader, made for `given`, or for all samples where it is None.
        batch_size: None with `batch_sampler`. shared_out: samples an epoch, where those that fill
        no global batch are shared out among the ranks, so that one may get none.
        """
        self._core = core
        self._fed = fed
        self._batch_size = batch_size
        self._shared_out = shared_out
        self._given = given is not None
        self._share = given  # None: nobody has asked for it
        self._asked: set[str] = set()  # the numbers that have been told for `_share`
        self._warned: Share | None = None

    def __str__(self) -> str:
        return "rank found with the first batch" if self._share is None else str(self._share)

    def find(self) -> None:
        """Looks for this process's share, where none was given and no batch was asked for yet.

        Errors: InvalidArgumentError for a bad environment variable, and for a restored place within
        an epoch of a fed order, which is one of another number of ranks.
        """
        if self._given or self._core.life() != "not started":
            return
        before, now = self._share or ALONE, found_share()
        told = {}
        if now != before:
            told = {name: self._number(name) for name in self._asked}
            if self._fed is None:
                self._core.reshard(*now)
            else:
                self._fed.reshard(self._core, *now)
            self._asked.clear()
        self._share = now
        for name, number in told.items():
            _warn_of_change(name, number, before, self._number(name), now)

    def begin(self) -> None:
        """What is due before an epoch. Errors: those of `find`; StateError where torch.distributed
        says another share than that of the batches so far, and none was given.
        """
        self.find()
        share = self._share or ALONE
        if not self._given and self._core.life() == "started":
            _check_share(share)
        before, self._warned = self._warned, share
        if share == before:
            return
        if not self._given:
            _warn_of_environment(share)
        if self._shared_out is not None:
            _warn_of_an_empty_batch(self._shared_out, self._batch_size or 1, share)

    def number(self, name: str) -> int:
        """What depends on the share: "len(loader)", "loader.batches_left", "loader.batches_done" of
        a computed order, "loader.global_batch_size". Where the share changes later, a warning says
        what it was.
        """
        self.find()
        self._asked.add(name)
        return self._number(name)

    def freeze(self) -> None:
        """The loader is closed: the share stays as it is."""
        self._given = True

    def _number(self, name: str) -> int:
        if name == "loader.global_batch_size":
            return (self._batch_size or 1) * (self._share or ALONE).world_size
        if name == "len(loader)":
            return self._core.size()
        left = self._core.batches_left()
        return left if name == "loader.batches_left" else self._core.size() - left


def found_share() -> Share:
    """What this process has now: torch.distributed's, else the environment's, else all.

    Errors: InvalidArgumentError for a bad environment variable.
    """
    return _joined_share() or _environments_share() or ALONE


def _check_share(before: Share) -> None:
    """Errors: StateError where torch.distributed is initialised and says another share."""
    joined = _joined_share()
    if joined is not None and joined != before:
        raise StateError(
            "torch.distributed gives this process another share than its first batch had",
            expected=str(before),
            found=str(joined),
            remedy="Make the loader anew, or call torch.distributed.init_process_group before the "
            "first batch, or give `rank` and `world_size`",
        )


def _joined_share() -> Share | None:
    """That of torch.distributed, where it is initialised."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return Share(distributed.get_rank(), distributed.get_world_size())


def _environments_share() -> Share | None:
    """What torchrun or srun said. A batch script of SLURM has SLURM_PROCID and SLURM_NTASKS too,
    and is one process: only the steps that srun starts have SLURM_STEP_NUM_TASKS. Of a step with a
    terminal (`srun --pty`), a shell in its first task is what the user works with.
    """
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return _environments("RANK", "WORLD_SIZE")
    if {"SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"} - set(os.environ):
        return None
    share = _environments("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")
    return None if share == ALONE or "SLURM_PTY_PORT" in os.environ else share


def _environments(rank: str, world_size: str) -> Share:
    ranks = _environment(world_size, 1, 2**32, "2**32")
    return Share(_environment(rank, 0, ranks, f"{world_size}, {ranks}"), ranks)


def _environment(name: str, least: int, end: int, named_end: str) -> int:
    """An integer in [least, end)."""
    try:
        value = int(os.environ[name])
    except ValueError:
        value = -1
    if least <= value < end:
        return value
    raise InvalidArgumentError(
        f"the environment variable {name} is not usable",
        expected=f"an integer, at least {least} and below {named_end}",
        found=repr(os.environ[name]),
        remedy="Set it right, or give `rank` and `world_size`",
    )


def _warn_of_environment(share: Share) -> None:
    """Warns, once a process, where nobody said that `share`, which was found, is what is wanted: it
    is that of a task of SLURM, or all, and the environment speaks of other processes.
    """
    if _joined_share() is not None or {"RANK", "WORLD_SIZE"} <= set(os.environ):
        return
    if share != ALONE:
        _warn_once(
            "SLURM_PROCID",
            f"This process gets the samples of {share}, as SLURM_PROCID and SLURM_STEP_NUM_TASKS "
            "say. Give `rank` and `world_size`: the same where the tasks train together, "
            "`rank=0, world_size=1` where each trains a model of its own.",
        )
        return
    for name, least in _OF_SEVERAL.items():
        value = os.environ.get(name, "")
        if value.isdecimal() and int(value) >= least:
            slurm = name.startswith("SLURM")
            _warn_once(
                name,
                f"The environment variable {name} is {value}, but loaders give this process "
                "all samples"
                + (", since srun did not start it" if slurm else "")
                + ". If other processes train with it, they get the same samples. "
                + ("Start them with srun, or give" if slurm else f"{_REMEDY};")
                + " `rank=0, world_size=1` if it is right so.",
            )
            return


def _warn_once(about: str, text: str) -> None:
    if about not in _told:
        _told.add(about)
        warn_user(text)


def _warn_of_change(name: str, then: int, before: Share, now: int, share: Share) -> None:
    """Warns where the number `name` was told for `before` and is another one for `share`."""
    if then != now:
        warn_user(
            f"{name} was asked for too early: it was {then} as {before}, and is {now} as {share}. "
            "A learning rate schedule or a bar of progress that was made with it is wrong. "
            f"{_REMEDY}."
        )


def _warn_of_an_empty_batch(samples: int, batch_size: int, share: Share) -> None:
    """Says it where the samples that fill no global batch leave none for this rank."""
    left = samples % (batch_size * share.world_size)
    if 0 < left <= share.rank < share.world_size:
        warn_user(
            f"Rank {share.rank} gets an empty batch at the end of every epoch: what fills no "
            f"global batch, {left} of {samples} samples, does not reach all of {share.world_size} "
            "ranks. A loss that is a mean is no number there: train with `last_batch` "
            '"drop" or "wrap", validate with "pad".'
        )
