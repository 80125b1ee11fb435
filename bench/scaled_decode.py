"""How far scaled decoding is from full decoding, in pixels, and what it saves.

    python bench/scaled_decode.py FOLDER

Prints, for the training crop and the validation pair at 224 x 224, the peak signal-to-noise ratio
of the images that were decoded at a smaller scale, their share, and processor time an image.
"""

from __future__ import annotations

import argparse
import resource

import torch

import fuelrail as fr
from fuelrail import transforms as T

LISTS = {
    "RandomResizedCrop(224)": [T.RandomResizedCrop(224)],
    "ResizedCenterCrop(224)": [T.ResizedCenterCrop(224)],
    "Resize(112), CenterCrop(112)": [T.Resize(112), T.CenterCrop(112)],
    "RandomResizedCrop(64)": [T.RandomResizedCrop(64)],
}


def images(folder: str, transforms: list[T.Transform], scaled: bool) -> tuple[torch.Tensor, float]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    with fr.torch.DataLoader(
        folder,
        64,
        transforms=transforms,
        fields=["image"],
        dtype="uint8",
        threads=1,
        scaled_decode=scaled,
    ) as loader:
        rows = torch.cat([batch[0].clone() for batch in loader])
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    return rows, spent / len(rows) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="of photographs, or a .rec file")
    folder = parser.parse_args().folder
    print("list | decoded smaller | PSNR least, 5 %, median, dB | CPU ms an image, full -> scaled")
    for name, transforms in LISTS.items():
        full, full_ms = images(folder, transforms, scaled=False)
        scaled, scaled_ms = images(folder, transforms, scaled=True)
        errors = ((full.to(torch.float32) - scaled.to(torch.float32)) ** 2).mean((1, 2, 3))
        psnr = (10 * torch.log10(255**2 / errors[errors > 0])).sort().values
        if len(psnr) == 0:
            print(f"{name} | 0 of {len(full)}")
            continue
        part = f"{len(psnr)} of {len(full)}"
        ratios = f"{psnr[0]:.1f}, {psnr[len(psnr) // 20]:.1f}, {psnr[len(psnr) // 2]:.1f}"
        print(f"{name} | {part} | {ratios} | {full_ms:.2f} -> {scaled_ms:.2f}")


if __name__ == "__main__":
    main()
