"""Writes stills.tsv: what the arithmetic of transform/still_pixels.h makes of stills that a formula gives, by the checksums of
the results. This is the plain reference for that arithmetic: the same steps in NumPy's float32.

    python tests/golden/stills/make.py

Value i of plane p of still s is (3 s + p + 1) * 2654435761 * (i + 1) >> (32 - bits), of 32 bits. A line a case, with floats in
hexadecimal:
    S BITS CHROMA HEIGHT WIDTH VISIBLE_HEIGHT VISIBLE_WIDTH OUT_HEIGHT OUT_WIDTH BOUNDS ANTIALIAS COLOR WARP(9) BIAS(3) NORM(3)
    OUT_OF_BOUNDS(3) CRC
CHROMA: 0 luma alone, 1 4:2:0, 2 4:2:2, 3 4:4:4. BOUNDS: 0 frame, 1 image. CRC: of the floats of shape (3, height, width).
"""

from __future__ import annotations

import math
import pathlib
import zlib
from dataclasses import dataclass

import numpy as np

f32 = np.float32
MOST_SAMPLES = 64


@dataclass(frozen=True)
class Case:
    still: int
    bits: int
    chroma: int
    frame: tuple[int, int]  # sizes: (height, width)
    visible: tuple[int, int]
    output: tuple[int, int]
    image_bounds: bool
    antialias: bool
    color: int
    warp: tuple[float, ...]
    bias: tuple[float, ...] = (0, 0, 0)
    norm: tuple[float, ...] = (1, 1, 1)
    out_of_bounds: tuple[float, ...] = (-1, -2, -3)

    def line(self) -> str:
        whole = [self.still, self.bits, self.chroma, *self.frame, *self.visible, *self.output]
        whole += [int(self.image_bounds), int(self.antialias), self.color]
        floats = (*self.warp, *self.bias, *self.norm, *self.out_of_bounds)
        texts = [float(f32(x)).hex() for x in floats]
        return "\t".join([*map(str, whole), *texts, f"{zlib.crc32(image_of(self)):08x}"])


def planes_of(case: Case) -> list[np.ndarray]:
    """The planes as float32. Without chroma: luma alone."""
    height, width = case.frame
    half = (
        (height + 1) // 2 if case.chroma == 1 else height,
        width if case.chroma == 3 else (width + 1) // 2,
    )
    planes = []
    for p, (rows, columns) in enumerate([case.frame, half, half][: 1 if case.chroma == 0 else 3]):
        at = np.arange(1, rows * columns + 1, dtype=np.uint64)
        values = ((3 * case.still + p + 1) * 2654435761 * at) % 2**32 >> np.uint64(32 - case.bits)
        planes.append(values.astype(f32).reshape(rows, columns))
    return planes


def clamped(x: np.ndarray, most: float) -> np.ndarray:
    above = np.where(x > 0, x, f32(0))
    return np.where(above < most, above, f32(most))


def source(warp: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    z = warp[6] * x + warp[7] * y + warp[8]
    return (warp[0] * x + warp[1] * y + warp[2]) / z, (warp[3] * x + warp[4] * y + warp[5]) / z


def bilinear(
    plane: np.ndarray, x: np.ndarray, y: np.ndarray, last_x: int, last_y: int
) -> np.ndarray:
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    across, down = x - left.astype(f32), y - top.astype(f32)

    def at(row: np.ndarray, column: np.ndarray) -> np.ndarray:
        return plane[np.clip(row, 0, last_y), np.clip(column, 0, last_x)]

    above = at(top, left) + (at(top, left + 1) - at(top, left)) * across
    below = at(top + 1, left) + (at(top + 1, left + 1) - at(top + 1, left)) * across
    return above + (below - above) * down


def sampled(case: Case, planes: list[np.ndarray], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Luma, Cb and Cr at points, of shape (3, points)."""
    height, width = case.visible if case.image_bounds else case.frame
    x, y = clamped(x, width - 1), clamped(y, height - 1)
    luma = bilinear(planes[0], x, y, width - 1, height - 1)
    if case.chroma == 0:
        neutral = np.full_like(luma, 2 ** (case.bits - 1))
        return np.stack([luma, neutral, neutral])
    last_x, last_y = width - 1, height - 1
    if case.chroma in (1, 2):
        x, last_x = x * f32(0.5) - f32(0.25), last_x // 2
    if case.chroma == 1:
        y, last_y = y * f32(0.5) - f32(0.25), last_y // 2
    return np.stack([luma, *(bilinear(plane, x, y, last_x, last_y) for plane in planes[1:])])


def samples_for(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    pixels = np.where(np.abs(a) > np.abs(b), np.abs(a), np.abs(b))
    pixels = np.where(pixels > 1, pixels, f32(1))
    return np.ceil(np.minimum(pixels, f32(MOST_SAMPLES))).astype(int)


def averaged(
    case: Case,
    planes: list[np.ndarray],
    warp: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    at: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    z = warp[6] * x + warp[7] * y + warp[8]
    across = samples_for((warp[0] - at[0] * warp[6]) / z, (warp[3] - at[1] * warp[6]) / z)
    down = samples_for((warp[1] - at[0] * warp[7]) / z, (warp[4] - at[1] * warp[7]) / z)
    means = np.zeros((3, x.size), f32)
    for nx, ny in sorted(set(zip(across.tolist(), down.tolist(), strict=True))):
        chosen = (across == nx) & (down == ny)
        if nx == ny == 1:
            means[:, chosen] = sampled(case, planes, at[0][chosen], at[1][chosen])
            continue
        total = np.zeros((3, int(chosen.sum())), f32)
        for j in range(ny):
            below = (f32(j) + f32(0.5)) / f32(ny) - f32(0.5)
            for i in range(nx):
                right = (f32(i) + f32(0.5)) / f32(nx) - f32(0.5)
                total += sampled(case, planes, *source(warp, x[chosen] + right, y[chosen] + below))
        means[:, chosen] = total / f32(nx * ny)
    return means


def rounded(x: np.ndarray) -> np.ndarray:
    x = clamped(x, 255)
    return np.floor(x) + (x - np.floor(x) >= f32(0.5)).astype(f32)


def channels_of(case: Case, values: np.ndarray) -> np.ndarray:
    unit = f32(2 ** (case.bits - 8))
    luma, cb, cr = values
    if case.color not in (0, 1, 2, 3):
        return values * (f32(1) / unit)
    if case.color == 0:
        gain = f32(255) / f32(2**case.bits - 1)
        y, u, v = luma * gain, (cb - 128 * unit) * gain, (cr - 128 * unit) * gain
        red_cr, green_cb, green_cr, blue_cb = 1.402, -0.344136, -0.714136, 1.772
    else:
        kr, kg, kb = [(0.299, 0.587, 0.114), (0.2126, 0.7152, 0.0722), (0.2627, 0.6780, 0.0593)][
            case.color - 1
        ]
        gain = f32(255 / 112) / unit
        y = (luma - 16 * unit) * (f32(255 / 219) / unit)
        u, v = (cb - 128 * unit) * gain, (cr - 128 * unit) * gain
        red_cr, blue_cb = 1 - kr, 1 - kb
        green_cb, green_cr = -kb / kg * (1 - kb), -kr / kg * (1 - kr)
    return np.stack(
        [
            rounded(y + f32(red_cr) * v),
            rounded(y + f32(green_cb) * u + f32(green_cr) * v),
            rounded(y + f32(blue_cb) * u),
        ]
    )


def image_of(case: Case) -> np.ndarray:
    """The result, float32 of shape (3, height, width)."""
    planes, warp = planes_of(case), np.array(case.warp, f32)
    rows, columns = np.indices(case.output).astype(f32).reshape(2, -1)
    with np.errstate(all="ignore"):
        x, y = source(warp, columns, rows)
    height, width = case.visible if case.image_bounds else case.frame
    tolerance = 0.5 if case.image_bounds else 0.0
    inside = (
        (x >= -tolerance)
        & (x <= width - 1 + tolerance)
        & (y >= -tolerance)
        & (y <= height - 1 + tolerance)
    )
    with np.errstate(all="ignore"):
        at = x[inside], y[inside]
        if case.antialias:
            values = averaged(case, planes, warp, columns[inside], rows[inside], at)
        else:
            values = sampled(case, planes, *at)
    bias, norm = (np.array(numbers, f32)[:, None] for numbers in (case.bias, case.norm))
    result = np.repeat(np.array(case.out_of_bounds, f32)[:, None], inside.size, axis=1)
    result[:, inside] = (channels_of(case, values) - bias) * norm
    return np.ascontiguousarray(result.reshape(3, *case.output))


def turned(degrees: float, scale: float, x: float, y: float) -> tuple[float, ...]:
    cosine, sine = scale * math.cos(math.radians(degrees)), scale * math.sin(math.radians(degrees))
    return (cosine, -sine, x, sine, cosine, y, 0, 0, 1)


WARPS = {
    "identity": (1, 0, 0, 0, 1, 0, 0, 0, 1),
    "larger": (0.37, 0, -1.5, 0, 0.41, -0.7, 0, 0, 1),
    "smaller": (2.5, 0, 0.75, 0, 1.75, 0.4, 0, 0, 1),
    "half": (2, 0, 0.5, 0, 2, 0.5, 0, 0, 1),
    "mirrored": (-1.5, 0, 40, 0, -1.25, 30, 0, 0, 1),
    "turned": turned(33, 1.3, 10, -9),
    "turned back": turned(-100, 0.8, 20, 33),
    "perspective": (1.2, 0.1, 2, -0.1, 1.1, 3, 0.004, -0.002, 0.9),
    "horizon": (1, 0, 5, 0, 1, 5, 0.1, 0.05, -1.5),
    "singular": (1, 2, 3, 2, 4, 6, 0, 0, 1),
    "not finite": (1, 0, 0, 0, math.nan, 0, 0, 0, 1),
    "infinite": (1, 0, 0, 0, 1, 0, 0, 0, 0),
    "tiny": (90, 0, 0, 0, 3, 0, 0, 0, 1),
}
NORMAL = {
    "bias": (123.675, 116.28, 103.53),
    "norm": (1 / 58.395, 1 / 57.12, 1 / 57.375),
    "out_of_bounds": (0.5, 0, -0.25),
}


def cases() -> list[Case]:
    made = []
    kinds = [(8, 1), (8, 3), (10, 2), (16, 1), (8, 0), (12, 3)]
    for i, warp in enumerate(WARPS.values()):
        for image_bounds in (False, True):
            for antialias in (False, True):
                bits, chroma = kinds[len(made) % len(kinds)]
                sizes = [((48, 64), (37, 51)), ((33, 47), (33, 47)), ((40, 40), (1, 39))][i % 3]
                output = [(24, 31), (17, 40)][len(made) % 2]
                color = (0, 0, 1, 2, 3, 7, 0)[len(made) % 7]
                more = NORMAL if len(made) % 2 else {}
                made.append(
                    Case(
                        len(made),
                        bits,
                        chroma,
                        *sizes,
                        output,
                        image_bounds,
                        antialias,
                        color,
                        warp,
                        **more,
                    )
                )
    for color in (0, 1, 2, 3, -1):
        for bits, chroma in kinds:
            made.append(
                Case(
                    len(made),
                    bits,
                    chroma,
                    (48, 64),
                    (37, 51),
                    (24, 31),
                    False,
                    False,
                    color,
                    WARPS["turned"],
                )
            )
    return [*made, Case(7, 8, 1, (1, 1), (1, 1), (3, 5), True, True, 0, WARPS["larger"])]


def lines() -> list[str]:
    return [case.line() for case in cases()]


if __name__ == "__main__":
    path = pathlib.Path(__file__).with_name("stills.tsv")
    path.write_text("\n".join(lines()) + "\n")
