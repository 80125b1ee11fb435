"""`tools/affected`, which chooses what `./run test --quick` runs, in a made-up repository."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

from trees import TOOLS, laid

MODULES = {
    "base": "fuelrail_module(base\n  SOURCES a.cc\n  TESTS a_test.cc\n  RELEASE_TESTS b_test.cc)\n",
    "decode": "fuelrail_module(decode\n  DEPENDS base\n  RELEASE_TESTS c_test.cc)\n",
    "loader": "fuelrail_module(loader\n  DEPENDS base decode\n  LIBRARIES fmt\n  TESTS d_test.cc)\n",
    "cli": "fuelrail_module(cli\n  DEPENDS loader\n  TESTS e_test.cc)\n",
}


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    """A repository whose branch `mine` begins at `main`."""
    files = {f"src/fuelrail/{name}/CMakeLists.txt": text for name, text in MODULES.items()}
    folders = ("dataset", "loader", "pack", "package", "support", "torch")
    files |= {f"tests/python/{name}/a.py": "" for name in folders}
    laid(tmp_path, files)
    (tmp_path / "tools").mkdir()
    shutil.copy(TOOLS / "affected", tmp_path / "tools")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path)
    git(tmp_path, "checkout", "-q", "-b", "mine")
    return tmp_path


def git(root: pathlib.Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", root, *arguments], check=True)


def commit(root: pathlib.Path) -> None:
    git(root, "add", ".")
    git(root, "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x")


def affected(root: pathlib.Path, *question: str) -> str:
    command = [root / "tools" / "affected", *question]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.rstrip("\n")


def test_nothing_is_affected_where_nothing_differs(root: pathlib.Path) -> None:
    assert [affected(root, what) for what in ("modules", "programs", "folders")] == ["", "", ""]


def test_modules_that_link_the_changed_one_are_affected(root: pathlib.Path) -> None:
    laid(root, {"src/fuelrail/decode/png/a.cc": ""})  # not known to git yet
    assert affected(root, "modules") == "cli decode loader"
    assert affected(root, "programs") == (
        "cli_test decode_test loader_test bzna_test faults_test command_test"
    )
    assert affected(root, "folders") == "tests/python/dataset tests/python/loader"


def test_commits_of_the_branch_count_and_those_of_main_do_not(root: pathlib.Path) -> None:
    laid(root, {"src/fuelrail/loader/a.cc": ""})
    commit(root)
    git(root, "checkout", "-q", "main")
    laid(root, {"src/fuelrail/base/a.cc": ""})
    commit(root)
    git(root, "checkout", "-q", "mine")
    assert affected(root, "modules") == "cli loader"


def test_integration_tests_are_built_where_they_change(root: pathlib.Path) -> None:
    laid(root, {"tests/integration/faults_test.cc": ""})
    assert affected(root, "modules") == ""
    assert affected(root, "programs") == (
        "bzna_test faults_test replacing_test faulty_reads_test command_test"
    )


def test_without_main_it_asks_for_what_is_not_committed(root: pathlib.Path) -> None:
    laid(root, {"src/fuelrail/loader/a.cc": ""})
    commit(root)
    git(root, "branch", "-q", "-D", "main")
    laid(root, {"src/fuelrail/cli/a.cc": ""})
    assert affected(root, "modules") == "cli"


@pytest.mark.parametrize(
    "path", ["cmake/A.cmake", "src/fuelrail/CMakeLists.txt", "src/fuelrail/testing/a.h"]
)
def test_what_all_modules_share_affects_all(root: pathlib.Path, path: str) -> None:
    laid(root, {path: ""})
    assert affected(root, "modules") == "base cli decode loader"
    assert affected(root, "programs").startswith("base_test base_release_test cli_test")


@pytest.mark.parametrize(
    ("path", "folders"),
    [
        ("python/fuelrail/loader.py", ["loader", "package"]),
        ("python/fuelrail/torch/tensors.py", ["package", "torch"]),
        ("python/fuelrail/packer.py", ["pack", "package"]),
        ("python/fuelrail/new.py", ["dataset", "loader", "pack", "package", "torch"]),
        ("python/bindings/bind_decode.cc", ["dataset", "loader", "package"]),
        ("python/bindings/arrays.cc", ["dataset", "loader", "pack", "package", "torch"]),
        ("tests/python/torch/test_a.py", ["torch"]),
        ("tests/python/support/a.py", ["dataset", "loader", "pack", "package", "torch"]),
        ("examples/clips/train.py", ["package"]),
        ("docs/a.md", []),
    ],
)
def test_python_folders_are_those_named_for_the_file(
    root: pathlib.Path, path: str, folders: list[str]
) -> None:
    laid(root, {path: "a"})
    assert affected(root, "modules") == ""
    assert affected(root, "folders").split() == [f"tests/python/{name}" for name in folders]


@pytest.mark.parametrize(
    "path",
    [
        "python/fuelrail/inputs/a.py",
        "tests/dali/test_a.py",
        "tests/python/support/dali_a.py",
        "examples/structured_inputs/train.py",
    ],
)
def test_structured_inputs_are_also_tested_with_dali(root: pathlib.Path, path: str) -> None:
    laid(root, {path: ""})
    assert "tests/dali" in affected(root, "folders").split()


@pytest.mark.parametrize("path", ["tools/format", "tests/tools/test_a.py"])
def test_tools_are_tested_where_they_change(root: pathlib.Path, path: str) -> None:
    laid(root, {path: ""})
    assert affected(root, "folders") == "tests/tools"


def test_the_summary_says_what_is_left_out(root: pathlib.Path) -> None:
    laid(root, {"src/fuelrail/loader/a.cc": ""})
    said = affected(root)
    assert "not the whole suite" in said
    assert "release build: cli loader\n" in said
    assert "C++ tests of base decode; all sanitizers" in said
