"""The language of conditions such as `is_valid = points >= 1 and not (range > 50 or hidden)`.

`Parser` documents it. `AnnotationElementConditionEval` evaluates it.
"""

from __future__ import annotations

from fuelrail.inputs.internal_helpers.mini_parser.lexer import Lexer, Token, TokenType
from fuelrail.inputs.internal_helpers.mini_parser.parser import Parser
from fuelrail.inputs.internal_helpers.mini_parser.syntax_tree import (
    AST,
    And,
    Assignment,
    Comparison,
    Literal,
    Not,
    Or,
    UnaryMinus,
    Variable,
)

__all__ = [
    "AST",
    "And",
    "Assignment",
    "Comparison",
    "Lexer",
    "Literal",
    "Not",
    "Or",
    "Parser",
    "Token",
    "TokenType",
    "UnaryMinus",
    "Variable",
]
