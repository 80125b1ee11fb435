"""Loaders: threads, `close`, stats and text, and errors in the data."""

from __future__ import annotations

import gc
import itertools
import json
import os
import pathlib
import re
import threading
import time
from collections.abc import Callable

import pytest

import fuelrail as fr
from fuelrail import transforms as T
from loading import tiny
from photographs import TINY_COUNT, encoded, photograph


def test_a_closed_loader_says_so(tiny_file: pathlib.Path) -> None:
    with tiny(tiny_file) as loader:
        iterator = iter(loader)
        batch = next(iterator)
    loader.close()
    with pytest.raises(fr.StateError, match="closed"):
        next(iterator)
    for use in (lambda: iter(loader), loader.state_dict, lambda: loader.set_epoch(0)):
        with pytest.raises(fr.StateError, match="closed"):
            use()
    assert batch[0].numpy().tolist() == list(range(10))
    assert len(loader) == 10
    loader.stats()


def test_threads_may_share_a_loader(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 1)
    iterator = iter(loader)
    seen: list[int] = []

    def consume() -> None:
        while (batch := next(iterator, None)) is not None:
            seen.append(int(batch[0].numpy()[0]))
            loader.state_dict()

    threads = [threading.Thread(target=consume) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(TINY_COUNT))


def thread_count() -> int:
    return len(os.listdir("/proc/self/task"))


def test_no_thread_starts_before_the_first_batch(tiny_file: pathlib.Path) -> None:
    gc.collect()
    before = thread_count()
    loader = tiny(tiny_file)
    iterator = iter(loader)
    loader.state_dict()
    assert thread_count() == before
    next(iterator)
    assert thread_count() > before


def test_the_stats_count_what_was_done(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10, prefetch=2)
    assert loader.stats().seconds == 0
    assert loader.stats().limit == ""
    kept = list(loader)
    assert loader.state_dict()["epoch"] == 1
    stats = settled(loader, images=TINY_COUNT + 20)  # two batches of the next epoch are ready
    row_bytes = 3 * 8 + 1 + 3 * 4 * 4 * 4
    assert stats.process.items == TINY_COUNT + 20
    assert stats.process.bytes == (TINY_COUNT + 20) * row_bytes
    starts = [loader.dataset.place(i).offset for i in range(TINY_COUNT)]
    ahead = stats.fetch.items - TINY_COUNT  # reads may be further ahead than batches
    assert ahead >= 20
    if ahead < TINY_COUNT:
        assert stats.fetch.bytes == tiny_file.stat().st_size + starts[ahead]
    assert stats.consumer.items == len(kept) == 10
    assert stats.consumer.bytes == TINY_COUNT * row_bytes
    assert stats.slots_lent == 10
    del kept
    assert loader.stats().slots_lent == 0
    assert stats.tolerated == 0
    assert stats.images["png"] >= TINY_COUNT
    assert sum(stats.images.values()) == stats.images["png"]
    assert stats.hints_refused == 0
    assert stats.limit in ("fetch", "process", "consumer")
    assert f"process=StageStats(busy_seconds={stats.process.busy_seconds:.3f}, " in repr(stats)


def test_the_stats_print_as_a_table(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10)
    assert "no batch yet" in str(loader.stats())
    batches = len(list(loader))
    stats = loader.stats()
    heads, *stages, whole, images = str(stats).splitlines()
    assert heads == "stage      busy, s  waits, s busy %      items         MB   queue"
    assert [line.split()[0] for line in stages] == ["fetch", "process", "consumer"]
    assert {len(line) for line in stages} == {len(heads)}
    assert stages[2].split()[4] == str(batches)
    assert f"limited by {stats.limit}, reads by " in whole
    assert images == "images: " + ", ".join(f"{n} {way}" for way, n in stats.images.items() if n)
    assert f"images={stats.images}" in repr(stats)
    assert f"{stats}" == str(stats) != repr(stats)
    assert stats._repr_html_() == f"<pre>{stats}</pre>"


def test_the_stats_are_a_dict_of_plain_values_too(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10)
    list(loader)
    stats = loader.stats()
    said = stats.as_dict()
    assert json.loads(json.dumps(said)) == said
    stages = {name: said[name] for name in ("fetch", "process", "consumer")}
    for values, of in ((said, stats), *((stages[name], getattr(stats, name)) for name in stages)):
        names = {name for name in dir(of) if not name.startswith("_")} - {"as_dict"}
        assert values.keys() == names
        assert {name: getattr(of, name) for name in names - stages.keys()} == {
            name: values[name] for name in names - stages.keys()
        }


def settled(loader: fr.Loader, images: int) -> fr.Stats:
    """The stats once this many images are ready; fails if there are more."""
    until = time.monotonic() + 60
    while (stats := loader.stats()).process.bytes < images * 217 and time.monotonic() < until:
        time.sleep(0.001)
    return stats


def test_the_times_of_the_stats_never_go_back(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10)

    def times() -> list[float]:
        stats = loader.stats()
        stages = (stats.fetch, stats.process, stats.consumer)
        each = [(stage.busy_seconds, stage.waiting_seconds) for stage in stages]
        return [stats.seconds, *itertools.chain(*each)]

    seen = [times()]
    for _ in itertools.chain(loader, loader):
        seen.append(times())
    for before, after in itertools.pairwise(seen):
        assert all(a >= b >= 0 for a, b in zip(after, before, strict=True))
    assert seen[-1][0] > 0
    assert all(seen[-1][stage] + seen[-1][stage + 1] > 0 for stage in (1, 3, 5))


def test_it_says_what_it_is(tiny_file: pathlib.Path) -> None:
    loader = tiny(tiny_file, 10, shuffle=True, seed=7, rank=1, world_size=4, threads=3)
    options = "batch_size 10, shuffled, seed 7, rank 1 of 4, 3 threads"
    data = repr(loader.dataset)
    assert repr(loader) == f"<fuelrail.Loader: {options}; not started; {data}>"
    next(iter(loader))
    assert repr(loader) == f"<fuelrail.Loader: {options}; started; {data}>"
    loader.close()
    assert repr(loader) == f"<fuelrail.Loader: {options}; closed; {data}>"
    found = tiny(tiny_file)
    assert re.search(
        r"in order, seed 0, rank looked up with the first batch, \d+ threads; ", repr(found)
    )
    len(found)
    assert re.search(r"in order, seed 0, rank 0 of 1, \d+ threads; ", repr(found))


# --- Errors -----------------------------------------------------------------------------------


def test_batches_beyond_all_memory_are_an_error_with_their_bytes_and_shapes(
    tiny_file: pathlib.Path,
) -> None:
    rows, side = 2**15, 2**15  # more memory than a process can address
    loader = fr.Loader(
        tiny_file, rows, transforms=[T.CenterCrop(side)], last_batch="pad", prefetch=1
    )
    with pytest.raises(MemoryError) as caught:
        next(iter(loader))
    assert isinstance(caught.value, fr.OutOfMemoryError)
    total = rows * (3 * side * side * 4 + 8)
    assert str(caught.value) == (
        f"there is not enough memory for the batches: expected {total} bytes for each of 3 batches "
        f"(`prefetch` + 2) of image float32 ({rows}, 3, {side}, {side}), label int64 ({rows},). "
        "Use a smaller `batch_size` or `prefetch`."
    )


def damaged(image: bytes) -> bytes:
    return image[: len(image) // 2]


def test_a_bad_record_is_an_error_in_place_of_its_batch(
    make_file: Callable[..., pathlib.Path],
) -> None:
    images = [encoded(photograph(i, 64, 64)) for i in range(20)]
    images[7] = damaged(images[7])
    file = make_file(images)
    loader = fr.Loader(file, 5, transforms=[T.CenterCrop(60)], fields=["id", "image"])
    iterator = iter(loader)
    assert next(iterator)[0].numpy().tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(fr.Error) as caught:
        next(iterator)
    assert isinstance(caught.value, (fr.DecodeError, fr.TruncatedError))
    assert caught.value.path == str(file)
    assert caught.value.record == 7
    assert caught.value.offset == fr.open(file).place(7).offset
    assert [batch[0].numpy().tolist()[0] for batch in iterator] == [10, 15]
    with pytest.raises(fr.Error, match="record 7"):
        list(loader)
