"""A reader of sample records in plain Python, written only from docs/formats/frs1.md."""

from __future__ import annotations

import itertools
import math
import struct
from collections import namedtuple
from typing import Any

import numpy as np

NONE, LIST, MIB = 65535, 1, 1 << 20
KINDS = ("image", "tensor", "bytes", "text")
DTYPES = ("?", "u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<u2", "<f4", "<f8")
ROLES = ("", "image", "mask", "map", "boxes", "points", "camera", "label")


Field = namedtuple("Field", "kind dtype role flags of rows shape detail name")


def require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def pieces(data: bytes, sizes: list[int]) -> list[bytes]:
    """Cuts padded pieces of these sizes from `data`, and checks that nothing else is in it."""
    found, at = [], 0
    for size in sizes:
        end = at + size + -size % 8
        require(end <= len(data) and not any(data[at + size : end]), "a piece or its padding")
        found.append(data[at : at + size])
        at = end
    require(at == len(data), "bytes are left")
    return found


def read_fields(data: bytes) -> list[Field]:
    fields, at = [], 0
    while at < len(data):
        kind, dtype, role, flags, of, rows, d, n, detail = struct.unpack_from("<4B2H2BH", data, at)
        require(kind < 4 and dtype < 13 and role < 8 and flags < 64, "an unknown number")
        size = 12 + 4 * d + n
        (whole,) = pieces(data[at : at + size + -size % 8], [size])
        shape, name = struct.unpack_from(f"<{d}i", whole, 12), whole[12 + 4 * d :].decode("ascii")
        fields.append(Field(KINDS[kind], dtype, ROLES[role], flags, of, rows, shape, detail, name))
        at += size + -size % 8
    return fields


def read_sample(payload: bytes) -> tuple[int, dict[str, Any]]:
    """The id and the values by name: bytes, str, arrays (of bfloat16: its bits), lists."""
    magic, count, zero, d, t, number, n = struct.unpack_from("<4sHHIIQQ", payload)
    require(magic == b"FRS1" and zero == 0 and d <= MIB and t <= MIB, "the header")
    described, table, body = pieces(payload[32:], [d, t, n])
    fields, words = read_fields(described), iter(struct.unpack(f"<{t // 8}Q", table))
    require(len(fields) == count, "the number of fields")
    layouts = []  # of each field: bytes, then sizes of items or extents
    for field in fields:
        size = next(words)
        listed = [next(words) for _ in range(next(words))] if field.flags & LIST else []
        layouts.append((size, listed or [next(words) if e < 0 else e for e in field.shape]))
    require(next(words, None) is None, "the table has more words")
    values: dict[str, Any] = {}
    for field, raw, (_, extra) in zip(
        fields, pieces(body, [size for size, _ in layouts]), layouts, strict=True
    ):
        if field.flags & LIST:
            require(sum(extra) == len(raw), "the sizes of items")
            ends = np.cumsum([0, *extra])
            items = [raw[a:b] for a, b in itertools.pairwise(ends)]
            values[field.name] = [i.decode() for i in items] if field.kind == "text" else items
        elif field.kind == "tensor":
            dtype = np.dtype(DTYPES[field.dtype])
            require(math.prod(extra) * dtype.itemsize == len(raw), "the size of a tensor")
            values[field.name] = np.frombuffer(raw, dtype).reshape(extra)
        else:
            values[field.name] = raw.decode() if field.kind == "text" else raw
    return number, values
