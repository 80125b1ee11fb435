"""The samples of a dataset that is written in Python, one by one, for loading and packing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, TypeGuard

from fuelrail import _core
from fuelrail.dataset import Dataset
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.fields import FieldSpec
from fuelrail.options import shown, text, typed, whole
from fuelrail.schema import Schema

__all__ = [
    "PythonData",
    "PythonSource",
    "checked_roles",
    "is_provider",
    "is_python_dataset",
    "source_of",
]


class _Indexed(Protocol):
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Any: ...


class _Provider(Protocol):
    def get_number_of_samples(self) -> int: ...
    def get_data(self, sample_index: int) -> Any: ...


PythonData: TypeAlias = _Indexed | _Provider
"""A dataset or a data provider that is written in Python."""

_HEAD_BYTES = 64  # enough for every signature


class PythonSource:
    """The samples of a dataset with `__len__` and `__getitem__`. Can be pickled if the dataset
    can.
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> Any:
        return self.dataset[index]

    @property
    def own_schema(self) -> Schema | None:
        """The attribute `schema` of the dataset, if it is a Schema."""
        schema = getattr(self.dataset, "schema_as_given", getattr(self.dataset, "schema", None))
        return schema if isinstance(schema, Schema) else None

    @property
    def own_roles(self) -> Mapping[str, FieldSpec] | None:
        """The attribute `roles` of the dataset, if it is a dict."""
        roles = getattr(self.dataset, "roles", None)
        return roles if isinstance(roles, Mapping) else None

    names_say_images = False
    """Whether arrays that may be images are images if their field is called so."""

    def fit(self, schema: Schema) -> None:
        """From now on, the values of samples fit the fields of `schema`, as far as possible."""

    @property
    def fingerprint(self) -> str | None:
        """What the dataset says of its content, or None."""
        said = getattr(self.dataset, "fingerprint", None)
        if said is None or isinstance(said, str):
            return said
        raise ArgumentTypeError(
            "the `fingerprint` of the dataset has the wrong type",
            expected="a str",
            found=typed(said),
        )

    @property
    def name(self) -> str:
        """The dataset in texts."""
        return type(self.dataset).__name__


class ProviderSource(PythonSource):
    """The samples of a data provider: its groups as nested dicts, and lists for numbers."""

    names_say_images = True

    def __init__(self, dataset: Any) -> None:
        super().__init__(dataset)
        self._images: frozenset[str] | None = None

    def __len__(self) -> int:
        return whole("get_number_of_samples()", self.dataset.get_number_of_samples())

    def __getitem__(self, index: int) -> Any:
        group = self.dataset.get_data(index)
        if not hasattr(group, "to_dictionary"):
            raise ArgumentTypeError(
                "`get_data` returned a wrong type",
                path=f"sample {index}",
                expected="a SampleDataGroup",
                found=typed(group),
            )
        own = type(group).__module__.startswith("fuelrail.")
        values = group.to_dictionary(read_only=True) if own else group.to_dictionary()
        try:
            return self._plain("", values)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(
                error.failure, path=f"sample {index}", remedy=error.remedy
            ) from None

    def fit(self, schema: Schema) -> None:
        """Arrays of one dimension in image fields are the bytes of encoded images."""
        self._images = frozenset(row[0] for row in schema.native if row[1] == "image")

    def _plain(self, name: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            inner = {
                key: self._plain(f"{name}.{key}" if name else f"{key}", item)
                for key, item in value.items()
                if not _is_empty(item)
            }
            are_numbers = bool(inner) and list(inner) == list(range(len(inner)))
            return list(inner.values()) if are_numbers else inner
        if value is None:
            raise InvalidArgumentError(
                f"'{name}' has no value", remedy="Assign one in `get_data`: group[name] = value"
            )
        return bytes(value) if self._is_encoded(name, value) else value

    def _is_encoded(self, name: str, value: Any) -> bool:
        if getattr(value, "ndim", 0) != 1 or getattr(value, "dtype", None) != "uint8":
            return False
        if self._images is not None:
            return name in self._images
        return bool(_core.image_format(bytes(value[:_HEAD_BYTES])))


def checked_roles(roles: Mapping[str, FieldSpec]) -> dict[str, FieldSpec]:
    """Errors: ArgumentTypeError for a pattern that is no text, and for a role that is no field."""
    checked = {}
    for pattern, field in roles.items():
        name = text("a pattern of `roles`", pattern)
        if not isinstance(field, FieldSpec):
            raise ArgumentTypeError(
                f"`roles[{shown(pattern)}]` has the wrong type",
                expected='a field, such as F.Boxes("xyxy")',
                found=typed(field),
            )
        checked[name] = field
    return checked


def _is_empty(value: object) -> bool:
    """Returns whether a value is a group without data fields, which has no place in the flat form."""
    return isinstance(value, Mapping) and all(map(_is_empty, value.values()))


def source_of(dataset: object) -> PythonSource:
    """Errors: ArgumentTypeError for anything but a dataset or a provider."""
    if is_provider(dataset):
        return ProviderSource(dataset)
    has_samples = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
    no_dataset = isinstance(dataset, (str, bytes, os.PathLike, Mapping, Dataset, type))
    if has_samples and not no_dataset:
        return PythonSource(dataset)
    raise ArgumentTypeError(
        "a dataset has the wrong type",
        expected="an object with `__len__` and `__getitem__`, or a data provider",
        found=typed(dataset),
        remedy="Use it as it is, because it is open"
        if isinstance(dataset, Dataset)
        else "Open files with `fuelrail.open`"
        if isinstance(dataset, (str, bytes, os.PathLike))
        else "Create an object of the class"
        if isinstance(dataset, type)
        else None,
    )


def is_python_dataset(data: object) -> TypeGuard[Any]:
    """Returns whether `fuelrail.open_python` opens `data`, rather than `fuelrail.open`."""
    if isinstance(data, (str, bytes, os.PathLike, Mapping, Dataset, type)):
        return False
    if is_provider(data):
        return True
    if not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        return False
    if not isinstance(data, (list, tuple)):
        return not hasattr(data, "dtype")  # of an array of paths
    return len(data) > 0 and isinstance(data[0], Mapping)


def is_provider(data: object) -> bool:
    """Returns whether `data` is a data provider, such as a `fuelrail.inputs.DataProvider`."""
    is_class = isinstance(data, type)
    return hasattr(data, "get_number_of_samples") and hasattr(data, "get_data") and not is_class
