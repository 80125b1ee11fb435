"""Orders that the user feeds: iterables of indices, of batches of them, torch's samplers."""

from __future__ import annotations

import itertools
import json
import pathlib
import signal
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import fuelrail as fr
from conftest import TINY_COUNT
from fuelrail import transforms as T
from loading import epoch_ids, tiny

FIELDS = ("id", "position", "image")


def batches(loader: fr.Loader) -> list[list[int]]:
    return [batch[0].numpy().tolist() for batch in loader]


# --- What comes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: [5, 3, 3, 96, 0, 1, 2],
        lambda: (5, 3, 3, 96, 0, 1, 2),
        lambda: np.array([5, 3, 3, 96, 0, 1, 2]),
        lambda: torch.tensor([5, 3, 3, 96, 0, 1, 2]),
        lambda: [5, 3, 3, -1, 0, 1, 2],
    ],
    ids=["list", "tuple", "array", "tensor", "negative"],
)
def test_indices_come_as_they_are_fed(tiny_file: pathlib.Path, make: Callable[[], Any]) -> None:
    loader = tiny(tiny_file, 3, sampler=make())
    assert len(loader) == 3
    for _ in range(2):
        assert batches(loader) == [[5, 3, 3], [96, 0, 1], [2]]
    loader = tiny(tiny_file, 3, sampler=make(), last_batch="drop")
    assert len(loader) == 2
    assert batches(loader) == [[5, 3, 3], [96, 0, 1]]


def test_batches_of_any_size_come_as_they_are_fed(tiny_file: pathlib.Path) -> None:
    sizes = [1, 3, 0, 2, 40, 7, 1, 97, 5]
    fed = [[(7 * i + size) % TINY_COUNT for i in range(size)] for size in sizes]
    fed[3] = torch.tensor(fed[3])  # type: ignore[call-overload]
    loader = tiny(tiny_file, 1, batch_sampler=fed, prefetch=3)
    expected = [list(map(int, batch)) for batch in fed]
    assert len(loader) == len(fed)
    for _ in range(3):
        assert batches(loader) == expected


def test_rows_are_the_records_named(tiny_file: pathlib.Path) -> None:
    data = fr.open(tiny_file)
    fed = [[1, 2], [50, 3, 4]]
    for batch, indices in zip(tiny(tiny_file, 1, batch_sampler=fed), fed, strict=True):
        _, position, valid, label, image = batch
        assert label.numpy().tolist() == [data[i].label for i in indices]
        assert valid.numpy().all()
        expected = np.stack([data[i].decode() for i in indices]).transpose(0, 3, 1, 2)
        np.testing.assert_array_equal(image.numpy() * np.float32(255), expected)
    assert position.numpy().tolist() == [2, 3, 4]


def test_ranks_of_one_sampler_draw_differently(record_file: pathlib.Path) -> None:
    order = [5, 5, 9, 1, 30]

    def rows(rank: int) -> tuple[list[int], list[bytes]]:
        contexts: list[fr.BatchContext] = []

        def note(batch: Any, context: fr.BatchContext) -> Any:
            contexts.append(context)
            return batch

        (batch,) = fr.Loader(
            record_file, 5, sampler=order, rank=rank, world_size=2, seed=3, fields=FIELDS,
            transforms=[T.RandomResizedCrop(8)], batch_transforms=[note],
        )  # fmt: skip
        ids, positions, images = (column.numpy() for column in batch)
        assert ids.tolist() == order
        assert contexts[0].positions.tolist() == positions.tolist()
        return positions.tolist(), [image.tobytes() for image in images]

    (positions, images), (others, other_images) = rows(0), rows(1)
    assert positions == [0, 2, 4, 6, 8]
    assert others == [1, 3, 5, 7, 9]
    assert len({*images, *other_images}) == 10


def test_one_rank_draws_what_the_order_itself_would_draw(record_file: pathlib.Path) -> None:
    options: dict[str, Any] = {"transforms": [T.RandomResizedCrop(8)], "fields": FIELDS, "seed": 3}
    computed = fr.Loader(record_file, 4, **options)
    fed = fr.Loader(record_file, 4, sampler=range(31), **options)
    for _ in range(2):
        for expected, found in zip(computed, fed, strict=True):
            assert [*map(bytes, found)] == [*map(bytes, expected)]


def test_a_rank_that_does_not_exist_is_refused_with_a_sampler_too(tiny_file: pathlib.Path) -> None:
    with pytest.raises(fr.OutOfRangeError, match="rank below 2, found 2"):
        tiny(tiny_file, 4, sampler=[1, 2], rank=2, world_size=2)


def torch_samplers(data: Any) -> dict[str, Callable[[], dict[str, Any]]]:
    utils = torch.utils.data

    def generator() -> torch.Generator:
        return torch.Generator().manual_seed(3)

    return {
        "SequentialSampler": lambda: {"sampler": utils.SequentialSampler(data)},
        "RandomSampler": lambda: {"sampler": utils.RandomSampler(data, generator=generator())},
        "WeightedRandomSampler": lambda: {
            "sampler": utils.WeightedRandomSampler(range(1, 30), 17, generator=generator())
        },
        "SubsetRandomSampler": lambda: {
            "sampler": utils.SubsetRandomSampler(range(0, 90, 7), generator=generator())
        },
        "DistributedSampler": lambda: {
            "sampler": utils.DistributedSampler(data, num_replicas=3, rank=1, seed=4)
        },
        "BatchSampler": lambda: {
            "batch_sampler": utils.BatchSampler(
                utils.DistributedSampler(data, num_replicas=3, rank=1, seed=4), 7, drop_last=True
            )
        },
    }


@pytest.mark.parametrize("name", list(torch_samplers([])))
def test_torchs_samplers_mean_what_they_mean_to_torch(tiny_file: pathlib.Path, name: str) -> None:
    data = fr.open(tiny_file)
    make = torch_samplers(range(len(data)))[name]
    ours = make()
    loader = tiny(tiny_file, 1 if "batch_sampler" in ours else 5, **ours)
    theirs = make()
    options = theirs if "batch_sampler" in theirs else {**theirs, "batch_size": 5}
    reference = torch.utils.data.DataLoader(range(len(data)), **options)  # type: ignore[arg-type]
    assert len(loader) == len(reference)
    for epoch in range(3):
        for sampler in theirs.values():
            named = getattr(sampler, "sampler", sampler)
            if hasattr(named, "set_epoch"):
                named.set_epoch(epoch)
        assert batches(loader) == [batch.tolist() for batch in reference]


def test_the_torch_loader_takes_them_too(tiny_file: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(
        tiny_file, batch_sampler=[[4, 2], [7]], transforms=[fr.transforms.CenterCrop(4)],
        fields=["id"],
    )  # fmt: skip
    assert [ids.tolist() for (ids,) in loader] == [[4, 2], [7]]


# --- When it is asked ---------------------------------------------------------------------------


class Asked:
    """Indices of epochs of 20, and a record of how it was asked."""

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.given = 0

    def set_epoch(self, epoch: int) -> None:
        self.epochs.append(epoch)

    def __iter__(self) -> Iterator[int]:
        for i in range(20):
            self.given += 1
            yield (i + self.epochs[-1]) % TINY_COUNT


@pytest.mark.parametrize("prefetch", [1, 2, 5])
def test_it_is_asked_prefetch_ahead_of_use_and_over_the_gap(
    tiny_file: pathlib.Path, prefetch: int
) -> None:
    order = Asked()
    loader = tiny(tiny_file, 2, sampler=order, prefetch=prefetch)
    iterator = iter(loader)
    assert order.given == 0
    for count in range(1, 11):
        next(iterator)
        fed = count + prefetch  # and one more, to tell which is the last of its epoch
        assert order.given == 2 * (fed if fed % 10 == 0 else fed + 1)
        assert order.epochs == list(range(1 + (fed - 1) // 10))
    assert next(iterator, None) is None
    assert batches(loader)[0] == [1, 2]


def test_set_epoch_names_it_to_the_sampler(tiny_file: pathlib.Path) -> None:
    order = Asked()
    loader = tiny(tiny_file, 10, sampler=order)
    loader.set_epoch(40)
    assert epoch_ids(loader) == [*range(40, 60)]
    loader.set_epoch(7)
    assert order.epochs[0] == 40
    assert epoch_ids(loader) == [*range(7, 27)]


def test_an_endless_order_is_one_epoch(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=(i % TINY_COUNT for i in itertools.count()))
    with pytest.raises(TypeError):
        len(loader)
    seen = [i for batch in itertools.islice(loader, 60) for i in batch[0].numpy().tolist()]
    assert seen == [i % TINY_COUNT for i in range(240)]


def test_an_iterator_is_read_once(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=iter(range(10)))
    assert batches(loader) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert batches(loader) == []
    loader = tiny(tiny_file, 4, sampler=iter(range(90)))
    next(iter(loader))
    with pytest.raises(fr.StateError, match="read once"):
        next(iter(loader))


def test_an_order_without_samples_is_an_empty_epoch(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=[])
    assert len(loader) == 0
    assert batches(loader) == batches(loader) == []


def test_leaving_the_loop_early_ends_the_epoch(tiny_file: pathlib.Path) -> None:
    for taken in (1, 4, 9, 10):
        loader = tiny(tiny_file, 2, sampler=Asked())
        assert len(list(itertools.islice(loader, taken))) == taken
        assert epoch_ids(loader) == [*range(1, 21)]


# --- Errors -------------------------------------------------------------------------------------


class Broken(Exception):
    pass


class Failing:
    """Fails at its 8th index in the epochs named."""

    def __init__(self, *epochs: int) -> None:
        self.epochs = epochs
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        for i in range(12):
            if i == 8 and self.epoch in self.epochs:
                self.fail()
            yield i

    def fail(self) -> None:
        raise Broken("mine")


@pytest.mark.parametrize("batch_size", [1, 3, 4, 8])
@pytest.mark.parametrize("prefetch", [1, 3, 9])
def test_an_error_comes_in_the_place_of_its_batch_as_it_was_raised(
    tiny_file: pathlib.Path, batch_size: int, prefetch: int
) -> None:
    loader = tiny(tiny_file, batch_size, sampler=Failing(1), prefetch=prefetch)
    assert epoch_ids(loader) == [*range(12)]
    iterator = iter(loader)
    good = 8 // batch_size
    assert [next(iterator)[0].numpy()[0] for _ in range(good)] == [*range(0, 8, batch_size)][:good]
    state = loader.state_dict()
    with pytest.raises(Broken, match="mine") as caught:
        next(iterator)
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][-2:] == ["__iter__", "fail"]
    assert loader.state_dict() == state
    assert next(iterator, None) is None
    assert epoch_ids(loader) == [*range(12)]
    assert loader.state_dict()["epoch"] == 3


def test_an_error_before_the_first_batch_is_raised_each_time(tiny_file: pathlib.Path) -> None:
    attempts = itertools.count()

    class Late:
        def __iter__(self) -> Iterator[int]:
            if next(attempts) < 2:
                raise Broken("not yet")
            return iter([1, 2, 3])

    loader = tiny(tiny_file, 2, sampler=Late())
    for _ in range(2):
        with pytest.raises(Broken):
            list(loader)
    assert batches(loader) == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("options", "kind", "match"),
    [
        ({"sampler": [0, 1, TINY_COUNT]}, fr.OutOfRangeError, "97"),
        ({"sampler": [0, 1, "2"]}, fr.ArgumentTypeError, "integer"),
        ({"sampler": [[0, 1], [2]]}, fr.ArgumentTypeError, "integer"),
        ({"batch_sampler": [0, 1]}, fr.ArgumentTypeError, "sampler"),
        ({"batch_sampler": [[0], [None]]}, fr.ArgumentTypeError, "integer"),
    ],
)
def test_a_bad_index_is_an_error_in_its_place(
    tiny_file: pathlib.Path, options: dict[str, Any], kind: type[Exception], match: str
) -> None:
    with pytest.raises(kind, match=match):
        list(tiny(tiny_file, 1, **options))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"sampler": [1], "batch_sampler": [[1]]}, "`sampler` and `batch_sampler`"),
        ({"sampler": [1], "shuffle": True}, "`shuffle` and `sampler`"),
        ({"weights": [1] * TINY_COUNT, "shuffle": "window"}, "`shuffle` and `weights`"),
        ({"batch_sampler": [[1]], "batch_size": 3}, "batch_size"),
        ({"batch_sampler": [[1]], "last_batch": "drop"}, "last_batch"),
        ({"sampler": [1], "last_batch": "pad"}, "last_batch"),
        ({"sampler": 3}, "`sampler` cannot be iterated"),
        ({"batch_sampler": "abc"}, "`batch_sampler` cannot be iterated"),
        ({"num_samples": 3}, "weights"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tiny_file: pathlib.Path, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=match):
        fr.Loader(tiny_file, transforms=[fr.transforms.CenterCrop(4)], **options)


# --- Resume -------------------------------------------------------------------------------------


class OwnState:
    """Counts its own way through epochs that it permutes by itself; no `set_epoch`."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        while True:
            self.at += 1
            yield (self.at * 5) % TINY_COUNT
            if self.at % 20 == 0:
                return

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class LiveState(OwnState):
    """Says and takes the very dict that it works with."""

    def __init__(self) -> None:
        self.own = {"at": 0}

    @property
    def at(self) -> int:
        return self.own["at"]

    @at.setter
    def at(self, value: int) -> None:
        self.own["at"] = value

    def state_dict(self) -> dict[str, int]:
        return self.own

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.own = state


class IteratorWithState:
    """Its iterators have the state, as torchdata's do."""

    class Iterator:
        def __init__(self) -> None:
            self.at = 0

        def __iter__(self) -> IteratorWithState.Iterator:
            return self

        def __next__(self) -> int:
            if self.at == 20:
                raise StopIteration
            self.at += 1
            return self.at

        def state_dict(self) -> dict[str, int]:
            return {"at": self.at}

        def load_state_dict(self, state: dict[str, int]) -> None:
            self.at = state["at"]

    def __iter__(self) -> Iterator:
        return self.Iterator()


def shuffled(batch_size: int) -> dict[str, Any]:
    sampler: Any = torch.utils.data.DistributedSampler(
        range(50),
        num_replicas=2,
        rank=1,
        seed=9,  # type: ignore[arg-type]
    )
    if batch_size % 2:
        return {"sampler": sampler, "batch_size": batch_size}
    return {"batch_sampler": torch.utils.data.BatchSampler(sampler, batch_size, drop_last=False)}


MAKE: list[Callable[[int], dict[str, Any]]] = [
    shuffled,
    lambda size: {"sampler": [*range(0, 90, 3)], "batch_size": size},
    lambda size: {"sampler": OwnState(), "batch_size": size},
    lambda size: {"sampler": LiveState(), "batch_size": size},
    lambda size: {"sampler": IteratorWithState(), "batch_size": size},
]


@given(
    kind=st.sampled_from(MAKE),
    batch_size=st.integers(1, 9),
    prefetch=st.integers(1, 5),
    prefetch_after=st.integers(1, 5),
    last_batch=st.sampled_from(["short", "drop"]),
    world_size=st.integers(1, 3),
    share=st.floats(0, 1),
)
def test_a_fed_run_goes_on_as_the_uninterrupted_one(
    tiny_file: pathlib.Path,
    kind: Callable[[int], dict[str, Any]],
    batch_size: int,
    prefetch: int,
    prefetch_after: int,
    last_batch: str,
    world_size: int,
    share: float,
) -> None:
    def make(prefetch: int) -> fr.Loader:
        options = kind(batch_size)
        size = options.pop("batch_size", 1)
        if "sampler" in options:
            options["last_batch"] = last_batch
        return tiny(
            tiny_file, size, fields=FIELDS, transforms=[T.RandomResizedCrop(3)], prefetch=prefetch,
            rank=world_size - 1, world_size=world_size, **options,
        )  # fmt: skip

    def stream(loader: fr.Loader, epochs: int) -> Iterator[tuple[bytes, ...]]:
        for _ in range(epochs):
            for batch in loader:
                yield tuple(bytes(column) for column in batch)

    expected = list(stream(make(2), 3))
    taken = round(share * len(expected))
    first = make(prefetch)
    rows = list(itertools.islice(stream(first, 3), taken))
    state = json.loads(json.dumps(first.state_dict()))
    first.close()
    second = make(prefetch_after)
    second.load_state_dict(state)
    assert second.state_dict() == state
    rows += itertools.islice(stream(second, 4), len(expected) - taken)
    assert rows == expected


def test_a_state_and_the_samplers_own_dict_go_their_own_ways(tiny_file: pathlib.Path) -> None:
    expected = [*itertools.islice(tiny(tiny_file, 3, sampler=LiveState()), 7)]
    first = tiny(tiny_file, 3, sampler=LiveState(), prefetch=4)
    iterator = iter(first)
    for _ in range(2):
        next(iterator)
    state = first.state_dict()
    saved = json.dumps(state)
    assert state["sampler"]["state"]["state"] == {"at": 6}
    next(iterator)
    assert json.dumps(state) == saved

    second = tiny(tiny_file, 3, sampler=LiveState())
    second.load_state_dict(state)
    state["sampler"]["state"]["state"]["at"] = 96  # the caller's own, from here on
    rest = [batch[0].numpy().tolist() for batch in second]
    assert rest == [batch[0].numpy().tolist() for batch in expected[2:]]
    assert json.loads(saved)["sampler"]["state"]["state"] == {"at": 6}


def test_a_fed_state_of_other_ranks_or_batch_size_is_refused(tiny_file: pathlib.Path) -> None:
    def make(batch_size: int, world_size: int) -> fr.Loader:
        return tiny(tiny_file, batch_size, sampler=range(40), rank=0, world_size=world_size)

    state = make(4, 2).state_dict()
    for loader, match in ((make(5, 2), "batch_size.*expected 5, found 4"),
                          (make(4, 3), "world_size.*expected 3, found 2"),
                          (tiny(tiny_file, 4), "shuffle.*expected none, found fed")):  # fmt: skip
        with pytest.raises(fr.InvalidArgumentError, match=match):
            loader.load_state_dict(state)
    with pytest.raises(fr.InvalidArgumentError, match="expected fed, found none"):
        make(4, 2).load_state_dict(tiny(tiny_file, 4).state_dict())
    del state["sampler"]
    with pytest.raises(fr.InvalidArgumentError, match="'sampler'"):
        make(4, 2).load_state_dict(state)


def test_a_state_that_lost_the_samplers_own_is_refused(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=OwnState())
    next(iter(loader))
    state = loader.state_dict()
    assert state["sampler"]["has_state"]
    del state["sampler"]["state"]  # as what restores only the names that a fresh loader has
    with pytest.raises(fr.InvalidArgumentError, match=r"has lost .*expected a member 'state'"):
        tiny(tiny_file, 4, sampler=OwnState()).load_state_dict(state)


def test_an_order_that_has_become_shorter_is_refused(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 4, sampler=range(40))
    next(itertools.islice(loader, 6, 7))
    short = tiny(tiny_file, 4, sampler=range(20))
    short.load_state_dict(loader.state_dict())
    with pytest.raises(fr.InvalidArgumentError, match="ends before the state's place"):
        next(iter(short))


# --- Processes ----------------------------------------------------------------------------------

PRELUDE = """
import os, signal, sys, threading, time
import fuelrail as fr
def make(sampler, **options):
    return fr.Loader(sys.argv[1], 4, transforms=[fr.transforms.CenterCrop(4)], sampler=sampler,
                     **options)
class Stuck:  # gives some, then never comes back
    def __iter__(self):
        yield from range(16)
        reached.set()
        while True: time.sleep(0.01)  # a signal may come right before a long one
reached = threading.Event()
"""


@pytest.mark.parametrize(
    "script",
    [
        "loader = make(range(90))\nnext(iter(loader))\n",
        "loader = make(Stuck(), prefetch=1)\nnext(iter(loader))\n",
        "iterator = iter(make(range(90), prefetch=9))\nnext(iterator)\nsys.exit(0)\n",
        "loader = make(range(90))\nnext(iter(loader))\nloader.close()\nloader.close()\n",
    ],
    ids=["live", "stuck", "exit", "close"],
)
def test_the_interpreter_exits_cleanly(
    python: Callable[..., Any], tiny_file: pathlib.Path, script: str
) -> None:
    done = python(PRELUDE + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_iterable_that_is_stuck_in_a_daemon_thread_holds_nobody_up(
    python: Callable[..., Any], tiny_file: pathlib.Path
) -> None:
    script = """
loader = make(Stuck(), prefetch=2)
threading.Thread(target=lambda: list(loader), daemon=True).start()
reached.wait()
loader.close()
"""
    assert python(PRELUDE + script, tiny_file).returncode == 0


def test_ctrl_c_ends_an_iterable_that_is_stuck(
    python: Callable[..., Any], tiny_file: pathlib.Path
) -> None:
    script = """
loader = make(Stuck(), prefetch=1)
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt():
    reached.wait()
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
threading.Thread(target=interrupt).start()
iterator = iter(loader)
seen = 0
try:
    for batch in iterator: seen += 1
except KeyboardInterrupt:
    print("interrupted")
rest = 0
try:
    for batch in iterator: rest += 1
except fr.StateError as error:
    print("over" if "interrupted" in str(error) else error)
assert seen + rest == 3, (seen, rest)  # whether a fourth is the last, nobody has said
"""
    done = python(PRELUDE + script, tiny_file)
    assert (done.stdout, done.returncode) == ("interrupted\nover\n", 0), done.stderr


class Interrupting:
    """The core's loader, whose user presses Ctrl-C around one call."""

    def __init__(self, core: Any, call: str, number: int, after: bool) -> None:
        self._core, self._call, self._left, self._after = core, call, number, after

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._core, name)
        if name != self._call:
            return function

        def interrupted(*arguments: Any) -> Any:
            self._left -= 1
            if self._left != 0:
                return function(*arguments)
            if self._after:
                function(*arguments)
            raise KeyboardInterrupt

        return interrupted


class InterruptingDeque(deque[Any]):
    left = 3

    def append(self, item: Any) -> None:
        super().append(item)
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)


SIZES = [1, 3, 0, 2, 40, 7, 1, 97, 5]


def read_on(loader: fr.Loader) -> tuple[list[list[int]], int]:
    """The batches of an epoch, and how often Ctrl-C came in between."""
    seen: list[list[int]] = []
    interrupts = 0
    iterator = iter(loader)
    while True:
        try:
            batch = next(iterator, None)
        except KeyboardInterrupt:
            interrupts += 1
            continue
        if batch is None:
            return seen, interrupts
        seen.append(batch[0].numpy().tolist())


@pytest.mark.parametrize("prefetch", [1, 4])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("call", "number"), [("feed", 1), ("feed", 4), ("reserve", 2)])
def test_ctrl_c_while_it_is_fed_loses_and_repeats_nothing(
    tiny_file: pathlib.Path, call: str, number: int, after: bool, prefetch: int
) -> None:
    fed = [[(7 * i + size) % TINY_COUNT for i in range(size)] for size in SIZES]
    loader = tiny(tiny_file, 1, batch_sampler=fed, prefetch=prefetch)
    loader._core = Interrupting(loader._core, call, number, after)
    assert read_on(loader) == (fed, 1)
    assert read_on(loader) == (fed, 0)


def test_ctrl_c_between_noting_a_batch_and_feeding_it_loses_and_repeats_nothing(
    tiny_file: pathlib.Path,
) -> None:
    fed = [[i, i + 1] for i in range(0, 20, 2)]
    loader = tiny(tiny_file, 1, batch_sampler=fed)
    assert loader._fed is not None
    loader._fed._ahead = InterruptingDeque()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert read_on(loader) == (fed, 1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert loader.state_dict()["epoch"] == 1


def test_a_forked_child_is_told_and_the_parent_goes_on(
    python: Callable[..., Any], tiny_file: pathlib.Path
) -> None:
    script = """
loader = make(range(90))
iterator = iter(loader)
next(iterator)
unstarted = make(range(8))
child = os.fork()
if child == 0:
    code = 0
    for use in (lambda: next(iterator), lambda: iter(loader), loader.state_dict):
        try:
            use()
            code = 1
        except fr.StateError:
            pass
    if len(list(unstarted)) != 2: code = 2
    os._exit(code)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert len(list(iterator)) == 22
"""
    done = python(PRELUDE + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_restored_sampler_that_may_not_repeat_is_warned_of(tiny_file: pathlib.Path) -> None:
    def restored(sampler: object) -> None:
        first = fr.Loader(tiny_file, 8, fields=["id"], sampler=sampler)
        next(iter(first))
        fr.Loader(tiny_file, 8, fields=["id"], sampler=sampler).load_state_dict(first.state_dict())

    data = range(TINY_COUNT)
    with pytest.warns(fr.FuelrailWarning, match="RandomSampler gives the same") as said:
        restored(torch.utils.data.RandomSampler(data))
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restored(list(data))
        restored(np.arange(TINY_COUNT))
        restored(torch.utils.data.SequentialSampler(data))
        restored(torch.utils.data.DistributedSampler(data, num_replicas=1, rank=0))
