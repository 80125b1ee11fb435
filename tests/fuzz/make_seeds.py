"""Makes the seeds that tests/golden does not hold already: small, valid inputs of each parser.

    python tests/fuzz/make_seeds.py

Writes tests/fuzz/corpus/TARGET/seed-*. Beside them lie inputs that were found: those that reach
more of a parser, by their hash, and those that showed a mistake, by a name that says which. None of
these is made here, so none is touched.
"""

import json
import re
import struct
import subprocess
import tempfile
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


def make_npy() -> None:
    """Arrays whose elements are not pixels, and dicts in other forms."""
    for descr, shape, size in (
        ("<u2", "(3, 5)", 30),
        ("<i4", "(3, 5, 1)", 60),
        ("<f2", "(3, 5, 3)", 90),
        ("<f4", "(3, 5)", 60),
    ):
        dict_text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n"
        length = struct.pack("<H", len(dict_text))
        data = b"\x93NUMPY\1\0" + length + dict_text.encode() + bytes(range(size))
        keep("npy", descr.lstrip("<"), data)
    other = b'{"shape":(2,2),"fortran_order":False,"descr":"|u1"}'
    keep("npy", "quotes", b"\x93NUMPY\2\0" + struct.pack("<I", len(other)) + other + b"abcd")


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


def make_bzna() -> None:
    """The sample of the format's page, whole and cut."""
    page = (DOCS / "bzna.md").read_text()
    block = re.search(r"```bzna\n(.*?)```", page, re.S)
    assert block is not None
    digits = "".join(line.split(";")[0].split(":", 1)[1] for line in block[1].splitlines())
    file = bytes.fromhex(re.sub(r"0\{(\d+)\}", lambda run: "00" * int(run[1]), digits))
    keep("bzna", "sample", file)
    keep("bzna", "without-tables", file[: file.rindex(b"moov") - 4])


def make_hevc() -> None:
    """Stills of x265 and x264, from ffmpeg: the decoder's box and the sample."""
    for codec, box, first in (("libx265", b"hvcC", 0), ("libx264", b"avcC", 1)):
        for pixels in ("yuv420p", "yuvj444p"):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "x.mp4")
                source = ["-f", "lavfi", "-i", "testsrc=size=64x64", "-frames:v", "1"]
                quiet = ["-x265-params", "info=0:log-level=none"] if codec == "libx265" else []
                encoding = ["-c:v", codec, "-pix_fmt", pixels, *quiet]
                command = ["ffmpeg", "-v", "error", *source, *encoding, str(path)]
                subprocess.run(command, check=True)
                file = path.read_bytes()
            at = file.index(box)
            parameters = file[at + 4 : at - 4 + int.from_bytes(file[at - 4 : at], "big")]
            at = file.index(b"mdat")
            sample = file[at + 4 : at - 4 + int.from_bytes(file[at - 4 : at], "big")]
            head = struct.pack("<BH", first, len(parameters))
            keep("hevc", f"{codec}-{pixels}", head + parameters + sample)


Section = tuple[bytes, int, int, bytes]  # type, flags, block size, data
PAGE_ENDS = (0x11223344, 0x55667788)  # in the sample of the format's page


def sidecar(sections: list[Section], size: int = 100, ends: tuple[int, int] = PAGE_ENDS) -> bytes:
    """A sidecar of a file of `size` bytes, `ends` being the CRC-32 of its first and last 4 KiB."""
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
    header += struct.pack("<QQII", begin + len(body), size, *ends) + bytes(20)
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
    fields = [known[0], (b"FLDS", 0, 0, descriptors(ROWS))]
    fields += [(b"SCHM", 1, 0, b'{"classes": {"a.labels": ["cat", "dog"]}, "more": []}')]
    keep("sidecar", "samples", sidecar(fields, sum(lengths)))
    keep("sidecar", "meta-alone", sidecar(known[:1], sum(lengths)))
    keep("sidecar", "no-records", sidecar([(b"META", 0, 0, bytes(24)), (b"RECS", 0, 0, b"")], 0))


def records_of(file: bytes) -> list[bytes]:
    """The framed records of a RecordIO file, from its heads."""
    records, begin, at = [], 0, 0
    while at < len(file):
        _, lrec = struct.unpack_from("<II", file, at)
        at += 8 + (lrec % 2**29 + 3) // 4 * 4
        if lrec >> 29 in (0, 3):  # a whole record, or the last part of one
            records.append(file[begin:at])
            begin = at
    return records


def payload_of(record: bytes) -> bytes:
    parts, at = [], 0
    while at < len(record):
        length = struct.unpack_from("<I", record, at + 4)[0] % 2**29
        parts.append(record[at + 8 : at + 8 + length])
        at += 8 + (length + 3) // 4 * 4
    return struct.pack("<I", 0xCED7230A).join(parts)


INTEGERS: Section = (b"LABL", 0, 0, struct.pack("<qII", 1, 1, 0))
CLASSES: Section = (b"CLAS", 1, 0, struct.pack("<2I", 1, 3) + b"odd")


def keep_pair(target: str, name: str, file: bytes, beside: bytes) -> None:
    keep(target, name, struct.pack("<H", len(file)) + file + beside)


def make_pairs() -> None:
    """RecordIO files with their sidecars: the file's length, the file, the sidecar."""

    def pair(name: str, records: list[bytes], known: list[Section], block: int = 0) -> None:
        lengths = [len(record) for record in records]
        places = [(sum(lengths[:i]), length) for i, length in enumerate(lengths)]
        packed = b"".join(struct.pack("<Q", length) for length in lengths)
        meta = struct.pack("<QQII", len(records), sum(lengths), zlib.crc32(packed), 0)
        table = b"".join(struct.pack("<QQ", *place) for place in places)
        sections = [(b"META", 0, 0, meta), *known, (b"RECS", 0, block, table)]
        if name != "scanned":
            crcs = [zlib.crc32(payload_of(record)) for record in records]
            packed = b"".join(struct.pack("<I", crc) for crc in crcs)
            sections.append((b"CRCS", 0, block // 4, packed))
        file = b"".join(records)
        ends = (zlib.crc32(file[:4096]), zlib.crc32(file[-4096:]))
        keep_pair("recordio_pair", name, file, sidecar(sections, len(file), ends))

    sample = records_of((GOLDEN / "recordio" / "sample.rec").read_bytes())[-5:]
    pair("indexed", sample, [INTEGERS, CLASSES])
    pair("scanned", sample, [INTEGERS])
    pair("blocks", sample, [INTEGERS, (b"KEPT", 1, 7, b"what is unknown")], 32)
    labels = records_of((GOLDEN / "mxnet" / "multilabel.rec").read_bytes())
    pair("labels", labels[:2], [(b"LABL", 0, 0, struct.pack("<qII", -1, 0, 0))])
    parts = (HERE / "corpus" / "recordio" / "seed-samples").read_bytes()
    pair("parts", records_of(parts), [])
    samples = [
        struct.pack("<II", 0xCED7230A, len(label_sample(i))) + label_sample(i) for i in range(3)
    ]
    fields = (b"FLDS", 0, 0, descriptors(ONE_LABEL))
    names = (b"SCHM", 1, 0, b'{"classes": {"label": ["cat", "dog"]}}')
    pair("samples", samples, [fields, CLASSES, names])


def make_texts() -> None:
    # The offsets at which the fuzz target's records begin: 9, 10, 11 and 8 bytes long.
    keep("idx", "all", b"0\t0\n1\t9\n2\t19\n3\t30\n")
    keep("idx", "odd", b"\n  key with spaces \t19\tmore\r\n\n0\t18446744073709551615\n")
    keep("image_list", "plain", b"0\t1\ta.jpg\n1\t0\tfolder/b c.png\n")
    keep("image_list", "odd", b"7\t1.5\t-2e3\t+0\t/a.jpg\r\n\n 7 \t16777217\tmemory://b\n1\tx\ty\n")
    keep("image_list", "words", b"0\tdog\ta.jpg\n1\tcat\tb.jpg\n2\tdog\tc.jpg\n")
    keep("csv_rows", "words", b'path,label\r\n"a, ""b"".jpg",dog\r\n\r\n c.jpg , cat\r\n')
    keep("csv_rows", "tabs", b'Label\tid\tPATH\n1\t7\ta b.jpg\n-2.5\t8\t"c\nd.jpg"\n')
    keep("csv_rows", "odd", b'path,label\na"b,1\n"a"b,1\n,\nc,1,2\n"d')
    coco = {
        "images": [{"id": 7, "file_name": "a.jpg", "height": 4, "width": 6}],
        "categories": [{"id": 3, "name": "car"}],
        "annotations": [
            {
                "id": 1,
                "image_id": 7,
                "category_id": 3,
                "bbox": [0, 0, 2, 2],
                "keypoints": [1, 2, 2],
            },
            {"image_id": 7, "caption": "A car."},
        ],
    }
    for number, segmentation in enumerate(
        (
            [[0, 0, 2, 0, 2, 2.5]],
            {"size": [4, 6], "counts": [4, 2, 18]},
            {"size": [4, 6], "counts": "d04"},
        )
    ):
        coco["annotations"][0]["segmentation"] = segmentation
        keep("coco", f"mask-{number}", json.dumps(coco).encode())
    corners = "<xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4.5</ymax>"
    voc_object = (
        f"<object><name>dog</name><difficult>1</difficult><bndbox>{corners}</bndbox></object>"
    )
    keep("voc", "plain", f"<?xml version='1.0'?><annotation>{voc_object}</annotation>".encode())
    keep(
        "jsonl",
        "plain",
        b'{"a": "x.jpg", "b": [[1, 2.5]], "c": ["t"]}\n\n{"c": [], "b": [], "a": "y.png"}\n',
    )
    keep("class_names", "plain", "cat\r\nhot dog\nSchildkröte\n".encode())
    keep("class_names", "odd", b"\xef\xbb\xbf a \n b\tc\n\n")
    state: dict[str, object] = {
        "version": 1,
        "dataset": "1281167-140126340912-9bd366ae",
        "classes": "1000-3c21d89f",
        "seed": 2**64 - 1,
        "shuffle": "full",
        "epoch": 3,
        "position": 12345678901,
    }
    keep("state", "plain", json.dumps(state).encode())
    keep("state", "odd", json.dumps({**state, "more": [1, {"a": None}], "shuffle": "ü\0"}).encode())
    keep("state", "negative", json.dumps({**state, "epoch": -1, "seed": 1e300}).encode())


def make_journals() -> None:
    record = struct.pack("<BII", 1, 1304, 0x12345678)
    left_out = struct.pack("<BI", 2, 18) + b"the image is empty"
    completed = struct.pack("<BIQII", 3, 0, 1304, 5, 6)
    entries = record + left_out + completed + struct.pack("<BQ", 4, 1) + record
    journal = b"frpackj1" + struct.pack("<II", 3, zlib.crc32(b"job")) + b"job"
    for block in (record, left_out + completed):
        journal += struct.pack("<II", len(block), zlib.crc32(block)) + block
    keep("pack_journal", "entries", entries)
    keep("pack_journal", "blocks", journal)
    keep("pack_journal", "cut", journal[:-7])


def make_image_records() -> None:
    keep("image_record", "one-label", struct.pack("<IfQQ", 0, 3.0, 7, 0) + b"\xff\xd8\xff")
    keep("image_record", "labels", struct.pack("<IfQQ3f", 3, 0, 7, 1, 1, 2.5, 1e30) + b"image")
    keep("image_record", "too-many", struct.pack("<IfQQ", 2**32 - 1, 0, 7, 1) + b"image")


Field = tuple[int, int, int, int, int, int, tuple[int, ...], int, str]


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def descriptors(fields: list[Field]) -> bytes:
    """Of kind, dtype, role, flags, of, rows, extents, detail and name of each field."""
    made = b""
    for kind, dtype, role, flags, of, rows, extents, detail, name in fields:
        head = struct.pack(
            "<4B2H2BH", kind, dtype, role, flags, of, rows, len(extents), len(name), detail
        )
        made += padded(head + struct.pack(f"<{len(extents)}i", *extents) + name.encode())
    return made


def sample_record(fields: list[Field], number: int, table: list[int], values: list[bytes]) -> bytes:
    described, body = descriptors(fields), b"".join(map(padded, values))
    lengths = len(described), 8 * len(table), number, len(body)
    header = b"FRS1" + struct.pack("<HHIIQQ", len(fields), 0, *lengths)
    return header + described + struct.pack(f"<{len(table)}Q", *table) + body


NONE = 65535
ONE_LABEL: list[Field] = [
    (0, 0, 1, 0, NONE, NONE, (), 0, "image"),
    (1, 8, 7, 0, NONE, NONE, (), 0, "label"),
]
ROWS: list[Field] = [
    (0, 0, 1, 0, NONE, NONE, (), 0, "a.image"),
    (0, 0, 2, 33, 0, NONE, (), 255, "a.masks"),
    (1, 11, 4, 6, 0, 2, (-1, 4), 2, "a.boxes"),
    (1, 8, 7, 0, NONE, 2, (-1,), 0, "a.labels"),
    (1, 12, 5, 4, 0, 2, (-1, 2, 3), 0, "a.points"),
    (1, 0, 0, 0, NONE, NONE, (3,), 0, "a.flags"),
    (3, 0, 0, 1, NONE, NONE, (), 0, "texts.0"),
    (2, 0, 0, 0, NONE, NONE, (), 0, "texts.1"),
]


def label_sample(number: int) -> bytes:
    return sample_record(ONE_LABEL, number, [4, 8], [JPEG, struct.pack("<q", number % 2)])


def rows_sample(rows: int) -> bytes:
    values = [JPEG, JPEG * 2, struct.pack("<4f", 1, 2, 3, 4) * rows, struct.pack("<q", 1) * rows]
    values += [bytes(48 * rows), b"\1\0\1", "Bär".encode(), b"abc"]
    table = [4, 8, 2, 4, 4, 16 * rows, rows, 8 * rows, rows, 48 * rows, rows, 3, 4, 1, 4, 3]
    return sample_record(ROWS, rows, table, values)


def make_sample_records() -> None:
    page = (DOCS / "frs1.md").read_text()
    block = re.search(r"```frs1\n(.*?)```", page, re.S)
    assert block is not None
    lines = (re.sub(r"^\w+:|;.*", "", line) for line in block[1].splitlines())
    keep("sample_record", "page", bytes.fromhex("".join(lines)))
    for rows in range(3):
        keep("sample_record", f"rows-{rows}", rows_sample(rows))
    keep("sample_record", "unknown", sample_record([(9, *ROWS[0][1:])], 0, [1], [b"x"]))
    # The table and the values of a record of made_schema (testing/made_samples.h), with one box.
    table = [8, 6, 16, 1, 8, 1, 72, 11, 1, 11, 5, 8]
    values = [b"an image", b"a mask", struct.pack("<4f", 0, 0, 2, 3), bytes(8), bytes(72)]
    values += ["caption é 0".encode(), b"extra", bytes(8)]
    body = struct.pack(f"<{len(table)}Q", *table) + b"".join(map(padded, values))
    keep("sample_record", "made", bytes([len(table)]) + body)


def ffrecord(records: list[bytes], legacy: bool = False) -> bytes:
    table = struct.pack("<q", len(records))
    table += b"".join(struct.pack("<I", zlib.crc32(record)) for record in records)
    at = 12 + 12 * len(records)
    for record in records:
        table += struct.pack("<q", at)
        at += len(record)
    crc = 0 if legacy else zlib.crc32(table)
    return struct.pack("<I", crc) + table + b"".join(records)


def image_record(number: int, labels: tuple[float, ...], image: bytes) -> bytes:
    counted = len(labels) if len(labels) != 1 else 0
    header = struct.pack("<IfQQ", counted, labels[0] if len(labels) == 1 else 0.0, number, 0)
    return header + (struct.pack(f"<{counted}f", *labels) if counted else b"") + image


JPEG = b"\xff\xd8\xff\xe0"
ANYTHING = [b"hello", b"", b"abc" * 7, bytes(range(256))]
IMAGES = [image_record(i, labels, JPEG) for i, labels in enumerate([(3,), (1, 2.5), (0,)])]


def make_ffrecords() -> None:
    keep("ffrecord", "anything", ffrecord(ANYTHING))
    keep("ffrecord", "legacy", ffrecord(ANYTHING, legacy=True))
    keep("ffrecord", "legacy-images", ffrecord(IMAGES, legacy=True))
    keep("ffrecord", "empty", ffrecord([]))
    keep("ffrecord", "never-written", bytes(12 + 12 * 2) + b"records")
    keep("ffrecord", "images", ffrecord(IMAGES))
    keep("ffrecord", "samples", ffrecord([label_sample(i) for i in range(3)]))
    keep("ffrecord", "many-labels", ffrecord([image_record(0, (1.0,) * 40, JPEG)] * 2))
    keep("ffrecord", "appended", ffrecord(IMAGES[:1]) + b"more")
    keep("ffrecord", "half-a-mark", ffrecord([*ANYTHING, FOLDER_MARK[:5]]))
    keep("ffrecord", "packed", ffrecord([JPEG, JPEG + b"2", b"text", FOLDER_MARK + CLASS_FOLDERS]))


def make_ffrecord_pairs() -> None:
    def pair(
        name: str,
        records: list[bytes],
        known: list[Section],
        legacy: bool = False,
        said: int | None = None,  # how many records the sidecar says there are
    ) -> None:
        packed = b"".join(struct.pack("<Q", len(record)) for record in records)
        total = sum(map(len, records))
        count = len(records) if said is None else said
        meta = struct.pack("<QQII", count, total, zlib.crc32(packed), 0)
        file = ffrecord(records, legacy)
        ends = (zlib.crc32(file[:4096]), zlib.crc32(file[-4096:]))
        beside = sidecar([(b"META", 0, 0, meta), *known], len(file), ends)
        keep_pair("ffrecord_pair", name, file, beside)

    floats: Section = (b"LABL", 0, 0, struct.pack("<qII", -1, 0, 0))
    whole = [image_record(i, (i,), JPEG) for i in range(3)]
    pair("anything", ANYTHING, [])
    pair("legacy", ANYTHING, [], legacy=True)
    pair("empty", [], [])
    pair("labels", IMAGES, [floats])
    pair("classes", whole, [INTEGERS, CLASSES, (b"KEPT", 1, 7, b"what is unknown")])
    pair("legacy-images", whole, [INTEGERS, CLASSES], legacy=True)
    pair("another-table", ANYTHING, [], said=3)
    pair("not-what-they-are", ANYTHING, [INTEGERS])
    table = struct.pack("<4Q", 0, 5, 5, 21)
    pair("with-tables", ANYTHING[::2], [(b"RECS", 0, 0, table), (b"CRCS", 0, 0, bytes(8))])


ORDERED_DICT = b"ccollections\nOrderedDict\n)R"
FOLDER_MARK = b"piouhjgbr"


def pickled(name: bytes) -> bytes:
    return b"X" + struct.pack("<I", len(name)) + name


# A folder of two classes, with a name that is no image's.
CLASS_FOLDERS = (
    ORDERED_DICT
    + b"("
    + pickled(b"ant")
    + (ORDERED_DICT + b"(" + pickled(b"a.jpg") + b"K\0" + pickled(b"notes.txt") + b"K\2u")
    + pickled(b"bee")
    + (ORDERED_DICT + b"(" + pickled(b"deep"))
    + (ORDERED_DICT + b"(" + pickled(b"b.PNG") + b"K\1uuu.")
)


def make_packed_folders() -> None:
    """What pickle.dumps gave (tests/golden/ffrecord/pickles.txt), by every protocol."""
    for line in (GOLDEN / "ffrecord" / "pickles.txt").read_text().splitlines():
        name, data = line.split()
        keep("packed_folder", name, bytes.fromhex(data))
    keep("packed_folder", "classes", CLASS_FOLDERS)
    twice = pickled(b"a") + ORDERED_DICT + b"q\1" + pickled(b"b") + b"h\1u."
    keep("packed_folder", "one-folder-twice", ORDERED_DICT + b"(" + twice)
    below = b")R(Va\nh\0"  # in each a folder, 256 times
    remembered = ORDERED_DICT.removesuffix(b")R") + b"q\0"
    keep("packed_folder", "too-deep", remembered + below * 256 + b")R" + b"u" * 256 + b".")
    keep("packed_folder", "itself", ORDERED_DICT + b"q\x01X\1\0\0\0ah\1s.")
    keep(
        "packed_folder", "longs", ORDERED_DICT + b"(V\\u00e9\nL7L\nV\\U0001f63a\n\x8a\1\7p5\ng5\nu."
    )


def make_mxnet() -> None:
    """A mean image of 3 x 2 x 4, new and old; lists of labels; detection labels."""
    values = struct.pack("<24f", *range(24))
    shape = struct.pack("<Iqqq", 3, 3, 2, 4) + struct.pack("<iii", 1, 0, 0)
    names = struct.pack("<QQ", 1, 8) + b"mean_img"
    for name, array in (("new", struct.pack("<Ii", 0xF993FAC9, 0)), ("old", b"\xc8\xfa\x93\xf9")):
        keep("mean_image", name, struct.pack("<QQQ", 0x112, 0, 1) + array + shape + values + names)
    keep("label_list", "one", b"7\t1.5\ta b.jpg\r\n\n 9 +3 c.jpg\n")
    keep("label_list", "two", b"100\t1\t-2e1\ta.jpg\n103\t4\t5\tb.jpg\n")
    objects = (1, 0.25, 0.5, 0.75, 1, 11, 2, 0.5, 0.5, 0.5, 1, 12)
    keep("det_label", "two", struct.pack("<15f", 3, 6, 99, *objects))
    keep("det_label", "one", struct.pack("<7f", 2, 5, 1, 0, 0, 0.5, 1))


def make_splits() -> None:
    """Six bytes that say how it is read, then the files."""
    page = (DOCS / "recordio.md").read_text()
    block = re.search(r"```recordio\n(.*?)```", page, re.S)
    assert block is not None
    records = [bytes.fromhex(line.split("->")[1]) for line in block[1].splitlines()]
    for number, (files, parts, chunk, batch, shuffle, left_out) in enumerate(
        [(0, 0, 255, 3, 0, 0), (2, 1, 3, 0, 2, 1), (1, 5, 20, 8, 128, 255), (0, 3, 0, 2, 255, 6)]
    ):
        setting = bytes([files, parts, chunk, batch, shuffle, left_out])
        keep("split", f"records-{number}", setting + b"".join(records) * (files + 1))
        keep("split", f"lines-{number}", setting + b"\none\ntwo\r\n\nthree\rfour\n" * 3 + b"end")
    keep("split", "damaged", bytes([0, 2, 9, 1, 0, 0]) + records[2] + b"damage!!" + records[5])
    for name, uri in (
        ("list", "a;b.rec;c1"),
        ("directory", "d/"),
        ("pattern", r"c[0-9];(a|b\.rec)"),
        ("all", "d;a?format=csv&k=v#cache"),
        ("twice", "a#b#c"),
    ):
        keep("split_uri", name, uri.encode())


if __name__ == "__main__":
    make_exif()
    make_npy()
    make_recordio()
    make_bzna()
    make_hevc()
    make_sidecars()
    make_pairs()
    make_texts()
    make_image_records()
    make_sample_records()
    make_journals()
    make_ffrecords()
    make_ffrecord_pairs()
    make_packed_folders()
    make_mxnet()
    make_splits()
