"""Sample records: written by the core, read by the package and by a reader written from the page."""

from __future__ import annotations

import pathlib
import random
import struct
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail import _core
from fuelrail.ffrecord import FileWriter
from fuelrail.mxnet.recordio import MXRecordIO
from sample_records import read_sample

LIST = 1
FIELDS: list[tuple[Any, ...]] = [
    ("views.0.image", "image", None, (), "image", None, None, 0, 0),
    ("views.0.mask", "image", None, (), "mask", 0, None, 0, 255),
    ("views.0.boxes", "tensor", "float32", (-1, 4), "boxes", 0, 2, 0, 0),
    ("views.0.labels", "tensor", "int64", (-1,), "label", None, 2, 0, 0),
    ("half", "tensor", "bfloat16", (2,), "", None, None, 0, 0),
    ("flag", "tensor", "bool", (), "", None, None, 0, 0),
    ("captions", "text", None, (), "", None, None, LIST, 0),
    ("extra", "bytes", None, (), "", None, None, 0, 0),
]


def values_of(number: int) -> list[Any]:
    rows = number % 3
    boxes = np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)
    half = np.array([0x3F80, 0x4000], np.uint16)  # 1 and 2
    texts = [f"caption é {k}" for k in range(number % 4)]
    return [
        b"an image %d" % number,
        bytearray(b"a mask"),
        boxes,
        np.arange(rows),
        half,
        np.array(number % 2 == 1),
        texts,
        memoryview(b"x" * number),
    ]


def payloads(count: int) -> list[bytes]:
    encoder = _core.SampleEncoder(FIELDS)
    return [encoder.encode(number + 100, values_of(number)) for number in range(count)]


def write(path: pathlib.Path, records: list[bytes]) -> pathlib.Path:
    if path.suffix == ".ffr":
        with FileWriter(str(path), len(records)) as writer:
            for record in records:
                writer.write_one(record)
    else:
        file = MXRecordIO(str(path), "w")
        for record in records:
            file.write(record)
        file.close()
    return path


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(np.asarray(a), np.asarray(b)))
    return bool(a == b)


@pytest.mark.parametrize("extension", [".rec", ".ffr"])
def test_the_plain_reader_and_the_package_read_the_same(
    tmp_path: pathlib.Path, extension: str
) -> None:
    data = fr.open(write(tmp_path / f"x{extension}", payloads(9)))
    assert data._container.fields == FIELDS
    for number, payload in enumerate(payloads(9)):
        stored, plain = read_sample(payload)
        sample = data[number]
        assert sample.id == stored == number + 100
        for (name, _, dtype, *_), given in zip(FIELDS, values_of(number), strict=True):
            assert equal(
                plain[name], bytes(given) if isinstance(given, bytearray | memoryview) else given
            )
            if dtype != "bfloat16":  # which NumPy does not have
                assert equal(sample[name], plain[name]), name


def refused_by_plain_reader(payload: bytes) -> bool:
    try:
        read_sample(payload)
    except (ValueError, StopIteration, struct.error):
        return True
    return False


def test_what_the_plain_reader_refuses_the_package_refuses(tmp_path: pathlib.Path) -> None:
    rng = random.Random(1)
    (sound,) = payloads(6)[5:]
    damaged = [sound[: rng.randrange(len(sound))] for _ in range(100)]
    for _ in range(300):
        changed = bytearray(sound)
        changed[rng.randrange(len(sound))] ^= 1 << rng.randrange(8)
        damaged.append(bytes(changed))
    records = [sound] * (len(damaged) + 1) + damaged
    data = fr.open(write(tmp_path / "x.rec", records), sidecar="ignore")
    accepted = 0
    for record, payload in zip(range(len(damaged) + 1, len(records)), damaged, strict=True):
        try:
            data[record]
            accepted += 1
            assert not refused_by_plain_reader(payload)
        except (fr.CorruptError, fr.UnsupportedError):
            pass
    assert 0 < accepted < len(damaged) / 2


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({0: "text"}, "a bytes-like object is required"),
        (
            {2: np.zeros((2, 4))},
            "the value of field 'views.0.boxes' has the wrong type: expected an array of float32",
        ),
        ({2: np.zeros((2, 4), ">f4")}, "expected an array of float32"),
        (
            {2: np.zeros((4, 2), np.float32)},
            "the value of field 'views.0.boxes' has the wrong shape",
        ),
        ({3: np.zeros(1, np.int64)}, "have different numbers of rows"),
        ({6: [b"bytes"]}, "the value of field 'captions' is not text"),
        ({6: ["\ud800"]}, "the value of field 'captions' is not text"),
        ({7: None}, "a bytes-like object is required"),
    ],
)
def test_a_wrong_value_is_refused_with_its_field(change: dict[int, Any], text: str) -> None:
    values = values_of(2)
    for number, value in change.items():
        values[number] = value
    with pytest.raises((fr.InvalidArgumentError, TypeError), match=text):
        _core.SampleEncoder(FIELDS).encode(0, values)


def test_labels_are_limited_to_the_classes_and_schemas_are_checked() -> None:
    encoder = _core.SampleEncoder(FIELDS)
    encoder.limit_labels("views.0.labels", 1)
    encoder.encode(0, values_of(1))
    with pytest.raises(
        fr.InvalidArgumentError,
        match=r"not one of its classes: expected 0 to 0, because .* is 1, found 1",
    ):
        encoder.encode(0, values_of(2))
    with pytest.raises(
        fr.InvalidArgumentError, match=r"unknown role 'box'\. Did you mean 'boxes'\?"
    ):
        _core.SampleEncoder([("a", "tensor", "float32", (-1, 4), "box", None, None, 0, 0)])
    with pytest.raises(fr.InvalidArgumentError, match="field 'a' refers to no image"):
        _core.SampleEncoder([("a", "tensor", "float32", (-1, 4), "boxes", None, None, 0, 0)])
