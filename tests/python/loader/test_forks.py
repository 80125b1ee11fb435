"""Forks before, in and after an iteration: the child's next call works or raises, and never hangs.

The parent continues unchanged. Each script runs in its own interpreter, and each of its children
has an alarm that ends a hang.
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
import copy, gc, os, pickle, signal, sys, threading, traceback
import fuelrail as fr

data = fr.open(sys.argv[1])

def make(**options):
    return fr.Loader(data, 10, **options_of(data), **options)

def ids(batches):
    return [i for batch in batches for i in ids_of(batch)]

def in_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, f"the child ended with {code}"
"""
)

# All uses of a loader that may involve its threads.
USES = """
def for_loop(loader, iterator):
    for batch in loader: break

USES = {
    "next": lambda loader, iterator: next(iterator),
    "iter": lambda loader, iterator: iter(loader),
    "for": for_loop,
    "state_dict": lambda loader, iterator: loader.state_dict(),
    "load_state_dict": lambda loader, iterator: loader.load_state_dict(state),
    "set_epoch": lambda loader, iterator: loader.set_epoch(3),
    "stats": lambda loader, iterator: loader.stats(),
    "bad_records": lambda loader, iterator: loader.bad_records,
    "pickle": lambda loader, iterator: pickle.dumps(loader),
    "copy": lambda loader, iterator: copy.copy(loader),
}
"""


EACH = pytest.mark.parametrize(
    ("source", "fed"),
    [("tiny_file", ""), ("tiny_file", "sampler=range(97)"), ("many_fields_file", "")],
    ids=["computed", "fed", "many fields"],
)


@EACH
def test_a_started_loader_raises_in_the_child_whatever_is_asked(
    python: Python, request: pytest.FixtureRequest, source: str, fed: str
) -> None:
    script = f"""
state = make({fed}).state_dict()
def started(steps):
    loader = make({fed})
    iterator = iter(loader)
    for _ in range(steps): next(iterator, None)
    return loader, iterator

for steps in (1, 5, 10, 11):  # after the first batch, in the middle, at the end, after it
    loader, iterator = started(steps)
    for name, use in USES.items():
        def work():
            try:
                use(loader, iterator)
            except fr.StateError as error:
                assert "process" in str(error), error
            except StopIteration:
                assert steps == 11  # that iterator had said so before the fork
            else:
                raise AssertionError(f"{{name}} after {{steps}} batches did not raise")
        in_child(work)
    assert ids(iterator) == list(range(10 * steps, 97))
    assert ids(loader) == list(range(97))
"""
    done = python(PRELUDE + USES + script, request.getfixturevalue(source))
    assert (done.returncode, done.stderr) == (0, "")


@EACH
def test_what_needs_no_threads_works_in_the_child_of_a_started_loader(
    python: Python, request: pytest.FixtureRequest, source: str, fed: str
) -> None:
    script = f"""
loader = make({fed})
iterator = iter(loader)
kept = [next(iterator), next(iterator)]
before = bits(kept)

def ask():
    assert len(loader) == 10
    assert "another process" in repr(loader)
    assert len(loader.dataset) == 97 and loader.dataset[7].id == 7
def close():
    loader.close()
    loader.close()
    try: next(iterator)
    except fr.StateError as error: assert "closed" in str(error)
def leave():
    with loader: pass
def forget():
    global loader, iterator
    del loader, iterator
    gc.collect()
def batches_stay():
    assert bits(kept) == before
    image = kept[0]["cameras"][0]["image"] if isinstance(kept[0], dict) else kept[0][1]
    image.numpy()[...] = 0  # the child's own copy
def batches_go():
    global loader, iterator
    del loader, iterator
    kept.clear()
    gc.collect()
def make_another():
    assert ids(make()) == list(range(97))
def fork_again():
    in_child(close)
    in_child(make_another)
def fork_another_loader():
    other = make()
    in_child(lambda: ids(other))
    assert ids(other) == list(range(97))
    in_child(batches_go)

for work in (ask, close, leave, forget, batches_stay, batches_go, make_another, fork_again,
             fork_another_loader):
    in_child(work)
assert bits(kept) == before
assert ids(iterator) == list(range(20, 97))
"""
    done = python(PRELUDE + script, request.getfixturevalue(source))
    assert (done.returncode, done.stderr) == (0, "")


@EACH
def test_a_loader_that_had_not_started_does_everything_in_the_child(
    python: Python, request: pytest.FixtureRequest, source: str, fed: str
) -> None:
    script = f"""
state = make({fed}).state_dict()
def untouched():
    loader = make({fed})
    return loader, iter(loader), 0
def named():
    loader = make({fed})
    loader.set_epoch(0)
    return loader, iter(loader), 0
def restored():
    first = make({fed})
    iterator = iter(first)
    for _ in range(4): next(iterator)
    loader = make({fed})
    loader.load_state_dict(first.state_dict())
    return loader, iter(loader), 40

for begun in (untouched, named, restored):
    for name, use in USES.items():
        loader, iterator, at = begun()
        in_child(lambda: use(loader, iterator))
        in_child(lambda: (use(loader, iterator), loader.close()))
        if name in ("next", "state_dict", "stats"):
            def rest():
                taken = [use(loader, iterator)] if name == "next" else []
                assert ids(taken + list(iterator)) == list(range(at, 97))
                in_child(lambda: loader.close())  # started here: a grandchild lets it be
                assert ids(loader) == list(range(97))
            in_child(rest)
    assert ids(iterator) == list(range(at, 97))
"""
    done = python(PRELUDE + USES + script, request.getfixturevalue(source))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_loader_stays_closed_in_the_child(python: Python, tiny_file: pathlib.Path) -> None:
    script = """
state = make().state_dict()
for steps in (0, 3):
    loader = make()
    iterator = iter(loader)
    for _ in range(steps): next(iterator)
    loader.close()
    def work():
        global loader, iterator
        for name, use in USES.items():
            if name in ("stats", "bad_records"): continue
            try: use(loader, iterator)
            except fr.StateError as error: assert "closed" in str(error), error
            else: raise AssertionError(name)
        loader.close()
        del loader, iterator
        gc.collect()
    in_child(work)
"""
    done = python(PRELUDE + USES + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("end", ["sys.exit(0)", "raise SystemExit(0)", "pass", "os._exit(0)"])
def test_a_child_ends_in_the_middle_of_the_parents_loop(
    python: Python, tiny_file: pathlib.Path, end: str
) -> None:
    script = f"""
loader = make(prefetch=4)
seen = []
for number, batch in enumerate(loader):
    seen += batch[0].numpy().tolist()
    if number % 3 == 0:
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            {end}
            break
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
else:
    assert seen == list(range(97))
"""
    done = python(PRELUDE + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fork_while_another_thread_waits_for_a_batch(
    python: Python, tiny_file: pathlib.Path
) -> None:
    script = """
state = make().state_dict()
gate, waiting = threading.Event(), threading.Event()

def order():  # the loop below waits in here
    yield from range(30)
    waiting.set()
    gate.wait()
    yield from range(30, 60)

loader = make(sampler=order(), prefetch=1)
seen = []
consumer = threading.Thread(target=lambda: seen.extend(ids(loader)))
consumer.start()
waiting.wait()

def work():
    for use in USES.values():
        try: use(loader, iter([None]))
        except fr.StateError: pass
    global seen
    loader.close()
    assert ids(make()) == list(range(97))
try: in_child(work)
finally: gate.set()
consumer.join()
assert seen == list(range(60))
"""
    done = python(PRELUDE + USES + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fork_at_any_moment_of_other_threads_uses_never_hangs(
    python: Python, tiny_file: pathlib.Path
) -> None:
    # A thread that is in a call at the fork does not exist in the child, where its locks stay held
    # forever.
    script = """
sys.setswitchinterval(1e-5)
stop = threading.Event()
now = [make()]

def hammer(start):
    while not stop.is_set():
        loader = now[0]
        try:
            loader.state_dict()
            loader.set_epoch(1)
            if start: next(iter(loader), None)
        except fr.StateError:
            pass

def work():
    loader = now[0]
    for use in (loader.state_dict, lambda: next(iter(loader)), loader.close):
        try: use()
        except fr.StateError: pass
    now[0] = None
    del loader
    gc.collect()

for start in (False, True):
    stop.clear()
    threads = [threading.Thread(target=hammer, args=(start,)) for _ in range(2)]
    for thread in threads: thread.start()
    for _ in range(20):
        now[0] = make(threads=2)
        in_child(work)
    stop.set()
    for thread in threads: thread.join()
"""
    done = python(PRELUDE + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_sampler_that_forks_does_not_hang(python: Python, tiny_file: pathlib.Path) -> None:
    script = """
def order():
    yield from range(5)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            for use in (lambda: next(iterator), loader.state_dict, loader.close):
                try: use()
                except (fr.StateError, ValueError): pass
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    yield from range(5, 20)

loader = make(sampler=order())
iterator = iter(loader)
assert ids(iterator) == list(range(20))
"""
    done = python(PRELUDE + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")
