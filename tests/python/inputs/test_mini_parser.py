"""The language of conditions."""

from __future__ import annotations

import pytest

import fuelrail as fr
from fuelrail.inputs.internal_helpers.mini_parser import (
    And,
    Assignment,
    Comparison,
    Lexer,
    Literal,
    Not,
    Or,
    Parser,
    Token,
    TokenType,
    UnaryMinus,
    Variable,
)

A, B, C = (Variable(name) for name in "abc")


def expression(text: str) -> object:
    return Parser(f"r = {text}").parse().expression


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("a or b and c", Or(A, And(B, C))),
        ("(a or b) and c", And(Or(A, B), C)),
        ("a and b and c", And(And(A, B), C)),
        ("not a and b", And(Not(A), B)),
        ("not not a", Not(Not(A))),
        ("-a <= .5", Comparison(UnaryMinus(A), "<=", Literal(".5"))),
        ("a != - 2.", Comparison(A, "!=", UnaryMinus(Literal("2.")))),
        ("a == (b > c)", Comparison(A, "==", Comparison(B, ">", C))),
        ("not_a<b1", Comparison(Variable("not_a"), "<", Variable("b1"))),
    ],
)
def test_a_condition_becomes_a_tree(text: str, tree: object) -> None:
    assert expression(text) == tree


def test_not_covers_a_whole_comparison_as_in_python() -> None:
    assert expression("not a < b") == Not(Comparison(A, "<", B))


def test_a_tree_shows_its_structure() -> None:
    tree = Parser(" valid=not(a or -b>=1.5) and c ").parse()
    assert tree == Assignment(
        Variable("valid"),
        And(Not(Or(A, Comparison(UnaryMinus(B), ">=", Literal("1.5")))), C),
    )
    assert str(tree) == repr(tree) == "'valid' = <{not [{'a' or (-('b') >= 1.5)}] and 'c'}>"


def test_tokens_end_with_the_text() -> None:
    lexer = Lexer("a>=2 ")
    assert [lexer.next_token() for _ in range(5)] == [
        Token(TokenType.VARIABLE, "a"),
        Token(TokenType.COMPARISON, ">="),
        Token(TokenType.LITERAL, "2"),
        Token(TokenType.EOL, ""),
        Token(TokenType.EOL, ""),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no name for its result"),
        ("a < b", "has no name for its result"),
        ("r = ", "at character 4: expected a name, a number or '\\(', found the end"),
        ("r = a b", "at character 6: expected the end, found 'b'"),
        ("r = a)", "at character 5: expected the end"),
        ("r = (a", r"at character 6: expected '\)', found the end"),
        ("r = a < b < c", "expected one comparison"),
        ("r = a = b", "at character 6"),
        ("r = a <> b", "at character 7"),
        ("r = a + b", "invalid character: found '\\+'"),
        ("r = a & b", "invalid character"),
        ("r = 1.2.3 < a", "invalid number: found '1.2.3'"),
        ("r = 1e5 < a", "expected the end, found 'e5'"),
        ("r = " + "(" * 5000 + "a", "nested too deeply"),
        ("r = " + "not " * 5000 + "a", "nested too deeply"),
        ("r = " + "-" * 5000 + "a", "nested too deeply"),
    ],
)
def test_a_condition_that_is_not_valid_is_a_value_error(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Parser(text).parse()


def test_an_unknown_comparison_is_an_error() -> None:
    with pytest.raises(fr.InvalidArgumentError, match="`comparison_type` is invalid"):
        Comparison(A, "=~", B)
