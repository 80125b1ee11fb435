"""The installed command: exit codes, and its text on stdout and stderr."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import sysconfig

import pytest

import fuelrail as fr
from fuelrail.__main__ import main


def fuelrail(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "fuelrail", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


def test_the_script_is_installed() -> None:
    script = pathlib.Path(sysconfig.get_path("scripts")) / "fuelrail"
    done = subprocess.run(
        [script, "--help"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0
    for command in ("pack", "info", "ls", "cat", "verify"):
        assert command in done.stdout


def test_info_speaks_json(record_file: pathlib.Path) -> None:
    done = fuelrail("info", "--json", record_file)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["records"] == 31


def test_cat_gives_the_images_bytes(record_file: pathlib.Path) -> None:
    done = fuelrail("cat", record_file, 5)
    assert done.stdout == fr.open(record_file)[5].image


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        ([], 2),
        (["inof"], 2),
        (["info", "/no/such/file.rec"], 3),
        (["info", "--no-such-option"], 2),
    ],
)
def test_exit_codes_are_the_commands(arguments: list[str], code: int) -> None:
    assert fuelrail(*arguments).returncode == code


def test_damage_is_exit_code_one(record_file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    copy = bytearray(record_file.read_bytes())
    copy[len(copy) // 2] ^= 0xFF
    (tmp_path / "copy.rec").write_bytes(copy)
    (tmp_path / "copy.rec.frx").write_bytes(
        record_file.with_name(record_file.name + ".frx").read_bytes()
    )
    done = fuelrail("verify", tmp_path / "copy.rec")
    assert done.returncode == 1


def test_main_returns_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["/some/where/fuelrail", "info", "/no/such/file.rec"])
    assert main() == 3
    assert "/no/such/file.rec" in capfd.readouterr().err


def test_a_word_with_a_nul_is_refused_and_not_cut(record_file: pathlib.Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=r"NUL character: found .*x00junk"):
        fr._core.cli_main(["fuelrail", "info", f"{record_file}\0junk"])
