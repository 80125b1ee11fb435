"""Images with boxes, whose pixels encode their position, and rows of ImageDetRecordIter.

Red is the column, green the row, blue the colour of the object that covers the pixel, or 0. So the
position of a crop can be read from its pixels, and the box of an object from its colour.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import cv2
import numpy as np
from PIL import Image

from fuelrail.mxnet import io, recordio
from photographs import encoded

HEIGHT, WIDTH = 90, 120


class Box(NamedTuple):
    """A box in pixels or fractions, half-open."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def area(self) -> float:
        return max(0.0, self.right - self.left) * max(0.0, self.bottom - self.top)

    def scaled(self, x: float, y: float) -> Box:
        return Box(self.left * x, self.top * y, self.right * x, self.bottom * y)

    def common(self, other: Box) -> Box:
        return Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def within(self, other: Box) -> Box:
        """The common part with `other`, in fractions of the sides of `other`."""
        width, height = other.right - other.left, other.bottom - other.top
        part = self.common(other)
        return Box(
            (part.left - other.left) / width,
            (part.top - other.top) / height,
            (part.right - other.left) / width,
            (part.bottom - other.top) / height,
        )


WHOLE = Box(0, 0, WIDTH, HEIGHT)


def colour_of(number: int) -> int:
    """The blue value of an object."""
    return 60 + 30 * number


def coded_image(boxes: Sequence[Box]) -> np.ndarray:
    """Returns an image (HEIGHT, WIDTH, 3) with these objects."""
    image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    image[:, :, 0] = np.arange(WIDTH)
    image[:, :, 1] = np.arange(HEIGHT)[:, None]
    for number, box in enumerate(boxes):
        image[int(box.top) : int(box.bottom), int(box.left) : int(box.right), 2] = colour_of(number)
    return image


def label_of(boxes: Sequence[Box]) -> list[float]:
    """MXNet's label of the boxes; the class of an object is its number."""
    label: list[float] = [2, 5]
    for number, box in enumerate(boxes):
        label += [number, *box.scaled(1 / WIDTH, 1 / HEIGHT)]
    return label


def write_records(path: pathlib.Path, records: Sequence[tuple[bytes, Any]]) -> pathlib.Path:
    """Writes records with encoded images and labels; ids count from 500."""
    writer = recordio.MXRecordIO(str(path), "w")
    for number, (image, label) in enumerate(records):
        writer.write(recordio.pack(recordio.IRHeader(0, label, 500 + number, 0), image))
    writer.close()
    return path


def write_coded(path: pathlib.Path, boxes: Sequence[Box], count: int) -> pathlib.Path:
    """Writes the same image `count` times."""
    image = encoded(Image.fromarray(coded_image(boxes)), "PNG")
    return write_records(path, [(image, label_of(boxes))] * count)


class Row(NamedTuple):
    """An image of a batch without its padding, and the objects of its label."""

    image: np.ndarray  # uint8 (height, width, 3)
    objects: dict[int, Box]

    @property
    def size(self) -> tuple[int, int]:
        return self.image.shape[0], self.image.shape[1]


def row_of(data: np.ndarray, label: np.ndarray) -> Row:
    """Reads a row of a batch's arrays, and checks that the padding of the image is 0."""
    channels, height, width, length = label[:4].astype(int)
    assert channels == data.shape[0]
    assert not data[:, height:].any()
    assert not data[:, :, width:].any()
    image = data[:, :height, :width].transpose(1, 2, 0)
    assert (image == np.rint(image)).all()
    body = label[4 : 4 + length]
    header, width_of_object = body[:2].astype(int)
    objects = body[header:].reshape(-1, width_of_object)
    return Row(image.astype(np.uint8), {int(each[0]): Box(*each[1:5].tolist()) for each in objects})


def rows_of(path: pathlib.Path, **parameters: Any) -> list[Row]:
    """The rows of an epoch. Without a shape, images keep their size."""
    options = {"data_shape": (3, HEIGHT, WIDTH), "batch_size": 1, "resize_mode": "shrink"}
    iterator = io.ImageDetRecordIter(path_imgrec=path, **(options | parameters))
    rows = []
    for batch in iterator:
        arrays = zip(batch.data[0].asnumpy(), batch.label[0].asnumpy(), strict=True)
        rows += [row_of(data, label) for data, label in arrays]
    return rows


def window_of(row: Row) -> Box:
    """The part of the coded image that a row shows; the row must be only cropped."""
    height, width = row.size
    left, top = int(row.image[0, 0, 0]), int(row.image[0, 0, 1])
    expected_red = np.broadcast_to(np.arange(left, left + width), (height, width))
    expected_green = np.broadcast_to(np.arange(top, top + height)[:, None], (height, width))
    np.testing.assert_array_equal(row.image[:, :, 0], expected_red)
    np.testing.assert_array_equal(row.image[:, :, 1], expected_green)
    return Box(left, top, left + width, top + height)


def seen_box(row: Row, number: int) -> Box:
    """The box of an object's colour, in fractions of the image."""
    height, width = row.size
    rows, columns = np.nonzero(np.abs(row.image[:, :, 2].astype(int) - colour_of(number)) < 8)
    assert rows.size > 0
    pixels = Box(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    return pixels.scaled(1 / width, 1 / height)


def expect_boxes_on_their_pixels(row: Row, pixels: float = 2.5) -> None:
    """Checks that each larger box matches its object's colour, to within `pixels`."""
    height, width = row.size
    for number, box in row.objects.items():
        shown = box.scaled(width, height)
        if min(shown.right - shown.left, shown.bottom - shown.top) <= pixels:
            continue
        difference = np.abs(np.subtract(box, seen_box(row, number)))
        assert (difference * [width, height, width, height]).max() <= pixels, (number, box)


def expect_padded(row: Row, boxes: Sequence[Box], fill: int) -> float:
    """Checks that the row is the coded image on a canvas of `fill`. Returns: ratio of heights."""
    content = (row.image != fill).any(axis=2)
    top, left = np.argwhere(content).min(axis=0)
    pixels = row.image[top : top + HEIGHT, left : left + WIDTH]
    np.testing.assert_array_equal(pixels, coded_image(boxes))
    assert content.sum() == HEIGHT * WIDTH
    height, width = row.size
    for number, box in enumerate(boxes):
        moved = Box(box.left + left, box.top + top, box.right + left, box.bottom + top)
        found = row.objects[number].scaled(width, height)
        assert np.abs(np.subtract(found, moved)).max() < 2
    return height / HEIGHT


def hls_shift(colours: np.ndarray, found: np.ndarray, channel: int) -> int:
    """The value added to one channel of HLS; fails if anything else changed."""
    hls = cv2.cvtColor(colours, cv2.COLOR_RGB2HLS).astype(int)
    for shift in sorted(range(-180, 181), key=abs):
        changed = hls.copy()
        changed[:, :, channel] = np.clip(
            changed[:, :, channel] + shift, 0, (180, 255, 255)[channel]
        )
        made = cv2.cvtColor(changed.astype(np.uint8), cv2.COLOR_HLS2RGB)
        if shift == 0:
            made = colours  # MXNet does not change the image
        if np.array_equal(made, found):
            return shift
    raise AssertionError("more than one channel has changed")


def crop_size(scale: float, ratio: float = 1) -> tuple[int, int]:
    """Height and width of a crop: its area is scale**2 of the image, its width / height ratio."""
    area = scale * scale * HEIGHT * WIDTH
    return int((area / ratio) ** 0.5), int((area * ratio) ** 0.5)


def depth_of_centre(window: Box, box: Box) -> float:
    """Distance of a box's centre from the window's border; negative outside."""
    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return min(x - window.left, window.right - x, y - window.top, window.bottom - y)
