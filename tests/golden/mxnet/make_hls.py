"""Writes hls.npz: what MXNet 1.9.1's random_h, random_s and random_l make of pictures of odd widths.

    python tests/golden/mxnet/make_hls.py      # by a Python that has MXNet 1.9.1

Its OpenCV takes four pixels of a row at a time, and those left at the end one by one, where it gives some colours another
saturation: half of the pixels are of these colours. For each width W: `rgbW` (HEIGHT, W, 3), and the rows of batches
that become of it, `madeW` (SEEDS, 3, HEIGHT, W), with seed_aug = 0, 1, ...
"""

import pathlib
import struct
import tempfile
import zlib

import mxnet as mx
import numpy as np

HERE = pathlib.Path(__file__).parent
WIDTHS = (1, 2, 3, 4, 5, 6, 7, 18, 259)
HEIGHT = 8
SEEDS = 4


def odd_colours(random, count):
    """Colours of which 2 - most - least and 2 - (most + least) give two saturations."""
    most, least = np.nonzero(np.tri(256, k=-1))
    a, b = (level.astype(np.float32) * np.float32(1 / 255) for level in (most, least))
    light = (a + b) * np.float32(0.5) >= 0.5
    together = np.rint((a - b) / (2 - (a + b)) * 255)
    one_by_one = np.rint((a - b) / (2 - a - b) * 255)
    chosen = random.choice(np.flatnonzero(light & (together != one_by_one)), count)
    between = random.integers(least[chosen], most[chosen], endpoint=True)
    return random.permuted(np.stack([most[chosen], between, least[chosen]], -1), axis=-1)


def picture(random, width):
    pixels = random.integers(0, 256, (HEIGHT, width, 3), dtype=np.uint8)
    odd = random.random((HEIGHT, width)) < 0.5
    pixels[odd] = odd_colours(random, np.count_nonzero(odd))
    return pixels


def png(pixels):
    """As the Python of MXNet may have no library for it."""
    height, width = pixels.shape[:2]
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0),
        b"IDAT": zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels)),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks.items()
    )


def made_by_mxnet(pixels, seed, path):
    height, width = pixels.shape[:2]
    records = mx.recordio.MXRecordIO(path, "w")
    records.write(mx.recordio.pack(mx.recordio.IRHeader(0, 0, 0, 0), png(pixels)))
    records.close()
    iterator = mx.io.ImageRecordUInt8Iter(
        path_imgrec=path,
        data_shape=(3, height, width),
        batch_size=1,
        seed_aug=seed,
        random_h=60,
        random_s=70,
        random_l=50,
        verbose=False,
    )
    return iterator.next().data[0].asnumpy()[0]


def main():
    random = np.random.default_rng(4)
    arrays = {}
    with tempfile.TemporaryDirectory() as folder:
        for width in WIDTHS:
            pixels = picture(random, width)
            arrays[f"rgb{width}"] = pixels
            path = f"{folder}/one.rec"
            arrays[f"made{width}"] = np.stack(
                [made_by_mxnet(pixels, seed, path) for seed in range(SEEDS)]
            )
    np.savez_compressed(HERE / "hls.npz", **arrays)


if __name__ == "__main__":
    main()
