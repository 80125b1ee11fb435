"""DALI pipelines on the CPU for tests. Needs DALI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nvidia.dali import fn, pipeline_def

from fuelrail.inputs.dali import forking
from fuelrail.inputs.pipeline import (
    DALIStructuredOutputIterator,
    NumPyIterator,
    PipelineDefinition,
)

METHODS = ("spawn", "fork")


def loader_of(
    source: Any,
    batch_size: int,
    steps: Sequence[Any] = (),
    *,
    workers: int = 1,
    method: str = "fork",
    ahead: int = 1,
    torch: bool = False,
    options: dict[str, Any] | None = None,
    **definition: Any,
) -> DALIStructuredOutputIterator:
    """A loader whose arguments are those that most tests need.

    ahead: how many batches the workers, and also the graph, prepare.
    options: more arguments of the DALI pipeline.
    definition: arguments of the PipelineDefinition.
    """
    definition = {
        "check_data_format": False,
        "copy_external_source_passthrough_outputs": True,
        "prefetch_queue_depth": ahead,
        **definition,
    }
    defined = PipelineDefinition(source, steps, **definition)
    pipeline = defined.get_dali_pipeline(
        batch_size=batch_size,
        num_threads=1,
        prefetch_queue_depth=ahead,
        py_num_workers=workers,
        py_start_method=method,
        **(options or {}),
    )
    return DALIStructuredOutputIterator(
        getattr(source, "length", None) or 0,
        pipeline,
        defined.check_and_get_output_data_structure(),
        dali_generic_iterator_class=None if torch else NumPyIterator,
    )


@pipeline_def
def _bare(source: Any, fields: int, parallel: bool, ahead: int) -> Any:
    of_samples = callable(source)
    return tuple(
        fn.external_source(
            source=source,
            num_outputs=fields,
            batch=not of_samples,
            cycle=None if of_samples else "raise",
            parallel=parallel,
            prefetch_queue_depth=ahead if parallel else None,
        )
    )


def bare_epochs(
    source: Any,
    batch_size: int,
    epochs: int,
    *,
    parallel: bool = True,
    workers: int = 1,
    method: str = "fork",
    ahead: int = 1,
) -> list[list[list[int]]]:
    """The batches of the first field of a source, which DALI reads without our PipelineDefinition."""
    pipeline = _bare(
        source,
        len(source.used_sample_data_structure.field_types_flat),
        parallel,
        ahead,
        batch_size=batch_size,
        num_threads=1,
        prefetch_queue_depth=ahead,
        py_num_workers=workers,
        py_start_method=method,
    )
    with forking():
        pipeline.build()
    found: list[list[list[int]]] = []
    for _ in range(epochs):
        found.append([])
        try:
            while True:
                found[-1].append(pipeline.run()[0].as_array().tolist())
        except StopIteration:
            pipeline.reset()
    return found
