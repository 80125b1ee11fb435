"""Pictures of known content: what is drawn, and where its boxes, points and mask are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fuelrail import fields as F

OBJECTS = 3
"""Rectangles of one picture: a red, a green and a blue one, so that each has a channel."""
DOTS = 2
"""Discs of another picture: a red and a green one. Its blue channel is 255 everywhere."""
FILL = 255
"""The number of a mask's pixels outside the picture."""
BOX_FORMATS = ("xyxy", "xywh", "cxcywh")


@dataclass(frozen=True)
class Scene:
    """What one picture shows. Coordinates: x right, y down, from the corner of the first pixel."""

    size: tuple[int, int]
    """Height and width."""
    boxes: np.ndarray
    """(OBJECTS, 4): the rectangles' left, top, right and bottom edges, whole pixels."""
    dots: np.ndarray
    """(DOTS, 3): x and y of the discs' middles, in half pixels, and their radius."""
    camera: np.ndarray
    """(3, 4): projects points into the picture."""
    world: np.ndarray
    """(DOTS, 4): the points that the camera projects onto the middles of the discs."""

    def picture(self) -> np.ndarray:
        """uint8, (height, width, 3): the rectangles on black."""
        pixels = np.zeros((*self.size, 3), np.uint8)
        for channel, (left, top, right, bottom) in enumerate(self.boxes):
            pixels[top:bottom, left:right, channel] = 255
        return pixels

    def dotted(self) -> np.ndarray:
        """uint8, (height, width, 3): the discs, and where the picture is."""
        rows, columns = np.mgrid[: self.size[0], : self.size[1]] + 0.5
        pixels = np.full((*self.size, 3), 255, np.uint8)
        for channel, (x, y, radius) in enumerate(self.dots):
            inside = (columns - x) ** 2 + (rows - y) ** 2 <= radius**2
            pixels[:, :, channel] = inside * np.uint8(255)
        return pixels

    def mask(self) -> np.ndarray:
        """uint8, (height, width): 0, or the number of the rectangle, from 1 on."""
        return (self.picture() > 0).astype(np.uint8) @ np.arange(1, 4, dtype=np.uint8)


def draw_scene(random: np.random.Generator) -> Scene:
    half = random.integers(36, 72, 2)  # each rectangle is in a quarter of its own
    height, width = (int(side) for side in 2 * half)
    boxes = []
    for quarter in random.permutation(4)[:OBJECTS]:
        sides = random.integers(14, half + 1)
        first = np.array(divmod(quarter, 2)) * half + random.integers(0, half - sides + 1)
        boxes.append([*first[::-1], *(first + sides)[::-1]])
    radii = random.integers(6, 12, DOTS)
    ends = 2 * np.array([width, height]) - 4 * radii[:, None]
    middles = (random.integers(0, ends + 1) + 2 * radii[:, None]) / 2
    camera, world = draw_camera(random, middles)
    dots = np.column_stack([middles, radii])
    return Scene((height, width), np.array(boxes), dots, camera, world)


def draw_camera(random: np.random.Generator, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A camera, and points that it projects onto the pixels."""
    focal = random.uniform(50, 500)
    intrinsics = np.array([[focal, 0, 50], [0, focal, 40], [0, 0, 1]])
    rotation = np.linalg.qr(random.normal(size=(3, 3)))[0]
    shift = random.normal(size=3)
    depth = random.uniform(2, 20, (len(pixels), 1))
    rays = np.column_stack([pixels, np.ones(len(pixels))]) @ np.linalg.inv(intrinsics).T
    world = (rays * depth - shift) @ rotation
    camera = intrinsics @ np.column_stack([rotation, shift])
    return camera, np.column_stack([world, np.ones(len(world))])


def scene_fields(number: int) -> dict[str, Any]:
    """The fields of a scene. The colours of `image` may change; those of its partners do not. The
    number chooses the format of the boxes.
    """
    options: dict[str, Any] = {"dtype": "float64", "relative": number % 2 == 1}
    return {
        "image": F.Image(encode="npy"),
        "picture": F.Image("image", colors=False, encode="npy"),
        "dotted": F.Image("image", colors=False, encode="npy"),
        "mask": F.Mask("image", FILL, encode="npy"),
        "boxes": F.Boxes(BOX_FORMATS[number % 3], "image", "objects", **options),
        "numbers": F.Label(rows="objects"),
        "points": F.Points("image", shape=(DOTS, 3), **options),
        "camera": F.CameraMatrix("image", (3, 4), dtype="float64"),
    }


def scene_values(scene: Scene, number: int) -> dict[str, Any]:
    """The values of `scene_fields(number)`. Some masks have twice as many pixels a side."""
    picture, mask = scene.picture(), scene.mask()
    corners = scene.boxes.astype(np.float64)
    first, sides = corners[:, :2], corners[:, 2:] - corners[:, :2]
    boxes = {
        "xyxy": corners,
        "xywh": np.column_stack([first, sides]),
        "cxcywh": np.column_stack([first + sides / 2, sides]),
    }[BOX_FORMATS[number % 3]]
    unit = np.array(scene.size[::-1] if number % 2 else (1, 1))
    return {
        "image": picture,
        "picture": picture,
        "dotted": scene.dotted(),
        "mask": mask.repeat(2, 0).repeat(2, 1) if number % 3 == 2 else mask,
        "boxes": boxes / np.tile(unit, 2),
        "numbers": np.arange(1, OBJECTS + 1),
        "points": np.column_stack([scene.dots[:, :2] / unit, np.full(DOTS, 2.0)]),
        "camera": scene.camera,
    }


def moved_values(columns: dict[str, Any], row: int, number: int) -> dict[str, np.ndarray]:
    """One row of the columns of `scene_fields(number)` in a batch, with the points in pixels."""
    values = {
        name: np.array(column[row] if isinstance(column, list) else np.asarray(column)[row])
        for name, column in columns.items()
    }
    if number % 2:
        values["points"][:, :2] *= values["picture"].shape[1::-1]
    return values
