"""Finds the rank and the world size, which determine the samples that this process gets."""

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
    "pass `rank` and `world_size`"
)
# Launchers' environment variables, and the smallest value of each that means several processes.
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
_told: set[str] = set()  # variables about which this process has warned


class Share(NamedTuple):
    """The rank of a process, and the world size."""

    rank: int
    world_size: int

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.world_size}"


ALONE = Share(0, 1)


def given_share(rank: int | None, world_size: int | None) -> Share | None:
    """Checks and returns the caller's `rank` and `world_size`. Returns None if both are None.
    Errors: InvalidArgumentError, ArgumentTypeError.
    """
    if (rank is None) != (world_size is None):
        raise InvalidArgumentError(
            "`rank` and `world_size` must be given together",
            found=f"rank={shown(rank)}, world_size={shown(world_size)}",
            remedy="Pass both or neither",
        )
    if rank is None:
        return None
    return Share(whole("rank", rank, bits=32), whole("world_size", world_size, least=1, bits=32))


class LoaderShare:
    """The rank and world size of a loader. If the caller did not pass these values, every call of
    `find`, `begin` and `number` looks them up again until the first batch is requested.
    """

    def __init__(
        self,
        given: Share | None,
        core: _core.Loader,
        fed: FedOrder | None,
        *,
        batch_size: int | None,
        shared_out: int | None,
    ) -> None:
        """given: the rank and world size that the caller passed, or None.
        core: the C++ loader. It was created for `given`, or for ALONE if `given` is None.
        fed: the loader's FedOrder if `sampler` or `batch_sampler` is used, otherwise None.
        batch_size: the number of samples in a batch on one rank. None with `batch_sampler`.
        shared_out: the number of samples that all ranks together get in an epoch. `begin` uses this
            number to warn if the last batch on this rank is empty. If None, there is no such
            warning.
        """
        self._core = core
        self._fed = fed
        self._batch_size = batch_size
        self._shared_out = shared_out
        self._given = given is not None
        self._share = given  # None: not looked up yet
        self._asked: set[str] = set()  # names of the numbers that were returned for `_share`
        self._warned: Share | None = None

    def __str__(self) -> str:
        return "rank looked up with the first batch" if self._share is None else str(self._share)

    def find(self) -> None:
        """Looks up the rank and world size of this process. Does nothing if the caller passed them,
        or if a batch has already been requested.

        Errors: InvalidArgumentError if an environment variable is invalid, or if `sampler` or
        `batch_sampler` is used and the restored state does not allow the new world size.
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
        """Must be called before each epoch. Looks up the rank and world size with `find`. Warns if
        they may be wrong, or if this rank gets an empty batch at the end of every epoch.

        Errors: the errors of `find`; StateError if torch.distributed's rank or world size has
        changed since the first batch, unless the caller passed the rank and world size.
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
        """Returns the value of the loader's attribute `name` for the current rank and world size. If
        `find` later changes this value, it warns that the attribute was read too early.

        name: "loader.global_batch_size", "len(loader)", "loader.batches_left" or
            "loader.batches_done". With `sampler` or `batch_sampler`, only
            "loader.global_batch_size" is supported.
        """
        self.find()
        self._asked.add(name)
        return self._number(name)

    def freeze(self) -> None:
        """Makes the current rank and world size final: `find` no longer changes them. Called when
        the loader is closed.
        """
        self._given = True

    def _number(self, name: str) -> int:
        if name == "loader.global_batch_size":
            return (self._batch_size or 1) * (self._share or ALONE).world_size
        if name == "len(loader)":
            return self._core.size()
        left = self._core.batches_left()
        return left if name == "loader.batches_left" else self._core.size() - left


def found_share() -> Share:
    """Returns the rank and world size of torch.distributed. If torch.distributed is not
    initialised, returns the rank and world size that torchrun or srun has set in the environment.
    If neither has set them, returns ALONE (rank 0 of 1).

    Errors: InvalidArgumentError for an invalid environment variable.
    """
    return _joined_share() or _environments_share() or ALONE


def _check_share(before: Share) -> None:
    """Raises StateError if torch.distributed is initialised and its rank or world size differs from
    `before`.
    """
    joined = _joined_share()
    if joined is not None and joined != before:
        raise StateError(
            "the rank or world size of torch.distributed has changed since the first batch",
            expected=str(before),
            found=str(joined),
            remedy="Create a new loader, or call torch.distributed.init_process_group before the "
            "first batch, or pass `rank` and `world_size`",
        )


def _joined_share() -> Share | None:
    """Returns torch.distributed's rank and world size, or None if torch.distributed is not
    initialised.
    """
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return Share(distributed.get_rank(), distributed.get_world_size())


def _environments_share() -> Share | None:
    """Returns the rank and world size that torchrun or srun has set in the environment, or None."""
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return _environments("RANK", "WORLD_SIZE")
    # A SLURM batch script has SLURM_PROCID and SLURM_NTASKS, too, but is a single process. Only
    # processes that srun starts have SLURM_STEP_NUM_TASKS.
    if {"SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"} - set(os.environ):
        return None
    share = _environments("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")
    # With SLURM_PTY_PORT, this is a shell that `srun --pty` started in the first task.
    return None if share == ALONE or "SLURM_PTY_PORT" in os.environ else share


def _environments(rank: str, world_size: str) -> Share:
    ranks = _environment(world_size, 1, 2**32, "2**32")
    return Share(_environment(rank, 0, ranks, f"{world_size} ({ranks})"), ranks)


def _environment(name: str, least: int, end: int, named_end: str) -> int:
    """Returns the value of the environment variable `name` as an int. Errors: InvalidArgumentError
    if the value is not an integer in [least, end). The error text shows `named_end` in place of
    `end`.
    """
    try:
        value = int(os.environ[name])
    except ValueError:
        value = -1
    if least <= value < end:
        return value
    raise InvalidArgumentError(
        f"the environment variable {name} is invalid",
        expected=f"an integer that is at least {least} and below {named_end}",
        found=repr(os.environ[name]),
        remedy="Correct the variable, or pass `rank` and `world_size`",
    )


def _warn_of_environment(share: Share) -> None:
    """Warns if `share` comes from SLURM's variables, or if `share` is ALONE (rank 0 of 1) but
    environment variables suggest that several processes run. Each warning is issued only once.
    """
    if _joined_share() is not None or {"RANK", "WORLD_SIZE"} <= set(os.environ):
        return
    if share != ALONE:
        _warn_once(
            "SLURM_PROCID",
            f"This process gets the samples of {share}, according to SLURM_PROCID and "
            "SLURM_STEP_NUM_TASKS. Pass these values as `rank` and `world_size` if the tasks train "
            "one model together, or `rank=0, world_size=1` if each task trains its own model.",
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
                + (" because srun did not start it" if slurm else "")
                + ". If several processes train one model, each of them gets the same samples. "
                + ("Start them with srun, or pass" if slurm else f"{_REMEDY}, or pass")
                + " `rank=0, world_size=1` if this process trains alone.",
            )
            return


def _warn_once(about: str, text: str) -> None:
    if about not in _told:
        _told.add(about)
        warn_user(text)


def _warn_of_change(name: str, then: int, before: Share, now: int, share: Share) -> None:
    """Warns if `then` and `now` differ. `then` is the value of the loader's attribute `name` that
    was read for the rank and world size `before`. `now` is its value for `share`.
    """
    if then != now:
        warn_user(
            f"{name} was read too early: it was {then} for {before}, and is {now} for {share}. "
            f"A learning rate schedule or a progress bar that was created with {then} is wrong. "
            f"{_REMEDY}."
        )


def _warn_of_an_empty_batch(samples: int, batch_size: int, share: Share) -> None:
    """Warns if the last global batch of every epoch has so few samples that this rank gets none."""
    left = samples % (batch_size * share.world_size)
    if 0 < left <= share.rank < share.world_size:
        warn_user(
            f"Rank {share.rank} gets an empty batch at the end of every epoch: the last global "
            f"batch has only {left} of the epoch's {samples} samples, for {share.world_size} "
            'ranks. A mean loss is NaN for an empty batch. Use `last_batch` "drop" or "wrap" for '
            'training, and "pad" for validation.'
        )
