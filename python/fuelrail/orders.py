"""The order of samples: the options that say it, windows and weights."""

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
    """A shuffle for disks and networks that want long reads: `shuffle=WindowShuffle(...)`.

    block: so many consecutive samples stay near one another. blocks: so many blocks, chosen anew in
    every epoch, make a window, inside which samples are permuted. What is being read at any moment
    lies in block * blocks samples; a window that fits into the page cache reads each byte once.
    Defaults: 256 and 64, which is what "window" means.
    """

    block: int = 256
    blocks: int = 64

    def __post_init__(self) -> None:
        whole("block", self.block, least=1)
        whole("blocks", self.blocks, least=1)


def native_shuffle(value: object) -> _core.Shuffle:
    """What `shuffle` means to the core."""
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
        "`shuffle` has no such value",
        expected='False, True, "full", "window" or a WindowShuffle',
        found=typed(value),
        remedy=nearest(name, ["full", "window", "False", "True"]),
    )


def listed_weights(weights: object) -> array.array[float]:
    """The weights as numbers, a copy. An array of floats becomes no Python objects on the way, but
    for NumPy's masked ones, whose buffer does not know what is masked.

    Errors: ArgumentTypeError, InvalidArgumentError.
    """
    arrays = isinstance(weights, (array.array, memoryview)) or hasattr(weights, "__dlpack__")
    if arrays and not isinstance(weights, type) and not hasattr(weights, "mask"):
        copied = _copied_floats(weights)
        if copied is not None:
            return copied
    given = listed(weights)
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ArgumentTypeError("`weights` is not a list of numbers", found=typed(weights))
    return array.array("d", [real(f"weights[{i}]", weight) for i, weight in enumerate(given)])


def _copied_floats(source: Any) -> array.array[float] | None:
    """None for what is no row of float32 or float64 in the processor's memory."""
    try:
        numbers = array.array("d", bytes(8)) * len(source)
        return numbers if _core.copy_floats(source, numbers) else None
    except (BufferError, NotImplementedError, TypeError, RuntimeError):
        return None  # `listed` says why


class Order(NamedTuple):
    """What a loader's options say of the order."""

    native: dict[str, Any]
    """Options of the core's loader."""
    fed: FedOrder | None


def make_order(
    *,
    shuffle: object,
    weights: array.array[float] | None,
    sampler: Iterable[Any] | None,
    batch_sampler: Iterable[Any] | None,
    world_size: int,
    index: Callable[[object], int],
    values: Mapping[str, Any],
) -> Order:
    """Checks the options that say an order. values: the core's options. Errors: InvalidArgumentError, ArgumentTypeError."""
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
            "more than one option says the order", found=" and ".join(named), remedy="Give one"
        )
    batch_size, last_batch = values["batch_size"], values["last_batch"]
    if values["num_samples"] is not None and weights is None:
        raise InvalidArgumentError(
            "`num_samples` goes with `weights`", remedy="Give `weights`, or choose with data.subset"
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
        raise ArgumentTypeError(f"`{name}` cannot be iterated over", found=typed(source))
    allowed: Sequence[str] = ("short", "drop") if batch_sampler is None else ("short",)
    if last_batch not in allowed:
        raise InvalidArgumentError(
            f"`last_batch` does not go with `{name}`",
            expected=" or ".join(f"'{value}'" for value in allowed),
            found=repr(last_batch),
        )
    if batch_sampler is not None and batch_size != 1:
        raise InvalidArgumentError(
            "`batch_size` does not go with `batch_sampler`",
            found=str(batch_size),
            remedy="Leave it out: the batches are those of `batch_sampler`",
        )
    fed = FedOrder(
        source,
        batch_size=batch_size if batch_sampler is None else None,
        drop_last=last_batch == "drop",
        index=index,
        prefetch=values["prefetch"],
        world_size=world_size,
    )
    return Order({**native, "fed": "counted"}, fed)
