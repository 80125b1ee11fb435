"""Implements the command `fuelrail`, which `python -m fuelrail` also runs."""

from __future__ import annotations

import sys

from fuelrail import _core, provider_command


def main() -> int:
    """Runs the command with the arguments in `sys.argv` and returns its exit code."""
    if provider_command.is_provider_command(sys.argv[1:]):
        return provider_command.run(sys.argv[1:])
    return _core.cli_main(["fuelrail", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
