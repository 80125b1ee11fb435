"""Packs and unpacks MXNet's image records: a header, labels and an encoded image, as bytes.

docs/formats/recordio.md, section "The image header", describes the format.
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

    flag: the number of labels stored after the header. 0 means that the record has one label,
    which is stored in the header. `pack` ignores this field and computes the flag from `label`.
    label: a number or an array of numbers. The numbers are stored as float32.
    id, id2: unsigned 64-bit integers. id2 is normally 0.
    """

    flag: int
    label: Any
    id: int
    id2: int


def pack(header: IRHeader, s: bytes) -> bytes:
    """Returns a record as bytes: the header, the labels and then the content `s`.

    If `header.label` is a number, the record's flag is 0. Otherwise, the label is stored as a flat
    float32 array, and the flag is the length of the array. `header.flag` is ignored. The format
    cannot store an empty array, so an empty array is stored as the number 0.

    Errors: InvalidArgumentError (a ValueError) for an id that does not fit in 64 bits and for a
    label that is not numeric; ArgumentTypeError (a TypeError) if `s` is not bytes.
    """
    head = _header_of(header)
    if not isinstance(s, (bytes, bytearray, memoryview)):
        raise ArgumentTypeError(
            "the record's content has the wrong type", expected="bytes", found=typed(s)
        )
    if isinstance(head.label, numbers.Number):
        return _packed_header(0, head.label, head) + bytes(s)
    try:
        labels = np.asarray(head.label, dtype="<f4")
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            "the label is invalid",
            expected="a number, or an array of numbers",
            found=shown(head.label),
        ) from error
    return _packed_header(labels.size, 0, head) + labels.tobytes() + bytes(s)


def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """Splits a record into its header and its content.

    The header's label is a float if the flag is 0, and otherwise a read-only float32 array of shape
    (flag,).

    Errors: TruncatedError if `s` ends inside the header or the labels; ArgumentTypeError.
    """
    if not isinstance(s, (bytes, bytearray, memoryview)):
        raise ArgumentTypeError("the record has the wrong type", expected="bytes", found=typed(s))
    record = bytes(s)
    if len(record) < _HEADER.size:
        raise TruncatedError(
            "the record ends inside its image header",
            expected=f"{_HEADER.size} bytes",
            found=f"{len(record)}",
            remedy="Check that the record is an image record; other records have no image header",
        )
    header = IRHeader(*_HEADER.unpack_from(record))
    begin = _HEADER.size + 4 * header.flag
    if len(record) < begin:
        raise TruncatedError(
            "the record ends inside its labels",
            expected=f"{4 * header.flag} bytes of labels",
            found=f"{len(record) - _HEADER.size}",
            remedy="Check that the record is an image record; other records have no image header",
        )
    if header.flag > 0:
        labels = np.frombuffer(record, "<f4", header.flag, _HEADER.size)
        header = header._replace(label=labels)
    return header, record[begin:]


def pack_img(header: IRHeader, img: Any, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """Encodes an image and returns it as an image record.

    img: uint8 pixels of shape (height, width) or (height, width, channels), with 1 (grey), 3 (BGR)
        or 4 (BGRA) channels. Values of other numeric types are rounded, and clipped to the range
        from 0 to 255. JPEG drops the alpha channel.
    quality: the JPEG quality, 1 to 100, or zlib's compression level for PNG, 0 to 9. A value out of
        range is clipped, so the default, 95, means level 9 for PNG.
    img_fmt: `.jpg`, `.jpeg` or `.png`, in upper or lower case.

    Errors: UnsupportedError for any other `img_fmt` and for uint16 pixels as PNG;
    InvalidArgumentError for any other shape; ArgumentTypeError if `img` is not an array of numbers;
    the errors of `pack`.
    """
    png = _is_png(img_fmt)
    pixels = _as_pixels(img, png)
    setting = integer(quality)
    if setting is None:
        raise ArgumentTypeError(
            "`quality` has the wrong type", expected="an integer", found=typed(quality)
        )
    least, most = (0, 9) if png else (1, 100)
    height, width, channels = pixels.shape
    encoded = _core.encode_image(
        pixels, height, width, channels, True, png, min(max(setting, least), most)
    )
    return pack(header, encoded)


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[IRHeader, NDArray[np.uint8]]:
    """Returns the header of an image record, and its image decoded to uint8 pixels.

    iscolor selects the channels of the pixels:
        1: BGR, shape (height, width, 3), rotated as the EXIF orientation requires.
        0: grey, shape (height, width), rotated as the EXIF orientation requires.
        -1: the channels of the stored image, without rotation. The shape is (height, width) for
        grey, (height, width, 3) for BGR and (height, width, 4) for BGRA.

    Errors: DecodeError or TruncatedError if the content is damaged or is not an image (MXNet
    returns None); UnsupportedError for formats that fuelrail does not decode, and for 16 bits per
    channel with iscolor -1; InvalidArgumentError for any other `iscolor`; the errors of `unpack`.
    """
    header, content = unpack(s)
    return header, decode_image(content, iscolor)


def decode_image(encoded: bytes, iscolor: int, bgr: bool = True) -> NDArray[np.uint8]:
    """Decodes an image as `unpack_img` does. Colours are RGB instead of BGR if `bgr` is False."""
    if integer(iscolor) not in (-1, 0, 1):
        raise InvalidArgumentError(
            "`iscolor` is invalid",
            expected="-1 (as stored), 0 (grey) or 1 (colour)",
            found=shown(iscolor),
        )
    if not encoded:
        raise CorruptError(
            "the record has no image",
            expected="an encoded image after the header",
            found="0 bytes",
            remedy="If the record was written without an image, read it with `unpack`",
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
            "the header is invalid",
            expected="an IRHeader (flag, label, id, id2)",
            found=typed(header),
        ) from None


def _packed_header(flag: int, label: Any, header: IRHeader) -> bytes:
    try:
        return _HEADER.pack(flag, label, header.id, header.id2)
    except (struct.error, TypeError, OverflowError) as error:
        raise InvalidArgumentError(
            "a value of the header is out of range",
            expected="ids from 0 to 2**64 - 1, and a label that fits in a float32",
            found=shown(tuple(header)),
        ) from error


def _is_png(img_fmt: object) -> bool:
    suffix = file_name("`img_fmt`", img_fmt).lower()
    if suffix in (".jpg", ".jpeg", ".png"):
        return suffix == ".png"
    raise UnsupportedError(
        "encoding in this image format is not supported",
        expected="'.jpg', '.jpeg' or '.png'",
        found=shown(img_fmt),
        remedy="Encode the image with a different library, and pass the bytes to `pack`",
    )


def _as_pixels(img: object, png: bool) -> NDArray[np.uint8]:
    """Checks `img`, and converts it to a uint8 array of shape (height, width, channels)."""
    array = np.asarray(img)
    if array.dtype.kind not in "uif":
        raise ArgumentTypeError(
            "`img` has the wrong type", expected="an array of numbers", found=typed(img)
        )
    if array.ndim == 2:
        array = array[:, :, np.newaxis]
    if array.ndim != 3 or array.shape[2] not in (1, 3, 4) or array.size == 0:
        raise InvalidArgumentError(
            "`img` has the wrong shape",
            expected="(height, width), or (height, width, channels) with 1, 3 or 4 channels",
            found=f"{array.shape}",
        )
    if png and array.dtype == np.uint16:
        raise UnsupportedError(
            "writing 16-bit PNG is not supported",
            found="uint16",
            remedy='Convert the pixels to uint8, for example with `(img >> 8).astype("uint8")`',
        )
    if array.dtype != np.uint8:
        whole = np.rint(np.nan_to_num(array, nan=0)) if array.dtype.kind == "f" else array
        array = np.clip(whole, 0, 255).astype(np.uint8)
    return array
