"""fuelrail.ffrecord.pack_folder and PackedFolder."""

from __future__ import annotations

import hashlib
import itertools
import os
import pathlib
import pickle
import string
from collections import OrderedDict
from collections.abc import Callable

import pytest

import ffrecord_files as files
import fuelrail as fr
from fuelrail.ffrecord import FileReader, PackedFolder, pack_folder

GOLDEN = files.GOLDEN / "folder.ffr"
MARK = b"piouhjgbr"


@pytest.fixture
def unpacked(tmp_path: pathlib.Path) -> pathlib.Path:
    """The folder that FFRecord packed into the golden file."""
    root = tmp_path / "golden"
    with PackedFolder(GOLDEN) as packed:
        for name in packed.list(recursive=True):
            path = root / name
            if packed.is_dir(name):
                path.mkdir(parents=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(packed.read_one(name))
    return root


def test_what_the_original_packed_is_read() -> None:
    expected = files.MANIFEST["folder.ffr"]
    with PackedFolder(GOLDEN) as packed:
        assert packed.num_files() == len(expected)
        for name, digest in expected.items():
            assert packed.is_file(name)
            assert hashlib.sha256(packed.read_one(name)).hexdigest() == digest
        found = packed.list(recursive=True, list_dir=False)
        assert sorted(map(str, found)) == sorted(expected)
        assert type(packed.structure) is OrderedDict


def test_a_folder_is_packed_byte_for_byte_as_the_original_does(
    unpacked: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    pack_folder(unpacked, tmp_path / "again.ffr")
    assert (tmp_path / "again.ffr").read_bytes() == GOLDEN.read_bytes()


def test_names_and_kinds() -> None:
    packed = PackedFolder(GOLDEN)
    for root in ("", ".", "./", pathlib.Path()):
        assert packed.is_dir(root)
        assert packed.exists(root)
        assert not packed.is_file(root)
    assert packed.is_dir("sub")
    assert packed.is_dir("sub/deep/")
    assert packed.is_file(pathlib.Path("sub") / "deep" / "data.bin")
    assert packed.is_file("./001.txt")
    for absent in ("none", "/001.txt", "sub/../001.txt", "sub/none", ".."):
        assert not packed.exists(absent)
        assert not packed.is_file(absent)
        assert not packed.is_dir(absent)
    assert "001.txt" in packed.list(list_dir=False)
    assert packed.list("sub", list_file=False) == ["deep"]
    names = packed.list("sub", recursive=True)
    assert names[:2] == ["deep", pathlib.Path("deep/data.bin")]


def test_a_path_below_a_file_is_none() -> None:
    packed = PackedFolder(GOLDEN)
    assert packed.exists("001.txt/x") is False
    assert packed.is_file("001.txt/x") is False
    assert packed.is_dir("001.txt/x/y") is False


def test_wrong_paths_are_assertion_errors() -> None:
    packed = PackedFolder(GOLDEN)
    for read in (
        lambda: packed.read_one("none"),
        lambda: packed.read_one("sub"),
        lambda: packed.read(["001.txt", "none"]),
        lambda: packed.list("none"),
        lambda: packed.list("001.txt"),
    ):
        with pytest.raises(AssertionError) as caught:
            read()
        assert isinstance(caught.value, fr.Error)
    with pytest.raises(TypeError):
        packed.read(3)
    with pytest.raises(AssertionError):
        pack_folder("none", "out.ffr")


def test_it_pickles() -> None:
    packed = pickle.loads(pickle.dumps(PackedFolder(GOLDEN)))
    assert packed.is_file("001.txt")


def test_files_of_any_name(tmp_path: pathlib.Path) -> None:
    root = tmp_path / "folder"
    for name in ("a", "B", ".hidden", "ü.txt", "z/a", "z/b/c", "a b"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    with open(os.fsencode(root) + b"/\xff.bin", "wb") as file:
        file.write(b"no text")
    (root / "void").mkdir()
    pack_folder(root, str(tmp_path / "out.ffr"))
    packed = PackedFolder(tmp_path / "out.ffr")
    assert packed.list() == sorted(os.listdir(root))
    assert packed.list("void") == []
    assert bytes(packed.read_one("z/b/c")) == b"z/b/c"
    assert bytes(packed.read_one(os.fsdecode(b"\xff.bin"))) == b"no text"
    assert pickle.loads(bytes(FileReader(tmp_path / "out.ffr")[-1])[9:]) == packed.structure


def test_verbose_prints_each_file(
    unpacked: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack_folder(unpacked, tmp_path / "out.ffr", verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"0/4 {unpacked / '001.txt'}"
    assert len(lines) == 4


def test_verbose_prints_names_of_any_bytes(tmp_path: pathlib.Path, python: Callable) -> None:
    (tmp_path / "in").mkdir()
    for name in (b"\xff\xfe", "é".encode()):
        (tmp_path / "in" / os.fsdecode(name)).write_bytes(b"1")
    script = """if True:
        import sys
        from fuelrail.ffrecord import pack_folder
        pack_folder(sys.argv[1], sys.argv[2], verbose=True)
    """
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = python(script, tmp_path / "in", tmp_path / "x.ffr", env=environment)
    assert done.returncode == 0, done.stderr
    assert "1/2 " in done.stdout
    assert "\\xe9" in done.stdout
    assert PackedFolder(tmp_path / "x.ffr").num_files() == 2


def test_what_is_no_packed_folder_is_a_value_error(tmp_path: pathlib.Path) -> None:
    for records in ([b"x"], [], [b"", b""], [MARK], [MARK + b"no pickle"]):
        files.write(tmp_path / "a.ffr", records)
        with pytest.raises(ValueError, match=r"a\.ffr") as caught:
            PackedFolder(tmp_path / "a.ffr")
        assert isinstance(caught.value, RuntimeError)


def with_metadata(path: pathlib.Path, metadata: bytes) -> pathlib.Path:
    return files.write(path, [b"file", metadata])


def test_a_last_record_of_any_length_is_not_read_before_its_mark(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "sparse.ffr"
    path.write_bytes(files.table_of([0], [24]))
    os.truncate(path, 1 << 40)
    with pytest.raises(ValueError, match="not a packed folder"):
        PackedFolder(path)
    with pytest.raises(ValueError, match="not a packed folder"):
        PackedFolder([path, files.write(tmp_path / "empty.ffr", [])])
    last = files.write(tmp_path / "last.ffr", [])
    with PackedFolder([GOLDEN, last]) as packed:  # only the last record matters
        assert packed.is_file("001.txt")


class Malicious:
    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return (os.system, (f"touch {self.path}",))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_c2_5_a_malicious_pack_is_refused_and_nothing_runs(
    tmp_path: pathlib.Path, protocol: int
) -> None:
    for value in (Malicious(tmp_path / "ran"), OrderedDict(a=0, b=Malicious(tmp_path / "ran"))):
        data = MARK + pickle.dumps(value, protocol=protocol)
        with pytest.raises(ValueError, match="system"):
            PackedFolder(with_metadata(tmp_path / "bad.ffr", data))
    assert not (tmp_path / "ran").exists()


def test_c2_5_numbers_that_are_no_files_are_refused(tmp_path: pathlib.Path) -> None:
    for number in (1, -1, 2**70):
        data = MARK + pickle.dumps(OrderedDict(a=number), protocol=4)
        with pytest.raises(ValueError, match=r"bad\.ffr"):
            PackedFolder(with_metadata(tmp_path / "bad.ffr", data))


def test_c2_5_a_name_that_comes_again_is_the_same_str(tmp_path: pathlib.Path) -> None:
    for folder in "abc":
        (tmp_path / "in" / folder).mkdir(parents=True)
        (tmp_path / "in" / folder / ("x" * 200)).write_bytes(b"")
    pack_folder(tmp_path / "in", tmp_path / "x.ffr")
    structure = PackedFolder(tmp_path / "x.ffr").structure
    assert len({id(name) for folder in structure.values() for name in folder}) == 1


def test_c2_5_memory_is_in_proportion_to_the_file(tmp_path: pathlib.Path, python: Callable) -> None:
    """The process may use 48 bytes of memory per byte of the file."""
    new = b"h\x02)R"
    letters = string.ascii_letters.encode()
    names = [
        b"\x8c\x04" + bytes(name)
        for name in itertools.islice(itertools.product(letters, repeat=4), 150_000)
    ]
    first = b"\x8c\x05first" + b"ccollections\nOrderedDict\nq\x02)R"
    long_name = b"X\xe8\3\0\0" + b"x" * 1000 + b"q\x01"
    begin = b"ccollections\nOrderedDict\n)R("
    pickles = {
        "folders": begin + first + b"".join(name + new for name in names),
        "long names": begin
        + first
        + long_name
        + b"K\0"
        + b"".join(name + new + b"h\x01K\0s" for name in names),
        "files": begin + b"".join(name + b"K\1" for name in names),
    }
    script = """if True:
        import resource, sys
        from fuelrail.ffrecord import PackedFolder
        def size():
            return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        limit = size() + 48 * int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        assert len(PackedFolder(sys.argv[1]).structure) > 100_000
    """
    for name, pickle_ in pickles.items():
        records = [b""] * 200_000 + [b"piouhjgbr" + pickle_ + b"u."]
        path = files.write(tmp_path / "x.ffr", records)
        done = python(script, path, path.stat().st_size)
        assert done.returncode == 0, (name, done.stderr[-500:])


def test_c2_5_a_circle_of_links_is_refused(tmp_path: pathlib.Path) -> None:
    root = tmp_path / "folder"
    (root / "inner").mkdir(parents=True)
    (root / "file").write_text("x")
    (root / "inner" / "up").symlink_to(root)
    with pytest.raises(fr.InvalidArgumentError, match="symbolic links form a cycle"):
        pack_folder(root, tmp_path / "out.ffr")
    (root / "inner" / "up").unlink()
    (root / "link").symlink_to(root / "inner")  # not a cycle
    (root / "inner" / "also").symlink_to(root / "file")
    pack_folder(root, tmp_path / "out.ffr")
    packed = PackedFolder(tmp_path / "out.ffr")
    assert bytes(packed.read("link/also")) == b"x"
    assert packed.num_files() == 3


def test_c2_5_an_output_inside_the_folder_is_refused(tmp_path: pathlib.Path) -> None:
    root = tmp_path / "folder"
    (root / "inner").mkdir(parents=True)
    (root / "file").write_text("x")
    (tmp_path / "link").symlink_to(root)
    for output in (root / "a.ffr", root / "inner" / "a.ffr", tmp_path / "link" / "a.ffr"):
        with pytest.raises(fr.InvalidArgumentError, match="inside"):
            pack_folder(root, output)
    pack_folder(root, tmp_path / "folder2.ffr")
    assert sorted(os.listdir(root)) == ["file", "inner"]


def test_c2_5_a_file_that_cannot_be_read_leaves_nothing(tmp_path: pathlib.Path) -> None:
    root = tmp_path / "folder"
    root.mkdir()
    (root / "a").write_text("x")
    (root / "dangling").symlink_to(tmp_path / "none")
    with pytest.raises(OSError, match="dangling"):
        pack_folder(root, tmp_path / "out.ffr")
    assert os.listdir(tmp_path) == ["folder"]


def test_c2_10_close_and_with() -> None:
    with PackedFolder(GOLDEN) as packed:
        packed.read_one("001.txt")
    packed.close()
    with pytest.raises(RuntimeError, match="closed"):
        packed.read_one("001.txt")
    assert packed.is_file("001.txt")


def test_c2_10_read_takes_one_path_as_the_readme_shows() -> None:
    packed = PackedFolder(GOLDEN)
    one = packed.read("001.txt")
    assert bytes(one) == bytes(packed.read(["001.txt"])[0]) == bytes(packed.read_one("001.txt"))
    assert packed.read([]) == []
    assert bytes(packed.read_one(fname="001.txt")) == bytes(one)  # FFRecord's keyword
    assert bytes(packed.read(fnames=["001.txt"])[0]) == bytes(one)
    names = ["sub/deep/data.bin", pathlib.Path("001.txt"), "001.txt"]
    assert [bytes(x) for x in packed.read(names)] == [bytes(packed.read_one(x)) for x in names]


def test_what_is_neither_file_nor_folder_is_refused_and_not_waited_for(
    tmp_path: pathlib.Path,
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    with pytest.raises(ValueError, match="pipe: the entry is neither a file nor a folder"):
        pack_folder(folder, tmp_path / "out.ffr")
    os.unlink(folder / "pipe")
    os.symlink("/dev/zero", folder / "endless")
    with pytest.raises(ValueError, match="endless: the entry is neither"):
        pack_folder(folder, tmp_path / "out.ffr")
    os.unlink(folder / "endless")
    os.symlink("nowhere", folder / "lost")
    with pytest.raises(FileNotFoundError, match="the link does not exist: found a link to nowhere"):
        pack_folder(folder, tmp_path / "out.ffr")
    assert os.listdir(tmp_path) == ["folder"]


def test_a_folder_that_could_not_be_read_again_is_not_packed(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "folder"
    deepest = folder.joinpath(*["d"] * 255)
    deepest.mkdir(parents=True)
    pack_folder(folder, tmp_path / "out.ffr")
    with PackedFolder(tmp_path / "out.ffr") as packed:
        assert packed.is_dir("/".join(["d"] * 255))
    (deepest / "d").mkdir()
    with pytest.raises(ValueError, match="folders are nested too deeply"):
        pack_folder(folder, tmp_path / "more.ffr")
    assert not (tmp_path / "more.ffr").exists()


def test_the_remedy_for_another_file_is_one_of_this_package(tmp_path: pathlib.Path) -> None:
    files.write(tmp_path / "plain.ffr", [b"x"])
    with pytest.raises(ValueError, match="not a packed folder") as caught:
        PackedFolder(tmp_path / "plain.ffr")
    assert isinstance(caught.value, fr.Error)
    assert "FileReader" in str(caught.value)
    assert "schema" not in str(caught.value)


@pytest.mark.parametrize("bad", [3, None, b"a.txt"])
def test_paths_of_a_wrong_type(tmp_path: pathlib.Path, bad: object) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"a")
    pack_folder(folder, tmp_path / "out.ffr")
    packed = PackedFolder(tmp_path / "out.ffr")
    for ask in (packed.exists, packed.is_file, packed.is_dir, packed.read_one):
        with pytest.raises(TypeError) as caught:
            ask(bad)
        assert isinstance(caught.value, fr.Error)
