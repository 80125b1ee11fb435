"""Gluon's datasets: what has a length and items, and views of it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from fuelrail.errors import Error, InvalidArgumentError
from fuelrail.mxnet.recordio import MXIndexedRecordIO
from fuelrail.options import file_name, place_of, shown, whole

__all__ = ["Dataset", "RecordFileDataset", "SimpleDataset"]

T = TypeVar("T")


class Dataset:
    """Items by index. Subclasses have `__getitem__` and `__len__`.

    What it makes of itself (`transform`, `take`...) is a Dataset, too, that holds this one.
    """

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Items become `fn(*item)` where an item is a tuple, else `fn(item)`. lazy: when they are
        asked for; otherwise now, once.
        """
        transformed = _Transformed(self, fn)
        return transformed if lazy else SimpleDataset([transformed[i] for i in range(len(self))])

    def transform_first(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """As `transform`, of the first of an item's values alone: of (image, label) the image."""
        return self.transform(functools.partial(_of_first, fn), lazy)

    def filter(self, fn: Callable[[Any], bool]) -> Dataset:
        """The items for which `fn(item)` is true; all are read now."""
        return _Chosen(self, [i for i in range(len(self)) if fn(self[i])])

    def shard(self, num_shards: int, index: int) -> Dataset:
        """One of `num_shards` parts of consecutive items, whose sizes differ by one at most.
        Errors: InvalidArgumentError for an index that is not below num_shards.
        """
        shards, part = whole("num_shards", num_shards, least=1), whole("index", index)
        if part >= shards:
            raise InvalidArgumentError(
                "`index` is out of range", expected=f"below {shards}", found=shown(index)
            )
        size, longer = divmod(len(self), shards)
        begin = size * part + min(part, longer)
        return _Chosen(self, range(begin, begin + size + (part < longer)))

    def sample(self, sampler: Iterable[int]) -> Dataset:
        """The items whose indices `sampler` gives, in its order; it is gone through now, once.
        Errors: OutOfRangeError (an IndexError); ArgumentTypeError for an index that is no integer.
        """
        size = len(self)
        return _Chosen(self, [place_of(idx, size, "item") for idx in sampler])

    def take(self, count: int | None) -> Dataset:
        """The first `count` items; None = all."""
        most = len(self) if count is None else whole("count", count)
        return _Chosen(self, range(min(most, len(self))))


class SimpleDataset(Dataset):
    """The items of a list, or of what else has a length and items by index."""

    def __init__(self, data: Sequence[Any]) -> None:
        self._data = data

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]

    def __len__(self) -> int:
        return len(self._data)


class RecordFileDataset(Dataset):
    """The records of a RecordIO file with an index: item i is the payload (bytes) of its i-th key.

    Threads may share it; it works in forked children (workers of DataLoaders) and pickles, in which
    case the files are opened again, each time by its own.
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        """filename: `X.rec`; the index is `X.idx`. Errors: as recordio.MXIndexedRecordIO."""
        self.filename = file_name("`filename`", filename)
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        self._record = MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: int) -> Any:
        """Errors: OutOfRangeError (an IndexError); those of MXIndexedRecordIO.read_idx."""
        return self._record.read_idx(self._key(idx))

    def __len__(self) -> int:
        return len(self._record.keys)

    def _key(self, idx: int) -> Any:
        return self._record.keys[place_of(idx, len(self), "item", self.filename)]

    def _understood(self, idx: int, read: Callable[[bytes], T]) -> T:
        """What `read` makes of a record; its errors say whose record it is."""
        key = self._key(idx)
        record = self._record.read_idx(key)
        try:
            return read(record)
        except Error as error:
            raise type(error)(
                error.failure,
                path=self.filename,
                offset=self._record.idx[key],
                expected=error.expected,
                found=error.found,
                remedy=error.remedy,
            ) from None


class _Chosen(Dataset):
    """Some items of another."""

    def __init__(self, data: Dataset, indices: Sequence[int]) -> None:
        self._data = data
        self._indices = indices

    def __getitem__(self, idx: int) -> Any:
        return self._data[self._indices[idx]]

    def __len__(self) -> int:
        return len(self._indices)


class _Transformed(Dataset):
    """What a function makes of the items of another."""

    def __init__(self, data: Dataset, fn: Callable[..., Any]) -> None:
        self._data = data
        self._fn = fn

    def __getitem__(self, idx: int) -> Any:
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)

    def __len__(self) -> int:
        return len(self._data)


def _of_first(fn: Callable[..., Any], first: Any, *others: Any) -> Any:
    made = fn(first)
    return (made, *others) if others else made
