"""Long jobs show progress on a terminal, and nothing elsewhere."""

from __future__ import annotations

import os
import pathlib
import pty
import subprocess
import sys

import pytest

import fuelrail as fr

JOBS = """
import fuelrail as fr

progress = {progress}
fr.pack({folder!r}, "x.rec", progress=progress)
fr.convert("x.rec", "x.ffr", progress=progress)
fr.merge("m.rec", ["x.rec"], progress=progress)
fr.recover("x.rec", "r.rec", progress=progress)
"""


def shown_by(code: str, cwd: pathlib.Path) -> str:
    """The text that the code writes to its terminal."""
    own, terminal = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-c", code], stderr=terminal, cwd=cwd, timeout=60, check=True
        )
        os.set_blocking(own, False)
        shown = b""
        try:
            while piece := os.read(own, 4096):
                shown += piece
        except BlockingIOError:
            pass
        return shown.decode()
    finally:
        os.close(own)
        os.close(terminal)


def test_a_terminal_shows_a_line_that_goes_with_the_job(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    shown = shown_by(JOBS.format(folder=str(folder), progress=None), tmp_path)
    for line in (
        "\rread 31 of 31 images (100 %), ",
        "\rconverted 31 of 31 records (100 %), ",
        "\rmerged 31 of 31 records (100 %), ",
        "\rread ",
    ):
        assert line in shown
    assert shown.endswith("\r\x1b[K")
    assert "\n" not in shown


def test_false_shows_nothing(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert shown_by(JOBS.format(folder=str(folder), progress=False), tmp_path) == ""


def test_what_is_no_terminal_is_shown_nothing(
    folder: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    fr.pack(folder, tmp_path / "x.rec")
    monkeypatch.setattr(sys, "stderr", None)
    fr.convert(tmp_path / "x.rec", tmp_path / "x.ffr")
    assert capfd.readouterr().err == ""


def test_what_cannot_be_called_is_refused(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(fr.ArgumentTypeError, match=r"a function, None or False, found True"):
        fr.pack(folder, tmp_path / "x.rec", progress=True)
