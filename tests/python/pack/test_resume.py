"""Packing that is killed by SIGKILL and resumed."""

from __future__ import annotations

import logging
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import fuelrail as fr
from fuelrail.mxnet import im2rec

PACK = """
import sys, time
import fuelrail as fr
def slowly(progress):
    time.sleep(0.03)
fr.pack(sys.argv[1], sys.argv[2], resize=40, threads=1, resume=True, progress=slowly,
        nsplit=int(sys.argv[3]))
"""

IM2REC = """
import sys, time
import numpy as np
from fuelrail.mxnet import im2rec
def slowly(image):
    time.sleep(0.02)
    return np.ascontiguousarray(image[::2])
slowly.__module__ = "mine"
im2rec(sys.argv[1], slowly, {"root": sys.argv[3], "resume": True}, sys.argv[2])
"""

# With a fourth argument, it kills itself at the first progress call after that image.
PARTIAL = """
import functools, sys, time, warnings
import numpy as np
from fuelrail.mxnet import im2rec
warnings.simplefilter("error")  # starting over would warn
def flipped(image, axis):
    time.sleep(0.02)
    return np.flip(image, axis).copy()
def stop(progress):
    if len(sys.argv) > 4 and progress.done > 0:
        raise SystemExit(7)
params = {"root": sys.argv[3], "resume": True, "progress": stop}
im2rec(sys.argv[1], functools.partial(flipped, axis=0), params, sys.argv[2])
"""


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def killed_while_writing(code: str, out: pathlib.Path, *arguments: str) -> bool:
    """Runs code and kills it 0.1 s after its journal has grown."""
    journal = list(out.glob("*.journal.partial"))
    before = journal[0].stat().st_size if journal else 0
    process = subprocess.Popen([sys.executable, "-c", code, *arguments])
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        journals = list(out.glob("*.journal.partial"))
        if journals and journals[0].stat().st_size > before + 100:
            time.sleep(0.1)
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.01)
    return process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("nsplit", [1, 3])
@pytest.mark.parametrize("extension", ["rec", "ffr"])
def test_a_killed_pack_goes_on_to_the_same_bytes(
    nsplit: int, extension: str, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "once").mkdir()
    out = tmp_path / "killed"
    out.mkdir()
    name = f"x.{extension}"
    fr.pack(folder, tmp_path / "once" / name, resize=40, nsplit=nsplit)
    expected = contents(tmp_path / "once")
    arguments = (str(folder), str(out / name), str(nsplit))
    for _ in range(2):
        if not killed_while_writing(PACK, out, *arguments):
            break
        for made in (path for path in out.iterdir() if path.suffix == f".{extension}"):
            assert made.read_bytes() == expected[made.name]
    if contents(out) != expected:
        fr.pack(folder, out / name, resize=40, nsplit=nsplit, resume=True)
    assert contents(out) == expected


def halved(image: object) -> object:
    return image[::2].copy()  # type: ignore[index]


def test_a_killed_im2rec_with_a_function_goes_on(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    files = sorted(folder.glob("*/*.jpg"))
    rows = [f"{i}\t{i}\t{path.relative_to(folder)}\n" for i, path in enumerate(files)]
    (tmp_path / "x.lst").write_text("".join(rows))
    out = tmp_path / "out"
    out.mkdir()
    expected = im2rec(tmp_path / "x.lst", halved, {"root": folder}, tmp_path / "once.rec")
    arguments = (str(tmp_path / "x.lst"), str(out / "x.rec"), str(folder))
    killed_while_writing(IM2REC, out, *arguments)
    if not (out / "x.rec").exists():
        subprocess.run([sys.executable, "-c", IM2REC, *arguments], check=True)
    assert (out / "x.rec").read_bytes() == pathlib.Path(str(expected)).read_bytes()
    assert sorted(contents(out)) == ["x.idx", "x.rec", "x.rec.frx"]


def test_a_partial_function_is_the_same_in_the_next_process(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    files = sorted(folder.glob("*/*.jpg"))
    rows = [f"{i}\t{i}\t{path.relative_to(folder)}\n" for i, path in enumerate(files)]
    (tmp_path / "x.lst").write_text("".join(rows))
    arguments = (str(tmp_path / "x.lst"), str(tmp_path / "x.rec"), str(folder))
    code = [sys.executable, "-c", PARTIAL, *arguments]
    assert subprocess.run([*code, "stop"]).returncode == 7
    assert (tmp_path / "x.rec.journal.partial").exists()
    subprocess.run(code, check=True)
    assert len(fr.open(tmp_path / "x.rec")) == len(files)


def test_what_is_done_already_is_a_success_that_says_so(
    folder: pathlib.Path, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert not fr.pack(folder, tmp_path / "x.rec", resize=40, resume=True).files[0].was_there
    before = contents(tmp_path)
    report = fr.pack(folder, tmp_path / "x.rec", resize=40, resume=True)
    assert [file.was_there for file in report.files] == [True]
    with pytest.raises(fr.IoError, match=r"already.* found record 0, which differs") as error:
        fr.pack(folder, tmp_path / "x.rec", resize=39, resume=True)
    assert "overwrite" in str(error.value)
    assert contents(tmp_path) == before
    (tmp_path / "x.lst").write_text("".join(f"{i}\t0\tant/{i}.jpg\n" for i in range(4)))
    (tmp_path / "ant").mkdir()
    for i, path in enumerate(sorted(folder.glob("*/*.jpg"))[:4]):
        (tmp_path / "ant" / f"{i}.jpg").write_bytes(path.read_bytes())
    params = {"resume": True, "nsplit": 2}
    parts = im2rec(tmp_path / "x.lst", halved, params, tmp_path / "l.rec")
    with caplog.at_level(logging.INFO, "fuelrail.mxnet.im2rec"):
        assert im2rec(tmp_path / "x.lst", halved, params, tmp_path / "l.rec") == parts
    assert caplog.text.count("already exists and has the right contents") == 2


def test_other_options_begin_anew_with_a_word(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    def stop(progress: fr.PackProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fr.pack(folder, tmp_path / "x.rec", resume=True, progress=stop)
    assert {path.name for path in tmp_path.iterdir()} == {"x.rec.journal.partial", "x.rec.partial"}
    with pytest.warns(fr.FuelrailWarning, match="different options.*packing starts over"):
        fr.pack(folder, tmp_path / "x.rec", resize=40, resume=True)
    fr.pack(folder, tmp_path / "y.rec", resize=40)
    assert (tmp_path / "x.rec").read_bytes() == (tmp_path / "y.rec").read_bytes()
