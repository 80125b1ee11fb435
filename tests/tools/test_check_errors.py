"""`tools/check_errors`, on made-up sources: what is thrown is found, and a page that lacks it is refused."""

from __future__ import annotations

import pathlib

import pytest

from trees import laid, ran


def check(root: pathlib.Path, *options: str) -> tuple[int, str]:
    done = ran("check_errors", *options, root)
    assert done.stderr == ""
    return done.returncode, done.stdout


def tree(root: pathlib.Path, cpp: str = "", python: str = "", page: str = "") -> pathlib.Path:
    files = {
        "src/fuelrail/decode/x.cc": cpp,
        "src/fuelrail/decode/x_test.cc": 'throw DecodeError("only in a test");',
        "python/bindings/y.cc": "",
        "python/fuelrail/z.py": python,
        "docs/errors.md": page,
    }
    return laid(root, files)


def rows(root: pathlib.Path) -> list[str]:
    lines = (root / "docs" / "errors.md").read_text().splitlines()
    return [line for line in lines if line.startswith("| ") and "it says" not in line]


@pytest.mark.parametrize(
    ("cpp", "row"),
    [
        ('void f() { throw DecodeError("it is damaged", {.remedy = "Mend it"}); }', "it is damaged | Mend it"),
        ('void f() { throw DecodeError("it is "  // why\n"long"); }', "it is long |"),
        ('void f() { throw DecodeError(fmt::format("byte {} is {:02x}", a, b)); }', "byte ... is ... |"),
        ('void f() { throw DecodeError("no (" + name + ") there"); }', "no (...) there |"),
        ('void f() { throw DecodeError("a|b"); }', r"a\|b |"),
        ('void f() { throw DecodeError("no x", {.remedy = suggest(x, known)}); }', "no x | Take the name that it suggests"),
        ('void f() { throw DecodeError("no x", {.remedy = "See " + place}); }', "no x | See ..."),
        ('void fail(const char* what, ErrorDetail d = {}) { throw DecodeError(fmt::format("x: {}", what)); }\n'
         'void f() { fail("too small"); }', "x: too small |"),
        ('void f() { std::string failure = "it fails"; throw DecodeError(failure, {}); }', "it fails |"),
    ],
)  # fmt: skip
def test_what_is_thrown_is_a_row(tmp_path: pathlib.Path, cpp: str, row: str) -> None:
    tree(tmp_path, cpp)
    check(tmp_path, "--write")
    assert rows(tmp_path) == [f"| {row} |"]
    assert (
        "## DecodeError (`ValueError`)\n\n### decode\n" in (tmp_path / "docs/errors.md").read_text()
    )


def test_both_ways_of_a_choice_are_rows(tmp_path: pathlib.Path) -> None:
    tree(tmp_path, 'void f() { throw IoError(a::b ? "one" : "other", {}); }')
    check(tmp_path, "--write")
    assert rows(tmp_path) == ["| one | |", "| other | |"]


def test_python_is_read_too(tmp_path: pathlib.Path) -> None:
    python = 'raise StateError(f"`{name}` is closed", remedy="Make a new one")\nraise kind("bad")\nkind(data)'
    tree(tmp_path, python=python)
    check(tmp_path, "--write")
    assert rows(tmp_path) == ["| bad | |", "| `...` is closed | Make a new one |"]


def test_a_text_that_cannot_be_read_is_refused(tmp_path: pathlib.Path) -> None:
    tree(tmp_path, "void f() { throw IoError(text_of(x)); }", "raise StateError(said)\n")
    code, said = check(tmp_path)
    assert code == 1
    assert "src/fuelrail/decode/x.cc: the text of a IoError cannot be read: text_of(x)" in said
    assert "python/fuelrail/z.py:1: the text cannot be read: said" in said


def test_the_page_has_to_have_every_error_and_a_remedy(tmp_path: pathlib.Path) -> None:
    tree(
        tmp_path,
        'void f() { throw IoError("it fails"); throw IoError("or so", {.remedy = "Wait"}); }',
    )
    code, said = check(tmp_path)
    assert code == 1
    assert "IoError of decode, new or another remedy: it fails" in said
    assert "run tools/check_errors --write" in said

    assert check(tmp_path, "--write") == (
        1,
        "docs/errors.md: nothing says what to do after IoError of decode: it fails\n",
    )
    page = tmp_path / "docs" / "errors.md"
    page.write_text(page.read_text().replace("| it fails | |", "| it fails | Try again |"))
    assert check(tmp_path) == (0, "errors: docs/errors.md has all 2, each with a remedy\n")


def test_what_was_written_by_hand_stays(tmp_path: pathlib.Path) -> None:
    tree(tmp_path, 'void f() { throw IoError("it fails"); }')
    check(tmp_path, "--write")
    page = tmp_path / "docs" / "errors.md"
    written = page.read_text().replace(
        "## IoError (`OSError`)\n", "## IoError (`OSError`)\n\nUnless a row says otherwise: wait.\n"
    )
    page.write_text("# Errors\n\n" + written)
    assert check(tmp_path)[0] == 0
    (tmp_path / "src/fuelrail/decode/x.cc").write_text(
        'void f() { throw IoError("it fails anew"); }'
    )
    assert "no longer thrown: it fails" in check(tmp_path)[1]
    assert check(tmp_path, "--write")[0] == 0
    assert page.read_text() == "# Errors\n\n" + written.replace("it fails", "it fails anew")
