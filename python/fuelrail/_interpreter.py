"""Raises ImportError when imported in a sub-interpreter.

This module must be imported before the extension module `_core`. Otherwise, a legacy
sub-interpreter could load `_core` a second time, and `_core` would then fail in the main
interpreter.
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
