"""examples/imagenet: the same training with plain PyTorch and with Benzina's API, on real photographs."""

from __future__ import annotations

import difflib
import os
import pathlib
import re
import subprocess
import sys

import pytest

import fuelrail as fr

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "imagenet"
TORCHVISION = ROOT / ".venv" / "torchvision"  # where ./run setup installs it
SAMPLE = ROOT.parent / "shared" / "data" / "imagenet-sample"

# torchvision's compiled operators need CUDA's libraries, and its import needs these two of them.
RUN = """
import runpy, sys, torch
for name in ("nms", "qnms"):
    torch.library.define(f"torchvision::{name}", "(Tensor a, Tensor b, float c) -> Tensor")
for program in sys.argv[1:]:
    sys.argv = program.splitlines()
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.skipif(not TORCHVISION.is_dir(), reason=f"{TORCHVISION} does not exist")
@pytest.mark.skipif(not SAMPLE.is_dir(), reason=f"{SAMPLE} does not exist")
@pytest.mark.skipif(
    "FUELRAIL_HEVC" not in os.environ, reason="FUELRAIL_HEVC names no plugin for H.265"
)
def test_both_programs_train(tmp_path: pathlib.Path) -> None:
    photographs = sorted(SAMPLE.glob("*.JPEG"))
    for split, begin in (("train", 0), ("val", 12)):
        for i, photograph in enumerate(photographs[begin : begin + 12]):
            folder = tmp_path / "folders" / split / ("one", "two")[i % 2]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / photograph.name).symlink_to(photograph)
    folders = tmp_path / "folders"
    fr.pack(
        {"train": folders / "train", "validation": folders / "val"},
        tmp_path / "x.bzna",
        preset="ultrafast",
        resize=256,
    )
    options = [
        "--epochs", "1", "--steps", "2", "--batch-size", "4", "--side", "32", "--classes", "2",
        "--device", "cpu",
    ]  # fmt: skip
    programs = [
        [str(EXAMPLE / "train_pytorch.py"), str(folders), "--workers", "0", *options],
        [str(EXAMPLE / "train_benzina.py"), str(tmp_path / "x.bzna"), *options],
    ]
    # One process for both, because its imports take most of the time.
    command = [sys.executable, "-c", RUN, *map("\n".join, programs)]
    environment = {**os.environ, "PYTHONPATH": str(TORCHVISION), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [re.match(r"epoch 0 (\w+):", line)[1] for line in lines] == ["train", "val"] * 2  # type: ignore[index]
    assert all("8 samples" in line for line in lines)


def test_only_the_data_differ() -> None:
    plain, ours = (
        (EXAMPLE / name).read_text().split('"""', 2)[2].splitlines()
        for name in ("train_pytorch.py", "train_benzina.py")
    )
    changed = [line for line in difflib.ndiff(plain, ours) if line[0] in "+-"]
    assert len(changed) <= 60
    for name in ("run", "main"):  # the training itself is the same
        bodies = {
            re.search(rf"\ndef {name}\(.*?(?=\ndef |\nif )", "\n".join(text), re.S)[0]  # type: ignore[index]
            for text in (plain, ours)
        }
        assert len(bodies) == 1
