"""As pillow_loader.py, with OpenCV instead of Pillow: FOLDER RECORDS WORKERS BATCH SIDE.

Reductions are by area, which removes aliasing; enlargements are bilinear.
"""

from __future__ import annotations

import random

import cv2
import numpy as np
import torch
from pillow_loader import Photographs, normalised, random_box, run_with, torchvision_sides

cv2.setNumThreads(0)


class WithOpenCV(Photographs):
    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        encoded, label = self._images.read(index)
        image = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
        height, width = image.shape[:2]
        left, top, right, bottom = random_box(width, height, torchvision_sides)
        crop = image[top:bottom, left:right]
        reduced = min(right - left, bottom - top) > self._side
        way = cv2.INTER_AREA if reduced else cv2.INTER_LINEAR
        crop = cv2.resize(crop, (self._side, self._side), interpolation=way)
        if random.random() < 0.5:
            crop = cv2.flip(crop, 1)
        return normalised(cv2.cvtColor(crop, cv2.COLOR_BGR2RGB)), label


if __name__ == "__main__":
    run_with(WithOpenCV)
