"""Checks on real photographs that ImageRecordIter and ImageDetRecordIter give the same order, labels and pixels as those of
MXNet 1.9.1.

    ./run bench mxnet_equality [--photographs N]

The file (420 photographs of ../shared/data/imagenet-sample, 45 MB) is longer than several of the 8 MiB chunks in which MXNet
reads and shuffles. Both libraries run the same cases (bench/peers/mxnet_rows.py), two epochs each: in order, shuffled in chunks,
by chunks and by the index, in parts, and with the random numbers of `seed_aug`. Prints one line per case, and exits with 1 if
anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import sysconfig
from typing import Any

from rounds import PEERS, SAMPLE, WORK, peer_python

SHAPE = {"data_shape": [3, 160, 160], "batch_size": 32, "resize": 192, "dtype": "uint8"}
INDEX = {"path_imgidx": True}
CROPS = {"rand_crop": True, "rand_mirror": True, "seed_aug": 7}
HLS = {"random_h": 36, "random_s": 50, "random_l": 50}
DETECTION = {
    "iterator": "ImageDetRecordIter",
    "data_shape": [3, 160, 160],
    "batch_size": 32,
    "mean_r": 123.675,
    "std_r": 58.395,
}
JITTER = {"brightness": 0.3, "contrast": 0.3, "saturation": 0.3}
CASES: dict[str, dict[str, Any]] = {
    "in order": SHAPE,
    "in order, a last batch of its own": SHAPE | {"round_batch": False},
    "shuffled in chunks": SHAPE | {"shuffle": True, "seed": 3},
    "shuffled by chunks": SHAPE
    | {"shuffle": True, "shuffle_chunk_size": 4, "shuffle_chunk_seed": 5},
    "shuffled by the index": SHAPE | INDEX | {"shuffle": True, "seed": 4},
    "a part of three": SHAPE | {"num_parts": 3, "part_index": 1},
    "a part of three, by the index, shuffled": SHAPE
    | INDEX
    | {"num_parts": 3, "part_index": 2, "shuffle": True},
    "seeded crops and mirrors": SHAPE | CROPS,
    "seeded crops and mirrors, by the index, shuffled": SHAPE | CROPS | INDEX | {"shuffle": True},
    "seeded crops and mirrors, shuffled in chunks": SHAPE | CROPS | {"shuffle": True},
    "seeded brightness, contrast, saturation": SHAPE | CROPS | JITTER,
    "seeded hue, saturation, lightness": SHAPE | CROPS | HLS,
    "seeded hue, saturation, lightness, 158 columns": SHAPE
    | CROPS
    | HLS
    | {"data_shape": [3, 160, 158]},
    "seeded hue, saturation, lightness, 159 columns": SHAPE
    | CROPS
    | HLS
    | {"data_shape": [3, 160, 159]},
    "seeded rotation and shear": SHAPE | CROPS | {"max_rotate_angle": 30, "max_shear_ratio": 0.1},
    "seeded resized crops": SHAPE
    | {
        "resize": -1,
        "random_resized_crop": True,
        "min_random_area": 0.08,
        "min_aspect_ratio": 0.75,
        "max_aspect_ratio": 1.3333,
        "seed_aug": 1,
    },
    "float32, mean and deviation": SHAPE
    | {
        "dtype": "float32",
        "mean_r": 123.675,
        "mean_g": 116.28,
        "mean_b": 103.53,
        "std_r": 58.395,
        "std_g": 57.12,
        "std_b": 57.375,
    },
    "detection": DETECTION,
    "detection, fitted": DETECTION | {"resize_mode": "fit", "label_pad_width": 24},
    "detection, shuffled in chunks": DETECTION | {"shuffle": True, "seed": 3},
    "detection, shuffled by chunks, a part of two": DETECTION
    | {"shuffle": True, "shuffle_chunk_size": 4, "num_parts": 2, "part_index": 1},
}


def pack(photographs: int) -> pathlib.Path:
    """Packs two files: one with a label per image, and one with a label header and one or two boxes per image."""
    folder = WORK / f"equality-{photographs}"
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(path.name for path in SAMPLE.glob("*.JPEG"))[:photographs]
    boxes = ["2\t5\t{}\t0.1\t0.2\t0.6\t0.9", "\t7\t0.25\t0.0\t1.0\t0.5"]
    fuelrail = str(pathlib.Path(sysconfig.get_path("scripts")) / "fuelrail")
    for kind, labels in (("one", ["{}", ""]), ("boxes", boxes)):
        listing = folder / f"{kind}.lst"
        listing.write_text(
            "".join(
                f"{i}\t{labels[0].format(i)}{labels[1] if i % 3 == 0 else ''}\t{name}\n"
                for i, name in enumerate(names)
            )
        )
        command = [fuelrail, "pack", str(listing), str(folder / f"{kind}.rec")]
        options = ["--root", str(SAMPLE), "--overwrite"]
        subprocess.run([*command, *options], check=True, stderr=subprocess.DEVNULL)
    return folder


def rows_of(who: str, python: str, folder: pathlib.Path) -> dict[str, list[dict[str, Any]]]:
    cases, out = folder / "cases.json", folder / f"{who}.json"
    cases.write_text(json.dumps(CASES))
    command = [python, str(PEERS / "mxnet_rows.py"), who, str(folder)]
    environment = {**os.environ, "MXNET_CPU_WORKER_NTHREADS": "1"}
    subprocess.run([*command, str(cases), str(out)], check=True, env=environment)
    found: dict[str, list[dict[str, Any]]] = json.loads(out.read_text())
    return found


def differences(
    ours: list[dict[str, Any]], theirs: list[dict[str, Any]], rounded: bool
) -> list[str]:
    """Drops the filler rows of a last batch that is not rounded: MXNet leaves old memory in them and does not report them."""
    if len(ours) != len(theirs):
        return [f"{len(ours)} batches, MXNet {len(theirs)}"]
    labels = rows = 0
    for mine, other in zip(ours, theirs, strict=True):
        valid = len(mine["labels"]) - (0 if rounded else mine["pad"])
        labels += mine["labels"][:valid] != other["labels"][:valid]
        pairs = zip(mine["rows"][:valid], other["rows"][:valid], strict=True)
        rows += sum(a != b for a, b in pairs)
    return [
        text
        for text in (f"{labels} batches' labels" if labels else "", f"{rows} rows" if rows else "")
        if text
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--photographs", type=int, default=420)
    folder = pack(parser.parse_args().photographs)
    ours = rows_of("fuelrail", sys.executable, folder)
    theirs = rows_of("mxnet", peer_python("mxnet"), folder)
    wrong = 0
    for case, keywords in CASES.items():
        found = differences(ours[case], theirs[case], keywords.get("round_batch", True))
        wrong += bool(found)
        batches = len(ours[case])
        print(
            f"  {case}: {batches} batches, {'differ in ' + ', '.join(found) if found else 'equal'}"
        )
    print(f"{len(CASES) - wrong} of {len(CASES)} cases are equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
