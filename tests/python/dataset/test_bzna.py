"""`.bzna` files in Python and on the command line. The file is that of docs/formats/bzna.md."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fuelrail as fr
from bzna_files import page_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "x.bzna"
    made.write_bytes(page_file())
    return made


def fuelrail_command(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "fuelrail", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False)


def test_a_sample_has_image_label_and_name(path: Path) -> None:
    data = fr.open(path)
    assert [(field.name, field.kind) for field in data.schema] == [
        ("image", "image"),
        ("label", "tensor"),
        ("name", "bytes"),
    ]
    assert (data[0].image, data[0].label, data[0].name) == (b"thumb", 3, b"cat.jpg")
    assert fr.open(path, track="bzna_input")[0].image == b"image"
    assert data[0].id == 0


def test_without_the_plugin_decoding_is_unsupported(path: Path) -> None:
    lines = [
        "import sys, fuelrail as fr",
        "try: fr.open(sys.argv[1])[0].decode()",
        "except fr.UnsupportedError as error: print(error)",
        "try: next(iter(fr.Loader(sys.argv[1], 1, on_error='skip', dtype='uint8')))",
        "except fr.UnsupportedError as error: print(error)",
    ]
    environment = {
        **os.environ,
        "FUELRAIL_HEVC": "/absent.so",
    }  # a plugin stays open if there is one
    command = [sys.executable, "-c", "\n".join(lines), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    errors = done.stdout.splitlines()
    assert len(errors) == 2
    for error in errors:
        assert re.search(r"x\.bzna: record 0.*plugin for H\.265 .*/absent\.so", error)
        assert 'pip install "fuelrail[hevc]"' in error


def test_with_the_sidecar_samples_are_the_same(path: Path) -> None:
    before = fr.open(path)
    assert not before.verifies_checksums
    assert not Path(f"{path}.frx").exists()
    assert fuelrail_command("index", path).returncode == 0
    data = fr.open(path)
    assert data.verifies_checksums
    assert (data[0].image, data[0].label, data[0].name) == (b"thumb", 3, b"cat.jpg")
    assert data.fingerprint == before.fingerprint


def test_a_pickled_dataset_keeps_its_track(path: Path) -> None:
    data = pickle.loads(pickle.dumps(fr.open(path, track="bzna_input")))
    assert data[0].image == b"image"


def test_track_and_split_are_checked(path: Path, tmp_path: Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="expected bzna_thumb or bzna_input"):
        fr.open(path, track="thumb")
    with pytest.raises(fr.InvalidArgumentError, match="the file has no split 'validation'"):
        fr.open(path, split="val")
    with pytest.raises(fr.InvalidArgumentError, match=r"only for \.bzna files"):
        fr.open(tmp_path, split="train")
    with pytest.raises(fr.InvalidArgumentError, match="`track` cannot be given for a dataset"):
        fr.open(fr.open(path), track="bzna_input")
    with pytest.raises(fr.ArgumentTypeError, match="track"):
        fr.open(path, track=1)  # type: ignore[arg-type]


def test_a_loader_takes_track_and_split(path: Path) -> None:
    loader = fr.Loader(path, 1, track="bzna_input", fields=["label", "name"])
    labels, names = next(iter(loader))
    assert (labels.numpy().tolist(), names) == ([3], [b"cat.jpg"])
    with pytest.raises(fr.InvalidArgumentError, match="the file has no split 'test'"):
        fr.Loader(path, 1, split="test")


def test_cat_writes_the_whole_record(path: Path, tmp_path: Path) -> None:
    record = page_file()[40:]
    for with_sidecar in (False, True):
        if with_sidecar:
            assert fuelrail_command("index", path).returncode == 0
        written = fuelrail_command("cat", path, 0).stdout
        assert written[4:8] == b"ftyp"
        assert record.startswith(written)
        assert b"bzna_thumb" in written


def test_verify_reads_the_whole_record(path: Path) -> None:
    assert fuelrail_command("index", path).returncode == 0
    assert b"all well" in fuelrail_command("verify", path).stdout
    content = bytearray(path.read_bytes())
    content[content.index(b"image", 40)] ^= 1  # not in the thumbnail
    path.write_bytes(content)
    found = fuelrail_command("verify", path)
    assert found.returncode == 1
    assert b"record 0" in found.stdout


@pytest.mark.parametrize("command", ["info", "ls", "verify"])
def test_commands_read_the_file(path: Path, command: str) -> None:
    for options in ([], ["--track", "bzna_input"]):
        result = fuelrail_command(command, path, *options)
        assert result.returncode == 0, result.stderr
