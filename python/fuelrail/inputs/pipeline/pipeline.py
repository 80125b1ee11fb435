"""The definition of a DALI pipeline: a source, processing steps, and the structure of its samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fuelrail.errors import ArgumentTypeError, Error, InvalidArgumentError, warn_user
from fuelrail.inputs.dali import dali
from fuelrail.inputs.pipeline.checked_source import checked_source
from fuelrail.inputs.pipeline.output_copies import (
    Name,
    Path,
    PathOrName,
    check_is_list,
    fields_to_copy,
)
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import typed

__all__ = ["PipelineDefinition"]

_FORMAT_CHECK = "check_input_data_format_and_set_output_data_format"


class PipelineDefinition:
    """A source and the processing steps that its samples go through.

    >>> source = ShuffledShardedInputCallable(provider, batch_size=8, shuffle=True)
    >>> definition = PipelineDefinition(source, [ImageDecoder("image")],
    ...                                 copy_external_source_passthrough_outputs=True)
    >>> pipeline = definition.get_dali_pipeline(
    ...     batch_size=8, num_threads=2, enable_conditionals=True, py_start_method="spawn")

    What the source gives is checked before DALI sees it: the number of values, their types and byte
    order. An error names the sample and the field.
    """

    def __init__(
        self,
        data_loading_callable_iterable: Any,
        preprocess_functors: Sequence[Any] | None = None,
        check_data_format: bool = True,
        use_parallel_external_source: bool = True,
        prefetch_queue_depth: int = 2,
        print_sample_data_group_format: bool = False,
        copy_external_source_passthrough_outputs: bool | None = None,
        passthrough_copy_field_names: Sequence[Name] | None = None,
        passthrough_copy_field_names_scope_paths: Sequence[PathOrName] | None = None,
        passthrough_copy_branch_paths: Sequence[PathOrName] | None = None,
    ) -> None:
        """Only stores the arguments; DALI is not imported.

        data_loading_callable_iterable: a CallableBase, or anything callable, gives single samples;
            an IterableBase gives batches. It has the property `used_sample_data_structure`.
        preprocess_functors: the processing steps, in their order. None is ignored. Default: none.
        check_data_format: whether every batch is checked, wherever a step assigns a field, against
            the type of the field. Costs time. Default: True.
        use_parallel_external_source: whether the source runs in worker processes, of which
            `get_dali_pipeline(py_num_workers=...)` is the number. Default: True.
        prefetch_queue_depth: how many batches the workers prepare ahead. Default: 2.
        print_sample_data_group_format: whether `get_dali_pipeline` prints the fields before and
            after each step. Default: False.
        copy_external_source_passthrough_outputs: whether output fields are copied. DALI 1.53 lists
            as a known issue that an output which comes unchanged from workers can be overwritten.
            Default: all fields are copied, with a warning.
        passthrough_copy_field_names: only copies fields with these names; a group stands for all
            its fields. Default: all fields, if there are no branch paths either.
        passthrough_copy_field_names_scope_paths: only looks for these names inside the groups with
            these paths.
        passthrough_copy_branch_paths: also copies the fields, and all fields of the groups, with
            these paths. A path is a name or a tuple of names.

        Errors: ArgumentTypeError (TypeError) for a source without `used_sample_data_structure`,
            for a step without a format check, and for names or paths that are not in a list.
            InvalidArgumentError (ValueError) for names or paths unless copying is True.
        """
        source = data_loading_callable_iterable
        if not hasattr(source, "used_sample_data_structure") or not (
            callable(source) or isinstance(source, Iterable)
        ):
            raise ArgumentTypeError(
                "data_loading_callable_iterable has the wrong type",
                expected="a CallableBase or an IterableBase",
                found=type(source).__name__,
            )
        steps = [step for step in preprocess_functors or () if step is not None]
        for step in steps:
            if isinstance(step, type) or not hasattr(step, _FORMAT_CHECK):
                raise ArgumentTypeError(
                    "a step of preprocess_functors has the wrong type",
                    expected="an object such as a PipelineStepBase",
                    found=typed(step),
                )
        copied = {
            "passthrough_copy_field_names": passthrough_copy_field_names,
            "passthrough_copy_field_names_scope_paths": passthrough_copy_field_names_scope_paths,
            "passthrough_copy_branch_paths": passthrough_copy_branch_paths,
        }
        for argument, value in copied.items():
            check_is_list(value, argument)
        if not copy_external_source_passthrough_outputs:
            for argument, value in copied.items():
                if value is not None:
                    raise InvalidArgumentError(
                        f"{argument} selects fields to copy, but copying is not enabled",
                        remedy="Pass copy_external_source_passthrough_outputs=True",
                    )
        self._source = source
        self._steps: list[Any] = steps
        self._checks = check_data_format
        self._parallel = use_parallel_external_source
        self._ahead = prefetch_queue_depth if use_parallel_external_source else None
        self._prints = print_sample_data_group_format
        self._copies = copy_external_source_passthrough_outputs is not False
        self._copied: dict[str, Any] = copied
        if copy_external_source_passthrough_outputs is None:
            warn_user(
                "All outputs of the pipeline are copied, in case DALI overwrites those that come "
                "unchanged from a parallel source. Pass copy_external_source_passthrough_outputs="
                "True to copy without this warning, passthrough_copy_field_names or "
                "passthrough_copy_branch_paths to copy less, or False to copy nothing."
            )
        if check_data_format:
            warn_user(
                "The types of all fields are checked in every batch, which takes time. Pass "
                "check_data_format=False to train without these checks."
            )

    @property
    def input_data_structure(self) -> SampleDataGroup:
        """The fields that the source gives, without values; a new object at each access."""
        fields: SampleDataGroup = self._source.used_sample_data_structure.get_empty_like_self()
        return fields

    def check_and_get_output_data_structure(self) -> SampleDataGroup:
        """Returns the fields that the pipeline gives, without values. No data is loaded.

        Errors: what a step raises whose input fields are not as it needs them; ValueError if a name
            or path of fields to copy is not valid, or if the source's samples have no fields.
        """
        return self._plan()[0]

    def get_dali_pipeline(self, *args: Any, **kwargs: Any) -> Any:
        """Creates the DALI pipeline.

        args, kwargs: those of a function with DALI's decorator `experimental.pipeline_def`, such as
            batch_size, num_threads, device_id, py_num_workers and py_start_method. Steps that use
            `if` with values of the graph need enable_conditionals=True.

        Errors: as of `check_and_get_output_data_structure`. ImportError if DALI is not installed.
        """
        paths = self._plan(print if self._prints else None)[1]
        make = dali("pipeline").experimental.pipeline_def(PipelineDefinition._graph)
        try:
            return make(self, paths, *args, **kwargs)
        except Exception as error:
            # With conditionals, DALI replaces classes of errors that it does not know by its own.
            is_of_dali = type(error).__module__.startswith("nvidia.dali")
            if is_of_dali and isinstance(error.__context__, Error):
                raise error.__context__ from None
            raise

    def _plan(
        self, show: Callable[[str], object] | None = None
    ) -> tuple[SampleDataGroup, list[Path]]:
        """Returns the fields of the output, and the paths of those that are copied."""

        def shown(when: str, fields: SampleDataGroup) -> SampleDataGroup:
            if show is not None:
                show(f"{when}:\n{fields.get_string_no_details()}")
            return fields

        fields = shown("Fields of the source", self.input_data_structure)
        if not fields.field_names_flat:
            raise InvalidArgumentError("the source's samples have no data fields")
        for number, step in enumerate(self._steps, 1):
            fields = step.check_input_data_format_and_set_output_data_format(fields)
            shown(f"Fields after step {number}, {type(step).__name__}", fields)
        try:
            return fields, fields_to_copy(fields, *self._copied.values()) if self._copies else []
        except InvalidArgumentError as error:
            raise InvalidArgumentError(
                f"the selection of outputs to copy does not fit the pipeline's output: {error.failure}"
            ) from None

    def _graph(self, copied: list[Path]) -> tuple[Any, ...]:
        """Builds the graph of DALI operators. Returns: the outputs, in flat order."""
        fn, types = dali("fn"), dali("types").DALIDataType
        source, fields = self._source, self.input_data_structure
        values = fn.external_source(
            source=checked_source(source, fields),
            num_outputs=len(fields.field_types_flat),
            dtype=[getattr(types, dtype.name) for dtype in fields.field_types_flat],
            batch=not callable(source),
            cycle=None if callable(source) else "raise",
            parallel=self._parallel,
            prefetch_queue_depth=self._ahead,
        )
        fields.set_apply_mapping(False)
        fields.set_do_check_type(self._checks)
        fields.set_data(values)
        for step in self._steps:
            fields = step(fields)
        fields.ensure_uniform_size_in_batch_for_all_strings()
        fields.set_do_check_type(False)  # a copy has the type of what it copies
        for path in copied:
            fields.set_item_in_path(path, fn.copy(fields.get_item_in_path(path)))
        return tuple(fields.get_data())
