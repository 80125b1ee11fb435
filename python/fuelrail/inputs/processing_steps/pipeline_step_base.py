"""The base class of processing steps."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fuelrail.inputs.errors import InputArgumentError
from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["PipelineStepBase"]


class PipelineStepBase(ABC):
    """A step of a PipelineDefinition. It is called once, when the DALI graph is built.

    Derived classes define `_process` and `_check_and_adjust_data_format_input_to_output`.

    A step treats all fields with its name alike, with the same random numbers. To treat parts of a
    sample independently, such as each camera, wrap the step in one that applies it to selected
    groups (GroupToApplyToSelectedStepBase).
    """

    def __call__(self, data: SampleDataGroup) -> SampleDataGroup:
        """Returns the sample after this step. `data` may be changed.

        data: the sample, with nodes of the graph as values.

        Errors: as of the format check; InputArgumentError, an AssertionError, if the result does
        not have the format that the format check has promised.
        """
        promised = self.check_input_data_format_and_set_output_data_format(data)
        result = self._process(data)
        if not promised.type_matches(result):
            raise InputArgumentError(
                f"{type(self).__name__} gives other fields than its format check says",
                expected=_in_a_line(promised),
                found=_in_a_line(result),
            )
        return result

    def check_input_data_format_and_set_output_data_format(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        """Returns the format after this step, without values. `data_empty` is not changed. Errors:
        FieldError, a KeyError and a ValueError, for a format that the step cannot work on.
        """
        return self._check_and_adjust_data_format_input_to_output(data_empty.get_empty_like_self())

    @abstractmethod
    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        """Returns the sample after this step. May change `data`."""

    @abstractmethod
    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        """Checks the format, and returns the format after this step. May change `data_empty`."""


def _in_a_line(group: SampleDataGroup) -> str:
    return " ".join(group.get_string_no_details().split())
