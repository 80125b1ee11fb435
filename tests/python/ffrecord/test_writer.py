"""fuelrail.ffrecord.FileWriter and checkFsAlign."""

from __future__ import annotations

import array
import gc
import io
import os
import pathlib
import resource
import shutil
import signal
import stat
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ffrecord_files as files
import fuelrail as fr
from fuelrail.ffrecord import FileReader, FileWriter, checkFsAlign


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "a.ffr"


@pytest.mark.parametrize("known", [True, False])
def test_it_writes_what_the_format_says(path: pathlib.Path, known: bool) -> None:
    records = files.numbered(200)
    writer = FileWriter(path, len(records) if known else None)
    for i, record in enumerate(records):
        assert writer.count == i
        writer.write_one(record)
    writer.close()
    writer.close()
    assert path.read_bytes() == files.file_of(records)
    assert writer.n == (200 if known else None)


def test_what_the_original_wrote_is_written_again_byte_for_byte(path: pathlib.Path) -> None:
    for name in ("part0.ffr", "folder.ffr"):
        golden = FileReader(files.GOLDEN / name)
        with FileWriter(str(path), golden.n) as writer:
            for record in golden:
                writer.write_one(record)
        assert path.read_bytes() == (files.GOLDEN / name).read_bytes()


@pytest.mark.parametrize("known", [True, False])
def test_no_records_are_a_file_of_twelve_bytes(path: pathlib.Path, known: bool) -> None:
    FileWriter(path, 0 if known else None).close()
    assert path.stat().st_size == 12
    assert FileReader(path).n == 0


def test_wrong_arguments(tmp_path: pathlib.Path) -> None:
    for bad in (tmp_path / "a.rec", "", tmp_path):
        with pytest.raises(AssertionError):
            FileWriter(bad, 1)
    for bad in (3, None, b"a.ffr"):
        with pytest.raises(TypeError):
            FileWriter(bad, 1)
    for bad in ("3", 1.5, True):
        with pytest.raises(TypeError):
            FileWriter(tmp_path / "a.ffr", bad)
    for bad in (-1, 2**62, 2**70):
        with pytest.raises(ValueError, match=r"range|records"):
            FileWriter(tmp_path / "a.ffr", bad)
    with pytest.raises(RuntimeError) as caught:
        FileWriter(tmp_path / "none" / "a.ffr", 1)
    assert isinstance(caught.value, FileNotFoundError)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("bad", ["text", 3, [1, 2], None, np.array([{}])])
def test_what_has_no_bytes_is_a_type_error_and_writes_nothing(
    path: pathlib.Path, bad: object
) -> None:
    with FileWriter(path, 1) as writer:
        with pytest.raises(TypeError):
            writer.write_one(bad)
        assert writer.count == 0
        writer.write_one(b"x")
    assert path.read_bytes() == files.file_of([b"x"])


def test_a_field_may_be_named_as_the_letter_of_objects(path: pathlib.Path) -> None:
    fields = np.dtype([("Offset", "<i4"), ("O", "<f8")])
    array_of_fields = np.array([(1, 2.5), (3, 4.5)], fields)
    with FileWriter(path, 1) as writer:
        with pytest.raises(TypeError):
            writer.write_one(np.zeros(2, np.dtype([("a", "<i4"), ("b", "O")])))
        writer.write_one(array_of_fields)
    assert path.read_bytes() == files.file_of([array_of_fields.tobytes()])


def test_a_record_cannot_be_written_inside_another(path: pathlib.Path) -> None:
    class File(io.BytesIO):
        def readinto(self, into: object) -> int:
            with pytest.raises(RuntimeError, match="a record is being written"):
                writer.write_one(b"another thread's")
            return super().readinto(into)

    writer = FileWriter(path)
    writer.write_one(b"first")
    writer.write_file(File(b"second"))
    writer.write_one(b"third")
    writer.close()
    assert path.read_bytes() == files.file_of([b"first", b"second", b"third"])


def test_one_too_many_is_refused_and_the_file_can_be_closed(path: pathlib.Path) -> None:
    writer = FileWriter(path, 1)
    writer.write_one(b"one")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the file already has `n` records"):
            writer.write_one(b"two")
    writer.close()
    with pytest.raises(RuntimeError):
        writer.write_one(b"two")
    assert path.read_bytes() == files.file_of([b"one"])


def test_missing_records_are_an_error_and_can_still_be_written(path: pathlib.Path) -> None:
    writer = FileWriter(path, 2)
    writer.write_one(b"one")
    with pytest.raises(RuntimeError, match=r"records are missing.*expected 2, found 1"):
        writer.close()
    assert not path.exists()
    writer.write_one(b"two")
    writer.close()
    assert path.read_bytes() == files.file_of([b"one", b"two"])


def test_a_file_in_pieces(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    content = os.urandom(20 << 20)
    (tmp_path / "large").write_bytes(content)
    (tmp_path / "empty").write_bytes(b"")
    with FileWriter(path) as writer:
        for name in ("large", "empty"):
            with open(tmp_path / name, "rb") as file:
                writer.write_file(file)
        writer.write_one(b"last")
    assert path.read_bytes() == files.file_of([content, b"", b"last"])


def test_threads_may_write_at_once(path: pathlib.Path) -> None:
    with FileWriter(path) as writer:
        threads = [
            threading.Thread(
                target=lambda i=i: [writer.write_one(bytes([i]) * 999) for _ in range(50)]
            )
            for i in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    records = sorted(bytes(one) for one in FileReader(path))
    assert records == sorted(bytes([i]) * 999 for i in range(4) for _ in range(50))


def test_threads_together_write_no_more_than_announced(path: pathlib.Path) -> None:
    writer = FileWriter(path, 100)
    refused = []

    def write() -> None:
        for _ in range(40):
            try:
                writer.write_one(b"x" * 10_000)
            except fr.OutOfRangeError as error:
                refused.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (writer.count, len(refused)) == (100, 60)
    writer.close()
    assert writer.count == 100
    assert FileReader(path).n == 100


def test_a_file_that_does_not_wait_for_its_bytes_is_refused(path: pathlib.Path) -> None:
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    os.write(theirs, b"the beginning of it")
    with open(ours, "rb", buffering=0) as file:
        writer = FileWriter(path, 1)
        with pytest.raises(
            ValueError, match="a record cannot be read from a file in non-blocking mode"
        ):
            writer.write_file(file)
    os.close(theirs)
    assert os.listdir(path.parent) == []


def test_c2_1_the_file_has_its_name_only_when_it_is_complete(path: pathlib.Path) -> None:
    path.write_bytes(b"before")
    writer = FileWriter(path, 2)
    writer.write_one(b"one")
    assert path.read_bytes() == b"before"
    writer.write_one(b"two")
    assert path.read_bytes() == b"before"
    writer.close()
    assert path.read_bytes() == files.file_of([b"one", b"two"])
    assert os.listdir(path.parent) == ["a.ffr"]


def test_c2_1_a_killed_writer_leaves_the_old_file(path: pathlib.Path, python: Callable) -> None:
    path.write_bytes(files.file_of([b"old"]))
    script = """if True:
        import os, signal, sys
        from fuelrail.ffrecord import FileWriter
        writer = FileWriter(sys.argv[1], 3)
        for record in (b"a", b"b", b"c"): writer.write_one(record)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    assert python(script, path).returncode == -signal.SIGKILL
    assert bytes(FileReader(path)[0]) == b"old"
    with FileWriter(path, 1) as writer:
        writer.write_one(b"new")
    assert bytes(FileReader(path)[0]) == b"new"
    assert os.listdir(path.parent) == ["a.ffr"]


@pytest.mark.parametrize("n", [3, 1, None])
def test_c2_2_an_exception_inside_with_comes_through(path: pathlib.Path, n: int | None) -> None:
    def write() -> None:
        with FileWriter(path, n) as writer:
            writer.write_one(b"one")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write()
    assert os.listdir(path.parent) == []


def test_c2_2_nothing_is_left_while_the_exception_is_kept(path: pathlib.Path) -> None:
    """The traceback of the exception refers to the writer's frames."""

    class Breaking(io.RawIOBase):
        def readinto(self, piece: Any) -> int:
            raise OSError("broken")

    with pytest.raises(OSError, match="broken") as kept, FileWriter(path, 1) as writer:
        writer.write_file(Breaking())
    assert os.listdir(path.parent) == []
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(RuntimeError) as full, FileWriter(path) as writer:
            writer.write_one(bytes(4 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert isinstance(full.value, fr.IoError)
    assert os.listdir(path.parent) == []
    with FileWriter(path, 1) as again:
        again.write_one(b"one")
    assert kept.value.__traceback__ is not None
    assert path.read_bytes() == files.file_of([b"one"])


def test_a_memory_file_is_written_and_read() -> None:
    with FileWriter("memory://written.ffr") as writer:
        writer.write_one(b"one")
    assert bytes(FileReader("memory://written.ffr")[0]) == b"one"


def test_c2_2_an_unfinished_writer_is_discarded_with_a_warning(path: pathlib.Path) -> None:
    for n in (2, None):
        writer = FileWriter(path, n)
        writer.write_one(b"one")
        with pytest.warns(ResourceWarning, match="not closed"):
            del writer
        assert os.listdir(path.parent) == []


def test_c2_2_a_complete_writer_that_is_dropped_is_finished(path: pathlib.Path) -> None:
    writer = FileWriter(path, 1)
    writer.write_one(b"one")
    del writer
    gc.collect()
    assert path.read_bytes() == files.file_of([b"one"])


def test_c2_2_a_dropped_writer_that_cannot_be_finished_warns(tmp_path: pathlib.Path) -> None:
    (tmp_path / "gone").mkdir()
    writer = FileWriter(tmp_path / "gone" / "a.ffr", 1)
    writer.write_one(b"one")
    shutil.rmtree(tmp_path / "gone")
    with pytest.warns(fr.FuelrailWarning, match=r"its records are lost: .*a\.ffr"):
        del writer


def test_c2_2_a_process_that_ends_with_an_unfinished_writer_ends_as_usual(
    path: pathlib.Path, python: Callable
) -> None:
    script = """if True:
        import sys, warnings
        from fuelrail.ffrecord import FileWriter
        warnings.simplefilter("ignore")
        complete = FileWriter(sys.argv[1], 1)
        complete.write_one(b"one")
        short = FileWriter(sys.argv[2], 2)
        try: short.close()
        except RuntimeError: pass
    """
    done = python(script, path, path.with_name("b.ffr"))
    assert done.returncode == 0, done.stderr
    assert os.listdir(path.parent) == ["a.ffr"]
    assert bytes(FileReader(path)[0]) == b"one"


def test_c2_2_a_forked_child_that_ends_leaves_the_parents_file_alone(path: pathlib.Path) -> None:
    writer = FileWriter(path, 1)
    writer.write_one(b"one")
    child = os.fork()
    if child == 0:
        del writer
        gc.collect()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    writer.close()
    assert path.read_bytes() == files.file_of([b"one"])


@pytest.mark.parametrize("how", ["write", "close", "with", "drop"])
def test_c2_6_a_child_forked_while_a_thread_writes_never_waits_for_it(
    path: pathlib.Path, how: str
) -> None:
    writer = FileWriter(path)
    block = np.zeros(32 << 20, np.uint8)
    stop = threading.Event()
    written = 0

    def write() -> None:
        nonlocal written
        while not stop.is_set():
            writer.write_one(block)
            written += 1

    def leave_with() -> None:
        with writer:
            pass

    use = {
        "write": lambda: writer.write_one(b"one"),
        "close": writer.close,
        "with": leave_with,
        "drop": writer.discard,
    }[how]

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(4):
            time.sleep(0.005)
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    if how == "drop":
                        use()
                    else:
                        with pytest.raises(fr.StateError, match="by the parent process"):
                            use()
                    gc.collect()
                    code = 0
                finally:
                    os._exit(code)
            assert exit_code(child) == 0
    finally:
        stop.set()
        thread.join()
    writer.close()
    assert FileReader(path).n == written
    assert FileReader(path).verify() == []


def exit_code(child: int, seconds: float = 60) -> int | None:
    """The exit code of a child; None if the child hangs, and is killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def buffers() -> dict[str, tuple[object, bytes]]:
    grid = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    return {
        "bytes": (b"abc", b"abc"),
        "bytearray": (bytearray(b"abc"), b"abc"),
        "memoryview": (memoryview(b"abcdef")[::2], b"ace"),
        "array": (array.array("H", [1, 258]), b"\1\0\2\1"),
        "2-D bytes": (np.arange(6, dtype=np.uint8).reshape(2, 3), bytes(range(6))),
        "typed": (np.arange(6, dtype=np.int32), np.arange(6, dtype=np.int32).tobytes()),
        "n-D": (grid, grid.tobytes()),
        "strided": (grid[:, ::2, 1:], grid[:, ::2, 1:].tobytes()),
        "backwards": (grid[::-1], grid[::-1].tobytes()),
        "Fortran": (np.asfortranarray(grid), grid.tobytes()),
        "transposed": (grid.T, grid.T.tobytes()),
        "0-D": (np.array(7, np.uint16), b"\7\0"),
        "scalar": (np.float32(1.5), np.float32(1.5).tobytes()),
        "empty": (np.zeros((0, 3)), b""),
        "read-only": (np.frombuffer(b"abc", np.uint8), b"abc"),
        "structured": (np.zeros(2, [("a", "u1"), ("b", "f8")]), bytes(18)),
    }


@pytest.mark.parametrize("kind", buffers())
def test_c2_8_any_buffer_is_written_whole(path: pathlib.Path, kind: str) -> None:
    value, expected = buffers()[kind]
    with FileWriter(path, 1) as writer:
        writer.write_one(value)
    assert path.read_bytes() == files.file_of([expected])


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000])
def test_c2_11_the_files_mode_is_what_the_umask_leaves(path: pathlib.Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        FileWriter(path, 0).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_c2_12_an_unknown_number_of_records(path: pathlib.Path) -> None:
    records = files.numbered(3000, 5000)
    with FileWriter(path) as writer:
        for record in records:
            writer.write_one(record)
    assert path.read_bytes() == files.file_of(records)


def test_the_file_system_of_a_temporary_file_does_not_align() -> None:
    with tempfile.TemporaryFile() as file:
        assert checkFsAlign(file.fileno()) is False
        assert checkFsAlign(file) is False


def test_errors_are_of_the_family(path: pathlib.Path) -> None:
    with pytest.raises(fr.Error):
        FileWriter(path.with_suffix(".rec"), 1)


def test_the_file_lies_where_it_was_begun(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    writer = FileWriter("here.ffr", 1)
    writer.write_one(b"x")
    monkeypatch.chdir("other")
    writer.close()
    assert sorted(os.listdir(tmp_path)) == ["here.ffr", "other"]
    assert os.listdir(tmp_path / "other") == []


@pytest.mark.parametrize("text", [False, True])
def test_what_is_no_file_is_refused_and_the_writer_goes_on(path: pathlib.Path, text: bool) -> None:
    with FileWriter(path) as writer:
        writer.write_one(b"x")
        with open(__file__) as file, pytest.raises(TypeError, match="reading in binary mode"):
            writer.write_file(file if text else __file__)
        writer.write_one(b"y")
    assert [bytes(record) for record in FileReader(path)] == [b"x", b"y"]
