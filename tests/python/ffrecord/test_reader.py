"""fuelrail.ffrecord.FileReader. Tests named `c2_...` cover the improvements over FFRecord."""

from __future__ import annotations

import gc
import hashlib
import io
import os
import pathlib
import pickle
import struct
import threading
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ffrecord_files as files
import fuelrail as fr
from fuelrail.ffrecord import FileReader, FileWriter


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return files.write(tmp_path / "a.ffr", files.numbered(100))


RECORDS = files.numbered(100)


def test_what_the_original_wrote_is_read() -> None:
    reader = FileReader(files.GOLDEN / "part0.ffr")
    hashes = [hashlib.sha256(record).hexdigest() for record in reader]
    assert hashes == files.MANIFEST["part0.ffr"]


def test_the_documented_bytes_are_read(tmp_path: pathlib.Path) -> None:
    header = (
        "d1c6f851 0400000000000000 86a61036 00000000 71bbda2b 738c0529"
        "3c00000000000000 4100000000000000 4100000000000000 5600000000000000"
    )
    records = [b"hello", b"", b"abc" * 7, bytes(range(256))]
    data = bytes.fromhex(header) + b"".join(records)
    assert data == files.file_of(records)
    (tmp_path / "a.ffr").write_bytes(data)
    reader = FileReader(tmp_path / "a.ffr")
    assert [bytes(record) for record in reader] == records
    assert reader.get_offsets(0).tolist() == [60, 65, 65, 86, 342]
    assert reader.get_checksums(0).tolist()[:2] == [0x3610A686, 0]


def test_c2_8_records_are_arrays_of_their_own(path: pathlib.Path) -> None:
    reader = FileReader(path)
    for record in (reader.read_one(5), *reader.read([5, 0, 5])):
        assert type(record) is np.ndarray
        assert record.dtype == np.uint8
        assert record.ndim == 1
        assert record.flags.writeable
    one, empty, same = reader.read([5, 0, 5])
    assert empty.shape == (0,)
    one[:] = 1
    assert bytes(same) == RECORDS[5]
    del reader
    gc.collect()
    assert same.tobytes() == RECORDS[5]
    assert io.BytesIO(same).read() == RECORDS[5]
    assert np.frombuffer(same, np.uint8).tolist() == list(RECORDS[5])


def test_a_record_can_be_unpickled(tmp_path: pathlib.Path) -> None:
    value = {"a": [1, 2, 3]}
    files.write(tmp_path / "a.ffr", [pickle.dumps(value)])
    assert pickle.loads(FileReader(tmp_path / "a.ffr").read_one(0)) == value


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda i: np.array(i, np.uint16)])
def test_indices_are_lists_tuples_or_integer_arrays(path: pathlib.Path, kind: Callable) -> None:
    reader = FileReader(path)
    got = reader.read(kind([3, 1, 4, 1, 5, 99]))
    assert [bytes(record) for record in got] == [RECORDS[i] for i in (3, 1, 4, 1, 5, 99)]
    assert reader.read(kind([])) == []


@pytest.mark.parametrize("bad", [3, 1.5, [1.5], "ab", [[1]], np.array([1.5]), None, [None], [True]])
def test_other_indices_are_type_errors(path: pathlib.Path, bad: object) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        FileReader(path).read(bad)
    assert isinstance(caught.value, fr.Error)


@pytest.mark.parametrize("bad", [1.5, "a", None, [1]])
def test_read_one_takes_an_integer(path: pathlib.Path, bad: object) -> None:
    with pytest.raises(TypeError):
        FileReader(path).read_one(bad)


def test_an_index_may_change_the_list_that_it_is_in(path: pathlib.Path) -> None:
    class Index:
        def __index__(self) -> int:
            indices.clear()
            return 7

    indices: list[object] = [Index() for _ in range(1000)]
    records = FileReader(path).read(indices)
    assert [bytes(record) for record in records] == [RECORDS[7]] * 1000


def test_files_lists_and_directories_are_one_index_space(tmp_path: pathlib.Path) -> None:
    for name in ("b", "a", "c"):
        files.write(tmp_path / "d" / f"{name}.ffr", [name.encode(), name.encode() * 2])
    (tmp_path / "d" / "readme.txt").write_text("no record file")
    a, b, c = (tmp_path / "d" / f"{name}.ffr" for name in "abc")
    for given in (tmp_path / "d", str(tmp_path / "d"), [a, str(b), c], (a, b, c)):
        reader = FileReader(given)
        assert reader.n == len(reader) == 6
        assert reader.fnames == [str(a), str(b), str(c)]
        assert [bytes(one) for one in reader.read(range(6))] == [
            b"a",
            b"aa",
            b"b",
            b"bb",
            b"c",
            b"cc",
        ]
    assert [bytes(one) for one in FileReader([b, a, b])] == [b"b", b"bb", b"a", b"aa", b"b", b"bb"]
    assert FileReader(fname=a).check_data is True
    assert FileReader(a, False).check_data is False


def test_wrong_paths_are_assertion_errors(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "sub" / "x.ffr").mkdir(parents=True)
    (tmp_path / "a.rec").write_bytes(b"")
    for bad in (
        [],
        tmp_path / "none.ffr",
        tmp_path / "empty",
        tmp_path / "sub",
        tmp_path / "a.rec",
        [tmp_path / "empty"],
        [tmp_path / "none.ffr"],
    ):
        with pytest.raises(AssertionError) as caught:
            FileReader(bad)
        assert isinstance(caught.value, fr.Error)
    for bad in (3, None, [3]):
        with pytest.raises(TypeError):
            FileReader(bad)
    with pytest.raises(FileNotFoundError):
        FileReader(tmp_path / "none.ffr")


def test_a_damaged_record_is_named_alone_and_in_a_batch(path: pathlib.Path) -> None:
    offset = int(FileReader(path).get_offsets(0)[7])
    files.damage(path, offset)
    reader = FileReader(path)
    for read in (lambda: reader.read_one(7), lambda: reader.read([3, 7, 9]), lambda: reader[7]):
        with pytest.raises(RuntimeError, match="checksum") as caught:
            read()
        assert isinstance(caught.value, fr.CorruptError)
        assert (caught.value.record, caught.value.offset) == (7, offset)
        assert caught.value.path == str(path)
    assert bytes(reader.read_one(8)) == RECORDS[8]
    assert FileReader(path, check_data=False).read_one(7).size == len(RECORDS[7])


@pytest.mark.parametrize("offset", [0, 4, 12, 12 + 4 * 100])
def test_a_damaged_table_is_found_when_it_is_opened(path: pathlib.Path, offset: int) -> None:
    files.damage(path, offset)
    with pytest.raises(RuntimeError) as caught:
        FileReader(path)
    assert isinstance(caught.value, fr.Error)


def test_a_table_without_checksum_is_a_warning(path: pathlib.Path) -> None:
    files.without_checksum(path)
    with pytest.warns(fr.FuelrailWarning, match="no checksum") as caught:
        reader = FileReader(path)
    assert caught[0].filename == __file__
    assert bytes(reader.read_one(9)) == RECORDS[9]
    reader.validate()
    with FileWriter(path, reader.n) as writer:  # rewritten with a checksum
        for record in reader:
            writer.write_one(record)
    assert bytes(FileReader(path).read_one(9)) == RECORDS[9]


def test_empty_half_and_random_files_are_errors(tmp_path: pathlib.Path) -> None:
    for content in (b"", b"\1" * 7, os.urandom(4096), files.file_of(RECORDS)[:300]):
        (tmp_path / "bad.ffr").write_bytes(content)
        for check in (True, False):
            with pytest.raises((RuntimeError, ValueError)) as caught:
                FileReader(tmp_path / "bad.ffr", check)
            assert isinstance(caught.value, fr.Error)
    files.write(tmp_path / "none.ffr", [])
    assert FileReader(tmp_path / "none.ffr").n == 0


def test_a_failed_opening_leaves_no_descriptor(path: pathlib.Path) -> None:
    files.damage(path, 5)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        with pytest.raises(RuntimeError):
            FileReader(path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_closed_reader_says_so(path: pathlib.Path) -> None:
    with FileReader(path) as reader:
        kept = reader.read_one(3)
    assert reader.closed
    reader.close()
    for read in (
        lambda: reader.read_one(0),
        lambda: reader.read([0]),
        lambda: reader.read([]),
        lambda: reader[0],
        lambda: next(iter(reader)),
        reader.verify,
    ):
        with pytest.raises(RuntimeError, match="the reader is closed"):
            read()
    reader.validate()
    assert reader.n == 100
    assert reader.get_checksums(0).shape == (100,)
    assert bytes(kept) == RECORDS[3]
    assert bytes(pickle.loads(pickle.dumps(reader)).read_one(3)) == RECORDS[3]


def test_io_uring_needs_read_threads(path: pathlib.Path) -> None:
    with pytest.raises(
        ValueError,
        match="`read_threads` is out of range for io_uring: expected at least 1, found 0",
    ):
        FileReader(path, read_threads=0, read_backend="io_uring")


def test_it_shows_itself(path: pathlib.Path) -> None:
    reader = FileReader(path, read_backend="pread", read_threads=2)
    assert reader.read_backend == "pread"
    assert "100 records" in repr(reader)
    copy = pickle.loads(pickle.dumps(reader))
    assert copy.read_backend == "pread"
    assert FileReader(path).read_backend in ("pread", "io_uring")
    with pytest.raises(ValueError, match="Did you mean 'pread'"):
        FileReader(path, read_backend="preed")
    with pytest.raises(TypeError, match="check_data"):
        FileReader(path, check_dat=True)


def test_c2_6_the_gil_is_released(tmp_path: pathlib.Path) -> None:
    path = files.write(tmp_path / "big.ffr", [bytes(64 << 20)])
    reader = FileReader(path, read_backend="pread")
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        before = ticks
        reader.read_one(0)
        assert ticks > before
    finally:
        stop.set()
        thread.join()


def test_c2_1_a_table_that_was_never_written_is_an_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "killed.ffr").write_bytes(bytes(12 + 12 * 5) + b"five records")
    for check in (True, False):
        with pytest.raises(RuntimeError, match="never written"):
            FileReader(tmp_path / "killed.ffr", check)


def test_c2_3_negative_and_out_of_range_indices(path: pathlib.Path) -> None:
    reader = FileReader(path)
    assert bytes(reader.read_one(-1)) == RECORDS[99]
    assert [bytes(one) for one in reader.read([-100, 99, -1])] == [RECORDS[0], *2 * [RECORDS[99]]]
    for bad in (100, -101, 2**31, 2**63, -(2**63), 2**100):
        for read in (lambda bad=bad: reader.read_one(bad), lambda bad=bad: reader.read([0, bad])):
            with pytest.raises(RuntimeError) as caught:
                read()
            assert isinstance(caught.value, IndexError)
            assert "[-100, 100)" in str(caught.value)
    for bad in (1, -2, 2**70):
        with pytest.raises(IndexError):
            reader.get_offsets(bad)
        with pytest.raises(RuntimeError):
            reader.get_checksums(bad)


def test_c2_3_an_index_of_any_size_is_out_of_range(path: pathlib.Path) -> None:
    reader = FileReader(path)
    for bad in (10**30, -(10**30), 10**5000, -(10**5000), np.uint64(2**64 - 1), np.int64(-(2**63))):
        for read in (
            lambda bad=bad: reader.read_one(bad),
            lambda bad=bad: reader[bad],
            lambda bad=bad: reader.read([0, bad]),
            lambda bad=bad: reader.read((bad,)),
            lambda bad=bad: reader.get_offsets(bad),
            lambda bad=bad: reader.get_checksums(bad),
        ):
            with pytest.raises(IndexError) as caught:
                read()
            assert isinstance(caught.value, RuntimeError)
        most = abs(int(bad))
        assert len(reader[-most:most]) == 100
        with pytest.raises(ValueError, match="`n` is out of range"):
            FileWriter(path, most)
    with pytest.raises(fr.OutOfRangeError, match=r"in \[-100, 100\), found 1000000000000000000000"):
        reader.read([10**21])
    with pytest.raises(fr.OutOfRangeError, match=r"found a negative integer of 16610 bits"):
        reader.read([-(10**5000)])


def test_c2_3_offsets_that_cannot_be_are_refused_before_memory_is_taken(
    tmp_path: pathlib.Path,
) -> None:
    for offsets in ([36, 35], [35, 40], [10**12, 36], [36, -1], [36, 10**12]):
        data = files.table_of([0, 0], offsets) + b"x" * 50
        (tmp_path / "bad.ffr").write_bytes(data)
        for check in (True, False):
            with pytest.raises(RuntimeError) as caught:
                FileReader(tmp_path / "bad.ffr", check)
            unfinished = offsets[-1] > len(data)  # like an incomplete copy
            assert isinstance(caught.value, fr.TruncatedError if unfinished else fr.CorruptError)
    for count in (-1, 2**62, 10**9):
        (tmp_path / "bad.ffr").write_bytes(struct.pack("<Iq", 7, count) + b"x" * 500)
        with pytest.raises(RuntimeError):
            FileReader(tmp_path / "bad.ffr", check_data=False)


def test_c2_4_verify_reports_every_bad_record(path: pathlib.Path) -> None:
    offsets = FileReader(path).get_offsets(0)
    assert FileReader(path).verify() == []
    for record in (3, 50):
        files.damage(path, int(offsets[record]))
    with open(path, "r+b") as file:
        file.truncate(int(offsets[100]) - 1)
    told: list[int] = []
    for check in (True, False):
        found = FileReader(path, check).verify(told.append)
        assert [bad.index for bad in found] == [3, 50, 99]
        assert all(str(path) in bad.error and "checksum" in bad.error for bad in found)
    assert told[-1] == 100
    with pytest.raises(ZeroDivisionError):
        FileReader(path).verify(lambda done: 1 // 0)


def test_c2_6_a_fork_after_a_batch_read(path: pathlib.Path) -> None:
    for options in ({}, {"read_backend": "pread"}, {"direct_reads": True}):
        reader = FileReader(path, **options)
        reader.read(range(100))
        child = os.fork()
        if child == 0:
            good = [bytes(one) for one in reader.read(range(100))] == RECORDS
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert bytes(reader.read([9, 8, 7])[0]) == RECORDS[9]


def test_c2_6_a_fork_while_other_threads_read(path: pathlib.Path) -> None:
    reader = FileReader(path, direct_reads=True)
    stop = threading.Event()
    threads = [
        threading.Thread(target=lambda: [reader.read(range(50)) for _ in iter(stop.is_set, True)])
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                good = [bytes(one) for one in reader.read(range(100))] == RECORDS
                os._exit(0 if good else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_c2_6_sixty_four_readers_at_once(path: pathlib.Path) -> None:
    readers = [FileReader(path, direct_reads=i % 2 == 0) for i in range(64)]
    start = threading.Barrier(64)
    wrong: list[int] = []

    def read(i: int) -> None:
        start.wait()
        for _ in range(3):
            if [bytes(one) for one in readers[i].read(range(100))] != RECORDS:
                wrong.append(i)

    threads = [threading.Thread(target=read, args=(i,)) for i in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_c2_6_concurrent_first_reads_without_numpy(path: pathlib.Path, python: Callable) -> None:
    script = """if True:
        import sys, threading
        from fuelrail import _core
        assert "numpy" not in sys.modules
        reader = _core.open_ffrecord([sys.argv[1].encode()], {})
        start = threading.Barrier(8)
        counts = []
        def read():
            start.wait()
            counts.append(len(reader.read(list(range(100)))))
        threads = [threading.Thread(target=read) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert counts == 8 * [100], counts
    """
    done = python(script, path)
    assert done.returncode == 0, done.stderr


def test_c2_6_more_than_4096_records_at_once(tmp_path: pathlib.Path) -> None:
    records = [i.to_bytes(4, "little") for i in range(20_000)]
    reader = FileReader(files.write(tmp_path / "a.ffr", records))
    order = np.random.default_rng(0).permutation(20_000)
    got = reader.read(order)
    assert b"".join(bytes(one) for one in got) == b"".join(records[i] for i in order)


def test_c2_7_direct_reads_are_aligned_and_equal(tmp_path: pathlib.Path) -> None:
    records = [*files.numbered(50, 100_000), bytes(4096), bytes(1)]
    path = files.write(tmp_path / "a.ffr", records)
    reader = FileReader(path, direct_reads=True)
    order = [*range(52), 51, 0, 7]
    assert [bytes(one) for one in reader.read(order)] == [records[i] for i in order]
    assert bytes(reader.read_one(51)) == bytes(1)


def test_c2_7_a_kept_record_pins_no_neighbour(tmp_path: pathlib.Path) -> None:
    reader = FileReader(files.write(tmp_path / "a.ffr", [bytes([i]) * 1000 for i in range(200)]))
    batch = reader.read(range(200))
    assert len({one.__array_interface__["data"][0] for one in batch}) == 200
    batch[0][:] = 255
    kept = batch[100]
    del batch
    again = reader.read(range(200))
    assert (kept == 100).all()
    assert bytes(again[0]) == bytes(1000)


def test_c2_11_an_iterator_reads_ahead_by_bytes_too(
    tmp_path: pathlib.Path, python: Callable
) -> None:
    """48 records of 40 MiB are read one at a time, not all at once."""
    size = 40 << 20
    path = tmp_path / "large.ffr"
    with open(path, "wb") as file:  # a hole of zeros, without disk space
        offsets = [12 + 12 * 48 + i * size for i in range(48)]
        file.write(files.table_of([zlib.crc32(bytes(size))] * 48, offsets))
        file.truncate(offsets[-1] + size)
    script = """if True:
        import itertools, sys
        from fuelrail.ffrecord import FileReader
        for record in itertools.islice(FileReader(sys.argv[1]), 5):
            assert record.size == 40 << 20
        # Not getrusage, whose peak a child has from the process that started it.
        peak = open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]
        print(1024 * int(peak))
    """
    done = python(script, path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 12 * size


def test_c2_11_len_getitem_and_iteration(path: pathlib.Path) -> None:
    reader = FileReader(path)
    assert len(reader) == reader.n == 100
    assert bytes(reader[7]) == bytes(reader[np.int64(7)]) == RECORDS[7]
    assert bytes(reader[-2]) == RECORDS[98]
    assert [bytes(one) for one in reader[90:]] == RECORDS[90:]
    assert [bytes(one) for one in reader[::-30]] == RECORDS[::-30]
    assert [bytes(one) for one in reader[[4, -1, 4]]] == [RECORDS[4], RECORDS[99], RECORDS[4]]
    assert [bytes(one) for one in reader] == RECORDS
    assert list(FileReader(path)[5:5]) == []
    with pytest.raises(IndexError):
        reader[100]


@pytest.mark.timeout(1200)
@pytest.mark.skipif(
    "FUELRAIL_LARGE_RECORDS" not in os.environ, reason="needs FUELRAIL_LARGE_RECORDS=1 and 10 GB"
)
def test_records_of_several_gigabytes(tmp_path: pathlib.Path) -> None:
    """A sparse file: 5 GiB of zeros, then 99 small records."""
    large = 5 << 30
    zeros = bytes(64 << 20)
    crc = 0
    for _ in range(large // len(zeros)):
        crc = zlib.crc32(zeros, crc)
    small = files.numbered(99)
    offsets, at = [12 + 12 * 100], 12 + 12 * 100 + large
    for record in small:
        offsets.append(at)
        at += len(record)
    path = tmp_path / "large.ffr"
    with open(path, "wb") as file:
        file.write(files.table_of([crc, *map(zlib.crc32, small)], offsets))
        file.truncate(offsets[1])
        file.seek(offsets[1])
        file.write(b"".join(small))
    reader = FileReader(path)
    got = reader.read([5, 0, 99])
    assert bytes(got[0]) == small[4]
    assert got[1].size == large
    assert not got[1].any()
    assert bytes(got[2]) == small[98]
    del got
    assert reader.verify() == []


def test_without_numpy_the_import_says_what_is_missing(python: Callable) -> None:
    script = """if True:
        import sys
        sys.modules["numpy"] = None
        import fuelrail
        try:
            fuelrail.ffrecord
        except ImportError as error:
            assert "pip install numpy" in str(error), error
        else:
            raise SystemExit(3)
    """
    done = python(script)
    assert done.returncode == 0, done.stderr


def test_importing_fuelrail_does_not_import_it(python: Callable) -> None:
    script = "import sys, fuelrail; raise SystemExit('fuelrail.ffrecord' in sys.modules)"
    assert python(script).returncode == 0


def test_importing_all_leaves_the_users_own_names(python: Callable) -> None:
    script = """if True:
        import sys
        torch = utils = "the user's"
        from fuelrail.ffrecord import *
        assert torch == utils == "the user's"
        assert "torch" not in sys.modules
        assert FileReader and FileWriter and PackedFolder and pack_folder and checkFsAlign
        import fuelrail.ffrecord
        assert fuelrail.ffrecord.utils.dump and fuelrail.ffrecord.torch.Dataset
    """
    done = python(script)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("check", [0, 1, np.True_, np.False_])
def test_check_data_is_any_truth_value(path: pathlib.Path, check: Any) -> None:
    assert FileReader(path, check).check_data is bool(check)


@pytest.mark.parametrize("bad", [2, "yes", None])
def test_other_values_of_check_data_are_type_errors(path: pathlib.Path, bad: Any) -> None:
    with pytest.raises(TypeError, match="check_data"):
        FileReader(path, bad)


def test_warnings_point_at_the_users_line(path: pathlib.Path) -> None:
    class Own(FileReader):
        def __init__(self) -> None:
            super().__init__(path)

    files.without_checksum(path)
    packed = path.with_name("packed.ffr")
    fr.ffrecord.pack_folder(files.GOLDEN.parent / "recordio", packed)
    files.without_checksum(packed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = pickle.dumps(FileReader(path))
    for act in (
        lambda: FileReader(path),
        Own,
        lambda: fr.ffrecord.PackedFolder(packed),
        lambda: fr.ffrecord.torch.Dataset(path),
        lambda: pickle.loads(again),
    ):
        with pytest.warns(fr.FuelrailWarning, match="no checksum") as caught:
            act()
        assert [one.filename for one in caught] == [__file__]
