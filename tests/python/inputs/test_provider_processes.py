"""Worker processes: they start quickly, and end with whatever they belong to."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import fuelrail as fr
from fuelrail import fields as F
from python_datasets import Numbers, ProcessIds

SUPPORT = pathlib.Path(__file__).parents[1] / "support"
PATHS = os.pathsep.join([str(SUPPORT), *filter(None, [os.environ.get("PYTHONPATH")])])
PRELUDE = """
import os, signal, sys, threading, time
import fuelrail as fr
from fuelrail import fields as F
import python_datasets as given
"""


def started(
    script: str,
    tmp_path: pathlib.Path,
    *words: str,
    stdin: int | None = None,
    cwd: pathlib.Path | None = None,
) -> subprocess.Popen[str]:
    path = tmp_path / "script.py"
    path.write_text(PRELUDE + textwrap.dedent(script))
    environment = os.environ | {"PYTHONPATH": PATHS}
    return subprocess.Popen(
        [sys.executable, str(path), *words],
        env=environment, cwd=cwd, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(
    script: str, tmp_path: pathlib.Path, *words: str, cwd: pathlib.Path | None = None
) -> tuple[int, str, str]:
    process = started(script, tmp_path, *words, cwd=cwd)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def runs(process: int) -> bool:
    try:
        return ") Z " not in pathlib.Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


def wait_until(condition: object, seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.01)
    return False


def children_of(process: int) -> list[int]:
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended
            found += [int(child) for child in (task / "children").read_text().split()]
    return found


def test_a_class_of_the_program_needs_a_guard(tmp_path: pathlib.Path) -> None:
    code, _, err = run(
        """
        class Mine(given.Numbers):
            pass
        loader = fr.Loader(Mine(), 5)
        try:
            next(iter(loader))
        except fr.StateError as error:
            print(error, file=sys.stderr)
        """,
        tmp_path,
    )
    assert code == 0
    assert 'below `if __name__ == "__main__":`' in err
    assert len(err.splitlines()) == 1


def test_a_class_of_the_program_works_with_a_guard(tmp_path: pathlib.Path) -> None:
    code, out, err = run(
        """
        class Mine(given.Numbers):
            pass
        if __name__ == "__main__":
            for batch, in fr.Loader(Mine(), 10, fields=["number"]):
                print(batch.numpy().tolist())
        """,
        tmp_path,
    )
    assert (code, err) == (0, "")
    assert out.splitlines()[1] == str(list(range(10, 20)))


def test_a_module_that_loads_its_own_class_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "module.py").write_text(
        PRELUDE + "class Mine(given.Numbers):\n    pass\nnext(iter(fr.Loader(Mine(), 5)))\n"
    )
    code, _, err = run("import module", tmp_path)
    assert code == 1
    assert err.count("a worker cannot start: StateError: the program starts workers") == 1


def test_main_in_the_data_is_no_class_of_the_program(tmp_path: pathlib.Path) -> None:
    code, out, err = run(
        """
        mine = given.Numbers()
        mine.names = ["a/__main__.py", b"__main__"]
        data = fr.open_python(mine)
        print(next(iter(fr.Loader(data, 5, fields=["number"])))[0].numpy().tolist())
        """,
        tmp_path,
    )
    assert (code, out, err) == (0, "[0, 1, 2, 3, 4]\n", "")


def test_a_class_of_a_program_under_a_debugger_works(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        PRELUDE
        + "class Mine(given.Numbers):\n    pass\n"
        + 'if __name__ == "__main__":\n    print(len([*fr.Loader(Mine(), 10)]))\n'
    )
    environment = os.environ | {"PYTHONPATH": PATHS}
    done = subprocess.run(
        [sys.executable, "-m", "pdb", "-c", "continue", "-c", "quit", str(path)],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "\n2\n" in "\n" + done.stdout, done


def test_a_deleted_working_directory_is_no_obstacle(tmp_path: pathlib.Path) -> None:
    (tmp_path / "gone").mkdir()
    code, out, err = run(
        """
        import os
        os.chdir("gone")
        os.rmdir(os.getcwd())
        sys.path.insert(0, "")
        print(len([*fr.Loader(given.Numbers(), 10)]))
        """,
        tmp_path,
        cwd=tmp_path,
    )
    assert (code, out, err) == (0, "2\n", "")


def test_a_class_of_an_interactive_program_is_one_sentence() -> None:
    script = PRELUDE + textwrap.dedent(
        """
        class Mine(given.Numbers):
            pass
        try:
            next(iter(fr.Loader(Mine(), 10)))
        except fr.StateError as error:
            print(error)
        """
    )
    environment = os.environ | {"PYTHONPATH": PATHS}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert "define it in a module, or pass `workers=0`" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


HANGING = """
if __name__ == "__main__":
    data = fr.open_python(given.Numbers(at=3, do=given.hang), {"number": F.Label()})
    batches = iter(fr.Loader(data, 1))
    for _ in range(3):
        next(batches)
    try:
        print("hangs", flush=True)
        next(batches)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_dataset_that_hangs(tmp_path: pathlib.Path) -> None:
    process = started(HANGING, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "hangs\n"
    workers = children_of(process.pid)
    assert 1 <= len(workers) <= 2
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=20)
    assert time.monotonic() - began < 2  # a second, and the end of the interpreter
    assert (process.returncode, out, err) == (0, "interrupted\n", "")
    assert wait_until(lambda: not any(map(runs, workers)))


def test_close_ends_a_dataset_that_hangs(tmp_path: pathlib.Path) -> None:
    from python_datasets import hang

    begun = tmp_path / "begun"
    others = set(children_of(os.getpid()))
    # One worker hangs; the other one makes the samples before.
    hanging = Numbers(at=3, do=functools.partial(hang, begun))
    data = fr.open_python(hanging, {"number": F.Label()}, workers=2)
    loader = fr.Loader(data, 1)
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    assert wait_until(begun.exists)
    began = time.monotonic()
    loader.close()
    assert time.monotonic() - began < 1
    assert wait_until(lambda: len(set(children_of(os.getpid())) - others) < 2)
    assert data[1]["number"] == 1


LOADING = """
def load():
    data = fr.open_python(given.Numbers(60, bytes_=200_000), workers=2)
    for _ in range(1000):
        for _ in fr.Loader(data, 8, fields=["number"]):
            pass

# Programs are forked, because importing takes longer than what is tested.
if __name__ == "__main__":
    for _ in sys.stdin:
        program = os.fork()
        if program == 0:
            load()
            os._exit(0)
        print(program, flush=True)
        os.waitpid(program, 0)
"""


def test_nothing_is_left_if_the_program_is_killed(tmp_path: pathlib.Path) -> None:
    """At random moments: while it starts, loads, or ends."""
    moments = random.Random(3)
    starter = started(LOADING, tmp_path, stdin=subprocess.PIPE)
    assert starter.stdin is not None
    assert starter.stdout is not None
    for _ in range(20 if not os.environ.get("FUELRAIL_LONG") else 200):
        print("next", file=starter.stdin, flush=True)
        program = int(starter.stdout.readline())
        time.sleep(moments.uniform(0, 0.5))
        workers = children_of(program)
        os.kill(program, signal.SIGKILL)
        assert wait_until(lambda workers=workers: not any(map(runs, workers)))
    assert starter.communicate(timeout=20) == ("", "")
    assert starter.returncode == 0
    assert not [name for name in os.listdir("/dev/shm") if "fuelrail" in name]


def test_workers_end_with_the_dataset() -> None:
    data = fr.open_python(ProcessIds(), workers=1)
    worker = data[0]["process"]
    assert runs(worker)
    del data
    assert not runs(worker)


def test_a_dataset_works_in_a_forked_child() -> None:
    data = fr.open_python(ProcessIds(), workers=1)
    ours = data[0]["process"]
    loader = fr.Loader(data, 4, fields=["number", "process"])
    unused = fr.Loader(data, 4, fields=["process"])
    next(iter(loader))
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        said = []
        try:
            said.append(data[0]["process"] != ours)
            said.append(set(next(iter(unused))[0].numpy().tolist()) != {ours})
            next(iter(loader))
        except fr.StateError as error:
            said.append("Create the loader after the fork" in str(error))
        finally:
            os.write(sender, repr(said).encode())
            os._exit(0)
    os.close(sender)
    said = os.read(receiver, 1000)
    os.close(receiver)
    os.waitpid(child, 0)
    assert said == b"[True, True, True]"
    assert data[1]["process"] == ours


def test_a_dataset_without_workers_works_in_a_forked_child() -> None:
    begun, goes_on = threading.Event(), threading.Event()

    class Waiting(Numbers):
        def __getitem__(self, index: int) -> dict[str, object]:
            if index == 3:
                begun.set()
                goes_on.wait()
            return super().__getitem__(index)

    data = fr.open_python(Waiting(), {"number": F.Label()}, workers=0)
    thread = threading.Thread(target=data.__getitem__, args=(3,))
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if data[1]["number"] == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    goes_on.set()
    thread.join()


def test_the_first_batch_comes_soon(tmp_path: pathlib.Path) -> None:
    """Only that nothing waits for seconds: bench/inputs measures it."""
    began = time.monotonic()
    next(iter(fr.Loader(fr.open_python(Numbers(), {"number": F.Label()}), 4)))
    assert time.monotonic() - began < 10


def test_a_worker_imports_the_modules_of_the_program(tmp_path: pathlib.Path) -> None:
    (tmp_path / "beside.py").write_text(
        "class Ones:\n"
        "    def __len__(self):\n        return 5\n"
        "    def __getitem__(self, i):\n        return {'one': 1}\n"
    )
    code, out, err = run(
        """
        import pathlib
        sys.path[0] = os.path.relpath(sys.path[0])
        import beside
        sys.path += [pathlib.Path(), b"x", None]
        data = fr.open_python(beside.Ones())
        os.chdir("/")
        print(next(iter(fr.Loader(data, 5)))[0].numpy().sum())
        """,
        tmp_path,
    )
    assert (code, out, err) == (0, "5\n", "")


def test_a_class_of_the_program_works_in_its_spawned_child(tmp_path: pathlib.Path) -> None:
    code, out, err = run(
        """
        import multiprocessing
        class Mine(given.Numbers):
            pass
        def load():
            print(next(iter(fr.Loader(Mine(), 3, fields=["number"])))[0].numpy().tolist())
        if __name__ == "__main__":
            child = multiprocessing.get_context("spawn").Process(target=load)
            child.start()
            child.join()
        """,
        tmp_path,
    )
    assert (code, out, err) == (0, "[0, 1, 2]\n", "")


@pytest.mark.parametrize("mode", ["exit", "thread"])
def test_a_program_may_end_in_the_middle_of_an_epoch(tmp_path: pathlib.Path, mode: str) -> None:
    code, out, err = run(
        """
        def load():
            for batch, in fr.Loader(given.Numbers(1000), 2, fields=["number"]):
                pass
        if __name__ == "__main__":
            batches = iter(fr.Loader(given.Numbers(1000), 2))
            next(batches)
            if sys.argv[1] == "thread":
                threading.Thread(target=load, daemon=True).start()
                time.sleep(0.2)
            print("done")
        """,
        tmp_path,
        mode,
    )
    assert (code, out, err) == (0, "done\n", "")
