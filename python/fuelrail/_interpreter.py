"""Refuses to be imported in a sub-interpreter. Imported before the extension, which cannot be there
twice: CPython would let older sub-interpreters load it, and take it away from the main one.
"""

from __future__ import annotations

import importlib


def _refuse_sub_interpreters() -> None:
    for name in ("_interpreters", "_xxsubinterpreters"):  # since Python 3.13; before
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError(
                "fuelrail does not work in a sub-interpreter. Import it in the main interpreter, or "
                "in another process."
            )
        return


_refuse_sub_interpreters()
