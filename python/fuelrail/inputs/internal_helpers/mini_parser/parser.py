"""From the text of a condition to its syntax tree."""

from __future__ import annotations

from collections.abc import Callable

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.internal_helpers.mini_parser.lexer import Lexer, Token, TokenType
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

__all__ = ["Parser"]

_DEEPEST = 100  # levels of nesting, far below Python's limit of recursion


class Parser:
    """Parses `result = expression`.

    An expression has, as in Python and in the order of Python's precedence:
    - `a or b`, `a and b`, `not a`
    - one comparison of two values: `==`, `!=`, `<`, `<=`, `>`, `>=`
    - `-a`, parentheses, names of variables, and numbers such as `2`, `1.5` and `.5`

    >>> Parser("is_near = not hidden and -z < 20.5").parse()
    'is_near' = <{not ['hidden'] and (-('z') < 20.5)}>

    `a < b < c` is an error. There are no other numbers, such as `1e5`, and neither True nor False.
    """

    def __init__(self, input_str: str) -> None:
        """Only stores the text."""
        self._text = input_str
        self._lexer = Lexer(input_str)
        self._token = Token(TokenType.EOL, "")
        self._depth = 0

    def parse(self) -> Assignment:
        """Returns the tree. Errors: InvalidArgumentError, a ValueError, if the text is not valid."""
        self._lexer = Lexer(self._text)
        self._next()
        name = self._token.value
        if not (self._take(TokenType.VARIABLE) and self._take(TokenType.ASSIGNMENT)):
            raise InvalidArgumentError(
                "the condition has no name for its result",
                expected="'name = expression'",
                found=f"'{self._text}'",
            )
        expression = self._or()
        if self._token.type is not TokenType.EOL:
            raise self._unexpected("the end")
        return Assignment(Variable(name), expression)

    def _or(self) -> AST:
        left = self._and()
        while self._take(TokenType.LOGICAL_OR):
            left = Or(left, self._and())
        return left

    def _and(self) -> AST:
        left = self._not()
        while self._take(TokenType.LOGICAL_AND):
            left = And(left, self._not())
        return left

    def _not(self) -> AST:
        return (
            self._nested(Not, self._not) if self._take(TokenType.LOGICAL_NOT) else self._compared()
        )

    def _compared(self) -> AST:
        left, comparison = self._value(), self._token.value
        if not self._take(TokenType.COMPARISON):
            return left
        right = self._value()
        if self._token.type is TokenType.COMPARISON:
            raise self._unexpected("one comparison, or more of them joined by 'and'")
        return Comparison(left, comparison, right)

    def _value(self) -> AST:
        if self._take(TokenType.MINUS):
            return self._nested(UnaryMinus, self._value)
        value = self._token.value
        if self._take(TokenType.LITERAL):
            return Literal(value)
        if self._take(TokenType.VARIABLE):
            return Variable(value)
        if not self._take(TokenType.PARENTHESIS_OPEN):
            raise self._unexpected("a name, a number or '('")
        inner = self._nested(lambda inside: inside, self._or)
        if not self._take(TokenType.PARENTHESIS_CLOSE):
            raise self._unexpected("')'")
        return inner

    def _nested(self, node: Callable[[AST], AST], parse: Callable[[], AST]) -> AST:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise InvalidArgumentError(
                "the condition is nested too deeply", expected=f"at most {_DEEPEST} levels"
            )
        inside = parse()
        self._depth -= 1
        return node(inside)

    def _next(self) -> None:
        self._token = self._lexer.next_token()

    def _take(self, kind: TokenType) -> bool:
        """Moves past the current token if it is of this type. Returns whether it is."""
        if self._token.type is not kind:
            return False
        self._next()
        return True

    def _unexpected(self, expected: str) -> InvalidArgumentError:
        at = self._token.position
        found = f"'{self._token.value}'" if self._token.value else "the end"
        return InvalidArgumentError(
            f"the condition '{self._text}' is not valid at character {at}",
            expected=expected,
            found=found,
        )
