"""Deleted loaders release all memory, and a loader in use does not grow.

Each script runs in its own interpreter, so that no other test uses its memory.
"""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Callable

import pytest

import many_fields

Python = Callable[..., "subprocess.CompletedProcess[str]"]

PRELUDE = (
    many_fields.FOR_SCRIPTS
    + """
import gc, itertools, os, sys
import fuelrail as fr

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
def threads(): return len(os.listdir("/proc/self/task"))
def files(): return len(os.listdir("/proc/self/fd"))
"""
)


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("tiny_file", "{'transforms': [fr.transforms.CenterCrop(64)]}"),
        ("many_fields_file", "OPTIONS"),
    ],
    ids=["images", "many fields"],
)
def test_200_abandoned_loaders_leave_no_thread_no_descriptor_and_no_memory(
    python: Python, request: pytest.FixtureRequest, source: str, options: str
) -> None:
    script = (
        f"options = {options}\n"
        + """
def unused(loader): pass
def begun(loader): iter(loader)
def left(loader): next(iter(loader))
def half(loader): list(itertools.islice(loader, 4))
def whole(loader): list(loader)
def closed(loader):
    with loader: next(iter(loader))
def in_a_cycle(loader):
    loader.itself = loader
    next(iter(loader))
def kept(loader):
    batch = next(iter(loader))
    del loader
    bits(batch)
def restored(loader):
    next(iter(loader))
    loader.load_state_dict(loader.state_dict())

ways = [unused, begun, left, half, whole, closed, in_a_cycle, kept, restored]
orders = [{}, {"shuffle": True}, {"shuffle": "window"}, {"weights": [1.0] * 97},
          {"sampler": range(97)}]

def cycle(number):
    loader = fr.Loader(sys.argv[1], 10, threads=3, prefetch=4, **options,
                       **orders[number % len(orders)])
    ways[number % len(ways)](loader)

def measured():
    gc.collect()
    return threads(), files(), resident()

for number in range(90): cycle(number)
before = measured()
for number in range(200): cycle(number)
after = measured()
print(before, after)
assert after[:2] == before[:2]
assert after[2] - before[2] < 4 << 20, (after[2] - before[2])
"""
    )
    done = python(PRELUDE + script, request.getfixturevalue(source))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_200_forgotten_pickles_capsules_and_datasets_leave_nothing(
    python: Python, tiny_file: pathlib.Path
) -> None:
    script = """
import pickle
loader = fr.Loader(sys.argv[1], 10, transforms=[fr.transforms.CenterCrop(64)])
batch = next(iter(loader))

def cycle():
    data = fr.open(sys.argv[1])
    data[3].decode()
    pickle.loads(pickle.dumps(fr.Loader(data, 10, fields=["id"])))
    for array in batch:
        array.__dlpack__()
        array.__dlpack__(max_version=(1, 0), copy=True)
        memoryview(array)[1:]
    try: array.__dlpack__(stream=1)
    except fr.InvalidArgumentError: pass
    data.subset(batch[1])

for _ in range(50): cycle()
gc.collect()
before = threads(), files(), resident()
for _ in range(200): cycle()
gc.collect()
after = threads(), files(), resident()
print(before, after)
assert after[:2] == before[:2]
assert after[2] - before[2] < 2 << 20, (after[2] - before[2])
"""
    done = python(PRELUDE + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize(
    "order", ["shuffle=True", "sampler=range(len(data))", "weights=[1.0] * 248"]
)
def test_memory_stays_flat_from_the_second_epoch_to_the_twentieth(
    python: Python, record_file: pathlib.Path, order: str
) -> None:
    script = f"""
data = fr.open(sys.argv[1]).subset(list(range(31)) * 8)
loader = fr.Loader(data, 32, {order}, threads=2, transforms=[
    fr.transforms.RandomResizedCrop(128), fr.transforms.HorizontalFlip()])
sizes = []
for epoch in range(20):
    for batch in loader: pass
    sizes.append(resident())
print([round(size / sizes[1], 4) for size in sizes])
assert 0.98 * sizes[1] <= min(sizes[1:]) and max(sizes[1:]) <= 1.02 * sizes[1], sizes
"""
    done = python(PRELUDE + script, record_file)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_memory_stays_bounded_over_epochs_of_many_fields(
    python: Python, many_fields_file: pathlib.Path
) -> None:
    """Each block grows to the largest batch that uses it, which takes some epochs."""
    script = """
data = fr.open(sys.argv[1]).subset(list(range(97)) * 4)
loader = fr.Loader(data, 32, shuffle=True, threads=2, **OPTIONS)
sizes = []
for epoch in range(20):
    for batch in loader: pass
    sizes.append(resident())
print([size - sizes[1] for size in sizes])
assert max(sizes) - sizes[1] < 4 << 20  # 18 epochs hand out 29 MiB
"""
    done = python(PRELUDE + script, many_fields_file)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
