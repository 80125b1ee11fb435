"""Gluon's datasets: sequences of items that are read by index, and views of such sequences."""

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
    """A sequence of items that are read by index. Subclasses define `__getitem__` and `__len__`.

    `transform`, `take` and the other methods return a Dataset that reads its items from this one.
    """

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Returns a dataset with each item replaced by `fn(item)`, or by `fn(*item)` for a tuple.

        lazy: True = call `fn` each time an item is read. False = call `fn` for all items now.
        """
        transformed = _Transformed(self, fn)
        return transformed if lazy else SimpleDataset([transformed[i] for i in range(len(self))])

    def transform_first(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Like `transform`, but applies `fn` only to the first value of each tuple: for an item
        (image, label), only to the image.
        """
        return self.transform(functools.partial(_of_first, fn), lazy)

    def filter(self, fn: Callable[[Any], bool]) -> Dataset:
        """Returns the items for which `fn(item)` is true. Reads all items now."""
        return _Chosen(self, [i for i in range(len(self)) if fn(self[i])])

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Divides the items into `num_shards` parts, and returns the part with number `index`.

        Each part has consecutive items. The sizes of the parts differ by at most one item.
        Errors: InvalidArgumentError unless 0 <= index < num_shards.
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
        """Returns the items at the indices that `sampler` yields, in that order.

        Iterates over `sampler` once, now. Errors: OutOfRangeError (an IndexError) for an index out
        of range; ArgumentTypeError for an index that is not an integer.
        """
        size = len(self)
        return _Chosen(self, [place_of(idx, size, "item") for idx in sampler])

    def take(self, count: int | None) -> Dataset:
        """Returns the first `count` items; None = all."""
        most = len(self) if count is None else whole("count", count)
        return _Chosen(self, range(min(most, len(self))))


class SimpleDataset(Dataset):
    """A dataset of the items of a list, or of any object that has a length and can be indexed."""

    def __init__(self, data: Sequence[Any]) -> None:
        self._data = data

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]

    def __len__(self) -> int:
        return len(self._data)


class RecordFileDataset(Dataset):
    """The records of a RecordIO file with an index.

    Item i is the payload (bytes) of the record with the i-th key of the index.

    Threads may share it. It works in forked children (workers of DataLoaders) and can be pickled;
    each child and each unpickled copy opens the files itself.
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        """filename: `X.rec`; the index is `X.idx`. Errors: as for recordio.MXIndexedRecordIO."""
        self.filename = file_name("`filename`", filename)
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        self._record = MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: int) -> Any:
        """Returns the payload of record number `idx`.

        Errors: OutOfRangeError (an IndexError); those of MXIndexedRecordIO.read_idx.
        """
        return self._record.read_idx(self._key(idx))

    def __len__(self) -> int:
        return len(self._record.keys)

    def _key(self, idx: int) -> Any:
        return self._record.keys[place_of(idx, len(self), "item", self.filename)]

    def _understood(self, idx: int, read: Callable[[bytes], T]) -> T:
        """Calls `read` with record number `idx`, and adds file and offset to an error of `read`."""
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
    """The items of a dataset at the given indices."""

    def __init__(self, data: Dataset, indices: Sequence[int]) -> None:
        self._data = data
        self._indices = indices

    def __getitem__(self, idx: int) -> Any:
        return self._data[self._indices[idx]]

    def __len__(self) -> int:
        return len(self._indices)


class _Transformed(Dataset):
    """The items of a dataset, transformed by a function."""

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
