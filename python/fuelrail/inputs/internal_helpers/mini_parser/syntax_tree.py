"""The nodes of a parsed condition. Their text shows the structure, with brackets for each node."""

from __future__ import annotations

from dataclasses import dataclass

from fuelrail.errors import InvalidArgumentError
from fuelrail.options import shown

__all__ = [
    "AST",
    "And",
    "Assignment",
    "Comparison",
    "Literal",
    "Not",
    "Or",
    "UnaryMinus",
    "Variable",
]

COMPARISONS = ("==", "!=", "<", ">", ">=", "<=")


class AST:
    """Base class of the nodes, which are immutable and comparable."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class Variable(AST):
    """The name of a data field."""

    name: str

    def __str__(self) -> str:
        return f"'{self.name}'"


@dataclass(frozen=True, repr=False)
class Literal(AST):
    """A number, as the text that it was read from."""

    value: str

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, repr=False)
class UnaryMinus(AST):
    value: AST

    def __str__(self) -> str:
        return f"-({self.value})"


@dataclass(frozen=True, repr=False)
class Comparison(AST):
    """`val1 comparison_type val2`. Errors: InvalidArgumentError for an unknown comparison."""

    val1: AST
    comparison_type: str
    val2: AST

    def __post_init__(self) -> None:
        if self.comparison_type not in COMPARISONS:
            raise InvalidArgumentError(
                "`comparison_type` is invalid",
                expected=" or ".join(COMPARISONS),
                found=shown(self.comparison_type),
            )

    def __str__(self) -> str:
        return f"({self.val1} {self.comparison_type} {self.val2})"


@dataclass(frozen=True, repr=False)
class Not(AST):
    condition: AST

    def __str__(self) -> str:
        return f"not [{self.condition}]"


@dataclass(frozen=True, repr=False, init=False)
class _Junction(AST):
    """Two or more conditions, joined by the same word."""

    conditions: tuple[AST, ...]

    def __init__(self, *conditions: AST) -> None:
        object.__setattr__(self, "conditions", conditions)

    def __str__(self) -> str:
        return "{" + f" {type(self).__name__.lower()} ".join(map(str, self.conditions)) + "}"


class And(_Junction):
    """All of the conditions."""


class Or(_Junction):
    """At least one of the conditions."""


@dataclass(frozen=True, repr=False)
class Assignment(AST):
    """The whole condition, and the name of its result."""

    variable: Variable
    expression: AST

    def __str__(self) -> str:
        return f"{self.variable} = <{self.expression}>"
