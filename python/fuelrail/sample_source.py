"""The samples of a Python program, as a source for packing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard

from fuelrail.errors import Error, InvalidArgumentError
from fuelrail.fields import DEFAULT_QUALITY, FieldSpec, Image
from fuelrail.options import shown
from fuelrail.sample_values import SampleValues
from fuelrail.schema import Schema
from fuelrail.schema_inference import LOOKED_AT, infer

__all__ = ["SampleReader", "Samples", "indexable"]

Encoder: TypeAlias = "tuple[str, int] | None"
Refusal: TypeAlias = tuple[str, str, str, str]
"""What failed, what was expected, what was found, and what to do."""


class IndexableSamples(Protocol):
    """A sequence of samples, such as a list or a dataset for torch's DataLoader."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Mapping[str, Any]: ...


Samples: TypeAlias = "IndexableSamples | Iterable[Mapping[str, Any]]"
"""Nested dicts: any iterable, or a sequence."""


def indexable(samples: object) -> TypeGuard[IndexableSamples]:
    """Returns whether samples can be read in any order, and their number is known."""
    return hasattr(samples, "__getitem__") and hasattr(samples, "__len__")


class SampleReader:
    """Reads samples one by one, and checks them.

    Errors: InvalidArgumentError if there are no samples, and those of `infer`.
    """

    def __init__(self, samples: Samples, schema: Schema | None) -> None:
        self.source = samples
        self._samples: IndexableSamples | None = None
        wanted = LOOKED_AT if schema is None else 1
        first: Iterator[Any]
        if indexable(samples):
            self._samples = samples
            first = (samples[i] for i in range(min(wanted, len(samples))))
        else:
            self._rest: Iterator[Any] = iter(samples)
            first = itertools.islice(self._rest, wanted)
        ready: list[Any] = []
        try:
            for sample in first:
                ready.append(sample)
        except Exception as error:
            if hasattr(error, "add_note"):  # from Python 3.11 on
                error.add_note(f"raised by the source of sample {len(ready)}")
            raise
        if not ready:
            raise InvalidArgumentError("there are no samples to pack")
        self._ready = dict(enumerate(ready))  # read, but not packed
        self._given = schema

    @property
    def first(self) -> Any:
        """The first sample."""
        return self._ready[0]

    @property
    def size(self) -> int | None:
        """The number of samples, or None if it is unknown."""
        return None if self._samples is None else len(self._samples)

    def start(self) -> Schema:
        """Returns the schema, inferred if none was given. Call before `read`."""
        if self._given is not None:
            self._values = SampleValues(self._given)
            return self._given
        schema = infer(list(self._ready.values()))
        remedy = f"The schema was inferred from the first {len(self._ready)} samples; pass `schema`"
        self._values = SampleValues(schema, remedy)
        return schema

    def read(self, index: int) -> list[Any] | Refusal | None:
        """Returns the values of a sample, or why it is refused, or None after the last sample.

        index: without a size, it is 0, 1, 2, ... in this order.
        """
        if index in self._ready:
            sample = self._ready.pop(index)
        elif self._samples is not None:
            sample = self._samples[index]
        else:
            try:
                sample = next(self._rest)
            except StopIteration:
                return None
        try:
            return self._values.flatten(sample)
        except Error as error:
            return error.failure, error.expected or "", error.found or "", error.remedy or ""


def encoder_of(field: FieldSpec) -> Encoder:
    """Returns how arrays of a field are encoded, and the JPEG quality; None if they are not."""
    if field.native.kind != "image":
        return None
    quality = field.quality if isinstance(field, Image) else None
    return str(getattr(field, "encode", "png")), quality or DEFAULT_QUALITY


def described(samples: object, encoders: Sequence[Encoder]) -> str:
    """Returns what a resumed job compares: the samples' own `fingerprint`, if they have one, and
    how arrays are encoded.
    """
    return f"samples {shown(getattr(samples, 'fingerprint', 'unknown'))}\nencoders {encoders}\n"
