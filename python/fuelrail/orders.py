"""The options that choose the order of samples: shuffle, weights, sampler, batch_sampler."""

from __future__ import annotations

import array
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.fed_order import FedOrder
from fuelrail.options import listed, nearest, real, typed, whole

__all__ = ["WindowShuffle"]


@dataclasses.dataclass(frozen=True)
class WindowShuffle:
    """A shuffle that reads long runs of neighbouring samples, for hard disks and network storage.
    Pass it to a loader as `shuffle=WindowShuffle(...)`, or as `shuffle="window"` for the defaults.

    block: number of neighbouring samples in a block. Default: 256.
    blocks: number of blocks in a window. Default: 64.

    In every epoch, the loader permutes the blocks of the dataset, groups them into windows, and
    permutes the samples inside each window. The loader then reads the windows one after another.
    Each window has block * blocks samples. If a window fits into the page cache, each byte is read
    from storage only once in an epoch.
    """

    block: int = 256
    blocks: int = 64

    def __post_init__(self) -> None:
        whole("block", self.block, least=1)
        whole("blocks", self.blocks, least=1)


def native_shuffle(value: object) -> _core.Shuffle:
    """Converts the option `shuffle` to a `_core.Shuffle`. Errors: InvalidArgumentError."""
    name = value if isinstance(value, str) else ""
    if value is True or name == "full":
        return _core.Shuffle.full()
    if value is False:
        return _core.Shuffle.none()
    if name == "window":
        value = WindowShuffle()
    if isinstance(value, WindowShuffle):
        return _core.Shuffle.window(value.block, value.blocks)
    raise InvalidArgumentError(
        "`shuffle` is invalid",
        expected='False, True, "full", "window" or a WindowShuffle',
        found=typed(value),
        remedy=nearest(name, ["full", "window", "False", "True"]),
    )


def listed_weights(weights: object) -> array.array[float]:
    """Returns a copy of the option `weights` as an array of float64. Errors: ArgumentTypeError,
    InvalidArgumentError.
    """
    arrays = isinstance(weights, (array.array, memoryview)) or hasattr(weights, "__dlpack__")
    # The buffer of a masked array of NumPy lacks the mask.
    if arrays and not isinstance(weights, type) and not hasattr(weights, "mask"):
        copied = _copied_floats(weights)
        if copied is not None:
            return copied
    given = listed(weights)
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ArgumentTypeError(
            "`weights` has the wrong type", expected="a list of numbers", found=typed(weights)
        )
    return array.array("d", [real(f"weights[{i}]", weight) for i, weight in enumerate(given)])


def _copied_floats(source: Any) -> array.array[float] | None:
    """Copies a 1-D array of float32 or float64 in CPU memory to an array of float64. Returns None
    for any other value.
    """
    try:
        numbers = array.array("d", bytes(8)) * len(source)
        return numbers if _core.copy_floats(source, numbers) else None
    except (BufferError, NotImplementedError, TypeError, RuntimeError):
        return None  # the caller tries `listed`, which raises an error if it fails


class Order(NamedTuple):
    """The order of a loader's samples."""

    native: dict[str, Any]
    """The arguments of `_core.Loader` that determine the order."""
    fed: FedOrder | None
    """The object that reads `sampler` or `batch_sampler`. None if neither is given."""


def make_order(
    *,
    shuffle: object,
    weights: array.array[float] | None,
    sampler: Iterable[Any] | None,
    batch_sampler: Iterable[Any] | None,
    rank: int,
    world_size: int,
    index: Callable[[object], int],
    values: Mapping[str, Any],
) -> Order:
    """Checks the options of a loader that choose the order of samples, and returns the order.

    index: a function that checks a record index from `sampler` or `batch_sampler`, and returns the
        index as an int.
    values: the loader options that the C++ core defines, as a dict of values by name.

    Errors: InvalidArgumentError, ArgumentTypeError.
    """
    order = native_shuffle(shuffle)
    given = {
        "shuffle": shuffle is not False,
        "weights": weights is not None,
        "sampler": sampler is not None,
        "batch_sampler": batch_sampler is not None,
    }
    named = [f"`{name}`" for name, is_given in given.items() if is_given]
    if len(named) > 1:
        raise InvalidArgumentError(
            "more than one option sets the order of the samples",
            found=" and ".join(named),
            remedy="Pass only one of them",
        )
    batch_size, last_batch = values["batch_size"], values["last_batch"]
    if values["num_samples"] is not None and weights is None:
        raise InvalidArgumentError(
            "`num_samples` needs `weights`",
            remedy="Pass `weights`, or select samples with the dataset's method `subset`",
        )
    native = {
        "shuffle": order,
        "weights": None if weights is None else _core.Weights(weights),
        "fed": "",
    }
    source = sampler if batch_sampler is None else batch_sampler
    if source is None:
        return Order(native, None)
    name = "sampler" if batch_sampler is None else "batch_sampler"
    if isinstance(source, (str, bytes, Mapping, type)) or not hasattr(source, "__iter__"):
        raise ArgumentTypeError(
            f"`{name}` has the wrong type", expected="an iterable", found=typed(source)
        )
    if batch_sampler is None and hasattr(source, "get_next_batch_indices"):
        raise InvalidArgumentError(
            "`sampler` gives batches", found=typed(source), remedy="Pass it as `batch_sampler`"
        )
    allowed: Sequence[str] = ("short", "drop") if batch_sampler is None else ("short",)
    if last_batch not in allowed:
        raise InvalidArgumentError(
            f"`last_batch` is invalid with `{name}`",
            expected=" or ".join(f"'{value}'" for value in allowed),
            found=repr(last_batch),
        )
    if batch_sampler is not None and batch_size != 1:
        raise InvalidArgumentError(
            "`batch_size` and `batch_sampler` cannot be combined",
            found=f"batch_size={batch_size}",
            remedy="Omit `batch_size`, because `batch_sampler` determines the batches",
        )
    fed = FedOrder(
        source,
        batch_size=batch_size if batch_sampler is None else None,
        drop_last=last_batch == "drop",
        index=index,
        prefetch=values["prefetch"],
        rank=rank,
        world_size=world_size,
    )
    return Order({**native, "fed": "counted"}, fed)
