"""Makes the golden images: small encoded files, and what Pillow says their pixels are.

    python tests/golden/images/make.py

Writes, for each image, FILE (NAME.jpg, .png, .webp, .bmp, .tif, .npy); its pixels as stored, FILE.rgb (height x
width x 3 bytes); where the orientation is not 1, its pixels upright, from ImageOps.exif_transpose, as
FILE.upright.rgb; for a grey image without alpha and for a palette, numpy.array of the opened image,
as FILE.values (little-endian, bool as uint8); and a line of manifest.tsv: file, channels,
orientation, stored height and width, tolerance in levels, type of the values ("-": none). The
outputs are committed; another version of Pillow may write other JPEGs.
"""

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
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


def add_line(name: str, channels: int, orientation: int, tolerance: int, dtype: str) -> None:
    numbers = (channels, orientation, HEIGHT, WIDTH, tolerance)
    lines.append("\t".join(map(str, (name, *numbers, dtype))))


def keep_values(name: str, values: np.ndarray | None) -> str:
    """The type of the values in the manifest."""
    if values is None:
        return "-"
    dtype = np.dtype("<u2" if values.dtype.itemsize == 2 else "u1")
    (HERE / f"{name}.values").write_bytes(values.astype(dtype).tobytes())
    return dtype.name


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
    assert image.size == (WIDTH, HEIGHT)
    has_values = image.mode in ("1", "L", "P") or image.mode.startswith("I;16")
    dtype = keep_values(name, np.array(image) if has_values else None)
    add_line(name, channels, turned, tolerance, dtype)


def keep_array(name: str, array: np.ndarray, version: tuple[int, int] | None = None) -> None:
    """A .npy file of pixels."""
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    (HERE / name).write_bytes(out.getvalue())
    pixels = array.reshape(HEIGHT, WIDTH, -1)
    channels = pixels.shape[2]
    rgb = np.repeat(pixels, 3, axis=2) if channels == 1 else pixels[:, :, :3]
    (HERE / f"{name}.rgb").write_bytes(rgb.tobytes())
    add_line(name, channels, 1, 0, keep_values(name, pixels if channels == 1 else None))


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


def webp(image: Image.Image, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, "WEBP", **options)
    return out.getvalue()


def with_alpha() -> Image.Image:
    image = picture("RGBA")
    image.putalpha(Image.frombytes("L", image.size, bytes(i % 256 for i in range(HEIGHT * WIDTH))))
    return image


def make_webps() -> None:
    rgb = picture("RGB")
    keep("lossy.webp", webp(rgb, quality=70), 3)
    keep("lossy_low.webp", webp(rgb, quality=3), 3)  # with all that loop filters do
    keep("lossless.webp", webp(rgb, lossless=True), 3)
    keep("lossy_alpha.webp", webp(with_alpha(), quality=70, exact=True), 4)
    keep("lossless_alpha.webp", webp(with_alpha(), lossless=True, exact=True), 4)
    keep("exif6.webp", webp(rgb, quality=70, exif=b"Exif\0\0" + exif(6, "<")), 3)
    keep("exif8.webp", webp(rgb, lossless=True, exif=exif(8, ">")), 3)
    packet = b'<rdf:Description tiff:Orientation="5"/>'
    keep("xmp5.webp", webp(rgb, quality=70, xmp=packet), 3)
    frames = [picture("RGBA"), with_alpha()]
    keep("animated.webp", webp(frames[0], save_all=True, append_images=frames[1:]), 4)
    # A first frame that covers a part of the canvas only: at (x, y) = (6, 4).
    part = webp(rgb.resize((11, 7)), lossless=True)[12:]
    frame = b"".join(n.to_bytes(3, "little") for n in (3, 2, 10, 6, 100)) + b"\0" + part
    chunks = b"VP8X" + struct.pack("<II", 10, 2) + (WIDTH - 1).to_bytes(3, "little")
    chunks += (HEIGHT - 1).to_bytes(3, "little") + b"ANIM" + struct.pack("<IIH", 6, 0, 0)
    chunks += b"ANMF" + struct.pack("<I", len(frame)) + frame + bytes(len(frame) % 2)
    riff = b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks
    keep("animated_part.webp", riff, 3)


def bmp(
    rows: list[bytes],
    bits: int,
    header: int = 40,
    compression: int = 0,
    masks: tuple[int, ...] = (),
    colours: list[tuple[int, int, int]] | None = None,
    top_down: bool = False,
    no_offset: bool = False,
) -> bytes:
    """`rows` in the order of storage, or one run-length encoded piece."""
    pixels = b"".join(row + bytes(-len(row) % 4) for row in rows)
    if header == 12:
        info = struct.pack("<IHHHH", 12, WIDTH, HEIGHT, 1, bits)
    else:
        height = -HEIGHT if top_down else HEIGHT
        used = len(colours) if colours and len(colours) != 1 << bits else 0
        info = struct.pack(
            "<IiiHHIIiiII", header, WIDTH, height, 1, bits, compression, len(pixels), 0, 0, used, 0
        )
    packed_masks = b"".join(struct.pack("<I", mask) for mask in masks)
    info = (info + packed_masks).ljust(header, b"\0")
    padding = b"" if header == 12 else b"\0"
    palette = b"".join(bytes((b, g, r)) + padding for r, g, b in colours or [])
    offset = 0 if no_offset else 14 + len(info) + len(palette)
    file_header = b"BM" + struct.pack("<IHHI", 14 + len(info) + len(palette + pixels), 0, 0, offset)
    return file_header + info + palette + pixels


def bmp_rows(bits: int, top_down: bool = False) -> list[bytes]:
    order = range(HEIGHT) if top_down else range(HEIGHT - 1, -1, -1)
    rows = []
    for y in order:
        row = b""
        for x in range(WIDTH):
            value = sum((level(x, y, c) >> 8) << 8 * c for c in range(4))
            row += (value % (1 << bits)).to_bytes(bits // 8, "little")
        rows.append(row)
    return rows


def index_rows(bits: int, most: int) -> list[bytes]:
    rows = []
    for y in range(HEIGHT - 1, -1, -1):
        digits = "".join(f"{level(x, y, 0) * (most + 1) >> 16:0{bits}b}" for x in range(WIDTH))
        digits += "0" * (-len(digits) % 8)
        rows.append(int(digits, 2).to_bytes(len(digits) // 8, "big"))
    return rows


def runs(four_bits: bool) -> bytes:
    """Every kind of run: encoded (also too long), absolute, ends of lines, a jump."""
    step, factor = (17, 1) if four_bits else (1, 7)
    out = b""
    for y in range(HEIGHT):
        if y == 5:
            out += b"\0\2" + bytes((3, 2))  # three to the right, two up
            continue
        if y == 6:
            continue
        if y % 3 == 0:
            out += bytes((WIDTH, y * step * factor % 256)) + b"\0\0"
        elif y % 3 == 1:
            count = 11
            if four_bits:
                data = bytes((i * 16 + y) % 256 for i in range((count + 1) // 2))
            else:
                data = bytes((i * 20 + y) % 256 for i in range(count))
            out += bytes((0, count)) + data + bytes(len(data) % 2)
            out += bytes((WIDTH - count, 0x5A)) + b"\0\0"
        else:
            out += bytes((7, 0x13)) + b"\0\0"
    return out + b"\0\1"


def make_bmps() -> None:
    colours = [((i * 37) % 256, (i * 11 + 5) % 256, (i * 91 + 40) % 256) for i in range(256)]
    grey = [(i, i, i) for i in range(256)]
    keep("rgb24.bmp", bmp(bmp_rows(24), 24), 3)
    keep("rgb24_top_down.bmp", bmp(bmp_rows(24, True), 24, top_down=True), 3)
    keep("rgb24_os2.bmp", bmp(bmp_rows(24), 24, header=12), 3)
    keep("rgb32.bmp", bmp(bmp_rows(32), 32), 3)
    keep("rgb555.bmp", bmp(bmp_rows(16), 16), 3)
    masks565 = (0xF800, 0x7E0, 0x1F)
    keep("rgb565.bmp", bmp(bmp_rows(16), 16, compression=3, masks=masks565), 3)
    keep("rgb565_v4.bmp", bmp(bmp_rows(16), 16, header=108, compression=3, masks=masks565), 3)
    rgba = (0xFF, 0xFF00, 0xFF0000, 0xFF000000)
    keep("rgba32_v5.bmp", bmp(bmp_rows(32), 32, header=124, compression=3, masks=rgba), 4)
    xbgr = (0xFF000000, 0xFF0000, 0xFF00)
    keep("xbgr32.bmp", bmp(bmp_rows(32), 32, compression=3, masks=xbgr), 3)
    for bits in (1, 4, 8):
        rows = index_rows(bits, (1 << bits) - 1)
        keep(f"palette{bits}.bmp", bmp(rows, bits, colours=colours[: 1 << bits]), 3)
    keep("palette8_short.bmp", bmp(index_rows(8, 99), 8, colours=colours[:100]), 3)
    keep("palette8_os2.bmp", bmp(index_rows(8, 255), 8, header=12, colours=colours), 3)
    without_offset = bmp(index_rows(8, 255), 8, colours=colours, no_offset=True)
    keep("palette8_no_offset.bmp", without_offset, 3)
    keep("grey8.bmp", bmp(index_rows(8, 255), 8, colours=grey), 3)
    black_and_white = [(0, 0, 0), (255, 255, 255)]
    keep("grey1.bmp", bmp(index_rows(1, 1), 1, colours=black_and_white), 3)
    keep("rle8.bmp", bmp([runs(False)], 8, compression=1, colours=colours), 3)
    keep("rle4.bmp", bmp([runs(True)], 4, compression=2, colours=colours[:16]), 3)


def tiff(
    samples: int,
    bits: int,
    photometric: int,
    planes: bool = False,
    tile: tuple[int, int] | None = None,
    big_endian: bool = False,
    rows_per_strip: int = 8,
    extra: int | None = None,
    orientation: int | None = None,
    colours: list[int] | None = None,
) -> bytes:
    """An uncompressed TIFF of `level`, in strips or (height, width) tiles."""
    endian = ">" if big_endian else "<"

    def pack_rows(top: int, left: int, height: int, width: int, only: int | None) -> bytes:
        out = b""
        for y in range(top, top + height):
            digits = ""
            for x in range(left, left + width):
                for c in range(samples) if only is None else (only,):
                    value = level(x, y, c) >> (16 - bits) if y < HEIGHT and x < WIDTH else 0
                    if bits == 16 and not big_endian:
                        value = value % 256 * 256 + value // 256
                    digits += f"{value:0{bits}b}"
            digits += "0" * (-len(digits) % 8)
            out += int(digits, 2).to_bytes(len(digits) // 8, "big")
        return out

    blocks = []
    for only in range(samples) if planes else (None,):
        if tile:
            for y in range(0, HEIGHT, tile[0]):
                blocks += [pack_rows(y, x, *tile, only) for x in range(0, WIDTH, tile[1])]
        else:
            for y in range(0, HEIGHT, rows_per_strip):
                rows = min(rows_per_strip, HEIGHT - y)
                blocks.append(pack_rows(y, 0, rows, WIDTH, only))
    data, offsets = b"", []
    for block in blocks:
        offsets.append(8 + len(data))
        data += block + bytes(len(block) % 2)
    entries: list[tuple[int, int, list[int]]] = [(256, 3, [WIDTH]), (257, 3, [HEIGHT])]
    entries += [(258, 3, [bits] * samples), (259, 3, [1]), (262, 3, [photometric])]
    entries += [(277, 3, [samples]), (284, 3, [2 if planes else 1])]
    if orientation is not None:
        entries.append((274, 3, [orientation]))
    sizes = [len(block) for block in blocks]
    if tile:
        entries += [(322, 3, [tile[1]]), (323, 3, [tile[0]]), (324, 4, offsets), (325, 4, sizes)]
    else:
        entries += [(273, 4, offsets), (278, 3, [rows_per_strip]), (279, 4, sizes)]
    if colours is not None:
        entries.append((320, 3, colours))
    if extra is not None:
        entries.append((338, 3, [extra]))
    directory, beside = b"", b""
    begin = 8 + len(data)
    behind = begin + 2 + 12 * len(entries) + 4
    for tag, kind, values in sorted(entries):
        packed = b"".join(
            struct.pack(endian + "H" if kind == 3 else endian + "I", v) for v in values
        )
        if len(packed) > 4:
            place = struct.pack(endian + "I", behind + len(beside))
            beside += packed + bytes(len(packed) % 2)
            packed = place
        directory += struct.pack(endian + "HHI", tag, kind, len(values)) + packed.ljust(4, b"\0")
    header = (b"MM\0*" if big_endian else b"II*\0") + struct.pack(endian + "I", begin)
    count = struct.pack(endian + "H", len(entries))
    return header + data + count + directory + bytes(4) + beside


def make_arrays() -> None:
    levels = [
        [[level(x, y, c) >> 8 for c in range(4)] for x in range(WIDTH)] for y in range(HEIGHT)
    ]
    rgba = np.array(levels, np.uint8)
    keep_array("grey8.npy", rgba[:, :, 0].copy())
    keep_array("grey8_one_channel.npy", rgba[:, :, :1].copy())
    keep_array("grey8_version3.npy", rgba[:, :, 0].copy(), (3, 0))
    keep_array("rgb8.npy", rgba[:, :, :3].copy())
    keep_array("rgb8_version2.npy", rgba[:, :, :3].copy(), (2, 0))
    keep_array("rgba8.npy", rgba)


def saved_tiff(image: Image.Image, compression: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, "TIFF", compression=compression, **options)
    return out.getvalue()


def keep_turned(name: str, encoded: bytes, orientation: int) -> None:
    """Pillow shows a TIFF upright as soon as it is loaded."""
    at = encoded.index(struct.pack("<HHIHH", 274, 3, 1, orientation, 0))
    unturned = encoded[: at + 8] + b"\1" + encoded[at + 9 :]
    stored = Image.open(io.BytesIO(unturned)).convert("RGB").tobytes()
    upright = Image.open(io.BytesIO(encoded)).convert("RGB").tobytes()
    (HERE / name).write_bytes(encoded)
    (HERE / f"{name}.rgb").write_bytes(stored)
    (HERE / f"{name}.upright.rgb").write_bytes(upright)
    add_line(name, 3, orientation, 0, "-")


def make_tiffs() -> None:
    places = [(x, y) for y in range(HEIGHT) for x in range(WIDTH)]
    upper = bytes(level(x, y, 0) >> 8 for x, y in places for _ in range(3))
    for bits in (1, 2, 4, 8, 16):
        expected = upper if bits == 16 else None
        keep(f"grey{bits}.tif", tiff(1, bits, 1), 1, rgb=expected)
        colours = [(i * 7919 + c * 12345) % 65536 for c in range(3) for i in range(1 << bits)]
        if bits < 16:
            keep(f"white_is_zero{bits}.tif", tiff(1, bits, 0), 1)
            keep(f"palette{bits}.tif", tiff(1, bits, 3, colours=colours), 3)
    keep("grey16_big_endian.tif", tiff(1, 16, 1, big_endian=True), 1, rgb=upper)
    for bits in (8, 16):
        keep(f"rgb{bits}.tif", tiff(3, bits, 2), 3)
        keep(f"rgb{bits}_big_endian.tif", tiff(3, bits, 2, big_endian=True), 3)
        keep(f"rgb{bits}_tiles.tif", tiff(3, bits, 2, tile=(16, 16)), 3)
        for extra, name in enumerate(("rgbx", "rgb_associated", "rgba")):
            channels = 3 if extra == 0 else 4
            keep(f"{name}{bits}.tif", tiff(4, bits, 2, extra=extra), channels)
    keep("rgb8_planes.tif", tiff(3, 8, 2, planes=True), 3)
    keep("rgb8_plane_tiles.tif", tiff(3, 8, 2, planes=True, tile=(16, 16)), 3)
    keep("rgb8_one_strip.tif", tiff(3, 8, 2, rows_per_strip=HEIGHT), 3)
    keep("rgba8_unsaid.tif", tiff(4, 8, 2), 3)
    keep("grey_alpha8.tif", tiff(2, 8, 1, extra=2), 2)
    keep("cmyk8.tif", tiff(4, 8, 5), 4)
    keep("cmyk16.tif", tiff(4, 16, 5), 4)
    rgb = picture("RGB")
    for compression in ("tiff_lzw", "tiff_adobe_deflate", "packbits"):
        keep(f"{compression}.tif", saved_tiff(rgb, compression), 3)
    keep("group4.tif", saved_tiff(picture("L").convert("1"), "group4"), 1)
    keep("jpeg.tif", saved_tiff(rgb, "jpeg", quality=85), 3)
    keep("jpeg_grey.tif", saved_tiff(picture("L"), "jpeg", quality=85), 1)
    for orientation in range(2, 9):
        keep_turned(f"exif{orientation}.tif", tiff(3, 8, 2, orientation=orientation), orientation)


if __name__ == "__main__":
    make_jpegs()
    make_pngs()
    make_webps()
    make_bmps()
    make_tiffs()
    make_arrays()
    (HERE / "manifest.tsv").write_text("\n".join(sorted(lines)) + "\n")
