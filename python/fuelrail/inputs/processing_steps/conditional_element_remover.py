"""The removal of elements, such as objects, by a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuelrail.inputs.errors import InputArgumentError
from fuelrail.inputs.field_tree import Name
from fuelrail.inputs.processing_steps.fields_of_steps import (
    computed,
    groups_named,
    kind_in_annotation,
    names_in,
)
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import whole

__all__ = ["ConditionalElementRemover", "kept"]

Array = numpy.ndarray[Any, Any]


def kept(values: Array, mask: Array, *, axis: int, dimensions: int, name: str) -> Array:
    """Returns the values where the mask is True along an axis. Errors: ValueError if the shapes do
    not match.
    """
    mask = mask.ravel()
    if values.ndim != dimensions or values.shape[axis] != len(mask):
        raise ValueError(
            f"'{name}' has the shape {list(values.shape)}, but should have {dimensions} dimensions, "
            f"and {len(mask)} elements in dimension {axis}, as its mask has"
        )
    return numpy.compress(mask, values, axis)


class ConditionalElementRemover(PipelineStepBase):
    """Keeps the elements of fields, such as the objects of an annotation, where a mask is True."""

    def __init__(
        self,
        annotation_field_name: Name,
        mask_field_name: Name,
        field_names_to_process: Sequence[Name],
        field_dims_to_process: Sequence[int],
        fields_to_process_num_dims: Sequence[int],
        remove_mask_field: bool,
    ) -> None:
        """annotation_field_name: the name of the groups, each of which is treated by itself.

        mask_field_name: the mask, a BOOL field of shape (N,) in each group.
        field_names_to_process: the names of fields in each group.
        field_dims_to_process: for each field, the axis along which its N elements are.
        fields_to_process_num_dims: for each field, its number of axes.
        remove_mask_field: whether the mask is removed. If not, it stays as it was.

        Errors: InputArgumentError, an AssertionError, for lists of unequal lengths, and for an axis
        that a field does not have.
        """
        self._annotation_name = annotation_field_name
        self._mask_name = mask_field_name
        self._names = names_in("field_names_to_process", field_names_to_process)
        axes = [whole("field_dims_to_process", axis) for axis in field_dims_to_process]
        dimension_counts = [
            whole("fields_to_process_num_dims", number) for number in fields_to_process_num_dims
        ]
        self._removes_mask = remove_mask_field
        if not len(self._names) == len(axes) == len(dimension_counts):
            raise InputArgumentError(
                "the lists of ConditionalElementRemover do not match",
                expected="an axis and a number of axes for each field",
                found=f"{len(self._names)}, {len(axes)} and {len(dimension_counts)} items",
            )
        self._fields = list(zip(self._names, axes, dimension_counts, strict=True))
        for name, axis, dimensions in self._fields:
            if axis >= dimensions:
                raise InputArgumentError(
                    f"`field_dims_to_process` is out of range for '{name}'",
                    expected=f"below {dimensions}",
                    found=str(axis),
                )

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for path in data.find_all_occurrences(self._annotation_name):
            group: SampleDataGroup = data.get_item_in_path(path)
            mask = group[self._mask_name]
            for name, axis, dimensions in self._fields:
                group[name] = computed(
                    kept, group[name], mask, axis=axis, dimensions=dimensions, name=str(name)
                )
            if self._removes_mask:
                group.remove_field(self._mask_name)
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for group in groups_named(data_empty, self._annotation_name):
            for child in (*self._names, self._mask_name):
                kind_in_annotation(group, child, self._annotation_name)
            if self._removes_mask:
                group.remove_field(self._mask_name)
        return data_empty
