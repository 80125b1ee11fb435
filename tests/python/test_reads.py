"""Who reads, and how, changes no batch."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import fuelrail as fr
from loading import arrays, tiny

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
    if options["read_backend"] == "io_uring" and whole.stats().read_backend != "io_uring":
        with pytest.raises(fr.UnsupportedError):
            next(iter(loader))
        return
    batches = [arrays(batch) for batch in loader]
    for batch, other in zip(batches, expected, strict=True):
        for column, same in zip(batch, other, strict=True):
            np.testing.assert_array_equal(column, same)
    stats = loader.stats()
    assert stats.read_backend in ("io_uring", "pread")
    assert options["read_backend"] in ("auto", stats.read_backend)
    assert stats.reads_at_once >= options.get("read_threads", 4)
    assert f"read_backend='{stats.read_backend}', reads_at_once=" in repr(stats)
