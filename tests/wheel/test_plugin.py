"""The plugin for H.265 is a wheel of its own, which the extra `hevc` of fuelrail installs."""

from __future__ import annotations

import pathlib
from typing import Any

import tomllib

import fuelrail as fr

ROOT = pathlib.Path(__file__).resolve().parents[2]


def project(folder: pathlib.Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


def test_the_extra_pins_the_plugin_of_fuelrails_version() -> None:
    plugin = project(ROOT / "plugins" / "hevc")
    assert plugin["version"] == fr.__version__
    extras = project(ROOT)["optional-dependencies"]
    assert extras["hevc"] == [f"{plugin['name']}=={fr.__version__}"]
