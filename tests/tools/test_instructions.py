"""bench/instructions.py: callgrind's output is read right, and what differs is named."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import pytest

PATH = pathlib.Path(__file__).parents[2] / "bench" / "instructions.py"
_spec = importlib.util.spec_from_file_location("instructions", PATH)
assert _spec is not None
assert _spec.loader is not None
instructions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(instructions)

CALLGRIND = """\
# callgrind format
version: 1
positions: line
events: Ir
summary: 148

ob=(1) /a/program
fl=(1) a.cc
fn=(1) run()
10 5
+2 3
cob=(2) /lib/libjpeg.so
cfn=(2) decode
calls=4 20
* 100
11 7

ob=(2)
fl=(2) b.c
fn=(2)
20 90
-1 10
fn=(3) 0x00001230
0 8
ob=(1)
fn=(1)
12 25

totals: 148
"""


def test_costs_are_each_functions_own() -> None:
    costs = instructions.self_costs(CALLGRIND.splitlines())
    assert costs == {"run()": 5 + 3 + 7 + 25, "decode": 100, "libjpeg.so": 8}
    assert sum(costs.values()) == 148


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("resample(int)", "resample(int)"),
        ("resample(int) [clone .isra.0]", "resample(int)"),
        ("run.constprop.12", "run"),
        ("walk'2", "walk"),
    ],
)
def test_names_do_not_depend_on_the_compilation(name: str, plain: str) -> None:
    assert instructions.plain(name) == plain


def counted(total: int, **changes: Any) -> dict[str, Any]:
    made = dict.fromkeys(("images", "pixels", "compiler", "libjpeg-turbo", "libc", "valgrind"), "x")
    functions = {"decode": total - 300, "resample": 200, "write": 100}
    return {**made, "target": "AVX2", "instructions": total, "functions": functions, **changes}


def test_within_a_hundredth_nothing_differs() -> None:
    assert instructions.differences(counted(1009), counted(1000)) == []
    assert instructions.differences(counted(991), counted(1000)) == []


def test_what_differs_is_named_the_largest_first() -> None:
    now = counted(1100, compiler="y", functions={"decode": 690, "resample": 310, "new": 100})
    assert instructions.differences(now, counted(1000)) == [
        "AVX2: 1,100 instructions, +10.00% to the stored 1,000",
        "  compiler was x, now y",
        "  +11.00%  resample",
        "  +10.00%  new",
        "  -10.00%  write",
        "   -1.00%  decode",
    ]


def test_the_check_fails_without_a_stored_count_and_for_one_that_differs() -> None:
    now = counted(1000)
    assert instructions.compare(now, {"AVX2": counted(1005)}) is False
    assert instructions.compare(now, {"AVX2": counted(900)}) is True
    assert instructions.compare(now, {"AVX2, sample records": counted(1000)}) is True
