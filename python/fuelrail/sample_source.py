"""The samples of a Python program, as a source for packing."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard

from fuelrail.dataset import Sample
from fuelrail.errors import ArgumentTypeError, Error, InvalidArgumentError, note_sample
from fuelrail.fields import DEFAULT_QUALITY, FieldSpec, Image
from fuelrail.options import text, typed
from fuelrail.python_source import PythonSource, checked_roles
from fuelrail.sample_values import SampleValues
from fuelrail.schema import NativeRow, Schema, encoded_as, is_group

__all__ = ["RecordValues", "SampleReader", "Samples", "indexable"]

Encoder: TypeAlias = "tuple[str, int] | None"
Refusal: TypeAlias = tuple[str, str, str, str]
"""What failed, what was expected, what was found, and what to do."""
Description: TypeAlias = "tuple[list[NativeRow], list[tuple[str, list[str]]], list[Encoder], str]"
"""Fields, class names of fields, how the arrays of each field are encoded, and what a resumed job
compares."""


class IndexableSamples(Protocol):
    """A sequence of samples, such as a list or a dataset for torch's DataLoader."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...


Samples: TypeAlias = "IndexableSamples | Iterable[Mapping[str, Any] | Sequence[Any] | Sample]"
"""Nested dicts, or samples of a dataset: any iterable, or a sequence."""


def indexable(samples: object) -> TypeGuard[IndexableSamples]:
    """Returns whether samples can be read in any order, and their number is known."""
    torch_data = sys.modules.get("torch.utils.data")
    if torch_data is not None and isinstance(samples, torch_data.IterableDataset):
        return False  # it inherits a __getitem__ that raises
    return hasattr(samples, "__getitem__") and hasattr(samples, "__len__")


class SampleReader:
    """Reads samples one by one, and checks them. Reads none before `start`."""

    def __init__(self, samples: Samples, schema: Schema | None) -> None:
        self._source = samples
        self._samples = samples if indexable(samples) else None
        self._python = samples if isinstance(samples, PythonSource) else PythonSource(samples)
        self._schema = schema or self._python.own_schema
        if self._schema:
            self._python.fit(self._schema)

    @property
    def size(self) -> int | None:
        """The number of samples, or None if it is unknown."""
        return None if self._samples is None else len(self._samples)

    def start(self) -> Description:
        """Reads the first samples, and describes all. Call before `read`.

        Errors: InvalidArgumentError if there are no samples, and those of `infer` and `described`;
        ArgumentTypeError if the first one is not a sample.
        """
        from fuelrail.schema_inference import infer, looked_at  # not for `RecordValues`

        ready: list[Any] = []
        try:
            samples = self._all()
            for sample in itertools.islice(samples, 1) if self._schema else looked_at(samples):
                ready.append(sample)
        except Exception as error:
            note_sample(error, len(ready))
            raise
        if not ready:
            raise InvalidArgumentError("there are no samples to pack")
        self._ready = dict(enumerate(ready))  # read, but not packed
        _check_first(ready[0], self._schema, self._source)
        roles = checked_roles(self._python.own_roles or {})
        schema = self._schema or infer(ready, roles, self._python.names_say_images)
        remedy = f"The schema was inferred from the first {len(ready)} samples; pass `schema`"
        self._values = SampleValues(schema, None if self._schema else remedy)
        encoders = [encoder_of(field) for field in schema.fields.values()]
        classes = list(schema.classes.items())
        return list(schema.native), classes, encoders, described(self._source, encoders)

    def _all(self) -> Iterator[Any]:
        if self._samples is not None:
            samples = self._samples
            return (samples[i] for i in range(len(samples)))
        self._rest: Iterator[Any] = iter(self._source)
        return self._rest

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
            return self._values.flatten(_plain(sample))
        except Error as error:
            return _refusal(error)


class RecordValues:
    """Reads samples of a known schema for records that are not stored: arrays of pixels are not
    compressed.
    """

    def __init__(self, schema: Schema) -> None:
        raw = encoded_as(schema, "npy")
        self._values = SampleValues(raw)
        encoders = [encoder_of(field) for field in raw.fields.values()]
        self.description: Description = (
            list(raw.native),
            list(raw.classes.items()),
            encoders,
            "",
        )

    def read(self, sample: object) -> list[Any] | Refusal:
        """Returns the values of a sample, or why it is refused."""
        try:
            return self._values.flatten(_plain(sample))
        except Error as error:
            return _refusal(error)


def _refusal(error: Error) -> Refusal:
    return error.failure, error.expected or "", error.found or "", error.remedy or ""


def _plain(sample: Any) -> Any:
    return sample.nested() if isinstance(sample, Sample) else sample


def _check_first(sample: object, schema: Schema | None, source: object) -> None:
    if isinstance(sample, Sample):
        if schema is None:
            raise InvalidArgumentError(
                "`schema` is needed, because the samples are those of a dataset",
                remedy="Pass `schema=data.schema`, so that masks, boxes and labels stay what they are",
            )
        return
    if not is_group(sample):
        from fuelrail.packer import no_source  # workers need no packer

        raise no_source(source)
    if isinstance(sample, Mapping) or (schema and not isinstance(schema.tree, Mapping)):
        return
    raise ArgumentTypeError(
        "a sample has the wrong type",
        path="sample 0",
        expected="a dict of named values",
        found=typed(sample),
        remedy='Return a dict, such as {"image": image, "label": label}',
    )


def encoder_of(field: FieldSpec) -> Encoder:
    """Returns how arrays of a field are encoded, and the JPEG quality; None if they are not."""
    if field.native.kind != "image":
        return None
    quality = field.quality if isinstance(field, Image) else None
    return str(getattr(field, "encode", "png")), quality or DEFAULT_QUALITY


def described(samples: object, encoders: Sequence[Encoder]) -> str:
    """Returns what a resumed job compares: the samples' own `fingerprint`, if they have one, and
    how arrays are encoded. Errors: ArgumentTypeError for a fingerprint that is not a string.
    """
    fingerprint = getattr(samples, "fingerprint", None)
    if fingerprint is not None:
        text("the `fingerprint` of the samples", fingerprint)
    return f"samples {fingerprint!r}\nencoders {encoders}\n"
