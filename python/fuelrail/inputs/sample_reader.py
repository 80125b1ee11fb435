"""Reads samples from a data provider, and checks that they have the declared format."""

from __future__ import annotations

from typing import Any

import numpy

from fuelrail.errors import ArgumentTypeError, OutOfRangeError
from fuelrail.inputs.data_provider import DataProvider
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import ProviderError
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import shown, typed, whole
from fuelrail.sample_values import array_of

__all__ = ["SampleReader"]


class SampleReader:
    """Reads the samples of a provider as tuples of arrays. Picklable if the provider is."""

    def __init__(self, provider: DataProvider) -> None:
        self.provider = provider
        self.count = _count(provider)
        """Number of samples of the provider."""
        self._format: SampleDataGroup | None = None  # found in the worker, at the first sample
        self._fields: list[tuple[str, DataType]] = []

    def blueprint(self) -> SampleDataGroup:
        """Returns a copy of the provider's format that does not apply mappings."""
        declared = self.provider.sample_data_structure
        if not isinstance(declared, SampleDataGroup):
            raise ProviderError(
                "the provider's sample_data_structure has the wrong type",
                expected="a SampleDataGroup",
                found=typed(declared),
            )
        copy = declared.get_empty_like_self()
        copy.set_apply_mapping(False)
        return copy

    def read(self, index: int) -> tuple[Any, ...]:
        """Returns the values of a sample: NumPy arrays of the declared types, in native byte order.

        Errors: ProviderError that names the sample, if the provider raises an exception, which is
        the `__cause__`, or if the sample has not the declared format.
        """
        if self._format is None:
            blueprint = self.blueprint()
            names, kinds = blueprint.field_names_flat, blueprint.field_types_flat
            self._fields = list(zip(names, kinds, strict=True))
            self._format = blueprint
        try:
            sample = self.provider.get_data(index)
        except Exception as error:
            raise ProviderError(
                "the data provider raised an exception",
                path=f"sample {index}",
                found=f"{type(error).__name__}: {' '.join(str(error).split())}",
            ) from error
        self._check_format(sample, index)
        values = list(sample.get_data())
        for number, (name, kind) in enumerate(self._fields):
            value = values[number]
            if type(value) is not numpy.ndarray or value.dtype != kind.dtype:
                values[number] = _array(value, name, kind, index)
        return tuple(values)

    def check_count(self) -> None:
        """Errors: ProviderError if the provider's number of samples has changed."""
        now = _count(self.provider)
        if now != self.count:
            raise ProviderError(
                "the data provider has changed its number of samples",
                expected=str(self.count),
                found=str(now),
                remedy="Make a new input for the changed data",
            )

    def check_indices(self, indices: list[int] | numpy.ndarray[Any, Any]) -> None:
        """Errors: OutOfRangeError for an index of a sampler that is no sample."""
        if not len(indices):
            return
        least, most = min(indices), max(indices)
        if least < 0 or most >= self.count:
            raise OutOfRangeError(
                "the sampler drew an index that is no sample of the data provider",
                expected=f"[0, {self.count})",
                found=str(least if least < 0 else most),
            )

    def _check_format(self, sample: object, index: int) -> None:
        if not isinstance(sample, SampleDataGroup):
            raise ProviderError(
                "a sample has the wrong type",
                path=f"sample {index}",
                expected="a SampleDataGroup",
                found=typed(sample),
            )
        if self._format is not None and not self._format.type_matches(sample):
            place = self._format.get_flat_index_first_discrepancy_to_other(sample)
            raise ProviderError(
                "the sample does not have the provider's sample_data_structure",
                path=f"sample {index}",
                expected=_field_of(self._format, place),
                found=_field_of(sample, place),
            )


def _array(value: Any, name: str, kind: DataType, index: int) -> numpy.ndarray[Any, Any]:
    """Returns a tensor in CPU memory as an array. Errors: ProviderError for another dtype."""
    found = array_of(value, f"'{name}' of sample {index}")
    if found is None or found[0].dtype != kind.dtype:
        raise ProviderError(
            "a value of the sample has the wrong type",
            path=f"sample {index}",
            field=name,
            expected=f"an array of {kind.dtype.name}",
            found="no value"
            if value is None
            else typed(value)
            if found is None
            else f"an array of {found[1]}",
            remedy="Assign it with `group[name] = value`, which converts numbers",
        )
    return found[0]


def _field_of(group: SampleDataGroup, place: int) -> str:
    """Returns the number of fields, and the one at a flat index, as text."""
    names, kinds = group.field_names_flat, group.field_types_flat
    if not 0 <= place < len(names):
        return f"{len(names)} fields: {shown(list(names))}"
    return f"{len(names)} fields, with '{names[place]}' of {kinds[place].name} at place {place}"


def _count(provider: DataProvider) -> int:
    is_class = isinstance(provider, type)
    if is_class or not hasattr(provider, "get_data"):
        raise ArgumentTypeError(
            "the data provider has the wrong type",
            expected="a DataProvider",
            found=typed(provider),
            remedy="Create an object of the class" if is_class else None,
        )
    return whole("get_number_of_samples()", provider.get_number_of_samples())
