"""Batches of a DALI pipeline as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy

from fuelrail.errors import InvalidArgumentError

__all__ = ["NumPyIterator"]


class NumPyIterator:
    """Iterates over the batches of a DALI pipeline, with the interface of DALI's own iterators.

    >>> iterator = NumPyIterator(pipeline, ["image", "label"])
    >>> [batch] = next(iterator)
    >>> batch["image"].shape
    (8, 64, 64, 3)

    Each batch is a list with one dict from the names to arrays of shape (batch, ...). The arrays own
    their memory. Outputs in GPU memory are copied to the CPU.

    Errors: ValueError if the samples of a batch differ in shape.
    """

    def __init__(self, pipelines: Any, output_map: list[str]) -> None:
        """pipelines: a pipeline, or a list of one.
        output_map: the names of the pipeline's outputs, in their order.
        """
        [self._pipeline] = pipelines if isinstance(pipelines, (list, tuple)) else [pipelines]
        self._names = list(output_map)
        self._pipeline.build()
        self._ended = False

    def __iter__(self) -> NumPyIterator:
        return self

    def __next__(self) -> list[dict[str, numpy.ndarray[Any, Any]]]:
        try:
            outputs = self._pipeline.run()
        except StopIteration:
            self._ended = True
            raise
        return [{n: _array(n, out) for n, out in zip(self._names, outputs, strict=True)}]

    def reset(self) -> None:
        """Begins the next epoch, after the end of an epoch. At any other time, does nothing."""
        if self._ended:
            self._pipeline.reset()
            self._ended = False


def _array(name: str, output: Any) -> numpy.ndarray[Any, Any]:
    samples = output.as_cpu()
    if not samples.is_dense_tensor():
        raise InvalidArgumentError(
            "the samples of a batch differ in shape",
            field=name,
            found=" and ".join(str(shape) for shape in sorted({*samples.shape()})),
            remedy="Pad them to one shape with the step PaddingToUniform",
        )
    array: numpy.ndarray[Any, Any] = samples.as_array()
    return array
