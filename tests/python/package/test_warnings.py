"""Messages that are not errors are warnings, and point at the user's line."""

from __future__ import annotations

import inspect
import pathlib
import resource
import shutil
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fuelrail as fr
from loading import record_file, tiny
from photographs import encoded, photograph

CROP = [fr.transforms.CenterCrop(8)]


@pytest.fixture
def odd(tiny_file: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A file with another file's sidecar beside it; opening it issues a warning."""
    file = record_file(tmp_path / "odd.rec", [encoded(photograph(0, 30, 30))] * 3)
    shutil.copy(f"{tiny_file}.frx", f"{file}.frx")
    return file


def lines_warned_of(act: Callable[[], object]) -> tuple[list[int], list[str]]:
    """The lines that warnings point at, counted from the start of `act`, and the texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert {warning.category for warning in caught} == {fr.FuelrailWarning}
    assert {warning.filename for warning in caught} == {__file__}
    first = inspect.getsourcelines(act)[1]
    return [warning.lineno - first for warning in caught], [str(w.message) for w in caught]


def opens(odd: pathlib.Path) -> Iterator[tuple[str, Callable[[], object]]]:
    def by_open() -> object:
        return fr.open(odd)

    def by_open_of_a_list() -> object:
        return fr.open([[odd]])

    def by_the_loader() -> object:
        return fr.Loader(odd, transforms=CROP)

    def by_torchs_loader() -> object:
        return fr.torch.DataLoader(odd, transforms=CROP)

    def by_the_map_dataset() -> object:
        return fr.torch.MapDataset(odd, transforms=CROP)

    for act in (by_open, by_open_of_a_list, by_the_loader, by_torchs_loader, by_the_map_dataset):
        yield act.__name__, act


def test_opening_warns_of_the_line_that_opens(odd: pathlib.Path) -> None:
    for name, act in opens(odd):
        places, texts = lines_warned_of(act)
        assert places == [1], name
        assert "odd.rec.frx" in texts[0], name


def test_packing_warns_of_the_line_that_packs(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(folder, source)
    (source / "ant" / "notes.txt").write_text("no image")

    def pack() -> Any:
        return fr.pack(source, tmp_path / "out.rec", threads=1)

    places, texts = lines_warned_of(pack)
    assert places == [1]
    assert "1 file is skipped" in texts[0]


def test_a_bad_sample_warns_of_the_line_of_the_loop(tmp_path: pathlib.Path) -> None:
    images = [b"no image" if i == 3 else encoded(photograph(0, 30, 30)) for i in range(8)]
    loader = fr.Loader(
        record_file(tmp_path / "bad.rec", images), 4, transforms=CROP, on_error="skip"
    )

    def loop() -> None:
        for _ in loader:
            pass

    places, texts = lines_warned_of(loop)
    assert places == [1]
    assert "record 3" in texts[0]


def test_a_rank_whose_last_batch_is_empty_is_warned(tiny_file: pathlib.Path) -> None:
    options: dict[str, Any] = {"batch_size": 16, "transforms": CROP, "world_size": 3}

    loader = fr.Loader(tiny_file, rank=2, **options)  # 97 = two global batches + 1
    drawing = fr.Loader(tiny_file, rank=2, weights=[1] * 97, num_samples=49, **options)

    def last_rank() -> object:
        return iter(loader)

    def last_rank_by_weights() -> object:
        return iter(drawing)

    for act, samples in ((last_rank, 97), (last_rank_by_weights, 49)):
        places, texts = lines_warned_of(act)
        assert places == [1]
        assert texts[0].startswith("Rank 2 gets an empty batch at the end of every epoch: ")
        assert f" only 1 of the epoch's {samples} samples, " in texts[0]
    iter(loader)  # once a loader
    iter(fr.Loader(tiny_file, rank=0, **options))
    for last_batch in ("drop", "pad", "wrap"):
        iter(fr.Loader(tiny_file, rank=2, last_batch=last_batch, **options))


def test_direct_reads_that_cannot_be_are_said_of_the_line_of_the_loop(
    tiny_file: pathlib.Path,
) -> None:
    loader = tiny(tiny_file, read_backend="pread", direct_reads=True)
    batches = iter(loader)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def loop() -> None:
        next(batches)

    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        places, texts = lines_warned_of(loop)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert places == [1]
    assert "cannot be opened for direct reads (Too many open files)" in texts[0]


def test_an_error_is_raised_where_warnings_are_errors_too(odd: pathlib.Path) -> None:
    odd.write_bytes(odd.read_bytes()[:-4])
    with pytest.raises(fr.TruncatedError, match=r"odd\.rec: record 2"):
        fr.open(odd)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(fr.TruncatedError):
            fr.open(odd)
    assert [warning.category for warning in caught] == [fr.FuelrailWarning]


def test_a_warning_may_be_made_an_error(odd: pathlib.Path) -> None:
    for _, act in opens(odd):
        with warnings.catch_warnings():
            warnings.simplefilter("error", fr.FuelrailWarning)
            with pytest.raises(fr.FuelrailWarning, match=r"odd\.rec\.frx"):
                act()
