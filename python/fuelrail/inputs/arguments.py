"""Checks of the arguments that several inputs have."""

from __future__ import annotations

from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, OutOfRangeError
from fuelrail.options import integer, shown, typed, whole

__all__ = ["checked_seed", "checked_shard"]


def checked_seed(seed: object) -> int:
    """Returns the seed as an int. Errors: ArgumentTypeError; InvalidArgumentError if negative."""
    number = integer(seed)
    if number is None:
        raise ArgumentTypeError(
            "`seed` has the wrong type", expected="an integer", found=typed(seed)
        )
    if number < 0:
        raise InvalidArgumentError(
            "`seed` is out of range", expected="at least 0", found=shown(number)
        )
    return number


def checked_shard(shard_id: object, num_shards: object) -> tuple[int, int]:
    """Returns both as ints. Errors: InvalidArgumentError; OutOfRangeError for a shard that does not
    exist.
    """
    count = whole("num_shards", num_shards, least=1)
    shard = integer(shard_id)
    if shard is None:
        raise ArgumentTypeError(
            "`shard_id` has the wrong type", expected="an integer", found=typed(shard_id)
        )
    if not 0 <= shard < count:
        raise OutOfRangeError(
            "`shard_id` is out of range", expected=f"[0, {count})", found=shown(shard)
        )
    return shard, count
