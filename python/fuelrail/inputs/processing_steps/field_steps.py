"""Steps on fields of any content: padding, layouts, removal and sizes."""

from __future__ import annotations

from collections.abc import Sequence

from fuelrail.inputs.dali import dali
from fuelrail.inputs.data_type import DataType, NamedType, data_type
from fuelrail.inputs.errors import InputArgumentError
from fuelrail.inputs.field_tree import Name
from fuelrail.inputs.in_graph import pad
from fuelrail.inputs.processing_steps.fields_of_steps import (
    Names,
    add_field,
    cast,
    height_width,
    kind_of,
    names_in,
    occurrences,
)
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import typed

__all__ = ["AxesLayoutSetter", "PaddingToUniform", "TensorSizeAdder", "UnneededFieldRemover"]


class PaddingToUniform(PipelineStepBase):
    """Pads fields at their ends, so that the samples of a batch have one shape."""

    def __init__(self, field_names: Names = None, fill_value: float = 0.0) -> None:
        """field_names: a name, or a list of names. A group stands for all its fields. Default: all
            fields.

        fill_value: the value of the padding. Default: 0. Texts are padded with NULs, always.
        """
        self._names = None if field_names is None else names_in("field_names", field_names)
        self._fill = fill_value

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        if self._names is None:
            data.ensure_uniform_size_in_batch(self._fill)
        for name in self._names or ():
            for path in data.find_all_occurrences(name):
                value = data.get_item_in_path(path)
                if data.path_exists_and_is_data_group_field(path):
                    value.ensure_uniform_size_in_batch(self._fill)
                else:
                    is_text = kind_of(data, path) is DataType.STRING
                    data.set_item_in_path(path, pad(value, 0 if is_text else self._fill))
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for name in self._names or ():
            occurrences(data_empty, name, f"No fields to be padded with name '{name}' were found")
        return data_empty


class AxesLayoutSetter(PipelineStepBase):
    """Sets the names of the axes, such as "HWC", which some DALI operators need. Values stay."""

    def __init__(self, names_fields_to_set: Name | Sequence[Name], layout_to_set: str) -> None:
        """names_fields_to_set: a name, or a list of names; all fields of these names.

        layout_to_set: a letter for each axis.
        """
        self._names = names_in("names_fields_to_set", names_fields_to_set)
        self._layout = layout_to_set

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for name in self._names:
            for path in data.find_all_occurrences(name):
                node = dali("fn").reshape(data.get_item_in_path(path), layout=self._layout)
                data.set_item_in_path(path, node)
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for name in self._names:
            for path in occurrences(data_empty, name, f"No occurrences of field '{name}' found"):
                kind_of(data_empty, path)
        return data_empty


class UnneededFieldRemover(PipelineStepBase):
    """Removes all fields and groups of given names. This costs nothing when the pipeline runs: DALI
    does not compute what is not used.
    """

    def __init__(self, unneeded_field_names: Sequence[Name]) -> None:
        """unneeded_field_names: a list or tuple of names. Names without a field are ignored.

        Errors: InputArgumentError, an AssertionError, for anything but a list or tuple.
        """
        if not isinstance(unneeded_field_names, (list, tuple)):
            raise InputArgumentError(
                "`unneeded_field_names` has the wrong type",
                expected="a list or tuple of names",
                found=typed(unneeded_field_names),
            )
        self._names = names_in("unneeded_field_names", unneeded_field_names)

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for name in self._names:
            data.remove_all_occurrences(name)
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        return self._process(data_empty)


class TensorSizeAdder(PipelineStepBase):
    """Adds the height and width of images (HWC) in a field beside them."""

    def __init__(
        self, tensor_name: Name, size_postfix: str, store_size_as_type: NamedType = DataType.INT32
    ) -> None:
        """tensor_name: the name of the images.

        size_postfix: the new field is named by the image's name and this.
        store_size_as_type: the type of the new field, whose shape is (2,). Default: INT32.
        """
        self._name = tensor_name
        self._size_name = f"{tensor_name}{size_postfix}"
        self._kind = data_type(store_size_as_type)

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for path in data.find_all_occurrences(self._name):
            parent = data.get_parent_of_path(path)
            add_field(parent, self._size_name, self._kind, self)
            parent[self._size_name] = cast(height_width(parent[self._name]), self._kind)
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        text = f"No occurrences of tensors found with the name '{self._name}'"
        for path in occurrences(data_empty, self._name, text):
            kind_of(data_empty, path)
            add_field(data_empty.get_parent_of_path(path), self._size_name, self._kind, self)
        return data_empty
