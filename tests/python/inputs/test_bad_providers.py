"""Data providers that fail, or give samples of another format than they declare."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.inputs import (
    DataProvider,
    DataType,
    ProviderError,
    SampleDataGroup,
    SamplerInputCallable,
    SamplerInputIterable,
    SequenceSampler,
    ShuffledShardedInputCallable,
)
from structured_sources import Numbered, Raising


def fields() -> SampleDataGroup:
    group = SampleDataGroup()
    group.add_data_field("boxes", DataType.FLOAT)
    group.add_data_field("label", DataType.INT32)
    return group


class Giving(DataProvider):
    """Gives what a function makes of an empty sample."""

    def __init__(self, change: Callable[[SampleDataGroup], Any], samples: Any = 4) -> None:
        self._change, self.samples = change, samples

    @property
    def sample_data_structure(self) -> SampleDataGroup:
        return fields()

    def get_number_of_samples(self) -> int:
        return self.samples  # type: ignore[no-any-return]

    def get_data(self, sample_index: int) -> SampleDataGroup:
        sample = fields()
        sample["boxes"] = [[sample_index] * 4]
        sample["label"] = [sample_index]
        changed = self._change(sample)
        return sample if changed is None else changed  # type: ignore[no-any-return]


def shuffled(provider: DataProvider) -> Any:
    source = ShuffledShardedInputCallable(provider, 2)
    return source(SimpleNamespace(epoch_idx=0, idx_in_epoch=2, idx_in_batch=0))


def from_table(provider: DataProvider) -> Any:
    source = SamplerInputCallable(provider, SequenceSampler(1, [4], 1), 4, 0)
    return source(SimpleNamespace(epoch_idx=0, idx_in_epoch=2, idx_in_batch=0))


def from_iterable(provider: DataProvider) -> Any:
    class Second(SequenceSampler):
        def get_next_batch_indices(self) -> list[int]:
            return [2]

    source = SamplerInputIterable(provider, Second(1, [4], 1))
    return [values[0] for values in next(source)]


every_input = pytest.mark.parametrize("read", [shuffled, from_table, from_iterable])


# --- Exceptions ---


@every_input
@pytest.mark.parametrize(
    "raised", [KeyError("front"), StopIteration(), MemoryError(), ValueError("two\nlines")]
)
def test_an_exception_names_its_sample_and_its_type(read: Any, raised: Exception) -> None:
    with pytest.raises(RuntimeError) as caught:
        read(Raising(4, 2, raised))
    assert isinstance(caught.value, ProviderError)
    assert caught.value.__cause__ is raised
    text = str(caught.value)
    assert text.startswith("sample 2: the data provider raised an exception: found ")
    assert type(raised).__name__ in text
    assert "\n" not in text


@every_input
def test_an_interruption_is_not_changed(read: Any) -> None:
    class Interrupting(Numbered):
        def get_data(self, sample_index: int) -> SampleDataGroup:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(Interrupting(4))


def test_after_an_exception_the_other_samples_can_be_read() -> None:
    source = ShuffledShardedInputCallable(Raising(4, 2, OSError("gone")), 2)
    found = []
    for index in range(4):
        try:
            found.append(int(source(SimpleNamespace(epoch_idx=0, idx_in_epoch=index))[0]))
        except ProviderError:
            found.append(-1)
    assert found == [0, 1, -1, 3]


# --- Formats ---


def renamed(sample: SampleDataGroup) -> SampleDataGroup:
    group = SampleDataGroup()
    group.add_data_field("boxes", DataType.FLOAT)
    group.add_data_field("labels", DataType.INT32)
    return group


def retyped(sample: SampleDataGroup) -> None:
    sample.change_type_of_data_and_remove_data("boxes", DataType.FLOAT64)


@every_input
@pytest.mark.parametrize(
    ("change", "expected", "found"),
    [
        (lambda s: s.add_data_field("more", DataType.BOOL), "2 fields: ['boxes', 'label']",
         "3 fields, with 'more' of BOOL at place 2"),
        (lambda s: s.remove_field("label"), "2 fields, with 'label' of INT32 at place 1",
         "1 fields: ['boxes']"),
        (renamed, "with 'label' of INT32 at place 1", "with 'labels' of INT32 at place 1"),
        (retyped, "with 'boxes' of FLOAT at place 0", "with 'boxes' of FLOAT64 at place 0"),
        (lambda s: {"boxes": 1}, "expected a SampleDataGroup", "found {'boxes': 1} (dict)"),
        (lambda s: s.get_data(), "expected a SampleDataGroup", "(tuple)"),
    ],
)  # fmt: skip
def test_another_structure_is_an_error_with_both(
    read: Any, change: Any, expected: str, found: str
) -> None:
    with pytest.raises(ProviderError) as caught:
        read(Giving(change))
    assert str(caught.value).startswith("sample 2: ")
    assert expected in str(caught.value)
    assert found in str(caught.value)


def setting(name: str, value: Any) -> Callable[[SampleDataGroup], None]:
    def change(sample: SampleDataGroup) -> None:
        sample.set_do_convert(False)
        sample[name] = value

    return change


@every_input
@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, "no value"),
        (np.zeros(2), "an array of float64"),
        (np.zeros(2, object), "an array of object"),
        (np.zeros(2, ">f8"), "an array of float64"),
        ([1.0], "[1.0] (list)"),
        ("text", "'text' (str)"),
    ],
)
def test_a_value_of_another_type_is_an_error_that_names_its_field(
    read: Any, value: Any, found: str
) -> None:
    with pytest.raises(ProviderError) as caught:
        read(Giving(setting("boxes", value)))
    assert caught.value.field == "boxes"
    assert f"expected an array of float32, found {found}." in str(caught.value)
    assert str(caught.value).startswith("sample 2: ")


@every_input
@pytest.mark.parametrize("value", [3, np.int32(3), np.array(3, ">i4"), np.array(3, np.int32)])
def test_scalars_and_arrays_of_foreign_byte_order_become_native_arrays(
    read: Any, value: Any
) -> None:
    found = read(Giving(setting("label", value)))[1]
    assert type(found) is np.ndarray
    assert found.dtype == np.int32
    assert found.dtype.isnative
    assert (found.shape, found.item()) == ((), 3)


@every_input
def test_tensors_in_cpu_memory_become_arrays_without_a_copy(read: Any) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(2)
    found = read(Giving(setting("boxes", tensor)))[0]
    assert type(found) is np.ndarray
    assert found.ctypes.data == tensor.data_ptr()


def test_a_format_that_is_no_group_is_an_error() -> None:
    class Declaring(Numbered):
        @property
        def sample_data_structure(self) -> Any:
            return {"id": DataType.INT32}

    source = ShuffledShardedInputCallable(Declaring(4), 1)
    with pytest.raises(ProviderError, match="sample_data_structure has the wrong type"):
        _ = source.used_sample_data_structure
    with pytest.raises(ProviderError, match="sample_data_structure has the wrong type"):
        shuffled(Declaring(4))


# --- Numbers of samples ---


@pytest.mark.parametrize(
    ("samples", "kind"), [(-1, ValueError), (2.5, TypeError), (None, TypeError)]
)
def test_a_number_of_samples_that_is_none_is_refused(samples: Any, kind: type[Exception]) -> None:
    for make in (
        lambda p: ShuffledShardedInputCallable(p, 1),
        lambda p: SamplerInputIterable(p, SequenceSampler(1, [1], 1)),
    ):
        with pytest.raises(kind, match="get_number_of_samples"):
            make(Giving(lambda s: None, samples))


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_number_of_samples_that_changes_between_epochs_is_an_error(shuffle: bool) -> None:
    provider = Giving(lambda s: None)
    source = ShuffledShardedInputCallable(provider, 2, shuffle=shuffle)
    source(SimpleNamespace(epoch_idx=0, idx_in_epoch=0))
    provider.samples = 5
    with pytest.raises(ProviderError, match="its number of samples: expected 4, found 5"):
        source(SimpleNamespace(epoch_idx=1, idx_in_epoch=0))


def test_errors_of_providers_are_errors_of_fuelrail() -> None:
    assert issubclass(ProviderError, fr.Error)


@pytest.mark.parametrize("provider", [[1, 2], Numbered, None])
def test_what_is_no_provider_is_refused(provider: Any) -> None:
    with pytest.raises(fr.ArgumentTypeError, match="the data provider has the wrong type"):
        ShuffledShardedInputCallable(provider, 1)


@pytest.mark.parametrize("sampler", [[[0, 1]], SequenceSampler, None])
@pytest.mark.parametrize("make", [SamplerInputCallable, SamplerInputIterable])
def test_what_is_no_sampler_is_refused(make: Any, sampler: Any) -> None:
    more = (4, 0) if make is SamplerInputCallable else ()
    with pytest.raises(fr.ArgumentTypeError, match="the sampler has the wrong type"):
        make(Numbered(4), sampler, *more)
