"""Each NOTICE names what a wheel holds of others; the tool that writes it refuses what may not be given away with the rest."""

from __future__ import annotations

import importlib.machinery
import pathlib
import re
import types
import zipfile
from collections.abc import Callable

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel_notice() -> types.ModuleType:
    path = str(ROOT / "tools" / "wheel_notice")
    loader = importlib.machinery.SourceFileLoader("wheel_notice", path)
    module = types.ModuleType("wheel_notice")
    loader.exec_module(module)
    return module


def linked_packages() -> list[tuple[str, str]]:
    """Each NOTICE, and Debian's packages that its product is built with."""
    text = (ROOT / "cmake" / "Dependencies.cmake").read_text()
    needs = re.findall(r"^fuelrail_need\(\S+ \S+ ([^ )]+)", text, re.M)  # tests' own are indented
    assert "libjpeg62-turbo-dev" in needs
    plugin = (ROOT / "tools" / "apt-packages.txt").read_text().split("\n\n")[1].split()
    assert "libx265-dev" in plugin
    return [("NOTICE", need) for need in needs] + [("plugins/hevc/NOTICE", need) for need in plugin]


@pytest.mark.parametrize(("notice", "package"), linked_packages())
def test_notice_names_every_library_that_the_product_is_built_with(
    wheel_notice: types.ModuleType, notice: str, package: str
) -> None:
    title = next(s["Upstream-Name"] for s in wheel_notice.stanzas(package) if "Upstream-Name" in s)
    version = wheel_notice.version_of(package)
    row = rf"^  {re.escape(title)} +{re.escape(version)} "
    assert re.search(row, (ROOT / notice).read_text(), re.M), f"run ./run wheel: {title} {version}"


@pytest.fixture
def notice_of(
    wheel_notice: types.ModuleType, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], int]:
    """Runs the tool on a wheel with libjbig under that licence."""

    def run(product: str, licence: str) -> int:
        path = tmp_path / f"{product}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(f"{product}.libs/libjbig-0a1b2c3d.so.0", "")
            wheel.writestr(f"{product}.libs/", "")
        statement = [{"Files": "*", "Copyright": "1995 X", "License": f"{licence}\n The text."}]
        monkeypatch.setattr(wheel_notice, "package_of", lambda library: f"package of {library}")
        monkeypatch.setattr(wheel_notice, "stanzas", lambda package: statement)
        monkeypatch.setattr(wheel_notice, "output", lambda *command: f"output of {command[-1]}\n")
        monkeypatch.setattr("sys.argv", ["wheel_notice", str(path)])
        return wheel_notice.main()

    return run


@pytest.mark.parametrize(
    ("product", "licence"),
    [("fuelrail", "GPL-2+"), ("fuelrail", "LGPL-3+"), ("fuelrail_hevc", "GPL-2")],
)
def test_a_licence_that_the_wheels_own_does_not_allow_is_refused(
    notice_of: Callable[[str, str], int],
    product: str,
    licence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert notice_of(product, licence) == 1
    assert "package of libjbig.so.0" in capsys.readouterr().err


def test_the_plugins_notice_names_the_sources_and_has_the_licences(
    notice_of: Callable[[str, str], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert notice_of("fuelrail_hevc", "LGPL-3+") == 0
    notice = capsys.readouterr().out
    assert "output of package of libjbig.so.0" in notice
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in notice
    assert "GNU GENERAL PUBLIC LICENSE" in (ROOT / "plugins" / "hevc" / "LICENSE").read_text()


def test_licences_of_files_that_are_no_part_of_a_library_are_left_out(
    wheel_notice: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = [
        {"Upstream-Name": "x"},
        {"Files": "*", "Copyright": "2001 A", "License": "MIT"},
        {"Files": "debian/*\n tests/y.c", "Copyright": "2002 B", "License": "GPL-2"},
        {"License": "MIT\n Do as you like.\n ."},
        {"License": "GPL-2\n Share alike."},
    ]
    monkeypatch.setattr(wheel_notice, "stanzas", lambda package: statement)
    names, text = wheel_notice.licences("x")
    assert names == ["MIT"]
    assert "Do as you like." in text
    assert "2001 A" in text
    assert "2002 B" not in text
    assert "Share alike" not in text


def test_a_statement_in_prose_is_read_where_its_licence_is_known(
    wheel_notice: types.ModuleType,
) -> None:
    prose = "Copyright:\n\n    (C) 2001 A\n\nLicense:\n\n    Do as\n    you like.\n\nThe Debian packaging is:\n"
    stanzas = wheel_notice.stanzas_of_prose("libwebp7", prose)
    assert stanzas[1]["Copyright"] == "(C) 2001 A"
    assert stanzas[1]["License"] == "BSD-3-clause\nDo as\nyou like."
    with pytest.raises(SystemExit, match="add the package to PROSE"):
        wheel_notice.stanzas_of_prose("libother1", prose)
