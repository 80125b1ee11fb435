"""`.bzna` files without an encoder: their records are that of docs/formats/bzna.md."""

from __future__ import annotations

import pathlib
import re

import fuelrail as fr
from page import DOCS


def page_file() -> bytes:
    """The file of the page: one record with the label 3 and the name "cat.jpg"."""
    page = (DOCS / "formats" / "bzna.md").read_text()
    block = re.search(r"```bzna\n(.*?)```", page, re.S)
    assert block is not None
    digits = "".join(line.split(";")[0].split(":", 1)[1] for line in block[1].splitlines())
    return bytes.fromhex(re.sub(r"0\{(\d+)\}", lambda run: "00" * int(run[1]), digits))


RECORD = page_file()[40:0x849]


def records(count: int) -> list[bytes]:
    """The record of the page, with bitstreams that differ."""
    return [RECORD.replace(b"imagethumb", f"imag{i:x}thum{i:x}".encode(), 1) for i in range(count)]


def packed(folder: pathlib.Path, per_class: int = 3) -> pathlib.Path:
    """A file that `fuelrail.pack` makes of records in two classes: the splits train and validation
    have the same records.
    """
    for i, record in enumerate(records(2 * per_class)):
        directory = folder / "source" / ("ant", "bee")[i // per_class]
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{i}.mp4").write_bytes(record)
    source = folder / "source"
    fr.pack({"train": source, "validation": source}, folder / "x.bzna")
    return folder / "x.bzna"
