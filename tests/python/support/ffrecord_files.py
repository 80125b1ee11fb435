"""FFRecord files written only from the format's page, to test reader and writer independently."""

from __future__ import annotations

import json
import pathlib
import random
import struct
import zlib
from collections.abc import Sequence

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "ffrecord"
MANIFEST = json.loads((GOLDEN / "manifest.json").read_text())


def table_of(crcs: Sequence[int], offsets: Sequence[int]) -> bytes:
    """The bytes before the first record, with the correct checksum even for invalid values."""
    n = len(crcs)
    body = struct.pack(f"<q{n}I{n}q", n, *crcs, *offsets)
    return struct.pack("<I", zlib.crc32(body)) + body


def file_of(records: Sequence[bytes]) -> bytes:
    offsets = []
    at = 12 + 12 * len(records)
    for record in records:
        offsets.append(at)
        at += len(record)
    return table_of([zlib.crc32(one) for one in records], offsets) + b"".join(records)


def numbered(count: int, most_bytes: int = 3000, seed: int = 0) -> list[bytes]:
    """Records of many lengths; the first is empty."""
    rng = random.Random(seed)
    return [b"", *(rng.randbytes(rng.randrange(1, most_bytes)) for _ in range(count - 1))]


def write(path: pathlib.Path, records: Sequence[bytes]) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file_of(records))
    return path


def without_checksum(path: pathlib.Path) -> pathlib.Path:
    """The file as the format's first versions wrote it: its table has no checksum."""
    path.write_bytes(bytes(4) + path.read_bytes()[4:])
    return path


def damage(path: pathlib.Path, offset: int) -> None:
    """Changes the byte at `offset`."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x55
    path.write_bytes(data)
