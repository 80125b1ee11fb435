"""Packing to `.bzna`, with the plugin for H.265 and with ffmpeg as a reader of the files."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from photographs import pixels

needs_plugin = pytest.mark.skipif(
    "FUELRAIL_HEVC" not in os.environ, reason="FUELRAIL_HEVC names no plugin for H.265"
)
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="there is no ffmpeg")

Paths = list[pathlib.Path]


@pytest.fixture(scope="module")
def stills(folder: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The photographs of `folder` in two splits."""
    path = tmp_path_factory.mktemp("stills") / "x.bzna"
    fr.pack({"train": folder, "validation": folder}, path, preset="ultrafast", crf=12)
    return path


def fuelrail_command(*arguments: object, plugin: str | None = None) -> bytes:
    environment = os.environ if plugin is None else {**os.environ, "FUELRAIL_HEVC": plugin}
    command = [sys.executable, "-m", "fuelrail", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def ffmpeg(*arguments: object) -> bytes:
    command = ["ffmpeg", "-v", "error", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=True).stdout


def probed(path: pathlib.Path) -> list[tuple[str, str, str]]:
    """The kind, the codec's tag and the name of each track, as ffprobe lists them."""
    command = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", str(path)]
    listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return [
        (stream["codec_type"], stream["codec_tag_string"], stream["tags"]["handler_name"])
        for stream in listed["streams"]
    ]


@needs_plugin
def test_photographs_come_back_nearly_equal(stills: pathlib.Path, folder: pathlib.Path) -> None:
    data = fr.open(stills, track="bzna_input", split="train")
    originals = sorted(folder.glob("*/*.jpg"))
    assert [sample.name for sample in data] == [path.name.encode() for path in originals]
    assert data.classes == ["ant", "bee", "cat"]
    for sample, path in zip(data, originals, strict=True):
        assert sample.label == data.classes.index(path.parent.name)
        made, expected = sample.decode().astype(float), pixels(path.read_bytes())
        assert made.shape == expected.shape
        assert 10 * np.log10(255**2 / np.mean((made - expected) ** 2)) > 30


@needs_plugin
def test_a_split_is_opened_and_loaded_by_its_name(stills: pathlib.Path) -> None:
    assert [len(fr.open(stills, split=name)) for name in (None, "train", "val")] == [62, 31, 31]
    data = fr.open(stills, split="val")
    assert data[0].place.record == 31
    loader = fr.Loader(data, 8, fields=["index", "label"])
    assert sum(len(labels) for _, labels in loader) == 31


@needs_plugin
def test_encoded_is_a_file_of_its_own(stills: pathlib.Path, tmp_path: pathlib.Path) -> None:
    without = tmp_path / "x.bzna"
    shutil.copy(stills, without)
    expected = fuelrail_command("cat", stills, 5)
    for path in (stills, without):
        for fields in (["encoded"], ["image", "encoded"]):
            batch = next(
                iter(
                    fr.Loader(
                        path,
                        8,
                        fields=fields,
                        transforms=[fr.transforms.CenterCrop(32)],
                        dtype="uint8",
                    )
                )
            )
            assert bytes(batch[-1][5]) == expected
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "5.mp4").write_bytes(expected)
    (tmp_path / "x.bzna").unlink()
    image = fr.open(tmp_path)[0].decode()  # a folder of images
    np.testing.assert_array_equal(image, fr.open(stills, track="bzna_input")[5].decode())


@needs_plugin
def test_verify_decodes_both_images_of_a_record(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").mkdir()
    noise = np.random.default_rng(1).integers(0, 256, (64, 600, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "a" / "1.png")
    path = tmp_path / "x.bzna"
    fr.pack(tmp_path, path, preset="ultrafast")
    (tmp_path / "x.bzna.frx").unlink()
    bitstream = fr.open(path, track="bzna_input")[0].image
    middle = path.read_bytes().index(bitstream) + len(bitstream) // 2
    with path.open("r+b") as file:
        file.seek(middle)
        file.write(bytes(500))
    fuelrail_command("verify", path, "--decode", "--track", "bzna_thumb")
    with pytest.raises(AssertionError, match="cannot be decoded may be damaged"):
        fuelrail_command("verify", path, "--decode")


@needs_plugin
def test_cat_writes_the_decoded_image(stills: pathlib.Path, tmp_path: pathlib.Path) -> None:
    fuelrail_command("cat", stills, "3:5", "--png", "-o", tmp_path / "made")
    image = np.asarray(Image.open(tmp_path / "made" / "4.png"))
    np.testing.assert_array_equal(image, fr.open(stills)[4].decode())


@needs_plugin
def test_the_commands_work_on_it(stills: pathlib.Path, tmp_path: pathlib.Path) -> None:
    made = tmp_path / "x.bzna"
    shutil.copy(stills, made)
    fuelrail_command("index", made)
    assert b"62 records, all well" in fuelrail_command("verify", made, "--decode")
    absent = "/absent.so"  # none of the rest needs pixels
    assert b"  splits       train 31, validation 31\n" in fuelrail_command(
        "info", made, plugin=absent
    )
    listed = fuelrail_command("ls", made, ":3", plugin=absent)
    assert listed.count(b"hevc") == 3
    assert listed.count(b".jpg\n") == 3, listed
    fuelrail_command("convert", made, tmp_path / "y.rec", plugin=absent)
    fuelrail_command("convert", tmp_path / "y.rec", tmp_path / "z.bzna", plugin=absent)
    fuelrail_command("merge", tmp_path / "m.bzna", made, plugin=absent)
    assert (tmp_path / "m.bzna").read_bytes() == stills.read_bytes()
    for name in ("y.rec", "z.bzna"):
        data = fr.open(tmp_path / name, **({} if name == "y.rec" else {"track": "bzna_input"}))
        expected = fr.open(stills, track="bzna_input")
        np.testing.assert_array_equal(data[40].decode(), expected[40].decode())


@needs_plugin
def test_the_quality_report_has_each_image(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    packed, report = tmp_path / "x.bzna", tmp_path / "q.md"
    fr.pack(folder, packed, preset="ultrafast", crf=12, thumb=False, quality_report=report)
    originals = sorted(folder.glob("*/*.jpg"))
    assert f"- images measured: {len(originals)} of {len(originals)}" in report.read_text()
    assert report.with_suffix(".svg").read_text().count("<circle") == len(originals)
    with report.with_suffix(".csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["path"] for row in rows] == [str(path) for path in originals]
    for row, path, sample in zip(rows, originals, fr.open(packed, track="bzna_input"), strict=True):
        made, expected = sample.decode().astype(float), pixels(path.read_bytes())
        assert (int(row["height"]), int(row["width"])) == expected.shape[:2]
        assert int(row["source_bytes"]) == path.stat().st_size
        psnr = 10 * np.log10(255**2 / np.mean((made - expected) ** 2))
        assert float(row["psnr"]) == pytest.approx(psnr, abs=0.01)
        assert 0.8 < float(row["ssim"]) < 1
    with pytest.raises(fr.InvalidArgumentError, match=r"does not apply to \.rec files"):
        fr.pack(folder, tmp_path / "x.rec", quality_report=report)
    command = ["pack", folder, packed, "--overwrite", "--crf", 30, "--preset", "ultrafast"]
    fuelrail_command(*command, "--quality-report", tmp_path / "r.md", "-q")
    assert "settings: crf 30, preset ultrafast, chroma 420" in (tmp_path / "r.md").read_text()


def test_without_the_plugin_nothing_is_left(
    folder: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-m", "fuelrail", "pack", str(folder), str(tmp_path / "x.bzna")]
    monkeypatch.setenv("FUELRAIL_HEVC", "/absent.so")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'pip install "fuelrail[hevc]"' in done.stderr
    assert list(tmp_path.iterdir()) == []


@needs_plugin
@needs_ffmpeg
def test_ffmpeg_plays_the_file_and_each_record(
    stills: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    tracks = ["bzna_input", "bzna_target", "bzna_fname"]
    names = [track + split for split in ("", "_train", "_validation") for track in tracks]
    assert probed(stills) == [
        *(("data", "mett", name) for name in names),
        ("video", "hvc1", "VideoHandler"),
    ]
    fuelrail_command("cat", stills, ":", "-o", tmp_path)
    records = [tmp_path / f"{i}.mp4" for i in range(62)]
    assert probed(records[7]) == [
        ("video", "hvc1", "bzna_input"),
        ("video", "hvc1", "bzna_thumb"),
        ("data", "mett", "bzna_target"),
        ("data", "mett", "bzna_fname"),
    ]
    film = ffmpeg("-i", stills, "-map", "0:v", "-f", "framemd5", "-")
    sums = [line.split()[-1] for line in film.splitlines() if not line.startswith(b"#")]
    assert len(sums) == 62
    for i in (0, 30, 61):
        still = ffmpeg("-i", records[i], "-map", "0:1", "-f", "framemd5", "-")
        assert still.split()[-1] == sums[i]
    planes = ffmpeg("-i", records[9], "-map", "0:0", "-f", "rawvideo", "-pix_fmt", "gray", "-")
    luma = np.frombuffer(planes, np.uint8).reshape(512, 512)  # the image is at the top left
    sample = fr.open(stills, track="bzna_input")[9].decode()
    height, width = sample.shape[:2]
    grey = sample @ np.array([0.299, 0.587, 0.114])
    assert np.abs(luma[:height, :width] - grey).mean() < 2
    np.testing.assert_array_equal(luma[:height, width:].std(axis=1) < 8, True)  # edges repeated
