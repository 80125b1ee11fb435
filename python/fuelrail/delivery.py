"""Builds a loader's batches from the columns that the C++ core returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.nested import Nesting, path_of
from fuelrail.options import shown, text, truth, typed

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    from fuelrail.dataset import Field

__all__ = [
    "ArrayFramework",
    "BatchContext",
    "Delivery",
    "Framework",
    "check_images",
    "image_groups",
]

Element = TypeVar("Element")
"""The array type of a framework: `fuelrail.Array` or a tensor."""
NativeColumn: TypeAlias = "_core.Array | list[Any]"
"""A list has one item for each row: an Array, bytes, str, or a list of these."""


_POSITION = "loader:position"
"""The samples' positions, also of a dataset with a field `position`."""


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

    def set_native_layouts(
        self, values: dict[str, Any], patterns: dict[str, list[tuple[str, Any]]]
    ) -> None:
        """Replaces the values of `layout` with those of `native_layout`. The parameters are those
        that the core's loader takes.
        """
        values["layout"] = self.native_layout(values["layout"])
        patterns["layout"] = [
            (pattern, self.native_layout(layout)) for pattern, layout in patterns["layout"]
        ]

    def column(self, array: _core.Array, is_image: bool) -> Element:
        """Converts the array to the framework's array type, without copying the elements."""
        raise NotImplementedError

    def place(self, columns: list[Any]) -> list[Any]:
        """Moves columns to the user's device or to pinned memory. The method of the base class
        returns them unchanged.
        """
        return columns

    def columns(self, columns: Sequence[NativeColumn], is_image: Sequence[bool]) -> list[Any]:
        """Converts a batch's columns with the method `column`. If a column is a list, or a list of
        lists, each array in it is converted separately. Bytes objects and strings are not
        converted.
        """
        return [
            self._converted(column, image) for column, image in zip(columns, is_image, strict=True)
        ]

    def _converted(self, value: Any, is_image: bool) -> Any:
        if isinstance(value, _core.Array):
            return self.column(value, is_image)
        if isinstance(value, list):
            return [self._converted(item, is_image) for item in value]
        return value


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
        flat: object,
        batch_transforms: object,
        schema: Iterable[Field],
        seed: int,
    ) -> None:
        """schema: the dataset's fields. Errors: InvalidArgumentError, ArgumentTypeError."""
        self._framework = framework
        self._renames = isinstance(fields, Mapping)
        self._named = truth("as_dict", as_dict) or self._renames
        self._flat = truth("flat", flat)
        self._own_names, self._fields = _named_fields(fields)
        self._names = {field.name for field in schema}
        self._is_image: list[bool] = []
        self._build: Callable[[list[Any]], Any] = tuple
        self._transforms = _batch_transforms(batch_transforms)
        self._seed = seed
        self.transforms_batches = bool(self._transforms)
        self.wants_context = any(wants for _, wants in self._transforms)

    @property
    def native_fields(self) -> list[str]:
        """The fields that the core must return: all that the user selected with `fields`, and the
        samples' positions if a batch transform has a parameter `context`.
        """
        return [*self._fields, _POSITION] if self._hides_position else self._fields

    @property
    def _hides_position(self) -> bool:
        return self.wants_context and _POSITION not in self._fields

    def expect(self, columns: Sequence[tuple[str, bool]]) -> None:
        """Decides the form of the batches. Must be called before the first batch. Errors:
        InvalidArgumentError if a name in the dict `fields` stands for several columns, also because
        joined columns bring their lengths or offsets.

        columns: the columns that the core returns for `native_fields`, as
            `_core.Loader.column_names` lists them.
        """
        shown_columns = columns[:-1] if self._hides_position else columns
        self._is_image = [is_image for _, is_image in shown_columns]
        self._position = [name for name, _ in columns].index(_POSITION) if self.wants_context else 0
        names = [name for name, _ in shown_columns]
        nested = any("." in name for name in self._names)
        if self._renames:
            names = self._renamed(names)
        elif nested and not self._flat:
            self._build = Nesting(path_of(name, self._names) for name in names)
            return
        if self._named or nested:
            self._build = lambda placed: dict(zip(names, placed, strict=True))

    def _renamed(self, columns: Sequence[str]) -> list[str]:
        for own, field in zip(self._own_names, self._fields, strict=True):
            if field not in columns:
                raise InvalidArgumentError(
                    f"`fields` has one name, '{own}', for several fields",
                    found=shown(field),
                    remedy="Give each name one field, or pass `fields` as a list",
                )
        own_names = dict(zip(self._fields, self._own_names, strict=True))
        names = []
        for column in columns:
            field = column if column in own_names else column.rpartition(".")[0]
            name = own_names[field] + column[len(field) :]
            if name in names:
                raise InvalidArgumentError(
                    f"`fields` gives two columns the name '{name}'",
                    remedy="Give each column a name of its own",
                )
            names.append(name)
        return names

    def place(self, columns: Sequence[NativeColumn]) -> list[Any]:
        """Converts the user's columns to the framework's type, and moves them to the user's device.
        After an error, the call can be repeated with the same columns.
        """
        framework = self._framework
        own = framework.columns(columns[: len(self._is_image)], self._is_image)
        return framework.place(own)

    def __call__(self, columns: Sequence[NativeColumn], placed: list[Any], epoch: int) -> Any:
        """Builds a batch from the columns in `placed`, and runs the batch transforms on it. Errors:
        the errors of the batch transforms; ArgumentTypeError if a batch transform returns None.

        columns: the columns that the core returned. Only the positions are used.
        placed: the columns that `place(columns)` returned.
        """
        batch = self._build(placed)
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
        positions = columns[self._position]
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


def default_fields(schema: Sequence[Field]) -> list[str]:
    """Returns the default of the option `fields`: image and label, or all fields of a dataset
    without these two. Records that are raw bytes have no default, because they may be images
    (`check_images`).
    """
    names = [field.name for field in schema]
    known = _are_bytes(schema) or {"image", "label"} <= {*names}
    return ["image", "label"] if known else names


def image_groups(shared: object) -> list[list[str]]:
    """Checks the types of the option `shared`. Errors: ArgumentTypeError, InvalidArgumentError."""
    if shared is None:
        return []
    if isinstance(shared, (str, bytes)) or not isinstance(shared, Sequence):
        raise _not_groups("`shared`", shared)
    groups = []
    for place, group in enumerate(shared):
        if isinstance(group, (str, bytes)) or not isinstance(group, Sequence):
            raise _not_groups(f"`shared[{place}]`", group)
        groups.append([text(f"`shared[{place}][{at}]`", name) for at, name in enumerate(group)])
    return groups


def _not_groups(name: str, found: object) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{name} has the wrong type",
        expected='groups of names, as in [("left", "right")]',
        found=typed(found),
    )


def check_images(wanted: Sequence[str], schema: Sequence[Field]) -> None:
    """Raises InvalidArgumentError if `wanted` has "image", but the records are raw bytes."""
    if _are_bytes(schema) and "image" in wanted:
        raise InvalidArgumentError(
            "the dataset has no field 'image', because its records are raw bytes",
            expected="only the field 'data'",
            found=shown(list(wanted)),
            remedy='Pass `fields=["data"]`, or pass a `schema` that reads the bytes as images',
        )


def _are_bytes(schema: Sequence[Field]) -> bool:
    """Returns whether the records have no fields of their own, as container/payload.h describes."""
    return [field[:2] for field in schema] == [("data", "bytes")]


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
