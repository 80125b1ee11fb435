"""fuelrail.benzina.utils.file: files in files, their tracks and samples."""

from __future__ import annotations

import io
import os
import pathlib
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from bzna_files import RECORD, packed, page_file
from fuelrail.benzina.utils.file import File, Sample, Track
from mp4_boxes import outer_file, stbl, trak


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    made = tmp_path / "x.bzna"
    made.write_bytes(page_file())
    return made


def test_a_record_is_a_file_with_tracks_of_its_own(path: pathlib.Path) -> None:
    with Track(path, "bzna_input") as inputs:
        assert (len(inputs), inputs.shape, inputs.label) == (1, (0, 0), "bzna_input")
        assert inputs.video_configuration_location() is None
        sample = inputs[0]
        assert sample.location == inputs.sample_location(0) == (40, len(RECORD))
        assert bytes(sample) == sample.value == inputs.sample_bytes(-1) == RECORD
        inner = sample.as_file()
        assert (inner.offset, inner.path) == (40, None)
        assert inner.labels() == ["bzna_input", "bzna_thumb", "bzna_target", "bzna_fname"]
        thumb = Track(inner, "bzna_thumb")
        assert (thumb.shape, bytes(thumb[0])) == ((512, 456), b"thumb")
        at, size = thumb.video_configuration_location() or (0, 0)
        assert page_file()[at : at + size] == b"sets"
        assert Track(inner, "bzna_input").shape == (600, 535)
        assert Track(inner, b"bzna_fname\0")[0].value == b"cat.jpg\0"
        offsets, sizes = thumb.sample_locations()
        assert (offsets.dtype, sizes.dtype) == (np.int64, np.int64)
        assert [(offsets[0], sizes[0])] == [thumb.sample_location(0)]


def test_samples_are_counted_from_the_end_too(tmp_path: pathlib.Path) -> None:
    path = packed(tmp_path)
    with Track(path, "bzna_input") as track:
        values = [bytes(sample) for sample in track]
        assert len(values) == 12
        assert len(set(values)) == 6  # in two splits
        assert bytes(track[-1]) == values[-1] == bytes(track[np.int64(11)])
        for index in (12, -13):
            with pytest.raises(IndexError, match="the sample index is out of range"):
                track[index]
        with pytest.raises(fr.ArgumentTypeError):
            track["0"]  # type: ignore[index]
    assert values == [
        Track(File(io.BytesIO(path.read_bytes())), "bzna_input")[i].value for i in range(12)
    ]


def test_a_missing_track_is_an_error_with_those_that_there_are(path: pathlib.Path) -> None:
    expected = r"x\.bzna: .*expected one of the tracks bzna_input, bzna_target, bzna_fname, Video"
    with pytest.raises(ValueError, match=expected):
        Track(path, "bzna_thumb").open()
    with File(path) as file:
        assert file.trak("bzna_thumb") is None
        assert file.trak("") is None
        assert file.trak("bzna_input") == file.trak(b"bzna_input\0")


def test_of_two_tracks_with_one_name_the_first_is_used() -> None:
    twice = [trak(b"bzna_input", stbl(size, [40])) for size in (3, 4)]
    assert bytes(Track(File(io.BytesIO(outer_file(b"abcd", *twice))), "bzna_input")[0]) == b"abc"


def test_files_open_and_close(path: pathlib.Path) -> None:
    file, track = File(path), Track(path, "bzna_input")
    for use in (lambda: file.trak("a"), lambda: len(track), lambda: track[0], lambda: track.shape):
        with pytest.raises(RuntimeError, match="was never opened"):
            use()
    track.open()
    track.open()
    sample = track[0]
    inner = sample.as_file()
    track.close()
    track.close()
    assert (len(track), track.file.closed, inner.closed) == (1, True, True)
    for use in (sample.as_file, lambda: bytes(sample), lambda: inner.read(1)):
        with pytest.raises(fr.StateError, match=r"x\.bzna: the file is closed"):
            use()
    track.open()
    assert bytes(sample) == RECORD
    with Track(track.file, "bzna_target"):  # does not own the file
        pass
    assert bytes(Track(inner, "bzna_thumb")[0]) == b"thumb"


def test_a_forgotten_file_is_closed(path: pathlib.Path) -> None:
    def descriptors() -> int:
        links = (
            os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")
        )
        return sum(link == str(path) for link in links)

    track = Track(path, "bzna_input")
    track.open()
    inner = track[0].as_file()
    assert descriptors() == 1  # shared
    del track
    assert inner.trak("bzna_thumb") is not None
    assert descriptors() == 1
    del inner
    assert descriptors() == 0


def test_a_file_is_read_like_a_file(path: pathlib.Path) -> None:
    with File(path) as file:
        assert (file.path, file.name, file.offset) == (str(path), str(path), 0)
        assert file.seek(4) == file.tell() == 4
        assert (file.read(4), file.tell()) == (b"ftyp", 8)
        assert file.seek(-3, os.SEEK_END) == len(page_file()) - 3
        assert file.seek(-1, os.SEEK_CUR) == len(page_file()) - 4
        assert len(file.read()) == 4
        assert file.read(9) == b""
        inner = file.subfile(40, len(RECORD))
        inner.seek(-1, os.SEEK_END)
        assert inner.read() == RECORD[-1:]
    with pytest.raises(fr.NotFoundError, match="the file does not exist"):
        File(path.with_name("absent")).open()
    with pytest.raises(fr.IoError, match="the file cannot be read"):
        File(path.parent).open()
    with pytest.raises(fr.ArgumentTypeError, match="expected a path or a binary file"):
        File(3)  # type: ignore[arg-type]


def test_a_file_object_is_used_as_it_is(path: pathlib.Path) -> None:
    with path.open("rb") as opened, File(opened) as file:
        assert (file.path, file.name) == (None, str(path))
        track = Track(file, "bzna_input")
        assert Track(track[0].as_file(), "bzna_thumb")[0].value == b"thumb"
    assert opened.closed
    with pytest.raises(fr.StateError, match="the file object is closed"):
        track.sample_bytes(0)
    memory = io.BytesIO(page_file())
    with File(memory, 40) as file:  # not the owner
        assert file.labels()[:2] == ["bzna_input", "bzna_thumb"]
    assert not memory.closed


def test_nothing_is_read_after_the_end_of_a_record() -> None:
    """Its last box, cut, would otherwise go on in the next record."""
    media = RECORD + RECORD
    for size in (len(RECORD) - 1, len(RECORD) - 60):
        content = outer_file(media, trak(b"bzna_input\0", stbl([size], [40])))
        sample = Track(File(io.BytesIO(content)), "bzna_input")[0]
        with pytest.raises(fr.CorruptError, match="a box has an invalid length"):
            sample.as_file()
    with pytest.raises(fr.CorruptError, match="the file has no tracks"):
        File(io.BytesIO(RECORD[:58]))


def test_a_file_that_became_shorter_is_an_error(path: pathlib.Path) -> None:
    with Track(path, "bzna_input") as track:
        os.truncate(path, 1000)
        with pytest.raises(fr.TruncatedError, match=r"x\.bzna: offset 40: the file ends too early"):
            track.sample_bytes(0)


@pytest.mark.parametrize("of", ["track", "sample", "inner file", "inner sample", "closed track"])
def test_a_pickle_has_the_path_alone(path: pathlib.Path, of: str) -> None:
    track = Track(path, "bzna_input")
    track.open()
    inner = track[0].as_file()
    thing = {
        "track": track,
        "sample": track[0],
        "inner file": inner,
        "inner sample": Track(inner, "bzna_thumb")[0],
        "closed track": Track(path, "bzna_input"),
    }[of]
    content = pickle.dumps(thing)
    assert len(content) < 500
    again: Any = pickle.loads(content)
    if isinstance(again, Sample):
        assert again.value == bytes(thing)  # type: ignore[call-overload]
        assert again.location == thing.location  # type: ignore[union-attr]
    elif isinstance(again, Track):
        again.open()
        assert bytes(again[0]) == RECORD
    else:
        assert again.labels() == inner.labels()


def test_threads_and_a_forked_child_share_a_file(
    tmp_path: pathlib.Path, python: Callable[..., Any]
) -> None:
    path = packed(tmp_path)
    script = """if True:
        import os, sys, threading
        from fuelrail.benzina.utils.file import Track
        assert "torch" not in sys.modules
        track = Track(sys.argv[1], "bzna_input")
        track.open()
        expected = [bytes(sample) for sample in track]
        def read():
            for _ in range(200):
                assert [bytes(sample) for sample in track] == expected
        child = os.fork()
        read()
        if child == 0:
            track.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        read()
        """
    done = python(script, path)
    assert done.returncode == 0, done.stderr
    wrong = []
    with Track(path, "bzna_input") as track:
        expected = [bytes(sample) for sample in track]

        def read() -> None:
            for _ in range(100):
                if [bytes(sample) for sample in track] != expected:
                    wrong.append(1)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
