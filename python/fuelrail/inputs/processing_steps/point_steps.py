"""Steps on points: clipping to a box, and which points are inside a box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import FieldError, InputArgumentError
from fuelrail.inputs.field_tree import Name, flat_name
from fuelrail.inputs.processing_steps.fields_of_steps import (
    add_field,
    computed,
    kind_of,
    occurrences,
    reals,
)
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import shown

__all__ = ["CoordinateCropper", "PointsInRangeCheck", "are_inside", "clipped"]

Array = numpy.ndarray[Any, Any]


def clipped(points: Array, minimum: Array, maximum: Array) -> Array:
    """Returns the points with each coordinate clipped, in the dtype of the points.

    points: shape (..., D). minimum, maximum: shape (D,), in the dtype of the points.
    """
    _check_columns(points, minimum)
    return numpy.minimum(numpy.maximum(points, minimum), maximum)


def are_inside(points: Array, minimum: Array, maximum: Array) -> Array:
    """Returns which points are inside a box or on its border. Shape: that of the points without the
    last axis. NaN is outside.
    """
    _check_columns(points, minimum)
    return numpy.asarray(((points >= minimum) & (points <= maximum)).all(-1))


class _BoxStep(PipelineStepBase):
    def __init__(
        self,
        points_fields_name: Name,
        minimum_point: Sequence[float],
        maximum_point: Sequence[float],
    ) -> None:
        self._name = points_fields_name
        self._minimum = _corner("minimum_point", minimum_point)
        self._maximum = _corner("maximum_point", maximum_point)
        if self._minimum.shape != self._maximum.shape or (self._minimum > self._maximum).any():
            raise InputArgumentError(
                "the corners of the box do not match",
                expected="a minimum_point that is below the maximum_point in each dimension",
                found=f"{shown(minimum_point)} and {shown(maximum_point)}",
            )


class CoordinateCropper(_BoxStep):
    """Clips the coordinates of points to a box. The number of points stays."""

    def __init__(
        self,
        points_fields_name: Name,
        minimum_point: Sequence[float],
        maximum_point: Sequence[float],
    ) -> None:
        """points_fields_name: the name of the fields, of shape (N, D).

        minimum_point, maximum_point: the corners: D numbers. For boxes, D is 4.

        Errors: InputArgumentError for corners that do not match.
        """
        super().__init__(points_fields_name, minimum_point, maximum_point)

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for path in data.find_all_occurrences(self._name):
            dtype = kind_of(data, path).dtype
            low, high = self._minimum, self._maximum
            if dtype.kind != "f":  # the integers inside the box
                low, high = (numpy.clip(low, *_limits(dtype)), numpy.clip(high, *_limits(dtype)))
                low, high = numpy.ceil(low), numpy.floor(high)
            node = computed(
                clipped,
                data.get_item_in_path(path),
                minimum=low.astype(dtype),
                maximum=high.astype(dtype),
            )
            data.set_item_in_path(path, node)
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        text = f"No fields containing points to crop found with the name '{self._name}'"
        for path in occurrences(data_empty, self._name, text):
            _check_numbers(data_empty, path)
        return data_empty


class PointsInRangeCheck(_BoxStep):
    """Adds a BOOL field of shape (N,) beside points: which of them are inside a box."""

    def __init__(
        self,
        points_fields_name: Name,
        is_inside_field_name: Name,
        minimum_point: Sequence[float],
        maximum_point: Sequence[float],
    ) -> None:
        """points_fields_name: the name of the fields, of shape (N, D).

        is_inside_field_name: the name of the new fields.
        minimum_point, maximum_point: the corners: D numbers. Points on the border are inside.

        Errors: InputArgumentError for corners that do not match.
        """
        super().__init__(points_fields_name, minimum_point, maximum_point)
        self._inside_name = is_inside_field_name

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for path in data.find_all_occurrences(self._name):
            parent = data.get_parent_of_path(path)
            dtype = kind_of(data, path).dtype
            kept = dtype if dtype.kind == "f" else self._minimum.dtype
            add_field(parent, self._inside_name, DataType.BOOL, self)
            parent[self._inside_name] = computed(
                are_inside,
                parent[self._name],
                minimum=self._minimum.astype(kept),
                maximum=self._maximum.astype(kept),
            )
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        text = f"No fields containing points to check found with the name '{self._name}'"
        for path in occurrences(data_empty, self._name, text):
            _check_numbers(data_empty, path)
            parent = data_empty.get_parent_of_path(path)
            add_field(parent, self._inside_name, DataType.BOOL, self)
        return data_empty


def _corner(argument: str, point: Sequence[float]) -> Array:
    return numpy.array(reals(argument, point))


def _limits(dtype: numpy.dtype[Any]) -> tuple[int, int]:
    if dtype.kind == "b":
        return 0, 1
    info = numpy.iinfo(dtype)
    return int(info.min), int(info.max)


def _check_numbers(fields: SampleDataGroup, path: tuple[Name, ...]) -> None:
    kind = kind_of(fields, path)
    if kind is DataType.STRING:
        raise FieldError(f"'{flat_name(path)}' has the wrong type", expected="numbers")


def _check_columns(points: Array, corner: Array) -> None:
    if points.ndim == 0 or points.shape[-1] != len(corner):
        raise ValueError(
            f"the points have the shape {list(points.shape)}, but the box has {len(corner)} "
            "dimensions"
        )
