"""The examples that train: some steps of each, and what they rely on."""

from __future__ import annotations

import pathlib
import re
import runpy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import fuelrail as fr
from fuelrail import provider_command
from many_fields import bits

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"

Run = Callable[..., tuple[dict[str, Any], list[float]]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs an example with arguments and options. Returns its names, and the losses that it prints."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # other tests run at the same time

    def run(example: str, *given: Any, **options: Any) -> tuple[dict[str, Any], list[float]]:
        program = EXAMPLES / example / "train.py"
        words = [*given, *(f"--{name}={value}" for name, value in options.items())]
        monkeypatch.syspath_prepend(program.parent)
        monkeypatch.setattr("sys.argv", [str(program), *map(str, words)])
        names = runpy.run_path(str(program), run_name="__main__")
        said = capsys.readouterr()
        assert said.err == ""
        return names, [float(loss) for loss in re.findall(r"loss (\d+\.\d+)", said.out)]

    yield run
    torch.set_num_threads(threads)


def check_picture(
    path: pathlib.Path, size: tuple[int, int], columns: int, colors: int = 21
) -> None:
    """Checks the size in pixels, and that each column of the sheet has this many colours."""
    pixels = np.asarray(Image.open(path))
    assert pixels.shape == (*size, 3)
    for column in np.array_split(pixels, columns, axis=1):
        assert len(np.unique(column.reshape(-1, 3), axis=0)) >= colors


def test_segmentation_trains_and_interpolated_masks_name_classes_that_the_picture_lacks(
    run: Run, tmp_path: pathlib.Path
) -> None:
    names, losses = run("segmentation", out=tmp_path, train=48, val=8, epochs=2)
    assert losses[1] < losses[0]
    assert losses[3] < losses[2]
    check_picture(tmp_path / "batch.png", (396, 1572), 8)
    check_picture(tmp_path / "results.png", (788, 1572), 8)

    whole = [set(np.unique(sample.decode("mask"))) for sample in fr.open(tmp_path / "train.rec")]
    wrong = {}
    for name in ("train.rec", "interpolated.rec"):
        wrong[name] = 0
        with fr.torch.DataLoader(
            tmp_path / name,
            48,
            fields=["index", "mask"],
            transforms=names["AUGMENT"],
            dtype="uint8",
        ) as batches:
            for indices, masks in batches:
                for i, mask in zip(indices, names["classes_of"](masks), strict=True):
                    wrong[name] += not set(mask.unique().tolist()) <= whole[i] | {names["UNKNOWN"]}
    assert wrong["train.rec"] == 0
    assert wrong["interpolated.rec"] > 24


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # pycocotools'
def test_detection_trains_and_moved_boxes_mapped_back_are_the_packed_ones(
    run: Run, tmp_path: pathlib.Path
) -> None:
    names, losses = run("detection", out=tmp_path, train=32, val=6, epochs=2)
    assert losses[1] < losses[0]
    check_picture(tmp_path / "batch.png", (396, 1948), 6)
    check_picture(tmp_path / "results.png", (300, 1224), 5)

    data = fr.open(tmp_path / "val.rec")
    found = {}
    transforms = [names["T"].HorizontalFlip(1.0), names["T"].Resize((200, 200))]
    with fr.torch.DataLoader(
        data, 6, fields=["*", "*.image.affine"], transforms=transforms
    ) as loader:
        (batch,) = loader
    for k, camera in enumerate(batch["cameras"]):
        for i, boxes in enumerate(camera["boxes"]):
            places = camera["places"][i].numpy()
            dots = torch.from_numpy(names["project"](camera["matrix"][i].numpy(), places))
            assert (boxes[:, :2] - 1 < dots).all()
            assert (dots < boxes[:, 2:] + 1).all()
            packed = names["mapped_back"](boxes, camera["image.affine"][i])
            packed = packed[:, [2, 1, 0, 3]]  # the flip swaps left and right
            sure = torch.ones(len(boxes), 1)
            found[2 * i + k] = torch.cat([packed, sure, camera["labels"][i][:, None]], 1)
    assert names["average_precision"](data, found) == pytest.approx((1.0, 1.0))


def test_captions_train_and_a_tokenizer_gets_the_picture_s_own_texts(
    run: Run, tmp_path: pathlib.Path
) -> None:
    names, losses = run("captions", out=tmp_path, train=192, val=64, epochs=3)
    assert losses[-1] < losses[0]
    check_picture(tmp_path / "batch.png", (384, 1188), 8)
    check_picture(tmp_path / "results.png", (384, 1188), 8)

    data = fr.open(tmp_path / "val.rec")
    with names["loader"](tmp_path / "val.rec", augment=False) as loader:
        ((_, captions),) = loader
    assert all(caption in data[i]["captions"] for i, caption in enumerate(captions))
    tokenizer = names["Tokenizer"](tmp_path / "train.rec")
    tokens = tokenizer([*captions, "a red disc above a pink square"])
    words = {number: word for word, number in tokenizer.numbers.items()}
    for row, text in zip(tokens.tolist(), captions, strict=False):
        assert " ".join(words[number] for number in row if number) == text
    assert names["UNKNOWN"] in tokens[-1]


def test_a_provider_trains_alike_as_it_is_and_packed(
    run: Run, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES / "structured_inputs")
    path = str(tmp_path / "streets.rec")
    assert provider_command.run(["pack", "--provider", "streets:Streets", path, "--quiet"]) == 0
    names, losses = run("structured_inputs", epochs=2)
    assert losses[1] < losses[0] / 2
    assert run("structured_inputs", path, epochs=2)[1] == losses

    with names["loader"](names["Streets"]()) as made, names["loader"](path) as packed:
        for ours, theirs in zip(made, packed, strict=True):
            assert bits(ours) == bits(theirs)


def test_clips_train_and_continue_from_a_checkpoint(run: Run, tmp_path: pathlib.Path) -> None:
    names, losses = run("clips", out=tmp_path / "whole", steps=40)
    assert losses[1] < losses[0]
    check_picture(tmp_path / "whole" / "batches.png", (420, 1564), 30, colors=4)

    _, first = run("clips", out=tmp_path / "parts", steps=20)
    _, second = run("clips", out=tmp_path / "parts", steps=40)
    assert first + second == losses
    whole, parts = (torch.load(tmp_path / name / "checkpoint.pt") for name in ("whole", "parts"))
    assert torch.equal(whole["state"], parts["state"])
    for name, weights in whole["model"].items():
        assert torch.equal(weights, parts["model"][name])

    with names["frames"](names["Balls"]()) as batches:
        frames = torch.stack([batch["frame"] for batch, _ in zip(batches, range(99))])  # noqa: B905
    assert ((frames[1:] == frames[:-1] + 1) | (frames[1:] == 0)).all()
    assert ((frames == 0).sum(0) > 1).all()  # every row has begun another clip
