"""A run resumes with other ranks, batch sizes and threads: every row exactly once.

Rows are compared bit for bit: id, position, valid and, in some of the cases, randomly cropped
pixels or all columns of samples of many fields. The expected rows are one long batch of one rank with one thread: the rows of the epoch, and
after them the fillers of `pad` and `wrap`.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import pathlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fuelrail as fr
import many_fields
from fuelrail import transforms as T
from loading import rows_of
from photographs import TINY_COUNT

LONG = bool(os.environ.get("FUELRAIL_LONG"))
CASES = 2500 if LONG else 250
MOST_ROWS = 12 * 4  # the largest global batch
Row = tuple[Any, ...]
Step = list[Row]
"""A global batch: the rows of all ranks, in rank order."""


@dataclasses.dataclass(frozen=True)
class Job:
    """The options that may change at a restore."""

    batch_size: int
    world_size: int
    threads: int
    prefetch: int

    @property
    def global_batch(self) -> int:
        return self.batch_size * self.world_size


@dataclasses.dataclass(frozen=True)
class Run:
    """The options that must not change at a restore."""

    data: fr.Dataset
    order: dict[str, Any]
    seed: int
    last_batch: str
    columns: str  # "ids", "pixels" or "many fields"

    @property
    def epoch_size(self) -> int:
        samples: int = self.order.get("num_samples", len(self.data))
        return samples

    def loader(self, job: Job, rank: int = 0, last_batch: str | None = None) -> fr.Loader:
        fields = ["id", "position", "valid"] + ["image"] * (self.columns == "pixels")
        options = {"transforms": [T.RandomResizedCrop(2)], "fields": fields}
        return fr.Loader(
            self.data, **{**dataclasses.asdict(job), "last_batch": last_batch or self.last_batch},
            rank=rank, seed=self.seed, flat=True, as_dict=True, **self.order,
            **(many_fields.OPTIONS if self.columns == "many fields" else options),
        )  # fmt: skip

    def rows(self, epochs: range) -> dict[int, Step]:
        """The rows of each epoch, and MOST_ROWS fillers if `last_batch` has fillers."""
        fills = self.last_batch in ("pad", "wrap")
        whole = Job(self.epoch_size + MOST_ROWS * fills, 1, threads=1, prefetch=1)
        with self.loader(whole, last_batch=self.last_batch if fills else "short") as loader:
            rows = {}
            for epoch in epochs:
                loader.set_epoch(epoch)
                (batch,) = loader
                rows[epoch] = rows_of(batch)
        return rows

    def end(self, position: int, global_batch: int) -> int:
        """The end of an epoch that is read from `position` in batches of `global_batch`."""
        left = self.epoch_size - position
        if self.last_batch == "short":
            return self.epoch_size
        if self.last_batch == "drop":
            return position + left // global_batch * global_batch
        return position - (-left // global_batch) * global_batch

    def steps(self, rows: Step, position: int, global_batch: int) -> list[Step]:
        """The global batches of an epoch's rows from `position` to its end."""
        end = self.end(position, global_batch)
        return [
            rows[begin : min(begin + global_batch, end)]
            for begin in range(position, end, global_batch)
        ]


def together(ranks: list[list[Step]]) -> list[Step]:
    """Joins the batches of all ranks, equal in number, to global batches."""
    return [list(itertools.chain(*step)) for step in zip(*ranks, strict=True)]


orders = st.one_of(
    st.just({"shuffle": False}),
    st.just({"shuffle": "full"}),
    st.builds(
        lambda block, blocks: {"shuffle": fr.WindowShuffle(block, blocks)},
        st.integers(1, 12),
        st.integers(1, 6),
    ),
    st.builds(lambda samples: {"weights": True, "num_samples": samples}, st.integers(1, 120)),
)
jobs = st.builds(
    Job, st.integers(1, 12), st.integers(1, 4), threads=st.integers(1, 3), prefetch=st.integers(1, 4)
)  # fmt: skip


@st.composite
def changes(draw: st.DrawFn) -> tuple[Job, Job]:
    """A job and the job that resumes it; half of the pairs have the same global batch."""
    before, after = draw(jobs), draw(jobs)
    if draw(st.booleans()):
        divisors = [w for w in range(1, 5) if before.global_batch % w == 0]
        world_size = draw(st.sampled_from(divisors))
        after = dataclasses.replace(
            after, batch_size=before.global_batch // world_size, world_size=world_size
        )
    return before, after


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")  # warnings about ranks without rows
@pytest.mark.timeout(1200 if LONG else 120)
@settings(max_examples=CASES)
@given(
    records=st.integers(1, TINY_COUNT),
    order=orders,
    seed=st.integers(0, 2**64 - 1),
    last_batch=st.sampled_from(["short", "drop", "pad", "wrap"]),
    jobs=changes(),
    epoch=st.integers(0, 2**32 - 4),
    share=st.floats(0, 1),
    columns=st.sampled_from(["ids", "ids", "ids", "pixels", "many fields"]),
)
def test_before_and_after_a_restore_every_row_comes_once(
    tiny_file: pathlib.Path,
    many_fields_file: pathlib.Path,
    records: int,
    order: dict[str, Any],
    seed: int,
    last_batch: str,
    jobs: tuple[Job, Job],
    epoch: int,
    share: float,
    columns: str,
) -> None:
    if "weights" in order:
        order = {**order, "weights": [1 + i % 3 for i in range(records)]}
    file = many_fields_file if columns == "many fields" else tiny_file
    run = Run(fr.open(file)[:records], order, seed, last_batch, columns)
    before, after = jobs
    size = run.epoch_size
    rows = run.rows(range(epoch, epoch + 3))

    # The first job takes some or all steps of an epoch.
    whole = run.steps(rows[epoch], 0, before.global_batch)
    taken = round(share * len(whole))
    ranks, states = [], []
    for rank in range(before.world_size):
        with run.loader(before, rank) as loader:
            assert len(loader) == len(whole)
            loader.set_epoch(epoch)
            ranks.append([rows_of(batch) for batch in itertools.islice(loader, taken)])
            states.append(loader.state_dict())
    assert together(ranks) == whole[:taken]
    state = states[0]
    assert states == [state] * before.world_size
    assert len(json.dumps(state)) < 1024
    at_end = taken == len(whole)
    if at_end and taken > 0:
        assert (state["epoch"], state["position"]) == (epoch + 1, 0)
    elif not at_end:
        assert (state["epoch"], state["position"]) == (epoch, taken * before.global_batch)

    # The second job takes the rest of that epoch and the complete next one.
    state = json.loads(json.dumps(state))
    begun, position = state["epoch"], state["position"]
    expected = run.steps(rows[begun], position, after.global_batch)
    if not expected and size >= after.global_batch:  # in the tail that `drop` skips
        begun, position = begun + 1, 0
        expected = run.steps(rows[begun], position, after.global_batch)
    following = run.steps(rows[begun + 1], 0, after.global_batch) if begun < epoch + 2 else []
    ranks, next_ranks = [], []
    for rank in range(after.world_size):
        with run.loader(after, rank) as loader:
            loader.load_state_dict(state)
            assert (loader.state_dict()["epoch"], loader.state_dict()["position"]) == (
                begun,
                position,
            )
            ranks.append([rows_of(batch) for batch in loader])
            if following:
                next_ranks.append([rows_of(batch) for batch in loader])
    assert together(ranks) == expected
    if following:
        assert together(next_ranks) == following

    # The contract: only the tail differs from the uninterrupted run.
    if begun == epoch and position > 0:
        come = [row for step in whole[:taken] + expected for row in step]
        uninterrupted = [row for step in whole for row in step]
        if before.global_batch == after.global_batch:
            assert come == uninterrupted
        alike = min(len(come), len(uninterrupted))
        assert come[:alike] == uninterrupted[:alike]
        most = max(before.global_batch, after.global_batch)
        assert abs(len(come) - len(uninterrupted)) < most
        if last_batch == "drop":
            assert size - after.global_batch < len(come) <= size
        else:
            assert come[:size] == rows[epoch][:size]
            assert len(come) - size < after.global_batch
