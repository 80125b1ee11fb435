"""Judges what a loader made of a scene (scenes.py) by the pixels of its pictures.

How far may the pixels be from the coordinates? A step that takes the nearest pixel, or that shrinks
the picture without antialiasing, rounds: it moves an edge by up to half a pixel, because it decides
for whole pixels. The blends of other steps show where an edge is. Only where the next step that
rounds, or the judge, decides for whole pixels, it may be half a pixel away: half of the coarsest
pixel of the steps in between. Later steps enlarge what an earlier one did. So with the steps k that
resample, and s(k), the largest factor by which the steps after k enlarge a side:

    an edge in the mask      sum of s(k) / 2 over all k
    an edge in the picture   sum of s(k) / 2 over the k that round, and the largest s(k) / 2 of each
                             run of others

An edge in the mask and in the picture therefore differ by at most the sum of both: 1 pixel if one
step resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuelrail.drawn import Drawn
from scenes import FILL, Scene

SEEN = 128
"""Half of a colour."""
LEAST = 3
"""Pixels a side: smaller objects are not judged."""


@dataclass(frozen=True)
class Step:
    """One step of `Drawn.steps` that moves pixels: its map, as the design describes it."""

    affine: np.ndarray
    """(2, 3)"""
    shown: np.ndarray
    """(2, 2): the first and the last corner of the part of the input that is used."""
    size: tuple[int, int]
    copies: bool = False
    rounds: bool = False
    turns: bool = False
    repeats: bool = False
    """Whether the border repeats or mirrors the picture."""

    @staticmethod
    def of(step: Any, size: tuple[int, int]) -> Step | None:
        height, width = size
        whole = np.array([[0, 0], [width, height]])
        if step["step"] == "flip":
            x, y = (-1 if step[name] else 1 for name in ("horizontal", "vertical"))
            affine = np.array([[x, 0, width * (x < 0)], [0, y, height * (y < 0)]])
            return Step(affine, whole, size, copies=True)
        if step["step"] not in ("resample", "warp"):
            return None
        repeats = step["padding_mode"] != "constant"
        if step["step"] == "warp":
            inverse = np.vstack([np.reshape(step["matrix"], (2, 3)), [0, 0, 1]])
            affine = np.linalg.inv(inverse)[:2]
            from_middle = affine[:, :2] @ [width / 2, height / 2]
            affine[:, 2] += np.array(step["size"][::-1]) / 2 - from_middle
            rounds = step["interpolation"] == "nearest" or shrinks(affine)
            return Step(affine, whole, step["size"], rounds=rounds, turns=True, repeats=repeats)
        (top, left, *sides), window = step["box"], step["window"]
        y, x = np.divide(step["scaled"], sides)
        affine = np.array([[x, 0, -left * x - window[1]], [0, y, -top * y - window[0]]])
        rounds = step["interpolation"] == "nearest" or (not step["antialias"] and shrinks(affine))
        return Step(
            affine,
            np.array([[left, top], [left + sides[1], top + sides[0]]]),
            window[2:],
            copies=tuple(sides) == step["scaled"],
            rounds=rounds,
            repeats=repeats,
        )


def shrinks(affine: np.ndarray) -> bool:
    return bool(np.linalg.svd(affine[:, :2], compute_uv=False).min() < 1 - 1e-9)


class Judge:
    """drawn: what was drawn for the scene's picture."""

    def __init__(self, scene: Scene, drawn: Drawn) -> None:
        self.scene = scene
        self.steps: list[Step] = []
        size = scene.size
        for one in drawn.steps:
            step = Step.of(one, size)
            if step is not None:
                self.steps.append(step)
                size = step.size
        self.size = size
        self.removed = drawn.removed
        self.colors = len(self.steps) < len(drawn.steps)
        self.turns = any(step.turns for step in self.steps)
        self.repeats = any(step.repeats for step in self.steps)
        self.mask_rounding, self.rounding = self._roundings()

    def _roundings(self) -> tuple[float, float]:
        """How many pixels an edge in the mask, and one in the picture, may be away."""
        mask = picture = run = 0.0
        later = np.eye(2)
        for step in reversed(self.steps):
            half = 0 if step.copies else np.abs(later).sum(1).max() / 2
            mask += half
            if step.rounds and not step.copies:
                picture += run + half
                run = 0.0
            else:
                run = max(run, half)
            later = later @ step.affine[:, :2]
        return mask, picture + run

    @property
    def allowed(self) -> float:
        """How far a box or a dot may be away: 0 if all steps copy, 1 pixel if one of them resamples,
        1.5 if it turns; and what double rounds.
        """
        return (self.rounding and self.rounding + (1.0 if self.turns else 0.5)) + 1e-6

    def judge(self, made: dict[str, np.ndarray]) -> int:
        """Returns the number of boxes and dots that were compared with pixels.

        made: the columns of the scene, by the names in `scene_fields`; coordinates in pixels.
        """
        assert made["picture"].shape[:2] == made["mask"].shape == self.size
        assert self.colors or (made["image"] == made["picture"]).all()
        assert tuple(made["image.size"]) == self.scene.size
        assert np.abs(made["image.affine"] - self._affine()).max() < 1e-9
        if not self._spreads():
            self._judge_mask(made)
        if self.repeats:  # it may show an object twice
            return 0
        return self._judge_boxes(made) + self._judge_dots(made)

    def _affine(self) -> np.ndarray:
        made = np.eye(3)
        for step in self.steps:
            made = np.vstack([step.affine, [0, 0, 1]]) @ made
        return made[:2]

    def _spreads(self) -> bool:
        """Whether a border repeats pixels that are blends: how the blends were rounded is then
        visible everywhere in the border.
        """
        hard = True
        for step in self.steps:
            if step.repeats and not (hard and (step.copies or step.turns)):
                return True
            hard = hard and step.copies
        return False

    def _judge_mask(self, made: dict[str, np.ndarray]) -> None:
        inside = made["dotted"][:, :, 2] >= SEEN
        numbers = (made["picture"] >= SEEN).astype(np.uint8) @ np.arange(1, 4, dtype=np.uint8)
        expected = np.where(inside, numbers, FILL)
        reach = self.mask_rounding + self.rounding
        assert not differences(made["mask"], expected, math.ceil(reach - 1e-6))

    def _judge_boxes(self, made: dict[str, np.ndarray]) -> int:
        judged = 0
        for i, (left, top, right, bottom) in enumerate(self.scene.boxes):
            if self._least_side(right - left, bottom - top) < LEAST:
                continue
            found = box_of(made["picture"][:, :, i])
            (rows,) = np.nonzero(made["numbers"] == i + 1)
            if len(rows) == 0:
                small = found is None or (found[2:] - found[:2]).min() <= LEAST + 2 * self.allowed
                assert small or self.removed[i], (i, found)
                continue
            assert not self.removed[i], i
            box = made["boxes"][rows[0]]
            corners = np.array([[x, y] for x in (left, right) for y in (top, bottom)])
            if self.turns and not self._is_whole(corners):
                # The hull of the corners may be larger than what is visible.
                if found is not None:
                    beyond = max((box[:2] - found[:2]).max(), (found[2:] - box[2:]).max())
                    assert beyond <= self.allowed, (i, found, box)
                continue
            assert found is not None, (i, box)
            assert np.abs(found - box).max() <= self.allowed, (i, found, box)
            judged += 1
        return judged

    def _judge_dots(self, made: dict[str, np.ndarray]) -> int:
        judged = 0
        projected = self.scene.world @ made["camera"].T
        for i, (x, y, radius) in enumerate(self.scene.dots):
            if self._least_side(2 * radius, 2 * radius) < LEAST:
                continue
            seen = made["dotted"][:, :, i] >= SEEN
            *point, visibility = made["points"][i]
            around = [[x + j * radius, y + k * radius] for j in (-1, 1) for k in (-1, 1)]
            if not self._is_whole(np.array(around)):
                near = pixels_near(seen, point, math.ceil(self.allowed))
                assert 1 in near if visibility else set(near) != {1}, (i, point, near)
                continue
            assert visibility == 2, i
            rows, columns = np.nonzero(seen)
            found = np.array([columns.mean(), rows.mean()]) + 0.5
            for there in (point, projected[i, :2] / projected[i, 2]):
                assert np.abs(found - there).max() <= self.allowed, (i, found, there)
            judged += 1
        return judged

    def _is_whole(self, corners: np.ndarray) -> bool:
        """Whether every step shows all of the corners."""
        for step in self.steps:
            first, last = step.shown
            if not ((corners >= first) & (corners <= last)).all():
                return False
            corners = corners @ step.affine[:, :2].T + step.affine[:, 2]
        return bool(((corners >= 0) & (corners <= self.size[::-1])).all())

    def _least_side(self, width: float, height: float) -> float:
        """The least thickness that a rectangle has after a step."""
        sides = np.diag([width, height])
        least = min(width, height)
        for step in self.steps:
            sides = step.affine[:, :2] @ sides
            longest = np.linalg.norm(sides, axis=0).max()
            least = min(least, abs(np.linalg.det(sides)) / longest)
        return float(least)


def box_of(channel: np.ndarray) -> np.ndarray | None:
    """The box around the pixels with at least half of the colour."""
    rows, columns = np.nonzero(channel >= SEEN)
    if len(rows) == 0:
        return None
    return np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])


def pixels_near(seen: np.ndarray, point: list[float], reach: int) -> list[int]:
    """The pixels at most `reach` away from the point; -1 for those beyond the edges."""
    height, width = seen.shape
    column, row = (math.floor(at) for at in point)
    return [
        int(seen[y, x]) if 0 <= y < height and 0 <= x < width else -1
        for y in range(row - reach, row + reach + 1)
        for x in range(column - reach, column + reach + 1)
    ]


def windows(mask: np.ndarray, side: int, beyond: int) -> np.ndarray:
    """The pixels around each pixel: (height, width, side, side)."""
    around = np.pad(mask.astype(int), side // 2, constant_values=beyond)
    return np.lib.stride_tricks.sliding_window_view(around, (side, side))


def even(windows: np.ndarray) -> np.ndarray:
    result: np.ndarray = (windows == windows[..., :1, :1]).all((-2, -1))
    return result


def differences(made: np.ndarray, expected: np.ndarray, reach: int) -> int:
    """The number of pixels that differ, where all pixels of `made` at most `reach` away are equal,
    and `expected` has a square of at least 3 pixels a side. There may be a border just beyond the
    edges.
    """
    places = np.nonzero(made != expected)
    inner = even(windows(made, 2 * reach + 1, beyond=-1)[places])
    if not inner.any():
        return 0
    squares = even(windows(expected, LEAST, beyond=-1))
    thick = windows(squares, LEAST, beyond=0)[places].any((1, 2))
    return int((inner & thick).sum())
