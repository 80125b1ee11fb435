"""fuelrail.mxnet.io.InputSplit: dmlc's parts of files in Python."""

from __future__ import annotations

import gc
import os
import pathlib
import pickle
import random
import struct
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.mxnet.io import InputSplit, InputSplitShuffle

MAGIC = 0xCED7230A
GOLDEN = pathlib.Path(__file__).parents[2] / "golden"


def framed(payloads: list[bytes]) -> bytes:
    """A RecordIO file of payloads that do not contain the magic number."""
    file = b""
    for payload in payloads:
        file += struct.pack("<II", MAGIC, len(payload)) + payload + bytes(-len(payload) % 4)
    return file


def numbered(count: int) -> list[bytes]:
    return [str(i).encode() for i in range(count)]


@pytest.fixture
def record_file(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "x.rec"
    path.write_bytes(framed(numbered(1000)))
    return path


@pytest.fixture
def indexed(tmp_path: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """37 records and their index."""
    path, index = tmp_path / "n.rec", tmp_path / "n.idx"
    path.write_bytes(framed(numbered(37)))
    offsets = np.cumsum([0] + [len(framed([record])) for record in numbered(37)])[:-1]
    index.write_text("".join(f"{key}\t{offset}\n" for key, offset in enumerate(offsets)))
    return path, index


def test_records_of_a_part_are_bytes_in_order(record_file: pathlib.Path) -> None:
    split = InputSplit.create(str(record_file), 0, 1, "recordio")
    assert list(split) == numbered(1000)
    assert split.next_record() is None
    split.before_first()
    assert split.next_record() == b"0"
    assert split.next_record() == b"1"
    assert list(split) == numbered(1000)[2:]


def test_golden_parts_have_their_records() -> None:
    uri = ";".join(str(GOLDEN / "recordio" / f"part{i}.rec") for i in range(3))
    rows = [
        line.split("\t") for line in (GOLDEN / "recordio/partitions.tsv").read_text().split("\n")
    ]
    for row in rows:
        if len(row) == 4:
            assert len(list(InputSplit(uri, int(row[1]), int(row[0]), "recordio"))) == int(row[2])


def test_lines_of_a_directory_and_of_a_pattern(tmp_path: pathlib.Path) -> None:
    for name, text in (("b", "3\n4"), ("a", "1\r\n\n2\n"), ("c", "5\n")):
        (tmp_path / name).write_text(text)
    assert list(InputSplit(tmp_path, type="text")) == [b"1", b"2", b"3", b"4", b"5"]
    assert list(InputSplit(f"{tmp_path}/[bc]", type="text")) == [b"3", b"4", b"5"]
    split = InputSplit(f"{tmp_path}/c;{tmp_path}/a?format=csv", type="text")
    assert list(split) == [b"5", b"1", b"2"]
    assert split.files == [f"{tmp_path}/c", f"{tmp_path}/a"]
    assert split.total_size == 8


def test_chunks_and_batches_hold_whole_records(record_file: pathlib.Path) -> None:
    split = InputSplit(record_file)
    split.hint_chunk_size(500)
    records = []
    while (chunk := split.next_chunk()) is not None:
        assert len(chunk) <= 500
        records += split.records_of(chunk)
    assert records == numbered(1000)
    split.before_first()
    sizes = []
    while (batch := split.next_batch(300)) is not None:
        sizes.append(len(split.records_of(batch)))
    split.before_first()
    batch = split.next_batch(300)
    assert batch is not None
    assert [*sizes, len(split.records_of(batch))] == [300, 300, 300, 100, 200]


def test_parts_can_be_changed_in_the_middle(record_file: pathlib.Path) -> None:
    split = InputSplit(record_file, 0, 2)
    assert split.next_record() == b"0"
    records = []
    for part in range(5):
        split.reset_partition(part, 5)
        assert (split.part, split.nsplit) == (part, 5)
        records += list(split)
    assert records == numbered(1000)


def test_index_makes_parts_of_equal_counts_and_shuffles(
    indexed: tuple[pathlib.Path, pathlib.Path],
) -> None:
    path, index = indexed
    counts = [
        len(list(InputSplit(path, k, 5, "indexed_recordio", index_uri=index))) for k in range(5)
    ]
    assert counts == [8, 8, 8, 8, 5]

    def passes(seed: int) -> list[list[bytes]]:
        split = InputSplit(path, type="indexed_recordio", index_uri=index, shuffle=True, seed=seed)
        orders = []
        for _ in range(3):
            orders.append(list(split))
            split.before_first()
        return orders

    first = passes(0)
    assert first == passes(0)
    assert first != passes(1)
    assert first[0] != first[1] != first[2]
    assert all(sorted(order) == sorted(numbered(37)) for order in first)


def test_shuffled_sub_parts_have_every_record(record_file: pathlib.Path) -> None:
    split = InputSplitShuffle.create(str(record_file), 1, 2, "recordio", 8, shuffle_seed=3)
    other = InputSplitShuffle.create(str(record_file), 0, 2, "recordio", 8, shuffle_seed=3)
    first = list(split)
    split.before_first()
    second = list(split)
    assert sorted(first) == sorted(second)
    assert sorted(first + list(other)) == sorted(numbered(1000))
    assert first != second
    same = InputSplit(record_file, 1, 2, num_shuffle_parts=8, seed=3)
    assert list(same) == first
    with pytest.raises(fr.InvalidArgumentError, match="the number of parts cannot change"):
        split.reset_partition(0, 3)


def test_cache_file_is_used_as_long_as_it_belongs(record_file: pathlib.Path) -> None:
    cache = record_file.with_name("cache")
    uri = f"{record_file}#{cache}"
    assert list(InputSplit(uri)) == numbered(1000)
    assert cache.exists()
    assert list(InputSplit(uri, chunk_size=100)) == numbered(1000)
    record_file.write_bytes(framed([b"new"]))
    assert list(InputSplit(uri)) == [b"new"]


def test_any_parts_of_any_files_have_each_record_once(tmp_path: pathlib.Path) -> None:
    numbers = random.Random(5)
    expected, files = [], []
    for number in range(4):
        records = [
            numbers.randbytes(numbers.randrange(60)) for _ in range(numbers.randrange(1, 40))
        ]
        files.append(tmp_path / f"{number}.rec")
        files[-1].write_bytes(framed(records))
        expected += records
    uri = ";".join(map(str, files))
    for nsplit in (1, 2, 9, 50):
        assert [r for k in range(nsplit) for r in InputSplit(uri, k, nsplit)] == expected


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda path: InputSplit(f"{path}.no"), fr.NotFoundError, "no such file or directory$"),
        (lambda path: InputSplit(f"{path};{path}.no"), fr.NotFoundError, r"\(item 2 of 2\)"),
        (lambda path: InputSplit(f"{path}#a#b"), fr.InvalidArgumentError, "more than once"),
        (lambda path: InputSplit("stdin"), fr.UnsupportedError, "Write the input to a file"),
        (lambda path: InputSplit("s3://b/x.rec"), fr.UnsupportedError, "mount the bucket"),
        (lambda path: InputSplit("hdfs://h/x.rec"), fr.UnsupportedError, "hdfs dfs -get"),
        (lambda path: InputSplit(path, 2, 2), fr.InvalidArgumentError, "part 0 to 1"),
        (lambda path: InputSplit(path, -1, 2), fr.InvalidArgumentError, "`part`"),
        (lambda path: InputSplit(path, type="recordoi"), fr.InvalidArgumentError, "'recordio'"),
        (lambda path: InputSplit(path, shuffel=True), TypeError, "Did you mean 'shuffle'"),
        (lambda path: InputSplit(path, shuffle=1), TypeError, "`shuffle`"),
        (lambda path: InputSplit(path, seed="x"), TypeError, "`seed`"),
        (lambda path: InputSplit(path, seed=2**63), fr.InvalidArgumentError, "`seed`"),
        (lambda path: InputSplit(path, shuffle=True), fr.InvalidArgumentError, "one by one"),
        (lambda path: InputSplit(path, type="indexed_recordio"), fr.InvalidArgumentError, "index"),
        (lambda path: InputSplit(5), TypeError, "`uri` has the wrong type"),
        (lambda path: InputSplit(path).next_batch(0), fr.InvalidArgumentError, "`n`"),
        (lambda path: InputSplit(path).hint_chunk_size(0), fr.InvalidArgumentError, "chunk_size"),
        (lambda path: InputSplit(path).records_of("text"), TypeError, "expected bytes"),
        (
            lambda path: InputSplitShuffle.create(path, 0, 1, "recordio", 0),
            fr.InvalidArgumentError,
            "num_shuffle_parts",
        ),
    ],
)
def test_what_cannot_be_says_what_will_do(
    record_file: pathlib.Path,
    make: Callable[[str], object],
    error: type[Exception],
    text: str,
) -> None:
    with pytest.raises(error, match=text):
        make(str(record_file))


def test_damage_says_where(record_file: pathlib.Path) -> None:
    data = bytearray(record_file.read_bytes())
    data[24] = 0
    record_file.write_bytes(data)
    split = InputSplit(record_file)
    assert [split.next_record(), split.next_record()] == [b"0", b"1"]
    for _ in range(2):
        with pytest.raises(fr.CorruptError, match="magic number is wrong") as raised:
            split.next_record()
        assert raised.value.path == str(record_file)
        assert raised.value.offset == 24
    record_file.write_bytes(framed([b"aaaa", b"bbbb"])[:-4])
    split = InputSplit(record_file)
    with pytest.raises(fr.TruncatedError, match="offset 12"):
        list(split)
    with pytest.raises(fr.CorruptError):
        split.records_of(b"12345678")


def by_threads(split: InputSplit) -> list[bytes]:
    """All records, in any order."""
    taken: list[list[bytes]] = [[] for _ in range(4)]

    def take(into: list[bytes]) -> None:
        into.extend(split)

    threads = [threading.Thread(target=take, args=(into,)) for into in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(record for records in taken for record in records)


def test_threads_share_one_split_and_lose_nothing(record_file: pathlib.Path) -> None:
    assert by_threads(InputSplit(record_file, chunk_size=200)) == sorted(numbered(1000))


def in_child(body: Callable[[], str]) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = body()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_reads_its_own_or_is_told(record_file: pathlib.Path) -> None:
    split = InputSplit(record_file)
    assert in_child(lambda: str(len(list(split)))) == "1000"
    assert split.next_record() == b"0"

    def read_on() -> str:
        del_me = split
        return str(del_me.next_record())

    assert "belongs to the parent process" in in_child(read_on)
    assert in_child(lambda: str(split.total_size)) == str(record_file.stat().st_size)

    def closed() -> str:
        split.close()
        return str(split.next_record())

    assert "the input split is closed" in in_child(closed)
    assert len(list(split)) == 999
    # The child's threads may call at once: none is a parent's thread in the middle of a call.
    shared = InputSplit(record_file, chunk_size=200)
    assert in_child(lambda: str(len(by_threads(shared)))) == "1000"


def test_closing_lets_go_of_thread_and_files(record_file: pathlib.Path) -> None:
    threads, files = set(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
    with InputSplit(record_file, 1, 3, chunk_size=200) as split:
        assert split.next_record() is not None
        assert set(os.listdir("/proc/self/task")) > threads
        assert len(os.listdir("/proc/self/fd")) > files
    while not set(os.listdir("/proc/self/task")) <= threads:  # a joined thread may still be listed
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/fd")) == files
    split.close()
    assert (split.part, split.nsplit, split.type) == (1, 3, "recordio")
    assert "part 1 of 3" in repr(split)
    calls: list[Callable[[], object]] = [
        *(split.next_record, split.next_chunk, split.before_first, lambda: split.next_batch(2)),
        *(lambda: list(split), lambda: split.reset_partition(0, 2), lambda: split.files),
        *(
            lambda: split.total_size,
            lambda: split.records_of(b""),
            lambda: split.hint_chunk_size(9),
        ),
    ]
    for call in calls:
        with pytest.raises(fr.StateError, match=r"input split is closed\. Create a new input"):
            call()
    assert (split.part, split.nsplit) == (1, 3)


def test_an_unread_split_can_be_closed_too(record_file: pathlib.Path) -> None:
    gc.collect()  # objects of earlier tests may be collected between the counts
    files = len(os.listdir("/proc/self/fd"))
    InputSplit(record_file).close()
    assert len(os.listdir("/proc/self/fd")) == files


def test_pickle_is_how_it_was_made(record_file: pathlib.Path) -> None:
    split = InputSplit(record_file, 1, 3)
    split.reset_partition(2, 4)
    copy = pickle.loads(pickle.dumps(split))
    assert (copy.part, copy.nsplit, repr(copy)) == (2, 4, repr(split))
    assert list(copy) == list(split)
    with pytest.raises(fr.StateError, match="cannot be pickled"):
        pickle.dumps(split)


def test_names_that_are_no_utf8_are_read(tmp_path: pathlib.Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"\xff.rec")
    with open(path, "wb") as file:
        file.write(framed([b"x"]))
    split = InputSplit(os.fsdecode(path))
    assert list(split) == [b"x"]
    assert split.files == [os.fsdecode(path)]
