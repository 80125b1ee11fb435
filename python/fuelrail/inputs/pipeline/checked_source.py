"""Checks what a source gives before DALI sees it.

DALI drops values without a field, takes an array of foreign byte order as native, and names no field
when a type is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["CheckedCallable", "CheckedIterable", "checked_source"]

Array = numpy.ndarray[Any, Any]


def checked_source(source: Any, blueprint: SampleDataGroup) -> CheckedCallable | CheckedIterable:
    """Returns a source for `fn.external_source` with the values of the given one, after checks.

    source: a callable for one sample, else an iterable over batches.
    blueprint: the fields, of which the flat order is that of the values.
    """
    checked = CheckedCallable if callable(source) else CheckedIterable
    return checked(source, _Fields(blueprint))


class CheckedCallable:
    """One sample for each call, as a list with an array of native byte order for each field.

    Errors: InvalidArgumentError with the sample's index in the epoch, the field, and what was
        expected and found.
    """

    def __init__(self, source: Any, fields: _Fields) -> None:
        self._source, self._fields = source, fields

    def __call__(self, sample_info: Any) -> list[Array]:
        values = self._source(sample_info)
        place = f"sample {sample_info.idx_in_epoch} of epoch {sample_info.epoch_idx}"
        self._fields.check_count(values, place)
        return [self._fields.array(i, value, place) for i, value in enumerate(values)]


class CheckedIterable:
    """Batches, as a list with the samples of each field. Errors: as for `CheckedCallable`."""

    def __init__(self, source: Any, fields: _Fields) -> None:
        self._source, self._fields = source, fields
        self._batches: Iterator[Any] | None = None
        self._number = 0

    def __iter__(self) -> CheckedIterable:
        self._batches, self._number = iter(self._source), 0
        return self

    def __next__(self) -> list[Any]:
        if self._batches is None:
            iter(self)
        assert self._batches is not None
        batch = next(self._batches)
        place = f"batch {self._number}"
        self._number += 1
        self._fields.check_count(batch, place)
        self._fields.check_samples([len(samples) for samples in batch], place)
        return [self._samples(i, samples, place) for i, samples in enumerate(batch)]

    def _samples(self, field: int, samples: Any, place: str) -> Any:
        if isinstance(samples, (list, tuple)):
            return [
                self._fields.array(field, s, f"{place}, sample {i}") for i, s in enumerate(samples)
            ]
        return self._fields.array(field, samples, place)


class _Fields:
    """The names and types of the values of a sample."""

    def __init__(self, blueprint: SampleDataGroup) -> None:
        numpy_type = SampleDataGroup.get_numpy_type_for_dali_type
        self._names = tuple(blueprint.field_names_flat)
        self._dtypes = [numpy.dtype(numpy_type(t)) for t in blueprint.field_types_flat]

    def check_count(self, values: Any, place: str) -> None:
        if not isinstance(values, Sequence):
            raise InvalidArgumentError(
                "a source gave no sequence of values",
                path=place,
                expected="a tuple",
                found=type(values).__name__,
            )
        if len(values) != len(self._names):
            raise InvalidArgumentError(
                "a source gave the wrong number of values",
                path=place,
                expected=f"{len(self._names)} ({', '.join(self._names)})",
                found=str(len(values)),
            )

    def check_samples(self, counts: list[int], place: str) -> None:
        if len(set(counts)) != 1 or counts[0] == 0:
            each = (f"{n} of {name}" for n, name in zip(counts, self._names, strict=True))
            raise InvalidArgumentError(
                "a source gave a batch of no samples"
                if not any(counts)
                else "a source did not give the same number of samples for all fields",
                path=place,
                found=", ".join(each),
            )

    def array(self, field: int, value: Any, place: str) -> Array:
        dtype = self._dtypes[field]
        if not isinstance(value, numpy.ndarray) and hasattr(value, "__array__"):
            value = numpy.asarray(value)  # a NumPy scalar, or a tensor of a framework
        if isinstance(value, numpy.ndarray):
            if value.dtype == dtype:
                return value
            if value.dtype.newbyteorder("=") == dtype:
                return value.astype(dtype)
            found = f"an array of {value.dtype}"
        else:
            found = type(value).__name__
        raise InvalidArgumentError(
            "a source gave a value of the wrong type",
            path=place,
            field=self._names[field],
            expected=f"an array of {dtype}",
            found=found,
            remedy="Assign values to the fields of a SampleDataGroup, which converts them",
        )
