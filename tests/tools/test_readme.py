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


def test_the_commands_pack_and_the_program_trains_and_resumes(here: pathlib.Path) -> None:
    (commands,) = blocks("sh", SECTIONS["Train"])
    subprocess.run(["bash", "-ec", commands], check=True, capture_output=True, timeout=60)
    assert len(fr.open(here / "train.rec")) == COUNT

    (program,) = blocks("python", SECTIONS["Train"])
    names: dict[str, object] = {}
    exec(compile(program.replace(", 90)", ", 2)"), "README.md", "exec"), names)
    images, labels, loader = names["images"], names["labels"], names["loader"]
    assert isinstance(images, torch.Tensor)
    assert isinstance(labels, torch.Tensor)
    assert (images.dtype, images.shape) == (torch.float32, (COUNT, 3, 224, 224))
    assert sorted(labels.tolist()) == [0, 0, 0, 0, 1, 1, 1, 1]

    assert isinstance(loader, fr.torch.DataLoader)
    assert loader.state_dict()["epoch"] == 2

    restore = 'loader.load_state_dict(torch.load("checkpoint.pt")["loader"])'
    assert f"`{restore}`" in README
    resumed = program.replace("for epoch", f"{restore}\nepochs = []\nfor epoch", 1)
    resumed = resumed.replace(", 90):", ", 4):\n    epochs.append(epoch)")
    exec(compile(resumed, "README.md", "exec"), names)
    assert names["epochs"] == [2, 3]


def test_the_readme_is_one_page_whose_programs_are_all_run() -> None:
    assert len(README.splitlines()) <= 100
    assert blocks("python", README) == blocks("python", SECTIONS["Train"])
