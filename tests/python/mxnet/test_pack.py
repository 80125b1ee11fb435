"""fuelrail.mxnet.recordio: headers and labels of image records (not their pixels)."""

from __future__ import annotations

import json
import pathlib
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.mxnet import recordio
from fuelrail.mxnet.recordio import IRHeader
from page import DOCS

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "mxnet"


def golden_pack() -> dict[str, Any]:
    made: dict[str, Any] = json.loads((GOLDEN / "pack.json").read_text())
    return made


LABELS: dict[str, Callable[[str], Any]] = {
    "float": float,
    "int": int,
    "bool": lambda text: text == "True",
    "list": json.loads,
    "tuple": lambda text: tuple(json.loads("[" + text[1:-1] + "]")),
    "ndarray": lambda text: np.array(json.loads(text)),
    "float32": lambda text: np.float32(text),
    "int64": lambda text: np.int64(text),
}


@pytest.mark.parametrize("case", golden_pack()["pack"], ids=lambda case: case["name"])
def test_packed_records_are_mxnets_byte_for_byte(case: dict[str, Any]) -> None:
    label = LABELS[case["label_type"]](case["label"])
    header = IRHeader(case["flag"], label, case["id"], case["id2"])
    packed = recordio.pack(header, bytes.fromhex(case["body"]))
    assert packed.hex() == case["packed"]
    back, content = recordio.unpack(packed)
    wanted = case["unpacked"]
    assert (back.flag, back.id, back.id2) == (wanted["flag"], wanted["id"], wanted["id2"])
    assert content.hex() == wanted["body"]
    if wanted["label_type"] == "float":
        assert isinstance(back.label, float)
        assert str(back.label) == wanted["label"]
    else:
        assert back.label.dtype == np.float32
        assert back.label.tolist() == json.loads(wanted["label"].replace("nan", "NaN"))


def test_what_cannot_be_packed_is_an_error() -> None:
    with pytest.raises(ValueError, match="a value of the header is out of range"):
        recordio.pack(IRHeader(0, 1.0, -1, 0), b"")
    with pytest.raises(ValueError, match="a value of the header is out of range"):
        recordio.pack(IRHeader(0, 1.0, 2**64, 0), b"")
    with pytest.raises(ValueError, match="a value of the header is out of range"):
        recordio.pack(IRHeader(0, 1e39, 0, 0), b"")
    with pytest.raises(ValueError, match="the label is invalid: expected a number, or an array"):
        recordio.pack(IRHeader(0, "a", 0, 0), b"")
    with pytest.raises(TypeError, match="content has the wrong type: expected bytes"):
        recordio.pack(IRHeader(0, 1.0, 0, 0), "text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the header is invalid"):
        recordio.pack((0, 1.0), b"")  # type: ignore[arg-type]


def test_no_label_packs_as_mxnet_does() -> None:
    assert recordio.pack(IRHeader(0, None, 0, 0), b"").hex() == golden_pack()["errors"][
        "none_label"
    ].removeprefix("returns ")


def test_a_record_without_its_header_or_labels_is_truncated() -> None:
    with pytest.raises(fr.TruncatedError, match="expected 24 bytes, found 23"):
        recordio.unpack(bytes(23))
    for size in (0, 3, 7):
        with pytest.raises(fr.TruncatedError, match="ends inside its labels"):
            recordio.unpack(struct.pack("<IfQQ", 2, 0, 0, 0) + bytes(size))
    with pytest.raises(fr.TruncatedError, match="ends inside its labels"):
        recordio.unpack(struct.pack("<IfQQ", 2**32 - 1, 0, 0, 0) + bytes(100))


def test_the_format_page_says_what_is_packed() -> None:
    page = (DOCS / "formats" / "recordio.md").read_text()
    (block,) = re.findall(r"^```image_record\n(.*?)^```$", page, re.M | re.S)
    for line in block.splitlines():
        packed, said = (part.strip() for part in line.split("->"))
        record = bytes.fromhex(packed)
        flag, number, id2, rest = said.split(" ", 3)
        labels, image = re.fullmatch(r"\[(.*)\] ?(.*)", rest).groups()  # type: ignore[union-attr]
        header, content = recordio.unpack(record)
        assert (header.flag, header.id, header.id2) == (int(flag), int(number), int(id2))
        assert np.ravel(header.label).tolist() == [float(label) for label in labels.split()]
        assert content == bytes.fromhex(image)
        if header.flag == 0 or record[4:8] == bytes(4):  # else the header's label is lost
            assert recordio.pack(header, content) == record
