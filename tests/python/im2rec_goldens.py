"""What MXNet's `im2rec.py` was run on (tests/golden/mxnet): its images, and command lines that packed them."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from fuelrail.mxnet import recordio

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "mxnet"
RUNS: dict[str, Any] = json.loads((GOLDEN / "im2rec" / "runs.json").read_text())
del RUNS["r48as_is_jpg"]  # alpha as JPEG: MXNet drops it in silence, and here it is an error


def read(path: pathlib.Path) -> list[bytes]:
    """The payloads of a record file."""
    record = recordio.MXRecordIO(str(path), "r")
    records = []
    while (payload := record.read()) is not None:
        records.append(payload)
    record.close()
    return records


def put_images(folder: pathlib.Path) -> pathlib.Path:
    """The files that the golden lists name."""
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
    """MXNet's command line as `dataset_params`; its defaults differ from the proposal's."""
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
