"""fuelrail.mxnet.recordio: record files and their indices."""

from __future__ import annotations

import copy
import gc
import os
import pathlib
import pickle
import random
import re
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.mxnet import recordio
from fuelrail.mxnet.io import InputSplit
from fuelrail.mxnet.recordio import IRHeader, MXIndexedRecordIO, MXRecordIO

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "mxnet"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(records: list[bytes], name: str = "a.rec") -> str:
    with MXRecordIO(name, "w") as writer:
        for record in records:
            writer.write(record)
    return name


def write_indexed(records: list[bytes], stem: str = "a") -> tuple[str, str]:
    writer = MXIndexedRecordIO(f"{stem}.idx", f"{stem}.rec", "w")
    for i, record in enumerate(records):
        writer.write_idx(i, record)
    writer.close()
    return f"{stem}.idx", f"{stem}.rec"


def rest_of(reader: MXRecordIO) -> list[bytes]:
    records = []
    while (record := reader.read()) is not None:
        records.append(record)
    return records


def child_says(work: Callable[[], str]) -> str:
    """The result or the error of `work` in a forked child."""
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
        pid = os.fork()
    if pid == 0:
        try:
            said = work()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write_end, said.encode())
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(pid, 0)
    return said


# MXNet's own tests (tests/python/unittest/test_recordio.py), rewritten.


def test_records_come_back_in_their_order() -> None:
    records = [chr(i).encode() for i in range(255)]
    write(records)
    reader = MXRecordIO("a.rec", "r")
    assert [reader.read() for _ in records] == records
    assert reader.read() is None
    assert reader.read() is None


def test_records_come_back_by_key_in_any_order() -> None:
    records = [chr(i).encode() for i in range(255)]
    reader = MXIndexedRecordIO(*write_indexed(records), "r")
    keys = list(reader.keys)
    assert sorted(keys) == list(range(255))
    random.Random(1).shuffle(keys)
    for key in keys:
        assert reader.read_idx(key) == records[key]


def test_labels_and_contents_of_all_sizes_come_back() -> None:
    generator = np.random.default_rng(0)
    for size in range(255):
        content = generator.bytes(size)
        labels = generator.random(254 - size + 1, dtype=np.float32)
        header, back = recordio.unpack(recordio.pack(IRHeader(0, labels, 7, 0), content))
        assert back == content
        assert np.array_equal(header.label, labels)
        assert header.flag == len(labels)


# Record files.


def test_the_bytes_are_those_of_the_format() -> None:
    magic = bytes.fromhex("0a23d7ce")
    write([b"", b"a", b"abcd" + magic + b"ef"])
    assert pathlib.Path("a.rec").read_bytes().hex() == (
        "0a23d7ce00000000" + "0a23d7ce0100000061000000" + "0a23d7ce0400002061626364"
        "0a23d7ce0200006065660000"
    )
    assert rest_of(MXRecordIO("a.rec", "r")) == [b"", b"a", b"abcd" + magic + b"ef"]


def test_tell_counts_as_the_documentation_says() -> None:
    writer = MXIndexedRecordIO("a.idx", "a.rec", "w")
    told = [writer.tell()]
    for i in range(5):
        writer.write_idx(i, b"record_%d" % i)
        told.append(writer.tell())
    writer.close()
    assert told == [0, 16, 32, 48, 64, 80]
    assert pathlib.Path("a.idx").read_text() == "0\t0\n1\t16\n2\t32\n3\t48\n4\t64\n"


def test_what_mxnet_wrote_is_read() -> None:
    reader = MXIndexedRecordIO(GOLDEN / "small.idx", GOLDEN / "small.rec", "r")
    assert reader.keys == list(range(10))
    for i in reader.keys:
        header, content = recordio.unpack(reader.read_idx(i))
        assert (header.flag, header.label, header.id) == (0, float(i), 100 + 3 * i)
        assert content[:3] in (b"\xff\xd8\xff", b"\x89PN")


def test_what_is_written_again_is_byte_for_byte_mxnets() -> None:
    for stem in ("small", "multilabel", "det", "codec"):
        source = MXIndexedRecordIO(GOLDEN / f"{stem}.idx", GOLDEN / f"{stem}.rec", "r")
        copied = MXIndexedRecordIO("b.idx", "b.rec", "w")
        for key in source.keys:
            header, content = recordio.unpack(source.read_idx(key))
            copied.write_idx(key, recordio.pack(header, content))
        copied.close()
        for end in ("rec", "idx"):
            assert pathlib.Path(f"b.{end}").read_bytes() == (GOLDEN / f"{stem}.{end}").read_bytes()


def test_there_is_nothing_but_reading_and_writing() -> None:
    for flag in ("a", "rb", "", None):
        with pytest.raises(ValueError, match="flag"):
            MXRecordIO("a.rec", flag)  # type: ignore[arg-type]
    assert os.listdir() == []


def test_the_wrong_call_says_what_is_wrong() -> None:
    index, file = write_indexed([b"a"])
    reader = MXIndexedRecordIO(index, file, "r")
    with pytest.raises(fr.StateError, match="a reader cannot write"):
        reader.write(b"")
    with pytest.raises(fr.StateError, match="a reader cannot write"):
        reader.write_idx(1, b"")
    with pytest.raises(fr.StateError, match="a reader cannot write"):
        reader.tell()
    writer = MXIndexedRecordIO("b.idx", "b.rec", "w")
    with pytest.raises(fr.StateError, match="a writer cannot read"):
        writer.read()
    with pytest.raises(fr.StateError, match="a writer cannot read"):
        writer.read_idx(0)
    with pytest.raises(fr.StateError, match="a writer cannot read"):
        writer.seek(0)
    with pytest.raises(fr.StateError, match="the writer is already open"):
        writer.open()
    with pytest.raises(TypeError, match="the record has the wrong type"):
        writer.write("text")  # type: ignore[arg-type]
    writer.close()


def test_after_close_nothing_is_read_or_written() -> None:
    reader = MXRecordIO(write([b"a", b"b"]), "r")
    assert reader.is_open
    reader.close()
    reader.close()
    assert not reader.is_open
    with pytest.raises(RuntimeError, match="closed"):
        reader.read()
    reader.open()
    assert reader.read() == b"a"
    writer = MXRecordIO("b.rec", "w")
    writer.close()
    writer.close()
    with pytest.raises(RuntimeError, match="closed"):
        writer.write(b"")


def test_opened_again_a_reader_begins_anew() -> None:
    reader = MXRecordIO(write([b"a", b"b"]), "r")
    assert rest_of(reader) == [b"a", b"b"]
    reader.reset()
    assert rest_of(reader) == [b"a", b"b"]
    reader.open()
    assert rest_of(reader) == [b"a", b"b"]


def test_a_writer_cannot_be_reset() -> None:
    writer = MXRecordIO("a.rec", "w")
    writer.write(b"a")
    with pytest.raises(fr.StateError, match="would be lost"):
        writer.reset()
    writer.write(b"b")
    writer.close()
    assert rest_of(MXRecordIO("a.rec", "r")) == [b"a", b"b"]


def test_a_file_has_its_name_when_it_is_closed() -> None:
    write([b"before"])
    writer = MXIndexedRecordIO("a.idx", "a.rec", "w")
    writer.write_idx(0, b"after")
    assert rest_of(MXRecordIO("a.rec", "r")) == [b"before"]
    assert not os.path.exists("a.idx")
    writer.close()
    assert rest_of(MXRecordIO("a.rec", "r")) == [b"after"]
    assert sorted(os.listdir()) == ["a.idx", "a.rec"]


def test_the_last_reference_closes_a_writer() -> None:
    writer = MXIndexedRecordIO("a.idx", "a.rec", "w")
    writer.write_idx(0, b"a")
    del writer
    gc.collect()
    assert MXIndexedRecordIO("a.idx", "a.rec", "r").read_idx(0) == b"a"


# The program's files are limited to 100,000 bytes, like a full disk.
FULL = """
import resource, signal
from fuelrail.mxnet.recordio import MXIndexedRecordIO
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
"""


def test_a_writer_that_has_said_the_disk_is_full_says_nothing_at_its_end(
    python: Callable[..., Any],
) -> None:
    program = """
def written(name):
    writer = MXIndexedRecordIO(name + ".idx", name + ".rec", "w")
    try:
        while True:
            writer.write_idx(0, bytes(100000))
    except OSError:
        return writer
written("a")  # ends here
kept = written("b")  # at the program's end
"""
    run = python(FULL + program, cwd=os.getcwd())
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert os.listdir() == []


def test_a_writer_whose_last_reference_finds_the_disk_full_warns(
    python: Callable[..., Any],
) -> None:
    program = """
import warnings
warnings.simplefilter("default")
writer = MXIndexedRecordIO("a.idx", "a.rec", "w")
for _ in range(4):
    writer.write_idx(0, bytes(50000))
del writer
"""
    run = python(FULL + program, cwd=os.getcwd())
    assert run.returncode == 0, run.stderr
    assert "FuelrailWarning: the writer was not closed, and its records are lost: " in run.stderr
    assert "a.rec: offset 1" in run.stderr
    assert "Exception ignored" not in run.stderr
    assert os.listdir() == []


def test_a_program_that_never_closes_has_its_file(python: Callable[..., Any]) -> None:
    run = python(
        "from fuelrail.mxnet import recordio\n"
        "writer = recordio.MXIndexedRecordIO('a.idx', 'a.rec', 'w')\n"
        "writer.write_idx(3, b'kept')\n",
        cwd=os.getcwd(),
    )
    assert run.returncode == 0, run.stderr
    assert MXIndexedRecordIO("a.idx", "a.rec", "r").read_idx(3) == b"kept"


def test_a_file_that_fails_at_the_programs_end_does_not_cost_the_others(
    python: Callable[..., Any],
) -> None:
    run = python(
        "import os, shutil\n"
        "from fuelrail.mxnet import recordio\n"
        "writers = []\n"
        "for i in range(8):\n"
        "    os.mkdir(f'{i}')\n"
        "    writers.append(recordio.MXRecordIO(f'{i}/x.rec', 'w'))\n"
        "    writers[-1].write(b'kept')\n"
        "for i in range(0, 8, 2):\n"
        "    shutil.rmtree(f'{i}')\n",
        cwd=os.getcwd(),
    )
    assert "x.rec: no such file" in run.stderr
    for i in range(1, 8, 2):
        assert MXRecordIO(f"{i}/x.rec", "r").read() == b"kept"


def test_an_exception_inside_with_leaves_the_file_before() -> None:
    write([b"before"])

    def fail() -> None:
        with MXRecordIO("a.rec", "w") as writer:
            writer.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert rest_of(MXRecordIO("a.rec", "r")) == [b"before"]
    assert os.listdir() == ["a.rec"]


def test_the_file_goes_where_it_was_begun() -> None:
    writer = MXIndexedRecordIO("a.idx", "a.rec", "w")
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    writer.close()
    assert sorted(os.listdir("..")) == ["a.idx", "a.rec", "elsewhere"]


def test_a_sidecar_of_the_file_before_goes() -> None:
    write([b"before"])
    fr.open("a.rec")
    assert os.path.exists("a.rec.frx")
    write([b"after", b"it"])
    assert not os.path.exists("a.rec.frx")
    assert fr.open("a.rec")[1].data == b"it"


def test_an_index_that_was_cut_at_a_lines_end_is_held_against_the_sidecar(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with MXIndexedRecordIO("a.idx", "a.rec", "w") as writer:
        for i in range(10):
            writer.write_idx(i, bytes([i]))
    fr.open("a.rec")  # writes a sidecar
    lines = pathlib.Path("a.idx").read_text().splitlines(keepends=True)
    pathlib.Path("a.idx").write_text("".join(lines[:7]))
    pathlib.Path("first.idx").write_text("".join(lines[:7]))  # which may be meant so
    ends = (
        r"a\.idx: the index has fewer entries than the file has records: expected 10, "
        "found 7"
    )
    with pytest.raises(fr.TruncatedError, match=ends):
        MXIndexedRecordIO("a.idx", "a.rec", "r")
    with pytest.raises(fr.TruncatedError, match=ends):
        MXIndexedRecordIO(os.path.abspath("a.idx"), "./a.rec", "r")
    with pytest.raises(fr.TruncatedError, match=ends):
        InputSplit("a.rec", type="indexed_recordio", index_uri="a.idx")
    assert fr._core.cli_main(["fuelrail", "verify", "a.rec"]) == 1
    assert re.search(ends, capfd.readouterr().out)
    assert fr._core.cli_main(["fuelrail", "verify", "a.rec", "--sidecar", "ignore"]) == 0
    assert MXIndexedRecordIO("first.idx", "a.rec", "r").keys == [*range(7)]
    assert len(list(InputSplit("a.rec", type="indexed_recordio", index_uri="first.idx"))) == 10
    os.unlink("a.rec.frx")
    assert MXIndexedRecordIO("a.idx", "a.rec", "r").keys == [*range(7)]


def test_memory_is_a_file_system_too() -> None:
    writer = MXIndexedRecordIO("memory://recordio.idx", "memory://recordio.rec", "w")
    writer.write_idx(5, b"a")
    writer.close()
    assert (
        MXIndexedRecordIO("memory://recordio.idx", "memory://recordio.rec", "r").read_idx(5) == b"a"
    )


@pytest.mark.parametrize("scheme", ["s3", "hdfs"])
def test_a_file_system_that_there_is_not_is_named(scheme: str) -> None:
    for flag in ("r", "w"):
        with pytest.raises(fr.UnsupportedError, match=scheme):
            MXRecordIO(f"{scheme}://bucket/a.rec", flag)


def test_a_missing_file_or_folder_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.rec"):
        MXRecordIO("none.rec", "r")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        MXRecordIO("nowhere/a.rec", "w")
    write([b"a"])
    with pytest.raises(FileNotFoundError, match=r"none\.idx"):
        MXIndexedRecordIO("none.idx", "a.rec", "r")


def test_damage_is_named_with_its_place() -> None:
    write([b"0123456789", b"0123456789"])
    whole = pathlib.Path("a.rec").read_bytes()
    pathlib.Path("cut.rec").write_bytes(whole[:-4])
    reader = MXRecordIO("cut.rec", "r")
    assert reader.read() == b"0123456789"
    for _ in range(2):
        with pytest.raises(fr.TruncatedError, match=r"cut\.rec: offset 20"):
            reader.read()
    pathlib.Path("bad.rec").write_bytes(whole[:20] + b"\0" + whole[21:])
    reader = MXRecordIO("bad.rec", "r")
    reader.read()
    with pytest.raises(fr.CorruptError, match=r"bad\.rec: offset 20"):
        reader.read()


# The index.


def test_reading_by_key_goes_on_behind_it() -> None:
    reader = MXIndexedRecordIO(*write_indexed([b"a", b"b", b"c"]), "r")
    assert reader.read_idx(1) == b"b"
    assert reader.read() == b"c"
    assert reader.read() is None
    assert reader.read_idx(0) == b"a"
    reader.seek(2)
    assert reader.read() == b"c"


def test_records_longer_than_a_block_are_read_by_key() -> None:
    records = [bytes([i]) * size for i, size in enumerate((5, 70_000, 5_000_000, 0, 65_536))]
    reader = MXIndexedRecordIO(*write_indexed(records), "r")
    for key in (2, 4, 0, 1, 3, 2):
        assert reader.read_idx(key) == records[key]


def test_of_a_key_that_comes_twice_the_last_counts() -> None:
    writer = MXIndexedRecordIO("a.idx", "a.rec", "w")
    writer.write_idx(1, b"1")
    writer.write_idx(1, b"2")
    assert (writer.keys, writer.idx) == ([1, 1], {1: 12})
    writer.close()
    reader = MXIndexedRecordIO("a.idx", "a.rec", "r")
    assert (reader.keys, reader.idx) == ([1, 1], {1: 12})
    assert reader.read_idx(1) == b"2"


def test_keys_may_be_text() -> None:
    writer = MXIndexedRecordIO("a.idx", "a.rec", "w", key_type=str)
    writer.write_idx("a b", b"1")
    writer.write_idx("über", b"2")
    for bad in ("", " a", "a\t", "a\nb"):
        with pytest.raises(ValueError, match="the index key is invalid"):
            writer.write_idx(bad, b"never")
    writer.close()
    assert pathlib.Path("a.idx").read_text() == "a b\t0\nüber\t12\n"
    reader = MXIndexedRecordIO("a.idx", "a.rec", "r", key_type=str)
    assert reader.keys == ["a b", "über"]
    assert reader.read_idx("über") == b"2"
    assert reader.read() is None
    with pytest.raises(fr.CorruptError, match="`key_type` cannot convert the key of entry 0"):
        MXIndexedRecordIO("a.idx", "a.rec", "r")


def test_a_key_that_is_not_there_is_a_key_error() -> None:
    reader = MXIndexedRecordIO(*write_indexed([b"a"]), "r")
    for key in (99, "0", [0]):
        with pytest.raises(KeyError) as raised:
            reader.read_idx(key)
        assert str(raised.value).startswith("a.idx: the key does not exist in the index")
        assert isinstance(raised.value, recordio.UnknownKeyError)


def test_records_without_a_key_may_stand_between() -> None:
    writer = MXIndexedRecordIO("a.idx", "a.rec", "w")
    writer.write(b"none")
    writer.write_idx(5, b"five")
    writer.close()
    reader = MXIndexedRecordIO("a.idx", "a.rec", "r")
    assert rest_of(reader) == [b"none", b"five"]
    assert reader.keys == [5]
    assert pathlib.Path("a.idx").read_text() == "5\t12\n"


def test_an_index_may_have_more_columns_and_blank_lines() -> None:
    write_indexed([b"a", b"b"])
    pathlib.Path("a.idx").write_text(" 7\t0\tmore\r\n\n9\t12\n")
    reader = MXIndexedRecordIO("a.idx", "a.rec", "r")
    assert reader.keys == [7, 9]
    assert reader.read_idx(9) == b"b"


def test_an_index_of_another_file_is_found_out() -> None:
    write_indexed([b"a" * 100, b"b"])
    pathlib.Path("a.idx").write_text("0\t4\n1\t5000\n2\t120\n3\t108\n4\t116\n")
    reader = MXIndexedRecordIO("a.idx", "a.rec", "r")
    with pytest.raises(fr.CorruptError, match=r"a\.rec: offset 4: .*key 0 of a\.idx"):
        reader.read_idx(0)
    with pytest.raises(fr.OutOfRangeError, match=r"key 1 of a\.idx"):
        reader.read_idx(1)
    with pytest.raises(fr.OutOfRangeError, match=r"key 1 of a\.idx"):
        reader.seek(1)
    with pytest.raises(fr.CorruptError, match=r"no record starts .* key 2 of a\.idx"):
        reader.read_idx(2)
    with pytest.raises(
        fr.TruncatedError, match=r"index belongs to this file\. If it does: Restore the file"
    ):
        reader.read_idx(4)
    assert reader.read_idx(3) == b"b"


def test_a_bad_line_of_an_index_is_named() -> None:
    write_indexed([b"a"])
    pathlib.Path("a.idx").write_text("0\t0\n1 12\n")
    with pytest.raises(fr.CorruptError, match="line 2"):
        MXIndexedRecordIO("a.idx", "a.rec", "r")


# Threads, forks, pickles.


def test_threads_share_a_reader() -> None:
    records = [bytes([i]) * (1 + 1000 * i) for i in range(100)]
    reader = MXIndexedRecordIO(*write_indexed(records), "r")
    wrong = []

    def look(seed: int) -> None:
        keys = random.Random(seed).choices(range(100), k=300)
        wrong.extend(key for key in keys if reader.read_idx(key) != records[key])

    threads = [threading.Thread(target=look, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_forked_child_reads_on_for_itself() -> None:
    records = [b"%d" % i for i in range(20)]
    reader = MXIndexedRecordIO(*write_indexed(records), "r")
    assert reader.read() == b"0"

    def work() -> str:
        return b",".join([*rest_of(reader), reader.read_idx(3), reader.read()]).decode()

    assert child_says(work) == ",".join([*map(str, range(1, 20)), "3", "4"])
    assert rest_of(reader) == records[1:]


def test_a_child_forked_while_a_thread_reads_can_read() -> None:
    records = [bytes([i % 256]) * 200_000 for i in range(50)]
    reader = MXIndexedRecordIO(*write_indexed(records), "r")
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            reader.read_idx(random.randrange(50))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(10):
            said = child_says(
                lambda: str(all(reader.read_idx(i) == records[i] for i in (7, 0, 49)))
            )
            assert said == "True"
    finally:
        stop.set()
        thread.join()


def test_a_forked_child_cannot_write_and_ends_nothing() -> None:
    writer = MXIndexedRecordIO("a.idx", "a.rec", "w")
    writer.write_idx(0, b"parent")

    def work() -> str:
        assert not writer.is_open
        try:
            writer.write_idx(1, b"child")
        except RuntimeError as error:
            said = str(error)
        writer.close()
        return said

    assert "being written by the parent" in child_says(work)
    writer.write_idx(1, b"again")
    writer.close()
    assert rest_of(MXRecordIO("a.rec", "r")) == [b"parent", b"again"]


def test_a_pickled_reader_is_opened_at_the_first_record() -> None:
    reader = MXIndexedRecordIO(*write_indexed([b"a", b"b"]), "r")
    assert reader.read() == b"a"
    for twin in (pickle.loads(pickle.dumps(reader)), copy.copy(reader)):
        assert twin.is_open
        assert twin.read() == b"a"
        assert twin.keys == reader.keys
        assert twin.read_idx(1) == b"b"
    assert reader.read() == b"b"
    reader.close()
    closed = pickle.loads(pickle.dumps(reader))
    assert not closed.is_open
    closed.open()
    assert closed.read() == b"a"


def test_a_writer_cannot_be_pickled() -> None:
    writer = MXRecordIO("a.rec", "w")
    writer.write(b"a")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(writer)
    writer.write(b"b")
    writer.close()
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(writer)
    assert rest_of(MXRecordIO("a.rec", "r")) == [b"a", b"b"]


def test_a_reader_of_a_subclass_keeps_what_that_has() -> None:
    reader = Named(write([b"a"]), "r")
    reader.name = "mine"
    assert pickle.loads(pickle.dumps(reader)).name == "mine"


class Named(MXRecordIO):
    name = ""
