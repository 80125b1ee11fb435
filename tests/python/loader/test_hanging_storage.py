"""With storage that hangs, Ctrl-C, `close` and the exit still end."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

import fuelrail as fr

PRELUDE = """
import atexit, contextlib, os, pathlib, signal, sys, threading, time
import fuelrail as fr
from fuelrail import closing, ffrecord
from fuelrail.mxnet.io import ImageRecordIter, InputSplit
root = pathlib.Path(sys.argv[1])
def hang():
    pathlib.Path(os.environ["HANGING_GATE"]).touch()
def go_on():
    pathlib.Path(os.environ["HANGING_GATE"]).unlink()
def split():
    return InputSplit.create(str(root / "x.rec"), 0, 1, "recordio")
def make(**options):
    return fr.Loader(root / "x.rec", 4, transforms=[fr.transforms.CenterCrop(4)],
                     read_backend="pread", **options)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("library") / "hanging.so"
    source = pathlib.Path(__file__).parents[1] / "support" / "hanging_storage.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


@pytest.fixture
def hanging(
    library: pathlib.Path, folder: pathlib.Path, tmp_path: pathlib.Path
) -> Iterator[Callable[[str], subprocess.CompletedProcess[str]]]:
    """Runs a script whose files hang from a chosen moment until the script ends."""
    root = tmp_path / "hanging"
    shutil.copytree(folder, root / "images")
    fr.pack(root / "images", root / "x.rec")
    fr.pack(root / "images", root / "x.ffr")
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "HANGING_PATH": str(root),
        "HANGING_GATE": str(tmp_path / "gate"),
    }

    def run(script: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", PRELUDE + script, str(root)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=50, check=False, env=environment
        )

    yield run
    (tmp_path / "gate").unlink(missing_ok=True)  # for processes left by a failed test


# All at once, each in its own forked child.
INTERRUPTED = """
out = root.parent / "out.rec"
signal.signal(signal.SIGALRM, signal.default_int_handler)
records, images = fr.open(root / "x.rec"), fr.open(root / "images")
reader, records_of = ffrecord.FileReader(root / "x.ffr"), split()
mxnet = {"path_imgrec": str(root / "x.rec"), "data_shape": (3, 8, 8), "batch_size": 4}
calls = {
    "open": lambda: fr.open(root / "x.rec"),
    "open a folder": lambda: fr.open(root / "images"),
    "sample": lambda: records[0],
    "sample of a folder": lambda: images[0],
    "fingerprint": lambda: images.fingerprint,
    "next": lambda: next(iter(make())),
    "pack": lambda: fr.pack(root / "images", out),
    "pack to": lambda: fr.pack(root / "x.rec", root / "y.rec"),
    "convert": lambda: fr.convert(root / "x.rec", out.with_name("out.ffr")),
    "merge": lambda: fr.merge(out.with_name("merged.rec"), [root / "x.rec"]),
    "FileReader": lambda: ffrecord.FileReader(root / "x.ffr"),
    "FileReader.read": lambda: reader.read([0, 2]),
    "FileReader.verify": lambda: reader.verify(),
    "InputSplit": lambda: split(),
    "InputSplit.next_record": lambda: records_of.next_record(),
    "ImageRecordIter": lambda: ImageRecordIter(**mxnet),
}
hang()
children = []
for name, call in calls.items():
    children.append(os.fork())
    if children[-1] == 0:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            call()
        except KeyboardInterrupt:
            os.write(1, name.encode() + b"\\n")
        os._exit(0)
for child in children:
    os.waitpid(child, 0)
"""


def test_ctrl_c_ends_every_call_that_waits_for_storage_that_hangs(
    hanging: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = hanging(INTERRUPTED)
    names = {line.split('"')[1] for line in INTERRUPTED.splitlines() if '": lambda' in line}
    assert set(done.stdout.splitlines()) == names, done.stderr


COMMANDS = """
from fuelrail import _core
file, out = str(root / "x.rec"), str(root.parent / "out")
commands = [
    ["info", file], ["ls", file], ["verify", file], ["index", file], ["cat", file, "0"],
    ["pack", str(root / "images"), out + ".rec"], ["convert", file, out + ".ffr"],
]
hang()
children = {}
for command in commands:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        os._exit(_core.cli_main(["fuelrail", *command]))
    children[child] = command[0]
for child, command in children.items():
    print(command, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_ctrl_c_ends_every_command_that_waits_for_storage_that_hangs(
    hanging: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = hanging(COMMANDS)
    codes = [line.split()[1] for line in done.stdout.splitlines()]
    assert codes == ["130"] * 7, (done.stdout, done.stderr)


def test_close_and_the_exit_end_beside_storage_that_hangs(
    hanging: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    script = """
def use(each):
    with contextlib.suppress(fr.StateError):
        next(iter(each))
atexit.unregister(closing._close_all)
atexit.register(lambda: print("in time" if time.monotonic() - begun < 4 * 0.7 else "one by one"))
atexit.register(closing._close_all)
loader, *left_open = (make(threads=1, read_threads=1) for _ in range(5))
hang()
for each in loader, *left_open:
    threading.Thread(target=use, args=[each], daemon=True).start()
    while each.stats().seconds < 0.05: pass
loader.close()
print("closed")
begun = time.monotonic()
"""
    done = hanging(script)
    assert (done.stdout, done.returncode, done.stderr) == ("closed\nin time\n", 0, "")


def test_what_was_left_behind_ends_when_storage_goes_on(
    hanging: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    """Its threads write into memory that they keep, then free it; interrupted calls continue."""
    script = """
def threads():
    return len(os.listdir("/proc/self/task"))
signal.signal(signal.SIGALRM, signal.default_int_handler)
data = fr.open(root / "x.rec")
loader, other, records = make(), make(), split()
iterator = iter(loader)
before = threads()
hang()
for call in lambda: data[0], lambda: next(iterator), records.next_record:
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        call()
    except KeyboardInterrupt:
        print("interrupted")
threading.Timer(0.1, other.close).start()
try:
    next(iter(other))
except fr.StateError:
    print("closed")
del other
go_on()
print(data[0].label, len(list(iterator)), len(list(records)))
loader.close()
records.close()
while threads() > before:
    time.sleep(0.01)
"""
    done = hanging(script)
    assert done.stdout.splitlines() == ["interrupted"] * 3 + ["closed", "0 8 31"], done.stderr
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stall_names_the_stage_and_the_file_and_the_loader_goes_on(
    hanging: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    script = """
folder = fr.Loader(root / "images", 4, transforms=[fr.transforms.CenterCrop(4)],
                   stall_timeout=0.1)
loader = make(stall_timeout=0.1)
iterators = [iter(loader), iter(folder)]
hang()
for iterator in iterators:
    try:
        next(iterator)
    except TimeoutError as error:
        print(f"{type(error).__name__}: {error}")
go_on()
def rest(iterator):
    count = 0
    while True:  # on a busy machine it may stall again
        try:
            next(iterator)
            count += 1
        except fr.StallError:
            continue
        except StopIteration:
            return count
print([rest(iterator) for iterator in iterators])
"""
    done = hanging(script)
    assert (done.returncode, done.stderr) == (0, "")
    read, looked, went_on = done.stdout.splitlines()
    assert "x.rec: offset 0: no batch arrived for 0.1 s: sample 0 is being read" in read
    assert (
        "000.jpg: no batch arrived for 0.1 s: the file size of sample 0 is being looked up"
        in looked
    )
    assert read.startswith("StallError: ")
    assert went_on == "[8, 8]"
