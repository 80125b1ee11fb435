"""The programs in the project's pages."""

from __future__ import annotations

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
COUNT = 8
"""Photographs that the fixture `here` makes."""


def blocks(language: str, text: str) -> list[str]:
    """The code blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
