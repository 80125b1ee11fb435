"""Builds a loader's batches from the columns that the C++ core returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.options import shown, text, truth, typed

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    from fuelrail.dataset import Field

__all__ = ["ArrayFramework", "BatchContext", "Delivery", "Framework", "check_images"]

Element = TypeVar("Element")
"""The array type of a framework: `fuelrail.Array` or a tensor."""
NativeColumn: TypeAlias = "_core.Array | list[_core.Array] | list[bytes]"


class BatchContext(NamedTuple):
    """The loader's seed, a batch's epoch, and the positions of the batch's samples. A batch
    transform should derive its random numbers from these values.
    """

    seed: int
    """The loader's seed."""
    epoch: int
    """The number of the epoch, counted from 0."""
    positions: numpy.typing.NDArray[numpy.int64]
    """The position of each sample in the epoch, as in the field `position`. Shape: (batch,)."""


class Framework(Generic[Element]):
    """Converts the columns of a batch to the array type of a framework, such as torch.Tensor."""

    def native_layout(self, layout: str) -> str:
        """Returns the image layout that the core must produce for the user's option `layout`."""
        return layout

    def column(self, array: _core.Array, is_image: bool) -> Element:
        """Converts the array to the framework's array type, without copying the elements."""
        raise NotImplementedError

    def place(self, columns: list[Any]) -> list[Any]:
        """Moves columns to the user's device or to pinned memory. The method of the base class
        returns them unchanged.
        """
        return columns

    def columns(self, columns: Sequence[NativeColumn], is_image: Sequence[bool]) -> list[Any]:
        """Converts a batch's columns with the method `column`. If a column is a list of arrays,
        each array is converted separately. Bytes objects are not converted.
        """
        return [
            self._rows(column, image) if isinstance(column, list) else self.column(column, image)
            for column, image in zip(columns, is_image, strict=True)
        ]

    def _rows(self, rows: Sequence[Any], is_image: bool) -> list[Any]:
        return [row if isinstance(row, bytes) else self.column(row, is_image) for row in rows]


class ArrayFramework(Framework[_core.Array]):
    """Returns each column as a `fuelrail.Array`, without conversion."""

    def column(self, array: _core.Array, is_image: bool) -> _core.Array:
        return array


class Delivery(Generic[Element]):
    """Builds batches: converts and names the columns, moves them to the user's device, and runs the
    user's batch transforms.
    """

    def __init__(
        self,
        framework: Framework[Element],
        fields: object,
        as_dict: object,
        batch_transforms: object,
        image_fields: Sequence[str],
        seed: int,
    ) -> None:
        """image_fields: the names of the dataset's image fields. Errors: InvalidArgumentError,
        ArgumentTypeError.
        """
        self._framework = framework
        named = truth("as_dict", as_dict) or isinstance(fields, Mapping)
        names, self._fields = _named_fields(fields)
        self._names = names if named else None
        self._is_image = [field in image_fields for field in self._fields]
        self._transforms = _batch_transforms(batch_transforms)
        self._seed = seed
        self.transforms_batches = bool(self._transforms)
        self.wants_context = any(wants for _, wants in self._transforms)

    @property
    def native_fields(self) -> list[str]:
        """The names of the columns that the core must return: all fields that the user selected
        with `fields`. "position" is also included if a batch transform has a parameter `context`.
        """
        hidden = self.wants_context and "position" not in self._fields
        return [*self._fields, "position"] if hidden else self._fields

    def place(self, columns: Sequence[NativeColumn]) -> list[Any]:
        """Converts the user's columns to the framework's type, and moves them to the user's device.
        After an error, the call can be repeated with the same columns.
        """
        framework = self._framework
        own = framework.columns(columns[: len(self._fields)], self._is_image)
        return framework.place(own)

    def __call__(self, columns: Sequence[NativeColumn], placed: list[Any], epoch: int) -> Any:
        """Builds a batch from the columns in `placed`, and runs the batch transforms on it. Errors:
        the errors of the batch transforms; ArgumentTypeError if a batch transform returns None.

        columns: the columns that the core returned. Only the column "position" is used.
        placed: the columns that `place(columns)` returned.
        """
        batch: Any = (
            tuple(placed) if self._names is None else dict(zip(self._names, placed, strict=True))
        )
        if not self._transforms:
            return batch
        context = self._context(columns, epoch) if self.wants_context else None
        for number, (transform, wants_context) in enumerate(self._transforms):
            batch = transform(batch, context=context) if wants_context else transform(batch)
            if batch is None:
                raise ArgumentTypeError(
                    f"`batch_transforms[{number}]` returned None",
                    remedy="Return the transformed batch",
                )
        return batch

    def _context(self, columns: Sequence[NativeColumn], epoch: int) -> BatchContext:
        positions = columns[self.native_fields.index("position")]
        assert isinstance(positions, _core.Array)
        return BatchContext(self._seed, epoch, positions.numpy())


def columns_of(fields: object) -> list[str]:
    """Checks the option `fields` and returns the field names. Errors: InvalidArgumentError,
    ArgumentTypeError.
    """
    if isinstance(fields, (str, bytes)) or not isinstance(fields, Sequence):
        raise ArgumentTypeError(
            "`fields` has the wrong type",
            expected='a list of names, as in ["image", "label"]',
            found=typed(fields),
        )
    names = [text(f"`fields[{place}]`", field) for place, field in enumerate(fields)]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InvalidArgumentError(
                f"`fields` has '{name}' twice",
                found=shown(list(fields)),
                remedy="List each field once",
            )
    return names


def check_images(wanted: Sequence[str], schema: Iterable[Field]) -> None:
    """Raises InvalidArgumentError if `wanted` has "image", but the records are raw bytes."""
    known = [field.name for field in schema]
    if "data" in known and "image" in wanted and "image" not in known:
        raise InvalidArgumentError(
            "the dataset has no field 'image', because its records are raw bytes",
            expected="only fields of the dataset (" + ", ".join(known) + ")",
            found=shown(list(wanted)),
            remedy='Pass `fields=["data"]`, or pass a `schema` that reads the bytes as images',
        )


def _named_fields(fields: object) -> tuple[list[str], list[str]]:
    """Returns the names of a batch's columns, and for each column the name of its dataset field."""
    if not isinstance(fields, Mapping):
        names = columns_of(fields)
        return names, names
    own = [text("a name in `fields`", name) for name in fields]
    return own, columns_of(list(fields.values()))


def _batch_transforms(given: object) -> list[tuple[Callable[..., Any], bool]]:
    """Returns a pair for each transform: the function, and whether it has a parameter `context`."""
    if given is None:
        return []
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise ArgumentTypeError(
            "`batch_transforms` has the wrong type",
            expected="a list of functions",
            found=typed(given),
        )
    for number, transform in enumerate(given):
        if not callable(transform):
            raise ArgumentTypeError(
                f"`batch_transforms[{number}]` has the wrong type",
                expected="a function",
                found=typed(transform),
            )
    return [(transform, _wants_context(transform)) for transform in given]


def _wants_context(function: Callable[..., Any]) -> bool:
    try:
        parameter = inspect.signature(function).parameters.get("context")
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return parameter is not None and parameter.kind in named
