"""The data and settings for the programs in the documents and the examples in docstrings."""

from __future__ import annotations

import gc
import importlib.util
import pathlib
import signal
import sysconfig
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image

# Tests that need NVIDIA DALI run in its own environment: see `./run test`.
_has_dali = importlib.util.find_spec("nvidia") and importlib.util.find_spec("nvidia.dali")
collect_ignore = [] if _has_dali else ["dali"]

# A shell makes background programs ignore SIGINT, and children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The cache for sidecars that cannot be written beside their files, instead of the user's."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def here(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The current folder: 8 photographs of 2 classes in `photographs/`. `fuelrail` is on PATH."""
    random = np.random.default_rng(0)
    for i in range(8):
        folder = tmp_path / "photographs" / ("ant", "bee")[i % 2]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = random.integers(0, 256, (40 + i, 60, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{i}.jpg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"), prepend=":")
    return tmp_path


def pytest_collection_finish() -> None:
    """Excludes imported objects from garbage collection, which is then short, also in children."""
    gc.collect()
    gc.freeze()
