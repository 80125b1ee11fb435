"""What a dataset in Python can do wrong: every fault is a clear error, and nothing hangs."""

from __future__ import annotations

import pathlib
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import fuelrail as fr
import python_datasets as given
from fuelrail import fields as F
from fuelrail.inputs import SamplerInputIterable, SequenceSampler, ShuffledShardedInputCallable
from python_datasets import Numbers

SCHEMA = {"number": F.Label()}


def loader_of(dataset: object, workers: int = 2, batch_size: int = 5, **options: Any) -> fr.Loader:
    data = fr.open_python(dataset, SCHEMA, workers=workers)
    return fr.Loader(data, batch_size, fields=["number"], **options)


def epoch(loader: fr.Loader) -> list[Any]:
    """The numbers of each batch, or the error in its place."""
    results: list[Any] = []
    batches = iter(loader)
    while True:
        try:
            batch = next(batches, None)
        except fr.Error as error:
            results.append(error)
            continue
        if batch is None:
            return results
        results.append(batch[0].numpy().tolist())


@pytest.mark.parametrize("workers", [0, 2])
def test_an_exception_arrives_with_type_traceback_and_index(workers: int) -> None:
    loader = loader_of(Numbers(at=7, do=given.raise_value_error), workers)
    results = epoch(loader)
    error = results[1]
    assert isinstance(error, fr.CorruptError)
    assert error.record == 7
    assert error.path == "Numbers"
    text = str(error)
    assert "the dataset raised ValueError: this sample is bad" in text
    assert "python_datasets.py" in text
    assert "in raise_value_error" in text
    assert len(text.splitlines()) > 3
    assert "python_dataset.py" not in text.replace("python_datasets.py", "")  # none of our frames
    assert results[0] == [0, 1, 2, 3, 4]
    assert results[2] == [10, 11, 12, 13, 14]
    assert [isinstance(one, list) for one in epoch(loader)] == [True, False, True, True]


@pytest.mark.parametrize(
    ("do", "kind", "text"),
    [
        (given.raise_missing, FileNotFoundError, "/nowhere/image.jpg"),
        (given.raise_surrogate, fr.CorruptError, r"ValueError: no text: \udc80"),
        (given.take_all_memory, MemoryError, "MemoryError"),
        (given.leave, fr.CorruptError, "SystemExit: bye"),
        (given.other_field, fr.CorruptError, "unknown field 'count'"),
        (given.none, fr.CorruptError, "There is no null"),
        (given.text_value, fr.CorruptError, "'number'"),
        (given.two_values, fr.CorruptError, "'number' has the wrong shape"),
        (given.object_array, fr.CorruptError, "an array of Python objects"),
        (given.a_list, fr.CorruptError, "the sample has the wrong type"),
    ],
)
def test_a_bad_sample_is_an_error_of_its_batch(
    do: Callable[[], Any], kind: type[Exception], text: str
) -> None:
    results = epoch(loader_of(Numbers(at=7, do=do)))
    assert isinstance(results[1], kind)
    assert text in str(results[1])
    assert results[1].record == 7
    assert results[2] == [10, 11, 12, 13, 14]


def test_values_of_the_other_byte_order_are_converted() -> None:
    assert epoch(loader_of(Numbers(at=7, do=given.big_endian)))[1] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_bad_sample_is_skipped(workers: int) -> None:
    loader = loader_of(Numbers(at=7, do=given.raise_value_error), workers, on_error="skip")
    with pytest.warns(fr.FuelrailWarning, match="this sample is bad"):
        results = epoch(loader)
    assert len(results) == 4
    assert len(results[1]) == 5
    assert 7 not in results[1]
    (bad,) = loader.bad_records
    assert bad.index == 7
    assert "ValueError" in bad.error


@pytest.mark.parametrize(
    ("do", "how"),
    [(given.exit_with_code, "exit code 3"), (given.kill_itself, r"signal 9 \(SIGKILL\)")],
)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_worker_that_ends_is_named_and_fails_the_epoch(
    do: Callable[[], Any], how: str, on_error: str
) -> None:
    loader = loader_of(Numbers(at=7, do=do), on_error=on_error)
    with pytest.warns(fr.FuelrailWarning, match=f"{how} while it made sample 7. A new process"):
        results = epoch(loader)
    assert results[0] == [0, 1, 2, 3, 4]
    assert isinstance(results[1], fr.StateError)
    assert re.search(f"a worker process ended with {how}, twice", str(results[1]))


def test_a_worker_that_ends_once_is_replaced(tmp_path: pathlib.Path) -> None:
    loader = loader_of(Numbers(at=7, do=given.OnlyOnce(tmp_path / "marker")))
    with pytest.warns(fr.FuelrailWarning, match="exit code 4 while it made sample 7"):
        assert [len(batch) for batch in epoch(loader)] == [5, 5, 5, 5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        epoch(loader)


@pytest.mark.parametrize("dataset", [given.WithLock, given.WithFile])
def test_a_dataset_that_cannot_be_pickled_is_one_sentence(
    dataset: type, request: pytest.FixtureRequest
) -> None:
    made = dataset()
    request.addfinalizer(getattr(made, "close", lambda: None))
    with pytest.raises(fr.ArgumentTypeError, match="cannot pickle") as raised:
        fr.open_python(made)
    text = str(raised.value)
    assert "\n" not in text
    assert "`workers=0`" in text
    assert fr.open_python(made, workers=0)[3]["number"] == 3


def test_a_local_class_cannot_be_pickled() -> None:
    class Local(Numbers):
        pass

    with pytest.raises(fr.ArgumentTypeError, match="cannot be sent to worker processes"):
        fr.open_python(Local())


def test_prints_of_a_dataset_break_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    results = epoch(loader_of(Numbers(at=7, do=given.print_much)))
    assert [len(batch) for batch in results] == [5, 5, 5, 5]
    assert capfd.readouterr().out.count("and more\n") >= 1000  # maybe of the next epoch, too


def test_a_dataset_may_close_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(epoch(loader_of(Numbers(at=7, do=given.close_output)))) == 4
    assert capfd.readouterr().err == ""


def test_a_length_that_changes_between_epochs_is_an_error() -> None:
    dataset = Numbers()
    loader = loader_of(dataset)
    epoch(loader)
    dataset.count = 21
    with pytest.raises(
        fr.StateError, match=r"number of samples has changed.*expected 20, found 21"
    ):
        iter(loader)
    dataset.count = 20
    assert len(epoch(loader)) == 4


def test_a_length_that_differs_in_workers_is_an_error() -> None:
    loader = loader_of(given.ShorterInWorkers())
    with pytest.raises(fr.StateError, match="expected 20, found 19"):
        next(iter(loader))


def test_open_refuses_what_is_no_dataset() -> None:
    for wrong in (3, "x.rec", {"a": 1}, Numbers, fr.open_python(Numbers())):
        with pytest.raises(fr.ArgumentTypeError, match="a dataset has the wrong type"):
            fr.open_python(wrong)
    with pytest.raises(fr.ArgumentTypeError, match="open_python"):
        fr.open(Numbers())  # type: ignore[arg-type]
    for opens in (fr.open_python, fr.Loader):
        with pytest.raises(fr.ArgumentTypeError, match="Create an object of the class"):
            opens(given.Provider)
    with pytest.raises(fr.InvalidArgumentError, match="`split` cannot be given"):
        fr.Loader(Numbers(), split="train")
    with pytest.raises(fr.InvalidArgumentError, match="`workers` is out of range"):
        fr.open_python(Numbers(), workers=257)
    with pytest.raises(fr.InvalidArgumentError, match="the dataset has no samples"):
        fr.open_python(Numbers(0))
    with pytest.raises(fr.InvalidArgumentError, match="cannot be combined"):
        fr.open_python(Numbers(), SCHEMA, roles={"number": F.Label()})
    assert len(fr.open_python(Numbers(0), SCHEMA)) == 0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="errors have no notes")
def test_an_error_while_the_schema_is_inferred_has_the_index() -> None:
    with pytest.raises(ValueError, match="this sample is bad") as raised:
        fr.open_python(Numbers(at=7, do=given.raise_value_error))
    assert raised.value.__notes__ == ["raised by the source of sample 7"]


def test_inputs_and_samplers_at_the_wrong_place_say_where_they_belong() -> None:
    sampler = SequenceSampler(2, [3, 4], 0)
    for source in (
        ShuffledShardedInputCallable(given.Provider(), 2),
        SamplerInputIterable(given.Provider(), sampler),
    ):
        with pytest.raises(fr.ArgumentTypeError, match="Pass its data provider to the loader"):
            fr.Loader(source)
    with pytest.raises(fr.InvalidArgumentError, match="Pass it as `batch_sampler`"):
        fr.Loader(given.Provider(), sampler=sampler)


@pytest.mark.parametrize("count", [-1, 3.5, None])
def test_a_providers_number_of_samples_is_checked(count: Any) -> None:
    provider = given.Provider()
    provider.get_number_of_samples = lambda: count  # type: ignore[method-assign]
    with pytest.raises(fr.Error, match=r"`get_number_of_samples\(\)`"):
        fr.open_python(provider, workers=0)


def test_a_fingerprint_is_a_string() -> None:
    dataset = Numbers()
    dataset.fingerprint = 7  # type: ignore[attr-defined]
    with pytest.raises(fr.ArgumentTypeError, match="`fingerprint` of the dataset"):
        fr.open_python(dataset)


def test_a_stall_names_the_sample() -> None:
    loader = loader_of(Numbers(at=3, do=given.hang), batch_size=1, stall_timeout=5)
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    with pytest.raises(fr.StallError, match="sample 3 is being made by the dataset"):
        next(batches)
    loader.close()
