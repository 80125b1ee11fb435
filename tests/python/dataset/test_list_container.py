"""fuelrail.open of a list of images (`.lst`)."""

from __future__ import annotations

import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.mxnet.lists import make_lists
from loading import arrays
from page import DOCS
from photographs import encoded, photograph, pixels


@pytest.fixture
def listed(tmp_path: pathlib.Path) -> pathlib.Path:
    """Six images in two folders, and a list in another folder, in reverse order."""
    lines = []
    for i in range(6):
        name = f"{'ant' if i % 2 else 'bee'}/a photo {i}.jpg"
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(photograph(i, 40 + i, 60)))
        lines.append(f"{10 * i}\t{i % 2}\t{name}\n")
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "all.lst").write_text("".join(reversed(lines)))
    return tmp_path


def test_samples_are_the_lists_lines(listed: pathlib.Path) -> None:
    data = fr.open(listed / "lists/all.lst", root=listed / "photos")
    assert len(data) == 6
    assert [(field.name, field.kind, field.dtype, field.shape) for field in data.schema] == [
        ("image", "image", None, ()),
        ("label", "tensor", "int64", ()),
    ]
    assert data.classes == []
    assert [sample.id for sample in data] == [50, 40, 30, 20, 10, 0]
    assert [sample.label for sample in data] == [1, 0, 1, 0, 1, 0]
    path = listed / "photos" / "bee" / "a photo 4.jpg"
    assert data[1].image == path.read_bytes()
    assert data[1].place == (str(path), 1, 0)
    assert np.array_equal(data[1].decode(), pixels(path.read_bytes()))


def test_without_a_root_it_is_the_lists_own_folder(listed: pathlib.Path) -> None:
    text = (listed / "lists/all.lst").read_text()
    (listed / "photos/all.lst").write_text(text)
    data = fr.open(listed / "photos/all.lst")
    assert data.fingerprint == fr.open(listed / "lists/all.lst", root=listed / "photos").fingerprint


def test_a_list_and_what_is_packed_from_it_are_the_same_samples(listed: pathlib.Path) -> None:
    fr.pack(listed / "lists/all.lst", listed / "all.rec", root=listed / "photos")
    packed = fr.open(listed / "all.rec")
    data = fr.open(listed / "lists/all.lst", root=listed / "photos")
    assert data.schema == packed.schema
    for ours, theirs in zip(data, packed, strict=True):
        assert (ours.id, ours.label, ours.image) == (theirs.id, theirs.label, theirs.image)


def test_a_list_of_make_lists_trains(listed: pathlib.Path) -> None:
    make_lists(listed / "made", listed / "photos", recursive=True)
    data = fr.open(listed / "made.lst", root=listed / "photos")
    crop = [fr.transforms.CenterCrop(32)]
    fields = ["id", "label", "image"]
    loader = fr.Loader(data, 4, shuffle="full", seed=1, fields=fields, transforms=crop)
    ids, labels = (
        np.concatenate(column) for column in zip(*(arrays(b[:2]) for b in loader), strict=True)
    )
    assert sorted(ids.tolist()) == list(range(6))
    assert dict(zip(ids.tolist(), labels.tolist(), strict=True)) == {s.id: s.label for s in data}


def test_several_labels_are_a_vector(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.jpg").write_bytes(encoded(photograph(1, 20, 20)))
    (tmp_path / "same.lst").write_text("0\t1\t2.5\ta.jpg\n1\t3\t4\ta.jpg\n")
    data = fr.open(tmp_path / "same.lst")
    assert data.schema[1].shape == (2,)
    assert data[0].label.tolist() == [1.0, 2.5]
    (tmp_path / "other.lst").write_text("0\t1\t2.5\ta.jpg\n1\t3\ta.jpg\n")
    data = fr.open(tmp_path / "other.lst")
    assert data.schema[1].shape == (-1,)
    assert [sample.label.tolist() for sample in data] == [[1.0, 2.5], [3.0]]


def test_lists_go_with_other_sources(listed: pathlib.Path) -> None:
    lists = [listed / "lists/all.lst"] * 2
    both = fr.open(lists, root=listed / "photos")
    assert len(both) == 12
    assert len(fr.open([both, both[:3]])) == 15


def test_a_pickled_list_keeps_its_root(
    listed: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(listed)
    data = fr.open("lists/all.lst", root="photos")
    twin = pickle.loads(pickle.dumps(data))
    assert twin[0].image == data[0].image
    assert twin.place(0).path == "photos/ant/a photo 5.jpg"
    os.remove("photos/ant/a photo 5.jpg")
    with pytest.raises(fr.CorruptError, match="has changed since it was pickled"):
        pickle.loads(pickle.dumps(data))


def test_a_missing_image_is_an_error_when_it_is_read(listed: pathlib.Path) -> None:
    path = listed / "photos" / "ant" / "a photo 3.jpg"
    path.unlink()
    data = fr.open(listed / "lists/all.lst", root=listed / "photos")
    assert data[0].label == 1
    with pytest.raises(FileNotFoundError, match=r"a photo 3\.jpg: record 2"):
        data[2]
    loader = fr.Loader(data, 6, fields=["substituted", "label"], on_error="skip")
    with pytest.warns(fr.FuelrailWarning, match=r"a photo 3\.jpg"):
        ((substituted, _),) = loader
    assert int(substituted.numpy().sum()) == 1


def test_what_is_wrong_is_said(listed: pathlib.Path, record_file: pathlib.Path) -> None:
    (listed / "bad.lst").write_text("0\t1\ta.jpg\nx\t1\tb.jpg\n")
    with pytest.raises(fr.CorruptError, match=r"bad\.lst: line 2: the id is not a number"):
        fr.open(listed / "bad.lst")
    (listed / "empty.lst").write_text("\n")
    with pytest.raises(fr.CorruptError, match="the list has no images"):
        fr.open(listed / "empty.lst")
    with pytest.raises(ValueError, match="`root` can be given only for a list of images"):
        fr.open(record_file, root=listed)
    with pytest.raises(ValueError, match="`root` cannot be given for a dataset that is already"):
        fr.open(fr.open(record_file), root=listed)
    with pytest.raises(ValueError, match="a schema can be given only for"):
        fr.open(listed / "lists/all.lst", schema="class_folders")


def test_the_command_takes_lists(listed: pathlib.Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "fuelrail", *arguments, "--root", str(listed / "photos")],
            capture_output=True,
            text=True,
            check=False,
        )

    file = str(listed / "lists/all.lst")
    assert "6" in run("info", file).stdout
    assert "45 x 60" in run("ls", file).stdout
    assert run("verify", file).returncode == 0
    refused = run("info", str(listed / "photos"))
    assert refused.returncode == 2
    assert "`root` can be given only for a list of images" in refused.stderr


def test_the_format_page_says_what_is_read(tmp_path: pathlib.Path) -> None:
    page = (DOCS / "formats" / "image_list.md").read_text()
    (block,) = re.findall(r"^```image_list\n(.*?)^```$", page, re.M | re.S)
    lines = [[part.strip() for part in line.split("->")] for line in block.splitlines()]
    listed = "".join(line.replace("\\t", "\t") + "\n" for line, _ in lines)
    (tmp_path / "a.lst").write_text(listed)
    data = fr.open(tmp_path / "a.lst")
    assert data.schema[1].shape == (-1,)
    for i, (_, said) in enumerate(lines):
        number, labels, path = re.fullmatch(r"id (\d+), labels (.*), path (.*)", said).groups()  # type: ignore[union-attr]
        where = path if path.startswith("/") else str(tmp_path / path)
        assert data.place(i).path == where
        if not path.startswith("/"):
            os.makedirs(os.path.dirname(where), exist_ok=True)
            pathlib.Path(where).write_bytes(b"image")
            assert data[i].id == int(number)
            assert data[i].label.tolist() == [np.float32(label) for label in labels.split()]


def test_the_format_page_says_what_is_read_of_a_table(tmp_path: pathlib.Path) -> None:
    page = (DOCS / "formats" / "image_list.md").read_text()
    (block,) = re.findall(r"^```image_table\n(.*?)^```$", page, re.M | re.S)
    rows = [line.partition("->")[::2] for line in block.splitlines()]
    (tmp_path / "a.csv").write_text("".join(f"{row}\n" for row, _ in rows))
    with pytest.warns(fr.FuelrailWarning, match="'path' and 'label' are used, not 'width'"):
        data = fr.open(tmp_path / "a.csv")
    for i, (_, said) in enumerate(rows[1:]):
        number, word, path = re.fullmatch(r" id (\d+), label (.*), path (.*)", said).groups()  # type: ignore[union-attr]
        where = pathlib.Path(data.place(i).path)
        assert where == tmp_path / path
        where.parent.mkdir(exist_ok=True)
        where.write_bytes(b"image")
        assert data[i].id == int(number)
        assert data.classes[data[i].label] == word
