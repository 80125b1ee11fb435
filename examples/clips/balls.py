"""Clips of a ball that flies behind a curtain: a data provider whose samples are the frames of all clips."""

from __future__ import annotations

import numpy as np

from fuelrail.inputs import DataProvider, DataType, SampleDataGroup

SIDE = 24  # pixels of a frame
CURTAIN = (8, 16)  # its columns
RADIUS = 2.5


class Balls(DataProvider):
    """Clips of 20 to 60 frames, each with a ball of its own, which bounces off the borders."""

    def __init__(self, clips: int = 60, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.lengths = random.integers(20, 61, clips).tolist()
        self._begins = np.cumsum([0, *self.lengths])
        self._starts = random.uniform(0, 1, (clips, 2))
        self._speeds = random.uniform(0.03, 0.09, (clips, 2)) * random.choice([-1, 1], (clips, 2))
        self.fingerprint = f"{clips} balls of seed {seed}"  # a state is only for the same data

    @property
    def sample_data_structure(self) -> SampleDataGroup:
        sample = SampleDataGroup()
        sample.add_data_field("image", DataType.UINT8)
        sample.add_data_field("place", DataType.FLOAT)  # (2,): the ball's x and y, from 0 to 1
        sample.add_data_field("hidden", DataType.BOOL)
        sample.add_data_field("frame", DataType.INT64)  # its number in the clip, from 0 on
        return sample

    def get_number_of_samples(self) -> int:
        return int(self._begins[-1])

    def get_data(self, sample_index: int) -> SampleDataGroup:
        clip = int(np.searchsorted(self._begins, sample_index, side="right")) - 1
        frame = int(sample_index - self._begins[clip])
        flown = self._starts[clip] + frame * self._speeds[clip]
        place = 1 - np.abs(flown % 2 - 1)  # the borders mirror the flight
        x, y = RADIUS + place * (SIDE - 2 * RADIUS)

        rows, columns = np.mgrid[:SIDE, :SIDE] + 0.5
        picture = np.full((SIDE, SIDE, 3), 30, np.uint8)
        picture[(columns - x) ** 2 + (rows - y) ** 2 < RADIUS**2] = (250, 220, 90)
        picture[:, slice(*CURTAIN)] = (120, 40, 40)

        sample = self.sample_data_structure
        sample["image"], sample["place"] = picture, place
        sample["hidden"] = bool(CURTAIN[0] < x - RADIUS and x + RADIUS < CURTAIN[1])
        sample["frame"] = frame
        return sample
