"""Uses an installed wheel as its first user would: packs, verifies, loads (by MXNet's names, too), trains a step. Standard
library and NumPy.

python -I use_wheel.py SOME.rec STILLS.bzna            a file of records with JPEGs, to have photographs without another
                                                       package, and tests/golden/bzna/stills.bzna
python -I use_wheel.py SOME.rec STILLS.bzna --plugin   the plugin for H.265 is installed: decodes and packs with it

Run by `./run wheel --test` in a new environment. Torch is used where it is installed.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
import struct
import subprocess
import sys
import sysconfig
import tempfile
import zlib

# What every manylinux system has (PEP 600): these, and nothing else, may come from outside of the wheel.
SYSTEM = (
    "ld-linux",
    "libc.",
    "libm.",
    "libdl.",
    "libpthread.",
    "librt.",
    "libgcc_s.",
    "libstdc++.",
    "libz.",
)


def mapped_libraries() -> set[str]:
    """Shared objects in this process."""
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6}
    return {path for path in paths if ".so" in pathlib.PurePath(path).name}


def png(level: int, size: int = 32) -> bytes:
    """A grey square of this level."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = (b"\0" + bytes([level]) * size) * size
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def command(*arguments: str) -> bytes:
    """Runs the environment's own `fuelrail`."""
    program = pathlib.Path(sys.prefix) / "bin" / "fuelrail"
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE).stdout


def make_images(folder: pathlib.Path, records: str) -> None:
    """Dark squares, bright squares, and a photograph in each class."""
    copy = folder.parent / "photographs.rec"  # a sidecar will appear beside it
    copy.write_bytes(pathlib.Path(records).read_bytes())
    photograph = command("cat", str(copy), "0")
    assert photograph.startswith(b"\xff\xd8"), photograph[:16]
    for label, base in (("bright", 200), ("dark", 20)):
        (folder / label).mkdir(parents=True)
        (folder / label / "photograph.jpg").write_bytes(photograph)
        for i in range(15):
            (folder / label / f"{i}.png").write_bytes(png(base + i))


def train_with_numpy(packed: str) -> tuple[float, float]:
    """One logistic unit on mean brightness: loss before and after."""
    import numpy as np

    import fuelrail as fr

    loader = fr.Loader(
        packed,
        batch_size=8,
        shuffle="full",
        seed=3,
        transforms=[fr.transforms.ResizedCenterCrop(24)],
    )
    weight = bias = 0.0
    losses = []
    for _ in range(20):
        for columns in loader:
            images, labels = (np.asarray(column) for column in columns)
            assert images.shape[1:] == (3, 24, 24), images.shape
            assert images.dtype == np.float32, images.dtype
            x = images.mean(axis=(1, 2, 3)) - 0.5
            p = 1 / (1 + np.exp(-(weight * x + bias)))
            losses.append(float(-np.mean(labels * np.log(p) + (1 - labels) * np.log(1 - p))))
            weight -= 4 * float(np.mean((p - labels) * x))
            bias -= 4 * float(np.mean(p - labels))
    return sum(losses[:4]) / 4, sum(losses[-4:]) / 4


def step_with_torch(packed: str) -> None:
    import torch

    import fuelrail as fr

    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 24 * 24, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with fr.torch.DataLoader(
        packed, batch_size=8, transforms=[fr.transforms.ResizedCenterCrop(24)]
    ) as loader:
        for images, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()


def iterate_as_mxnet(packed: str) -> None:
    """MXNet's names, without MXNet and without OpenCV."""
    from fuelrail.mxnet import recordio
    from fuelrail.mxnet.io import ImageRecordIter

    assert importlib.util.find_spec("cv2") is None
    record = recordio.MXRecordIO(packed, "r")
    header, image = recordio.unpack_img(record.read())
    again, same = recordio.unpack_img(recordio.pack_img(header, image, img_fmt=".png"))
    assert again == header, (again, header)
    assert (same == image).all()
    batches = ImageRecordIter(
        path_imgrec=packed, data_shape=(3, 24, 24), batch_size=5, resize=24, rand_mirror=True
    )
    labels = [label for batch in batches for label in batch.label[0].asnumpy()[: 5 - batch.pad]]
    assert sorted(labels) == [0.0] * 16 + [1.0] * 16, labels


def check_libraries(before: set[str], package: pathlib.Path) -> None:
    """Nothing of fuelrail's came from outside of the environment, but what every system has."""
    places = (str(package.parent), sysconfig.get_config_var("DESTSHARED"))
    foreign = {
        path
        for path in mapped_libraries() - before
        if not path.startswith(places) and not pathlib.PurePath(path).name.startswith(SYSTEM)
    }
    assert not foreign, f"the wheel needs what it does not hold: {sorted(foreign)}"


def refuse_pixels(stills: str) -> None:
    """Without the plugin, everything but the pixels of H.265 images is there."""
    import fuelrail as fr

    for name in ("info", "ls", "verify"):
        command(name, stills)
    sample = fr.open(stills)[1]
    assert (sample.label, sample.name) == (1, b"image 1"), (sample.label, sample.name)
    refusal = ""
    try:
        sample.decode()
    except fr.UnsupportedError as error:
        refusal = str(error)
    assert 'pip install "fuelrail[hevc]"' in refusal, refusal


def decode_pixels(stills: str, package: pathlib.Path) -> None:
    """Each channel of each image has a level of its own, with a slope to the right."""
    import numpy as np

    import fuelrail as fr

    before = mapped_libraries()

    def check_levels(levels: object) -> None:
        expected = [[48 + 25 * i + 15 * c for c in range(3)] for i in range(2)]
        assert np.abs(np.asarray(levels) - expected).max() < 2, levels

    images = [np.asarray(s.decode()) for s in fr.open(stills, track="bzna_input")]
    assert [image.shape for image in images] == [(50, 70, 3), (52, 70, 3)]
    check_levels([image.mean(axis=(0, 1)) for image in images])
    transforms = [fr.transforms.ResizedCenterCrop(24)]
    ((batch, labels),) = fr.Loader(stills, 2, track="bzna_input", transforms=transforms)
    assert np.asarray(labels).tolist() == [0, 1]
    check_levels(255 * np.asarray(batch).mean(axis=(2, 3)))
    check_libraries(before, package)


def pack_stills(records: str) -> None:
    """Squares and photographs become a `.bzna` file, whose labels and brightness are theirs."""
    import numpy as np

    import fuelrail as fr

    with tempfile.TemporaryDirectory() as folder:
        images, packed = pathlib.Path(folder) / "images", str(pathlib.Path(folder) / "x.bzna")
        make_images(images, records)
        command("pack", str(images), packed, "--quiet")
        command("verify", packed, "--decode")
        transforms = [fr.transforms.ResizedCenterCrop(24)]
        ((batch, labels),) = fr.Loader(packed, 32, transforms=transforms)
        assert np.asarray(labels).tolist() == [0] * 16 + [1] * 16
        brightness = 255 * np.asarray(batch).mean(axis=(1, 2, 3))
        samples = fr.open(packed)
        for i in range(32):
            if samples[i].name.endswith(b".png"):
                level = int(pathlib.PurePath(samples[i].name.decode()).stem) + (200, 20)[i // 16]
                assert abs(brightness[i] - level) < 3, (samples[i].name, brightness[i], level)


def main() -> None:
    before = mapped_libraries()
    import fuelrail as fr

    package = pathlib.Path(fr.__file__).resolve().parent
    assert package.is_relative_to(pathlib.Path(sys.prefix).resolve()), package
    check_libraries(before, package)
    doctor = json.loads(command("doctor", "--json"))
    plugin = doctor["fuelrail"]["h265_plugin"]
    if "--plugin" in sys.argv:
        decode_pixels(sys.argv[2], package)
        pack_stills(sys.argv[1])
        assert plugin.startswith("libde265 "), plugin
        print(f"the plugin for H.265 ({plugin}): images were decoded, packed and loaded")
        return
    with tempfile.TemporaryDirectory() as folder:
        images, packed = pathlib.Path(folder) / "images", str(pathlib.Path(folder) / "x.rec")
        make_images(images, sys.argv[1])
        command("pack", str(images), packed, "--quiet")
        command("verify", packed, "--decode")
        assert len(fr.open(packed)) == 32
        first, last = train_with_numpy(packed)
        assert last < first / 2, (first, last)
        iterate_as_mxnet(packed)
        refuse_pixels(sys.argv[2])
        with_torch = importlib.util.find_spec("torch") is not None
        if with_torch:
            step_with_torch(packed)
    print(
        f"fuelrail {fr.__version__} of {package}: packed, verified, loaded; loss {first:.3f} to {last:.3f};"
        f" kernels for {doctor['processor']['dispatch_target']}; torch {'trained too' if with_torch else 'not there'}"
    )


if __name__ == "__main__":
    main()
