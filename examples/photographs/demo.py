"""The main job from start to end: photographs -> one RecordIO file -> augmented batches -> a trained network.

Run it with `./run demo`. It creates its own data, and prints each step and the paths of the files that it writes.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import time

import make_photographs
import torch
from PIL import Image

import fuelrail as fr

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SIDE = 96  # pixels of the network's input

AUGMENT = [
    fr.transforms.RandomResizedCrop(SIDE, scale=(0.25, 1.0)),
    fr.transforms.HorizontalFlip(0.5),
]
NORMALIZE = fr.transforms.Normalize(MEAN, STD)


def say(text: str) -> None:
    print(f"\n-- {text}", flush=True)


def fuelrail_command() -> pathlib.Path:
    """The path of the installed command. (It may not be on the PATH.)"""
    return pathlib.Path(sysconfig.get_path("scripts")) / "fuelrail"


def pack(folder: pathlib.Path, record_file: pathlib.Path) -> None:
    """Runs the `fuelrail` command as a user would."""
    command = [
        str(fuelrail_command()),
        "pack",
        str(folder),
        str(record_file),
        "--entry-points",  # for faster decoding of crops
        "--overwrite",  # replaces the file of an earlier run
    ]
    print("  $ fuelrail", *command[1:], flush=True)
    subprocess.run(command, check=True)


def contact_sheet(data: fr.Dataset, path: pathlib.Path, columns: int = 8, rows: int = 4) -> None:
    """Saves one augmented batch as a picture."""
    loader = fr.torch.DataLoader(
        data,
        batch_size=columns * rows,
        shuffle="full",
        seed=7,
        transforms=AUGMENT,
        dtype="uint8",
        layout="NHWC",
    )
    with loader:
        images, _ = next(iter(loader))
    sheet = Image.new("RGB", (columns * (SIDE + 4) + 4, rows * (SIDE + 4) + 4), "white")
    for i, image in enumerate(images):
        y, x = divmod(i, columns)
        sheet.paste(Image.fromarray(image.numpy()), (4 + x * (SIDE + 4), 4 + y * (SIDE + 4)))
    sheet.save(path)


def network(classes: int) -> torch.nn.Module:
    """Four strided convolutions and a linear layer: small enough for two cores."""
    layers: list[torch.nn.Module] = []
    channels = 3
    for width in (24, 48, 96, 128):
        layers += [
            torch.nn.Conv2d(channels, width, 3, stride=2, padding=1, bias=False),
            torch.nn.BatchNorm2d(width),
            torch.nn.ReLU(inplace=True),
        ]
        channels = width
    return torch.nn.Sequential(
        *layers,
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(channels, classes),
    )


def train_epoch(
    model: torch.nn.Module,
    loader: fr.torch.DataLoader,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
) -> tuple[float, float]:
    """Returns the mean loss and images per second."""
    model.train()
    begin, seen, total = time.perf_counter(), 0, 0.0
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        seen += len(labels)
        total += loss.item() * len(labels)
    return total / seen, seen / (time.perf_counter() - begin)


@torch.no_grad()
def accuracy(model: torch.nn.Module, loader: fr.torch.DataLoader) -> float:
    model.eval()
    right = seen = 0
    for images, labels in loader:
        right += int((model(images).argmax(1) == labels).sum())
        seen += len(labels)
    return right / seen


def loader_speed(loader: fr.torch.DataLoader) -> float:
    """Returns the images per second of one epoch. The batches are not used."""
    begin = time.perf_counter()
    seen = sum(len(labels) for _, labels in loader)
    return seen / (time.perf_counter() - begin)


def resume(data: fr.Dataset) -> str:
    """Stops in the middle of an epoch, resumes in a new loader, and reports whether the next batch is the same one."""

    def make() -> fr.torch.DataLoader:
        return fr.torch.DataLoader(
            data, batch_size=16, shuffle="full", seed=1, transforms=[*AUGMENT, NORMALIZE]
        )

    with make() as loader, make() as other:
        batches = iter(loader)
        for _ in range(3):
            next(batches)
        state = loader.state_dict()  # save this in a checkpoint
        images, labels = next(batches)
        other.load_state_dict(state)
        resumed_images, resumed_labels = next(iter(other))
    same = torch.equal(images, resumed_images) and torch.equal(labels, resumed_labels)
    return (
        f"stopped after 3 batches (a state of {len(json.dumps(state))} bytes), resumed in a new loader: "
        f"the next batch is {'equal, bit for bit' if same else 'DIFFERENT'}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=pathlib.Path, default=pathlib.Path("demo-out"), help="folder for all files"
    )
    parser.add_argument("--train", type=int, default=3000, help="training images")
    parser.add_argument("--val", type=int, default=600, help="validation images")
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args()
    begin = time.perf_counter()
    out: pathlib.Path = options.out
    shutil.rmtree(out / "photographs", ignore_errors=True)  # from an earlier run
    torch.manual_seed(0)

    say(f"creating photographs in {out / 'photographs'}")
    make_photographs.make_photographs(out / "photographs", options.train, options.val)

    say("packing them into one file per set")
    for part in ("train", "val"):
        pack(out / "photographs" / part, out / f"{part}.rec")
    data = fr.open(out / "train.rec")
    print(
        f"  {len(data)} training images of {len(data.classes)} classes: {', '.join(data.classes)}"
    )

    say(f"an augmented batch as a picture: {out / 'contact-sheet.png'}")
    contact_sheet(data, out / "contact-sheet.png")

    train_loader = fr.torch.DataLoader(
        data, batch_size=64, shuffle="full", seed=1, transforms=[*AUGMENT, NORMALIZE]
    )
    val_loader = fr.torch.DataLoader(
        out / "val.rec",
        batch_size=64,
        transforms=[fr.transforms.ResizedCenterCrop(SIDE), NORMALIZE],
    )
    with train_loader, val_loader:
        say(f"the loader without training: {loader_speed(train_loader):.0f} images/s")
        say(
            "training a small convolutional network (most of the time is spent in the network, on the processor)"
        )
        model = network(len(data.classes))
        optimizer = torch.optim.SGD(
            model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True
        )
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=0.1, total_steps=options.epochs * len(train_loader)
        )
        for epoch in range(1, options.epochs + 1):
            loss, speed = train_epoch(model, train_loader, optimizer, schedule)
            print(
                f"  epoch {epoch}/{options.epochs}  loss {loss:.3f}  "
                f"validation accuracy {accuracy(model, val_loader):.1%}  {speed:.0f} images/s",
                flush=True,
            )

    say(resume(data))

    say(
        f"done in {time.perf_counter() - begin:.0f} s; all files are in {out}/. To inspect them, run"
    )
    print(f"  {fuelrail_command()} info {out / 'train.rec'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
