"""Implements the command `fuelrail`, which `python -m fuelrail` also runs."""

from __future__ import annotations

import sys

from fuelrail import _core


def main() -> int:
    """Runs the command with the arguments in `sys.argv` and returns its exit code."""
    return _core.cli_main(["fuelrail", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
