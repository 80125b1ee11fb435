"""Constants, checks and prints inside a DALI graph, and mappings of values to numbers.

The module has its name in ACCV-Lab, from which programs import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs import in_graph
from fuelrail.inputs.dali import dali
from fuelrail.inputs.errors import FieldError
from fuelrail.options import shown, typed

__all__ = [
    "check_type",
    "get_as_data_node",
    "get_mapped",
    "print_tensor_op",
    "print_tensor_size_op",
]


def check_type(input: Any, expected_type_np: Any, identifier: str) -> Any:
    """Returns the node with a check of its element type, which runs with every batch. Use the
    returned node, or the check does not run.

    expected_type_np: a NumPy dtype, or what `numpy.dtype` accepts.
    identifier: the name in the error.

    Errors: when the pipeline runs, RuntimeError with the text of the check's ValueError.
    """
    return in_graph.check_type(input, expected_type_np, identifier)


def get_as_data_node(value: Any) -> Any:
    """Returns a node of a DALI graph for a constant: a number, a list, a tuple or an array. A node
    is returned unchanged.

    The type is INT32 for integers and bools, else FLOAT. Errors: InvalidArgumentError, a ValueError,
    for anything but numbers, and for integers that INT32 does not have.
    """
    if in_graph.is_data_node(value):
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


def get_mapped(val: Any, mapping: Mapping[Any, Any], encapsulate: bool = False) -> Any:
    """Returns the mapping's value for `val`, or a list of the values for a list or tuple, which may
    be nested. The mapping's value for None is for values that are not keys.

    encapsulate: whether a single value is returned in a list. Default: False.

    Errors: FieldError, a KeyError, for a value without a key, if there is no key None.
    """
    if isinstance(val, (list, tuple)):
        return [get_mapped(item, mapping) for item in val]
    if val not in mapping and None not in mapping:
        raise FieldError(
            "a value is not in the mapping", expected=shown(list(mapping)), found=shown(val)
        )
    found = mapping[val if val in mapping else None]
    return [found] if encapsulate else found


def print_tensor_op(tensor_list: Any, name: str) -> None:
    """In a DALI graph, prints all samples of each batch. The values must be in CPU memory."""
    _print(tensor_list, name, shapes_only=False)


def print_tensor_size_op(tensor_list: Any, name: str) -> None:
    """In a DALI graph, prints the number and shapes of the samples of each batch."""
    _print(tensor_list, name, shapes_only=True)


def _print(node: Any, name: str, shapes_only: bool) -> None:
    dali("fn").python_function(
        node,
        function=partial(_print_batch, name, shapes_only),
        num_outputs=0,
        batch_processing=True,
        preserve=True,
    )


def _print_batch(name: str, shapes_only: bool, samples: list[Any]) -> None:
    lines = [f"{name}: {len(samples)} samples"]
    for index, sample in enumerate(samples):
        lines.append(f"{name}[{index}]: {sample.dtype} {list(sample.shape)}")
        if not shapes_only:
            lines.append(str(sample))
    print("\n".join(lines), flush=True)
