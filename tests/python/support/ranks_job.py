"""Runs in processes of loader/test_ranks.py: loaders created before torch.distributed starts."""

from __future__ import annotations

import json
import pathlib
import warnings
from typing import Any

import torch.distributed as dist

import fuelrail as fr


def make(file: str, **options: Any) -> fr.torch.DataLoader:
    return fr.torch.DataLoader(file, 10, fields=["id"], threads=1, **options)


def ids(loader: fr.torch.DataLoader) -> list[int]:
    return [i for (column,) in loader for i in column.tolist()]


def run(rank: int, world_size: int, file: str, folder: str, sent: fr.torch.DataLoader) -> None:
    """`sent` is a loader pickled by the parent process. Writes FOLDER/RANK.json."""
    own, asked, given = make(file), make(file), make(file, rank=1, world_size=2)
    begun, fed = iter(make(file)), make(file, sampler=range(30))
    used = make(file)
    next(iter(used))
    lengths = [len(asked)]
    dist.init_process_group(
        "gloo",
        store=dist.FileStore(str(pathlib.Path(folder) / "store"), world_size),
        rank=rank,
        world_size=world_size,
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        lengths.append(len(asked))
        found = {
            "own": ids(own),
            "sent": ids(sent),
            "asked": ids(asked),
            "given": ids(given),
            "begun": [i for (column,) in begun for i in column.tolist()],
            "fed": fed.state_dict()["sampler"]["world_size"],
            "lengths": lengths,
        }
    found["said"] = [str(warning.message) for warning in said]
    try:
        iter(used)
    except fr.StateError as error:
        found["used"] = str(error)
    dist.destroy_process_group()
    found["after"] = ids(own)  # the next epoch of the same share
    (pathlib.Path(folder) / f"{rank}.json").write_text(json.dumps(found))
