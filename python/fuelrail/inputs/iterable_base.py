"""Inputs that make one batch after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["IterableBase"]


class IterableBase(ABC):
    """An input that makes one batch after the other, in one process. It may keep a position, and it
    must be picklable before its first batch.

    DALI takes it as the source of `fn.external_source(batch=True, cycle="raise")`.
    """

    @property
    @abstractmethod
    def used_sample_data_structure(self) -> SampleDataGroup:
        """The format of the samples, a group without values."""

    @abstractmethod
    def __iter__(self) -> IterableBase:
        """Starts an epoch, and returns an iterator over its batches, which may be this object."""

    @abstractmethod
    def __next__(self) -> Any:
        """Returns a batch: for each data field, in the order of `SampleDataGroup.get_data`, a list
        of the samples' values. Errors: StopIteration at the end of the epoch.
        """

    @property
    @abstractmethod
    def length(self) -> int | None:
        """Number of batches in an epoch, or None if it is unknown."""

    @property
    def num_batches(self) -> int | None:
        """Number of batches in an epoch of this shard. Default: None, unknown."""
        return None

    @property
    def num_samples(self) -> int | None:
        """Number of samples in an epoch of this shard. Default: None, unknown."""
        return None
