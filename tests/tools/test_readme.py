"""The README's commands and programs, as they stand there, on a folder of photographs."""

from __future__ import annotations

import pathlib
import re
import subprocess

import torch

import fuelrail as fr
from guides import COUNT, ROOT, blocks

README = (ROOT / "README.md").read_text()
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", README, flags=re.M)}


def test_the_commands_pack_and_the_programs_train_and_resume(here: pathlib.Path) -> None:
    commands, im2rec = blocks("sh", SECTIONS["Use"])
    subprocess.run(["bash", "-ec", commands], check=True, capture_output=True, timeout=60)
    assert len(fr.open(here / "train.rec")) == COUNT

    first, resumed = blocks("python", SECTIONS["Use"])
    names: dict[str, object] = {}
    exec(compile(first.replace("range(90)", "range(2)"), "README.md", "exec"), names)
    images, labels = names["images"], names["labels"]
    assert isinstance(images, torch.Tensor)
    assert isinstance(labels, torch.Tensor)
    assert (images.dtype, images.shape) == (torch.float32, (COUNT, 3, 224, 224))
    assert sorted(labels.tolist()) == [0, 0, 0, 0, 1, 1, 1, 1]

    exec(compile(resumed.replace(", 90)", ", 4)"), "README.md", "exec"), names)
    loader = names["loader"]
    assert isinstance(loader, fr.torch.DataLoader)
    state = loader.state_dict()
    assert (state["epoch"], state["position"]) == (4, 0)

    subprocess.run(["bash", "-ec", im2rec], check=True, capture_output=True, timeout=60)
    assert len(fr.open(here / "listed.rec")) == COUNT


def test_no_program_stands_outside_of_what_is_run() -> None:
    assert blocks("python", README) == blocks("python", SECTIONS["Use"])
