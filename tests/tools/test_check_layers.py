"""`tools/check_layers`, on made-up trees: each rule refuses what breaks it."""

from __future__ import annotations

import pathlib

import pytest

from trees import checked, laid

DESIGN = """
| module | may include |
|---|---|
| base | the standard library |
| storage, decode | base |
| loader | all of the above |
| bindings, examples | public headers |
| testing | everything; included by tests, fuzz and bench only |

| module | public headers |
|---|---|
| base | error.h |
| loader | loader.h |
"""

TREE = {
    "docs/design.md": DESIGN,
    "src/fuelrail/base/error.h": "#include <string>\n",
    "src/fuelrail/base/inside.h": "",
    "src/fuelrail/decode/decode.cc": '#include <jpeglib.h>\n#include "fuelrail/base/inside.h"\n',
    "src/fuelrail/decode/decode_test.cc": '#include "fuelrail/testing/suite.h"\n',
    "src/fuelrail/loader/loader.h": '#include "fuelrail/base/error.h"\n',
    "src/fuelrail/loader/loader.cc": '#include "fuelrail/decode/decode.h"\n',
    "src/fuelrail/testing/suite.h": '#include <gtest/gtest.h>\n#include "fuelrail/loader/loader.h"\n',
    "python/bindings/module.cc": '#include <nanobind/nanobind.h>\n#include "fuelrail/loader/loader.h"\n',
    "examples/cpp/example.cc": '#include "fuelrail/loader/loader.h"\n',
}


def check(root: pathlib.Path, changes: dict[str, str]) -> tuple[int, list[str]]:
    """The exit status and the lines printed for the tree with these files changed."""
    return checked("check_layers", laid(root, {**TREE, **changes}))


def test_a_tree_that_keeps_to_the_tables_passes(tmp_path: pathlib.Path) -> None:
    status, lines = check(tmp_path, {})
    assert (status, lines) == (0, ["layers: 9 files keep to the tables of docs/design.md"])


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "src/fuelrail/decode/decode.cc",
            '#include "fuelrail/storage/source.h"\n',
            "src/fuelrail/decode/decode.cc: 'decode' may not include 'storage' (fuelrail/storage/source.h)",
        ),
        (
            "src/fuelrail/loader/loader.cc",
            '#  include "fuelrail/testing/suite.h"\n',
            "src/fuelrail/loader/loader.cc: 'loader' may not include 'testing' (fuelrail/testing/suite.h)",
        ),
        (
            "src/fuelrail/extra/extra.cc",
            "",
            "src/fuelrail/extra/extra.cc: module 'extra' is not in the table of docs/design.md",
        ),
        (
            "src/fuelrail/loader/loader.h",
            "#include <jpeglib.h>\n",
            "src/fuelrail/loader/loader.h: a third-party type in a public header (jpeglib.h)",
        ),
        (
            "src/fuelrail/loader/loader.h",
            '#include "fuelrail/base/inside.h"\n',
            "src/fuelrail/loader/loader.h: a public header may not include a private one (fuelrail/base/inside.h)",
        ),
        (
            "python/bindings/bindings.h",
            '#include "fuelrail/base/inside.h"\n',
            "python/bindings/bindings.h: 'bindings' may include only public headers (fuelrail/base/inside.h)",
        ),
        (
            "examples/cpp/example.cc",
            '#include "fuelrail/base/inside.h"\n',
            "examples/cpp/example.cc: 'examples' may include only public headers (fuelrail/base/inside.h)",
        ),
        (
            "docs/design.md",
            DESIGN.replace("error.h", "error.h gone.h"),
            "docs/design.md: the public header src/fuelrail/base/gone.h does not exist",
        ),
    ],
)
def test_a_violation_is_refused_by_place(
    tmp_path: pathlib.Path, name: str, text: str, problem: str
) -> None:
    assert check(tmp_path, {name: text}) == (1, [problem])


def test_a_design_without_its_tables_is_refused(tmp_path: pathlib.Path) -> None:
    status, lines = check(tmp_path, {"docs/design.md": DESIGN.replace("may include", "includes")})
    assert status == 1
    assert lines == ["check_layers: docs/design.md has no table '| module | may include |'"]
