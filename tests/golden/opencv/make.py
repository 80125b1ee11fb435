"""Writes opencv.tsv: what OpenCV makes of images that a formula gives, by the checksums of the pixels.

    python -m venv /tmp/cv && /tmp/cv/bin/pip install opencv-python-headless==4.8.1.78 'numpy<2'
    OPENCV_CPU_DISABLE=FMA3,AVX2 /tmp/cv/bin/python tests/golden/opencv/make.py

Byte i of image s (height x width x channels, in that order) is (s + 1) * 2654435761 * (i + 1) >> 24, of 32 bits; of images
with an odd s 0 below 128 and else 255. A line a case:
    resize S HEIGHT WIDTH CHANNELS INTERPOLATION NEW_HEIGHT NEW_WIDTH CRC
    warp   S HEIGHT WIDTH CHANNELS INTERPOLATION NEW_HEIGHT NEW_WIDTH CRC M0 M1 M2 M3 M4 M5   (border value 201)
    hls, rgb  S HEIGHT WIDTH 3 0 HEIGHT WIDTH CRC
Without IPP, and without fused multiplications, which change a few hues.
"""

import pathlib
import sys
import zlib

import cv2
import numpy as np

cv2.setNumThreads(1)
cv2.ipp.setUseIPP(False)


def image(seed: int, height: int, width: int, channels: int) -> np.ndarray:
    at = np.arange(1, height * width * channels + 1, dtype=np.uint64)
    pixels = (((seed + 1) * 2654435761 * at) % 2**32 >> np.uint64(24)).astype(np.uint8)
    if seed % 2:
        pixels = np.where(pixels < 128, 0, 255).astype(np.uint8)
    return pixels.reshape(height, width, channels)


def crc(pixels: np.ndarray) -> str:
    return f"{zlib.crc32(np.ascontiguousarray(pixels)):08x}"


SIZES = [
    (37, 53, 20, 31), (37, 53, 90, 77), (37, 53, 90, 20), (37, 53, 20, 120), (40, 64, 20, 32), (60, 96, 20, 32),
    (40, 96, 20, 32), (41, 50, 41, 33), (41, 50, 19, 50), (1, 1, 7, 9), (2, 3, 9, 11), (5, 1, 2, 4), (7, 9, 1, 1),
    (120, 200, 7, 9), (256, 341, 224, 224), (64, 80, 63, 79), (33, 33, 64, 65), (3, 500, 5, 224),
]  # fmt: skip
lines = []
seed = 0
for height, width, new_height, new_width in SIZES:
    for channels in (1, 3, 4):
        for interpolation in range(5):
            pixels = image(seed, height, width, channels)
            made = cv2.resize(pixels, (new_width, new_height), interpolation=interpolation)
            case = f"{seed} {height} {width} {channels} {interpolation} {new_height} {new_width}"
            lines.append(f"resize {case} {crc(made)}")
            seed += 1
MATRICES = [
    (1, 0, 0, 0, 1, 0), (1, 0, 3.5, 0, 1, -2.25), (0.866, 0.5, -4, -0.5, 0.866, 12), (1.7, 0.3, -9, 0.1, 0.6, 3),
    (-1, 0, 60, 0, -1, 40), (0.25, 0, 1, 0, 0.25, 2), (1, 2, 3, 2, 4, 6), (0, 1, -70, 1, 0, 5),
    (3e-5, 1e5, 2, 4e4, 0.1, -1),
]  # fmt: skip
for matrix in MATRICES:
    for channels in (1, 3, 4):
        for interpolation in range(5):
            pixels = image(seed, 41, 57, channels)
            made = cv2.warpAffine(
                pixels, np.array(matrix, float).reshape(2, 3), (48, 44), flags=interpolation,
                borderMode=cv2.BORDER_CONSTANT, borderValue=(201,) * 4,
            )  # fmt: skip
            numbers = " ".join(float(number).hex() for number in matrix)
            lines.append(
                f"warp {seed} 41 57 {channels} {interpolation} 44 48 {crc(made)} {numbers}"
            )
            seed += 1
for _ in range(4):
    pixels = image(seed, 67, 301, 3)
    lines.append(f"hls {seed} 67 301 3 0 67 301 {crc(cv2.cvtColor(pixels, cv2.COLOR_RGB2HLS))}")
    lines.append(f"rgb {seed} 67 301 3 0 67 301 {crc(cv2.cvtColor(pixels, cv2.COLOR_HLS2RGB))}")
    seed += 1
(pathlib.Path(__file__).parent / "opencv.tsv").write_text("\n".join(lines) + "\n")
print(f"OpenCV {cv2.__version__}: {len(lines)} cases", file=sys.stderr)
