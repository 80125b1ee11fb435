"""Draws scenes of balls, crates and cones on a floor, as two cameras side by side see them."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

HEIGHT, WIDTH = 144, 240  # pixels of a picture
CLASSES = ["ball", "crate", "cone"]
FOCAL = 200.0  # pixels

Numbers = np.ndarray[Any, np.dtype[Any]]

# Metres, seen from the middle between the cameras: x to the right, y down, z ahead.
FLOOR = 1.2
ANGLES = (np.radians(-14), np.radians(14))  # the cameras look to the left and to the right
PLACES = (-0.4, 0.4)  # their x


def camera(k: int) -> Numbers:
    """The matrix (3, 4) that projects points (x, y, z, 1) into the picture of camera k."""
    sine, cosine = np.sin(ANGLES[k]), np.cos(ANGLES[k])
    turn = np.array([[cosine, 0, -sine], [0, 1, 0], [sine, 0, cosine]])
    inner = np.array([[FOCAL, 0, WIDTH / 2], [0, FOCAL, HEIGHT / 3], [0, 0, 1]])
    return inner @ turn @ np.array([[1, 0, 0, -PLACES[k]], [0, 1, 0, 0], [0, 0, 1, 0]])


def project(matrix: Numbers, points: Numbers) -> Numbers:
    """The pixels (N, 2) of points (N, 3)."""
    x, y, z = matrix @ np.c_[points, np.ones(len(points))].T
    return np.stack([x / z, y / z], 1)


class Scenes:
    """`count` samples. Like any dataset for torch's DataLoader, `fr.pack` takes it as it is."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> dict[str, Any]:
        if not 0 <= i < self.count:
            raise IndexError(i)
        random = np.random.default_rng((self.seed, i))
        things = [Thing(random) for _ in range(random.integers(3, 9))]
        return {"cameras": [view(k, things, random) for k in range(2)]}


class Thing:
    """A ball, crate or cone that stands on the floor."""

    def __init__(self, random: np.random.Generator) -> None:
        self.label = int(random.integers(len(CLASSES)))
        self.radius = random.uniform(0.25, 0.6)
        ahead = random.uniform(3.5, 9)
        self.middle = np.array([random.uniform(-0.9, 0.9) * ahead, FLOOR - self.radius, ahead])
        self.color = np.array(colorsys.hsv_to_rgb(*random.uniform((0, 0.5, 0.5), 1))) * 255

    def faces(self, matrix: Numbers) -> list[tuple[Numbers, float]]:
        """Polygons in the picture, each with its brightness, in the order in which they are drawn."""
        circle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        x, y, z = np.cos(circle), np.sin(circle), np.zeros(24)
        if CLASSES[self.label] == "ball":
            return [
                (self.pixels(matrix, np.stack([size * x - shift, size * y - shift, z], 1)), light)
                for size, shift, light in ((1, 0, 0.75), (0.75, 0.12, 0.9), (0.35, 0.3, 1.2))
            ]
        if CLASSES[self.label] == "cone":
            foot = np.stack([0.8 * x, z + 1, 0.8 * y], 1)
            sides = [[foot[j], foot[(j + 1) % 24], [0, -1, 0]] for j in range(24)]
            sides.sort(key=lambda side: -side[0][2])
            return [(self.pixels(matrix, np.array(s)), 0.8 - 0.3 * s[0][0]) for s in sides]
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.9
        left, right, top, front = [0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [0, 4, 6, 2]
        sides = ((left, 0.6), (right, 0.6), (top, 1.1), (front, 0.85))
        return [(self.pixels(matrix, corners[side]), light) for side, light in sides]

    def pixels(self, matrix: Numbers, points: Numbers) -> Numbers:
        return project(matrix, self.middle + self.radius * points)


def view(k: int, things: list[Thing], random: np.random.Generator) -> dict[str, Any]:
    """What camera k sees of the things, from the farthest to the nearest."""
    matrix = camera(k)
    picture, numbers = ground(random), Image.new("L", (WIDTH, HEIGHT))
    draw, draw_number = ImageDraw.Draw(picture), ImageDraw.Draw(numbers)
    things = sorted(things, key=lambda thing: -thing.middle[2])
    boxes = np.zeros((len(things), 4), np.float32)
    for number, thing in enumerate(things, 1):
        faces = thing.faces(matrix)
        corners = np.concatenate([corners for corners, _ in faces])
        boxes[number - 1] = [*corners.min(0), *corners.max(0)]
        for polygon, light in faces:
            dots = [tuple(dot) for dot in polygon.tolist()]
            draw.polygon(dots, fill=tuple((thing.color * light).clip(0, 255).astype(int).tolist()))
            draw_number.polygon(dots, fill=number)
    pixels = np.asarray(picture) + random.normal(0, 6, (HEIGHT, WIDTH, 3))
    whole = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    boxes = boxes.clip(0, np.float32([WIDTH, HEIGHT] * 2))
    counts = np.bincount(np.asarray(numbers).ravel(), minlength=len(things) + 1)[1:]
    seen = counts > 0.3 * whole  # not hidden by others, and not outside
    return {
        "image": pixels.clip(0, 255).astype(np.uint8),
        "matrix": matrix,
        "boxes": boxes[seen],
        "labels": np.array([thing.label for thing in things])[seen],
        "places": np.array([thing.middle for thing in things], np.float32)[seen],
    }


def ground(random: np.random.Generator) -> Image.Image:
    """A wall and a floor."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), tuple(random.integers(90, 200, 3).tolist()))
    floor = (0, HEIGHT * 0.42, WIDTH, HEIGHT)
    ImageDraw.Draw(picture).rectangle(floor, fill=tuple(random.integers(50, 160, 3).tolist()))
    return picture
