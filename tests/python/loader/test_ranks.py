"""Ranks of processes: found when samples are first requested, not when a loader is created."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import pickle
import subprocess
import sys

import pytest

import fuelrail as fr
from fuelrail import shard
from loading import CROP, record_file, tiny
from photographs import TINY_COUNT, encoded, photograph

torch = pytest.importorskip("torch")
import ranks_job  # noqa: E402

EVERY_ID = list(range(TINY_COUNT))
LAUNCHERS = (
    *("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    *("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"),
)


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*LAUNCHERS, *(name for name in os.environ if name.startswith("SLURM_"))):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(shard, "_told", set())


class World:
    """The part of torch.distributed that loaders use."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, rank: int, world_size: int) -> None:
        said = {
            "is_initialized": True,
            "get_rank": rank,
            "get_world_size": world_size,
        }
        for name, value in said.items():
            self._monkeypatch.setattr(torch.distributed, name, lambda value=value: value)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def ids(loader: fr.Loader) -> list[int]:
    return list(itertools.chain(*(batch[0].numpy().tolist() for batch in loader)))


# --- Real processes -----------------------------------------------------------------------------


@pytest.mark.timeout(240)  # two interpreters import Lightning
def test_lightning_gives_each_rank_its_own_samples(
    tiny_file: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    job = pathlib.Path(__file__).parents[1] / "support" / "lightning_job.py"
    command = [sys.executable, job, tiny_file, tmp_path]
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=200, check=False,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ranks = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(2)]
    for rank in ranks:
        assert len(rank["trained"]) == 2 * 6  # of two epochs, each 97 // 16
    for epoch in range(2):
        batches = [batch for rank in ranks for batch in rank["trained"][6 * epoch : 6 * epoch + 6]]
        trained = list(itertools.chain(*batches))
        assert len(trained) == len(set(trained)) == 96
    validated = itertools.chain(*(batch for rank in ranks for batch in rank["validated"]))
    assert sorted(validated) == EVERY_ID


def test_spawned_ranks_share_what_loaders_made_before_init_process_group_give(
    tiny_file: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    sent = ranks_job.make(str(tiny_file))
    assert len(sent) == 10  # found in this process, not pickled
    torch.multiprocessing.spawn(ranks_job.run, (2, str(tiny_file), str(tmp_path), sent), nprocs=2)
    ranks = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2)]
    for made in ("own", "sent", "asked", "begun", "after"):
        assert sorted(ranks[0][made] + ranks[1][made]) == EVERY_ID, made
        assert ranks[0][made][:10] == EVERY_ID[:10]
        assert ranks[1][made][:10] == EVERY_ID[10:20]
    for rank, found in enumerate(ranks):
        assert found["given"] == ranks[1]["own"]  # rank 1 of 2 in both
        assert found["lengths"] == [10, 5]
        (said,) = found["said"]
        assert said.startswith(
            f"len(loader) was read too early: it was 10 for rank 0 of 1, and is 5 for rank {rank} "
            "of 2. "
        )
        assert found["fed"] == 2
        assert found["used"] == (
            "the rank or world size of torch.distributed has changed since the first batch: "
            f"expected rank 0 of 1, found rank {rank} of 2. Create a new loader, or call "
            "torch.distributed.init_process_group before the first batch, or pass `rank` and "
            "`world_size`."
        )


# --- One process --------------------------------------------------------------------------------


def test_a_share_is_looked_for_again_until_the_first_batch(
    tiny_file: pathlib.Path, world: World
) -> None:
    loader = tiny(tiny_file, last_batch="drop")
    assert "rank looked up with the first batch" in repr(loader)
    assert (loader.batch_size, loader.state_dict()["position"]) == (10, 0)
    world(1, 2)
    batches = iter(loader)
    assert "rank 1 of 2" in repr(loader)
    world(2, 3)
    assert ids(batches) == [i for i in range(90) if i % 30 >= 20]
    assert "rank 2 of 3" in repr(loader)
    assert len(loader) == 3


def test_a_restored_place_stays_when_the_share_is_found(
    tiny_file: pathlib.Path, world: World
) -> None:
    first = tiny(tiny_file, shuffle=True)
    begun = [i for batch in itertools.islice(first, 3) for i in batch[0].numpy().tolist()]
    ranks = []
    for rank in range(2):
        loader = tiny(tiny_file, shuffle=True)
        loader.load_state_dict(first.state_dict())
        world(rank, 2)
        ranks.append(ids(loader))
    assert sorted(begun + ranks[0] + ranks[1]) == EVERY_ID


def test_numbers_that_were_asked_for_too_early_are_warned_of(
    tiny_file: pathlib.Path, world: World
) -> None:
    first = tiny(tiny_file)
    next(iter(first))
    loader = tiny(tiny_file)
    loader.load_state_dict(first.state_dict())

    def numbers() -> tuple[object, ...]:
        return len(loader), loader.global_batch_size, loader.batches_left, loader.batches_done

    assert numbers() == (10, 10, 9, 1)
    world(0, 4)
    with pytest.warns(fr.FuelrailWarning) as said:
        iter(loader)
    assert sorted(str(warning.message).split(". A learning")[0] for warning in said) == [
        f"{name} was read too early: it was {then} for rank 0 of 1, and is {now} for rank 0 of 4"
        for name, then, now in [
            ("len(loader)", 10, 3),
            ("loader.batches_done", 1, 0),
            ("loader.batches_left", 9, 3),
            ("loader.global_batch_size", 10, 40),
        ]
    ]
    assert {warning.filename for warning in said} == {__file__}
    assert numbers() == (3, 40, 3, 0)
    assert len(ids(loader)) == 10 + 10 + 2  # of 40, 40 and 7


def test_a_share_that_changes_after_the_first_batch_is_an_error_of_iter_alone(
    tiny_file: pathlib.Path, world: World
) -> None:
    loader = tiny(tiny_file)
    next(iter(loader))
    world(1, 2)
    for _ in range(2):
        with pytest.raises(fr.StateError, match="expected rank 0 of 1, found rank 1 of 2"):
            iter(loader)
    assert loader.state_dict()["position"] == 10
    assert len(loader) == 10
    world(0, 1)
    assert ids(loader) == EVERY_ID


def test_a_share_that_was_given_is_never_questioned(tiny_file: pathlib.Path, world: World) -> None:
    loader = tiny(tiny_file, rank=0, world_size=1)
    world(1, 2)
    assert ids(loader) == EVERY_ID
    world(2, 3)
    assert ids(pickle.loads(pickle.dumps(tiny(tiny_file, rank=0, world_size=1)))) == EVERY_ID


def test_a_fed_order_has_the_ranks_that_are_found(tiny_file: pathlib.Path, world: World) -> None:
    loader = tiny(tiny_file, 4, sampler=range(8))
    loader.state_dict()
    world(2, 2)  # an invalid rank
    with pytest.raises(fr.OutOfRangeError):
        loader.state_dict()
    world(0, 1)
    assert loader.state_dict()["sampler"]["world_size"] == 1
    world(1, 2)
    positions = [batch[1].numpy().tolist() for batch in loader]
    assert positions == [[1, 3, 5, 7], [9, 11, 13, 15]]

    restored = tiny(tiny_file, 4, sampler=range(8))
    world(0, 1)
    first = tiny(tiny_file, 4, sampler=range(8))
    next(iter(first))
    restored.load_state_dict(first.state_dict())
    world(1, 2)
    with pytest.raises(fr.InvalidArgumentError, match=r"world_size.*expected 2, found 1"):
        iter(restored)
    elsewhere = tiny(tiny_file, 4, sampler=range(8))
    world(0, 1)
    elsewhere.load_state_dict(first.state_dict())
    elsewhere.set_epoch(3)  # a position that does not depend on ranks
    world(1, 2)
    assert len(list(elsewhere)) == 2
    world(0, 1)
    assert [batch[0].numpy().tolist() for batch in restored] == [[4, 5, 6, 7]]


@pytest.mark.filterwarnings("ignore:.*The loader uses another sample instead")
def test_the_bad_samples_that_are_allowed_are_a_part_of_the_share_that_is_found(
    tmp_path: pathlib.Path, world: World
) -> None:
    good = encoded(photograph(0, 8, 8))
    file = record_file(tmp_path / "bad.rec", [b"no image"] * 8 + [good] * 32)

    def make() -> fr.Loader:
        return fr.Loader(file, 20, transforms=CROP, on_error="skip", max_bad=0.25)

    assert len(list(make())) == 2  # 8 of 40 samples
    loader = make()
    assert len(loader) == 2
    world(0, 2)
    assert len(make()) == 1
    with pytest.warns(fr.FuelrailWarning, match="len"), pytest.raises(fr.TooManyBadRecordsError):
        list(loader)  # 8 of 20


# --- The environment ----------------------------------------------------------------------------

STEP = {
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_PROCID": "1",
    "SLURM_NTASKS": "2",
}
SEVERAL = [
    ({"LOCAL_RANK": "1"}, "LOCAL_RANK is 1"),
    ({"LOCAL_RANK": "0", "WORLD_SIZE": "2"}, "WORLD_SIZE is 2"),
    ({"RANK": "3"}, "RANK is 3"),
    ({"LOCAL_WORLD_SIZE": "2"}, "LOCAL_WORLD_SIZE is 2"),
    ({"OMPI_COMM_WORLD_SIZE": "2"}, "OMPI_COMM_WORLD_SIZE is 2"),
    ({"PMI_SIZE": "2"}, "PMI_SIZE is 2"),
    # A batch script; a shell in a step.
    ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, "SLURM_NTASKS is 4"),
    ({**STEP, "SLURM_PROCID": "0", "SLURM_PTY_PORT": "41"}, "SLURM_NTASKS is 2"),
]
ONE = [
    {"LOCAL_RANK": "0"},
    {"LOCAL_RANK": "junk"},
    {"LOCAL_WORLD_SIZE": "1", "OMPI_COMM_WORLD_SIZE": "1", "PMI_SIZE": "1"},
    {"RANK": "0", "WORLD_SIZE": "1"},
    {"RANK": "0", "WORLD_SIZE": "1", **STEP},
    {**STEP, "SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"},
]


def set_all(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_a_task_of_a_slurm_step_takes_its_part(
    tiny_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = tiny(tiny_file, last_batch="drop")
    set_all(monkeypatch, STEP)
    its_own = [i for i in range(80) if i % 20 >= 10]
    with pytest.warns(fr.FuelrailWarning, match="rank 1 of 2, according to SLURM_PROCID") as said:
        assert ids(loader) == its_own
    assert len(said) == 1
    assert ids(tiny(tiny_file, last_batch="drop")) == its_own  # warned once per process
    set_all(monkeypatch, {"RANK": "0", "WORLD_SIZE": "4"})  # torchrun's, inside the step
    assert ids(tiny(tiny_file, last_batch="drop")) == [i for i in range(80) if i % 40 < 10]


@pytest.mark.parametrize(("variables", "said"), SEVERAL, ids=[said for _, said in SEVERAL])
def test_a_process_that_seems_to_be_one_of_several_is_warned_that_it_takes_all(
    tiny_file: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    said: str,
) -> None:
    set_all(monkeypatch, variables)
    loader = tiny(tiny_file)
    len(loader)
    with pytest.warns(fr.FuelrailWarning, match=f"variable {said}, but .*`rank=0, world") as found:
        assert ids(loader) == EVERY_ID
    assert len(found) == 1
    assert found[0].filename == __file__
    assert ids(tiny(tiny_file)) == EVERY_ID  # warned once per process
    assert ids(tiny(tiny_file, rank=0, world_size=1)) == EVERY_ID


@pytest.mark.parametrize("variables", ONE, ids=str)
def test_a_process_of_its_own_is_not_warned(
    tiny_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    set_all(monkeypatch, variables)
    assert ids(tiny(tiny_file)) == EVERY_ID
