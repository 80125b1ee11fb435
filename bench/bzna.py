"""Measures `.bzna` files: loading, packing, the costs of single steps, and quality by CRF.

    ./run bench bzna                  the whole run, on ../shared/data/imagenet-sample
    ./run bench bzna --quick          fewer rounds and images, for a rough figure only

- Loading: random-resized-crop 224, float32 batches of 64 on two threads, through fuelrail's loader and through Benzina's API,
  from thumbnails of about 60 and 22 KB (CRF 20 and 31), with each of the plugin's decoders. The limit is the decoder alone,
  on two threads, with all stills in memory (bench/limit/still_limit.cc).
- Packing: `fuelrail pack`, CRF 23, preset medium, without thumbnails, on two threads, a whole process. The limit is x265 on
  two threads, with all pixels in memory.
- Costs: reading the boxes of a record, parsing a record and a still, and drawing the parameters of a random crop.
- Reads: the bytes that a shuffled epoch of 100,000 records reads, compared with those of the bitstreams that it wants.
- Quality: bytes, PSNR and SSIM by CRF (`fuelrail pack --quality-report`), and the rate of decoding, beside the JPEG files.

Contenders take turns. A ratio is the median over the rounds of the ratio within the round; its spread is half the distance
between the quartiles. Results go to bench/results/bzna-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from typing import Any

from rounds import (
    PEERS,
    ROOT,
    SAMPLE,
    SIDE,
    WORK,
    Contender,
    begun,
    heading,
    median_and_spread,
    options_of,
    pair,
    publish,
    run_epochs,
    turns,
)

import fuelrail as fr

THREADS, BATCH = 2, 64
CRFS = (10, 18, 23, 28)
LOADED_CRFS = (20, 31)  # thumbnails of about 60 and 22 KB
LIMIT = str(ROOT / "build" / "release" / "bench" / "limit" / "fuelrail_still_limit")
PLUGINS = {  # `./run bench bzna` sets the variables
    "libde265": os.environ["FUELRAIL_HEVC"],
    "libavcodec": os.environ["FUELRAIL_OTHER_HEVC"],
}
FUELRAIL = str(pathlib.Path(sysconfig.get_path("scripts")) / "fuelrail")


def photographs(images: int) -> pathlib.Path:
    """A folder with one class of this many photographs."""
    if not SAMPLE.is_dir():
        sys.exit(f"bench: {SAMPLE} does not exist; the benchmark needs its photographs")
    folder = WORK / f"bzna-{images}"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "photos" / "all").mkdir(parents=True)
    paths = sorted(SAMPLE.glob("*.JPEG"))
    for path in paths[:: max(1, len(paths) // images)][:images]:
        (folder / "photos" / "all" / path.name).symlink_to(path)
    return folder


def pack(folder: pathlib.Path, name: str, *options: str) -> float:
    """Returns: seconds."""
    command = [FUELRAIL, "pack", "photos", name, "-j", str(THREADS), "-q", "--overwrite", *options]
    os.sync()
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def loading(folder: pathlib.Path, rounds: int) -> dict[str, Any]:
    results = {}
    for crf, (decoder, plugin) in itertools.product(LOADED_CRFS, PLUGINS.items()):
        path = str(folder / f"crf{crf}.bzna")
        data = fr.open(path)
        size = sum(len(sample.image) for sample in data) / len(data)
        name = f"CRF {crf} ({size / 1000:.0f} KB), {decoder}"
        with_plugin = ["env", f"FUELRAIL_HEVC={plugin}"]
        adapter = [sys.executable, str(PEERS / "benzina_loader.py"), path, str(THREADS)]
        shape = [str(BATCH), str(SIDE)]
        everybody = [
            Contender("fuelrail", [*with_plugin, *adapter, *shape]),
            Contender("Benzina's API", [*with_plugin, *adapter, *shape, "--benzina"]),
            Contender("limit", [*with_plugin, LIMIT, "decode", path, str(THREADS)]),
        ]
        print(f"-- loading, {name}", flush=True)
        results[name] = run_epochs(everybody, rounds)
    return results


def packing(folder: pathlib.Path, images: int, rounds: int) -> dict[str, Any]:
    limit = Contender(
        "limit", [LIMIT, "encode", str(folder / "photos"), str(THREADS), "23", "medium"]
    )
    speeds: dict[str, list[float]] = {"fuelrail": [], "limit": []}
    for number, who in turns(["fuelrail", "limit"], rounds):
        if who == "limit":
            answer = limit.run(number)
            speed = answer["images"] / answer["seconds"]
        else:
            speed = images / pack(folder, "packed.bzna", "--no-thumb")
        speeds[who].append(speed)
        print(f"  round {number}/{rounds}  {who}: {speed:.1f} img/s", flush=True)
    limit.stop()
    ratios = [a / b for a, b in zip(speeds["fuelrail"], speeds["limit"], strict=True)]
    return {
        **{who: median_and_spread(values) for who, values in speeds.items()},
        "ratio": median_and_spread(ratios),
    }


def reads(folder: pathlib.Path, images: int) -> dict[str, float]:
    """Bytes read in a shuffled epoch of about 100,000 small records, and bytes of the bitstreams."""
    pack(folder, "small.bzna", "--resize", "64")
    parts = folder / "parts"
    parts.mkdir()
    for part in range(100_000 // images):
        for suffix in (".bzna", ".bzna.frx"):
            shutil.copyfile(folder / f"small{suffix}", parts / f"{part}{suffix}")
    path = folder / "many.bzna"
    subprocess.run([FUELRAIL, "merge", path, *sorted(parts.glob("*.bzna")), "-q"], check=True)
    shutil.rmtree(parts)
    loader = fr.Loader(path, BATCH, shuffle="full", seed=1, fields=["label"], threads=THREADS)
    for _ in loader:
        pass
    read = loader.stats().fetch.bytes
    data = fr.open(path)
    wanted = sum(len(sample.image) for sample in data)
    return {"records": len(data), "read": read, "wanted": wanted, "ratio": read / wanted}


def quality(folder: pathlib.Path, crf: int) -> dict[str, float]:
    report = folder / f"quality{crf}.md"
    pack(folder, "quality.bzna", "--no-thumb", "--crf", str(crf), "--quality-report", report.name)
    rows = list(csv.DictReader(report.with_suffix(".csv").read_text().splitlines()))
    columns = {
        name: [float(row[name]) for row in rows]
        for name in ("source_bytes", "bytes", "psnr", "ssim")
    }
    limit = Contender("limit", [LIMIT, "decode", str(folder / "quality.bzna"), "1"])
    answers = [limit.run(number) for number in range(3)]
    limit.stop()
    return {
        **{f"{name}_mean": statistics.fmean(values) for name, values in columns.items()},
        **{f"{name}_median": statistics.median(columns[name]) for name in ("bytes", "psnr")},
        "decoded_per_second_on_a_core": statistics.median(
            answer["images"] / answer["seconds"] for answer in answers
        ),
    }


def jpeg_decoded_per_second(folder: pathlib.Path) -> float:
    """The rate of decoding the JPEG files whole, on one core."""
    pack(folder, "jpeg.rec")
    data = fr.open(folder / "jpeg.rec")
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        for sample in data:
            sample.decode()
        seconds.append(time.perf_counter() - begin)
    return len(data) / statistics.median(seconds)


def report(results: dict[str, Any]) -> str:
    job = f"{results['images']} images, {results['rounds']} rounds, {THREADS} threads, page cache warm"
    lines = heading(".bzna files", results, results["plugin"], job)
    lines += ["", "## Loading: random-resized-crop 224, float32", ""]
    lines += ["| | img/s | ratio to the limit |", "|---|---|---|"]
    for name, part in results["loading"].items():
        for who, c in part.items():
            ratio = pair(c["ratio_to"].get("limit"), 3)
            lines.append(f"| {name}: {who} | {pair(c['images_per_second'], 0)} | {ratio} |")
    p = results["packing"]
    lines += [
        "",
        "## Packing: CRF 23, medium, no thumbnails",
        "",
        f"`fuelrail pack` {pair(p['fuelrail'], 1)} img/s, x265 alone {pair(p['limit'], 1)} img/s; ratio {pair(p['ratio'], 3)}.",
        "",
        "## Single steps",
        "",
        "| step | ns |",
        "|---|---|",
    ]
    names = {
        "boxes": "reading the boxes of a record",
        "record": "parsing a record, without the sidecar",
        "still": "parsing a still, with the sidecar, its checksum included",
        "checksum": "of which the checksum",
        "extent": "finding a still in the sidecar",
        "draws": "drawing and computing the parameters of a random resized crop",
    }
    lines += [f"| {text} | {results['costs'][key]:.0f} |" for key, text in names.items()]
    r = results["reads"]
    lines += [
        "",
        f"A shuffled epoch of {r['records']:,} records reads {r['read']:,} bytes for bitstreams of {r['wanted']:,} bytes:",
        f"{r['ratio']:.4f}.",
        "",
        "## Quality by CRF: preset medium, full size",
        "",
        "| | bytes: mean, median | PSNR, dB: mean, median | SSIM | decoded img/s, one core |",
        "|---|---|---|---|---|",
    ]
    for crf, q in results["quality"].items():
        lines.append(
            f"| CRF {crf} | {q['bytes_mean']:,.0f}, {q['bytes_median']:,.0f} | {q['psnr_mean']:.1f}, {q['psnr_median']:.1f} | "
            f"{q['ssim_mean']:.4f} | "
            f"{q['decoded_per_second_on_a_core']:.0f} |"
        )
    lines.append(
        f"| JPEG files | {q['source_bytes_mean']:,.0f} | | | {results['jpeg_decoded_per_second']:.0f} |"
    )
    return "\n".join(lines) + "\n"


def main() -> int:
    options = options_of(__doc__, "images", 5, (64, 2))
    options.images = min(options.images, 200)
    results = begun("./run bench bzna", options, "images")
    folder = photographs(options.images)
    for crf in LOADED_CRFS:
        pack(folder, f"crf{crf}.bzna", "--crf", str(crf))
    results["plugin"] = subprocess.run(
        [FUELRAIL, "doctor", "--json"], capture_output=True, text=True, check=False
    ).stdout
    results["plugin"] = json.loads(results["plugin"])["fuelrail"]["h265_plugin"]
    results["loading"] = loading(folder, options.rounds)
    results["packing"] = packing(folder, options.images, options.rounds)
    costs = subprocess.run(
        [LIMIT, "costs", str(folder / f"crf{LOADED_CRFS[0]}.bzna")],
        capture_output=True,
        text=True,
        check=True,
    )
    results["costs"] = json.loads(costs.stdout)
    results["reads"] = reads(folder, options.images)
    results["quality"] = {str(crf): quality(folder, crf) for crf in CRFS}
    results["jpeg_decoded_per_second"] = jpeg_decoded_per_second(folder)
    publish("bzna", results, report(results), options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
