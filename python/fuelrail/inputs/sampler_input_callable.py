"""Reads the samples that a sampler draws, in several worker processes."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.arguments import checked_shard
from fuelrail.inputs.callable_base import CallableBase, SampleInfo
from fuelrail.inputs.data_provider import DataProvider
from fuelrail.inputs.errors import ExhaustedError, InputArgumentError
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.inputs.sample_reader import SampleReader
from fuelrail.inputs.sampler_base import SamplerBase
from fuelrail.inputs.sampler_batches import Indices, SamplerBatches
from fuelrail.options import choice_of, shown, whole

__all__ = ["SamplerInputCallable"]

_MOST_INDICES = 2**32  # of a table: 32 GiB while it is made


class SamplerInputCallable(CallableBase):
    """Reads the samples that a sampler draws. The constructor draws all batches, into a table of
    which each worker gets a copy: use SamplerInputIterable unless several workers are needed.

    data_provider: the samples.
    sampler: draws the batches of all shards. It is not kept, and need not be picklable. If it has
        epochs, one more batch is drawn, to learn whether the table ends with an epoch.
    max_num_iterations: number of batches that the program will use.
    pre_fetch_queue_length: number of batches that the pipeline prepares ahead.
    shard_id, num_shards: which part of each batch to read, and the number of parts. Default: 0, 1.
    last_batch: what happens to an epoch's last batch if it has fewer samples. "drop" leaves it out,
        "pad" fills it with its last sample, "wrap" with the epoch's first samples. Default: "drop".

    Errors: InputArgumentError, an AssertionError, if a batch cannot be divided among the shards,
    has another size than the first one, or an epoch has no batches; InvalidArgumentError;
    OutOfRangeError, an IndexError, for a shard or a sample that does not exist.
    """

    def __init__(
        self,
        data_provider: DataProvider,
        sampler: SamplerBase,
        max_num_iterations: int,
        pre_fetch_queue_length: int,
        shard_id: int = 0,
        num_shards: int = 1,
        *,
        last_batch: Literal["drop", "pad", "wrap"] = "drop",
    ) -> None:
        self._reader = SampleReader(data_provider)
        self._limits = (
            whole("max_num_iterations", max_num_iterations),
            whole("pre_fetch_queue_length", pre_fetch_queue_length),
        )
        if not any(self._limits):
            raise InvalidArgumentError(
                "the table of the sampler's batches would be empty",
                expected="a max_num_iterations of at least 1",
                found=shown(max_num_iterations),
            )
        shard, shards = checked_shard(shard_id, num_shards)
        filler = choice_of("last_batch", last_batch, ("drop", "pad", "wrap"))
        batches = SamplerBatches(sampler, self._reader, shards)
        drawn = _full_batches(batches, filler)
        table, self._ends = array("q"), list[int]()
        count, most = 0, sum(self._limits)
        self._samples = 0  # in the first epoch, of this shard
        while count < most:
            batch = next(drawn)
            if batch is None:
                self._ends.append(count)
                continue
            self._size = len(batch.indices) // shards
            if most * self._size > _MOST_INDICES:
                raise InvalidArgumentError(
                    "`max_num_iterations` is out of range",
                    expected=f"at most {_MOST_INDICES // self._size}, because all batches are drawn "
                    "in advance",
                    found=shown(max_num_iterations),
                )
            begin = shard * self._size
            table.frombytes(batch.indices[begin : begin + self._size].tobytes())
            count += 1
            if not self._ends:
                self._samples += min(max(batch.samples - begin, 0), self._size)
        self._ends.append(count)
        self._ends_whole = sampler.is_epoch_based and next(drawn) is None
        smallest = numpy.min_scalar_type(self._reader.count)
        self._table = numpy.array(table, smallest).reshape(count, self._size)

    @property
    def used_sample_data_structure(self) -> SampleDataGroup:
        """The provider's format, in a copy that does not apply mappings."""
        return self._reader.blueprint()

    def __call__(self, sample_info: SampleInfo) -> tuple[Any, ...]:
        """Returns the values of a sample of the epoch.

        Errors: StopIteration after an epoch of the sampler; ExhaustedError, a RuntimeError, after
        the end of the table; InvalidArgumentError if the pipeline's batch size is another one;
        ProviderError.
        """
        epoch = sample_info.epoch_idx
        batch, row = divmod(sample_info.idx_in_epoch, self._size)
        if row != sample_info.idx_in_batch or batch < 0:
            raise InvalidArgumentError(
                "the pipeline's batch size differs from the sampler's, divided by the shards",
                expected=str(self._size),
                found=f"sample {sample_info.idx_in_epoch} of the epoch in row "
                f"{sample_info.idx_in_batch}",
            )
        if epoch < len(self._ends):
            place = batch + (self._ends[epoch - 1] if epoch else 0)
            if place < self._ends[epoch]:
                return self._reader.read(int(self._table[place, row]))
            if epoch + 1 < len(self._ends) or self._ends_whole:
                raise StopIteration
        raise ExhaustedError(
            "the table of the sampler's batches is exhausted",
            expected=f"at most {self._limits[0]} iterations and {self._limits[1]} batches ahead",
            found=f"batch {batch} of epoch {epoch}",
            remedy="Increase max_num_iterations, or pre_fetch_queue_length if the pipeline "
            "prepares more batches ahead",
        )

    @property
    def length(self) -> int:
        """Number of batches in the first epoch. If the sampler has no epochs, of the table."""
        return self._ends[0]

    @property
    def num_batches(self) -> int:
        """Number of batches in the first epoch. If the sampler has no epochs, of the table."""
        return self._ends[0]

    @property
    def num_samples(self) -> int:
        """Number of samples of this shard in these batches, without what `last_batch` adds."""
        return self._samples


class _Batch(NamedTuple):
    indices: Indices
    samples: int  # the number of indices that the sampler drew


def _full_batches(batches: SamplerBatches, filler: str) -> Iterator[_Batch | None]:
    """Yields the batches of one epoch of the sampler after the other, all of one size, and None
    after each epoch.
    """
    for epoch in itertools.count():
        first = short = None
        while True:
            try:
                batch = batches.draw()
            except StopIteration:
                break
            if short is not None:
                raise InputArgumentError(
                    "the sampler drew a batch after a smaller one",
                    expected=f"{batches.size} samples in all but an epoch's last batch",
                    found=str(len(short)),
                )
            first = batch if first is None else first
            if len(batch) < batches.size:
                short = batch
            else:
                yield _Batch(batch, len(batch))
        if first is None or (first is short and filler == "drop"):
            raise InputArgumentError(f"epoch {epoch} of the sampler has no full batch")
        if short is not None and filler != "drop":
            more = numpy.resize(short[-1:] if filler == "pad" else first, batches.size - len(short))
            yield _Batch(numpy.concatenate([short, more]), len(short))
        yield None
        batches.sampler.reset()
