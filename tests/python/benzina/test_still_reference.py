"""The stored results with which the C++ tests compare the arithmetic of stills."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "stills"


def test_stored_results_are_those_of_the_reference() -> None:
    spec = importlib.util.spec_from_file_location("make_stills", GOLDEN / "make.py")
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = reference  # for its dataclass
    spec.loader.exec_module(reference)
    assert reference.lines() == (GOLDEN / "stills.tsv").read_text().splitlines()
