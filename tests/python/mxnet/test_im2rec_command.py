"""`fuelrail im2rec` with MXNet's command lines, against the outputs of `im2rec.py`."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import pytest

import fuelrail as fr
from fuelrail.mxnet import im2rec
from im2rec_goldens import GOLDEN, RUNS, check_headers, params_of, put_images, put_run

LISTS: dict[str, Any] = json.loads((GOLDEN / "lists" / "lists.json").read_text())


def command(*words: object) -> int:
    """Returns: the exit code."""
    return fr._core.cli_main(["fuelrail", "im2rec", *map(str, words)])


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    root = tmp_path_factory.mktemp("tree")
    for name in (GOLDEN / "lists" / "tree.txt").read_text().splitlines():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


@pytest.mark.parametrize("name", LISTS)
def test_the_lists_are_mxnets_byte_for_byte(
    name: str, tree: pathlib.Path, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = LISTS[name]
    assert command(tmp_path / name, tree, *run["arguments"]) == 0
    assert capfd.readouterr().out.splitlines() == run["printed"]
    assert sorted(os.listdir(tmp_path)) == run["files"]
    for file in run["files"]:
        assert (tmp_path / file).read_bytes() == (GOLDEN / "lists" / file).read_bytes(), file


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return put_images(tmp_path_factory.mktemp("images"))


@pytest.mark.filterwarnings("ignore:.*lines with several labels")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_makes_what_mxnets_makes_and_python_too(
    name: str, images: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """test_im2rec.py compares the pixels with MXNet's."""
    listed, run = put_run(name, tmp_path)
    assert command(listed.with_suffix(""), images, *run["arguments"], "-q") == 0
    params = params_of(run["arguments"]) | {"root": images}
    im2rec(listed, None, params, tmp_path / "python.rec")
    for end in (".rec", ".idx", ".rec.frx"):
        assert (tmp_path / f"x{end}").read_bytes() == (tmp_path / f"python{end}").read_bytes(), end
    check_headers(tmp_path / "x.rec", run)
    if name in ("pass", "labels1_pack"):
        for end in (".rec", ".idx"):
            expected = (GOLDEN / "im2rec" / f"pass{end}").read_bytes()
            assert (tmp_path / f"x{end}").read_bytes() == expected, end


def test_parts_and_merge_are_the_golden_file(
    images: pathlib.Path, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.lst").write_bytes((GOLDEN / "im2rec" / "one.lst").read_bytes())
    for part in range(3):
        words = (tmp_path / "x", images, "--pass-through", "--nsplit", 3, "--part", part, "-q")
        assert command(*words) == 0
    parts = [str(tmp_path / f"x.part00{part}.rec") for part in range(3)]
    assert fr._core.cli_main(["fuelrail", "merge", str(tmp_path / "m.rec"), *parts, "-q"]) == 0
    assert (tmp_path / "m.rec").read_bytes() == (GOLDEN / "im2rec" / "pass.rec").read_bytes()
    assert (tmp_path / "m.idx").read_bytes() == (GOLDEN / "im2rec" / "pass.idx").read_bytes()
