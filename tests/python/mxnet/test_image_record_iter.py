"""ImageRecordIter and its variants equal MXNet 1.9.1's golden outputs bit for bit."""

from __future__ import annotations

import hashlib
import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.mxnet import io
from mxnet_goldens import GOLDEN, copied, placed, said

CONFIGS = {
    name: config
    for name, config in said("iter/iter.json")["configs"].items()
    if not name.startswith("random_") or name == "random_resized_crop_idle"
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return copied(tmp_path_factory.mktemp("mxnet"))


def iterator_of(config: dict[str, Any], root: pathlib.Path) -> Any:
    # The older iterators differ only in the index, which fuelrail always fills.
    return getattr(io, config["iterator"])(**placed(config["arguments"], root))


def digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def expect_epoch(iterator: Any, epoch: dict[str, Any], arguments: dict[str, Any]) -> None:
    batches = list(iterator)
    iterator.reset()
    rows = epoch["rows"]
    # MXNet returns 0 without round_batch; fuelrail returns the number of missing rows.
    rounded = arguments.get("round_batch", True)
    pads = epoch["pad"] if rounded else [arguments["batch_size"] - count for count in rows]
    assert [batch.pad for batch in batches] == pads
    data = [batch.data[0].asnumpy()[:n] for batch, n in zip(batches, rows, strict=True)]
    labels = [batch.label[0].asnumpy()[:n] for batch, n in zip(batches, rows, strict=True)]
    assert [label.tolist() for label in labels] == epoch["label"]
    assert digest(np.concatenate(labels)) == epoch["label_array"]["sha256"]
    assert digest(np.concatenate(data)) == epoch["data_array"]["sha256"]
    if epoch["index"] != "all zero":
        assert [batch.index.tolist() for batch in batches] == epoch["index"]


@pytest.mark.parametrize("name", CONFIGS)
def test_every_batch_of_every_epoch_is_mxnets(name: str, root: pathlib.Path) -> None:
    config = CONFIGS[name]
    if "mean_img" in config["arguments"]:
        if name == "mean_img_made":
            (root / "mean.bin").unlink(missing_ok=True)
        else:
            shutil.copy(GOLDEN / "iter" / "mean.bin", root)
    iterator = iterator_of(config, root)
    provided = [iterator.provide_data, iterator.provide_label]
    for descriptions, expected in zip(
        provided, (config["provide_data"], config["provide_label"]), strict=True
    ):
        assert [
            [each.name, list(each.shape), np.dtype(each.dtype).name] for each in descriptions
        ] == expected
    for epoch in config["epochs"]:
        expect_epoch(iterator, epoch, config["arguments"])
    if name == "mean_img_made":
        assert (root / "mean.bin").read_bytes() == (GOLDEN / "iter" / "mean.bin").read_bytes()


def test_no_configuration_is_left_out() -> None:
    assert len(CONFIGS) == 106


CODEC = said("iter/iter.json")["codec"]
DECODED_HERE = ("webp", "webp_lossless")  # but not in MXNet


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("name", CODEC)
def test_each_encoding_alone_gives_mxnets_pixels(
    name: str, channels: int, root: pathlib.Path
) -> None:
    expected = CODEC[name][f"channels{channels}"]
    known = [
        CODEC[name][f"channels{other}"]["shape"][1:]
        for other in (3, 1, 4)
        if isinstance(CODEC[name][f"channels{other}"], dict)
    ]
    position = list(CODEC).index(name)
    iterator = io.ImageRecordIter(
        path_imgrec=str(root / "codec.rec"),
        path_imgidx=str(root / "codec.idx"),
        data_shape=(channels, *(known[0] if known else (48, 48))),
        batch_size=1,
        dtype="uint8",
        num_parts=len(CODEC),
        part_index=position,
    )
    if isinstance(expected, dict):
        data = next(iterator).data[0].asnumpy()
        assert list(data.shape[1:]) == expected["shape"]
        if (name, channels) == ("jpeg_cmyk", 3):  # converted from CMYK as everywhere in fuelrail
            golden = np.load(GOLDEN / "iter" / "codec.npz")["jpeg_cmyk_c3"]
            assert np.abs(data[0].astype(int) - golden).max() <= 1
        else:
            assert digest(data) == expected["sha256"]
    elif name in DECODED_HERE and channels != 4:
        assert next(iterator).data[0].asnumpy().any()
    else:
        with pytest.raises(fr.Error, match=f"codec.rec: record {position}, offset "):
            next(iterator)
