"""Reads the samples that a sampler draws, one batch after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fuelrail.errors import InvalidArgumentError, UnsupportedError
from fuelrail.inputs.arguments import checked_shard
from fuelrail.inputs.data_provider import DataProvider
from fuelrail.inputs.iterable_base import IterableBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.inputs.sample_reader import SampleReader
from fuelrail.inputs.sampler_base import SamplerBase
from fuelrail.inputs.sampler_batches import SamplerBatches
from fuelrail.options import shown, typed, whole
from fuelrail.state import plain_state

__all__ = ["SamplerInputIterable"]


class SamplerInputIterable(IterableBase):
    """Reads the samples that a sampler draws, one batch after the other, in one process.

    data_provider: the samples.
    sampler: draws the batches of all shards. Must be picklable for a worker process.
    shard_id, num_shards: which part of each batch to read, and the number of parts. Default: 0, 1.

    It resumes if its sampler does (`state_dict`). Errors: InvalidArgumentError; OutOfRangeError, an IndexError, for a shard that does not exist.
    """

    def __init__(
        self,
        data_provider: DataProvider,
        sampler: SamplerBase,
        shard_id: int = 0,
        num_shards: int = 1,
    ) -> None:
        self._reader = SampleReader(data_provider)
        self._shard, self._shards = checked_shard(shard_id, num_shards)
        self._batches = SamplerBatches(sampler, self._reader, self._shards)
        self._begun = False  # whether `iter` starts the sampler's next epoch
        self._ended = False  # whether the sampler's epoch is over

    @property
    def used_sample_data_structure(self) -> SampleDataGroup:
        """The provider's format, in a copy that does not apply mappings."""
        return self._reader.blueprint()

    def __iter__(self) -> SamplerInputIterable:
        """Returns this object. If the sampler has epochs, and a batch of the current one has been
        read, starts the next epoch. Otherwise, continues where it is.
        """
        if self._begun and self._batches.sampler.is_epoch_based:
            self._reader.check_count()
            self._batches.sampler.reset()
            self._ended = False
        self._begun = False
        return self

    def __next__(self) -> list[list[Any]]:
        """Returns this shard's part of the sampler's next batch: for each data field, a list of the
        samples' values.

        Errors: StopIteration at the end of the sampler's epoch; InputArgumentError, an
        AssertionError, for a batch that is empty, larger than the first one, or cannot be divided
        among the shards; OutOfRangeError for an index that is no sample; ProviderError.
        """
        self._begun = True
        try:
            batch = self._batches.draw()
        except StopIteration:
            self._ended = True
            raise
        size = len(batch) // self._shards
        mine = batch[self._shard * size : (self._shard + 1) * size].tolist()
        samples = [self._reader.read(index) for index in mine]
        return [list(values) for values in zip(*samples, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Returns the position as a dict of plain values, with the sampler's state. It is for an
        iterable that this process reads: a pipeline's worker process reads a copy.

        Errors: UnsupportedError, a RuntimeError, for a sampler without `state_dict`.
        """
        return {
            "version": 1,
            "batch_size": self._batches.size,
            "epoch_ended": int(self._ended),
            "sampler": self._of_sampler("state_dict")(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues at a position that `state_dict` returned, of an iterable with the same
        arguments; so does the next `iter`.

        Errors: those of the sampler's `load_state_dict`; InvalidArgumentError for any other state,
        after which the position is unchanged; UnsupportedError, a RuntimeError, for a sampler
        without `load_state_dict`.
        """
        load = self._of_sampler("load_state_dict")
        plain = plain_state(state, {"version": 1, "batch_size": 0, "epoch_ended": 0})
        if plain.get("version") != 1 or len(plain) < 3 or "sampler" not in state:
            raise InvalidArgumentError(
                "the state is not that of a SamplerInputIterable",
                expected="version 1, with the members that state_dict() returns",
                found=shown(dict(state)),
            )
        size = whole("state['batch_size']", plain["batch_size"])
        load(state["sampler"])
        self._batches.size = size
        self._begun = self._ended = bool(plain["epoch_ended"])

    def _of_sampler(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] | None = getattr(self._batches.sampler, name, None)
        if method is None:
            raise UnsupportedError(
                f"the sampler has no `{name}`", found=typed(self._batches.sampler)
            )
        return method

    @property
    def length(self) -> int | None:
        """As the sampler's: None if it has no epochs."""
        return self._batches.sampler.length

    @property
    def num_batches(self) -> int | None:
        """Number of batches in an epoch, or None if the sampler does not know it."""
        return getattr(self._batches.sampler, "num_batches", None)

    @property
    def num_samples(self) -> int | None:
        """Number of samples of this shard in an epoch, or None if the sampler does not know it."""
        samples = getattr(self._batches.sampler, "num_samples", None)
        return None if samples is None else samples // self._shards
