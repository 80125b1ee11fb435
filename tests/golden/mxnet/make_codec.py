"""Writes codec.tsv: what MXNet 1.9.1 (with OpenCV 3.4.2) made of each record of codec.rec, by its checksum.

    python tests/golden/mxnet/make_codec.py ../shared/golden/mxnet

A line a record and number of channels: name, offset and size of the encoded image in codec.rec, channels, height, width,
CRC-32 of the pixels (height x width x channels, RGB order, upright); 0 0 - where MXNet refuses. codec_cmyk.rgb are the
pixels of jpeg_cmyk, of which ours differ by a level.
"""

import json
import pathlib
import shutil
import sys
import zlib

import numpy as np

source = pathlib.Path(sys.argv[1])
here = pathlib.Path(__file__).parent
shutil.copy(source / "codec.rec", here)
shutil.copy(source / "codec.idx", here)
records = json.loads((source / "manifest.json").read_text())["records"]["codec"]["records"]
codec = json.loads((source / "iter" / "iter.json").read_text())["codec"]
arrays = np.load(source / "iter" / "codec.npz")
lines = []
for record, (name, outputs) in zip(records, codec.items(), strict=True):
    begin = record["offset"] + 8 + 24
    size = record["size"] - 24
    for channels in (1, 3, 4):
        made = outputs[f"channels{channels}"]
        if isinstance(made, str):
            lines.append(f"{name} {begin} {size} {channels} 0 0 -")
            continue
        pixels = np.ascontiguousarray(arrays[f"{name}_c{channels}"].transpose(1, 2, 0))
        lines.append(
            f"{name} {begin} {size} {channels} {pixels.shape[0]} {pixels.shape[1]} {zlib.crc32(pixels):08x}"
        )
        if (name, channels) == ("jpeg_cmyk", 3):
            (here / "codec_cmyk.rgb").write_bytes(pixels.tobytes())
(here / "codec.tsv").write_text("\n".join(lines) + "\n")
