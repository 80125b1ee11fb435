"""Which samples make a batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

__all__ = ["SamplerBase"]


class SamplerBase(ABC):
    """Draws the sample indices of one batch after the other, for all shards together. Each shard
    has a sampler of its own that draws the same batches, and takes its slice of them.

    A sampler must be picklable before its first batch. With methods `state_dict` and
    `load_state_dict`, it can resume.
    """

    @abstractmethod
    def get_next_batch_indices(self) -> list[int]:
        """Returns the sample indices of the next batch of all shards. Errors: StopIteration at the
        end of an epoch, if the sampler has epochs.
        """

    @property
    @abstractmethod
    def is_epoch_based(self) -> bool:
        """Whether the sampler has epochs. Otherwise, it never ends."""

    @abstractmethod
    def reset(self) -> None:
        """Starts the next epoch. Called only if the sampler has epochs."""

    @property
    @abstractmethod
    def length(self) -> int | None:
        """The length of an epoch, or None if it is unknown. `num_batches` and `num_samples` say
        which of them it is.
        """

    @property
    def num_batches(self) -> int | None:
        """Number of batches in an epoch. Default: None, unknown."""
        return None

    @property
    def num_samples(self) -> int | None:
        """Number of samples in an epoch, for all shards together. Default: None, unknown."""
        return None

    def __iter__(self) -> Iterator[list[int]]:
        """Yields the remaining batches of the epoch, and then starts the next epoch. So a sampler
        can be the `batch_sampler` of `fuelrail.Loader`, which divides each batch among the ranks.
        """
        while True:
            try:
                batch = self.get_next_batch_indices()
            except StopIteration:
                break
            yield batch
        if self.is_epoch_based:
            self.reset()
