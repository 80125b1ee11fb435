"""examples/structured_inputs: the batches of DALI, of fuelrail's loader and of a packed file."""

from __future__ import annotations

import pathlib
import re
import runpy
from typing import Any

import pytest
import torch

from fuelrail import provider_command
from many_fields import bits

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "structured_inputs"


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The names of `train_dali.py` and of `train.py`."""
    monkeypatch.syspath_prepend(EXAMPLE)
    return [runpy.run_path(str(EXAMPLE / name)) for name in ("train_dali.py", "train.py")]


def test_without_randomness_all_three_give_the_same_batches(
    programs: list[dict[str, Any]], tmp_path: pathlib.Path
) -> None:
    with_dali, ours = programs
    path = str(tmp_path / "streets.rec")
    assert provider_command.run(["pack", "--provider", "streets:Streets", path, "--quiet"]) == 0
    streets = ours["Streets"]()
    count = 0
    with ours["loader"](streets, shuffle=False) as made, ours["loader"](path, False) as packed:
        loaders = with_dali["loader"](streets, shuffle=False), made, packed
        for batch, ours_made, ours_packed in zip(*loaders, strict=True):
            assert bits(ours_made) == bits(ours_packed)
            assert batch["scene"] == ours_made["scene"]
            for k in range(2):
                camera, other = batch["cameras"][k], ours_made["cameras"][k]
                for name in ("boxes", "classes", "intrinsics", "extrinsics"):
                    assert bits(camera[name]) == bits(other[name]), name
                away = (camera["image"].int() - other["image"].int()).abs()
                assert away.max() <= 1
                count += int((away > 0).sum())
    assert count < 0.4 * 64 * 2 * 64 * 112 * 3


def test_it_trains_with_dali(
    programs: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    with_dali, _ = programs
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with_dali["train"](with_dali["loader"](with_dali["Streets"]()), 2)
    torch.set_num_threads(threads)
    first, second = map(float, re.findall(r"loss (\d+\.\d+)", capsys.readouterr().out))
    assert second < first / 2
