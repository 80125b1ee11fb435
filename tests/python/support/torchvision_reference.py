"""A second implementation of torchvision's arithmetic on uint8 tensors, with torch's operations.

It follows the documented formulas of torchvision.transforms.functional. Images are HWC uint8.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample, pad

Color = tuple[int, int, int]


def grey(image: Tensor) -> Tensor:
    """rgb_to_grayscale: one channel, whole numbers as float32."""
    r, g, b = image.to(torch.float32).unbind(-1)
    return (0.2989 * r + 0.587 * g + 0.114 * b).floor()


def blend(image: Tensor, other: Tensor | float, ratio: float) -> Tensor:
    mixed = ratio * image.to(torch.float32) + (1.0 - ratio) * other
    return mixed.clamp(0, 255).to(torch.uint8)


def brightness(image: Tensor, factor: float) -> Tensor:
    return blend(image, torch.zeros(()), factor)


def contrast(image: Tensor, factor: float) -> Tensor:
    return blend(image, grey(image).to(torch.float64).mean().to(torch.float32), factor)


def saturation(image: Tensor, factor: float) -> Tensor:
    return blend(image, grey(image).unsqueeze(-1), factor)


def hue(image: Tensor, turn: float) -> Tensor:
    """adjust_hue: _rgb2hsv, (h + turn) % 1, _hsv2rgb, convert_image_dtype."""
    r, g, b = (image.to(torch.float32) / 255).unbind(-1)
    most = torch.maximum(torch.maximum(r, g), b)
    least = torch.minimum(torch.minimum(r, g), b)
    same, ones = most == least, torch.ones_like(most)
    s = (most - least) / torch.where(same, ones, most)
    divisor = torch.where(same, ones, most - least)
    rc, gc, bc = (most - r) / divisor, (most - g) / divisor, (most - b) / divisor
    hr = (most == r) * (bc - gc)
    hg = ((most == g) & (most != r)) * (2.0 + rc - bc)
    hb = ((most != g) & (most != r)) * (4.0 + gc - rc)
    h = torch.fmod((hr + hg + hb) / 6.0 + 1.0, 1.0)
    h = (h + turn) % 1.0
    sector = torch.floor(h * 6.0)
    f = h * 6.0 - sector
    p = (most * (1.0 - s)).clamp(0, 1)
    q = (most * (1.0 - s * f)).clamp(0, 1)
    t = (most * (1.0 - s * (1.0 - f))).clamp(0, 1)
    v = most
    i = sector.to(torch.int64) % 6
    pick = [(v, t, p), (q, v, p), (p, v, t), (p, q, v), (t, p, v), (v, p, q)]
    out = torch.zeros_like(image, dtype=torch.float32)
    for number, channels in enumerate(pick):
        out = torch.where((i == number).unsqueeze(-1), torch.stack(channels, -1), out)
    return (out * (256.0 - 1e-3)).to(torch.uint8)


def grayscale(image: Tensor) -> Tensor:
    return grey(image).to(torch.uint8).unsqueeze(-1).expand_as(image)


def inverse_matrix(
    angle: float,
    translate: tuple[float, float] = (0, 0),
    scale: float = 1,
    shear: tuple[float, float] = (0, 0),
    center: tuple[float, float] = (0, 0),
) -> list[float]:
    """_get_inverse_affine_matrix."""
    rot, sx, sy = (math.radians(x) for x in (angle, *shear))
    (cx, cy), (tx, ty) = center, translate
    a = math.cos(rot - sy) / math.cos(sy)
    b = -math.cos(rot - sy) * math.tan(sx) / math.cos(sy) - math.sin(rot)
    c = math.sin(rot - sy) / math.cos(sy)
    d = -math.sin(rot - sy) * math.tan(sx) / math.cos(sy) + math.cos(rot)
    m = [x / scale for x in (d, -b, 0.0, -c, a, 0.0)]
    m[2] += m[0] * (-cx - tx) + m[1] * (-cy - ty) + cx
    m[5] += m[3] * (-cx - tx) + m[4] * (-cy - ty) + cy
    return m


def warp(image: Tensor, matrix: list[float], interpolation: str, mode: str, fill: Color) -> Tensor:
    """affine on a tensor: grid_sample, then the fill by the sampled mask; in float64."""
    height, width, _ = image.shape
    m = torch.tensor(matrix, dtype=torch.float64).reshape(2, 3)
    to_pixels = torch.tensor([width / 2, height / 2], dtype=torch.float64)
    columns = torch.tensor([width / 2, height / 2, 1.0], dtype=torch.float64)
    theta = m * columns / to_pixels.unsqueeze(1)
    grid = affine_grid(theta[None], [1, 4, height, width], align_corners=False)
    pixels = image.permute(2, 0, 1).to(torch.float64)
    with_mask = torch.cat([pixels, torch.ones(1, height, width, dtype=torch.float64)])
    padding = "border" if mode == "edge" else "zeros"
    sampled = grid_sample(
        with_mask[None], grid, mode=interpolation, padding_mode=padding, align_corners=False
    )[0]
    mask, made = sampled[3:], sampled[:3]
    color = torch.tensor(fill, dtype=torch.float64).reshape(3, 1, 1)
    if interpolation == "nearest":
        made = torch.where(mask < 0.5, color, made)
    else:
        made = made * mask + (1.0 - mask) * color
    return made.permute(1, 2, 0)


def padded(image: Tensor, sides: tuple[int, int, int, int], mode: str, fill: Color) -> Tensor:
    """pad on a tensor; sides are left, top, right, bottom."""
    left, top, right, bottom = sides
    planes = image.permute(2, 0, 1).to(torch.float32)
    around = (left, right, top, bottom)
    if mode == "constant":
        made = torch.stack([pad(plane, around, value=fill[c]) for c, plane in enumerate(planes)])
    elif mode == "symmetric":  # _pad_symmetric
        height, width = image.shape[:2]
        rows = [
            *range(top - 1, -1, -1),
            *range(height),
            *range(height - 1, height - 1 - bottom, -1),
        ]
        columns = [
            *range(left - 1, -1, -1),
            *range(width),
            *range(width - 1, width - 1 - right, -1),
        ]
        made = planes[:, rows][:, :, columns]
    else:
        made = pad(planes[None], around, mode="replicate" if mode == "edge" else mode)[0]
    return made.permute(1, 2, 0).to(torch.uint8)
