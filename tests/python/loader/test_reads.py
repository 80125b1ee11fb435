"""The read backend and its options do not change batches."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import fuelrail as fr
from loading import CROP, arrays, tiny
from photographs import encoded, photograph

OPTIONS = [
    {"read_backend": "auto"},
    {"read_backend": "pread"},
    {"read_backend": "io_uring"},
    {"read_backend": "pread", "direct_reads": True},
    {"read_backend": "auto", "direct_reads": True},
    {"read_backend": "pread", "read_threads": 1},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_every_way_to_read_gives_the_same(
    tiny_file: pathlib.Path, options: dict[str, object]
) -> None:
    whole = tiny(tiny_file, shuffle=True, seed=3)
    expected = [arrays(batch) for batch in whole]
    loader = tiny(tiny_file, shuffle=True, seed=3, **options)
    assert loader.stats().read_backend == ""
    try:
        batches = [arrays(batch) for batch in loader]
    except fr.UnsupportedError:
        assert options["read_backend"] == "io_uring", "the kernel need not permit it, but all else"
        return
    for batch, other in zip(batches, expected, strict=True):
        for column, same in zip(batch, other, strict=True):
            np.testing.assert_array_equal(column, same)
    stats = loader.stats()
    assert stats.read_backend in ("io_uring", "pread", "io_uring and pread")
    if options["read_backend"] == "pread":
        assert stats.read_backend == "pread"
    assert stats.reads_at_once >= options.get("read_threads", 4)
    assert f"read_backend='{stats.read_backend}', reads_at_once=" in repr(stats)


def test_threads_read_a_folder_and_warn_of_direct_reads(tmp_path: pathlib.Path) -> None:
    for i in range(6):
        image = tmp_path / f"class{i % 2}" / f"{i}.jpg"
        image.parent.mkdir(exist_ok=True)
        image.write_bytes(encoded(photograph(i, 30, 30)))
    loader = fr.Loader(tmp_path, 2, transforms=CROP, direct_reads=True)
    batches = iter(loader)
    with pytest.warns(fr.FuelrailWarning, match="a folder's files are opened one at a time"):
        next(batches)
    assert loader.stats().read_backend == "pread"
    loader.close()
    assert loader.stats().read_backend == ""
