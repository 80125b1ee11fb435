"""The demo, which new users run first, with few photographs."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import numpy as np
from PIL import Image

import fuelrail as fr

DEMO = pathlib.Path(__file__).parents[3] / "examples" / "photographs" / "demo.py"


def test_the_demo_packs_shows_and_trains(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "demo"
    done = subprocess.run(
        [sys.executable, DEMO, "--train", "120", "--val", "24", "--epochs", "1", "--out", out],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr

    for line in (
        rf"-- creating photographs in {re.escape(str(out))}",
        r"train\.rec: 120 records",
        r"val\.rec: 24 records",
        r"120 training images of 12 classes: astronaut, brick, ",
        r"-- the loader without training: \d+ images/s",
        r"epoch 1/1  loss \d+\.\d{3}  validation accuracy \d+\.\d%  \d+ images/s",
        r"-- stopped after 3 batches \(a state of \d+ bytes\), .*: the next batch is equal, bit for bit",
        r"-- done in \d+ s; all files are in ",
    ):
        assert re.search(line, done.stdout), (line, done.stdout)

    assert len(fr.open(out / "train.rec")) == 120
    assert len(fr.open(out / "val.rec").classes) == 12
    sheet = np.asarray(Image.open(out / "contact-sheet.png"))
    assert sheet.shape == (4 * 100 + 4, 8 * 100 + 4, 3)
    cells = sheet[4:, 4:].reshape(4, 100, 8, 100, 3)[:, :96, :, :96]
    assert (cells.std(axis=(1, 3, 4)) > 1).all(), "a cell of the contact sheet is empty"
