"""From the core's columns to the batch that a loader hands out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
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
"""What a framework makes of an Array: itself, a tensor."""
NativeColumn: TypeAlias = "_core.Array | list[_core.Array] | list[bytes]"


class BatchContext(NamedTuple):
    """Which batch a batch transform works on: all that its random numbers should depend on."""

    seed: int
    """The loader's."""
    epoch: int
    positions: numpy.typing.NDArray[numpy.int64]
    """(batch,): each sample's place in the epoch, as the field `position`."""


class Framework(Generic[Element]):
    """How a framework takes columns."""

    def native_layout(self, layout: str) -> str:
        """The layout in which the core is to make images that are asked for in `layout`."""
        return layout

    def column(self, array: _core.Array, is_image: bool) -> Element:
        """The array's memory as the framework's own."""
        raise NotImplementedError

    def place(self, columns: list[Any]) -> list[Any]:
        """A whole batch's columns, where the user wants them."""
        return columns

    def columns(self, columns: Sequence[NativeColumn], is_image: Sequence[bool]) -> list[Any]:
        """`column` of each; of a ragged one, a list."""
        return [
            self._rows(column, image) if isinstance(column, list) else self.column(column, image)
            for column, image in zip(columns, is_image, strict=True)
        ]

    def _rows(self, rows: Sequence[Any], is_image: bool) -> list[Any]:
        return [row if isinstance(row, bytes) else self.column(row, is_image) for row in rows]


class ArrayFramework(Framework[_core.Array]):
    """None: columns stay `fuelrail.Array`."""

    def column(self, array: _core.Array, is_image: bool) -> _core.Array:
        return array


class Delivery(Generic[Element]):
    """Names the columns, moves them, and runs the user's transforms of whole batches."""

    def __init__(
        self,
        framework: Framework[Element],
        fields: object,
        as_dict: object,
        batch_transforms: object,
        image_fields: Sequence[str],
        seed: int,
    ) -> None:
        """image_fields: of the dataset. Errors: InvalidArgumentError, ArgumentTypeError."""
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
        """What the core is to make."""
        hidden = self.wants_context and "position" not in self._fields
        return [*self._fields, "position"] if hidden else self._fields

    def place(self, columns: Sequence[NativeColumn]) -> list[Any]:
        """The batch's columns, where the user wants them. May be asked for again where it failed."""
        framework = self._framework
        own = framework.columns(columns[: len(self._fields)], self._is_image)
        return framework.place(own)

    def __call__(self, columns: Sequence[NativeColumn], placed: list[Any], epoch: int) -> Any:
        """The batch, of what `place` gave. Errors: whatever a batch transform raises."""
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
                    f"`batch_transforms[{number}]` returned None", remedy="Return the batch"
                )
        return batch

    def _context(self, columns: Sequence[NativeColumn], epoch: int) -> BatchContext:
        positions = columns[self.native_fields.index("position")]
        assert isinstance(positions, _core.Array)
        return BatchContext(self._seed, epoch, positions.numpy())


def columns_of(fields: object) -> list[str]:
    """The names in the list `fields`. Errors: InvalidArgumentError, ArgumentTypeError."""
    if isinstance(fields, (str, bytes)) or not isinstance(fields, Sequence):
        raise ArgumentTypeError(
            "`fields` is not a list",
            expected='names, as in ["image", "label"]',
            found=typed(fields),
        )
    names = [text(f"`fields[{place}]`", field) for place, field in enumerate(fields)]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InvalidArgumentError(
                f"`fields` names '{name}' twice", found=shown(list(fields)), remedy="Name it once"
            )
    return names


def check_images(wanted: Sequence[str], schema: Sequence[Field]) -> None:
    """Refuses the images, which are wanted by default, of records that are bytes."""
    known = [field.name for field in schema]
    if "data" in known and "image" in wanted and "image" not in known:
        raise InvalidArgumentError(
            "the records are bytes, not images",
            expected="`fields` of " + ", ".join(known),
            found=shown(list(wanted)),
            remedy='Pass `fields=["data"]`, or the `schema` of fuelrail.open that finds images in the bytes',
        )


def _named_fields(fields: object) -> tuple[list[str], list[str]]:
    """The columns' names in the batch, and the fields that they hold."""
    if not isinstance(fields, Mapping):
        names = columns_of(fields)
        return names, names
    own = [text("a name in `fields`", name) for name in fields]
    return own, columns_of(list(fields.values()))


def _batch_transforms(given: object) -> list[tuple[Callable[..., Any], bool]]:
    """Each with whether it wants the context."""
    if given is None:
        return []
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise ArgumentTypeError(
            "`batch_transforms` is not a list", expected="callables", found=typed(given)
        )
    for number, transform in enumerate(given):
        if not callable(transform):
            raise ArgumentTypeError(
                f"`batch_transforms[{number}]` cannot be called", found=typed(transform)
            )
    return [(transform, _wants_context(transform)) for transform in given]


def _wants_context(function: Callable[..., Any]) -> bool:
    try:
        parameter = inspect.signature(function).parameters.get("context")
    except (TypeError, ValueError):  # built-in functions may have none
        return False
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return parameter is not None and parameter.kind in named
