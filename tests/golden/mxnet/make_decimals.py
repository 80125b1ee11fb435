"""Writes decimals.json: the float32 that MXNet 1.9.1 makes of a parameter's text, as its four bytes in hexadecimal; null
where it refuses the text.

    python tests/golden/mxnet/make_decimals.py      # by a Python that has MXNet 1.9.1 and Pillow

An image of pixels 1, times `scale`, is `scale` itself.
"""

import io
import json
import pathlib
import random
import tempfile

import mxnet as mx
import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).parent
draw = random.Random(1)
TEXTS = [
    *("1.8222", "1.8222f", " 1.8222", "+1.8222", "-1.8222", ".8222", "1.", "8222", "1.8222e0"),
    *("0.1", "0.229", "58.395", "123.68", "2.5E+3", "2.5e3", "16777217.5", "1e16", "1.6777217e+16"),
    *("3.3e-07", "1.1e-5", "1.9e-37", "1.2e-38", "3.4e+38", "123456789.123456789123456789"),
    *("1.1e-38", "1e-39", "3.5e38", "1e39", "", "1.5 ", "1_0", "0x10", "1.2.3", "None"),
    *(f"{draw.uniform(1, 2):.3f}" for _ in range(40)),
    *(repr(draw.uniform(0, 10)) for _ in range(20)),
    *(f"{draw.uniform(1, 10):.6e}"[:8] + f"e{draw.randint(-30, 30)}" for _ in range(20)),
]


def record(path):
    pixels = io.BytesIO()
    Image.fromarray(np.ones((1, 1, 3), np.uint8)).save(pixels, "PNG")
    writer = mx.recordio.MXRecordIO(path, "w")
    writer.write(mx.recordio.pack(mx.recordio.IRHeader(0, 0.0, 0, 0), pixels.getvalue()))
    writer.close()


def read(path, text):
    try:
        iterator = mx.io.ImageRecordIter(
            path_imgrec=path, data_shape=(3, 1, 1), batch_size=1, scale=text, verbose=False
        )
    except (mx.MXNetError, ValueError):
        return None
    return next(iterator).data[0].asnumpy()[0, 0].tobytes().hex()


with tempfile.TemporaryDirectory() as folder:
    path = f"{folder}/one.rec"
    record(path)
    made = {text: read(path, text) for text in TEXTS}
(HERE / "decimals.json").write_text(json.dumps(made, indent=1) + "\n")
