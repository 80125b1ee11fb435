"""The README's commands and programs, as they stand there, on a folder of photographs."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sysconfig

import numpy as np
import pytest
import torch
from PIL import Image

import fuelrail as fr

README = pathlib.Path(__file__).parents[2] / "README.md"
COUNT = 6


def blocks(language: str, section: str) -> list[str]:
    """The code blocks in this language under this heading."""
    text = re.split(r"^## ", README.read_text(), flags=re.M)
    (page,) = [part for part in text if part.startswith(f"{section}\n")]
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """An empty folder, become the current one, with `photographs/` in it and `fuelrail` on the PATH."""
    random = np.random.default_rng(0)
    for i in range(COUNT):
        folder = tmp_path / "photographs" / ("ant", "bee")[i % 2]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 256, (40 + i, 60, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{i}.jpg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"), prepend=":")
    return tmp_path


def test_the_commands_pack_and_the_programs_train_and_resume(here: pathlib.Path) -> None:
    (commands,) = blocks("sh", "Use")
    subprocess.run(["bash", "-ec", commands], check=True, capture_output=True, timeout=60)
    assert len(fr.open(here / "train.rec")) == COUNT

    first, resumed = blocks("python", "Use")
    names: dict[str, object] = {"model": torch.nn.Linear(1, 1)}
    exec(compile(first.replace("range(90)", "range(2)"), "README.md", "exec"), names)
    images, labels = names["images"], names["labels"]
    assert isinstance(images, torch.Tensor)
    assert isinstance(labels, torch.Tensor)
    assert (images.dtype, images.shape) == (torch.float32, (COUNT, 3, 224, 224))
    assert sorted(labels.tolist()) == [0, 0, 0, 1, 1, 1]

    exec(compile(resumed.replace(", 90)", ", 4)"), "README.md", "exec"), names)
    loader = names["loader"]
    assert isinstance(loader, fr.torch.DataLoader)
    state = loader.state_dict()
    assert (state["epoch"], state["position"]) == (4, 0)
