"""Image lists (`.lst`), against those that MXNet's `im2rec.py --list` wrote for the same tree."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import pytest

import fuelrail as fr
from fuelrail.mxnet.lists import make_lists

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "mxnet" / "lists"
RUNS: dict[str, Any] = json.loads((GOLDEN / "lists.json").read_text())


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    root = tmp_path_factory.mktemp("tree")
    for name in (GOLDEN / "tree.txt").read_text().splitlines():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def options_of(arguments: list[str]) -> dict[str, Any]:
    """Converts im2rec.py's arguments to those of `make_lists`."""
    options: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        if argument == "--recursive":
            options["recursive"] = True
        elif argument == "--no-shuffle":
            options["shuffle"] = False
        elif argument == "--chunks":
            options["chunks"] = int(next(rest))
        elif argument in ("--train-ratio", "--test-ratio"):
            options[argument[2:].replace("-", "_")] = float(next(rest))
        elif argument == "--exts":
            options["exts"] = list(rest)
        else:
            assert argument == "--list", argument
    return options


@pytest.mark.parametrize("name", RUNS)
def test_the_lists_are_mxnets_byte_for_byte(
    name: str, tree: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    run = RUNS[name]
    made = make_lists(tmp_path / name, tree, **options_of(run["arguments"]))
    assert sorted(os.path.basename(path) for path in made.paths) == run["files"]
    assert sorted(os.listdir(tmp_path)) == run["files"]
    for file in run["files"]:
        assert (tmp_path / file).read_bytes() == (GOLDEN / file).read_bytes(), file
    assert [f"{folder} {label}" for folder, label in made.labels.items()] == run["printed"]
    rows = sum(len((tmp_path / file).read_bytes().splitlines()) for file in run["files"])
    assert made.images == rows + (name == "train50test50")  # 17 and 17 of 35


def test_a_list_that_is_there_is_only_replaced_where_that_is_allowed(
    tree: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a_val.lst").write_text("mine")
    with pytest.raises(fr.IoError, match=r"a_val\.lst: the output already exists.*overwrite"):
        make_lists(tmp_path / "a", tree, train_ratio=0.5)
    assert os.listdir(tmp_path) == ["a_val.lst"]
    assert (tmp_path / "a_val.lst").read_text() == "mine"
    make_lists(tmp_path / "a", tree, train_ratio=0.5, overwrite=True)
    assert (tmp_path / "a_val.lst").read_text() != "mine"


def test_extensions_are_taken_in_either_case(tmp_path: pathlib.Path) -> None:
    """MXNet's `--exts .JPG` finds nothing."""
    (tmp_path / "photos").mkdir()
    for name in ("a.JPG", "b.jpg", "c.png"):
        (tmp_path / "photos" / name).touch()
    assert make_lists(tmp_path / "a", tmp_path / "photos", exts=[".JPG"]).images == 2


def test_what_cannot_be_is_refused(tree: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="chunks"):
        make_lists(tmp_path / "a", tree, chunks=0)
    with pytest.raises(ValueError, match="ratios are out of range"):
        make_lists(tmp_path / "a", tree, train_ratio=0.5, test_ratio=0.6)
    with pytest.raises(TypeError, match="exts"):
        make_lists(tmp_path / "a", tree, exts=".jpg")
    with pytest.raises(ValueError, match="the file extension is invalid"):
        make_lists(tmp_path / "a", tree, exts=["jpg"])
    with pytest.raises(TypeError, match="recursive"):
        make_lists(tmp_path / "a", tree, recursve=True)
    with pytest.raises(FileNotFoundError, match="no image"):
        make_lists(tmp_path / "a", tree / "emptydir")
    with pytest.raises(fr.NotFoundError, match="none"):
        make_lists(tmp_path / "a", tree / "none")
    assert os.listdir(tmp_path) == []
