"""Semantic segmentation: images with masks -> one file -> augmented batches -> a small U-Net.

python examples/segmentation/train.py

The same network is trained twice. First the masks are declared as `F.Mask`: they move with their image, and each pixel
keeps the number of a class. Then they are declared as `F.Image`, as if class numbers were grey levels: they move with
their image too, but are interpolated. Between a triangle (4) and the background (0) there are then discs, rings and
crosses (1 to 3), and the network learns to see them.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import time

import torch
from make_shapes import CLASSES, Shapes
from PIL import Image, ImageDraw
from torch import nn
from torch.nn import functional

import fuelrail as fr
from fuelrail import fields as F
from fuelrail import transforms as T

SIDE = 64  # pixels of the network's input
UNKNOWN = 255  # the number in a mask beyond the edges of the image
COLORS = [(0, 0, 0), (230, 60, 60), (60, 180, 75), (60, 100, 230), (240, 200, 40)]

RIGHT = F.Mask(fill=UNKNOWN)
WRONG = F.Image(of="image", colors=False, encode="png")


def schema(mask: F.FieldSpec) -> fr.Schema:
    return fr.Schema(
        {
            "image": F.Image(),
            "mask": mask,
            "boxes": F.Boxes("xyxy", rows="objects"),
            "middles": F.Points(rows="objects"),
        }
    )


AUGMENT = [
    T.RandomZoomOut(side_range=(1, 1.5), p=0.3),
    T.RandomResizedCrop(SIDE, scale=(0.5, 1.0)),
    T.HorizontalFlip(0.5),
]


def loader(path: pathlib.Path, batch_size: int, augment: bool) -> fr.torch.DataLoader:
    return fr.torch.DataLoader(
        path,
        batch_size,
        shuffle=augment,
        seed=1,
        fields=["image", "mask"],
        transforms=AUGMENT if augment else [T.Resize((SIDE, SIDE))],
        dtype={"image": "float32", "mask": "uint8"},
        last_batch="drop" if augment else "short",
        memory_format=torch.channels_last,  # what convolutions on a processor are fastest with
    )


def classes_of(masks: torch.Tensor) -> torch.Tensor:
    """Masks as a loss needs them, int64 (N, H, W). Those declared as images are (N, 3, H, W)."""
    return (masks if masks.ndim == 3 else masks[:, 0]).long()


def block(channels: int, width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
        nn.Conv2d(width, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    """A U-Net (Ronneberger, Fischer and Brox, 2015) of five levels."""

    def __init__(self, classes: int, widths: tuple[int, ...] = (8, 16, 32, 48, 64)) -> None:
        super().__init__()
        self.down = nn.ModuleList(map(block, (3, *widths), widths))
        self.up = nn.ModuleList(block(a + b, a) for a, b in itertools.pairwise(widths))
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        levels = []
        for i, layer in enumerate(self.down):
            x = layer(functional.max_pool2d(x, 2) if i else x)
            levels.append(x)
        for layer, level in zip(reversed(self.up), reversed(levels[:-1]), strict=True):
            x = layer(torch.cat([level, functional.interpolate(x, scale_factor=2)], 1))
        return self.head(x)


def train(path: pathlib.Path, epochs: int) -> UNet:
    torch.manual_seed(0)
    model = UNet(len(CLASSES)).to(memory_format=torch.channels_last)
    with loader(path, 16, augment=True) as batches:
        optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-4)
        steps = epochs * len(batches)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=steps)
        for epoch in range(1, epochs + 1):
            begin, total = time.perf_counter(), 0.0
            for images, masks in batches:
                scores, classes = model(images), classes_of(masks)
                loss = functional.cross_entropy(scores, classes, ignore_index=UNKNOWN)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                total += loss.item()
            seconds = time.perf_counter() - begin
            print(
                f"  epoch {epoch}/{epochs}  loss {total / len(batches):.3f}  {seconds:.1f} s",
                flush=True,
            )
    return model.eval()


@torch.no_grad()
def overlaps(model: UNet, path: pathlib.Path) -> torch.Tensor:
    """The intersection over union (IoU) of each class, over all pixels of the file."""
    count = len(CLASSES)
    pairs = torch.zeros(count * count, dtype=torch.int64)
    with loader(path, 64, augment=False) as batches:
        for images, masks in batches:
            pairs += torch.bincount(
                (classes_of(masks) * count + model(images).argmax(1)).flatten(),
                minlength=count * count,
            )
    table = pairs.reshape(count, count)
    both = table.diagonal()
    return both / (table.sum(0) + table.sum(1) - both)


def painted(mask: torch.Tensor) -> Image.Image:
    """A mask in colours; what is unknown is grey."""
    palette = torch.full((256, 3), 128, dtype=torch.uint8)
    palette[: len(COLORS)] = torch.tensor(COLORS)
    return Image.fromarray(palette[mask.long()].numpy())


def show_batch(path: pathlib.Path, picture: pathlib.Path, columns: int = 8, zoom: int = 3) -> None:
    """Saves an augmented batch: above each mask the image, with the mask's colours, the boxes and the middles over it."""
    with fr.torch.DataLoader(
        path,
        columns,
        shuffle=True,
        seed=7,
        transforms=AUGMENT,
        as_dict=True,
        dtype="uint8",
        layout="NHWC",
    ) as batches:
        batch = next(iter(batches))
    cell = SIDE * zoom + 4
    sheet = Image.new("RGB", (columns * cell + 4, 2 * cell + 4), "white")
    for i in range(columns):
        image, mask = Image.fromarray(batch["image"][i].numpy()), painted(batch["mask"][i])
        tile = Image.blend(image, mask, 0.35).resize((SIDE * zoom,) * 2, Image.Resampling.NEAREST)
        draw = ImageDraw.Draw(tile)
        for box in batch["boxes"][i] * zoom:
            draw.rectangle(box.tolist(), outline="white")
        for x, y in (batch["middles"][i] * zoom).tolist():
            draw.ellipse((x - 3, y - 3, x + 3, y + 3), fill="white", outline="black")
        sheet.paste(tile, (4 + i * cell, 4))
        sheet.paste(mask.resize(tile.size, Image.Resampling.NEAREST), (4 + i * cell, 4 + cell))
    sheet.save(picture)


@torch.no_grad()
def show_results(
    models: list[UNet], path: pathlib.Path, picture: pathlib.Path, columns: int = 8, zoom: int = 3
) -> None:
    """Saves held-out images, their masks, and what each network sees, one row each."""
    with loader(path, columns, augment=False) as batches:
        images, masks = next(iter(batches))
    pixels = (images * 255).round().to(torch.uint8).permute(0, 2, 3, 1)
    rows = [
        [Image.fromarray(one.numpy()) for one in pixels],
        [painted(one) for one in masks],
        *([painted(one) for one in model(images).argmax(1)] for model in models),
    ]
    cell = SIDE * zoom + 4
    sheet = Image.new("RGB", (columns * cell + 4, len(rows) * cell + 4), "white")
    for y, row in enumerate(rows):
        for x, tile in enumerate(row):
            tile = tile.resize((SIDE * zoom,) * 2, Image.Resampling.NEAREST)
            sheet.paste(tile, (4 + x * cell, 4 + y * cell))
    sheet.save(picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("demo-out/segmentation"))
    parser.add_argument("--train", type=int, default=1100, help="training images")
    parser.add_argument("--val", type=int, default=400, help="held-out images")
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    out: pathlib.Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()

    shapes = Shapes(options.train, seed=1)
    fr.pack(shapes, out / "train.rec", schema=schema(RIGHT), overwrite=True)
    fr.pack(shapes, out / "interpolated.rec", schema=schema(WRONG), overwrite=True)
    fr.pack(Shapes(options.val, seed=2), out / "val.rec", schema=schema(RIGHT), overwrite=True)
    print(f"packed {options.train} + {options.val} images in {time.perf_counter() - begin:.1f} s")
    show_batch(out / "train.rec", out / "batch.png")

    models = []
    for name, path in (("F.Mask", "train.rec"), ("F.Image", "interpolated.rec")):
        print(f"masks as {name}")
        models.append(train(out / path, options.epochs))
        found = overlaps(models[-1], out / "val.rec")
        of_classes = "  ".join(f"{c} {x:.2f}" for c, x in zip(CLASSES, found, strict=True))
        print(f"masks as {name}: mIoU {found.mean():.3f}  ({of_classes})", flush=True)
    show_results(models, out / "val.rec", out / "results.png")
    print(
        f"done in {time.perf_counter() - begin:.0f} s ({time.process_time():.0f} s of processor time); "
        f"pictures: {out / 'batch.png'}, {out / 'results.png'}"
    )


if __name__ == "__main__":
    main()
