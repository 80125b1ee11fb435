from __future__ import annotations

import pickle

import pytest

import fuelrail as fr

TWINS = [
    (fr.InvalidArgumentError, ValueError),
    (fr.ArgumentTypeError, TypeError),
    (fr.OutOfRangeError, IndexError),
    (fr.NotFoundError, FileNotFoundError),
    (fr.IoError, OSError),
    (fr.TruncatedError, EOFError),
    (fr.CorruptError, ValueError),
    (fr.DecodeError, ValueError),
    (fr.OutOfMemoryError, MemoryError),
    (fr.UnsupportedError, NotImplementedError),
    (fr.StateError, RuntimeError),
]


@pytest.mark.parametrize(("kind", "twin"), TWINS)
def test_every_error_is_an_error_and_its_builtin(kind: type[fr.Error], twin: type) -> None:
    assert issubclass(kind, fr.Error)
    assert issubclass(kind, twin)


@pytest.mark.parametrize(("kind", "twin"), TWINS)
def test_errors_pickle_with_all_their_parts(kind: type[fr.Error], twin: type) -> None:
    error = kind(
        "the record is too long",
        path="a.rec",
        record=3,
        offset=17,
        expected="4",
        found="5",
        remedy="Pack it again",
    )
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is kind
    assert str(back) == str(error)
    assert vars(back) == vars(error)


def test_the_text_has_every_part_in_order() -> None:
    error = fr.CorruptError(
        "the magic number is wrong", path="a.rec", record=3, offset=17, expected="4", found="5"
    )
    assert str(error) == (
        "a.rec: record 3, offset 17: the magic number is wrong: expected 4, found 5"
    )
    assert error.remedy is None


def test_an_error_of_the_core_arrives_with_its_parts() -> None:
    with pytest.raises(fr.NotFoundError, match="missing") as caught:
        fr.open("/no/such/missing.rec")
    assert caught.value.path == "/no/such/missing.rec"
    assert caught.value.failure
    assert isinstance(caught.value, FileNotFoundError)


def test_a_path_that_is_not_utf8_survives_and_can_be_printed() -> None:
    with pytest.raises(fr.NotFoundError) as caught:
        fr.open(b"/no/such/\xff.rec")
    assert caught.value.path == "/no/such/\udcff.rec"
    str(caught.value).encode()


def test_a_text_alone_keeps_its_lines() -> None:
    error = fr.CorruptError("Caught it.\nOriginal\n  text\0\x1b")
    assert str(error) == "Caught it.\nOriginal\n  text\\x00\\x1b"
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), vars(back)) == (str(error), vars(error))


@pytest.mark.parametrize(
    ("part", "shown"), [("a\0b", r"a\x00b"), ("a\nb", r"a\x0ab"), ("a\ud800b", r"a\ud800b")]
)
def test_no_character_cuts_or_breaks_an_errors_line(part: str, shown: str) -> None:
    error = fr.Error(part, path=part, expected=part, found=part, remedy=part)
    assert str(error) == f"{shown}: {shown}: expected {shown}, found {shown}. {shown}."
    assert error.found == part
