"""Reads all samples once an epoch. (The module's name is spelt as in ACCV-Lab.)"""

from __future__ import annotations

from typing import Any, Literal

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.arguments import checked_seed, checked_shard
from fuelrail.inputs.callable_base import CallableBase, SampleInfo
from fuelrail.inputs.data_provider import DataProvider
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.inputs.sample_reader import SampleReader
from fuelrail.options import choice_of, whole

__all__ = ["ShuffledShardedInputCallable"]

Order = numpy.ndarray[Any, numpy.dtype[numpy.int64]]


class ShuffledShardedInputCallable(CallableBase):
    """Reads the samples of a provider once an epoch, shuffled or in order. Each shard (rank) reads
    a contiguous part of the epoch's order.

    data_provider: the samples.
    batch_size: number of samples in a batch of this shard.
    shard_id, num_shards: which part of the order to read, and the number of parts. Default: 0, 1.
    shuffle: whether the order of epoch e is NumPy's `default_rng(seed + e).permutation(n)`, instead
        of 0 to n - 1. Default: False.
    seed: a non-negative integer, the same for all shards. Default: 21.
    last_batch: what happens to samples that fill no batch. "drop" leaves them out, and so the last
        n % num_shards samples of the order. "pad" repeats the shard's last sample, and "wrap" the
        shard's first samples, to fill the last batch; then no sample is left out, and all shards
        have the same number of batches. Default: "drop".

    Errors: InvalidArgumentError; OutOfRangeError, an IndexError, for a shard that does not exist.
    """

    def __init__(
        self,
        data_provider: DataProvider,
        batch_size: int,
        shard_id: int = 0,
        num_shards: int = 1,
        shuffle: bool = False,
        seed: int = 21,
        *,
        last_batch: Literal["drop", "pad", "wrap"] = "drop",
    ) -> None:
        self._reader = SampleReader(data_provider)
        self._batch_size = whole("batch_size", batch_size, least=1)
        shard, count = checked_shard(shard_id, num_shards)
        self._shuffle = bool(shuffle)
        self._seed = checked_seed(seed)
        self._last_batch = choice_of("last_batch", last_batch, ("drop", "pad", "wrap"))
        self._drawn: tuple[int, Order | None] | None = None  # the order of the latest epoch

        samples = self._reader.count
        if samples < count:
            raise InvalidArgumentError(
                "the data provider has fewer samples than there are shards",
                expected=f"at least {count}",
                found=str(samples),
            )
        size, more = divmod(samples, count)
        if self._last_batch == "drop":
            self._begin, self._size = shard * size, size
            self._batches = size // self._batch_size
        else:  # the first `more` shards have one more sample
            self._begin, self._size = shard * size + min(shard, more), size + (shard < more)
            self._batches = -(-(size + (more > 0)) // self._batch_size)
        if not self._batches:
            raise InvalidArgumentError(
                "the batch is larger than the shard, so no batch would be full",
                expected=f"a batch_size of at most {size}",
                found=str(self._batch_size),
                remedy='With last_batch="pad" or "wrap", samples are repeated',
            )

    @property
    def used_sample_data_structure(self) -> SampleDataGroup:
        """The provider's format, in a copy that does not apply mappings."""
        return self._reader.blueprint()

    def __call__(self, sample_info: SampleInfo) -> tuple[Any, ...]:
        """Returns the values of a sample of the epoch. Errors: StopIteration from the first sample
        on that is in no batch; ProviderError.
        """
        index = sample_info.idx_in_epoch
        if index >= self._batches * self._batch_size:
            raise StopIteration
        if index >= self._size:
            index = self._size - 1 if self._last_batch == "pad" else index % self._size
        place = self._begin + index
        order = self._order(sample_info.epoch_idx)
        return self._reader.read(place if order is None else int(order[place]))

    @property
    def length(self) -> int:
        """Number of batches in an epoch of this shard."""
        return self._batches

    @property
    def num_batches(self) -> int:
        """Number of batches in an epoch of this shard."""
        return self._batches

    @property
    def num_samples(self) -> int:
        """Number of samples in an epoch of this shard, without repetitions."""
        return min(self._size, self._batches * self._batch_size)

    def _order(self, epoch: int) -> Order | None:
        """Returns the order of the epoch, or None for 0 to n - 1."""
        drawn = self._drawn
        if drawn is None or drawn[0] != epoch:
            self._reader.check_count()
            order = None
            if self._shuffle:
                order = numpy.random.default_rng(self._seed + epoch).permutation(self._reader.count)
            drawn = self._drawn = (epoch, order)
        return drawn[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_drawn": None}  # a worker draws the order itself
