"""What DALI users see if a source gives what it must not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from dali_pipelines import METHODS, loader_of
from fuelrail.inputs import ShuffledShardedInputCallable
from structured_sources import Handmade, HandmadeBatches, Leaving, Raising

MATRIX, NUMBER = np.eye(2, dtype=np.float32), np.array(5, np.int32)
NUMBERS = [[0, 1], [2, 3], [4, 5], [6, 7]]

REFUSED = {
    "too few": ((MATRIX,), r"expected 2 \(matrix, id\), found 1"),
    "too many": ((MATRIX, NUMBER, NUMBER), r"expected 2 \(matrix, id\), found 3"),
    "no tuple": (MATRIX, "expected a tuple, found ndarray"),
    "nothing": (None, "expected a tuple, found NoneType"),
    "dtype": (
        (np.eye(2), NUMBER),
        "field 'matrix': .*expected an array of float32, found an array of float64",
    ),
    "Python number": ((MATRIX, 5), "field 'id': .*expected an array of int32, found int"),
    "missing value": ((MATRIX, None), "field 'id': .*expected an array of int32, found NoneType"),
    "objects": ((MATRIX, np.array([None])), "field 'id': .*found an array of object"),
    "ragged list": (([[1], [1, 2]], NUMBER), "field 'matrix': .*found list"),
    "text": ((MATRIX, np.array("5")), "field 'id': .*found an array of <U1"),
}
ACCEPTED = {
    "NumPy scalar": (MATRIX, np.int32(5)),
    "big-endian": (MATRIX.astype(">f4"), NUMBER.astype(">i4")),
    "tensor": (torch.eye(2), torch.tensor(5, dtype=torch.int32)),
    "list": [MATRIX, NUMBER],
}


def ids(loader: Any) -> list[Any]:
    return [batch["id"].tolist() for batch in loader]


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("case", REFUSED)
def test_a_sample_that_does_not_fit_is_named(case: str, parallel: bool) -> None:
    """DALI gives an exception of a worker as a plain Exception, with the text of the original."""
    sample, said = REFUSED[case]
    with pytest.raises(Exception, match=f"sample 5 of epoch 0: .*{said}"):
        ids(loader_of(Handmade(5, sample), 2, use_parallel_external_source=parallel))


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("case", ACCEPTED)
def test_a_sample_that_can_be_converted_is(case: str, parallel: bool) -> None:
    loader = loader_of(Handmade(5, ACCEPTED[case]), 2, use_parallel_external_source=parallel)
    batches = list(loader)
    assert ids(batches) == NUMBERS
    assert np.array_equal(batches[2]["matrix"], [np.eye(2)] * 2)


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (([MATRIX] * 2,), r"batch 2: .*expected 2 \(matrix, id\), found 1"),
        (([MATRIX] * 2, [NUMBER, 5]), "batch 2, sample 1: field 'id': .*found int"),
        (([MATRIX] * 2, [NUMBER]), "batch 2: .*same number of samples.*2 of matrix, 1 of id"),
        (([], []), "batch 2: .*no samples"),
    ],
)
def test_a_batch_that_does_not_fit_is_named(batch: Any, said: str, parallel: bool) -> None:
    with pytest.raises(Exception, match=said):
        ids(loader_of(HandmadeBatches(2, batch), 2, use_parallel_external_source=parallel))


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize(
    "batch",
    [
        (np.stack([MATRIX] * 2), np.array([4, 5], np.int32)),
        (np.stack([MATRIX] * 2).astype(">f4"), np.array([4, 5], ">i4")),
        ([MATRIX.astype(">f4")] * 2, (np.int32(4), NUMBER)),
    ],
)
def test_a_batch_that_can_be_converted_is(batch: Any, parallel: bool) -> None:
    source = HandmadeBatches(2, batch)
    assert ids(loader_of(source, 2, use_parallel_external_source=parallel)) == NUMBERS


@pytest.mark.parametrize("method", METHODS)
def test_an_exception_of_a_provider_arrives_with_its_type_and_sample(method: str) -> None:
    source = ShuffledShardedInputCallable(Raising(8, 5, KeyError("no such file")), 2)
    with pytest.raises(Exception, match=r"(?s)KeyError.*no such file") as raised:
        ids(loader_of(source, 2, method=method))
    assert "sample 5" in str(raised.value)
    assert "in get_data" in str(raised.value)  # its traceback


def test_a_worker_that_leaves_ends_the_pipeline_at_once() -> None:
    source = ShuffledShardedInputCallable(Leaving(8, 5), 2)
    with pytest.raises(RuntimeError, match="Worker data receiving interrupted"):
        ids(loader_of(source, 2, workers=2))
