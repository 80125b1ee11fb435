"""A bad file, folder or disk causes one clear error that names file, place and problem."""

from __future__ import annotations

import os
import pathlib
import shutil
import struct
from collections.abc import Callable

import pytest

import fuelrail as fr
from fuelrail import transforms as T
from photographs import encoded, photograph


@pytest.fixture
def copy(record_file: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the photographs' file with index and sidecar, to damage."""
    for path in record_file.parent.glob("photographs.*"):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path / record_file.name


def sidecar(file: pathlib.Path) -> pathlib.Path:
    return file.with_name(file.name + ".frx")


@pytest.fixture(autouse=True)
def cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The cache for sidecars that cannot be written beside their file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def crop(data: object, **options: object) -> fr.Loader:
    return fr.Loader(data, 4, transforms=[T.CenterCrop(16)], **options)


# --- Files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["missing.rec", "missing", "missing/"])
def test_a_missing_file_is_named(tmp_path: pathlib.Path, name: str) -> None:
    with pytest.raises(fr.NotFoundError) as caught:
        fr.open(f"{tmp_path}/{name}")
    assert "missing" in str(caught.value)


def test_an_empty_file_is_truncated(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty.rec").touch()
    with pytest.raises(fr.TruncatedError, match="empty") as caught:
        fr.open(tmp_path / "empty.rec")
    assert caught.value.path == str(tmp_path / "empty.rec")


def test_a_dataset_without_samples_is_a_dataset_but_no_loader(copy: pathlib.Path) -> None:
    data = fr.open(copy)[:0]
    assert len(data) == 0
    assert list(data) == []
    with pytest.raises(fr.OutOfRangeError, match="empty"):
        data[0]
    with pytest.raises(fr.InvalidArgumentError, match="no records"):
        crop(data)


def test_a_file_that_is_no_recordio_is_corrupt(tmp_path: pathlib.Path) -> None:
    (tmp_path / "text.rec").write_bytes(b"this is not a record file at all" * 10)
    with pytest.raises(fr.CorruptError) as caught:
        fr.open(tmp_path / "text.rec")
    assert caught.value.path == str(tmp_path / "text.rec")
    assert caught.value.offset == 0
    assert caught.value.expected
    assert caught.value.found


def test_a_file_of_an_unknown_kind_is_unsupported(tmp_path: pathlib.Path) -> None:
    (tmp_path / "data.tfrecord").write_bytes(b"0123456789abcdef")
    with pytest.raises(fr.UnsupportedError, match=r"\.rec"):
        fr.open(tmp_path / "data.tfrecord")


@pytest.mark.parametrize("uri", ["s3://bucket/a.rec", "http://host/a.rec", "hdfs://host/a.rec"])
def test_a_remote_uri_is_unsupported(uri: str) -> None:
    with pytest.raises(fr.UnsupportedError):
        fr.open(uri)


def test_a_truncated_file_is_truncated(copy: pathlib.Path) -> None:
    os.truncate(copy, copy.stat().st_size - 9)
    sidecar(copy).unlink()
    with pytest.raises(fr.TruncatedError) as caught:
        fr.open(copy)
    assert caught.value.path == str(copy)
    assert caught.value.offset is not None


def test_a_record_longer_than_the_file_is_refused_without_taking_memory(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "long.rec").write_bytes(struct.pack("<II", 0xCED7230A, 0x1FFFFFFF) + b"abcd")
    with pytest.raises(fr.TruncatedError) as caught:
        fr.open(tmp_path / "long.rec")
    assert caught.value.path == str(tmp_path / "long.rec")


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
def test_a_flipped_bit_is_found_by_the_checksum(copy: pathlib.Path) -> None:
    place = fr.open(copy).place(9)
    with copy.open("r+b") as file:
        file.seek(place.offset + 500)
        byte = file.read(1)[0]
        file.seek(place.offset + 500)
        file.write(bytes([byte ^ 1]))
    data = fr.open(copy)
    with pytest.raises(fr.CorruptError) as caught:
        data[9]
    assert (caught.value.path, caught.value.record) == (str(copy), 9)
    assert caught.value.offset == place.offset
    iterator = iter(crop(data))
    next(iterator)
    next(iterator)
    with pytest.raises(fr.CorruptError, match="record 9"):
        next(iterator)


def test_a_sidecar_of_another_file_is_set_aside_with_a_warning(
    copy: pathlib.Path, tiny_file: pathlib.Path
) -> None:
    foreign = sidecar(tiny_file).read_bytes()
    sidecar(copy).write_bytes(foreign)
    with pytest.warns(fr.FuelrailWarning, match="frx") as caught:
        data = fr.open(copy)
    assert caught[0].filename == __file__
    assert len(data) == 31
    assert data.classes == []
    assert sidecar(copy).read_bytes() == foreign


def test_a_warning_may_be_made_an_error(copy: pathlib.Path, tiny_file: pathlib.Path) -> None:
    shutil.copy(sidecar(tiny_file), sidecar(copy))
    with pytest.raises(fr.FuelrailWarning, match="frx"):
        fr.open(copy)
    with pytest.warns(fr.FuelrailWarning) as caught:
        crop(copy)
    assert caught[0].filename.endswith("test_bad_input.py")


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
@pytest.mark.parametrize("size", [0, 7, 100])
def test_a_damaged_sidecar_changes_no_sample(copy: pathlib.Path, size: int) -> None:
    expected = [sample.image for sample in fr.open(copy)]
    os.truncate(sidecar(copy), size)
    assert [sample.image for sample in fr.open(copy)] == expected


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
def test_an_index_that_disagrees_changes_no_sample(copy: pathlib.Path) -> None:
    expected = [sample.image for sample in fr.open(copy)]
    sidecar(copy).unlink()
    copy.with_suffix(".idx").write_text("0\t0\n1\t12\n2\t999999999\n")
    assert [sample.image for sample in fr.open(copy)] == expected


def test_a_file_without_a_sidecar_gets_one_by_scanning(copy: pathlib.Path) -> None:
    expected = [sample.image for sample in fr.open(copy)]
    sidecar(copy).unlink()
    data = fr.open(copy)
    assert [sample.image for sample in data] == expected
    assert sidecar(copy).exists()
    assert data.classes == []


# --- Folders ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
def test_files_that_are_no_images_are_left_out_of_a_folder(tmp_path: pathlib.Path) -> None:
    for name in ("a/1.jpg", "a/notes.txt", "b/2.jpg", "b/.hidden"):
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(photograph(1, 20, 20)) if name.endswith("jpg") else b"text")
    data = fr.open(tmp_path / "folder")
    assert [sample.label for sample in data] == [0, 1]


def test_text_with_an_images_name_is_an_error_with_its_path(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "folder" / "class" / "text.jpg"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no image")
    with pytest.raises(fr.Error) as caught:
        list(crop(tmp_path / "folder"))
    assert caught.value.path == str(path)
    assert isinstance(caught.value, (fr.DecodeError, fr.UnsupportedError))


def test_a_folder_without_images_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "folder" / "class").mkdir(parents=True)
    with pytest.raises(fr.Error, match="folder"):
        crop(fr.open(tmp_path / "folder"))


def test_an_unreadable_directory_is_an_error(
    python: Callable[..., object], folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    # The tests run as root, which may do anything, so the script drops that privilege.
    script = """
import os, sys
import fuelrail as fr
root, locked = sys.argv[1:]
os.chdir(root)
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    fr.open(locked)
except fr.IoError as error:
    assert locked in error.path, error.path
    assert isinstance(error, OSError)
    print("refused")
"""
    shutil.copytree(folder, tmp_path / "open")
    for directory in [tmp_path, *tmp_path.parents]:
        if directory.stat().st_uid == os.getuid() and directory != pathlib.Path("/"):
            directory.chmod(directory.stat().st_mode | 0o055)
        if directory.name.startswith("pytest-of-"):
            break
    (tmp_path / "open" / "bee").chmod(0)
    done = python(script, tmp_path, "open")
    assert done.stdout == "refused\n", done.stderr  # type: ignore[attr-defined]


# --- Images -----------------------------------------------------------------------------------


def declaring(jpeg: bytes, height: int, width: int) -> bytes:
    """The same JPEG with another size in its frame header."""
    at = jpeg.index(b"\xff\xc0") + 5
    return jpeg[:at] + struct.pack(">HH", height, width) + jpeg[at + 4 :]


@pytest.fixture
def jpeg() -> bytes:
    return encoded(photograph(1, 64, 64))


def bad_images(jpeg: bytes) -> dict[str, tuple[bytes, str]]:
    return {
        "huge": (declaring(jpeg, 60000, 60000), "pixels"),
        "no height": (declaring(jpeg, 0, 64), ""),
        "no width": (declaring(jpeg, 64, 0), ""),
        "cut": (jpeg[: len(jpeg) // 2], ""),
        "header only": (jpeg[:20], ""),
        "nothing": (b"", ""),
        "text": (b"no image", ""),
    }


@pytest.mark.parametrize("name", bad_images(b"\xff\xd8\xff\xc0" + bytes(40)))
def test_a_bad_image_is_an_error_with_its_place(
    make_file: Callable[..., pathlib.Path], jpeg: bytes, name: str
) -> None:
    image, match = bad_images(jpeg)[name]
    data = fr.open(make_file([jpeg, image], verify_images=False))
    with pytest.raises(fr.Error, match=match or None) as decoded:
        data[1].decode()
    with pytest.raises(fr.Error, match=match or None) as loaded:
        list(fr.Loader(data, 2, transforms=[T.CenterCrop(60)]))
    for caught in (decoded, loaded):
        assert isinstance(caught.value, (fr.DecodeError, fr.TruncatedError, fr.UnsupportedError)), (
            caught.value
        )
        assert (caught.value.path, caught.value.record) == tuple(data.place(1)[:2])
        assert caught.value.offset == data.place(1).offset


def test_a_limit_of_pixels_can_be_lowered_and_raised(
    make_file: Callable[..., pathlib.Path], jpeg: bytes
) -> None:
    data = fr.open(make_file([jpeg]))
    with pytest.raises(fr.DecodeError, match="4095"):
        list(crop(data, max_pixels=64 * 64 - 1))
    assert len(list(crop(data, max_pixels=64 * 64))) == 1


# --- Packing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["0\tcat\t0.jpg", "0\t0.jpg", "x\t1\t0.jpg", "0\tnan\t0.jpg", "0"])
def test_a_line_of_a_list_that_is_none_is_named(
    tmp_path: pathlib.Path, jpeg: bytes, line: str
) -> None:
    (tmp_path / "0.jpg").write_bytes(jpeg)
    (tmp_path / "all.lst").write_text(f"7\t1\t0.jpg\n{line}\n")
    with pytest.raises(fr.Error, match="line 2"):
        fr.pack(tmp_path / "all.lst", tmp_path / "out.rec")
    assert [path.name for path in tmp_path.glob("out.*")] == ["out.rec.errors.jsonl"]


@pytest.mark.parametrize("source", ["missing", "empty"])
def test_a_source_without_images_is_refused(tmp_path: pathlib.Path, source: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises((fr.NotFoundError, fr.CorruptError), match=source):
        fr.pack(tmp_path / source, tmp_path / "out.rec")
    assert not list(tmp_path.glob("out.*"))


def test_an_output_folder_that_is_missing_is_named(
    folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(fr.NotFoundError, match="nowhere"):
        fr.pack(folder, tmp_path / "nowhere" / "out.rec")


def test_a_full_disk_is_an_error_and_leaves_no_file(
    python: Callable[..., object], folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    script = """
import resource, sys
import fuelrail as fr
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    fr.pack(sys.argv[1], sys.argv[2])
except fr.IoError as error:
    assert "out" in error.path
    print("full")
"""
    done = python(script, folder, tmp_path / "out.rec")
    assert done.stdout == "full\n", done.stderr  # type: ignore[attr-defined]
    assert not (tmp_path / "out.rec").exists()
    assert not (tmp_path / "out.rec.frx").exists()
