"""Compares scaled decoding with full decoding: the difference of the pixels, and processor time.

    python bench/scaled_decode.py [FOLDER]        default: ../shared/data/imagenet-sample, takes about 2 minutes
    python bench/scaled_decode.py --enlarged 50   50 of the images, enlarged to 12 megapixels (4,000 x 3,000)

The JPEGs in FOLDER are packed as they are and loaded with `scaled_decode` off and on, in turn, by one thread. Enlarged images
are resampled by Lanczos, get noise of 4 levels (like a camera's, because enlarging removes noise), and are stored at quality 90.
PSNR compares images that were decoded at a smaller scale with the same crops of fully decoded images (uint8, all channels).
Processor time is that of the whole process in user mode; its ratio is the median over the rounds of the ratio within the
round. Results go to bench/results/scaled-decode[-12-megapixels]-<cpu>-<date>.md and .json.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import resource
import shutil
import statistics
import sys
import tempfile

import numpy
from PIL import Image
from rounds import ROOT, SAMPLE, machine

import fuelrail as fr
from fuelrail import transforms as T

ROUNDS = 5
ENLARGED = (4000, 3000)  # width, height
LISTS = {
    "RandomResizedCrop(224)": [T.RandomResizedCrop(224)],
    "ResizedCenterCrop(224)": [T.ResizedCenterCrop(224)],
    "RandomResizedCrop(112)": [T.RandomResizedCrop(112)],
    "ResizedCenterCrop(112)": [T.ResizedCenterCrop(112)],
    "RandomResizedCrop(64)": [T.RandomResizedCrop(64)],
}


def epoch(
    data: fr.Dataset, transforms: list[T.Transform], scaled: bool
) -> tuple[numpy.ndarray, float]:
    """Returns: all images, and the milliseconds of processor time per image."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    with fr.Loader(
        data,
        50,
        transforms=transforms,
        fields=["image"],
        dtype="uint8",
        threads=1,
        scaled_decode=scaled,
    ) as loader:
        batches = [batch[0] for batch in loader]
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    return numpy.concatenate([batch.numpy() for batch in batches]), spent / len(data) * 1000


def compare(data: fr.Dataset, transforms: list[T.Transform]) -> dict[str, object]:
    rounds = [[epoch(data, transforms, scaled) for scaled in (False, True)] for _ in range(ROUNDS)]
    (full, _), (scaled, _) = rounds[0]
    errors = numpy.array(
        [numpy.mean((a.astype(float) - b) ** 2) for a, b in zip(full, scaled, strict=True)]
    )
    psnr = numpy.sort(10 * numpy.log10(255**2 / errors[errors > 0]))
    return {
        "images": len(full),
        "scaled": len(psnr),
        "psnr_mean": float(psnr.mean()) if len(psnr) else None,
        "psnr_5_percent": float(numpy.quantile(psnr, 0.05)) if len(psnr) else None,
        "psnr_least": float(psnr[0]) if len(psnr) else None,
        "full_ms": statistics.median(a[1] for a, _ in rounds),
        "scaled_ms": statistics.median(b[1] for _, b in rounds),
        "speed": statistics.median(a[1] / b[1] for a, b in rounds),
    }


def report(results: dict[str, object]) -> str:
    about, lists = results["machine"], results["lists"]
    assert isinstance(about, dict)
    assert isinstance(lists, dict)
    lines = [
        f"# Scaled decoding, {about['date']}, commit {about['commit']}",
        "",
        f"{about['cpu']}; libjpeg-turbo {about['libjpeg-turbo']}. Command: `{results['command']}`, {ROUNDS} rounds.",
        "",
        "| transforms | decoded smaller | PSNR mean, dB | 5th percentile | least | CPU ms an image, full | scaled | speed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, part in lists.items():
        share = f"{part['scaled'] / part['images']:.1%}"
        if part["scaled"] == 0:
            quality = "- | - | -"
        else:
            quality = " | ".join(
                f"{part[value]:.1f}" for value in ("psnr_mean", "psnr_5_percent", "psnr_least")
            )
        times = f"{part['full_ms']:.3f} | {part['scaled_ms']:.3f} | {part['speed']:.2f}"
        lines.append(f"| {name} | {share} | {quality} | {times} |")
    return "\n".join(lines) + "\n"


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, found {number}")
    return number


def enlarged(path: pathlib.Path, number: int, output: pathlib.Path) -> None:
    image = Image.open(path).convert("RGB").resize(ENLARGED, Image.Resampling.LANCZOS)
    noise = numpy.random.default_rng(number).normal(0, 4, (*ENLARGED[::-1], 1))
    pixels = (numpy.asarray(image) + noise).round().clip(0, 255).astype(numpy.uint8)
    Image.fromarray(pixels).save(output, quality=90)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", default=SAMPLE, type=pathlib.Path)
    parser.add_argument(
        "--enlarged", type=positive, help="number of images to enlarge to 12 megapixels"
    )
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*.[jJ][pP]*[gG]"))
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work) / "source" / "photographs"
        source.mkdir(parents=True)
        for number, path in enumerate(paths[: options.enlarged]):
            if options.enlarged:
                enlarged(path, number, source / f"{number}.jpg")
            else:
                shutil.copy(path, source)
        fr.pack(source.parent, pathlib.Path(work) / "photographs.rec")
        data = fr.open(pathlib.Path(work) / "photographs.rec")
        lists = {name: compare(data, transforms) for name, transforms in LISTS.items()}
    command = " ".join(["python", "bench/scaled_decode.py", *sys.argv[1:]])
    results: dict[str, object] = {"command": command, "machine": machine(), "lists": lists}
    text = report(results)
    print(text)
    about = results["machine"]
    assert isinstance(about, dict)
    cpu = "".join(c if c.isalnum() else "-" for c in str(about["cpu"])).strip("-").lower()
    size = "-12-megapixels" if options.enlarged else ""
    stem = ROOT / "bench" / "results" / f"scaled-decode{size}-{cpu}-{about['date']}"
    stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
    stem.with_suffix(".md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
