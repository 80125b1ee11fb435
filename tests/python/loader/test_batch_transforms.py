"""Functions of whole batches, and the context that makes their random numbers reproducible."""

from __future__ import annotations

import itertools
import pathlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from loading import CROP, tiny
from page import code_of
from photographs import TINY_COUNT


def test_they_run_in_order_on_the_thread_that_asks(tiny_file: pathlib.Path) -> None:
    threads = []

    def add(batch: tuple[fr.Array]) -> np.ndarray:
        threads.append(threading.current_thread())
        return batch[0].numpy() + 1

    loader = fr.Loader(
        tiny_file, 10, fields=["id"], batch_transforms=[add, lambda ids: (2 * ids).tolist()]
    )
    assert list(itertools.chain.from_iterable(loader)) == [2 * (i + 1) for i in range(TINY_COUNT)]
    assert set(threads) == {threading.current_thread()}


def test_a_dict_goes_in_where_one_was_asked_for(tiny_file: pathlib.Path) -> None:
    def renamed(batch: dict[str, fr.Array]) -> dict[str, fr.Array]:
        return {name.upper(): column for name, column in batch.items()}

    loader = tiny(tiny_file, as_dict=True, batch_transforms=[renamed])
    assert list(next(iter(loader))) == ["ID", "POSITION", "VALID", "LABEL", "IMAGE"]


@pytest.mark.parametrize("fields", [["id"], ["position", "id"]])
def test_the_context_tells_seed_epoch_and_positions(
    tiny_file: pathlib.Path, fields: list[str]
) -> None:
    seen: list[tuple[int, int, list[int]]] = []

    def note(batch: tuple[fr.Array, ...], context: fr.BatchContext) -> tuple[fr.Array, ...]:
        assert context.positions.dtype == np.int64
        seen.append((context.seed, context.epoch, context.positions.tolist()))
        assert len(batch) == len(fields)
        return batch

    loader = fr.Loader(tiny_file, 40, shuffle=True, seed=9, fields=fields, batch_transforms=[note])
    for _ in range(2):
        for _ in loader:
            pass
    loader.set_epoch(7)
    next(iter(loader))
    expected = [list(range(40)), list(range(40, 80)), list(range(80, TINY_COUNT))]
    assert seen == [(9, e, p) for e in (0, 1) for p in expected] + [(9, 7, expected[0])]


def test_the_context_is_the_same_after_a_restart(tiny_file: pathlib.Path) -> None:
    def noise(batch: tuple[fr.Array], *, context: fr.BatchContext) -> list[float]:
        first = context.positions[:1]
        random = np.random.default_rng((context.seed, context.epoch, *first))
        return random.normal(size=3).tolist()

    def make() -> fr.Loader:
        options = {"shuffle": True, "fields": ["id"], "batch_transforms": [noise]}
        return fr.Loader(tiny_file, 10, **options)

    loader = make()
    whole = [*loader, *loader]
    assert len({tuple(numbers) for numbers in whole}) == 20
    again = make()
    for _, numbers in zip(range(14), whole, strict=False):
        state = again.state_dict()
        resumed = make()
        resumed.load_state_dict(state)
        assert next(iter(resumed)) == numbers
        again = resumed


def test_a_fed_order_has_a_context_too(tiny_file: pathlib.Path) -> None:
    def epochs(batch: tuple[fr.Array], context: fr.BatchContext) -> int:
        return context.epoch

    loader = fr.Loader(tiny_file, 2, sampler=[3, 1, 2], fields=["id"], batch_transforms=[epochs])
    assert [*loader, *loader] == [0, 0, 1, 1]


def test_an_error_keeps_its_type_and_the_loop_goes_on(tiny_file: pathlib.Path) -> None:
    class Mine(Exception):
        pass

    def picky(batch: tuple[fr.Array]) -> list[int]:
        ids = batch[0].numpy().tolist()
        if 10 in ids:
            raise Mine("not this one")
        return ids

    batches = iter(fr.Loader(tiny_file, 10, fields=["id"], batch_transforms=[picky]))
    assert next(batches) == list(range(10))
    with pytest.raises(Mine, match="not this one"):
        next(batches)
    assert next(batches) == list(range(20, 30))


def test_returning_nothing_is_said(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, batch_transforms=[lambda batch: batch, lambda batch: None])
    with pytest.raises(
        fr.ArgumentTypeError, match=r"`batch_transforms\[1\]` returned None. Return the transf"
    ):
        next(iter(loader))


def test_a_callable_without_a_signature_gets_the_batch(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 3, batch_transforms=[list, len])
    assert next(iter(loader)) == 5


class Everything:
    """Accepts any arguments, as modules do, but no context."""

    def __call__(self, *inputs: Any, **options: Any) -> Sequence[Any]:
        assert not options
        return inputs


def test_keywords_in_general_are_no_wish_for_a_context(tiny_file: pathlib.Path) -> None:
    ((batch,),) = [next(iter(tiny(tiny_file, 3, batch_transforms=[Everything()])))]
    assert len(batch) == 5


def test_the_pages_mixup_repeats(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    makes_the_data, mixup = code_of("batches.md")
    names: dict[str, Any] = {}
    exec(makes_the_data, names)
    runs = []
    for _ in range(2):
        exec(mixup, names)
        runs.append((names["images"], names["targets"]))
    images, targets = runs[0]
    assert (images.shape, targets.shape) == ((64, 3, 32, 32), (64, 5))
    np.testing.assert_allclose(targets.sum(1), 1, rtol=1e-6)
    assert (targets.max(1).values < 1).any()
    assert (images == runs[1][0]).all()
    assert (targets == runs[1][1]).all()


def test_context_positions_are_not_a_column(tiny_file: pathlib.Path) -> None:
    loader = fr.Loader(
        tiny_file,
        4,
        transforms=CROP,
        as_dict=True,
        batch_transforms=[lambda batch, context: sorted(batch)],
    )
    assert next(iter(loader)) == ["image", "label"]
