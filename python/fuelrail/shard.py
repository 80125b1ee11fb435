"""This process's share of every global batch."""

from __future__ import annotations

import os
import sys
from typing import Any

from fuelrail.errors import InvalidArgumentError, warn_user
from fuelrail.options import whole


def shard_of(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """Rank and world size: those given, else torch.distributed's, else the environment's, else 0
    of 1.

    Errors: InvalidArgumentError, ArgumentTypeError.
    """
    if (rank is None) != (world_size is None):
        raise InvalidArgumentError(
            "`rank` and `world_size` go together",
            found=f"rank={rank}, world_size={world_size}",
            remedy="Give both or neither",
        )
    if rank is not None:
        return whole("rank", rank, bits=32), whole("world_size", world_size, least=1, bits=32)
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return _environment("RANK", least=0), _environment("WORLD_SIZE", least=1)
    return 0, 1


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


def warn_of_an_empty_batch(samples: int, batch_size: int, rank: int, world_size: int) -> None:
    """Says it where the samples that fill no global batch leave none for this rank."""
    left = samples % (batch_size * world_size)
    if 0 < left <= rank < world_size:
        warn_user(
            f"Rank {rank} gets an empty batch at the end of every epoch: what fills no global "
            f"batch, {left} of {samples} samples, does not reach all of {world_size} ranks. A loss "
            'that is a mean is no number there: train with `last_batch` "drop" or "wrap", validate '
            'with "pad".'
        )
