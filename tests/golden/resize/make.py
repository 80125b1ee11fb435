"""Makes input.rgb, expected.rgb and cases.txt beside this file: what Pillow and torch make of one image.

A line of cases.txt: filter, box (top left height width), scaled (height width), window (top left height width),
the largest difference allowed (0: equal), offset of the pixels in expected.rgb. `_plain` filters have no antialias;
they come from torch.nn.functional.interpolate on uint8. Made with Pillow 13.0.0 and torch 2.13.0:

    python make.py
"""

import pathlib

import numpy as np
import torch
from PIL import Image

FOLDER = pathlib.Path(__file__).parent
HEIGHT, WIDTH = 97, 131
PILLOW = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
}
WHOLE = (0, 0, HEIGHT, WIDTH)
SHAPES = [  # box, scaled, window (None: all of scaled)
    (WHOLE, (32, 32), None),
    (WHOLE, (150, 200), (10, 20, 40, 50)),
    ((5, 7, 60, 90), (40, 40), None),
    ((5, 7, 40, 40), (40, 24), None),
    ((5, 7, 24, 40), (40, 40), None),
    ((90, 120, 7, 11), (64, 48), None),
    ((0, 0, 97, 3), (9, 33), None),
    ((33, 0, 1, 131), (5, 13), None),
    ((10, 10, 80, 40), (40, 21), None),  # 40 rows and 19 columns lost: Pillow 13 begins vertically
    ((10, 10, 80, 40), (40, 20), None),  # 20 columns: horizontally
    (WHOLE, (3, 5), None),
    (WHOLE, (64, 86), (4, 15, 56, 56)),
]


def picture() -> np.ndarray:
    """Smooth waves, hard edges and noise."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    waves = np.stack(
        [127 + 127 * np.sin(x / 9 + c) * np.cos(y / (7 + c)) for c in range(3)], axis=-1
    )
    waves[((x // 8 + y // 8) % 5) == 0] = (255, 0, 255)
    noise = np.random.default_rng(1).normal(0, 12, waves.shape)
    return np.clip(waves + noise, 0, 255).astype(np.uint8)


def torch_resize(part: np.ndarray, size: tuple[int, int], mode: str) -> np.ndarray:
    planes = torch.from_numpy(part.copy()).permute(2, 0, 1)[None]
    out = torch.nn.functional.interpolate(planes, size=size, mode=mode, align_corners=False)
    return out[0].permute(1, 2, 0).numpy()


def main() -> None:
    image = picture()
    (FOLDER / "input.rgb").write_bytes(image.tobytes())
    lines, pixels = [], b""
    for box, scaled, window in SHAPES:
        top, left, height, width = box
        part = image[top : top + height, left : left + width]
        results = {
            n: (np.asarray(Image.fromarray(part).resize(scaled[::-1], f)), 0)
            for n, f in PILLOW.items()
        }
        results["bilinear_plain"] = (torch_resize(part, scaled, "bilinear"), 1)
        results["bicubic_plain"] = (torch_resize(part, scaled, "bicubic"), 1)
        top, left, height, width = window or (0, 0, *scaled)
        for name, (result, tolerance) in results.items():
            numbers = (*box, *scaled, top, left, height, width, tolerance, len(pixels))
            lines.append(f"{name} {' '.join(map(str, numbers))}\n")
            pixels += result[top : top + height, left : left + width].tobytes()
    (FOLDER / "cases.txt").write_text("".join(lines))
    (FOLDER / "expected.rgb").write_bytes(pixels)


if __name__ == "__main__":
    main()
