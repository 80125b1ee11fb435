"""Functions for writers of processing steps, with ACCV-Lab's names."""

from __future__ import annotations

from fuelrail.inputs.internal_helpers import mini_parser
from fuelrail.inputs.internal_helpers.helper_functions import (
    check_type,
    get_as_data_node,
    get_mapped,
    print_tensor_op,
    print_tensor_size_op,
)

__all__ = [
    "check_type",
    "get_as_data_node",
    "get_mapped",
    "mini_parser",
    "print_tensor_op",
    "print_tensor_size_op",
]
