"""Raises ImportError in a sub-interpreter.

This module must be imported before the extension: CPython would let a legacy sub-interpreter load
the extension a second time, and that would break it in the main interpreter.
"""

from __future__ import annotations

import importlib


def _refuse_sub_interpreters() -> None:
    for name in ("_interpreters", "_xxsubinterpreters"):  # Python 3.13 and later; earlier versions
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError(
                "fuelrail does not work in a sub-interpreter. Import it in the main interpreter, "
                "or in a separate process."
            )
        return


_refuse_sub_interpreters()
