"""Ctrl-C at a chosen moment."""

from __future__ import annotations

from typing import Any

import fuelrail as fr


class Interrupting:
    """The core's loader, with a Ctrl-C before or after one call."""

    def __init__(self, core: Any, call: str, number: int, after: bool) -> None:
        self._core, self._call, self._left, self._after = core, call, number, after

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._core, name)
        if name != self._call:
            return function

        def interrupted(*arguments: Any) -> Any:
            self._left -= 1
            if self._left != 0:
                return function(*arguments)
            if self._after:
                function(*arguments)
            raise KeyboardInterrupt

        return interrupted


def read_on(loader: fr.Loader) -> tuple[list[list[int]], int]:
    """The batches of an epoch, and the number of Ctrl-Cs during it."""
    seen: list[list[int]] = []
    interrupts = 0
    iterator = None
    while True:
        try:
            iterator = iterator or iter(loader)
            batch = next(iterator, None)
        except KeyboardInterrupt:
            interrupts += 1
            continue
        if batch is None:
            return seen, interrupts
        seen.append(batch[0].numpy().tolist())
