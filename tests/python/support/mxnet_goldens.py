"""Copies of the files that MXNet 1.9.1 wrote and read (tests/golden/mxnet), for tests."""

from __future__ import annotations

import json
import pathlib
import shutil
from typing import Any

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "mxnet"


def copied(to: pathlib.Path) -> pathlib.Path:
    """Copies the record files, indices and lists to a folder, where sidecars may be written."""
    for file in GOLDEN.iterdir():
        if file.suffix in (".rec", ".idx", ".lst"):
            shutil.copy(file, to)
    return to


def said(name: str) -> Any:
    """Reads one of the JSON files."""
    return json.loads((GOLDEN / name).read_text())


def placed(arguments: dict[str, Any], root: pathlib.Path) -> dict[str, Any]:
    """Puts the paths in an iterator's arguments into `root`."""
    changed = dict(arguments)
    for name in ("path_imgrec", "path_imgidx", "path_imglist", "mean_img"):
        if changed.get(name):
            changed[name] = ";".join(str(root / item) for item in changed[name].split(";"))
    return changed
