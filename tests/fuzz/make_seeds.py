"""Makes the seeds that tests/golden does not hold already: small, valid inputs of each parser.

    python tests/fuzz/make_seeds.py

Writes tests/fuzz/corpus/TARGET/seed-*. Beside them lie inputs that were found: those that reach
more of a parser, by their hash, and those that showed a mistake, by a name that says which. None of
these is made here, so none is touched.
"""

import json
import re
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden"
DOCS = HERE.parent.parent / "docs" / "formats"


def keep(target: str, name: str, data: bytes) -> None:
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed-{name}").write_bytes(data)


def tiff_block(endian: str, entries: list[tuple[int, int, int, int]]) -> bytes:
    block = (b"II*\0" if endian == "<" else b"MM\0*") + struct.pack(endian + "IH", 8, len(entries))
    for tag, kind, count, value in entries:
        short = struct.pack(endian + "HH", value, 0)
        block += struct.pack(endian + "HHI", tag, kind, count)
        block += short if kind in (3, 8) else struct.pack(endian + "I", value)
    return block + bytes(4)


def make_exif() -> None:
    for endian, name in (("<", "little"), (">", "big")):
        entries = [(0x0100, 4, 1, 29), (0x0112, 3, 1, 6), (0x0112, 9, 1, 3), (0x011C, 3, 1, 1)]
        keep("exif", name, tiff_block(endian, entries))
        keep("exif", f"{name}-prefixed", b"Exif\0\0" + tiff_block(endian, entries[:2]))
    keep("exif", "xmp-attribute", b'<rdf:Description tiff:Orientation="6"/>')
    keep("exif", "xmp-element", b"<tiff:Orientation>5</tiff:Orientation>")


def make_recordio() -> None:
    """The samples of the format's page, alone and all in one file."""
    page = (DOCS / "recordio.md").read_text()
    block = re.search(r"```recordio\n(.*?)```", page, re.S)
    assert block is not None
    records = [bytes.fromhex(line.split("->")[1]) for line in block[1].splitlines()]
    for number, record in enumerate(records):
        keep("recordio", f"sample-{number}", record)
    keep("recordio", "samples", b"".join(records))
    keep("recordio", "damaged", records[0] + b"damage!." + records[5] + records[2][:7])


def sidecar(sections: list[tuple[bytes, int, int, bytes]], size: int = 100) -> bytes:
    """A sidecar of (type, flags, block size, data)."""
    directory, body = b"", b""
    begin = 64 + 32 * len(sections)
    for kind, flags, block, data in sections:
        body += bytes(-(begin + len(body)) % 64)
        offset = begin + len(body)
        body += data
        crc = zlib.crc32(data)
        if block:
            parts = [data[at : at + block] for at in range(0, len(data), block)]
            crcs = b"".join(struct.pack("<I", zlib.crc32(part)) for part in parts)
            body += bytes(-(begin + len(body)) % 4) + crcs
            crc = zlib.crc32(crcs)
        directory += kind + struct.pack("<IQQII", flags, offset, len(data), block, crc)
    header = b"\x89FRX\r\n\x1a\n" + struct.pack("<HHI", 1, 0, len(sections))
    header += struct.pack("<QQII", begin + len(body), size, 0x11223344, 0x55667788) + bytes(20)
    return header + struct.pack("<I", zlib.crc32(header + directory)) + directory + body


def make_sidecars() -> None:
    page = (DOCS / "frx.md").read_text()
    block = re.search(r"```frx\n(.*?)```", page, re.S)
    assert block is not None
    lines = (re.sub(r"^\w+:|;.*", "", line) for line in block[1].splitlines())
    keep("sidecar", "sample", bytes.fromhex("".join(lines)))

    lengths = [8 + 4 * (i % 7) for i in range(40)]
    offsets = [sum(lengths[:i]) for i in range(40)]
    packed = b"".join(struct.pack("<Q", length) for length in lengths)
    table = b"".join(struct.pack("<QQ", *pair) for pair in zip(offsets, lengths, strict=True))
    meta = struct.pack("<QQII", 40, sum(lengths), zlib.crc32(packed), 0)
    crcs = b"".join(struct.pack("<I", i * 77) for i in range(40))
    names = [b"cat", b"", "Schildkröte".encode()]
    classes = struct.pack("<4I", 3, *map(len, names)) + b"".join(names)
    known = [(b"META", 0, 0, meta), (b"CLAS", 1, 0, classes)]
    known += [(b"LABL", 0, 0, struct.pack("<qII", -1, 0, 0))]
    tables = [(b"RECS", 0, 64, table), (b"CRCS", 0, 24, crcs), (b"ABCD", 1, 5, b"unknown")]
    keep("sidecar", "blocks", sidecar(known + tables, sum(lengths)))
    keep("sidecar", "meta-alone", sidecar(known[:1], sum(lengths)))
    keep("sidecar", "no-records", sidecar([(b"META", 0, 0, bytes(24)), (b"RECS", 0, 0, b"")], 0))


def make_texts() -> None:
    # The offsets at which the fuzz target's records begin: 9, 10, 11 and 8 bytes long.
    keep("idx", "all", b"0\t0\n1\t9\n2\t19\n3\t30\n")
    keep("idx", "odd", b"\n  key with spaces \t19\tmore\r\n\n0\t18446744073709551615\n")
    keep("image_list", "plain", b"0\t1\ta.jpg\n1\t0\tfolder/b c.png\n")
    keep("image_list", "odd", b"7\t1.5\t-2e3\t+0\t/a.jpg\r\n\n 7 \t16777217\tmemory://b\n1\tx\ty\n")
    state: dict[str, object] = {
        "version": 1,
        "dataset": "1281167-140126340912-9bd366ae",
        "seed": 2**64 - 1,
        "shuffle": "full",
        "epoch": 3,
        "position": 12345678901,
    }
    keep("state", "plain", json.dumps(state).encode())
    keep("state", "odd", json.dumps({**state, "more": [1, {"a": None}], "shuffle": "ü\0"}).encode())
    keep("state", "negative", json.dumps({**state, "epoch": -1, "seed": 1e300}).encode())


def make_image_records() -> None:
    keep("image_record", "one-label", struct.pack("<IfQQ", 0, 3.0, 7, 0) + b"\xff\xd8\xff")
    keep("image_record", "labels", struct.pack("<IfQQ3f", 3, 0, 7, 1, 1, 2.5, 1e30) + b"image")
    keep("image_record", "too-many", struct.pack("<IfQQ", 2**32 - 1, 0, 7, 1) + b"image")


def ffrecord(records: list[bytes], legacy: bool = False) -> bytes:
    table = struct.pack("<q", len(records))
    table += b"".join(struct.pack("<I", zlib.crc32(record)) for record in records)
    at = 12 + 12 * len(records)
    for record in records:
        table += struct.pack("<q", at)
        at += len(record)
    crc = 0 if legacy else zlib.crc32(table)
    return struct.pack("<I", crc) + table + b"".join(records)


def make_ffrecords() -> None:
    anything = [b"hello", b"", b"abc" * 7, bytes(range(256))]
    keep("ffrecord", "anything", ffrecord(anything))
    keep("ffrecord", "legacy", ffrecord(anything, legacy=True))
    keep("ffrecord", "empty", ffrecord([]))
    keep("ffrecord", "never-written", bytes(12 + 12 * 2) + b"records")
    labels = [(0,), (1, 2.5), ()]
    images = [
        struct.pack("<IfQQ", len(more) if len(more) > 1 else 0, 3.0, number, 0)
        + (struct.pack(f"<{len(more)}f", *more) if len(more) > 1 else b"")
        + b"\xff\xd8\xff\xe0"
        for number, more in enumerate(labels)
    ]
    keep("ffrecord", "images", ffrecord(images))
    keep("ffrecord", "appended", ffrecord(images[:1]) + b"more")


def make_packed_folders() -> None:
    """What pickle.dumps gave (tests/golden/ffrecord/pickles.txt), by every protocol."""
    for line in (GOLDEN / "ffrecord" / "pickles.txt").read_text().splitlines():
        name, data = line.split()
        keep("packed_folder", name, bytes.fromhex(data))
    folder = b"ccollections\nOrderedDict\n)R"
    keep("packed_folder", "itself", folder + b"q\x01X\1\0\0\0ah\1s.")
    keep("packed_folder", "longs", folder + b"(V\\u00e9\nL7L\nV\\U0001f63a\n\x8a\1\7p5\ng5\nu.")


if __name__ == "__main__":
    make_exif()
    make_recordio()
    make_sidecars()
    make_texts()
    make_image_records()
    make_ffrecords()
    make_packed_folders()
