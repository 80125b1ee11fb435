"""A mask of elements, such as objects, from a condition on their fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.dali import dali
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import FieldError
from fuelrail.inputs.field_tree import Name
from fuelrail.inputs.internal_helpers.mini_parser import (
    AST,
    And,
    Comparison,
    Literal,
    Not,
    Or,
    Parser,
    UnaryMinus,
    Variable,
)
from fuelrail.inputs.processing_steps.fields_of_steps import (
    add_field,
    cast,
    groups_named,
    kind_in_annotation,
)
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["AnnotationElementConditionEval"]


class AnnotationElementConditionEval(PipelineStepBase):
    """Adds a BOOL field of shape (N,) to annotations: for which elements a condition holds.

    >>> AnnotationElementConditionEval("annotation", "valid = points >= 1 and not distance > 50.5", False)

    The condition names the new field, and fields of the annotation, which have a number for each
    element: of the shape (N,), (N, 1) or (1, N). Its language is that of
    `internal_helpers.mini_parser.Parser`. In `and`, `or` and `not`, numbers other than 0 are true.
    Integers are compared with floats as float32, and numbers of the condition with a point, such as
    0.1, are float32, too: a FLOAT64 field that has 0.1 is below it.
    """

    def __init__(
        self,
        annotation_field_name: Name,
        condition: str,
        remove_data_fields_used_in_condition: bool,
    ) -> None:
        """annotation_field_name: the name of the groups, each of which is treated by itself.

        condition: the text, "name = expression".
        remove_data_fields_used_in_condition: whether fields of the condition are removed.

        Errors: InvalidArgumentError, a ValueError, for a condition that is not valid.
        """
        parsed = Parser(condition).parse()
        self._annotation_name = annotation_field_name
        self._result_name = parsed.variable.name
        self._expression = parsed.expression
        self._removes = remove_data_fields_used_in_condition
        self._names = tuple(dict.fromkeys(_variables(parsed.expression)))
        _check_uses_variables(parsed.expression, condition)

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for path in data.find_all_occurrences(self._annotation_name):
            group: SampleDataGroup = data.get_item_in_path(path)
            mask = _truth(self._expression, group)
            self._change_fields(group)
            group[self._result_name] = mask
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        name = self._annotation_name
        for group in groups_named(data_empty, name):
            for variable in self._names:
                if kind_in_annotation(group, variable, name) is DataType.STRING:
                    raise FieldError(f"'{variable}' has the wrong type", expected="numbers")
            self._change_fields(group)
        return data_empty

    def _change_fields(self, group: SampleDataGroup) -> None:
        add_field(group, self._result_name, DataType.BOOL, self)
        if self._removes:
            for variable in self._names:
                group.remove_field(variable)


def _truth(tree: AST, group: SampleDataGroup) -> Any:
    """Returns a node of bools for a condition."""
    if isinstance(tree, And):
        first, *others = (_truth(condition, group) for condition in tree.conditions)
        for other in others:
            first = first & other
        return first
    if isinstance(tree, Or):
        first, *others = (_truth(condition, group) for condition in tree.conditions)
        for other in others:
            first = first | other
        return first
    if isinstance(tree, Not):
        return _truth(tree.condition, group) == 0
    if isinstance(tree, Comparison):
        return _compared(tree, group)
    if isinstance(tree, Variable) and group.get_type_of_field(tree.name) is DataType.BOOL:
        return _number(tree, group)
    return _number(tree, group) != 0


def _compared(tree: Comparison, group: SampleDataGroup) -> Any:
    left, right = _number(tree.val1, group), _number(tree.val2, group)
    if tree.comparison_type == "==":
        return left == right
    if tree.comparison_type == "!=":
        return left != right
    if tree.comparison_type == "<":
        return left < right
    if tree.comparison_type == "<=":
        return left <= right
    return left > right if tree.comparison_type == ">" else left >= right


def _number(tree: AST, group: SampleDataGroup) -> Any:
    """Returns a node of numbers, or a Python number."""
    if isinstance(tree, Literal):
        return _constant(tree.value)
    if isinstance(tree, UnaryMinus):
        return 0 - _number(tree.value, group)
    if isinstance(tree, Variable):
        node = dali("fn").reshape(group[tree.name], shape=[-1])
        is_half = group.get_type_of_field(tree.name) is DataType.FLOAT16
        return cast(node, DataType.FLOAT) if is_half else node  # which DALI does not compute with
    return cast(_truth(tree, group), DataType.INT32)


def _constant(text: str) -> Any:
    if not text.isdigit():
        return float(text)
    number = int(text)
    if number < 2**31:
        return number
    if number >= 2**63:
        raise InvalidArgumentError(
            "the condition has a number that is too large", expected="below 2**63", found=text
        )
    return dali("types").Constant(number, dtype=dali("types").DALIDataType.INT64)


def _parts(tree: AST) -> tuple[AST, ...]:
    if isinstance(tree, (And, Or)):
        return tree.conditions
    if isinstance(tree, Comparison):
        return (tree.val1, tree.val2)
    if isinstance(tree, Not):
        return (tree.condition,)
    return (tree.value,) if isinstance(tree, UnaryMinus) else ()


def _variables(tree: AST) -> Iterator[str]:
    if isinstance(tree, Variable):
        yield tree.name
    for part in _parts(tree):
        yield from _variables(part)


def _check_uses_variables(tree: AST, condition: str) -> None:
    """Checks that each part that gives a truth value depends on a field."""
    if isinstance(tree, (And, Or, Not)):
        for part in _parts(tree):
            _check_uses_variables(part, condition)
    elif not any(True for _ in _variables(tree)):
        raise InvalidArgumentError(
            "the condition has a part without any field", found=f"'{tree}' in '{condition}'"
        )
