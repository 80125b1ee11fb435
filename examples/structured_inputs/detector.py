"""A small detector, and its training on batches of either loader."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import torch
from streets import CLASSES
from torch import nn
from torch.nn import functional

SIZE = (64, 112)  # height and width of the images in a batch
STRIDE = 8  # pixels between two cells of the detector's output

Camera = dict[str, torch.Tensor]


class Detector(nn.Module):
    """Says of each cell which class of object is there, or none, as logits. Like PETR (Liu et al., 2022), it is told where
    each pixel looks, so one network serves cameras of all kinds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            layer(6, 16), layer(16, 32), layer(32, 48), nn.Conv2d(48, 1 + len(CLASSES), 1)
        )

    def forward(self, camera: Camera) -> torch.Tensor:
        """Logits (batch, 1 + classes, height / 8, width / 8)."""
        images = camera["image"].permute(0, 3, 1, 2) / 127.5 - 1
        return self.layers(torch.cat([images, rays(camera)], 1))


def layer(channels: int, width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
    )


def rays(camera: Camera) -> torch.Tensor:
    """Where each pixel looks, in the car's coordinates: vectors of length 1, (batch, 3, height, width)."""
    count, height, width, _ = camera["image"].shape
    y, x = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
    pixels = torch.stack([x, y, torch.ones_like(x)]).flatten(1)
    turned = camera["intrinsics"] @ camera["extrinsics"][:, :3, :3]
    looks = torch.linalg.inv(turned) @ pixels
    return functional.normalize(looks, dim=1).view(count, 3, height, width)


def target(camera: Camera) -> torch.Tensor:
    """For each cell 1 + the class of the nearest object whose box has the cell's middle, or 0: (batch, height, width)."""
    height, width = (side // STRIDE for side in SIZE)
    y, x = torch.arange(height)[:, None] + 0.5, torch.arange(width) + 0.5
    found = torch.zeros(len(camera["boxes"]), height, width, dtype=torch.int64)
    # From the farthest to the nearest. The boxes that fill up the rows are empty.
    for k in range(camera["boxes"].shape[1]):
        left, top, right, bottom = (camera["boxes"][:, k, :, None, None] / STRIDE).unbind(1)
        inside = (left <= x) & (x < right) & (top <= y) & (y < bottom)
        found = torch.where(inside, 1 + camera["classes"][:, k, None, None], found)
    return found


def train(batches: Iterable[dict[str, Any]], epochs: int) -> Detector:
    """batches: each loop over them is an epoch."""
    torch.manual_seed(0)
    model = Detector()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005)
    for epoch in range(1, epochs + 1):
        begin = time.perf_counter()
        losses: dict[str, list[float]] = {}  # of each kind of scene
        for batch in batches:
            cameras = [batch["cameras"][k] for k in range(2)]
            loss = sum(
                functional.cross_entropy(model(camera), target(camera), reduction="none")
                for camera in cameras
            )
            loss = loss.mean((1, 2)) / 2  # of each sample
            optimizer.zero_grad()
            loss.mean().backward()
            optimizer.step()
            for scene, value in zip(batch["scene"], loss.tolist(), strict=True):
                losses.setdefault(scene, []).append(value)
        every = [value for values in losses.values() for value in values]
        scenes = ", ".join(f"{scene} {mean(losses[scene]):.3f}" for scene in sorted(losses))
        seconds = time.perf_counter() - begin
        print(
            f"  epoch {epoch}/{epochs}  loss {mean(every):.5f} ({scenes})  {seconds:.1f} s",
            flush=True,
        )
    return model.eval()


def mean(values: list[float]) -> float:
    return sum(values) / len(values)
