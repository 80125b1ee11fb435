"""Inputs that make one sample a call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["CallableBase", "SampleInfo"]


class SampleInfo(Protocol):
    """Which sample is wanted, as DALI's SampleInfo says it."""

    @property
    def idx_in_epoch(self) -> int:
        """The sample's number in the epoch of this shard."""

    @property
    def idx_in_batch(self) -> int:
        """The sample's row in its batch."""

    @property
    def epoch_idx(self) -> int:
        """The number of the epoch, from 0."""


class CallableBase(ABC):
    """An input that makes one sample a call, in any order, and in several worker processes at once.
    So it must be picklable, and a call must not depend on the calls before it.

    DALI takes it as the source of `fn.external_source(batch=False)`.
    """

    @property
    @abstractmethod
    def used_sample_data_structure(self) -> SampleDataGroup:
        """The format of the samples, a group without values, to which `set_data` gives them."""

    @abstractmethod
    def __call__(self, sample_info: SampleInfo) -> tuple[Any, ...]:
        """Returns the values of a sample, as `SampleDataGroup.get_data` does. Errors: StopIteration
        at and after the end of the epoch.
        """

    @property
    @abstractmethod
    def length(self) -> int | None:
        """The length of an epoch, or None if it is unknown. The inputs of this package count
        batches; other callables may count samples. `num_batches` and `num_samples` say which.
        """

    @property
    def num_batches(self) -> int | None:
        """Number of batches in an epoch of this shard. Default: None, unknown."""
        return None

    @property
    def num_samples(self) -> int | None:
        """Number of samples in an epoch of this shard, without repetitions that fill the last
        batch.
        Default: None, unknown.
        """
        return None
