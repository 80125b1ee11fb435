"""Real processes of torchrun: one is killed, and a larger number of them resumes."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
import torchrun_job as job  # noqa: E402

Steps = list[tuple[int, int, list[int]]]
"""Epoch and position after a step, and the ids that all ranks received in it."""


TORCHRUN = (
    "-m", "torch.distributed.run", "--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-id=test",
    "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1",
)  # fmt: skip


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=110,
        check=False, env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def handed(folder: pathlib.Path, ranks: int) -> list[Steps]:
    return [
        [tuple(json.loads(line)) for line in (folder / f"{ranks}-{rank}").read_text().splitlines()]
        for rank in range(ranks)
    ]


def together(ranks: list[Steps]) -> Steps:
    """Joins the steps of all ranks, in rank order; checks that their positions are equal."""
    steps = []
    for step in zip(*ranks, strict=True):
        places = {place[:2] for place in step}
        assert len(places) == 1
        steps.append((*places.pop(), [*itertools.chain(*(ids for *_, ids in step))]))
    return steps


@pytest.mark.timeout(240)  # four interpreters import torch
def test_killed_with_two_processes_it_goes_on_with_four(
    tiny_file: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    epochs = 2
    loader = job.make_loader(str(tiny_file), job.GLOBAL_BATCH, rank=0, world_size=1)
    reference = job.make_model()
    expected: Steps = []
    for ids in job.steps(loader, reference, epochs, ranks=1):
        state = loader.state_dict()
        expected.append((state["epoch"], state["position"], ids))

    done = run(*TORCHRUN, job.__file__, tiny_file, tmp_path, epochs, 5)
    assert done.returncode != 0
    assert "Signal 9 (SIGKILL)" in done.stderr
    saved = torch.load(tmp_path / "checkpoint")["loader"]
    saved_steps = [place[:2] for place in expected].index((saved["epoch"], saved["position"])) + 1
    assert saved_steps in (4, 5)  # rank 0 may be killed before it saves the fifth
    before = [steps[:saved_steps] for steps in handed(tmp_path, 2)]

    done = run(job.__file__, tiny_file, tmp_path, epochs, 0, 4)
    assert done.returncode == 0, done.stderr
    steps = together(before) + together(handed(tmp_path, 4))
    assert steps == expected
    for epoch in range(epochs):
        ids = [i for *_, ids in steps[9 * epoch : 9 * epoch + 9] for i in ids]
        assert sorted(ids) == [*range(97)]
    weights = torch.load(tmp_path / "checkpoint")["model"]["1.weight"]
    torch.testing.assert_close(weights, reference[1].weight.data)
