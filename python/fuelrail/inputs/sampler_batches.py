"""Draws batches from a sampler, and cuts out one shard's part."""

from __future__ import annotations

from typing import Any

import numpy

from fuelrail.errors import ArgumentTypeError
from fuelrail.inputs.errors import InputArgumentError
from fuelrail.inputs.sample_reader import SampleReader
from fuelrail.inputs.sampler_base import SamplerBase
from fuelrail.options import listed, typed

__all__ = ["Indices", "SamplerBatches"]

Indices = numpy.ndarray[Any, numpy.dtype[numpy.int64]]


class SamplerBatches:
    """The batches of a sampler for all shards, checked. The first one sets the batch size."""

    def __init__(self, sampler: SamplerBase, reader: SampleReader, num_shards: int) -> None:
        """Errors: ArgumentTypeError for anything but a sampler."""
        if isinstance(sampler, type) or not hasattr(sampler, "get_next_batch_indices"):
            raise ArgumentTypeError(
                "the sampler has the wrong type", expected="a SamplerBase", found=typed(sampler)
            )
        self.sampler = sampler
        self.size = 0
        """The batch size of all shards together; 0 before the first batch."""
        self._reader = reader
        self._shards = num_shards

    def draw(self) -> Indices:
        """Returns the next batch, of at most `size` indices.

        Errors: StopIteration at the end of the sampler's epoch; InputArgumentError, an
        AssertionError, for a batch that is empty, larger than the first one, or not divisible by
        the number of shards; ArgumentTypeError; OutOfRangeError for an index that is no sample.
        """
        given = self.sampler.get_next_batch_indices()
        batch = numpy.asarray(listed(given))
        if batch.ndim == 1 and not batch.size:
            raise InputArgumentError("the sampler drew a batch without samples")
        if batch.ndim != 1 or batch.dtype.kind not in "iu":
            raise ArgumentTypeError(
                "a batch of the sampler has the wrong type",
                expected="a list of integers",
                found=typed(given),
            )
        if len(batch) % self._shards:
            raise InputArgumentError(
                "the sampler's batch is not divisible by the number of shards",
                expected=f"a multiple of {self._shards} samples",
                found=str(len(batch)),
            )
        self.size = self.size or len(batch)
        if len(batch) > self.size:
            raise InputArgumentError(
                "the sampler has changed its batch size",
                expected=f"{self.size}, as in the first batch",
                found=str(len(batch)),
            )
        self._reader.check_indices(batch)
        return batch.astype(numpy.int64)
