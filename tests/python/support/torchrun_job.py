"""What each process does in torch/test_torchrun.py: trains a small model with DistributedDataParallel.

    torchrun_job.py FILE FOLDER EPOCHS KILL_AT [RANKS]

With RANKS it is torchrun's agent too, and its processes are forked: torch is imported once for all.
It goes on from FOLDER/checkpoint, which rank 0 saves after every step. FOLDER/W-R tells what rank R
of W was handed: a line a step, of the place after it and the ids of valid rows. At step KILL_AT the
last rank is killed; 0: none is. At the end, FOLDER/sharded is written and read by all ranks.
"""

from __future__ import annotations

import importlib
import json
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
    """Trains up to `epochs`; yields the ids of each step's valid rows, once it is done."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(loader.state_dict()["epoch"], epochs):
        for images, labels, ids, valid in loader:
            losses = torch.nn.functional.cross_entropy(model(images), labels, reduction="none")
            optimizer.zero_grad()
            # The ranks' gradients are averaged: so this is the sum over them, by the global batch.
            ((losses * valid).sum() * ranks / GLOBAL_BATCH).backward()
            optimizer.step()
            yield ids[valid].tolist()


def check_sharded(loader: fr.torch.DataLoader, again: fr.torch.DataLoader, folder: str) -> None:
    """The page's functions, by all ranks together."""
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
    loader = make_loader(file, GLOBAL_BATCH // ranks)  # it knows rank and ranks by itself
    model = make_model()
    path = folder / "checkpoint"
    if path.exists():
        checkpoint = torch.load(path)
        model.load_state_dict(checkpoint["model"])
        loader.load_state_dict(checkpoint["loader"])
    # As `steps` does, and besides: says what it was handed, saves, dies.
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
    """As `torch.distributed.run` does."""
    importlib.import_module("torch._dynamo")  # which DistributedDataParallel imports
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    config = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=ranks, run_id="test", start_method="fork",
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
