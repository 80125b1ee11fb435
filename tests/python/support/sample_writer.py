"""Writes sample records (FRS1, docs/formats/frs1.md) in plain Python."""

from __future__ import annotations

import pathlib
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fuelrail.mxnet import recordio

KINDS = ("image", "tensor", "bytes", "text")
DTYPES = (
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16",
    "bfloat16", "float32", "float64",
)  # fmt: skip
ROLES = ("", "image", "mask", "map", "boxes", "points", "camera", "label")
NONE = 0xFFFF


class Field(NamedTuple):
    name: str
    kind: str
    dtype: str = "bool"  # of a tensor
    shape: tuple[int, ...] = ()
    role: str = ""
    of: int = NONE
    rows: int = NONE
    is_list: bool = False


def image(name: str, **more: Any) -> Field:
    return Field(name, "image", role="image", **more)


def tensor(name: str, dtype: str, shape: tuple[int, ...] = (), **more: Any) -> Field:
    return Field(name, "tensor", dtype, shape, **more)


def encoded_record(fields: Sequence[Field], values: Sequence[Any], number: int) -> bytes:
    """The payload of a sample: bytes for images and raw bytes, str for text, arrays, or lists."""
    descriptors = b"".join(_descriptor(field) for field in fields)
    table, parts = [], []
    for field, value in zip(fields, values, strict=True):
        items = [_bytes_of(field, item) for item in (value if field.is_list else [value])]
        whole = b"".join(items)
        table.append(len(whole))
        if field.is_list:
            table += [len(items), *map(len, items)]
        if field.kind == "tensor":
            shape = zip(np.shape(value), field.shape, strict=True)
            table += [size for size, of in shape if of == -1]
        parts.append(_padded(whole))
    header = struct.pack(
        "<4sHHIIQQ", b"FRS1", len(fields), 0, len(descriptors), 8 * len(table), number,
        sum(map(len, parts)),
    )  # fmt: skip
    return b"".join([header, descriptors, struct.pack(f"<{len(table)}Q", *table), *parts])


def sample_file(
    path: pathlib.Path, fields: Sequence[Field], samples: Iterable[Sequence[Any]]
) -> pathlib.Path:
    """Writes a RecordIO file and its index. The samples' ids are 100, 101, ..."""
    file = recordio.MXIndexedRecordIO(str(path.with_suffix(".idx")), str(path), "w")
    for number, values in enumerate(samples, 100):
        file.write_idx(number, encoded_record(fields, values, number))
    file.close()
    return path


def _descriptor(field: Field) -> bytes:
    name = field.name.encode()
    begin = struct.pack(
        "<BBBBHHBBH", KINDS.index(field.kind), DTYPES.index(field.dtype), ROLES.index(field.role),
        int(field.is_list), field.of, field.rows, len(field.shape), len(name), 0,
    )  # fmt: skip
    return _padded(begin + struct.pack(f"<{len(field.shape)}i", *field.shape) + name)


def _bytes_of(field: Field, value: Any) -> bytes:
    if field.kind == "tensor":
        return np.asarray(value, field.dtype).tobytes()
    return value.encode() if field.kind == "text" else value


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 8)
