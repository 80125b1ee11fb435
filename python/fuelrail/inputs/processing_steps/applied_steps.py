"""Steps that apply another step to selected groups."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from fuelrail.inputs.errors import FieldError, InputArgumentError
from fuelrail.inputs.field_tree import Name, Path, flat_name, names_of
from fuelrail.inputs.processing_steps.fields_of_steps import names_in, occurrences
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import typed

__all__ = [
    "DataGroupArrayInPathElementsAppliedStep",
    "DataGroupArrayWithNameElementsAppliedStep",
    "DataGroupInPathAppliedStep",
    "DataGroupsWithNameAppliedStep",
    "GroupToApplyToSelectedStepBase",
]


class GroupToApplyToSelectedStepBase(PipelineStepBase):
    """Applies a step to groups of the sample, to each independently, as if it were the sample.

    A derived class defines `_check_and_get_paths_to_apply_to`, and calls this constructor.
    """

    def __init__(self, processing_step_to_apply: PipelineStepBase) -> None:
        """Only stores the step."""
        self._step = processing_step_to_apply

    @abstractmethod
    def _check_and_get_paths_to_apply_to(self, data: SampleDataGroup) -> Sequence[Sequence[Name]]:
        """Returns the paths of the groups. Errors: FieldError if there is no such
        field, or if it is not a group.
        """

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for path in self._check_and_get_paths_to_apply_to(data):
            result = self._step(data.get_item_in_path(path))
            data.change_type_of_data_and_remove_data(path, result)
            data.set_item_in_path(path, result)
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for path in self._check_and_get_paths_to_apply_to(data_empty):
            group = data_empty.get_item_in_path(path)
            group = self._step.check_input_data_format_and_set_output_data_format(group)
            data_empty.change_type_of_data_and_remove_data(path, group)
        return data_empty


class DataGroupInPathAppliedStep(GroupToApplyToSelectedStepBase):
    """Applies a step to the group at a path."""

    def __init__(self, processing_step_to_apply: PipelineStepBase, path_to_apply_to: Path) -> None:
        """path_to_apply_to: a name, or a list or tuple of names.

        Errors: InputArgumentError, an AssertionError, for another path, or an empty one.
        """
        super().__init__(processing_step_to_apply)
        self._path = tuple(names_of(path_to_apply_to))
        if not self._path:
            raise InputArgumentError("the path of the group is empty", expected="a name")

    def _check_and_get_paths_to_apply_to(self, data: SampleDataGroup) -> Sequence[Sequence[Name]]:
        if not data.path_exists_and_is_data_group_field(self._path):
            raise FieldError(
                f"{type(self).__name__} finds no group at '{flat_name(self._path)}'",
                found=" ".join(data.get_string_no_details().split()),
            )
        return (self._path,)


class DataGroupArrayInPathElementsAppliedStep(DataGroupInPathAppliedStep):
    """Applies a step to each group of the array at a path."""

    def __init__(
        self, processing_step_to_apply: PipelineStepBase, path_to_array_to_apply_to: Path
    ) -> None:
        """path_to_array_to_apply_to: a name, or a list or tuple of names.

        Errors: InputArgumentError, an AssertionError, for another path, or an empty one.
        """
        super().__init__(processing_step_to_apply, path_to_array_to_apply_to)

    def _check_and_get_paths_to_apply_to(self, data: SampleDataGroup) -> Sequence[Sequence[Name]]:
        return _elements(data, super()._check_and_get_paths_to_apply_to(data))


class DataGroupsWithNameAppliedStep(GroupToApplyToSelectedStepBase):
    """Applies a step to all groups with a name, wherever they are in the sample."""

    def __init__(
        self,
        processing_step_to_apply: PipelineStepBase,
        names_of_groups_to_apply_to: Name | Sequence[Name],
        check_minimum_one_name_match: bool = True,
    ) -> None:
        """names_of_groups_to_apply_to: a name, or a list of names.

        check_minimum_one_name_match: whether a name without a group is an error. Default: True.

        Errors: InputArgumentError, an AssertionError, for names of the wrong type.
        """
        super().__init__(processing_step_to_apply)
        self._names = names_in("names_of_groups_to_apply_to", names_of_groups_to_apply_to)
        self._needs_one = check_minimum_one_name_match

    def _check_and_get_paths_to_apply_to(self, data: SampleDataGroup) -> Sequence[Sequence[Name]]:
        paths: list[tuple[Name, ...]] = []
        for name in self._names:
            if self._needs_one:
                occurrences(data, name, f"No fields with name `{name}` found")
            paths += data.find_all_occurrences(name)
        for path in paths:
            if not data.path_exists_and_is_data_group_field(path):
                raise FieldError(f"the field '{flat_name(path)}' is not a data group field")
        return paths


class DataGroupArrayWithNameElementsAppliedStep(DataGroupsWithNameAppliedStep):
    """Applies a step to each group of all arrays with a name, wherever they are in the sample."""

    def __init__(
        self,
        processing_step_to_apply: PipelineStepBase,
        name_of_arrays_to_apply_to: Name,
        check_minimum_one_name_match: bool = True,
    ) -> None:
        """check_minimum_one_name_match: whether it is an error if there is no array of this name.
        Default: True.

        Errors: InputArgumentError, an AssertionError, for a name of the wrong type.
        """
        if not isinstance(name_of_arrays_to_apply_to, (str, int)):
            raise InputArgumentError(
                "`name_of_arrays_to_apply_to` has the wrong type",
                expected="a str or an int",
                found=typed(name_of_arrays_to_apply_to),
            )
        super().__init__(
            processing_step_to_apply, name_of_arrays_to_apply_to, check_minimum_one_name_match
        )

    def _check_and_get_paths_to_apply_to(self, data: SampleDataGroup) -> Sequence[Sequence[Name]]:
        return _elements(data, super()._check_and_get_paths_to_apply_to(data))


def _elements(data: SampleDataGroup, arrays: Sequence[Sequence[Name]]) -> list[tuple[Name, ...]]:
    paths: list[tuple[Name, ...]] = []
    for array in arrays:
        group: SampleDataGroup = data.get_item_in_path(array)
        if not group.is_data_group_field_array():
            raise FieldError(f"the field '{flat_name(array)}' is not a data group field array")
        paths += [(*array, name) for name in group]
    return paths
