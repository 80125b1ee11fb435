"""Pictures and captions: lists of texts -> one file -> batches for a tokenizer -> networks that match pictures and captions.

python examples/captions/train.py

A loader returns texts as `str`, and the captions of a picture as a list. A batch transform chooses one caption for each
picture and tokenizes it. The networks learn to give a picture and its caption similar vectors, as CLIP does.
"""

from __future__ import annotations

import argparse
import pathlib
import textwrap
import time

import numpy as np
import torch
from make_pictures import Pictures
from PIL import Image, ImageDraw
from torch import nn
from torch.nn import functional

import fuelrail as fr
from fuelrail import fields as F
from fuelrail import transforms as T

SIDE = 48  # pixels of the network's input
PADDING, UNKNOWN = 0, 1  # tokens that are no words

SCHEMA = fr.Schema({"image": F.Image(), "captions": F.Text(list=True)})

# The captions say what is above and what is below, so a horizontal flip keeps them true. A vertical flip would not.
AUGMENT = [T.RandomCrop(SIDE), T.HorizontalFlip(0.5), T.ColorJitter(brightness=0.2)]


class Tokenizer:
    """Words as numbers. Any tokenizer that takes a list of str can be in its place."""

    def __init__(self, path: pathlib.Path) -> None:
        words = set()
        with fr.Loader(path, 256, fields=["captions"]) as batches:  # decodes no image
            for (captions,) in batches:
                words.update(word for texts in captions for text in texts for word in text.split())
        self.numbers = {word: number for number, word in enumerate(sorted(words), UNKNOWN + 1)}

    def __len__(self) -> int:
        return UNKNOWN + 1 + len(self.numbers)

    def __call__(self, texts: list[str]) -> torch.Tensor:
        """int64 (number of texts, most words)."""
        rows = [
            torch.tensor([self.numbers.get(word, UNKNOWN) for word in text.split()])
            for text in texts
        ]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PADDING)


Batch = tuple[torch.Tensor, list[list[str]]]


def one_caption(batch: Batch, context: fr.BatchContext) -> tuple[torch.Tensor, list[str]]:
    """Chooses a caption for each picture: the same one if the run is interrupted and resumed."""
    images, captions = batch
    random = np.random.default_rng((context.seed, context.epoch, *context.positions[:1]))
    return images, [texts[random.integers(len(texts))] for texts in captions]


def loader(path: pathlib.Path, augment: bool) -> fr.torch.DataLoader:
    return fr.torch.DataLoader(
        path,
        64,
        shuffle=augment,
        seed=1,
        fields=["image", "captions"],
        transforms=AUGMENT if augment else [T.CenterCrop(SIDE)],
        batch_transforms=[one_caption],
        last_batch="drop",
    )


class Matcher(nn.Module):
    """Vectors of length 1 for pictures and for captions."""

    def __init__(self, words: int, width: int = 64) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for channels, more in ((3, 16), (16, 32), (32, 48)):
            layers += [
                nn.Conv2d(channels, more, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(more),
                nn.ReLU(inplace=True),
            ]
        places = (SIDE // 8) ** 2
        self.see = nn.Sequential(*layers, nn.Flatten(), nn.Linear(48 * places, width))
        self.embed = nn.Embedding(words, width, padding_idx=PADDING)
        self.read = nn.GRU(width, width, batch_first=True)
        self.sharpness = nn.Parameter(torch.tensor(2.0))

    def forward(self, images: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """The similarity of each picture (rows) to each caption (columns)."""
        seen = functional.normalize(self.see(images), dim=1)
        states, _ = self.read(self.embed(tokens))
        last = (tokens != PADDING).sum(1) - 1
        read = functional.normalize(states[torch.arange(len(tokens)), last], dim=1)
        return self.sharpness.exp() * seen @ read.T


def train(path: pathlib.Path, tokenizer: Tokenizer, epochs: int) -> Matcher:
    torch.manual_seed(0)
    model = Matcher(len(tokenizer))
    with loader(path, augment=True) as batches:
        optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-2)
        steps = epochs * len(batches)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.004, total_steps=steps)
        for epoch in range(1, epochs + 1):
            begin, total = time.perf_counter(), 0.0
            for images, captions in batches:
                scores = model(images, tokenizer(captions))
                own = torch.arange(len(images))  # the caption of picture i is caption i
                loss = (
                    functional.cross_entropy(scores, own) + functional.cross_entropy(scores.T, own)
                ) / 2
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
def matches(model: Matcher, tokenizer: Tokenizer, path: pathlib.Path) -> float:
    """The fraction of pictures whose own caption is the most similar of a batch's 64 captions."""
    right = seen = 0
    with loader(path, augment=False) as batches:
        for images, captions in batches:
            best = model(images, tokenizer(captions)).argmax(1)
            right += sum(captions[j] == own for own, j in zip(captions, best, strict=True))
            seen += len(captions)
    return right / seen


@torch.no_grad()
def show(
    batches: fr.torch.DataLoader,
    picture: pathlib.Path,
    model: Matcher | None = None,
    tokenizer: Tokenizer | None = None,
) -> None:
    """Saves the first pictures of a batch with their captions below; with a model, with the captions that it finds."""
    with batches:
        images, captions = next(iter(batches))
    if model and tokenizer:
        captions = [captions[j] for j in model(images, tokenizer(captions)).argmax(1)]
    columns, cell, text_height = 8, 3 * SIDE + 4, 44
    sheet = Image.new("RGB", (columns * cell + 4, 2 * (cell + text_height)), "white")
    pixels = (images * 255).round().to(torch.uint8).permute(0, 2, 3, 1).numpy()
    for i in range(min(2 * columns, len(pixels))):
        x, y = 4 + i % columns * cell, 4 + i // columns * (cell + text_height)
        tile = Image.fromarray(pixels[i]).resize((3 * SIDE,) * 2, Image.Resampling.NEAREST)
        sheet.paste(tile, (x, y))
        text = textwrap.fill(captions[i], 24)
        ImageDraw.Draw(sheet).text((x, y + cell), text, fill="black")
    sheet.save(picture)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("demo-out/captions"))
    parser.add_argument("--train", type=int, default=3200, help="training pictures")
    parser.add_argument("--val", type=int, default=640, help="held-out pictures")
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    out: pathlib.Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()

    for name, count, seed in (("train", options.train, 1), ("val", options.val, 2)):
        fr.pack(Pictures(count, seed), out / f"{name}.rec", schema=SCHEMA, overwrite=True)
    print(f"packed {options.train} + {options.val} pictures in {time.perf_counter() - begin:.1f} s")
    tokenizer = Tokenizer(out / "train.rec")
    print(f"{len(tokenizer.numbers)} words: {' '.join(tokenizer.numbers)}")
    show(loader(out / "train.rec", augment=True), out / "batch.png")

    model = train(out / "train.rec", tokenizer, options.epochs)
    print(f"own caption found among 64: {matches(model, tokenizer, out / 'val.rec'):.1%}")
    show(loader(out / "val.rec", augment=False), out / "results.png", model, tokenizer)
    print(
        f"done in {time.perf_counter() - begin:.0f} s ({time.process_time():.0f} s of processor time); "
        f"pictures: {out / 'batch.png'}, {out / 'results.png'}"
    )


if __name__ == "__main__":
    main()
