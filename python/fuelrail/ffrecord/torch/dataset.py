"""Datasets that are indexed by a list of indices and read a whole batch at once."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch.utils.data

from fuelrail.errors import ArgumentTypeError, OutOfRangeError
from fuelrail.ffrecord.reader import FileReader
from fuelrail.ffrecord.torch.registry import ReaderRegistry
from fuelrail.options import place_of, typed

if TYPE_CHECKING:
    from fuelrail.ffrecord.reader import Names, Record

__all__ = ["BatchRangeError", "ConcatDataset", "Dataset", "DatasetKindError", "Subset"]


class DatasetKindError(ArgumentTypeError, AssertionError):
    """A dataset passed to ConcatDataset has the wrong type, or the list of datasets is empty."""


class BatchRangeError(OutOfRangeError, ValueError, RuntimeError):
    """A sample index in a batch is out of range."""


class Dataset(torch.utils.data.Dataset[Any], ReaderRegistry):
    """A base class for datasets of `.ffr` files. Its method `process` converts records to samples.

    >>> class Texts(fuelrail.ffrecord.torch.Dataset):
    ...     def process(self, indices, data):
    ...         return [bytes(record).decode() for record in data]

    `dataset[[3, 1, 4]]` reads the three records of this batch at once. Instead of defining
    `process`, a subclass may override `__len__` and `__getitem__`; `__getitem__` is called with a
    list of indices. A dataset can be pickled. An unpickled copy opens the files again.
    """

    def __init__(self, fnames: Names, check_data: bool = True) -> None:
        """Opens the files. The arguments and errors are those of `fuelrail.ffrecord.FileReader`."""
        self.fnames = fnames
        self.reader = FileReader(fnames, check_data)

    def __len__(self) -> int:
        return self.reader.n

    def __getitem__(self, indices: Any) -> Any:
        """Reads the records of a batch and returns the samples that `process` makes from them.

        indices: a list or a tuple of integers.

        Errors: ArgumentTypeError if `indices` has another type; the errors of `FileReader.read`.
        """
        return self.process(_batch(indices), self.reader.read(indices))

    def __getitems__(self, indices: Sequence[int]) -> Any:
        """Returns the samples of a batch. torch's DataLoader calls this method."""
        return self[list(indices)]

    def process(self, indices: Sequence[int], data: list[Record]) -> Any:
        """Converts the records of a batch to a list of samples. Subclasses define this method.

        indices: the index of each record.
        data: the records, as uint8 arrays.
        """
        raise NotImplementedError("subclass Dataset and override `process`")

    def __add__(self, other: Any) -> ConcatDataset:  # type: ignore[override]
        return ConcatDataset([self, other])


class Subset(Dataset):
    """A dataset of selected samples of another dataset.

    `subset[[0, 2]]` returns `dataset[[indices[0], indices[2]]]`.
    """

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        """dataset: the dataset to select from.
        indices: the indices of the selected samples in `dataset`.
        """
        self.dataset = dataset
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, indices: Any) -> Any:
        return self.dataset[[self.indices[i] for i in _batch(indices)]]


class ConcatDataset(Dataset):
    """Joins several datasets into one. For each batch, every dataset is called at most once."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        """datasets: one or more objects of the class `fuelrail.ffrecord.torch.Dataset`.

        Errors: DatasetKindError (also an AssertionError) if `datasets` is empty, or if an item has
        another type.
        """
        self.datasets = list(datasets)
        if not self.datasets:
            raise DatasetKindError("the list of datasets is empty")
        for dataset in self.datasets:
            if not isinstance(dataset, Dataset):
                raise DatasetKindError(
                    "a dataset has the wrong type",
                    expected="a fuelrail.ffrecord.torch.Dataset",
                    found=typed(dataset),
                )
        self.cumulative_sizes = list(itertools.accumulate(len(one) for one in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, indices: Any) -> list[Any]:
        """Returns the samples in the order of `indices`. Indices may be repeated or negative.

        Errors: BatchRangeError (also an IndexError and a ValueError) if an index is out of range.
        """
        parts: dict[int, list[tuple[int, int]]] = {}  # for each dataset: (place in batch, index)
        batch = _batch(indices)
        for place, index in enumerate(batch):
            number = place_of(index, len(self), "sample", kind=BatchRangeError)
            part = bisect.bisect_right(self.cumulative_sizes, number)
            begin = self.cumulative_sizes[part - 1] if part else 0
            parts.setdefault(part, []).append((place, number - begin))
        samples: list[Any] = [None] * len(batch)
        for part, wanted in parts.items():
            got = self.datasets[part][[index for _, index in wanted]]
            for (place, _), sample in zip(wanted, got, strict=True):
                samples[place] = sample
        return samples


def _batch(indices: Any) -> Sequence[Any]:
    if isinstance(indices, (list, tuple)):
        return indices
    raise ArgumentTypeError(
        "`indices` has the wrong type",
        expected="a list or a tuple of integers",
        found=typed(indices),
        remedy="Write `dataset[[3]]` for one sample. To join datasets, use "
        "fuelrail.ffrecord.torch.ConcatDataset, not torch's ConcatDataset",
    )
