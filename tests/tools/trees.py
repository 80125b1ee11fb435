"""Made-up trees, on which the tests run the checks of `tools/`."""

from __future__ import annotations

import pathlib
import subprocess
import sys

TOOLS = pathlib.Path(__file__).parents[2] / "tools"


def laid(root: pathlib.Path, files: dict[str, str]) -> pathlib.Path:
    """The root, with these files in it."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def ran(tool: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, TOOLS / tool, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def checked(tool: str, root: pathlib.Path) -> tuple[int, list[str]]:
    """The exit status and the lines that the tool prints of the tree."""
    done = ran(tool, root)
    return done.returncode, (done.stdout + done.stderr).splitlines()
