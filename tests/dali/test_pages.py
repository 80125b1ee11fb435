"""The programs of the pages that need DALI, as they stand there."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from guides import ROOT, blocks

PAGES = [page for page in (ROOT / "docs").glob("*.md") if blocks("python dali", page.read_text())]


def test_the_page_for_users_of_accvlab_has_programs_with_dali() -> None:
    assert "from_accvlab.md" in {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_programs_of_a_page_run_one_after_the_other(
    page: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    program = "\n".join(blocks("python(?: dali)?", page.read_text()))
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-"],
        input=program,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
