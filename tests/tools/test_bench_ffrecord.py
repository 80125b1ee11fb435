"""bench/ffrecord.py: its short form measures every row, and leaves nothing behind."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def measured(
    folder: pathlib.Path, sizes: tuple[int, ...], *more: str, **environment: str
) -> tuple[dict[str, Any], str]:
    """The result, and what was printed."""
    work = folder / "work"
    work.mkdir()
    command = [sys.executable, str(ROOT / "bench" / "ffrecord.py"), "--quick"]
    command += ["--dir", str(work), "--json", str(folder / "result.json")]
    command += ["--sizes", *map(str, sizes), *more]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    assert list(work.iterdir()) == []
    return json.loads((folder / "result.json").read_text()), done.stdout


def check_rows(result: dict[str, Any], sizes: tuple[int, ...], present: set[str]) -> None:
    rows = [(r["record_bytes"], r["cache"], r["batch"], r["checksums"]) for r in result["rows"]]
    cases = (sizes, ("warm", "dropped"), (4, 64, 1024), (False, True))
    assert rows == list(itertools.product(*cases))
    for row in result["rows"]:
        contenders = row["contenders"]
        assert list(contenders) == ["fuelrail", "the original", "os.pread", "os.preadv"]
        assert {name for name, values in contenders.items() if values is not None} == present
        for name in present:
            for what in ("gb_per_second", "records_per_second"):
                median, spread = contenders[name][what]
                assert median > 0
                assert spread >= 0
        assert row["records_a_round"] >= row["batch"]


@pytest.fixture
def without_original() -> None:
    try:
        __import__("ffrecord")
    except ImportError:
        return
    pytest.skip("the original is installed here")


@pytest.mark.usefixtures("without_original")
def test_every_row_is_measured_without_the_original(tmp_path: pathlib.Path) -> None:
    result, printed = measured(tmp_path, (16, 1000))
    check_rows(result, (16, 1000), {"fuelrail", "os.pread", "os.preadv"})
    assert result["readers"]["original"].startswith("not installed: ")
    assert result["dropped_by"] == "posix_fadvise(DONTNEED) alone"
    assert printed.count("| not installed |") == 2 * len(result["rows"])
    assert result["machine"]["commit"]


def test_what_is_imported_as_the_original_is_measured(tmp_path: pathlib.Path) -> None:
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "ffrecord.py").write_text("from fuelrail.ffrecord import FileReader as FileReader\n")
    path = os.pathsep.join(filter(None, (str(modules), os.environ.get("PYTHONPATH"))))
    result, printed = measured(tmp_path, (100,), "--original", sys.executable, PYTHONPATH=path)
    check_rows(result, (100,), {"fuelrail", "the original", "os.pread", "os.preadv"})
    assert all(set(r["ratio_of_fuelrail_to"]) >= {"plain", "original"} for r in result["rows"])
    assert "not installed" not in printed
