"""Runs the programs of pages as a reader pastes them: one after the other, into an interpreter that knows nothing of
fuelrail, in an empty folder; each page in a process of its own.

    python pasted_pages.py FOLDER < pages.json     # {page: [program, ...]}; prints {page: what it said if it failed}
"""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import sys
import traceback

import PIL.Image  # noqa: F401  what is slow to import is imported once
import torch  # noqa: F401


def pasted(programs: list[str]) -> int:
    """0 where nothing failed. Interpreters that have torch take long to end: what a program does at its end is done here."""
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        for program in programs:
            exec(compile(program, "page", "exec"), names)
        names.clear()
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def run(programs: list[str], folder: pathlib.Path, said: pathlib.Path) -> str:
    """What the page said if it failed."""
    folder.mkdir()
    child = os.fork()
    if child == 0:
        with said.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(folder)
        os._exit(pasted(programs))
    status = os.waitpid(child, 0)[1]
    return said.read_text() or f"status {status}" if status != 0 else ""


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    pages = json.load(sys.stdin)
    results = {page: run(pages[page], folder / page, folder / f"{page}.txt") for page in pages}
    sys.stdout.write(json.dumps(results))
