"""What a SampleDataGroup does with values inside a DALI graph, where a value is a DataNode."""

from __future__ import annotations

from typing import Any

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.dali import dali
from fuelrail.options import shown, typed

__all__ = ["check_type", "get_as_data_node", "is_data_node", "pad"]


def is_data_node(value: object) -> bool:
    """Whether the value stands for the output of a DALI operator, also in DALI's debug mode.

    DALI is not imported, because without it there are no such values.
    """
    return any(
        base.__name__ == "DataNode" and base.__module__.startswith("nvidia.dali")
        for base in type(value).__mro__
    )


def check_type(node: Any, expected: Any, name: str | int) -> Any:
    """Returns the node with a check of its element type, which runs with every batch.

    Use the returned node: DALI does not run operators without a consumer. The values are not
    copied, and their layout is kept. The check needs the values in CPU memory, so nodes of GPU
    operators are returned unchecked.

    expected: a NumPy dtype, or what `numpy.dtype` accepts.
    name: the field, for the error.

    Errors: when the pipeline runs, RuntimeError with the text of the check's ValueError.
    """
    if node.device != "cpu":
        return node
    wanted = numpy.dtype(expected)

    def shape_of(values: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
        if values.dtype != wanted:
            raise ValueError(
                f"Expected type {wanted} for the field '{name}', but its actual data type is "
                f"{values.dtype}"
            )
        return numpy.array(values.shape, numpy.int32)

    fn = dali("fn")
    # The shape, not the values, comes from the Python function: it would lose the layout.
    shape = fn.python_function(node, function=_as_is(shape_of), num_outputs=1, preserve=True)
    return fn.reinterpret(node, shape=shape)


def get_as_data_node(value: Any) -> Any:
    """Returns a node of a DALI graph for a constant: a number, a list, a tuple or an array. A node
    is returned unchanged.

    The type is INT32 for integers and bools, else FLOAT. Errors: InvalidArgumentError, a ValueError,
    for anything but numbers, and for integers that INT32 does not have.
    """
    if is_data_node(value):
        return value
    array = numpy.asarray(value)
    if array.dtype.kind not in "biuf":
        raise InvalidArgumentError(
            "the constant of a graph is invalid", expected="numbers", found=typed(value)
        )
    integers = array.dtype.kind != "f"
    made = array.astype(numpy.int32 if integers else numpy.float32)
    if integers and not numpy.array_equal(made, array):
        raise InvalidArgumentError(
            "the constant of a graph is out of range",
            expected="integers of 32 bits",
            found=shown(value),
        )
    types = dali("types")
    data = {"idata" if integers else "fdata": made.ravel().tolist() if made.ndim else made.item()}
    kind = types.DALIDataType.INT32 if integers else types.DALIDataType.FLOAT
    return dali("fn").constant(**data, shape=made.shape, dtype=kind)


def pad(node: Any, fill_value: float) -> Any:
    """Returns the node with all samples of a batch padded at their ends to one shape.

    Errors: when the pipeline runs, RuntimeError for scalars.
    """
    return dali("fn").pad(node, fill_value=fill_value)


def _as_is(function: Any) -> Any:
    """The function, which DALI's conversion of `if` statements in graphs leaves as it is."""
    return dali("pipeline").do_not_convert(function)
