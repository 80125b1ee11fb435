"""DALI leaves sockets of its worker processes to the garbage collector, which warns."""

from __future__ import annotations

import pathlib

import pytest

HERE = pathlib.Path(__file__).parent
SOCKETS = "ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.filterwarnings(SOCKETS))
