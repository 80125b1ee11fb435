"""The tokens of a condition."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field

from fuelrail.errors import InvalidArgumentError

__all__ = ["Lexer", "Token", "TokenType"]


class TokenType(str, enum.Enum):
    """The kind of a token."""

    LITERAL = "literal"
    VARIABLE = "variable"
    ASSIGNMENT = "assignment"
    COMPARISON = "comparison"
    LOGICAL_OR = "logical_or"
    LOGICAL_AND = "logical_and"
    LOGICAL_NOT = "logical_not"
    MINUS = "minus"
    PARENTHESIS_OPEN = "parenthesis_open"
    PARENTHESIS_CLOSE = "parenthesis_close"
    EOL = "end_of_line"


@dataclass(frozen=True)
class Token:
    """A token, with the text that it was read from."""

    type: TokenType
    value: str
    position: int = field(default=0, compare=False, repr=False)
    """Index of the token's first character in the text."""


_WORDS = {
    "or": TokenType.LOGICAL_OR,
    "and": TokenType.LOGICAL_AND,
    "not": TokenType.LOGICAL_NOT,
}
_PATTERNS = [
    (re.compile(r"[\d.]+"), TokenType.LITERAL),
    (re.compile(r"[^\W\d]\w*"), TokenType.VARIABLE),
    (re.compile(r"[=!<>]=|[<>]"), TokenType.COMPARISON),
    (re.compile(r"="), TokenType.ASSIGNMENT),
    (re.compile(r"-"), TokenType.MINUS),
    (re.compile(r"\("), TokenType.PARENTHESIS_OPEN),
    (re.compile(r"\)"), TokenType.PARENTHESIS_CLOSE),
]
_SPACES = re.compile(r"\s*")
_NUMBER = re.compile(r"\d+\.?\d*|\.\d+")


class Lexer:
    """Splits a text into tokens."""

    def __init__(self, input: str) -> None:
        """Only stores the text."""
        self._text = input
        self._position = 0

    def next_token(self) -> Token:
        """Returns the next token; at the end of the text, a token of the type EOL each time.

        Errors: InvalidArgumentError, a ValueError, for characters that begin no token.
        """
        begin = _SPACES.match(self._text, self._position).end()  # type: ignore[union-attr]
        if begin == len(self._text):
            return Token(TokenType.EOL, "", begin)
        for pattern, kind in _PATTERNS:
            match = pattern.match(self._text, begin)
            if match is None:
                continue
            self._position = match.end()
            value = match[0]
            if kind is TokenType.LITERAL and not _NUMBER.fullmatch(value):
                raise self._error("the condition has an invalid number", value)
            if kind is TokenType.VARIABLE:
                kind = _WORDS.get(value, kind)
            return Token(kind, value, begin)
        raise self._error("the condition has an invalid character", self._text[begin])

    def _error(self, failure: str, found: str) -> InvalidArgumentError:
        return InvalidArgumentError(failure, found=f"'{found}' in '{self._text}'")
