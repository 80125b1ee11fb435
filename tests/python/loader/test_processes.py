"""Interrupts, exits and forks, each in its own interpreter."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

import fuelrail as fr
import many_fields
from photographs import encoded, photograph

Python = Callable[..., "subprocess.CompletedProcess[str]"]

PRELUDE = """
import os, sys, threading, time
import fuelrail as fr
CROP = [fr.transforms.CenterCrop(4)]
def make(**options):
    return fr.Loader(sys.argv[1], 4, transforms=CROP, **options)
"""


def test_importing_is_light(python: Python) -> None:
    done = python(
        "import sys, fuelrail\n"
        "heavy = {'numpy', 'torch', 'PIL', 'asyncio', 'multiprocessing'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    assert done.returncode == 0, done.stderr


def test_loading_needs_no_numpy(python: Python, tiny_file: pathlib.Path) -> None:
    script = """
sys.modules["numpy"] = None  # cannot be imported
images, labels = next(iter(make()))
assert memoryview(images).shape == (4, 3, 4, 4)
assert memoryview(labels).tolist() == [fr.open(sys.argv[1])[i].label for i in range(4)]
"""
    done = python(PRELUDE + script, tiny_file)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "script",
    [
        "loader = make()\n",
        "iterator = iter(make())\nnext(iterator)\n",
        "loader = make(prefetch=1)\nfor batch in loader: break\n",
        "kept = list(make())\n",
        "loader = make()\nnext(iter(loader))\nloader.me = loader\n",
        "loader = make()\nnext(iter(loader))\nsys.exit(0)\n",
    ],
    ids=["unused", "iterator", "break", "kept", "cycle", "exit"],
)
def test_the_interpreter_exits_cleanly_beside_a_live_loader(
    python: Python, tiny_file: pathlib.Path, script: str
) -> None:
    done = python(PRELUDE + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")


# A thread that has to import NumPy stops in the middle of the import.
DAEMON = """
class Held:
    def find_spec(self, name, path, target=None):
        if name == "numpy" and threading.current_thread() is not threading.main_thread():
            started.set()
            threading.Event().wait()
sys.meta_path.insert(0, Held())
loader = make(fields=["index"])
def forever():
    while True:
        for index, in loader:
            index.numpy()
            started.set()
started = threading.Event()
thread = threading.Thread(target=forever, daemon=True)
thread.start()
started.wait()
"""
MXNET_DAEMON = """
from fuelrail.mxnet import io
def forever():
    while True:
        for batch in io.ImageRecordIter(path_imgrec=sys.argv[1], data_shape=(3, 8, 8), batch_size=4):
            started.set()
started = threading.Event()
threading.Thread(target=forever, daemon=True).start()
started.wait()
"""
NEW_LOADERS = """
def forever():
    while True:
        for batch in make(): started.set()
started = threading.Event()
for _ in range(4): threading.Thread(target=forever, daemon=True).start()
started.wait()
"""


@pytest.mark.parametrize(
    "script",
    [DAEMON, NEW_LOADERS, MXNET_DAEMON],
    ids=["in the loop", "new loaders", "mxnet"],
)
def test_a_daemon_thread_that_uses_a_loader_ends_with_the_exit_without_a_word(
    python: Python, tiny_file: pathlib.Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FUELRAIL_LEAK_WARNINGS")  # reports of objects in the thread's frames
    for _ in range(2):
        done = python(PRELUDE + script, tiny_file)
        assert (done.returncode, done.stderr) == (0, "")


def test_an_atexit_function_can_join_a_daemon_thread_that_uses_a_loader(
    python: Python, tiny_file: pathlib.Path
) -> None:
    """It was registered before fuelrail was imported, so it runs after the loaders were closed. A
    non-daemon thread gets an error.
    """
    joins = """
import atexit
@atexit.register
def join():
    thread.join()
    print("joined")
    if sys.version_info < (3, 12):  # which starts no thread any more
        other = threading.Thread(target=is_told)
        other.start()
        other.join()
    else:
        is_told()
def is_told():
    try:
        next(iter(loader))
    except fr.StateError:
        print("told")
"""
    done = python(
        joins + PRELUDE + DAEMON,
        tiny_file,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "joined\ntold\n", "")


@pytest.mark.parametrize(
    "call",
    [
        "fr.pack(sys.argv[1], sys.argv[2], progress=never_returns)",
        "np2rec(np.zeros((1, 4, 4)), [0], transforms=never_returns, output_path=sys.argv[2])",
    ],
)
def test_the_interpreter_exits_while_a_daemon_threads_call_runs_python(
    python: Python,
    folder: pathlib.Path,
    tmp_path: pathlib.Path,
    call: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CPython ends the thread by unwinding its stack, which has C++ frames."""
    monkeypatch.delenv("FUELRAIL_LEAK_WARNINGS")  # reports of objects in the thread's frames
    script = f"""
import numpy as np
from fuelrail.mxnet.im2rec import np2rec
def never_returns(*_):
    started.set()
    while True:
        pass
started = threading.Event()
threading.Thread(target=lambda: {call}, daemon=True).start()
started.wait()
"""
    done = python(PRELUDE + script, folder, tmp_path / "out.rec")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_child_forked_beside_a_daemon_thread_makes_arrays(
    python: Python, tiny_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FUELRAIL_LEAK_WARNINGS")  # reports of objects in the thread's frames
    script = """
child = os.fork()
if child == 0:
    assert len(next(iter(make()))[0].numpy()) == 4
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    done = python(PRELUDE + DAEMON + script, tiny_file)
    assert (done.returncode, done.stderr) == (0, "")


HELD = """
held = make()
next(iter(held))
threading.Thread(target=lambda held: threading.Event().wait(), args=[held], daemon=True).start()
"""


@pytest.mark.parametrize("asked", [False, True])
def test_what_a_daemon_thread_holds_at_the_exit_is_told_only_where_asked(
    python: Python, tiny_file: pathlib.Path, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All other tests request the report: without it, their empty output would prove nothing."""
    if not asked:
        monkeypatch.delenv("FUELRAIL_LEAK_WARNINGS")
    done = python(PRELUDE + HELD, tiny_file)
    assert (done.returncode, "leaked" in done.stderr) == (0, asked)
    assert asked or done.stderr == ""


def test_the_interpreter_exits_cleanly_beside_kept_batches_of_many_fields(
    python: Python, many_fields_file: pathlib.Path
) -> None:
    script = """
loader = fr.Loader(sys.argv[1], 4, **OPTIONS)
kept = list(loader)
for batch in loader: break
"""
    done = python(many_fields.FOR_SCRIPTS + PRELUDE + script, many_fields_file)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_exception_in_the_loop_leaves_no_hang(python: Python, tiny_file: pathlib.Path) -> None:
    done = python(PRELUDE + "for batch in make(): raise ValueError('mine')\n", tiny_file)
    assert done.returncode == 1
    assert "ValueError: mine" in done.stderr


SLOW = """
import signal, sys
import fuelrail as fr
loader = fr.Loader(fr.open(sys.argv[1]).subset([0] * 2000), 1000, threads=1, prefetch=1,
                   transforms=[fr.transforms.CenterCrop(4)])
iterator = iter(loader)
try:
    print("waiting", flush=True)
    next(iterator)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_the_wait_for_a_batch(
    make_file: Callable[..., pathlib.Path],
) -> None:
    # A thousand images of 9 million pixels in one thread: the batch takes half a minute.
    file = make_file([encoded(photograph(1, 3000, 3000), progressive=True)])
    command = [sys.executable, "-c", SLOW, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "waiting\n"
            child.send_signal(signal.SIGINT)
            output, _ = child.communicate(timeout=20)
        finally:
            child.kill()
    assert output == "interrupted\n"
    assert child.returncode == 0


def test_ctrl_c_ends_opening_and_leaves_no_sidecar(
    python: Python, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "out.rec"
    fr.pack(folder, file)
    sidecar = file.with_name("out.rec.frx")
    sidecar.unlink()
    # The signal comes outside of bytecode, so that only the opening can react to it.
    script = """
import ctypes, functools, operator, os, signal, sys
from fuelrail import _core
signal.signal(signal.SIGINT, signal.default_int_handler)
interrupt = functools.partial(getattr(ctypes.CDLL(None), "raise"), signal.SIGINT)
opening = functools.partial(_core.open_container, os.fsencode(sys.argv[1]), [])
try:
    list(map(operator.methodcaller("__call__"), [interrupt, opening]))
except KeyboardInterrupt:
    print("interrupted")
"""
    done = python(script, file)
    assert (done.stdout, done.returncode) == ("interrupted\n", 0), done.stderr
    assert not sidecar.exists()
    fr.open(file)
    assert sidecar.exists()


def test_ctrl_c_ends_the_look_at_every_file_of_a_folder(
    python: Python, folder: pathlib.Path
) -> None:
    script = """
import ctypes, functools, operator, os, signal, sys
from fuelrail import _core
import fuelrail as fr
signal.signal(signal.SIGINT, signal.default_int_handler)
interrupt = functools.partial(getattr(ctypes.CDLL(None), "raise"), signal.SIGINT)
data = fr.open(sys.argv[1])
loader = fr.Loader(data, 4, transforms=[fr.transforms.CenterCrop(8)])
for look in loader.state_dict, functools.partial(operator.attrgetter("fingerprint"), data):
    try:
        list(map(operator.methodcaller("__call__"), [interrupt, look]))
    except KeyboardInterrupt:
        print("interrupted")
assert data.fingerprint == loader.state_dict()["dataset"]
"""
    done = python(script, folder)
    assert (done.stdout, done.returncode) == ("interrupted\ninterrupted\n", 0), done.stderr


def test_ctrl_c_ends_packing_and_leaves_nothing(
    python: Python, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    script = """
import os, signal, sys
import fuelrail as fr
try:
    fr.pack(sys.argv[1], sys.argv[2], progress=lambda now: os.kill(os.getpid(), signal.SIGINT))
except KeyboardInterrupt:
    print("interrupted")
"""
    done = python(script, folder, tmp_path / "out.rec")
    assert (done.stdout, done.returncode) == ("interrupted\n", 0), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_forked_child_is_told_whose_threads_they_are(
    python: Python, folder: pathlib.Path
) -> None:
    script = """
import os, sys
import fuelrail as fr
loader = fr.Loader(sys.argv[1], 4, transforms=[fr.transforms.CenterCrop(8)])
next(iter(loader))
child = os.fork()
if child == 0:
    print(repr(loader).split("; ")[1], flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(repr(loader).split("; ")[1])
"""
    done = python(script, folder)
    assert done.stdout == "started in another process\nstarted\n", done.stderr
