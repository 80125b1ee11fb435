"""`fuelrail.convert`: `.rec` to `.ffr` and back."""

from __future__ import annotations

import pathlib

import pytest

import fuelrail as fr


@pytest.fixture
def packed(folder: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    fr.pack(folder, tmp_path / "a.rec")
    return tmp_path / "a.rec"


def same(a: pathlib.Path, b: pathlib.Path) -> bool:
    return a.read_bytes() == b.read_bytes()


def test_there_and_back_gives_the_same_files(packed: pathlib.Path) -> None:
    there, back = packed.with_name("b.ffr"), packed.with_name("c.rec")
    made = fr.convert(packed, there)
    assert made == fr.PackedFile(str(there), len(fr.open(packed)), there.stat().st_size)
    fr.convert(str(there), str(back))
    for end in (".rec", ".idx", ".rec.frx"):
        assert same(packed.with_name("a" + end), packed.with_name("c" + end))


def test_it_gives_what_packing_gives(folder: pathlib.Path, packed: pathlib.Path) -> None:
    fr.convert(packed, packed.with_name("b.ffr"))
    report = fr.pack(folder, packed.with_name("p.ffr"))
    assert [file.path for file in report.files] == [str(packed.with_name("p.ffr"))]
    assert same(packed.with_name("b.ffr"), packed.with_name("p.ffr"))
    assert same(packed.with_name("b.ffr.frx"), packed.with_name("p.ffr.frx"))
    assert not packed.with_name("p.idx").exists()


def test_keys_of_an_index_come_back(packed: pathlib.Path) -> None:
    index = packed.with_suffix(".idx")
    places = [line.split("\t")[1] for line in index.read_text().splitlines()]
    index.write_text("".join(f"{1000 - 3 * i}\t{place}\n" for i, place in enumerate(places)))
    fr.convert(packed, packed.with_name("b.ffr"))
    fr.convert(packed.with_name("b.ffr"), packed.with_name("c.rec"))
    assert same(index, packed.with_name("c.idx"))


def test_progress_is_told_of_records(packed: pathlib.Path) -> None:
    told: list[fr.PackProgress] = []
    fr.convert(packed, packed.with_name("b.ffr"), progress=told.append)
    assert told[-1].done == told[-1].total == len(fr.open(packed))
    assert told[-1].bytes > 0


def test_an_error_in_the_progress_ends_it_and_leaves_nothing(packed: pathlib.Path) -> None:
    before = sorted(packed.parent.iterdir())

    def fail(progress: fr.PackProgress) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fr.convert(packed, packed.with_name("b.ffr"), progress=fail)
    assert sorted(packed.parent.iterdir()) == before


def test_an_output_that_is_there_is_replaced_only_when_asked(packed: pathlib.Path) -> None:
    out = packed.with_name("b.ffr")
    out.write_bytes(b"mine")
    with pytest.raises(fr.IoError, match="already exists"):
        fr.convert(packed, out)
    assert out.read_bytes() == b"mine"
    fr.convert(packed, out, overwrite=True)
    assert out.stat().st_size > 1000


def test_what_makes_no_sense_is_refused(packed: pathlib.Path, folder: pathlib.Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="same format"):
        fr.convert(packed, packed.with_name("b.rec"))
    with pytest.raises(fr.InvalidArgumentError, match="a folder cannot be converted"):
        fr.convert(folder, packed.with_name("b.ffr"))
    with pytest.raises(fr.InvalidArgumentError, match="`output`"):
        fr.convert(packed, 3)  # type: ignore[arg-type]
    with pytest.raises(fr.ArgumentTypeError, match="`progress`"):
        fr.convert(packed, packed.with_name("b.ffr"), progress=3)  # type: ignore[arg-type]
    with pytest.raises(fr.NotFoundError):
        fr.convert(packed.with_name("none.rec"), packed.with_name("b.ffr"))


def test_damage_is_found_on_the_way(packed: pathlib.Path) -> None:
    damaged = bytearray(packed.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    packed.write_bytes(damaged)
    with pytest.raises(fr.CorruptError, match="checksum"):
        fr.convert(packed, packed.with_name("b.ffr"))
    assert not packed.with_name("b.ffr").exists()


def test_a_sidecar_that_cannot_be_used_is_not_lost_in_silence(packed: pathlib.Path) -> None:
    packed.with_name("a.rec.frx").write_bytes(b"no sidecar")
    with (
        pytest.warns(fr.FuelrailWarning),
        pytest.raises(fr.CorruptError, match="it may hold data that the file does not have"),
    ):
        fr.convert(packed, packed.with_name("b.ffr"))
