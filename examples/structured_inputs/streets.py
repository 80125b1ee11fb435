"""A data provider that draws its samples: streets, as two cameras of a car see them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from fuelrail import fields as F
from fuelrail.inputs import DataProvider, DataType, SampleDataGroup

Numbers = np.ndarray[Any, np.dtype[Any]]

HEIGHT, WIDTH = 128, 224  # pixels of a picture
CLASSES = ["car", "bus", "person"]
SIDES = np.array([(1.8, 1.5), (2.6, 3.0), (0.8, 1.8)])  # of each class, in metres: width, height
COLORS = np.array([(200, 60, 50), (230, 190, 40), (60, 110, 220)])
LIGHTS = {"by day": 1.0, "at dusk": 0.6, "at night": 0.35}  # the scenes

# Metres in the car's coordinates: x to the right, y down, z ahead.
ROAD = 1.5
ANGLES = (np.radians(-16), np.radians(16))  # the cameras look to the left and to the right
PLACES = (-0.5, 0.5)  # their x
INTRINSICS = np.array([[190, 0, WIDTH / 2], [0, 190, HEIGHT / 2.5], [0, 0, 1]])


class Streets(DataProvider):
    """Frames of two cameras. Any two of them with the same numbers are equal."""

    def __init__(self, count: int = 64, seed: int = 0) -> None:
        self._count, self._seed = count, seed
        # Only fuelrail's loader uses these. DALI's steps are told which fields they change.
        self.roles = {
            "*.boxes": F.Boxes("xyxy", rows="objects"),
            "*.classes": F.Label(CLASSES, rows="objects"),
            "*.intrinsics": F.CameraMatrix(),
        }
        self.fingerprint = f"{count} streets of seed {seed}"  # a state is only for the same data

    @property
    def sample_data_structure(self) -> SampleDataGroup:
        camera = SampleDataGroup()
        camera.add_data_field("image", DataType.UINT8)  # the bytes of a JPEG file
        camera.add_data_field("boxes", DataType.FLOAT)  # (objects, 4)
        camera.add_data_field(
            "classes", DataType.INT64, mapping={name: i for i, name in enumerate(CLASSES)}
        )
        camera.add_data_field("intrinsics", DataType.FLOAT)  # (3, 3): camera to pixels
        camera.add_data_field("extrinsics", DataType.FLOAT)  # (4, 4): car to camera
        frame = SampleDataGroup()
        frame.add_data_group_field_array("cameras", camera, 2)
        frame.add_data_field("scene", DataType.STRING)
        return frame

    def get_number_of_samples(self) -> int:
        return self._count

    def get_data(self, sample_index: int) -> SampleDataGroup:
        random = np.random.default_rng((self._seed, int(sample_index)))
        count = int(random.integers(2, 8))
        kinds = random.integers(len(CLASSES), size=count)
        ahead = random.uniform(5, 20, count)
        aside = random.uniform(-0.8, 0.8, count) * ahead
        feet = np.stack([aside, np.full(count, ROAD), ahead, np.ones(count)])

        frame = self.sample_data_structure
        frame["scene"] = str(random.choice(list(LIGHTS)))
        for k in range(2):
            extrinsics = pose(k)
            pixels, boxes, seen = view((extrinsics @ feet)[:3].T, kinds)
            pixels = pixels * LIGHTS[frame["scene"]] + random.normal(0, 6, (HEIGHT, WIDTH, 1))
            camera = frame["cameras"][k]
            camera["image"] = jpeg(pixels.clip(0, 255).astype(np.uint8))
            camera["boxes"] = boxes
            camera["classes"] = [CLASSES[kinds[i]] for i in seen]
            camera["intrinsics"], camera["extrinsics"] = INTRINSICS, extrinsics
        return frame


def pose(k: int) -> Numbers:
    """The matrix (4, 4) from the car's coordinates to those of camera k."""
    sine, cosine = np.sin(ANGLES[k]), np.cos(ANGLES[k])
    turn = np.array([[cosine, 0, -sine, 0], [0, 1, 0, 0], [sine, 0, cosine, 0], [0, 0, 0, 1]])
    shift = np.eye(4)
    shift[0, 3] = -PLACES[k]
    return turn @ shift


def view(feet: Numbers, kinds: Numbers) -> tuple[Numbers, Numbers, list[int]]:
    """What a camera sees of objects, whose feet (N, 3) are in its coordinates: the picture; and the boxes and numbers of
    those of which it shows a part, from the farthest to the nearest.
    """
    pixels = np.full((HEIGHT, WIDTH, 3), (150, 180, 210))  # the sky
    pixels[int(HEIGHT / 2.5) :] = (110, 110, 105)  # the road
    owners = np.full((HEIGHT, WIDTH), -1)  # the object that each pixel shows
    boxes = {}
    for i in np.argsort(-feet[:, 2]).tolist():
        width, height = SIDES[kinds[i]]
        corners = feet[i] + np.array([(-width / 2, -height, 0), (width / 2, 0, 0)])
        corners = corners @ INTRINSICS.T / feet[i, 2]
        boxes[i] = corners[:, :2].clip(0, (WIDTH, HEIGHT)).ravel()
        left, top, right, bottom = boxes[i].round().astype(int)
        pixels[top:bottom, left:right] = COLORS[kinds[i]]
        owners[top:bottom, left:right] = i
    seen = [i for i in boxes if (owners == i).sum() >= 30]
    return pixels, np.array([boxes[i] for i in seen]).reshape(-1, 4), seen


def jpeg(pixels: Numbers) -> Numbers:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=90)
    return np.frombuffer(file.getvalue(), np.uint8)
