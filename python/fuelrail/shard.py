"""This process's share of every global batch: the one that was given, or the one that is found."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from fuelrail.errors import InvalidArgumentError, StateError, warn_user
from fuelrail.options import whole

_REMEDY = (
    "Call torch.distributed.init_process_group before the first batch and before `len(loader)`, or "
    "give `rank` and `world_size`"
)
# Variables of launchers, and the least value that says that the process is one of several.
_OF_SEVERAL = {
    "RANK": 1,
    "LOCAL_RANK": 1,
    "WORLD_SIZE": 2,
    "SLURM_PROCID": 1,
    "SLURM_NTASKS": 2,
}


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
            found=f"rank={rank}, world_size={world_size}",
            remedy="Give both or neither",
        )
    if rank is None:
        return None
    return Share(whole("rank", rank, bits=32), whole("world_size", world_size, least=1, bits=32))


def found_share() -> Share:
    """What this process has now: torch.distributed's, else the environment's, else all.

    Errors: InvalidArgumentError for a bad environment variable.
    """
    return _joined_share() or _environments_share() or ALONE


def check_share(before: Share) -> None:
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


def warn_of_other_processes(share: Share) -> None:
    """Warns where nobody said that `share`, which was found, is all, and the environment speaks of
    other processes.
    """
    said = _joined_share() is not None or {"RANK", "WORLD_SIZE"} <= set(os.environ)
    if said or share != ALONE:
        return
    for name, least in _OF_SEVERAL.items():
        value = os.environ.get(name, "")
        if value.isdecimal() and int(value) >= least:
            slurm = name.startswith("SLURM")
            warn_user(
                f"The environment variable {name} is {value}, but this loader gives its process "
                "all samples"
                + (", since srun did not start it" if slurm else "")
                + ". If other processes train with it, they get the same samples. "
                + ("Start them with srun, or give" if slurm else f"{_REMEDY};")
                + " `rank=0, world_size=1` if it is right so."
            )
            return


def warn_of_answers(then: dict[str, int], before: Share, now: dict[str, int], share: Share) -> None:
    """Warns of each expression that was answered for `before` and is another number for `share`."""
    for asked in then:
        if then[asked] != now[asked]:
            warn_user(
                f"{asked} was {then[asked]} when it was asked for, as {before}, and is "
                f"{now[asked]} now, as {share}: a learning rate schedule made with it is wrong. "
                f"{_REMEDY}."
            )


def warn_of_an_empty_batch(samples: int, batch_size: int, share: Share) -> None:
    """Says it where the samples that fill no global batch leave none for this rank."""
    left = samples % (batch_size * share.world_size)
    if 0 < left <= share.rank < share.world_size:
        warn_user(
            f"Rank {share.rank} gets an empty batch at the end of every epoch: what fills no "
            f"global batch, {left} of {samples} samples, does not reach all of {share.world_size} "
            "ranks. A loss that is a mean is no number there: train with `last_batch` "
            '"drop" or "wrap", validate with "pad".'
        )
