"""Makes the golden images: small encoded files, and what Pillow says their pixels are.

    python tests/golden/images/make.py

Writes, for each image, FILE (NAME.jpg or NAME.png); its pixels as stored, FILE.rgb (height x width
x 3 bytes); where the orientation is not 1, its pixels upright, from ImageOps.exif_transpose, as
FILE.upright.rgb; and a line of manifest.tsv: file, channels, orientation, stored height and width,
tolerance in levels. The outputs are committed; another version of Pillow may write other JPEGs.
"""

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from PIL import Image, ImageOps

HERE = Path(__file__).parent
HEIGHT, WIDTH = 21, 29
# First column, first row, step right, step down of each pass.
ADAM7 = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)

lines: list[str] = []


def level(x: int, y: int, channel: int) -> int:
    """A value from 0 to 65535 that changes in every direction."""
    return (x * 2111 + y * 1777 + channel * 9973 + (x * y) * 131 + (x // 5 % 2) * 20000) % 65536


def picture(mode: str) -> Image.Image:
    image = Image.new(mode, (WIDTH, HEIGHT))
    bands = len(image.getbands())
    for y in range(HEIGHT):
        for x in range(WIDTH):
            edge = 60 if (x + y) % 9 < 3 else 0
            values = tuple((x * 6 + y * 4 + c * 50 + edge) % 256 for c in range(bands))
            image.putpixel((x, y), values if bands > 1 else values[0])
    return image


def keep(
    name: str, encoded: bytes, channels: int, tolerance: int = 0, rgb: bytes | None = None
) -> None:
    """`rgb` where the expectation is not Pillow's convert("RGB")."""
    (HERE / name).write_bytes(encoded)
    image = Image.open(io.BytesIO(encoded))
    image.load()
    stored = rgb or image.convert("RGB").tobytes()
    assert len(stored) == 3 * image.width * image.height
    (HERE / f"{name}.rgb").write_bytes(stored)
    turned = image.getexif().get(0x0112, 1)
    turned = turned if turned in range(1, 9) else 1
    if turned != 1:
        upright = ImageOps.exif_transpose(Image.open(io.BytesIO(encoded))).convert("RGB")
        (HERE / f"{name}.upright.rgb").write_bytes(upright.tobytes())
    lines.append(
        "\t".join(map(str, (name, channels, turned, image.height, image.width, tolerance)))
    )


def jpeg(image: Image.Image, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=85, **options)
    return out.getvalue()


def exif(orientation: int, endian: str) -> bytes:
    """A TIFF block with three entries, orientation in the middle."""
    entries = [(0x0100, 4, 1, WIDTH), (0x0112, 3, 1, orientation), (0x011C, 3, 1, 1)]
    block = (b"II*\0" if endian == "<" else b"MM\0*") + struct.pack(endian + "IH", 8, len(entries))
    for tag, kind, count, value in entries:
        packed = (
            struct.pack(endian + "HH", value, 0) if kind == 3 else struct.pack(endian + "I", value)
        )
        block += struct.pack(endian + "HHI", tag, kind, count) + packed
    return block + struct.pack(endian + "I", 0)


def segment(marker: int, payload: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(payload) + 2) + payload


def with_segment(encoded: bytes, marker: int, payload: bytes) -> bytes:
    return encoded[:2] + segment(marker, payload) + encoded[2:]


def make_jpegs() -> None:
    rgb = picture("RGB")
    keep("grey.jpg", jpeg(picture("L")), 1)
    keep("s444.jpg", jpeg(rgb, subsampling=0), 3)
    keep("s422.jpg", jpeg(rgb, subsampling=1), 3)
    keep("s420.jpg", jpeg(rgb, subsampling=2), 3)
    keep("progressive.jpg", jpeg(rgb, subsampling=2, progressive=True), 3)
    keep("restart.jpg", jpeg(rgb, subsampling=2, restart_marker_blocks=1), 3)
    keep("rgb.jpg", jpeg(rgb, keep_rgb=True), 3)

    cmyk = jpeg(picture("CMYK"))
    adobe = cmyk.index(b"Adobe")
    assert cmyk[adobe + 11] == 0
    keep("cmyk.jpg", cmyk, 4, tolerance=1)
    keep("ycck.jpg", cmyk[: adobe + 11] + b"\2" + cmyk[adobe + 12 :], 4, tolerance=1)
    keep("cmyk_without_adobe.jpg", cmyk[: adobe - 4] + cmyk[adobe + 12 :], 4, tolerance=1)

    for orientation in range(1, 9):
        endian = "<>"[orientation % 2]
        keep(f"exif{orientation}.jpg", jpeg(rgb, exif=b"Exif\0\0" + exif(orientation, endian)), 3)
    for value in (0, 9):
        keep(f"exif{value}_not_valid.jpg", jpeg(rgb, exif=b"Exif\0\0" + exif(value, "<")), 3)
    packet = b'<x:xmpmeta><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    xmp = b"http://ns.adobe.com/xap/1.0/\0" + packet
    keep("xmp6.jpg", with_segment(jpeg(rgb), 0xE1, xmp), 3)
    keep("exif3_xmp6.jpg", with_segment(jpeg(rgb, exif=b"Exif\0\0" + exif(3, ">")), 0xE1, xmp), 3)


def chunk(kind: bytes, payload: bytes) -> bytes:
    return (
        struct.pack(">I", len(payload))
        + kind
        + payload
        + struct.pack(">I", zlib.crc32(kind + payload))
    )


def packed_rows(
    sample: Callable[[int, int, int], int], channels: int, bits: int, interlaced: bool
) -> bytes:
    """Scanlines with their filter bytes: none, and every third row "up" (of what lies above it)."""
    out = b""
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    for left, top, right, down in passes:
        columns = range(left, WIDTH, right)
        above = None
        for number, y in enumerate(range(top, HEIGHT, down)):
            if not columns:
                continue
            digits = "".join(
                f"{sample(x, y, c):0{bits}b}" for x in columns for c in range(channels)
            )
            digits += "0" * (-len(digits) % 8)
            row = int(digits, 2).to_bytes(len(digits) // 8, "big")
            if number % 3 == 2 and above is not None:
                out += b"\2" + bytes((a - b) % 256 for a, b in zip(row, above, strict=True))
            else:
                out += b"\0" + row
            above = row
    return out


def png(
    colour: int, bits: int, interlaced: bool = False, before: bytes = b"", after: bytes = b""
) -> bytes:
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    colours = bytes((i * 37 + c * 11) % 256 for i in range(2**bits) for c in range(3))
    palette = chunk(b"PLTE", colours) if colour == 3 else b""
    rows = packed_rows(lambda x, y, c: level(x, y, c) >> (16 - bits), channels, bits, interlaced)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, bits, colour, 0, 0, int(interlaced))
    data = zlib.compress(rows, 9)
    half = len(data) // 2
    pixels = chunk(b"IDAT", data[:half]) + chunk(b"IDAT", data[half:])
    chunks = [chunk(b"IHDR", header), palette, before, pixels, after, chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def make_pngs() -> None:
    names = {0: "grey", 2: "rgb", 3: "palette", 4: "grey_alpha", 6: "rgba"}
    depths = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
    stored = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}
    # 16-bit grey is cut to its upper 8 bits, which is not what every version of Pillow does.
    places = [(x, y) for y in range(HEIGHT) for x in range(WIDTH)]
    upper = bytes(level(x, y, 0) >> 8 for x, y in places for _ in range(3))
    for colour, name in names.items():
        for bits in depths[colour]:
            expected = upper if bits == 16 and colour in (0, 4) else None
            keep(f"{name}{bits}.png", png(colour, bits), stored[colour], rgb=expected)
            keep(
                f"{name}{bits}_interlaced.png",
                png(colour, bits, True),
                stored[colour],
                rgb=expected,
            )
    keep("palette8_trns.png", png(3, 8, before=chunk(b"tRNS", bytes(range(256)))), 3)
    keep("rgb8_trns.png", png(2, 8, before=chunk(b"tRNS", bytes(6))), 3)
    keep("rgb8_gamma.png", png(2, 8, before=chunk(b"gAMA", struct.pack(">I", 100000))), 3)
    keep("exif6.png", png(2, 8, before=chunk(b"eXIf", exif(6, ">"))), 3)
    keep("exif8_at_the_end.png", png(2, 8, after=chunk(b"eXIf", exif(8, "<"))), 3)
    packet = b"<rdf:Description><tiff:Orientation>5</tiff:Orientation></rdf:Description>"
    xmp = b"XML:com.adobe.xmp\0\0\0\0\0" + packet
    keep("xmp5.png", png(2, 8, before=chunk(b"iTXt", xmp)), 3)


if __name__ == "__main__":
    make_jpegs()
    make_pngs()
    (HERE / "manifest.tsv").write_text("\n".join(sorted(lines)) + "\n")
