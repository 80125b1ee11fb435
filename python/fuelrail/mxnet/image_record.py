"""MXNet's image records: a header, labels, and an encoded image, as bytes.

The format is docs/formats/recordio.md, "The image header".
"""

from __future__ import annotations

import numbers
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuelrail import _core
from fuelrail.errors import (
    ArgumentTypeError,
    CorruptError,
    InvalidArgumentError,
    TruncatedError,
    UnsupportedError,
)
from fuelrail.options import file_name, integer, shown, typed

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["IRHeader", "decode_image", "pack", "pack_img", "unpack", "unpack_img"]

_HEADER = struct.Struct("<IfQQ")


class IRHeader(NamedTuple):
    """The header of an image record.

    flag: how many labels follow the header; 0 = the one label is in it. `pack` sets it itself.
    label: a number, or an array of float32 (of whatever becomes one). id, id2: 64 bits; id2 is 0.
    """

    flag: int
    label: Any
    id: int
    id2: int


def pack(header: IRHeader, s: bytes) -> bytes:
    """A record: header and labels in front of `s`.

    A number as label is flag 0; anything else becomes a flat float32 array, and its length the
    flag. What `header.flag` says does not count. An array without elements reads back as one label
    of 0: the format has no other way.

    Errors: InvalidArgumentError (a ValueError) for an id that 64 bits cannot hold and a label that
    is no number; ArgumentTypeError (a TypeError) for an `s` that is not bytes.
    """
    head = _header_of(header)
    if not isinstance(s, (bytes, bytearray, memoryview)):
        raise ArgumentTypeError("a record's content is not bytes", found=typed(s))
    if isinstance(head.label, numbers.Number):
        return _packed_header(0, head.label, head) + bytes(s)
    try:
        labels = np.asarray(head.label, dtype="<f4")
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            "the label is neither a number nor an array of them", found=shown(head.label)
        ) from error
    return _packed_header(labels.size, 0, head) + labels.tobytes() + bytes(s)


def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """A record's header and content.

    `header.label` is a float with flag 0, else a read-only float32 array of shape (flag,).
    Errors: TruncatedError for bytes that end before the header or the labels do; ArgumentTypeError.
    """
    if not isinstance(s, (bytes, bytearray, memoryview)):
        raise ArgumentTypeError("a record is not bytes", found=typed(s))
    record = bytes(s)
    if len(record) < _HEADER.size:
        raise TruncatedError(
            "the record ends inside its image header",
            expected=f"{_HEADER.size} bytes",
            found=f"{len(record)}",
            remedy="Read it as what was written: it may be no image record",
        )
    header = IRHeader(*_HEADER.unpack_from(record))
    begin = _HEADER.size + 4 * header.flag
    if len(record) < begin:
        raise TruncatedError(
            "the record ends inside its labels",
            expected=f"{header.flag} labels",
            found=f"{len(record) - _HEADER.size} bytes",
            remedy="Read it as what was written: it may be no image record",
        )
    if header.flag > 0:
        labels = np.frombuffer(record, "<f4", header.flag, _HEADER.size)
        header = header._replace(label=labels)
    return header, record[begin:]


def pack_img(header: IRHeader, img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """A record of pixels, which it encodes.

    img: (height, width), or (height, width, channels) with 1, 3 (BGR) or 4 (BGRA) channels, as
    OpenCV has them; uint8, and other numbers are rounded and clipped to 0 to 255. A JPEG drops the
    fourth channel. quality: of `.jpg` and `.jpeg` 1 to 100; of `.png` zlib's level, 0 to 9; beyond
    that the nearest counts, so that the default is level 9 for PNG. img_fmt: in either case.

    Errors: UnsupportedError for another `img_fmt` and for a PNG of uint16; InvalidArgumentError for
    an array of another shape; ArgumentTypeError for what is no array of numbers; those of `pack`.
    """
    png = _is_png(img_fmt)
    pixels = _as_pixels(img, png)
    setting = integer(quality)
    if setting is None:
        raise ArgumentTypeError("`quality` is not an integer", found=typed(quality))
    least, most = (0, 9) if png else (1, 100)
    height, width, channels = pixels.shape
    encoded = _core.encode_image(
        pixels, height, width, channels, True, png, min(max(setting, least), most)
    )
    return pack(header, encoded)


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[IRHeader, NDArray[np.uint8]]:
    """A record's header and pixels.

    iscolor: 1 = BGR, (height, width, 3), turned as an EXIF tag says; 0 = grey, (height, width),
    turned too; -1 = as stored, not turned: (height, width) for grey, 3 channels BGR, 4 with alpha.
    uint8 always.

    Errors: DecodeError, TruncatedError for what is no image or a damaged one, where MXNet returns
    None; UnsupportedError for formats that fuelrail does not decode, and for 16 bits a channel with
    iscolor -1; InvalidArgumentError for another `iscolor`; those of `unpack`.
    """
    header, content = unpack(s)
    return header, decode_image(content, iscolor)


def decode_image(encoded: bytes, iscolor: int, bgr: bool = True) -> NDArray[np.uint8]:
    """Pixels as `cv2.imdecode` gives them, or in RGB order. See `unpack_img`."""
    if integer(iscolor) not in (-1, 0, 1):
        raise InvalidArgumentError(
            "`iscolor` is none of the colour modes",
            expected="-1 (as stored), 0 (grey) or 1 (colour)",
            found=shown(iscolor),
        )
    if not encoded:
        raise CorruptError(
            "the record has no image",
            expected="an encoded image behind the header",
            found="0 bytes",
            remedy="Read it with `unpack` if it was written without one",
        )
    channels = {-1: 0, 0: 1, 1: 3}[int(iscolor)]
    array = _core.decode_image(encoded, channels, iscolor != -1, bgr, _core.DEFAULT_MAX_PIXELS)
    pixels: NDArray[np.uint8] = array.numpy()
    return pixels[:, :, 0] if pixels.shape[2] == 1 else pixels


def _header_of(header: object) -> IRHeader:
    try:
        return IRHeader(*header)  # type: ignore[misc]
    except TypeError:
        raise ArgumentTypeError(
            "this is no header", expected="an IRHeader (flag, label, id, id2)", found=typed(header)
        ) from None


def _packed_header(flag: int, label: Any, header: IRHeader) -> bytes:
    try:
        return _HEADER.pack(flag, label, header.id, header.id2)
    except (struct.error, TypeError, OverflowError) as error:
        raise InvalidArgumentError(
            "the header cannot be packed",
            expected="ids of 0 to 2**64 - 1, and a label that float32 holds",
            found=shown(tuple(header)),
        ) from error


def _is_png(img_fmt: object) -> bool:
    suffix = file_name("`img_fmt`", img_fmt).lower()
    if suffix in (".jpg", ".jpeg", ".png"):
        return suffix == ".png"
    raise UnsupportedError(
        "images are not encoded in this format",
        expected="'.jpg', '.jpeg' or '.png'",
        found=shown(img_fmt),
        remedy="Encode it with its own library, and `pack` the bytes",
    )


def _as_pixels(img: object, png: bool) -> NDArray[np.uint8]:
    """(height, width, channels), uint8."""
    array = np.asarray(img)
    if array.dtype.kind not in "uif":
        raise ArgumentTypeError(
            "`img` is no array of numbers", expected="an array of uint8", found=typed(img)
        )
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or array.size == 0:
        raise InvalidArgumentError(
            "`img` has not the shape of an image",
            expected="(height, width), or (height, width, channels) with 1, 3 or 4 channels",
            found=f"{array.shape}",
        )
    if png and array.dtype == np.uint16:
        raise UnsupportedError(
            "PNGs of 16 bits a channel are not written",
            found="uint16",
            remedy="Turn the pixels into uint8, as `img >> 8` does",
        )
    if array.dtype != np.uint8:
        whole = np.rint(np.nan_to_num(array, nan=0)) if array.dtype.kind == "f" else array
        array = np.clip(whole, 0, 255).astype(np.uint8)
    return array
