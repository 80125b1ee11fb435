"""Sample records: packed, and read by the package and by a reader written from the page."""

from __future__ import annotations

import pathlib
import random
import struct
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import fields as F
from fuelrail.ffrecord import FileWriter
from fuelrail.mxnet.recordio import MXRecordIO
from sample_records import read_sample

SCHEMA = fr.Schema(
    {
        "views": [
            {
                "image": F.Image(),
                "mask": F.Mask(),
                "boxes": F.Boxes("xyxy", rows="objects"),
                "labels": F.Label(rows="objects"),
            }
        ],
        "half": F.Tensor("bfloat16", (2,)),
        "flag": F.Tensor("bool"),
        "captions": F.Text(list=True),
        "extra": F.Bytes(),
    }
)


def values_of(number: int) -> list[Any]:
    rows = number % 3
    boxes = np.arange(4 * rows, dtype=np.float32).reshape(rows, 4)
    texts = [f"caption é {k}" for k in range(number % 4)]
    return [
        b"an image %d" % number,
        b"a mask",
        boxes,
        np.arange(rows),
        np.array([1, 2], np.float32),
        number % 2 == 1,
        texts,
        b"x" * number,
    ]


def pack(path: pathlib.Path, count: int) -> pathlib.Path:
    samples = [SCHEMA.nest(values_of(number)) for number in range(count)]
    for sample in samples:
        sample["half"] = sample["half"].tolist()
    fr.pack(samples, path, schema=SCHEMA, verify_images=False)
    return path


def payloads(folder: pathlib.Path, count: int) -> list[bytes]:
    file = MXRecordIO(str(pack(folder / "payloads.rec", count)), "r")
    records = list(iter(file.read, None))
    file.close()
    return records


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
    data = fr.open(pack(tmp_path / f"x{extension}", 9))
    for number, payload in enumerate(payloads(tmp_path, 9)):
        stored, plain = read_sample(payload)
        sample = data[number]
        assert sample.id == stored == number
        assert tuple(plain) == sample.fields
        plain["half"] = (plain["half"].astype(np.uint32) << 16).view(np.float32)
        for name, given in zip(plain, values_of(number), strict=True):
            assert equal(plain[name], given), name
            found = sample[name]
            if name == "half":
                found = torch.from_dlpack(found).to(torch.float32).numpy()
            assert equal(found, given), name


def refused_by_plain_reader(payload: bytes) -> bool:
    try:
        read_sample(payload)
    except (ValueError, StopIteration, struct.error):
        return True
    return False


def test_what_the_plain_reader_refuses_the_package_refuses(tmp_path: pathlib.Path) -> None:
    rng = random.Random(1)
    (sound,) = payloads(tmp_path, 6)[5:]
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
