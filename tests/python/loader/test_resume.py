"""A restored run continues exactly like the uninterrupted run, bit for bit."""

from __future__ import annotations

import io
import itertools
import json
import operator
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import tqdm
from hypothesis import given
from hypothesis import strategies as st

import fuelrail as fr
import many_fields
from fuelrail import transforms as T
from interrupting import Interrupting
from photographs import TINY_COUNT

FIELDS = ("id", "position", "valid", "label", "image")
TRANSFORMS = [T.RandomResizedCrop(3), T.HorizontalFlip(), T.Normalize((0.5,) * 3, (0.25,) * 3)]


def make(data: fr.Dataset, **options: object) -> fr.Loader:
    return fr.Loader(data, transforms=TRANSFORMS, fields=FIELDS, **options)


def make_any(data: fr.Dataset, **options: object) -> fr.Loader:
    many = many_fields.options_of(data)
    return (
        fr.Loader(data, **options, **many) if many is many_fields.OPTIONS else make(data, **options)
    )


def stream(loader: fr.Loader, epochs: int) -> Iterator[object]:
    for _ in range(epochs):
        for batch in loader:
            yield many_fields.bits(batch)


@given(
    records=st.integers(1, TINY_COUNT),
    batch_size=st.integers(1, 30),
    shuffle=st.booleans(),
    seed=st.integers(0, 2**64 - 1),
    last_batch=st.sampled_from(["short", "drop", "pad", "wrap"]),
    world_size=st.integers(1, 3),
    speed=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    speed_after=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    share=st.floats(0, 1),
)
def test_a_restored_run_goes_on_as_the_uninterrupted_one(
    any_file: pathlib.Path,
    records: int,
    batch_size: int,
    shuffle: bool,
    seed: int,
    last_batch: str,
    world_size: int,
    speed: tuple[int, int],
    speed_after: tuple[int, int],
    share: float,
) -> None:
    data = fr.open(any_file)[:records]
    options = {
        "batch_size": batch_size,
        "shuffle": shuffle,
        "seed": seed,
        "last_batch": last_batch,
        "rank": world_size - 1,
        "world_size": world_size,
    }
    expected = list(stream(make_any(data, **options), 3))
    taken = round(share * len(expected))

    first = make_any(data, **options, threads=speed[0], prefetch=speed[1])
    rows = list(itertools.islice(stream(first, 3), taken))
    state = json.loads(json.dumps(first.state_dict()))
    first.close()

    second = make_any(data, **options, threads=speed_after[0], prefetch=speed_after[1])
    second.load_state_dict(state)
    assert second.state_dict() == state
    rows += itertools.islice(stream(second, 4), len(expected) - taken)
    assert rows == expected


def test_an_epoch_of_many_fields_resumes_at_every_batch(many_fields_file: pathlib.Path) -> None:
    options: dict[str, Any] = {"batch_size": 9, "shuffle": True, "seed": 5}
    data = fr.open(many_fields_file)
    loader = make_any(data, **options)
    states, expected = [loader.state_dict()], []
    for batch in loader:
        states.append(loader.state_dict())
        expected.append(many_fields.bits(batch))
    for taken, state in enumerate(states[:-1]):
        again = make_any(data, **options, threads=1 + taken % 3)
        again.load_state_dict(state)
        assert list(stream(again, 1)) == expected[taken:]


def test_the_state_is_small_plain_and_the_same_on_every_rank(tiny_file: pathlib.Path) -> None:
    states = []
    for rank in range(2):
        loader = make(fr.open(tiny_file), batch_size=10, rank=rank, world_size=2, seed=3)
        next(iter(loader))
        states.append(loader.state_dict())
    assert states[0] == states[1]
    assert len(json.dumps(states[0])) < 1024
    assert states[0]["seed"] == 3
    assert states[0]["position"] == 20
    assert states[0]["epoch"] == 0


def test_the_state_counts_what_was_handed_out_not_what_was_made_ahead(
    tiny_file: pathlib.Path,
) -> None:
    loader = make(fr.open(tiny_file), batch_size=10, prefetch=8)
    iterator = iter(loader)
    assert loader.state_dict()["position"] == 0
    for count in range(1, 10):
        next(iterator)
        assert loader.state_dict()["position"] == count * 10
    next(iterator)
    assert (loader.state_dict()["epoch"], loader.state_dict()["position"]) == (1, 0)


@pytest.mark.parametrize("last_batch", ["short", "drop", "pad", "wrap"])
@pytest.mark.parametrize(("batch_size", "after"), [(10, 10), (10, 7), (7, 10), (3, 12)])
def test_a_bar_of_progress_ends_at_100_per_cent_after_a_restore(
    tiny_file: pathlib.Path, last_batch: str, batch_size: int, after: int
) -> None:
    data = fr.open(tiny_file)
    first = make(data, batch_size=batch_size, last_batch=last_batch)
    next(itertools.islice(first, 4, 5))
    second = make(data, batch_size=after, last_batch=last_batch)
    second.load_state_dict(first.state_dict())
    whole, left = len(second), second.batches_left
    assert 0 < left < whole
    for total in (left, whole):  # the rest of the epoch, and the next one
        bar = tqdm.tqdm(second, initial=second.batches_done, file=io.StringIO())
        assert len(list(bar)) == total
        assert bar.n == bar.total == whole == len(second)


def test_batches_are_counted_from_the_first_to_the_last_of_an_epoch(
    tiny_file: pathlib.Path,
) -> None:
    data = fr.open(tiny_file)
    for order in ({}, {"sampler": range(97)}, {"batch_sampler": [[1, 2], [3]] * 5}):
        loader = make(data, **({} if "batch_sampler" in order else {"batch_size": 10}), **order)
        for _ in range(2):
            assert (loader.batches_done, loader.batches_left) == (0, 10)
            for done, _batch in enumerate(loader, 1):
                assert (loader.batches_done, loader.batches_left) == (done, 10 - done)
        for _ in zip(range(10), loader, strict=False):  # does not request the end
            pass
        assert (loader.batches_done, loader.batches_left) == (10, 0)
        iter(loader)
        assert (loader.batches_done, loader.batches_left) == (0, 10)


def test_a_restored_order_of_ones_own_counts_its_batches(tiny_file: pathlib.Path) -> None:
    first = make(fr.open(tiny_file), batch_size=10, sampler=range(97))
    next(itertools.islice(first, 2, 3))
    second = make(fr.open(tiny_file), batch_size=10, sampler=range(97))
    second.load_state_dict(first.state_dict())
    assert (second.batches_done, second.batches_left, len(second)) == (3, 7, 10)
    endless = make(fr.open(tiny_file), batch_size=10, sampler=(i for i in range(97)))
    next(iter(endless))
    assert endless.batches_done == 1
    for ask in (len, operator.attrgetter("batches_left")):
        with pytest.raises(TypeError):
            ask(endless)


def test_a_batch_that_waits_to_be_handed_out_is_not_done(tiny_file: pathlib.Path) -> None:
    for order in ({}, {"sampler": range(97)}):
        loader = make(fr.open(tiny_file), batch_size=10, **order)
        batches = iter(loader)
        next(batches)
        loader._core = Interrupting(loader._core, "warnings", 1, after=False)
        with pytest.raises(KeyboardInterrupt):
            next(batches)
        assert (loader.batches_done, loader.batches_left) == (1, 9)
        next(batches)
        assert (loader.batches_done, loader.batches_left) == (2, 8)


def test_the_sizes_of_batches_are_known(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    loader = make(data, batch_size=10, rank=1, world_size=3)
    assert (loader.batch_size, loader.global_batch_size) == (10, 30)
    loader = make(data, batch_size=10, sampler=[1, 2], rank=1, world_size=3)
    assert (loader.batch_size, loader.global_batch_size) == (10, 30)
    loader = make(data, batch_sampler=[[1, 2]])
    assert (loader.batch_size, loader.global_batch_size) == (None, None)


def test_batch_size_and_ranks_may_change(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    before = make(data, batch_size=4, rank=0, world_size=2, shuffle=True)
    iterator = iter(before)
    for _ in range(3):
        next(iterator)
    whole = make(data, batch_size=TINY_COUNT, shuffle=True)
    ((ids, *_),) = list(whole)
    after = make(data, batch_size=7, shuffle=True)
    after.load_state_dict(before.state_dict())
    rest = [i for batch in after for i in batch[0].numpy().tolist()]
    assert rest == ids.numpy().tolist()[24:]


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"seed": 5}, "seed"),
        ({"shuffle": "full"}, "shuffle"),
        ({"dataset": "1-2-3"}, "dataset"),
        ({"version": 99}, "version"),
        ({"position": TINY_COUNT}, "position"),
        ({"position": -1}, "position"),
        ({"epoch": "two"}, "epoch"),
        ({"seed": None}, "seed"),
        ({"epoch": 1.0}, "'epoch' has the wrong type: expected an integer, found 1.0"),
        ({"epoch": True}, "'epoch' has the wrong type: expected an integer, found True"),
        ({"epoch": 2**32}, "'epoch' is invalid: expected an integer from 0 to 4294967295"),
        ({"position": 2**64}, "'position' is invalid: expected an integer from 0"),
        ({"position": -(10**5000)}, "'position' is invalid: expected an integer from 0"),
        ({"position": float("nan")}, "'position' has the wrong type: .*an integer, found nan"),
        ({"dataset": 7}, "'dataset' has the wrong type: expected a string, found 7"),
        ({"shuffle": b"none"}, "'shuffle' has the wrong type: expected a string, found b'none'"),
        ({"seed": object()}, "'seed' has the wrong type: expected an integer, found <object"),
        ({"seed": [0]}, r"'seed' has the wrong type: expected an integer, found \[0\]"),
        ({"version": 0}, "version"),
        ({"version": 2, "seed": ["anything"]}, "'version' is not supported.*newer"),
    ],
)
def test_a_state_of_another_run_is_refused(
    tiny_file: pathlib.Path, changes: dict[str, object], match: str
) -> None:
    loader = make(fr.open(tiny_file), batch_size=10)
    expected = [bytes(batch[0]) for batch in loader]
    state = {**loader.state_dict(), **changes}
    with pytest.raises(fr.InvalidArgumentError, match=match):
        loader.load_state_dict(state)
    assert [bytes(batch[0]) for batch in loader] == expected


WEIGHTS = [1.0] * TINY_COUNT
RUN = {"records": TINY_COUNT, "seed": 3, "shuffle": "full"}
WEIGHTED = {"records": TINY_COUNT, "seed": 3, "weights": WEIGHTS}


@pytest.mark.parametrize(
    ("saved", "own", "match"),
    [
        (
            RUN,
            {**RUN, "records": 96},
            "'dataset' differs from the loader's: expected 96-.*, found 97-",
        ),
        (RUN, {**RUN, "seed": 4}, "'seed' differs from the loader's: expected 4, found 3"),
        (
            RUN,
            {**RUN, "shuffle": False},
            "'shuffle' differs from the loader's: expected none, found full",
        ),
        (
            {**RUN, "shuffle": "window"},
            {**RUN, "shuffle": fr.WindowShuffle(3, 2)},
            r"'shuffle' differs from the loader's: expected window\(3, 2\), found window\(256, 64\)",
        ),
        (RUN, WEIGHTED, "'dataset' differs from the loader's: expected 97-.*-weights-"),
        (
            WEIGHTED,
            {**WEIGHTED, "weights": [*WEIGHTS[1:], 2.0]},
            "'dataset' differs from the loader's",
        ),
        (
            WEIGHTED,
            {**WEIGHTED, "num_samples": 50},
            r"'shuffle' differs from the loader's: expected weights\(50\), found weights\(97\)",
        ),
        (
            {"records": TINY_COUNT, "sampler": [1, 2]},
            {"records": TINY_COUNT, "batch_sampler": [[1, 2]]},
            "'batch_size' differs from the loader's: expected None, found 10",
        ),
    ],
)
def test_a_loader_refuses_the_state_of_another_and_stays_where_it_was(
    tiny_file: pathlib.Path, saved: dict[str, Any], own: dict[str, Any], match: str
) -> None:
    def loader(options: dict[str, Any]) -> fr.Loader:
        data = fr.open(tiny_file)[: options["records"]]
        options = {name: value for name, value in options.items() if name != "records"}
        size = {} if "batch_sampler" in options else {"batch_size": 10}
        return fr.Loader(data, fields=["id"], **size, **options)

    other = loader(saved)
    next(iter(other))
    mine = loader(own)
    next(iter(mine))
    before = mine.state_dict()
    with pytest.raises(fr.InvalidArgumentError, match=match):
        mine.load_state_dict(other.state_dict())
    assert mine.state_dict() == before


def test_a_state_without_a_member_is_refused(tiny_file: pathlib.Path) -> None:
    loader = make(fr.open(tiny_file), batch_size=10)
    for member in loader.state_dict():
        state = loader.state_dict()
        del state[member]
        with pytest.raises(fr.InvalidArgumentError, match=member):
            loader.load_state_dict(state)


@pytest.mark.parametrize("state", [None, [], "state", 3, [("epoch", 1)]])
def test_what_is_no_dict_is_no_state(tiny_file: pathlib.Path, state: object) -> None:
    loader = make(fr.open(tiny_file), batch_size=10)
    with pytest.raises(fr.ArgumentTypeError, match=r"expected a dict, found .*state_dict\(\)"):
        loader.load_state_dict(state)


@pytest.mark.parametrize("number", [np.int64, torch.tensor], ids=["numpy", "torch"])
def test_a_state_whose_integers_were_saved_as_arrays_is_restored(
    tiny_file: pathlib.Path, number: Callable[[int], object]
) -> None:
    loader = make(fr.open(tiny_file), batch_size=10)
    next(iter(loader))
    state = loader.state_dict()
    saved = {
        key: number(value) if isinstance(value, int) else value for key, value in state.items()
    }
    again = make(fr.open(tiny_file), batch_size=10)
    again.load_state_dict({**saved, "of another tool": object()})
    assert again.state_dict() == state
