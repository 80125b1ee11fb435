"""fuelrail.mxnet.gluon.data: record datasets, also in torch's DataLoader and in processes."""

from __future__ import annotations

import pathlib
import pickle
import shutil
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail.mxnet import gluon, recordio
from fuelrail.mxnet.gluon.data import RecordFileDataset, SimpleDataset
from fuelrail.mxnet.gluon.data.vision import ImageRecordDataset
from fuelrail.mxnet.recordio import IRHeader, MXIndexedRecordIO
from photographs import encoded, photograph

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "mxnet"


@pytest.fixture
def rec(tmp_path: pathlib.Path) -> str:
    """Twenty PNGs of one size; label and first pixel are the position; keys descend."""
    writer = MXIndexedRecordIO(tmp_path / "a.idx", tmp_path / "a.rec", "w")
    for i in range(20):
        pixels = np.array(photograph(i, 8, 12))
        pixels[0, 0] = (i, 2 * i, 3 * i)
        record = recordio.pack_img(IRHeader(0, float(i), i, 0), pixels[:, :, ::-1], 3, ".png")
        writer.write_idx(100 - i, record)
    writer.close()
    return str(tmp_path / "a.rec")


def test_items_are_the_records_of_the_keys(rec: str) -> None:
    data = RecordFileDataset(rec)
    assert len(data) == 20
    for i in range(20):
        header, _ = recordio.unpack(data[i])
        assert header.label == float(i)
    assert data[-1] == data[19]


def test_images_are_rgb_with_their_labels(rec: str) -> None:
    data = ImageRecordDataset(rec)
    assert isinstance(data, RecordFileDataset)
    for i in range(len(data)):
        image, label = data[i]
        assert (image.shape, image.dtype, label) == ((8, 12, 3), np.uint8, float(i))
        assert image[0, 0].tolist() == [i, 2 * i, 3 * i]
    image, _ = ImageRecordDataset(rec, flag=0)[3]
    assert image.shape == (8, 12, 1)


def test_what_mxnet_wrote_is_read() -> None:
    data = gluon.data.vision.ImageRecordDataset(str(GOLDEN / "small.rec"))
    image, label = data[3]
    assert (len(data), image.dtype, label, type(label)) == (10, np.uint8, 3.0, float)
    many = ImageRecordDataset(str(GOLDEN / "multilabel.rec"))
    assert many[0][1].shape == (3,)


def test_torchs_loader_takes_several_labels_without_a_warning() -> None:
    data = ImageRecordDataset(str(GOLDEN / "multilabel.rec"))
    labels = [data[i][1] for i in range(2)]
    assert labels[0].dtype == np.float32
    assert labels[0].flags.writeable  # torch warns about other arrays, once per process
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch = torch.utils.data.default_collate(labels)
    assert batch.tolist() == [row.tolist() for row in labels]


def test_a_transform_makes_the_item(rec: str) -> None:
    data = ImageRecordDataset(rec, transform=lambda image, label: (image[0, 0, 0], label + 1))
    assert data[7] == (7, 8.0)


@pytest.mark.parametrize(
    ("workers", "context"), [(0, None), (1, "fork"), (2, "fork"), (2, "spawn")]
)
def test_torchs_loader_gives_every_item_in_its_place(
    rec: str, workers: int, context: str | None, capfd: pytest.CaptureFixture[str]
) -> None:
    """MXNet's test of its DataLoader with 1 and 5 processes, run with torch's DataLoader."""
    data = ImageRecordDataset(rec)
    data[5]  # the parent reads before it forks
    loader = torch.utils.data.DataLoader(
        data, 3, num_workers=workers, multiprocessing_context=context
    )
    seen = [row for images, labels in loader for row in zip(images, labels, strict=True)]
    assert [int(label) for _, label in seen] == list(range(20))
    assert [image[0, 0].tolist() for image, _ in seen] == [[i, 2 * i, 3 * i] for i in range(20)]
    del loader  # ends its workers
    assert "leaked" not in capfd.readouterr().err


def test_a_pickled_dataset_opens_its_files_again(rec: str) -> None:
    data = ImageRecordDataset(rec).transform_first(_first_pixel)
    twin = pickle.loads(pickle.dumps(data))
    assert twin[4] == data[4] == (4, 4.0)


def _first_pixel(image: np.ndarray) -> int:
    return int(image[0, 0, 0])


def test_transforms_are_lazy_unless_asked_for() -> None:
    calls: list[int] = []

    def double(x: int) -> int:
        calls.append(x)
        return 2 * x

    lazy = SimpleDataset([1, 2, 3]).transform(double)
    assert calls == []
    assert [lazy[i] for i in range(len(lazy))] == [2, 4, 6]
    calls.clear()
    eager = SimpleDataset([1, 2, 3]).transform(double, lazy=False)
    assert calls == [1, 2, 3]
    assert [eager[i] for i in range(3)] == [2, 4, 6]
    pairs = SimpleDataset([(1, "a"), (2, "b")])
    assert pairs.transform(lambda x, y: (y, x))[0] == ("a", 1)
    assert pairs.transform_first(double)[1] == (4, "b")
    assert SimpleDataset([5]).transform_first(double)[0] == 10


def test_parts_are_taken() -> None:
    data = SimpleDataset(list(range(10)))
    shards = [data.shard(3, i) for i in range(3)]
    assert [[s[i] for i in range(len(s))] for s in shards] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert list(data.sample(iter([7, 2, -3]))) == [7, 2, 7]
    assert list(data.sample(np.array([9]))) == [9]
    assert len(data.take(4)) == 4
    assert len(data.take(None)) == len(data.take(40)) == 10
    even = data.filter(lambda x: x % 2 == 0)
    assert [even[i] for i in range(len(even))] == [0, 2, 4, 6, 8]
    with pytest.raises(ValueError, match="below 3"):
        data.shard(3, 3)
    for absent in (10, -11):  # an iterator would end there, as if nothing were missing
        with pytest.raises(IndexError, match=rf"out of range: .*\[-10, 10\), found {absent}"):
            data.sample([0, absent])
    with pytest.raises(TypeError, match="expected an integer"):
        data.sample([0.5])  # type: ignore[list-item]


def test_iterating_ends(rec: str) -> None:
    assert [label for _, label in ImageRecordDataset(rec)] == [float(i) for i in range(20)]


def test_errors_name_file_and_offset(rec: str, tmp_path: pathlib.Path) -> None:
    data = ImageRecordDataset(rec)
    with pytest.raises(IndexError, match=r"a\.rec: the item index is out of range"):
        data[20]
    with pytest.raises(TypeError, match="expected an integer"):
        data["a"]  # type: ignore[index]
    with pytest.raises(ValueError, match="`flag` is invalid"):
        ImageRecordDataset(rec, flag=2)
    with pytest.raises(FileNotFoundError, match=r"b\.rec: no such file"):
        RecordFileDataset(tmp_path / "b.rec")
    shutil.copy(rec, tmp_path / "b.rec")
    with pytest.raises(FileNotFoundError, match=r"b\.idx: the index does not .*b\.rec"):
        RecordFileDataset(tmp_path / "b.rec")
    writer = MXIndexedRecordIO(tmp_path / "bad.idx", tmp_path / "bad.rec", "w")
    writer.write_idx(0, b"fine as bytes")
    jpeg = encoded(photograph(1, 64, 64))
    writer.write_idx(1, recordio.pack(IRHeader(0, 1.0, 1, 0), jpeg[:500]))
    writer.close()
    bad = ImageRecordDataset(tmp_path / "bad.rec")
    with pytest.raises(fr.TruncatedError, match=r"bad\.rec: offset 0: the record ends inside"):
        bad[0]
    with pytest.raises(fr.TruncatedError, match=r"bad\.rec: offset 24: the JPEG ends"):
        bad[1]


def test_a_loader_takes_any_work(rec: str, python: Callable[..., Any]) -> None:
    """Also with `-W error`, and with workers that are killed at the end."""
    run = python(
        "import sys, torch\n"
        "from fuelrail.mxnet.gluon.data.vision import ImageRecordDataset\n"
        "if __name__ == '__main__':\n"
        "    data = ImageRecordDataset(sys.argv[1])\n"
        "    loader = torch.utils.data.DataLoader(data, 4, shuffle=True, num_workers=2)\n"
        "    next(iter(loader))\n",
        rec,
    )
    assert run.returncode == 0, run.stderr
