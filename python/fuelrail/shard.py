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
        return Share(_environment("RANK", least=0), _environment("WORLD_SIZE", least=1))
    if {"SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"} - set(os.environ):
        return None
    tasks = _environment("SLURM_STEP_NUM_TASKS", least=1)
    if tasks == 1 or "SLURM_PTY_PORT" in os.environ:
        return None
    return Share(_environment("SLURM_PROCID", least=0), tasks)


def _environment(name: str, least: int) -> int:
    try:
        return whole(name, int(os.environ[name]), least=least, bits=32)
    except ValueError:  # InvalidArgumentError is one
        raise InvalidArgumentError(
            f"the environment variable {name} is not usable",
            expected=f"an integer, at least {least}",
            found=repr(os.environ[name]),
            remedy="Set it right, or give `rank` and `world_size`",
        ) from None


def warn_of_other_processes(share: Share) -> None:
    """Warns where `share`, which was found, is all, and the environment says that there are other
    processes."""
    if share != ALONE or _joined_share() is not None:
        return
    for name, least in _OF_SEVERAL.items():
        value = os.environ.get(name, "")
        if value.isdecimal() and int(value) >= least:
            slurm = name.startswith("SLURM")
            warn_user(
                f"The environment variable {name} is {value}, but this loader gives its process "
                "all samples"
                + (", since it is not a task of a step that srun started" if slurm else "")
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
