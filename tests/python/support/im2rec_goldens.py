"""Images and command lines with which MXNet's `im2rec.py` was run (tests/golden/mxnet)."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

from fuelrail.mxnet import recordio

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "mxnet"
RUNS: dict[str, Any] = json.loads((GOLDEN / "im2rec" / "runs.json").read_text())
# A run, and its image with alpha: MXNet drops the alpha silently, fuelrail raises an error.
NO_JPEG = ("r48as_is_jpg", 473)


def read(path: pathlib.Path) -> list[bytes]:
    """The payloads of a record file."""
    record = recordio.MXRecordIO(str(path), "r")
    records = []
    while (payload := record.read()) is not None:
        records.append(payload)
    record.close()
    return records


def put_run(name: str, folder: pathlib.Path) -> tuple[pathlib.Path, dict[str, Any]]:
    """Writes a run's list. Returns: its path and the run, without the image that JPEG rejects."""
    run = RUNS[name]
    lines = (GOLDEN / "im2rec" / run["list"]).read_text().splitlines(keepends=True)
    if name == NO_JPEG[0]:
        lines = [line for line in lines if int(line.split("\t")[0]) != NO_JPEG[1]]
        run = run | {"records": [one for one in run["records"] if one["id"] != NO_JPEG[1]]}
    (folder / "x.lst").write_text("".join(lines))
    return folder / "x.lst", run


def check_headers(path: pathlib.Path, run: dict[str, Any]) -> list[bytes]:
    """Checks that ids, flags and labels are those that MXNet packed. Returns: the images."""
    ours = [recordio.unpack(payload) for payload in read(path)]
    assert [header.id for header, _ in ours] == [record["id"] for record in run["records"]]
    assert [header.flag for header, _ in ours] == [record["flag"] for record in run["records"]]
    for (header, _), record in zip(ours, run["records"], strict=True):
        np.testing.assert_array_equal(header.label, np.float32(record["label"]))
    return [image for _, image in ours]


def put_images(folder: pathlib.Path) -> pathlib.Path:
    """Writes the files that the golden lists name."""
    names = [line.split("\t")[2] for line in (GOLDEN / "image.lst").read_text().splitlines()]
    for name, payload in zip(names, read(GOLDEN / "image.rec"), strict=True):
        (folder / name).write_bytes(recordio.unpack(payload)[1])
    codec = dict.fromkeys(
        line.split()[0] for line in (GOLDEN / "codec.tsv").read_text().splitlines()
    )
    for name, payload in zip(codec, read(GOLDEN / "codec.rec"), strict=True):
        (folder / f"{name}.{name.split('_')[0]}").write_bytes(recordio.unpack(payload)[1])
    return folder


def params_of(arguments: list[str]) -> dict[str, Any]:
    """MXNet's command line as `dataset_params`. Its defaults differ from those of the proposal."""
    params: dict[str, Any] = {"color": 1}
    words = iter(arguments)
    for word in words:
        name = word.removeprefix("--").replace("-", "_")
        if name in ("pass_through", "center_crop", "pack_label"):
            params[name] = 1
        elif name == "num_thread":
            params["num_workers"] = int(next(words))
        elif name == "encoding":
            params[name] = next(words)
        else:
            params[name] = int(next(words))
    return params
