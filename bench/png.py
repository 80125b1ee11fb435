"""Measures fuelrail's PNG decoder beside bare calls of libspng, and the loader on PNGs beside its peers.

    ./run bench png              on the photographs and CIFAR images of ../shared/data, as PNGs
    ./run bench png --quick      fewer records and rounds

Decoding, on one core: decode_benchmark (src/fuelrail/decode/png/png_benchmark.cc) on the photographs at short side 256, on
masks of 512 x 512 with few regions (palette, and 8-bit grey), and on CIFAR images, all written as PNG by Pillow. The loader, on
two threads: the job of `./run bench` on the photographs at 256, by fuelrail, by fuelrail with libspng instead of its own decoder,
and by torch's DataLoader with Pillow and with OpenCV. Results go to bench/results/png-<cpu>-<date>.json and .md.
"""

from __future__ import annotations

import pathlib
import random
import subprocess
import sys
from typing import Any

from decode import measured
from PIL import Image, ImageDraw
from rounds import (
    BATCH,
    PEERS,
    SAMPLE,
    SIDE,
    THREADS,
    WORK,
    Contender,
    begun,
    best_pillow_workers,
    best_workers,
    command,
    heading,
    median_and_spread,
    options_of,
    pair,
    peer_python,
    prepare,
    publish,
    run_epochs,
)

CIFAR = SAMPLE.parent / "cifar10" / "test"
RATIOS = {
    "whole": ("png_with_fuelrail/whole", "png_barely/whole"),
    "crop": ("png_with_fuelrail/crop", "png_barely/crop"),
    "values": ("values_with_fuelrail", "values_barely"),
}
MASKS = 200
PALETTE_MASKS, GREY_MASKS = "palette masks", "grey masks"
FUELRAIL, LIBSPNG = "fuelrail", "fuelrail with libspng"
PILLOW, OPENCV = "torch DataLoader + Pillow", "torch DataLoader + OpenCV"
COMPARED = (LIBSPNG, PILLOW, OPENCV)


def as_png(sources: list[pathlib.Path], folder: pathlib.Path) -> pathlib.Path:
    """Writes the images as PNGs, unless the folder is complete."""
    if (folder / "done").exists():
        return folder
    (folder / "files").mkdir(parents=True, exist_ok=True)
    for i, source in enumerate(sources):
        with Image.open(source) as image:
            image.convert("RGB").save(folder / "files" / f"{i:04}.png")
    (folder / "done").touch()
    return folder


def masks(folder: pathlib.Path, mode: str) -> pathlib.Path:
    """Masks of 512 x 512 pixels with 4 to 12 regions. `mode`: Pillow's P or L."""
    if (folder / "done").exists():
        return folder
    drawn = random.Random(1)
    (folder / "files").mkdir(parents=True, exist_ok=True)
    for i in range(MASKS):
        mask = Image.new(mode, (512, 512))
        if mode == "P":
            mask.putpalette([drawn.randrange(256) for _ in range(768)])
        pen = ImageDraw.Draw(mask)
        for _ in range(drawn.randint(4, 12)):
            corners = sorted(drawn.randrange(512) for _ in range(4))
            points = [(drawn.choice(corners), drawn.randrange(512)) for _ in range(7)]
            region = drawn.randint(1, 80)
            if drawn.random() < 0.5:
                pen.polygon(points, fill=region)
            else:
                pen.ellipse((corners[0], corners[1], corners[2], corners[3]), fill=region)
        mask.save(folder / "files" / f"{i:04}.png")
    (folder / "done").touch()
    return folder


def packed(folder: pathlib.Path, records: int) -> pathlib.Path:
    """The files of a folder in one file, repeated."""
    path = folder / "all.rec"
    names = sorted(file.name for file in (folder / "files").iterdir())
    listing = folder / "all.lst"
    listing.write_text(
        "".join(f"{i}\t{i % len(names)}\t{names[i % len(names)]}\n" for i in range(records))
    )
    arguments = ["pack", str(listing), str(path), "--root", str(folder / "files"), "--overwrite"]
    subprocess.run([command("fuelrail"), *arguments], check=True, stderr=subprocess.DEVNULL)
    return path


def summary(parts: dict[str, list[float]]) -> dict[str, Any]:
    return {
        "ms_per_image": {name: median_and_spread(values) for name, values in parts.items()},
        "ratio_to_libspng": {
            name: median_and_spread([b / a for a, b in zip(parts[ours], parts[bare], strict=True)])
            for name, (ours, bare) in RATIOS.items()
            if ours in parts
        },
    }


def loaders(folder: pathlib.Path, records: int, threads: int, rounds: int) -> dict[str, Any]:
    python = sys.executable
    path = str(packed(folder, records))
    shape = [str(BATCH), str(SIDE)]
    files = [str(folder / "files"), str(records)]
    loader = [python, str(PEERS / "fuelrail_loader.py"), path, str(threads), *shape]
    workers = best_pillow_workers(folder / "files", records, threads)

    def with_opencv(count: int) -> Contender:
        program = [peer_python("opencv"), str(PEERS / "opencv_loader.py")]
        return Contender(OPENCV, [*program, *files, str(count), *shape])

    opencv_workers = best_workers(with_opencv, threads)
    pillow = [python, str(PEERS / "pillow_loader.py"), *files, str(workers), *shape]
    everybody = [
        Contender(FUELRAIL, loader),
        Contender(LIBSPNG, loader, {"FUELRAIL_PNG": "libspng"}),
        Contender(PILLOW, pillow),
        with_opencv(opencv_workers),
    ]
    return {
        "workers": {PILLOW: workers, OPENCV: opencv_workers},
        "contenders": run_epochs(everybody, rounds),
    }


def report(results: dict[str, Any]) -> str:
    about = results["machine"]
    job = f"{results['records']} records, {results['rounds']} rounds, {results['threads']} threads, page cache warm"
    lines = heading("PNG", results, f"torch {about['torch']}, Pillow {about['pillow']}", job)
    sets = results["decoding"]
    head = ["", "| | " + " | ".join(sets) + " |", "|---" * (1 + len(sets)) + "|"]
    lines += ["", "Speed of decoding relative to bare calls of libspng, on one core:", *head]
    for name in RATIOS:
        cells = [pair(part["ratio_to_libspng"].get(name), 2) for part in sets.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "Milliseconds an image:", *head]
    for name in sum(RATIOS.values(), ()):
        cells = [pair(part["ms_per_image"].get(name), 4) for part in sets.values()]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    lines += [
        "",
        "The loader, on photographs at short side 256:",
        "",
        "| | img/s | CPU s / 1,000 img | ratio to " + " | ratio to ".join(COMPARED) + " | MiB |",
        "|---" * (4 + len(COMPARED)) + "|",
    ]
    for contender, c in results["loader"]["contenders"].items():
        ratios = " | ".join(pair(c["ratio_to"].get(other), 2) for other in COMPARED)
        memory = f"{c['memory_mib']:.0f}" if "memory_mib" in c else "-"
        lines.append(
            f"| {contender} | {pair(c['images_per_second'], 0)} | {pair(c['cpu_seconds_per_1000_images'], 2)} | "
            f"{ratios} | {memory} |"
        )
    workers = ", ".join(f"{name}: {count}" for name, count in results["loader"]["workers"].items())
    return "\n".join([*lines, "", f"Best worker counts: {workers}."]) + "\n"


def main() -> int:
    options = options_of(__doc__, "records", 7, (800, 3), THREADS, count=2400)
    results = begun("./run bench png", options, "records", "threads")
    short = prepare(800)["short256"] / "files"
    photographs = as_png(sorted(short.glob("*.jpg")), WORK / "png256")
    folders = {
        "photographs at 256": photographs,
        PALETTE_MASKS: masks(WORK / "palette-masks", "P"),
        GREY_MASKS: masks(WORK / "grey-masks", "L"),
        "CIFAR": as_png(sorted(CIFAR.rglob("*.jpg"))[:2000], WORK / "png-cifar"),
    }
    results["decoding"] = {}
    for name, folder in folders.items():
        has_values = name in (PALETTE_MASKS, GREY_MASKS)
        kinds = "^(png|values)_" if has_values else "^png_"
        results["decoding"][name] = summary(measured(folder / "files", options.rounds, kinds))
    results["loader"] = loaders(photographs, options.records, options.threads, options.rounds)
    publish("png", results, report(results), options.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
