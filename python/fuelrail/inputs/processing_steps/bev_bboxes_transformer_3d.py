"""Random rotation, scaling and translation of 3D boxes, seen from above, and of their geometry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from fuelrail.inputs.dali import dali
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import FieldError, InputArgumentError
from fuelrail.inputs.processing_steps.fields_of_steps import (
    Names,
    computed,
    names_in,
    occurrences,
)
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import real, shown, whole

__all__ = ["BEVBBoxesTransformer3D"]

Array = numpy.ndarray[Any, Any]


class BEVBBoxesTransformer3D(PipelineStepBase):
    """Rotates, scales and moves (in this order) the 3D boxes of a sample at random, and changes the
    geometry of the sensors so that all still fit together.

    With A for the transformation as a matrix of shape (4, 4): points p become A p, velocities and
    sizes are changed without the translation, sizes also without the rotation; orientations turn
    with it; projection matrices and extrinsics P become P A^-1, as does ego to world; world to ego
    W becomes A W. The types of the fields stay.
    """

    def __init__(
        self,
        data_field_names_points: Names,
        data_field_names_velocities: Names,
        data_field_names_sizes: Names,
        data_field_names_orientation: Names,
        data_field_names_proj_matrices_and_extrinsics: Names,
        data_field_names_ego_to_world: Names,
        data_field_names_world_to_ego: Names,
        rotation_range: tuple[float, float] | None,
        rotation_axis: int | None,
        scaling_range: tuple[float, float] | None,
        translation_max_abs: tuple[float, float, float] | None,
    ) -> None:
        """All names are a name, a list of names, or None for no fields. All types are FLOAT or
        FLOAT64.

        data_field_names_points: the centers of the boxes: x, y, z, of shape (N, 3).
        data_field_names_velocities: of shape (N, 3).
        data_field_names_sizes: along x, y and z, of shape (N, 3).
        data_field_names_orientation: angles in radians, of any shape; after a rotation from -pi to
            pi.
        data_field_names_proj_matrices_and_extrinsics: matrices of 4 columns that map boxes to a
            sensor or an image. Not intrinsics.
        data_field_names_ego_to_world, data_field_names_world_to_ego: matrices of shape (4, 4).
        rotation_range: the smallest and largest angle in radians. None: no rotation.
        rotation_axis: 0 for x, 1 for y, 2 for z; needed for a rotation.
        scaling_range: the smallest and largest factor. None: no scaling.
        translation_max_abs: the largest shift in x, y and z, to both sides. None: no translation.

        Errors: InputArgumentError, an AssertionError, for ranges of another length, a rotation
        without an axis, and no names at all.
        """
        self._fields: dict[Callable[..., Array], tuple[str, ...]] = {
            moved_points: _texts("points", data_field_names_points),
            moved_velocities: _texts("velocities", data_field_names_velocities),
            moved_sizes: _texts("sizes", data_field_names_sizes),
            turned: _texts("orientation", data_field_names_orientation),
            from_right: (
                *_texts(
                    "proj_matrices_and_extrinsics", data_field_names_proj_matrices_and_extrinsics
                ),
                *_texts("ego_to_world", data_field_names_ego_to_world),
            ),
            from_left: _texts("world_to_ego", data_field_names_world_to_ego),
        }
        if not any(self._fields.values()):
            raise InputArgumentError(
                "BEVBBoxesTransformer3D has no fields", expected="a name of at least one kind"
            )
        if rotation_range is not None and rotation_axis is None:
            raise InputArgumentError("`rotation_range` needs `rotation_axis`")
        self._axis = 2 if rotation_axis is None else whole("rotation_axis", rotation_axis)
        if self._axis > 2:
            raise InputArgumentError(
                "`rotation_axis` is out of range", expected="0, 1 or 2", found=str(rotation_axis)
            )
        most = _numbers("translation_max_abs", translation_max_abs, 3)
        self._ranges = [
            _numbers("rotation_range", rotation_range, 2),
            _numbers("scaling_range", scaling_range, 2),
            *([[-number, number] for number in most] if most else [None] * 3),
        ]

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        if not any(self._ranges):
            return data
        uniform = dali("fn").random.uniform
        drawn = [uniform(range=limits) for limits in self._ranges if limits]
        movement = computed(
            movement_of,
            *drawn,
            given=[bool(limits) for limits in self._ranges],
            axis=self._axis,
        )
        for change, names in self._fields.items():
            for name in names:
                for path in data.find_all_occurrences(name):
                    node = computed(change, data.get_item_in_path(path), movement)
                    data.set_item_in_path(path, node)
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for names in self._fields.values():
            for name in names:
                for path in occurrences(data_empty, name, f"No fields found with name '{name}'"):
                    kind = data_empty.get_parent_of_path(path).get_type_of_field(name)
                    if kind not in (DataType.FLOAT, DataType.FLOAT64):
                        raise FieldError(
                            f"'{name}' cannot be moved",
                            expected="a data field of FLOAT or FLOAT64",
                            found=getattr(kind, "name", "a data group field"),
                        )
        return data_empty


def movement_of(*drawn: Array, given: list[bool], axis: int) -> Array:
    """Returns the angle, the axis, the factor, and the shift in x, y and z, as one array.

    drawn: the numbers that are `given`, of: angle, factor, and three shifts.
    """
    numbers = iter(drawn)
    angle, factor, *shift = (
        float(next(numbers)) if is_given else neutral
        for is_given, neutral in zip(given, (0.0, 1.0, 0.0, 0.0, 0.0), strict=True)
    )
    return numpy.array([angle, axis, factor, *shift])


def rotation_of(movement: Array) -> Array:
    """Returns the rotation, of shape (3, 3): counter-clockwise as one looks against the axis."""
    axis = int(movement[1])
    first, second = (axis + 1) % 3, (axis + 2) % 3
    cos, sin = numpy.cos(movement[0]), numpy.sin(movement[0])
    matrix = numpy.eye(3)
    matrix[[first, first, second, second], [first, second, first, second]] = cos, -sin, sin, cos
    return matrix


def matrix_of(movement: Array) -> Array:
    """Returns the whole movement as a matrix of shape (4, 4)."""
    matrix = numpy.eye(4)
    matrix[:3, :3] = rotation_of(movement) * movement[2]
    matrix[:3, 3] = movement[3:]
    return matrix


def moved_points(points: Array, movement: Array) -> Array:
    linear = rotation_of(movement) * movement[2]
    return numpy.asarray(points @ linear.T + movement[3:], points.dtype)


def moved_velocities(velocities: Array, movement: Array) -> Array:
    linear = rotation_of(movement) * movement[2]
    return numpy.asarray(velocities @ linear.T, velocities.dtype)


def moved_sizes(sizes: Array, movement: Array) -> Array:
    return numpy.asarray(sizes * movement[2], sizes.dtype)


def turned(angles: Array, movement: Array) -> Array:
    """Returns the angles after the rotation, brought to the range from -pi to pi if they leave it."""
    if movement[0] == 0:
        return angles.copy()
    result = angles + movement[0]
    turns = numpy.ceil((numpy.abs(result) - numpy.pi) / (2 * numpy.pi))
    result = result - numpy.sign(result) * 2 * numpy.pi * numpy.maximum(turns, 0)
    return numpy.asarray(result, angles.dtype)


def from_right(matrix: Array, movement: Array) -> Array:
    return numpy.asarray(matrix @ numpy.linalg.inv(matrix_of(movement)), matrix.dtype)


def from_left(matrix: Array, movement: Array) -> Array:
    return numpy.asarray(matrix_of(movement) @ matrix, matrix.dtype)


def _texts(kind: str, names: Names) -> tuple[Any, ...]:
    return names_in(f"data_field_names_{kind}", names)


def _numbers(argument: str, values: Sequence[float] | None, count: int) -> list[float] | None:
    """Returns `count` numbers, or None. Errors: InputArgumentError for another number of them, and
    for a range with the larger number first.
    """
    if values is None:
        return None
    numbers = [real(argument, value) for value in values]
    if len(numbers) != count or (count == 2 and numbers[0] > numbers[1]):
        raise InputArgumentError(
            f"`{argument}` is invalid",
            expected=f"{count} numbers" + ", the smaller one first" * (count == 2),
            found=shown(values),
        )
    return numbers
