"""Dataset files that others truncate or rewrite while in use: an error or the old content."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
from PIL import Image

import fuelrail as fr

# In a separate process, which a mapping of a truncated file would kill by SIGBUS.
CHILD = """
import pathlib
import sys
import fuelrail as fr

def rewrite(path, size, byte):
    with open(path, "r+b") as file:
        file.write(bytes([byte]) * size)

CHANGES = {
    "cut to nothing": lambda path, size: path.open("r+b").truncate(0),
    "cut in the middle": lambda path, size: path.open("r+b").truncate(size // 2),
    "cut and zeros put in place": lambda path, size: (
        path.open("r+b").truncate(0), rewrite(path, size, 0)),
    "overwritten": lambda path, size: rewrite(path, size, 255),
}

def read(data, index):
    sample = data[index]
    return {name: bytes(memoryview(v)) if isinstance(v, fr.Array) else v
            for name in sample.fields for v in [getattr(sample, name)]}

def check(name, files):
    failed = False
    for path in files:
        before = path.read_bytes()
        for change, make in CHANGES.items():
            print(name, path.name, change, flush=True)
            data = fr.open(name)
            middle, last = len(data) // 2, len(data) - 1
            checked = path.suffix not in (".png", ".jpg")  # those have no checksums
            right = {index: read(reference, index) for index in (0, middle, last)}
            read(data, 0)
            make(path, len(before))
            errors = 0
            for index in (0, middle, last, 1, 2, last - 1):
                try:
                    found = read(data, index)
                except fr.Error:
                    errors += 1
                else:
                    assert not checked or found == right.get(index, found), (change, index)
            loader = fr.Loader(data.subset([0, middle, last]), 1, fields=[data.schema[-1].name])
            batches = iter(loader)
            for index in (0, middle, last):
                try:
                    next(batches)
                except fr.Error:
                    errors += 1
            failed |= errors > 0
            path.write_bytes(before)
    assert failed or not name.endswith(("images.rec", "images.ffr")), name

for argument in sys.argv[1:]:
    name, *files = argument.split("|")
    reference = fr.open(name)
    check(name, [pathlib.Path(file) for file in files])
"""


def small_records(path: pathlib.Path, count: int) -> None:
    """A RecordIO file of `count` 4-byte records, more than fit into a sidecar without blocks."""
    records = np.zeros((count, 3), "<u4")
    records[:, 0], records[:, 1], records[:, 2] = 0xCED7230A, 4, np.arange(count)
    path.write_bytes(records.tobytes())


def test_a_file_that_is_changed_in_place_while_in_use_is_an_error_or_the_old_content(
    tmp_path: pathlib.Path,
) -> None:
    images = tmp_path / "images"
    for i in range(6):
        path = images / f"c{i % 2}" / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((8, 8, 3), i, np.uint8)).save(path)
    fr.pack(images, tmp_path / "images.rec")
    fr.pack(images, tmp_path / "images.ffr")
    (tmp_path / "images.lst").write_text(
        "".join(f"{i}\t{i}\timages/c{i % 2}/{i}.png\n" for i in range(6))
    )
    small_records(tmp_path / "many.rec", 70_000)
    fr.open(tmp_path / "many.rec")
    cases = {
        "images.rec": ["images.rec", "images.rec.frx", "images.idx"],
        "images.ffr": ["images.ffr", "images.ffr.frx"],
        "images.lst": ["images.lst", "images/c0/0.png"],
        "images": ["images/c1/5.png"],
        "many.rec": ["many.rec", "many.rec.frx"],
    }
    arguments = [
        "|".join(str(tmp_path / f) for f in (name, *files)) for name, files in cases.items()
    ]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-3000:]
