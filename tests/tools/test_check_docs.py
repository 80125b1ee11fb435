"""`tools/check_docs`, on made-up trees: each kind of dead pointer is refused by page and line."""

from __future__ import annotations

import pathlib

import pytest

from trees import checked, laid

TREE = {
    "src/fuelrail/base/error.h": "",
    "docs/design.md": "# The design\n\n## 1. `Words`, and more\n## Twice\n## Twice\n",
    "build/generated.md": "[never read](nowhere.md)\n",
    ".cache/notes.md": "[never read](nowhere.md)\n",
}


def check(root: pathlib.Path, readme: str) -> tuple[int, list[str]]:
    """The exit status and the lines printed for the tree with this README."""
    return checked("check_docs", laid(root, {**TREE, "README.md": readme}))


@pytest.mark.parametrize(
    "text",
    [
        "[a page](docs/design.md), [a heading](docs/design.md#1-words-and-more), [a folder](src)",
        "[the second of two](docs/design.md#twice-1)",
        "# Here\n[here](#here) and [elsewhere](https://example.org/a.md#b) and <mailto:a@b>",
        "`src/fuelrail/base/error.h`, `base/error.h`, `base/`, `docs/*.md`, `error.h`",
        "`train/val`, `a / b`, `build/release/x`, `.cache/bench`, `and/or`, `--flag`, `fr.open`",
        "```sh\n[in a block](nowhere.md) `src/nothing.h`\n```",
    ],
)
def test_what_resolves_passes(tmp_path: pathlib.Path, text: str) -> None:
    assert check(tmp_path, text) == (0, ["docs: the links and paths of 2 pages resolve"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[x](docs/gone.md)", "the link (docs/gone.md): the file does not exist"),
        ("![x](gone.png)", "the link (gone.png): the file does not exist"),
        (
            "[x](docs/design.md#gone)",
            "the link (docs/design.md#gone): the page has no such heading",
        ),
        ("[x](#gone)", "the link (#gone): the page has no such heading"),
        ("`src/fuelrail/gone.h`", "`src/fuelrail/gone.h`: the path does not exist"),
        ("`base/gone.h`", "`base/gone.h`: the path does not exist"),
        ("`docs/*.txt`", "`docs/*.txt`: the path does not exist"),
        ("`gone.h`", "`gone.h`: no file has this name"),
    ],
)
def test_what_is_not_there_is_refused_by_page_and_line(
    tmp_path: pathlib.Path, text: str, problem: str
) -> None:
    assert check(tmp_path, f"```\na block\n```\n{text}\n") == (1, [f"README.md:4: {problem}"])
