from __future__ import annotations

import gc
import io
import json
import logging
import os
import pathlib
import re
import time
import weakref
from typing import Any

import numpy as np
import pytest
from PIL import Image

import fuelrail as fr
from fuelrail import transforms
from fuelrail.mxnet import Compose, im2rec, recordio
from im2rec_goldens import GOLDEN, RUNS, check_headers, params_of, put_images, put_run, read
from photographs import encoded, photograph, pixels


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return put_images(tmp_path_factory.mktemp("images"))


def shape_of(image: bytes) -> list[int]:
    decoded = Image.open(io.BytesIO(image))
    grey = decoded.mode in ("L", "I;16", "I")
    bands = [] if grey else [4] if decoded.mode == "RGBA" else [3]
    return [decoded.height, decoded.width, *bands]


@pytest.mark.filterwarnings("ignore:.*lines with several labels")
@pytest.mark.parametrize("name", RUNS)
def test_a_run_gives_the_records_that_mxnets_gives(
    name: str, images: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    listed, run = put_run(name, tmp_path)
    out = tmp_path / "out.rec"
    params = params_of(run["arguments"]) | {"root": images}
    assert im2rec(listed, None, params, out) == str(out)
    expected = run["records"]
    for image, record in zip(check_headers(out, run), expected, strict=True):
        if name == "pass":
            continue
        if record["id"] != 467 or record["stored_shape"][2:]:  # 16 bits become 8
            assert shape_of(image) == record["stored_shape"], record["id"]
    index = (tmp_path / "out.idx").read_text().splitlines()
    assert [int(line.split("\t")[0]) for line in index] == [record["id"] for record in expected]
    if name in ("pass", "labels1_pack"):
        assert out.read_bytes() == (GOLDEN / "im2rec" / "pass.rec").read_bytes()
        assert (tmp_path / "out.idx").read_bytes() == (GOLDEN / "im2rec" / "pass.idx").read_bytes()


# Another version of the same library encoded them, so decoded pixels differ by rounding.
KEPT = [name for name, run in RUNS.items() if run.get("kept") and name != "pass"]


@pytest.mark.filterwarnings("ignore:.*lines with several labels")
@pytest.mark.parametrize("name", KEPT)
def test_the_pixels_are_those_of_mxnets(
    name: str, images: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    run = RUNS[name]
    params = params_of(run["arguments"]) | {"root": images}
    im2rec(GOLDEN / "im2rec" / run["list"], None, params, tmp_path / "out.rec")
    ours = [recordio.unpack(payload) for payload in read(tmp_path / "out.rec")]
    theirs = [recordio.unpack(payload) for payload in read(GOLDEN / "im2rec" / f"{name}.rec")]
    lossless = ".png" in run["arguments"]
    for (header, mine), (_, other) in zip(ours, theirs, strict=True):
        a = np.asarray(Image.open(io.BytesIO(mine))).astype(int)
        b = np.asarray(Image.open(io.BytesIO(other))).astype(int)
        if header.id == 467 and b.max() > 255:
            b = b >> 8  # 16 bits
        difference = np.abs(a - b)
        if header.id == 464:  # CMYK: two conversions, 1 level apart, then quantised
            assert difference.max() <= (1 if lossless else 12)
            assert difference.mean() <= 2
        else:
            assert difference.max() <= (0 if lossless else 3), header.id


@pytest.fixture
def listed(tmp_path: pathlib.Path) -> pathlib.Path:
    """A list of ten images; the third is not an image."""
    lines = []
    for i in range(10):
        name = f"{i}.jpg"
        data = encoded(photograph(i, 40 + i, 60), quality=95)
        (tmp_path / name).write_bytes(b"no image" if i == 2 else data)
        lines.append(f"{i * 10}\t{i}\t{name}\n")
    (tmp_path / "x.lst").write_text("".join(lines))
    return tmp_path / "x.lst"


def with_two_labels(lines: str) -> str:
    return re.sub(r"\t(\d)\t", r"\t\1\t\1.5\t", lines)


def test_what_cannot_be_read_is_logged_and_left_out_up_to_a_threshold(
    listed: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        path = im2rec(listed, None, {"max_errors": 1})
    assert path == str(listed.with_suffix(".rec"))
    assert "2.jpg cannot be packed: " in caplog.text
    assert "skipped images: 1;" in caplog.text
    report = json.loads(pathlib.Path(str(path) + ".errors.jsonl").read_text())
    assert report["path"].endswith("2.jpg")
    assert len(fr.open(path)) == 9
    for allowed in (0, 0.05):
        with pytest.raises(
            fr.CorruptError, match=r"At most 0 of 10 images may be skipped .*found 1"
        ):
            im2rec(listed, None, {"max_errors": allowed}, listed.with_name("other.rec"))
    assert not listed.with_name("other.rec").exists()
    with pytest.raises(fr.CorruptError, match="At most 0"):  # the default is 1 %
        im2rec(listed, None, None, listed.with_name("other.rec"))


def test_a_name_that_is_no_utf8_can_be_logged(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "x.lst").write_bytes(b"0\t0\t\xff.jpg\n1\t0\tgood.jpg\n")
    (tmp_path / "good.jpg").write_bytes(encoded(photograph(1, 20, 30), "JPEG"))
    with caplog.at_level(logging.WARNING, "fuelrail.mxnet.im2rec"):
        im2rec(tmp_path / "x.lst", None, {"max_errors": 1})
    assert r"/\xff.jpg cannot be packed" in caplog.text.encode("utf-8").decode()


def test_labels_are_all_or_the_first(listed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    params = {"max_errors": 1}
    listed.write_text(with_two_labels(listed.read_text()))
    with pytest.warns(fr.FuelrailWarning, match="lines with several labels: 10 of 10"):
        im2rec(listed, None, params, tmp_path / "first.rec")
    im2rec(listed, None, params | {"pack_label": 1, "label_width": 2}, tmp_path / "all.rec")
    header = recordio.unpack(read(tmp_path / "first.rec")[0])[0]
    assert (header.flag, header.label) == (0, 0.0)
    header = recordio.unpack(read(tmp_path / "all.rec")[1])[0]
    assert (header.flag, list(header.label)) == (2, [1.0, 1.5])
    with pytest.raises(fr.CorruptError, match="line 1: the number of labels is wrong: expected 3"):
        im2rec(listed, None, {"label_width": 3, "max_errors": 0}, tmp_path / "no.rec")


def test_parts_are_the_files_of_one(listed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    params: dict[str, Any] = {"max_errors": 1, "resize": 32, "num_workers": 3}
    im2rec(listed, None, params, tmp_path / "whole.rec")
    paths = im2rec(listed, None, params | {"nsplit": 3}, tmp_path / "p.rec")
    assert [pathlib.Path(path).name for path in paths] == [f"p.part00{i}.rec" for i in range(3)]
    made = pathlib.Path(paths[1]).read_bytes()
    alone = im2rec(listed, None, params | {"nsplit": 3, "part": 1}, tmp_path / "q.rec")
    assert isinstance(alone, str)
    assert pathlib.Path(alone).read_bytes() == made
    fr.merge(tmp_path / "merged.rec", paths)
    for end in (".rec", ".idx", ".rec.frx"):
        assert (tmp_path / f"merged{end}").read_bytes() == (tmp_path / f"whole{end}").read_bytes()


def test_the_bytes_are_the_same_for_any_number_of_workers(
    listed: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    contents = []
    composed = Compose([transforms.RandomResizedCrop(24), transforms.HorizontalFlip()])
    for workers in (1, 2, 5):
        params = {"num_workers": workers, "max_errors": 1, "inter_method": 10, "resize": 50}
        im2rec(listed, composed, params | {"seed": 3}, tmp_path / f"{workers}.rec")
        contents.append((tmp_path / f"{workers}.rec").read_bytes())
    assert contents[0] == contents[1] == contents[2]
    im2rec(listed, composed, params | {"seed": 4}, tmp_path / "seed.rec")
    assert (tmp_path / "seed.rec").read_bytes() != contents[0]


def stored(path: pathlib.Path) -> list[np.ndarray]:
    return [np.asarray(Image.open(io.BytesIO(sample.image))) for sample in fr.open(path)]


@pytest.fixture
def good(tmp_path: pathlib.Path) -> pathlib.Path:
    """A list of four images: two in colour, one grey, one with alpha."""
    rgba = photograph(3, 30, 50).convert("RGBA")
    rgba.putalpha(photograph(4, 30, 50).convert("L"))
    pictures = {
        "a.png": photograph(1, 40, 60),
        "b.png": photograph(2, 50, 30),
        "c.png": photograph(2, 33, 44).convert("L"),
        "d.png": rgba,
    }
    lines = []
    for i, (name, picture) in enumerate(pictures.items()):
        (tmp_path / name).write_bytes(encoded(picture, "PNG"))
        lines.append(f"{i}\t{i}\t{name}\n")
    (tmp_path / "good.lst").write_text("".join(lines))
    return tmp_path / "good.lst"


PNG = {"encoding": ".png"}


def test_without_transforms_the_pixels_are_those_of_the_files(good: pathlib.Path) -> None:
    path = im2rec(good, None, PNG)
    for name, made in zip("abcd", stored(pathlib.Path(str(path))), strict=True):
        original = Image.open(good.with_name(f"{name}.png"))
        np.testing.assert_array_equal(made, np.asarray(original))


def test_transforms_move_all_channels_and_keep_them(good: pathlib.Path) -> None:
    crop = Compose([transforms.CenterCrop((20, 40)), transforms.VerticalFlip(p=1.0)])
    path = im2rec(good, crop, PNG)
    made = stored(pathlib.Path(str(path)))
    assert [image.shape for image in made] == [(20, 40, 3), (20, 40, 3), (20, 40), (20, 40, 4)]
    for name, image in zip("acd", (made[0], made[2], made[3]), strict=True):
        original = np.asarray(Image.open(good.with_name(f"{name}.png")))
        top, left = (round((n - m) / 2) for n, m in zip(original.shape, (20, 40), strict=False))
        np.testing.assert_array_equal(image, original[top : top + 20, left : left + 40][::-1])
    # The second is narrower than the crop: its sides are black, and opaque if it has alpha.
    assert not made[1][:, 0].any()
    path = im2rec(good, [transforms.Pad(2)], PNG, good.with_name("padded.rec"))
    padded = stored(pathlib.Path(str(path)))[3]
    assert (padded[0, :, 3] == 255).all()
    assert not padded[0, :, :3].any()


def test_colours_change_and_alpha_does_not(good: pathlib.Path) -> None:
    path = im2rec(good, transforms.ColorJitter(brightness=(0.5, 0.5)), PNG)
    made = stored(pathlib.Path(str(path)))
    original = np.asarray(Image.open(good.with_name("d.png")))
    np.testing.assert_array_equal(made[3][:, :, 3], original[:, :, 3])
    assert made[3][:, :, :3].mean() == pytest.approx(original[:, :, :3].mean() / 2, abs=1)


def test_a_function_of_pixels_takes_part(good: pathlib.Path) -> None:
    seen = []

    def half(image: np.ndarray) -> np.ndarray:
        seen.append((image.shape, image.dtype))
        return image[::2, ::2]

    path = im2rec(good, [half, transforms.HorizontalFlip(p=1.0), lambda x: x.copy()], PNG)
    made = stored(pathlib.Path(str(path)))
    assert sorted(shape for shape, _ in seen) == [
        (30, 50, 4), (33, 44, 1), (40, 60, 3), (50, 30, 3)
    ]  # fmt: skip
    assert {dtype for _, dtype in seen} == {np.dtype(np.uint8)}
    original = np.asarray(Image.open(good.with_name("a.png")))
    np.testing.assert_array_equal(made[0], original[::2, ::2][:, ::-1])
    assert made[2].shape == (17, 22)


def test_a_function_is_called_by_one_thread_at_a_time(
    good: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "long.lst").write_text(good.read_text() * 8)
    inside: list[int] = []

    def watched(image: np.ndarray) -> np.ndarray:
        inside.append(1)
        time.sleep(0.001)  # lets other threads run
        assert len(inside) == 1
        inside.pop()
        return image

    with pytest.warns(fr.FuelrailWarning, match="an id of an earlier line"):
        path = im2rec(tmp_path / "long.lst", [watched, watched], PNG | {"num_workers": 4})
    assert len(fr.open(path)) == 32


def test_the_channels_are_opencvs_where_the_header_does_not_say_them(
    tmp_path: pathlib.Path,
) -> None:
    """A palette with alpha has four channels, a BMP's palette of greys has one."""
    picture = photograph(5, 20, 30)
    clear = picture.quantize(16)
    clear.info["transparency"] = 3
    pictures = {"clear.png": clear, "opaque.png": picture.quantize(16)}
    pictures |= {"grey.bmp": picture.convert("L"), "colour.bmp": picture.quantize(16)}
    for i, (name, image) in enumerate(pictures.items()):
        image.save(tmp_path / name)
        with (tmp_path / "x.lst").open("a") as lines:
            lines.write(f"{i}\t0\t{name}\n")
    made = stored(pathlib.Path(str(im2rec(tmp_path / "x.lst", None, PNG))))
    assert [image.shape for image in made] == [(20, 30, 4), (20, 30, 3), (20, 30), (20, 30, 3)]
    np.testing.assert_array_equal(made[0], np.asarray(clear.convert("RGBA")))
    np.testing.assert_array_equal(made[2], np.asarray(pictures["grey.bmp"]))


@pytest.mark.parametrize("workers", [1, 3])
def test_what_a_function_raises_ends_the_packing_as_it_is(
    good: pathlib.Path, workers: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Mine(Exception):
        pass

    def fails(image: np.ndarray) -> np.ndarray:
        if image.shape[0] != 40:
            raise Mine(image.shape) from KeyError("why")
        return image

    dead = weakref.ref(fails)
    threads = len(os.listdir("/proc/self/task"))
    with pytest.raises(Mine) as raised:
        im2rec(good, [fails], PNG | {"max_errors": 4, "num_workers": workers})
    assert raised.value.args == ((50, 30, 3),)  # the first failure in the list's order
    assert isinstance(raised.value.__cause__, KeyError)
    assert [entry.name for entry in raised.traceback][-1] == "fails"
    assert [note.split(" ")[-1] for note in raised.value.__notes__] == [
        str(good.with_name("b.png"))
    ]
    assert caplog.text == ""
    assert sorted(path.suffix for path in good.parent.iterdir()) == [".lst"] + [".png"] * 4
    assert len(os.listdir("/proc/self/task")) == threads
    del fails, raised
    gc.collect()
    assert dead() is None


def test_an_exception_that_takes_no_note_goes_without(good: pathlib.Path) -> None:
    class Frozen(Exception):
        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(name)

    def fails(image: np.ndarray) -> np.ndarray:
        raise Frozen("mine")

    with pytest.raises(Frozen, match="mine") as raised:
        im2rec(good, [fails], PNG)
    assert not hasattr(raised.value, "__notes__")


def test_what_was_made_before_a_function_failed_is_gone_on_with(
    good: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    calls: list[int] = []
    broken = True

    def third(image: np.ndarray) -> np.ndarray:
        calls.append(image.shape[0])
        if broken and image.shape[0] == 33:
            raise ZeroDivisionError("here")
        return image

    with pytest.raises(ZeroDivisionError, match="here"):
        im2rec(good, third, PNG | {"resume": True, "num_workers": 2})
    broken = False
    calls.clear()
    path = im2rec(good, third, PNG | {"resume": True})
    assert calls == [33, 30]
    whole = im2rec(good, third, PNG, tmp_path / "whole.rec")
    assert pathlib.Path(str(path)).read_bytes() == pathlib.Path(str(whole)).read_bytes()


@pytest.mark.parametrize(
    ("gives", "error", "message"),
    [
        (lambda image: image.astype(float), TypeError, r"expected a uint8 array .*found float64"),
        (lambda image: None, TypeError, "found object"),
        (
            lambda image: image[:0],
            ValueError,
            r"a\.png: a function in the list of transforms returned an inv",
        ),
    ],
)
def test_a_function_that_gives_no_image_ends_the_packing(
    good: pathlib.Path, gives: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        im2rec(good, gives, PNG | {"max_errors": 4, "num_workers": 2})
    assert not good.with_suffix(".rec").exists()


def test_what_is_no_image_does_not_pass_through(listed: pathlib.Path) -> None:
    listed.with_name("5.jpg").write_bytes(b"")
    path = im2rec(listed, None, {"pass_through": 1, "max_errors": 2})
    assert [sample.id for sample in fr.open(path)] == [0, 10, 30, 40, 60, 70, 80, 90]
    report = pathlib.Path(str(path) + ".errors.jsonl").read_text().splitlines()
    assert [json.loads(line)["path"][-5:] for line in report] == ["2.jpg", "5.jpg"]
    with pytest.raises(fr.CorruptError, match=r"At most 1 of 10 images may be skipped .*found 2"):
        im2rec(listed, None, {"pass_through": 1, "max_errors": 1}, listed.with_name("y.rec"))


def test_labels_that_are_lost_are_said_once(listed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    first, *others = listed.read_text().splitlines(keepends=True)
    listed.write_text(first + with_two_labels("".join(others)))
    with pytest.warns(fr.FuelrailWarning, match="lines with several labels: 9 of 10") as said:
        im2rec(listed, None, {"max_errors": 1}, tmp_path / "first.rec")
    assert len(said) == 1
    assert "pack_label (--pack-label)" in str(said[0].message)


def test_alpha_as_jpeg_ends_the_packing_and_says_what_to_do(good: pathlib.Path) -> None:
    """MXNet drops it silently (the golden run r48as_is_jpg)."""
    with pytest.raises(fr.InvalidArgumentError, match=r"d\.png.*alpha.*Encode as \.png") as raised:
        im2rec(good, None, {"max_errors": 4})
    assert "drop alpha" in str(raised.value)
    assert not good.with_suffix(".rec").exists()
    path = im2rec(good, None, {"color": 1})
    assert [image.shape[2] for image in stored(pathlib.Path(str(path)))] == [3, 3, 3, 3]


def test_the_proposals_workflow_says_why_normalize_is_not_stored(good: pathlib.Path) -> None:
    from fuelrail.mxnet import Brightness, Normalize, Resize, ResizedCrop

    with pytest.raises(fr.InvalidArgumentError, match="image files cannot store floats") as raised:
        im2rec(good, Compose([Resize(30), ResizedCrop(24), Brightness(0.1), Normalize(0, 1)]))
    assert "Omit it here and give it to the loader" in str(raised.value)
    assert not good.with_suffix(".rec").exists()
    path = im2rec(good, Compose([Resize(30), ResizedCrop(24), Brightness(0.1)]), {"color": 1})
    assert [image.shape for image in stored(pathlib.Path(str(path)))] == [(24, 24, 3)] * 4


def test_the_proposals_names_are_fuelrails_transforms() -> None:
    mx = fr.mxnet
    assert mx.Resize(300) == transforms.Resize(300)
    assert mx.Resize((300, 200)) == transforms.Resize((200, 300))
    assert mx.ResizedCrop([300, 200]) == transforms.RandomResizedCrop([200, 300])
    assert mx.Brightness(0.1) == transforms.ColorJitter(brightness=0.1)
    assert mx.Normalize(0, 1) == transforms.Normalize((0, 0, 0), (1, 1, 1))
    assert mx.io.im2rec is im2rec
    assert mx.io.np2rec is mx.np2rec
    assert mx.transforms.Compose is Compose


def test_an_unknown_parameter_names_the_nearest(good: pathlib.Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=r"'num_worker'.*num_workers"):
        im2rec(good, None, {"num_worker": 2})


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"encoding": ".bmp"}, "`encoding` is invalid: found '.bmp'"),
        ({"color": 2}, "`color` is out of range: expected -1, 0, 1, found 2"),
        ({"inter_method": 5}, "`inter_method` is out of range: expected 0, 1, 2, 3, 4, 9, 10,"),
        ({"quality": 0}, "`quality` is out of range: expected 1 to 100 for JPEG"),
        ({"quality": 101}, "`quality` is out of range: expected 0 to 100, found 101"),
        ({"resize": [1]}, "`resize` is invalid"),
        ({"resize": 40000}, "`resize` is out of range: expected 0 to 32768, found 40000"),
        ({"resize": [0, 5]}, "`resize` is out of range"),
        ({"nsplit": 5}, "`nsplit` exceeds the number of images"),
        ({"nsplit": 2, "part": 2}, "`part` is out of range"),
        ({"max_errors": 1.5}, "a fraction from 0 to 1, or a whole number, found 1.5"),
    ],
)
def test_parameters_that_cannot_be_are_refused(
    good: pathlib.Path, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=message):
        im2rec(good, None, params)
    assert not good.with_suffix(".rec").exists()


@pytest.mark.parametrize("wrong", [3, "resize", [3], Compose])
def test_what_is_no_transform_is_refused(good: pathlib.Path, wrong: object) -> None:
    if wrong is Compose:
        with pytest.raises(fr.ArgumentTypeError):
            Compose("abc")  # type: ignore[arg-type]
        return
    with pytest.raises(fr.ArgumentTypeError, match="expected a transform or a function"):
        im2rec(good, wrong)  # type: ignore[arg-type]


def test_the_output_may_be_a_folder_or_beside_the_list(
    good: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "folder").mkdir()
    assert im2rec(good, None, PNG, tmp_path / "folder") == str(tmp_path / "folder" / "good.rec")
    assert im2rec(good, None, PNG) == str(good.with_suffix(".rec"))
    with pytest.raises(fr.IoError, match="already exists"):
        im2rec(good, None, PNG)
    assert im2rec(good, None, PNG | {"overwrite": True}) == str(good.with_suffix(".rec"))


def test_colour_pixels_are_those_of_pillow(listed: pathlib.Path) -> None:
    path = im2rec(listed, None, PNG | {"max_errors": 1, "color": 1})
    for sample in fr.open(str(path)):
        original = pixels(listed.with_name(f"{sample.id // 10}.jpg").read_bytes())
        np.testing.assert_array_equal(pixels(sample.image), original)
