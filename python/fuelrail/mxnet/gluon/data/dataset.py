"""Gluon's datasets. A dataset is a sequence of items that are read by index."""

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

    Methods such as `transform` and `take` return a new Dataset and do not change this one.
    """

    def __getitem__(self, idx: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Returns a dataset of the results of `fn(item)`, or of `fn(*item)` if the item is a tuple.

        lazy: if True, `fn` is called each time an item is read. If False, `fn` is called for all
        items before `transform` returns. Default: True.
        """
        transformed = _Transformed(self, fn)
        return transformed if lazy else SimpleDataset([transformed[i] for i in range(len(self))])

    def transform_first(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """Like `transform`, but applies `fn` only to the first value of each tuple. If an item is
        (image, label), only the image is transformed.
        """
        return self.transform(functools.partial(_of_first, fn), lazy)

    def filter(self, fn: Callable[[Any], bool]) -> Dataset:
        """Returns a dataset of the items for which `fn(item)` is true. The call reads all items."""
        return _Chosen(self, [i for i in range(len(self)) if fn(self[i])])

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Divides the items into `num_shards` parts, and returns part `index` as a dataset.

        Parts are counted from 0. Each part has consecutive items. The sizes of the parts differ by
        at most one item.

        Errors: InvalidArgumentError unless 0 <= index < num_shards.
        """
        shards, part = whole("num_shards", num_shards, least=1), whole("index", index)
        if part >= shards:
            raise InvalidArgumentError(
                "`index` is out of range", expected=f"an index below {shards}", found=shown(index)
            )
        size, longer = divmod(len(self), shards)
        begin = size * part + min(part, longer)
        return _Chosen(self, range(begin, begin + size + (part < longer)))

    def sample(self, sampler: Iterable[int]) -> Dataset:
        """Returns a dataset of the items at the indices that `sampler` yields, in that order.

        The call reads all indices from `sampler`.

        Errors: OutOfRangeError (also an IndexError) for an index out of range; ArgumentTypeError
        for an index that is not an integer.
        """
        size = len(self)
        return _Chosen(self, [place_of(idx, size, "item") for idx in sampler])

    def take(self, count: int | None) -> Dataset:
        """Returns a dataset of the first `count` items, or of all items if `count` is None."""
        most = len(self) if count is None else whole("count", count)
        return _Chosen(self, range(min(most, len(self))))


class SimpleDataset(Dataset):
    """A dataset of the items of a list, or of any object with `__len__` and `__getitem__`."""

    def __init__(self, data: Sequence[Any]) -> None:
        self._data = data

    def __getitem__(self, idx: int) -> Any:
        return self._data[idx]

    def __len__(self) -> int:
        return len(self._data)


class RecordFileDataset(Dataset):
    """The records of a RecordIO file that has an index.

    The index lists the key of each record. Item i is the payload (bytes) of the record with the
    i-th key.

    Several threads may use a dataset at once. It can be pickled, and it works in forked processes
    such as the workers of a DataLoader. Each unpickled copy and each forked process opens the files
    again.
    """

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        """filename: the record file, `X.rec`. Its index is `X.idx`.

        Errors: see `recordio.MXIndexedRecordIO`.
        """
        self.filename = file_name("`filename`", filename)
        self.idx_file = os.path.splitext(self.filename)[0] + ".idx"
        self._record = MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: int) -> Any:
        """Returns item `idx`, which is the payload of a record.

        Errors: OutOfRangeError (also an IndexError) if `idx` is out of range; the errors of
        `MXIndexedRecordIO.read_idx`.
        """
        return self._record.read_idx(self._key(idx))

    def __len__(self) -> int:
        return len(self._record.keys)

    def _key(self, idx: int) -> Any:
        return self._record.keys[place_of(idx, len(self), "item", self.filename)]

    def _understood(self, idx: int, read: Callable[[bytes], T]) -> T:
        """Applies `read` to the payload of item `idx`. Adds path and offset to errors of `read`."""
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
    def __init__(self, data: Dataset, indices: Sequence[int]) -> None:
        self._data = data
        self._indices = indices

    def __getitem__(self, idx: int) -> Any:
        return self._data[self._indices[idx]]

    def __len__(self) -> int:
        return len(self._indices)


class _Transformed(Dataset):
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
