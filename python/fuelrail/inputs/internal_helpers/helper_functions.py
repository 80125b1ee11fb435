"""Checks and prints inside a DALI graph, and mappings of values to numbers.

Only for programs that import this module of ACCV-Lab, from which it has its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from fuelrail.inputs import in_graph
from fuelrail.inputs.dali import dali
from fuelrail.inputs.errors import FieldError
from fuelrail.inputs.in_graph import get_as_data_node
from fuelrail.options import shown

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
