"""The orders of ImageRecordIter's records: MXNet 1.9.1's partitions and shuffles (order.json)."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import pytest

import fuelrail as fr
from fuelrail.mxnet import io
from mxnet_goldens import copied, placed, said

ORDER = said("order.json")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return copied(tmp_path_factory.mktemp("mxnet"))


def make(root: pathlib.Path, rec: str, idx: str | None, **options: Any) -> io.ImageRecordIter:
    paths = placed({"path_imgrec": rec, "path_imgidx": idx or ""}, root)
    return io.ImageRecordIter(**paths, data_shape=(3, 8, 8), **options)


def labels(iterator: io.ImageRecordIter) -> list[list[float]]:
    """The labels of an epoch, batch by batch; then the next epoch starts."""
    found = [batch.label[0].asnumpy().tolist() for batch in iterator]
    iterator.reset()
    return found


def flat(batches: list[list[float]]) -> list[float]:
    return [label for batch in batches for label in batch]


@pytest.mark.parametrize("idx", [None, "image.idx"])
@pytest.mark.parametrize("rec", ["image.rec", "small.rec;inter.rec"])
def test_parts_have_mxnets_records(rec: str, idx: str | None, root: pathlib.Path) -> None:
    cases = [case for case in ORDER["partitions"] if (case["rec"], case["idx"]) == (rec, idx)]
    for case in cases:
        part = {"num_parts": case["num_parts"], "part_index": case["part_index"]}
        if case["labels"]:
            found = flat(labels(make(root, rec, idx, batch_size=1, **part)))
            assert found == case["labels"], part
        else:
            with pytest.raises(fr.InvalidArgumentError, match="the part has no records"):
                make(root, rec, idx, batch_size=1, **part)


@pytest.mark.parametrize("case", range(len(ORDER["shuffles"])))
def test_shuffles_are_mxnets_over_epochs(case: int, root: pathlib.Path) -> None:
    expected = dict(ORDER["shuffles"][case])
    epochs = expected.pop("epochs")
    idx = expected.pop("idx")
    rec = expected.pop("rec", "image.rec")
    expected.setdefault("shuffle", True)
    iterator = make(root, rec, idx, **expected)
    for epoch in epochs:
        found = labels(iterator)
        assert (found if isinstance(epoch[0], list) else flat(found)) == epoch


def test_detection_has_shuffles_of_its_own(root: pathlib.Path) -> None:
    for run in said("det_random/shuffles.json"):
        iterator = io.ImageDetRecordIter(
            path_imgrec=root / "det.rec",
            data_shape=(3, 8, 8),
            batch_size=3,
            shuffle=True,
            seed=run["seed"],
        )
        for epoch in run["epochs"]:
            assert [batch.index.tolist() for batch in iterator] == epoch
            iterator.reset()


def test_reset_inside_an_epoch_begins_the_next_pass_at_its_beginning(root: pathlib.Path) -> None:
    reference = make(root, "image.rec", None, batch_size=24, shuffle=True)
    passes = [flat(labels(reference)) for _ in range(3)]
    iterator = make(root, "image.rec", None, batch_size=5, shuffle=True)
    for number, taken in enumerate((1, 3, 2)):
        found = [iterator.next().label[0].asnumpy().tolist() for _ in range(taken)]
        assert flat(found) == passes[number][: 5 * taken]
        iterator.reset()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_reset_gives_the_same_however_far_was_read_ahead(root: pathlib.Path, threads: int) -> None:
    options = {"batch_size": 4, "preprocess_threads": threads, "prefetch_buffer": threads}
    iterator = make(root, "small.rec", None, **options)
    iterator.reset()
    iterator.reset()
    assert labels(iterator)[-1] == [8, 9, 0, 1]
    iterator.reset()  # the epoch has not started
    assert iterator.next().label[0].asnumpy().tolist() == [2, 3, 4, 5]
    iterator.reset()
    assert iterator.next().label[0].asnumpy().tolist() == [0, 1, 2, 3]


def test_directory_and_pattern_name_files_as_inputsplits_do(root: pathlib.Path) -> None:
    alone = labels(make(root, "small.rec", None, batch_size=4))
    assert labels(make(root, r"sm.*\.rec", None, batch_size=4)) == alone
    assert labels(make(root, "(small|none).rec", None, batch_size=4)) == alone


def test_a_directorys_indices_and_lists_are_no_records(
    root: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    for name in ("small.rec", "small.idx", "small.lst", "inter.rec", "inter.idx"):
        shutil.copy(root / name, tmp_path)
    iterator = io.ImageRecordIter(path_imgrec=str(tmp_path), data_shape=(3, 8, 8), batch_size=3)
    both = labels(make(root, "inter.rec;small.rec", None, batch_size=3))
    assert labels(iterator) == both
