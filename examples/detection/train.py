"""Detection with two cameras: nested samples -> one file -> augmented batches -> a detector that finds middles of objects.

python examples/detection/train.py

A sample is a scene: a list of two cameras, each with its image, matrix, boxes, labels and places in space. The loader moves
boxes and matrices with the image, and drops the rows of the objects that a crop removes. The detector is trained on the
images of both cameras. pycocotools compares its boxes, mapped back to the packed images, with the packed boxes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import pathlib
import time
from typing import Any

import numpy as np
import torch
from make_scenes import CLASSES, HEIGHT, WIDTH, Scenes, project
from PIL import Image, ImageDraw
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from torch import nn
from torch.nn import functional

import fuelrail as fr
from fuelrail import fields as F
from fuelrail import transforms as T

SIZE = (96, 160)  # height and width of the network's input
STRIDE = 4  # pixels between two places of the network's output
COLORS = ["#ff5050", "#50e070", "#60a0ff"]  # of the classes

CAMERA = {
    "image": F.Image(),
    "matrix": F.CameraMatrix(shape=(3, 4), dtype="float64"),
    "boxes": F.Boxes("xyxy", rows="objects"),
    "labels": F.Label(CLASSES, rows="objects"),
    "places": F.Tensor("float32", (-1, 3), rows="objects"),  # metres
}
SCHEMA = fr.Schema({"cameras": [CAMERA, CAMERA]})

AUGMENT = [T.RandomIoUCrop(min_scale=0.5), T.Resize(SIZE), T.HorizontalFlip(0.5)]
NORMALIZE = T.Normalize((0.5, 0.5, 0.5), (0.25, 0.25, 0.25))


def training_batches(path: pathlib.Path) -> fr.torch.DataLoader:
    return fr.torch.DataLoader(
        path,
        16,
        shuffle=True,
        seed=1,
        fields=["*.image", "*.boxes", "*.labels"],
        transforms=[*AUGMENT, NORMALIZE],
        boxes="cxcywh",
        min_area=0.3,  # an object of which a crop shows less is removed
        ragged="packed",
        last_batch="drop",
    )


class Detector(nn.Module):
    """Objects as points (Zhou, Wang and Krähenbühl, 2019). For each place of a grid, it returns how likely it is the middle
    of an object of each class, as logits, and that object's box: the rest of its middle, and the logarithms of its sides,
    all in steps of the grid.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.classes = classes
        self.fine = nn.Sequential(layer(3, 16, 2), layer(16, 32, 2), layer(32, 32))
        self.coarse = nn.Sequential(layer(32, 64, 2), layer(64, 64), layer(64, 64))
        self.joined = layer(96, 48)
        self.head = nn.Conv2d(48, classes + 4, 1)
        nn.init.constant_(self.head.bias[:classes], -4.0)  # few places are middles

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        fine = self.fine(images)
        coarse = functional.interpolate(self.coarse(fine), scale_factor=2)
        out = self.head(self.joined(torch.cat([fine, coarse], 1)))
        return out[:, : self.classes], out[:, self.classes :]


def layer(channels: int, width: int, stride: int = 1) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
    )


def loss_of(model: Detector, camera: dict[str, torch.Tensor]) -> torch.Tensor:
    """The loss for the images of one camera, from their boxes and labels in packed columns."""
    logits, found = model(camera["image"])
    count, classes, height, width = logits.shape
    middles, sides = (camera["boxes"] / STRIDE).split(2, 1)  # (objects of all images, 2)
    image = torch.repeat_interleave(torch.arange(count), camera["boxes.offsets"].diff())
    x, y = middles.long().T
    x, y = x.clamp(0, width - 1), y.clamp(0, height - 1)

    # The targets are hills around the middles: 1 at the place itself.
    away_x = (torch.arange(width) - x[:, None]) / (sides[:, :1] / 6).clamp(min=0.7)
    away_y = (torch.arange(height) - y[:, None]) / (sides[:, 1:] / 6).clamp(min=0.7)
    hills = torch.exp(-(away_x[:, None] ** 2 + away_y[:, :, None] ** 2) / 2)
    place = (image * classes + camera["labels"])[:, None, None].expand_as(hills)
    target = torch.zeros(count * classes, height, width).scatter_reduce(0, place, hills, "amax")
    target = target.view_as(logits)

    likely = torch.sigmoid(logits)
    at_middles = (1 - likely) ** 2 * functional.logsigmoid(logits)
    elsewhere = (1 - target) ** 4 * likely**2 * functional.logsigmoid(-logits)
    focal = -torch.where(target == 1, at_middles, elsewhere).sum()
    box = torch.cat([middles - torch.stack([x, y], 1), sides.log()], 1)
    distance = (found[image, :, y, x] - box).abs().sum()
    return (focal + distance) / max(1, len(image))


def train(path: pathlib.Path, epochs: int) -> Detector:
    torch.manual_seed(0)
    model = Detector(len(CLASSES))
    with training_batches(path) as batches:
        optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-4)
        steps = epochs * len(batches)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.005, total_steps=steps)
        for epoch in range(1, epochs + 1):
            begin, total = time.perf_counter(), 0.0
            for batch in batches:
                loss = sum(loss_of(model, camera) for camera in batch["cameras"]) / 2
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


def detected(model: Detector, images: torch.Tensor, most: int = 20) -> list[torch.Tensor]:
    """For each image, the `most` likeliest objects as rows of left, top, right, bottom, likelihood and class."""
    logits, found = model(images)
    likely = torch.sigmoid(logits)
    likely = likely * (functional.max_pool2d(likely, 3, 1, padding=1) == likely)  # peaks
    height, width = likely.shape[2:]
    score, place = likely.flatten(1).topk(most)
    label, y, x = place // (height * width), place // width % height, place % width
    box = found[torch.arange(len(images))[:, None], :, y, x]
    middle, side = torch.stack([x, y], 2) + box[..., :2], box[..., 2:].exp()
    corners = torch.cat([middle - side / 2, middle + side / 2], 2) * STRIDE
    return list(torch.cat([corners, score[..., None], label[..., None]], 2))


def mapped_back(corners: torch.Tensor, affine: torch.Tensor) -> torch.Tensor:
    """Boxes (N, 4) in the image of a batch, as boxes in the packed image, whose coordinates `affine` maps to the batch's."""
    points = corners.reshape(-1, 2).double() - affine[:, 2]
    return torch.linalg.solve(affine[:, :2], points.T).T.reshape(-1, 4)


@torch.no_grad()
def detections(model: Detector, data: fr.Dataset) -> dict[int, torch.Tensor]:
    """The objects found in each image of the dataset, in the pixels of the packed image. The image of camera k in sample i
    has the number 2 i + k.
    """
    rows = {}
    with fr.torch.DataLoader(
        data,
        32,
        fields=["index", "*.image", "*.image.affine"],
        transforms=[T.Resize(SIZE), NORMALIZE],
    ) as batches:
        for batch in batches:
            for k, camera in enumerate(batch["cameras"]):
                for i, affine, row in zip(
                    batch["index"],
                    camera["image.affine"],
                    detected(model, camera["image"]),
                    strict=True,
                ):
                    rows[2 * int(i) + k] = torch.cat(
                        [mapped_back(row[:, :4], affine), row[:, 4:]], 1
                    )
    return rows


def average_precision(data: fr.Dataset, rows: dict[int, torch.Tensor]) -> tuple[float, float]:
    """AP50 and AP of pycocotools."""
    truth: dict[str, Any] = {
        "images": [{"id": image, "height": HEIGHT, "width": WIDTH} for image in sorted(rows)],
        "categories": [{"id": label, "name": name} for label, name in enumerate(CLASSES)],
        "annotations": [],
    }
    for image in sorted(rows):
        camera = data[image // 2]["cameras"][image % 2]
        for (x1, y1, x2, y2), label in zip(camera["boxes"], camera["labels"], strict=True):
            box = [float(x1), float(y1), float(x2 - x1), float(y2 - y1)]
            truth["annotations"].append(
                {
                    "id": len(truth["annotations"]) + 1,
                    "image_id": image,
                    "category_id": int(label),
                    "bbox": box,
                    "area": box[2] * box[3],
                    "iscrowd": 0,
                }
            )
    found = [
        [image, x1, y1, x2 - x1, y2 - y1, score, label]
        for image, row in rows.items()
        for x1, y1, x2, y2, score, label in row.tolist()
    ]
    with contextlib.redirect_stdout(io.StringIO()):  # its tables
        coco = COCO()
        coco.dataset = truth
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(np.array(found)), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return float(evaluation.stats[1]), float(evaluation.stats[0])


def show_batch(path: pathlib.Path, picture: pathlib.Path, columns: int = 6, zoom: int = 2) -> None:
    """Saves an augmented batch, one row for each camera: boxes in the colours of the classes, and dots where the moved
    matrices project the places of the objects.
    """
    with fr.torch.DataLoader(
        path, columns, shuffle=True, seed=3, transforms=AUGMENT, dtype="uint8", layout="NHWC"
    ) as batches:
        batch = next(iter(batches))
    width, height = SIZE[1] * zoom, SIZE[0] * zoom
    sheet = Image.new("RGB", (columns * (width + 4) + 4, 2 * (height + 4) + 4), "white")
    for k, camera in enumerate(batch["cameras"]):
        for i in range(columns):
            tile = Image.fromarray(camera["image"][i].numpy()).resize((width, height))
            draw_boxes(tile, camera["boxes"][i] * zoom, camera["labels"][i])
            draw = ImageDraw.Draw(tile)
            for x, y in project(camera["matrix"][i].numpy(), camera["places"][i].numpy()) * zoom:
                draw.ellipse((x - 3, y - 3, x + 3, y + 3), fill="white", outline="black")
            sheet.paste(tile, (4 + i * (width + 4), 4 + k * (height + 4)))
    sheet.save(picture)


def show_results(
    data: fr.Dataset, rows: dict[int, torch.Tensor], picture: pathlib.Path, columns: int = 5
) -> None:
    """Saves the packed images of some scenes with the boxes found in them."""
    sheet = Image.new("RGB", (columns * (WIDTH + 4) + 4, 2 * (HEIGHT + 4) + 4), "white")
    for i in range(min(columns, len(data))):
        for k in range(2):
            tile = Image.fromarray(data[i].decode(f"cameras.{k}.image"))
            sure = rows[2 * i + k][rows[2 * i + k][:, 4] > 0.3]
            draw_boxes(tile, sure[:, :4], sure[:, 5].long())
            sheet.paste(tile, (4 + i * (WIDTH + 4), 4 + k * (HEIGHT + 4)))
    sheet.save(picture)


def draw_boxes(tile: Image.Image, boxes: torch.Tensor, labels: torch.Tensor) -> None:
    draw = ImageDraw.Draw(tile)
    for box, label in zip(boxes.tolist(), labels.tolist(), strict=True):
        draw.rectangle(box, outline=COLORS[label], width=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("demo-out/detection"))
    parser.add_argument("--train", type=int, default=700, help="training scenes")
    parser.add_argument("--val", type=int, default=150, help="held-out scenes")
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    out: pathlib.Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()

    for name, count, seed in (("train", options.train, 1), ("val", options.val, 2)):
        fr.pack(Scenes(count, seed), out / f"{name}.rec", schema=SCHEMA, overwrite=True)
    print(f"packed {options.train} + {options.val} scenes in {time.perf_counter() - begin:.1f} s")
    show_batch(out / "train.rec", out / "batch.png")

    model = train(out / "train.rec", options.epochs)
    data = fr.open(out / "val.rec")
    rows = detections(model, data)
    print("AP50 {:.3f}  AP {:.3f}".format(*average_precision(data, rows)))
    show_results(data, rows, out / "results.png")
    print(
        f"done in {time.perf_counter() - begin:.0f} s ({time.process_time():.0f} s of processor time); "
        f"pictures: {out / 'batch.png'}, {out / 'results.png'}"
    )


if __name__ == "__main__":
    main()
