"""Batches of a dataset, made by native threads."""

from __future__ import annotations

import atexit
import json
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar

from fuelrail import _core
from fuelrail.dataset import Dataset, Openable, open_dataset
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, StateError
from fuelrail.options import choice, suggests_options, truth, whole
from fuelrail.transforms import Transform, native_list

__all__ = ["Loader"]

Column = TypeVar("Column")
"""What one column of a batch is: an Array, a tensor."""
Self = TypeVar("Self", bound="BaseLoader[Any]")

_live: weakref.WeakSet[BaseLoader[Any]] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for loader in list(_live):
        loader.close()


class BaseLoader(Generic[Column]):
    """What the loaders of all frameworks share; a framework says how a column becomes its own."""

    _column: Callable[[_core.Array], Column]

    @suggests_options
    def __init__(
        self,
        data: Dataset | Openable,
        batch_size: int = 1,
        *,
        shuffle: bool | Literal["full"] = False,
        seed: int = 0,
        transforms: Sequence[Transform] | None = None,
        fields: Sequence[str] = ("image", "label"),
        dtype: Any = "float32",
        layout: str = "NCHW",
        last_batch: str = "short",
        rank: int | None = None,
        world_size: int | None = None,
        orientation: str = "apply",
        scaled_decode: bool = False,
        max_pixels: int = _core.DEFAULT_MAX_PIXELS,
        threads: int | None = None,
        prefetch: int = 2,
        read_threads: int = 4,
    ) -> None:
        """Prepares the loader; threads start with the first batch.

        What changes results:
            data: a Dataset, or anything that `fuelrail.open` takes.
            batch_size: samples a batch, on each rank.
            shuffle: True or "full" permutes all samples anew in every epoch; False keeps the order.
            seed: of the order and of random transforms; 64 bits.
            transforms: a list of `fuelrail.transforms`.
            fields: the columns of a batch, in this order: image, label, id, position, valid.
                label is int64 where every sample has one and all are whole numbers, else float32;
                position is the place in the epoch (int64); valid is False for the filler rows of
                last_batch="pad".
            dtype: of the images: "float32", "float16" or "uint8". Without Normalize, floats are
                in [0, 1].
            layout: "NCHW" or "NHWC".
            last_batch: what becomes of samples that do not fill a global batch. "short": batches of
                what is left, shared evenly among the ranks; "drop": left out; "pad": filled with
                the last sample, not valid; "wrap": filled from the beginning of the epoch.
            rank, world_size: this process's share of every global batch. Default: those of
                torch.distributed where it is initialised, else of the environment variables RANK
                and WORLD_SIZE, else 0 of 1.
            orientation: "apply" turns images as their EXIF tag says; "ignore" does not.
            scaled_decode: decode JPEGs at 1/8, 1/4 or 1/2 of their size where the first resampling
                makes them at least as much smaller: faster, and not quite the same pixels
                (docs/transforms.md says how far off).
            max_pixels: an image that declares more is an error, before memory is taken for it.
        What changes speed only:
            threads: that decode. Default: the processors that this process may use, shared among
                the processes of the machine (LOCAL_WORLD_SIZE).
            prefetch: batches made ahead.
            read_threads: reads at the same time.

        Errors: InvalidArgumentError for a bad value, naming the nearest good one;
        ArgumentTypeError for an unknown option; those of `fuelrail.open`.
        """
        dataset = open_dataset(data, stacklevel=5)
        rank, world_size = _shard(rank, world_size)
        if isinstance(fields, str):
            raise ArgumentTypeError("`fields` is not a list", found=repr(fields))
        self._core = _core.Loader(
            dataset.container,
            batch_size=whole("batch_size", batch_size, least=1),
            shuffle=_shuffle(shuffle),
            seed=whole("seed", seed, bits=64),
            rank=rank,
            world_size=world_size,
            last_batch=choice("last_batch", last_batch, _core.LastBatch),
            transforms=native_list(transforms),
            dtype=choice("dtype", dtype, _core.ImageDType),
            layout=choice("layout", layout, _core.ImageLayout),
            orientation=choice("orientation", orientation, _core.Orientation),
            scaled_decode=truth("scaled_decode", scaled_decode),
            max_pixels=whole("max_pixels", max_pixels, least=1),
            fields=list(fields),
            threads=0 if threads is None else whole("threads", threads, least=1, bits=16),
            prefetch=whole("prefetch", prefetch, least=1, bits=16),
            read_threads=whole("read_threads", read_threads, least=1, bits=16),
        )
        self._dataset = dataset
        self._closed = False
        _live.add(self)

    @property
    def dataset(self) -> Dataset:
        """What the loader reads."""
        return self._dataset

    def __len__(self) -> int:
        """Batches of a whole epoch, the same on every rank."""
        return self._core.size()

    def __iter__(self) -> Iterator[tuple[Column, ...]]:
        """The next epoch's batches, as tuples in the order of `fields`.

        An epoch of which a batch was taken is over when the next `iter` is called, whether it was
        read to its end or not; after `load_state_dict`, the first iterator goes on from there.
        There is one iterator at a time: an older one raises StateError. An error (a record that
        cannot be read) comes in place of its batch, and the iterator can go on after it.
        """
        self._check_open()
        return _Epoch(self, self._core.begin())

    def set_epoch(self, epoch: int) -> None:
        """Makes `epoch` the next one, from its beginning."""
        self._check_open()
        self._core.set_epoch(whole("epoch", epoch, bits=32))

    def state_dict(self) -> dict[str, Any]:
        """Where the run stands: a few plain values, the same on every rank, under 1 KB as JSON.

        It counts the batches that the iterator has handed out, never those made ahead.
        """
        self._check_open()
        state: dict[str, Any] = json.loads(self._core.state())
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on where `state` was taken; batch size, number of ranks and speed may differ.

        Errors: InvalidArgumentError that names what differs, for a state of another dataset, seed
        or shuffle.
        """
        self._check_open()
        self._core.restore(json.dumps(state))

    def stats(self) -> _core.Stats:
        """Time, queue depth, bytes and images of every stage, and which stage limits."""
        return self._core.stats()

    def close(self) -> None:
        """Stops the loader's threads now; batches taken from it stay valid. Safe to repeat."""
        self._closed = True
        self._core.stop()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StateError("the loader is closed")

    def _take(self, turn: int) -> tuple[Column, ...] | None:
        self._check_open()
        batch = self._core.next(turn)
        return None if batch is None else tuple([self._column(column) for column in batch])


class _Epoch(Iterator[tuple[Column, ...]]):
    """One epoch's iterator. It keeps its loader alive."""

    def __init__(self, loader: BaseLoader[Column], turn: int) -> None:
        self._loader: BaseLoader[Column] | None = loader
        self._turn = turn

    def __next__(self) -> tuple[Column, ...]:
        loader = self._loader
        if loader is not None:
            batch = loader._take(self._turn)
            if batch is not None:
                return batch
            self._loader = None
        raise StopIteration


class Loader(BaseLoader[_core.Array]):
    """Batches as tuples of `fuelrail.Array`, for any framework that takes DLPack or buffers.

    for images, labels in fuelrail.Loader("train.rec", 256, shuffle=True, transforms=[...]):
        x = numpy.asarray(images)      # or images.numpy(), jax.dlpack.from_dlpack(images), ...

    A batch's memory belongs to whoever holds one of its arrays, or anything made from one; nobody
    else writes to it.
    """

    @staticmethod
    def _column(array: _core.Array) -> _core.Array:
        return array


def _shuffle(value: bool | str) -> _core.Shuffle:
    if value is True or value == "full":
        return _core.Shuffle.full
    if value is False:
        return _core.Shuffle.none
    raise InvalidArgumentError(
        "`shuffle` has no such value",
        expected='False, True or "full"',
        found=repr(value),
        remedy=_core.suggest(str(value), ["full", "False", "True"]),
    )


def _shard(rank: int | None, world_size: int | None) -> tuple[int, int]:
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
