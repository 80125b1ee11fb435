"""The code blocks of the documentation, which tests run."""

from __future__ import annotations

import pathlib
import re

DOCS = pathlib.Path(__file__).parents[3] / "docs"


def code_of(page: str) -> list[str]:
    """The Python blocks of a page of docs/, in order."""
    return re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
