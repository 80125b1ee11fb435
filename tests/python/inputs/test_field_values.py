"""What a data field stores of an assigned value: numbers, mapped text, and text."""

from __future__ import annotations

import decimal
import enum
import fractions
import pathlib
import pickle
import sys
from typing import Any

import numpy as np
import pytest

from fuelrail.inputs import DataType, FieldError, SampleDataGroup
from fuelrail.inputs.data_type import data_type

NUMBERS = [kind for kind in DataType if kind is not DataType.STRING]
INTEGERS = [kind for kind in NUMBERS if "INT" in kind.name]
FLOATS = [DataType.FLOAT16, DataType.FLOAT, DataType.FLOAT64]


def one(kind: Any, mapping: dict[Any, Any] | None = None) -> SampleDataGroup:
    group = SampleDataGroup()
    group.add_data_field("x", kind, mapping)
    return group


def stored(kind: DataType, value: Any) -> Any:
    group = one(kind)
    group["x"] = value
    return group["x"]


# --- Types ---


class DALIDataType(enum.Enum):
    """Members as DALI names them, with other numbers."""

    INT32 = "a"
    STRING = "b"
    NO_TYPE = "c"


def test_a_member_of_another_enumeration_is_taken_by_its_name() -> None:
    assert data_type(DALIDataType.INT32) is DataType.INT32
    assert one(DALIDataType.STRING).get_type_of_field("x") is DataType.STRING
    with pytest.raises(AssertionError):
        one(DALIDataType.NO_TYPE)


def test_names_and_numbers_of_types_are_those_of_dali() -> None:
    """DALI converts a member to its number, so ours can be passed to DALI's operators."""
    assert {kind.name: int(kind) for kind in DataType} == {
        "UINT8": 0,
        "UINT16": 1,
        "UINT32": 2,
        "UINT64": 3,
        "INT8": 4,
        "INT16": 5,
        "INT32": 6,
        "INT64": 7,
        "FLOAT16": 8,
        "FLOAT": 9,
        "FLOAT64": 10,
        "BOOL": 11,
        "STRING": 12,
    }


# --- Numbers ---


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("value", [1, True, 1.0, np.int64(1), np.bool_(True), np.float32(1)])
def test_a_scalar_becomes_an_array_without_dimensions(kind: DataType, value: Any) -> None:
    found = stored(kind, value)
    assert type(found) is np.ndarray
    assert (found.dtype, found.shape, found.item()) == (kind.dtype, (), 1)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("other", NUMBERS)
def test_an_array_of_any_type_is_stored_if_its_values_exist(
    kind: DataType, other: DataType
) -> None:
    given = np.array([[0, 1], [1, 0]], other.dtype)
    found = stored(kind, given)
    assert found.dtype == kind.dtype
    assert found.tolist() == given.tolist()
    assert not np.shares_memory(found, given)


@pytest.mark.parametrize("value", [[], (), [[], []], np.zeros((0, 4), np.int64)])
@pytest.mark.parametrize("kind", NUMBERS)
def test_empty_lists_and_arrays_keep_their_shape(kind: DataType, value: Any) -> None:
    found = stored(kind, value)
    assert found.dtype == kind.dtype
    assert found.shape == np.shape(value)


@pytest.mark.parametrize(
    "value",
    [(1, 2), [[1], [2]], [np.array([1, 2]), [3, 4]], [np.float32(1), 2], np.array([[1, 2]])],
)
def test_lists_tuples_and_lists_of_arrays_become_one_array(value: Any) -> None:
    assert stored(DataType.INT16, value).tolist() == np.asarray(value).tolist()


def test_an_array_of_foreign_byte_order_is_stored_in_native_order() -> None:
    for order in "<>":
        found = stored(DataType.INT32, np.array([1, 256], f"{order}i4"))
        assert found.dtype.isnative
        assert found.tolist() == [1, 256]


def test_an_array_that_is_not_contiguous_is_copied() -> None:
    given = np.arange(6, dtype=np.float32).reshape(2, 3).T
    found = stored(DataType.FLOAT, given)
    assert found.tolist() == given.tolist()
    given[:] = 0
    assert found.any()


def mapped_for(mode: Any, folder: pathlib.Path) -> Any:
    np.save(folder / "x.npy", np.arange(6, dtype=np.float32))
    return np.load(folder / "x.npy", mmap_mode=mode)


CONSTANT = {
    "a file mapped for reading": lambda folder: mapped_for("r", folder),
    "a part of it": lambda folder: mapped_for("r", folder)[1:5:2],
    "bytes": lambda folder: np.frombuffer(bytes(24), np.float32),
}
MAY_CHANGE = {
    "a file mapped for writing": lambda folder: mapped_for("r+", folder),
    "a bytearray": lambda folder: np.frombuffer(bytearray(24), np.float32),
    "a read-only view": lambda folder: np.lib.stride_tricks.as_strided(
        np.zeros(6, np.float32), writeable=False
    ),
    "another dtype": lambda folder: mapped_for("r", folder).view(np.int32),
}


@pytest.mark.parametrize("array", [*CONSTANT, *MAY_CHANGE])
def test_a_value_is_the_groups_own_and_can_be_changed(array: str, tmp_path: pathlib.Path) -> None:
    given = (CONSTANT | MAY_CHANGE)[array](tmp_path)
    before = given.tolist()
    group = one(DataType.FLOAT)
    group["x"] = given
    with_same_values = group.get_copy()
    restored = pickle.loads(pickle.dumps(group))
    group["x"][0] = 8
    for same in (group["x"], group.get_data()[0], group.to_dictionary(read_only=True)["x"]):
        assert same[0] == 8
    assert with_same_values["x"][0] == 8
    assert given.tolist() == before == restored["x"].tolist()
    restored["x"][0] = 8


@pytest.mark.parametrize("array", [*CONSTANT, *MAY_CHANGE])
def test_only_what_cannot_change_is_returned_without_a_copy(
    array: str, tmp_path: pathlib.Path
) -> None:
    given = (CONSTANT | MAY_CHANGE)[array](tmp_path)
    group = one(DataType.FLOAT)
    group["x"] = given
    is_given = np.shares_memory(given, group.to_dictionary(read_only=True)["x"])
    assert is_given == (array in CONSTANT)
    assert not np.shares_memory(given, group.to_dictionary()["x"])


@pytest.mark.parametrize("kind", INTEGERS)
def test_an_integer_out_of_range_is_an_error(kind: DataType) -> None:
    info = np.iinfo(kind.dtype)
    for fits in (int(info.min), int(info.max)):
        assert stored(kind, fits) == fits
        assert stored(kind, [fits]).tolist() == [fits]
    for beyond in (int(info.min) - 1, int(info.max) + 1):
        for value in (beyond, [beyond], [[0], [beyond]]):
            with pytest.raises(ValueError, match=f"numbers that {kind.name} has, found {beyond}"):
                stored(kind, value)


@pytest.mark.parametrize("kind", INTEGERS)
def test_a_narrowing_cast_of_an_array_is_an_error(kind: DataType) -> None:
    for other in INTEGERS:
        info, own = np.iinfo(other.dtype), np.iinfo(kind.dtype)
        for value in (info.min, info.max):
            given = np.array([0, value], other.dtype)
            if own.min <= value <= own.max:
                assert stored(kind, given).tolist() == [0, value]
            else:
                with pytest.raises(ValueError, match=f"a number in 'x' .* found {value}"):
                    stored(kind, given)


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("value", [1.9, float("nan"), float("inf"), -0.5, 1e300, 2.0**64])
def test_a_float_that_is_no_integer_of_the_type_is_an_error(kind: DataType, value: float) -> None:
    for given in (value, [0.0, value], np.array([value])):
        with pytest.raises(ValueError, match="a number in 'x' cannot be stored"):
            stored(kind, given)


def test_the_borders_of_the_integers_as_floats() -> None:
    assert stored(DataType.INT64, [-(2.0**63)]).tolist() == [-(2**63)]
    assert stored(DataType.UINT64, [2.0**63]).tolist() == [2**63]
    for kind, beyond in ((DataType.INT64, 2.0**63), (DataType.UINT64, 2.0**64)):
        for dtype in (np.float32, np.float64):
            with pytest.raises(ValueError, match="cannot be stored"):
                stored(kind, np.array([beyond], dtype))
    assert stored(DataType.INT32, np.array([60000], np.float16)).tolist() == [60000]


def test_large_integers_keep_their_value_in_lists_of_several_types() -> None:
    for value in ([0, 2**63 + 1], [[-0.0, 2**63 + 1]], [np.int8(3), 2**64 - 1]):
        assert stored(DataType.UINT64, value).tolist() == np.array(value, object).tolist()
    assert stored(DataType.INT64, [1.0, 2**53 + 1]).tolist() == [1, 2**53 + 1]
    assert stored(DataType.FLOAT64, [1e300, 0.5, float("nan")])[0] == 1e300
    assert np.isnan(stored(DataType.FLOAT64, [float("nan")])).all()


def test_floats_are_rounded_and_may_be_infinite_or_nan() -> None:
    assert stored(DataType.FLOAT, 0.1) == np.float32(0.1)
    assert stored(DataType.FLOAT16, [1e-9]).tolist() == [0.0]
    for kind in FLOATS:
        found = stored(kind, [float("inf"), float("-inf"), float("nan")])
        assert found[0] == -found[1] == np.inf
        assert np.isnan(found[2])


def test_a_float_that_would_become_infinite_is_an_error() -> None:
    for kind, value in ((DataType.FLOAT, 1e39), (DataType.FLOAT16, -70000.0)):
        for given in (value, [value], np.array([0, value])):
            with pytest.raises(ValueError, match="cannot be stored"):
                stored(kind, given)


def test_an_integer_that_a_float_type_does_not_have_is_an_error() -> None:
    assert stored(DataType.FLOAT, [2**24, -(2**24), 2**40]).tolist() == [2**24, -(2**24), 2**40]
    for kind, value in (
        (DataType.FLOAT, 2**24 + 1),
        (DataType.FLOAT, -(2**24) - 1),
        (DataType.FLOAT64, 2**53 + 1),
        (DataType.FLOAT64, 2**63 - 1),
        (DataType.FLOAT64, 10**400),
        (DataType.FLOAT16, 2049),
        (DataType.FLOAT16, 65520),
    ):
        for given in (value, [value], [[1, value]]):
            with pytest.raises(ValueError, match="cannot be stored"):
                stored(kind, given)


def test_only_0_and_1_are_booleans() -> None:
    assert stored(DataType.BOOL, [0, 1]).tolist() == [False, True]
    for value in (2, -1, 0.5, [0, 255], np.array([0, 255], np.uint8)):
        with pytest.raises(ValueError, match="numbers that BOOL has"):
            stored(DataType.BOOL, value)


def test_numbers_of_other_types_of_python_are_stored() -> None:
    for value in (decimal.Decimal("0.5"), fractions.Fraction(1, 2)):
        assert stored(DataType.FLOAT, value) == 0.5
        assert stored(DataType.FLOAT, [value, 1]).tolist() == [0.5, 1]
        with pytest.raises(ValueError, match="cannot be stored"):
            stored(DataType.INT8, value)
    nan = decimal.Decimal("NaN")
    assert np.isnan(stored(DataType.FLOAT, nan))
    with pytest.raises(ValueError, match="cannot be stored"):
        stored(DataType.INT8, nan)


@pytest.mark.parametrize(
    "value",
    ["1.5", b"1", ["1", "2"], np.array(["1"]), 1j, [1j], np.datetime64("2020-01-01"), [object()]],
)
@pytest.mark.parametrize("kind", [DataType.FLOAT, DataType.INT8, DataType.BOOL])
def test_what_is_no_number_is_an_error(kind: DataType, value: Any) -> None:
    with pytest.raises(ValueError, match="'x' "):
        stored(kind, value)


@pytest.mark.parametrize("value", [[[1], [1, 2]], [1, [2]], [None, 1], np.array([1, None])])
def test_lists_of_unequal_lengths_and_missing_numbers_are_errors(value: Any) -> None:
    with pytest.raises(ValueError, match="'x' "):
        stored(DataType.FLOAT, value)


@pytest.mark.parametrize("given", [bytes, bytearray, memoryview])
def test_bytes_are_stored_as_uint8(given: Any) -> None:
    values = stored(DataType.UINT8, given(b"\x00\xff"))
    assert values.dtype == np.uint8
    assert values.tolist() == [0, 255]
    values[0] = 1  # the field's own memory
    with pytest.raises(ValueError, match="for bytes, as UINT8"):
        stored(DataType.INT32, b"ab")


def test_a_range_is_stored_as_its_numbers() -> None:
    assert stored(DataType.FLOAT, range(3)).tolist() == [0, 1, 2]


def test_masked_elements_are_an_error() -> None:
    array = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(ValueError, match="'x' has masked elements"):
        stored(DataType.FLOAT, array)
    assert stored(DataType.FLOAT, array[:1]).tolist() == [1]


def test_an_error_leaves_the_old_value() -> None:
    group = one(DataType.UINT8)
    group["x"] = 3
    with pytest.raises(ValueError, match="found 300"):
        group["x"] = 300
    assert group["x"] == 3


def test_a_field_is_cleared_with_none() -> None:
    for kind in (DataType.FLOAT, DataType.STRING):
        group = one(kind)
        group["x"] = "" if kind is DataType.STRING else 1
        group["x"] = None
        assert group["x"] is None


def test_other_objects_are_stored_as_they_are() -> None:
    value = object()
    assert stored(DataType.FLOAT, value) is value


def test_a_tensor_is_stored_as_it_is() -> None:
    torch = pytest.importorskip("torch")
    value = torch.zeros(3)
    assert stored(DataType.FLOAT, value) is value


# --- Mappings ---

VEHICLES = {"car": 0, "bus": 1, None: 9}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("bus", 1),
        ("", 9),
        (["bus", "tram"], [1, 9]),
        (("car", ["bus"]), None),
        ([["bus", "car"], ["x", "car"]], [[1, 0], [9, 0]]),
        (np.array(["bus", "car"]), [1, 0]),
        (np.array([["bus"], ["tram"]], object), [[1], [9]]),
        (np.str_("bus"), 1),
        ([], []),
        (None, 9),
    ],
)
def test_text_is_mapped_to_numbers(value: Any, expected: Any) -> None:
    group = one(DataType.INT32, VEHICLES)
    if expected is None:
        with pytest.raises(ValueError, match="cannot be made an array"):
            group["x"] = value
        return
    group["x"] = value
    assert group["x"].dtype == np.int32
    assert group["x"].tolist() == expected


@pytest.mark.parametrize("value", [7, np.int64(7), True, [7, 8], np.array([7, 8]), (1.0, 2)])
def test_a_mapped_field_takes_numbers_as_they_are(value: Any) -> None:
    group = one(DataType.INT32, VEHICLES)
    group["x"] = value
    assert group["x"].tolist() == np.asarray(value).tolist()
    group["x"] = [["car", 7], ["bus", 8]]
    assert group["x"].tolist() == [[0, 7], [1, 8]]


def test_numbers_are_mapped_if_a_number_is_a_key() -> None:
    group = one(DataType.INT32, {0: 10, 1: 11, None: -1})
    for value in ([0, 1, 7], np.array([0, 1, 7])):
        group["x"] = value
        assert group["x"].tolist() == [10, 11, -1]


def test_text_that_the_mapping_lacks_is_a_key_error_that_names_it() -> None:
    group = one(DataType.INT32, {"car": 0})
    for value in ("bus", ["car", "bus"], np.array(["bus"])):
        with pytest.raises(FieldError, match=r"mapping of 'x' has no such value.* found 'bus'"):
            group["x"] = value
    with pytest.raises(KeyError, match="None"):
        group["x"] = None


@pytest.mark.parametrize("value", [b"car", np.array([b"car"]), {"car"}, [{"car": 0}]])
def test_only_text_is_mapped_to_the_default(value: Any) -> None:
    group = one(DataType.INT32, {"car": 0, None: -1})
    with pytest.raises(FieldError, match="has no such value"):
        group["x"] = value
    group["x"] = None
    assert group["x"] == -1


def test_a_mapping_is_a_dict() -> None:
    with pytest.raises(AssertionError, match="the mapping of 'x' has the wrong type"):
        one(DataType.INT32, ["car"])  # type: ignore[arg-type]


def test_a_mapping_is_copied_from_its_caller() -> None:
    mapping = {"car": 0}
    group = one(DataType.INT32, mapping)
    mapping["car"] = 5
    group["x"] = "car"
    assert group["x"] == 0


def test_mapped_numbers_must_fit_the_type() -> None:
    group = one(DataType.UINT8, {"car": 300})
    with pytest.raises(ValueError, match="found 300"):
        group["x"] = ["car"]


# --- Text ---

TEXTS = ["plain", "", "a\0b", "\0leading", "\0", "Grüße", "😀 and 漢字", "x" * 1000]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_stored_as_utf8_and_read_back(text: str) -> None:
    group = one(DataType.STRING)
    group["x"] = text
    (value,) = group.get_data()
    assert value.dtype == np.uint8
    assert value.ndim == 1
    assert value.flags.writeable
    assert value.tobytes() == text.encode()
    assert group["x"] == (text if text != "\0" else "")  # NULs at the end are padding


def padded(texts: list[str]) -> Any:
    longest = max(len(text.encode()) for text in texts)
    rows = [text.encode().ljust(longest, b"\0") for text in texts]
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(texts), longest)


def test_the_texts_of_a_padded_batch_are_read_back() -> None:
    texts = [text for text in TEXTS if text != "\0"]
    group = one(DataType.STRING)
    group.set_data([padded(texts)])
    assert group["x"] == texts
    group.set_data([np.stack([padded(texts), padded(texts)])])
    assert group["x"] == [texts, texts]


def test_a_batch_of_empty_texts_is_read_back() -> None:
    group = one(DataType.STRING)
    group.set_data([np.zeros((3, 0), np.uint8)])
    assert group["x"] == ["", "", ""]
    group.set_data([np.zeros((0, 5), np.uint8)])
    assert group["x"] == []


def test_texts_in_a_tensor_are_read() -> None:
    torch = pytest.importorskip("torch")
    group = one(DataType.STRING)
    group.set_data([torch.from_numpy(padded(["ab", "c"]).copy())])
    assert group["x"] == ["ab", "c"]


@pytest.mark.parametrize("value", [["a", "b"], b"a", 3, np.array([1], np.uint8), np.array(["a"])])
def test_a_text_field_takes_nothing_but_a_str(value: Any) -> None:
    with pytest.raises(ValueError, match="'x' has the wrong type: expected a str"):
        stored(DataType.STRING, value)


def test_text_that_is_no_unicode_is_an_error() -> None:
    with pytest.raises(ValueError, match="'x' is not valid Unicode"):
        stored(DataType.STRING, "a\ud800")


@pytest.mark.parametrize(
    "value", [np.array(3, np.uint8), np.array([1.0]), "text", [1], np.array([1], np.int8)]
)
def test_what_is_no_text_is_an_error_when_read(value: Any) -> None:
    group = one(DataType.STRING)
    group.set_data([value])
    with pytest.raises(ValueError, match="'x' cannot be read as text"):
        group["x"]


def test_bytes_that_are_not_utf8_are_an_error_when_read() -> None:
    group = one(DataType.STRING)
    group.set_data([np.array([97, 255], np.uint8)])
    with pytest.raises(ValueError, match="'x' is not UTF-8: found invalid start byte at byte 1"):
        group["x"]


def test_neither_dali_nor_cupy_is_imported_by_values() -> None:
    stored(DataType.FLOAT, object())
    assert not {"cupy", "nvidia.dali"} & sys.modules.keys()
