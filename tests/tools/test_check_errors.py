"""`tools/check_errors`, on sources made for the test: each problem is reported with its place."""

from __future__ import annotations

import pathlib

import pytest

from trees import laid, ran

PAGE = "| class | when |\n|---|---|\n| `IoError` | |\n"


def check(root: pathlib.Path, cpp: str = "", python: str = "", page: str = PAGE) -> tuple[int, str]:
    files = {
        "src/fuelrail/decode/x.cc": cpp,
        "src/fuelrail/decode/x_test.cc": 'throw IoError("Only in a test.");',
        "python/bindings/y.cc": "",
        "python/fuelrail/z.py": python,
        "python/fuelrail/errors.py": "class IoError(Exception): ...\n",
        "docs/errors.md": page,
    }
    done = ran("check_errors", laid(root, files))
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("cpp", "problem"),
    [
        ('throw IoError("it fails.", {});', "the failure ends with a full stop: it fails."),
        ('throw IoError("It "  // why\n"fails");', "the failure begins with a capital: It fails"),
        ('throw IoError(fmt::format("Byte {} is {:02x}", a, b));', "begins with a capital: Byte … is …"),
        ('throw IoError(a::b ? "one" : "Other", {});', "the failure begins with a capital: Other"),
        ('throw IoError("no x", {.remedy = "Stop; wait."});', "the remedy ends with a full stop: Stop; wait."),
        ('throw IoError("no x", {.remedy = "wait"});', "the remedy begins without a capital: wait"),
        ('throw IoError("no x", {.expected = "a y.", .found = z});', "the expected ends with a full stop: a y."),
        ('ErrorDetail d; d.remedy = "Wait " + time + ".";', "the remedy ends with a full stop: Wait …."),
    ],
)  # fmt: skip
def test_a_part_of_another_form_is_refused(tmp_path: pathlib.Path, cpp: str, problem: str) -> None:
    code, said = check(tmp_path, cpp)
    assert code == 1
    assert said.startswith("src/fuelrail/decode/x.cc:")
    assert problem in said


def test_python_is_checked_too(tmp_path: pathlib.Path) -> None:
    code, said = check(tmp_path, python='\nraise IoError(f"It of {x}", remedy="again")\n')
    assert code == 1
    assert said.splitlines() == [
        "python/fuelrail/z.py:2: the failure begins with a capital: It of …",
        "python/fuelrail/z.py:2: the remedy begins without a capital: again",
    ]


def test_one_thing_in_two_phrases_is_refused(tmp_path: pathlib.Path) -> None:
    code, said = check(
        tmp_path,
        'throw IoError("the indices are not a list"); throw IoError("it is a file, not a folder");',
        'raise IoError("this is not a list of indices")\nraise IoError("it is a folder, not a file")\n',
    )
    assert code == 1
    assert said.count("\n") == 1
    assert "x.cc:1: the indices are not a list; python/fuelrail/z.py:1: this is not a list" in said


def test_a_class_without_a_row_is_refused(tmp_path: pathlib.Path) -> None:
    assert check(tmp_path, page="") == (1, "docs/errors.md has no row for IoError\n")


def test_what_is_right_is_counted(tmp_path: pathlib.Path) -> None:
    cpp = 'throw IoError("the PNG ends early", {.expected = "8 bytes", .remedy = "Copy it again"});'
    assert check(tmp_path, cpp, 'raise IoError(said, remedy=f"{x} knows")\n') == (
        0,
        "errors: 1 texts have their parts, and say different things\n",
    )
