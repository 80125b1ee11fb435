"""Runs in the processes of torch/test_torchrun.py: trains a small DistributedDataParallel model.

    torchrun_job.py FILE FOLDER EPOCHS KILL_AT [RANKS]

With RANKS, this process is torchrun's agent. The others are forked from a process without threads,
which has imported torch once: the agent's threads may hold locks, such as that of the resolver.
The job resumes from FOLDER/checkpoint, which rank 0 saves after every step. FOLDER/W-R has one line
per step for rank R of W: the position after the step and the ids of the valid rows. At step KILL_AT
the last rank is killed; 0 = none. At the end, all ranks write and read FOLDER/sharded.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pathlib
import signal
import sys
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import fuelrail as fr
from page import code_of

GLOBAL_BATCH = 12


def make_loader(file: str, batch_size: int, **shard: int) -> fr.torch.DataLoader:
    return fr.torch.DataLoader(
        file, batch_size, shuffle="full", seed=3, last_batch="pad", threads=1,
        transforms=[fr.transforms.RandomResizedCrop(4)],
        fields=["image", "label", "id", "valid"], **shard,
    )  # fmt: skip


def make_model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 5))


def steps(
    loader: fr.torch.DataLoader, model: torch.nn.Module, epochs: int, ranks: int
) -> Iterator[list[int]]:
    """Trains up to `epochs`; yields the ids of the valid rows after each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(loader.state_dict()["epoch"], epochs):
        for images, labels, ids, valid in loader:
            losses = torch.nn.functional.cross_entropy(model(images), labels, reduction="none")
            optimizer.zero_grad()
            # The ranks' gradients are averaged, so this is the sum divided by the global batch.
            ((losses * valid).sum() * ranks / GLOBAL_BATCH).backward()
            optimizer.step()
            yield ids[valid].tolist()


def check_sharded(loader: fr.torch.DataLoader, again: fr.torch.DataLoader, folder: str) -> None:
    """Calls the functions of the page in all ranks together."""
    page: dict[str, Any] = {}
    exec(code_of("resume.md")[1], page)
    model, other = make_model(), torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 5))
    page["save_sharded"](folder, model, loader)
    page["load_sharded"](folder, other, again)
    assert again.state_dict() == loader.state_dict()
    assert torch.equal(other[1].weight, model[1].weight)


def work(file: str, folder: pathlib.Path, epochs: int, kill_at: int) -> None:
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    loader = make_loader(file, GLOBAL_BATCH // ranks)  # it finds the rank and the world size itself
    model = make_model()
    path = folder / "checkpoint"
    if path.exists():
        checkpoint = torch.load(path)
        model.load_state_dict(checkpoint["model"])
        loader.load_state_dict(checkpoint["loader"])
    # Like `steps`, but also records its ids, saves checkpoints, and is killed.
    count = 0
    with (folder / f"{ranks}-{rank}").open("w") as log:
        for ids in steps(loader, DistributedDataParallel(model), epochs, ranks):
            count += 1
            state = loader.state_dict()
            log.write(json.dumps([state["epoch"], state["position"], ids]) + "\n")
            log.flush()
            if rank == 0:
                torch.save({"model": model.state_dict(), "loader": state}, folder / "new")
                os.replace(folder / "new", path)
            if count == kill_at and rank == ranks - 1:
                os.kill(os.getpid(), signal.SIGKILL)

    counts = [torch.zeros((), dtype=torch.int64) for _ in range(ranks)]
    dist.all_gather(counts, torch.tensor(count))
    assert counts == [torch.tensor(count)] * ranks, counts
    check_sharded(loader, make_loader(file, GLOBAL_BATCH // ranks), str(folder / "sharded"))
    dist.destroy_process_group()


def launch(ranks: int, *arguments: Any) -> None:
    """Starts the ranks as `torch.distributed.run` does."""
    multiprocessing.set_forkserver_preload(["torch._dynamo"])  # DistributedDataParallel imports it
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    config = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=ranks, run_id="test", start_method="forkserver",
        rdzv_backend="c10d", rdzv_endpoint="127.0.0.1:0", local_addr="127.0.0.1", max_restarts=0,
    )  # fmt: skip
    elastic_launch(config, work)(*arguments)


def main() -> None:
    file, folder, epochs, kill_at, *ranks = sys.argv[1:]
    arguments = (file, pathlib.Path(folder), int(epochs), int(kill_at))
    if ranks:
        launch(int(ranks[0]), *arguments)
    else:
        work(*arguments)


if __name__ == "__main__":
    main()
