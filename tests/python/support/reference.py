"""A second implementation of the loader's computations, from the papers and torchvision."""

from __future__ import annotations

import math

Box = tuple[int, int, int, int]  # top, left, height, width


def philox4x32_10(counter: list[int], key: list[int]) -> list[int]:
    """Salmon et al., SC'11: ten rounds."""
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * counter[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * counter[2], 2**32)
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0]
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return counter


class Random:
    """The random numbers of one sample: docs/design.md, rule 2."""

    def __init__(self, seed: int, epoch: int, position: int) -> None:
        self.key = [seed % 2**32, seed >> 32]
        self.counter = [position % 2**32, position >> 32, epoch]

    def bits(self, operation: int, draw: int) -> int:
        block = philox4x32_10([*self.counter, operation << 16 | draw >> 2], list(self.key))
        return block[draw & 3]

    def uniform(self, operation: int, draw: int) -> float:
        return self.bits(operation, draw) / 2**32

    def below(self, operation: int, draw: int, bound: int) -> int:
        return self.bits(operation, draw) * bound >> 32


def random_resized_crop_box(
    height: int,
    width: int,
    scale: tuple[float, float],
    ratio: tuple[float, float],
    random: Random,
    operation: int = 0,
) -> Box:
    """torchvision.transforms.RandomResizedCrop.get_params with counter-based random numbers."""
    low, high = math.log(ratio[0]), math.log(ratio[1])
    for attempt in range(0, 40, 4):
        area = random.uniform(operation, attempt)
        target = height * width * (scale[0] + (scale[1] - scale[0]) * area)
        aspect = math.exp(low + (high - low) * random.uniform(operation, attempt + 1))
        w, h = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
        if 0 < w <= width and 0 < h <= height:
            top = random.below(operation, attempt + 2, height - h + 1)
            return top, random.below(operation, attempt + 3, width - w + 1), h, w
    w, h = width, height
    if width / height < ratio[0]:
        h = max(round(width / ratio[0]), 1)
    elif width / height > ratio[1]:
        w = max(round(height * ratio[1]), 1)
    return (height - h) // 2, (width - w) // 2, h, w


def random_iou_crop(
    size: tuple[int, int],
    boxes: list[tuple[float, float, float, float]],
    options: tuple[float, ...],
    random: Random,
    operation: int = 0,
    scale: tuple[float, float] = (0.3, 1.0),
    ratio: tuple[float, float] = (0.5, 2.0),
    trials: int = 40,
) -> Box | None:
    """torchvision's RandomIoUCrop.make_params with counter-based random numbers, for a sample with
    an object: None leaves the image as it is.
    """
    height, width = size
    for first in range(0, 100 * (1 + 4 * trials), 1 + 4 * trials):
        option = options[random.below(operation, first, len(options))]
        if option >= 1:
            return None
        for draw in range(first + 1, first + 1 + 4 * trials, 4):
            u = [random.uniform(operation, draw + i) for i in range(4)]
            w, h = (
                int(n * (scale[0] + (scale[1] - scale[0]) * x))
                for n, x in ((width, u[0]), (height, u[1]))
            )
            if w < 1 or h < 1 or not ratio[0] <= w / h <= ratio[1]:
                continue
            left, top = int((width - w) * u[2]), int((height - h) * u[3])
            overlaps = []
            for x1, y1, x2, y2 in boxes:
                x, y = 0.5 * (x1 + x2), 0.5 * (y1 + y2)
                if left < x < left + w and top < y < top + h:
                    shared = (min(x2, left + w) - max(x1, left)) * (min(y2, top + h) - max(y1, top))
                    overlaps.append(shared / ((x2 - x1) * (y2 - y1) + w * h - shared))
            if overlaps and max(overlaps) >= option:
                return top, left, h, w
    return None
