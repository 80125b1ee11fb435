"""Errors where MXNet's iterators crash, hang or fail silently (behaviour.json)."""

from __future__ import annotations

import os
import pathlib
import pickle
import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

import fuelrail as fr
from fuelrail import mxnet
from fuelrail.mxnet import io
from mxnet_goldens import copied

Python = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    return copied(tmp_path)


def make(root: pathlib.Path, rec: str = "small.rec", **changed: Any) -> io.ImageRecordIter:
    options: dict[str, Any] = {
        "path_imgrec": str(root / rec),
        "data_shape": (3, 32, 32),
        "batch_size": 4,
        "dtype": "uint8",
    }
    return io.ImageRecordIter(**(options | changed))


def labels(iterator: io.ImageRecordIter) -> list[list[float]]:
    return [batch.label[0].asnumpy().tolist() for batch in iterator]


def offsets(root: pathlib.Path) -> list[int]:
    return [int(line.split()[1]) for line in (root / "small.idx").read_text().splitlines()]


def damaged(root: pathlib.Path, change: Callable[[bytearray], bytearray | None]) -> str:
    """The name of a copy of small.rec that `change` modified."""
    content = bytearray((root / "small.rec").read_bytes())
    (root / "bad.rec").write_bytes(change(content) or content)
    return "bad.rec"


# --- Files ---


def test_files_that_are_not_there(root: pathlib.Path) -> None:
    with pytest.raises(fr.NotFoundError, match=r"none\.rec: no such file or directory$"):
        make(root, "none.rec")
    with pytest.raises(fr.NotFoundError, match=r"none\.rec: no such file .* \(item 2 of 2\)"):
        make(root, f"small.rec;{root}/none.rec")
    with pytest.raises(fr.NotFoundError, match=r"/no: the folder does not exist"):
        make(root, mean_img=str(root / "no" / "mean.bin"))
    with pytest.raises(fr.NotFoundError, match=r"none\.idx"):
        make(root, path_imgidx=str(root / "none.idx"))
    with pytest.raises(fr.NotFoundError, match=r"none\.lst"):
        make(root, path_imglist=str(root / "none.lst"))


def test_pattern_that_is_a_shells(root: pathlib.Path) -> None:
    with pytest.raises(fr.Error, match=r"\*\.rec"):
        make(root, "*.rec")


def test_file_cut_inside_a_record(root: pathlib.Path) -> None:
    at = offsets(root)[5] + 400
    for end in (at, at + 3):
        name = damaged(root, lambda content, end=end: content[:end])  # type: ignore[misc]
        with pytest.raises(fr.TruncatedError, match=r"bad\.rec: record 5, offset \d+: "):
            make(root, name)


def test_magic_overwritten(root: pathlib.Path) -> None:
    def spoil(content: bytearray) -> None:
        content[offsets(root)[3]] ^= 0xFF

    with pytest.raises(fr.CorruptError, match=rf"bad\.rec: record 3, offset {offsets(root)[3]}: "):
        make(root, damaged(root, spoil))


def test_empty_file(root: pathlib.Path) -> None:
    (root / "empty.rec").write_bytes(b"")
    with pytest.raises(fr.Error, match=r"empty\.rec"):
        make(root, "empty.rec")


def image_of(root: pathlib.Path, record: int) -> slice:
    begin = offsets(root)[record] + 8 + 24
    return slice(begin, offsets(root)[record + 1])


@pytest.mark.parametrize("resize", [-1, 40])
@pytest.mark.parametrize("idx", ["", "small.idx"])
def test_garbage_in_place_of_an_image_costs_its_batch_alone(
    root: pathlib.Path, idx: str, resize: int
) -> None:
    def spoil(content: bytearray) -> None:
        place = image_of(root, 5)
        content[place] = b"x" * (place.stop - place.start)

    name = damaged(root, spoil)
    iterator = make(root, name, path_imgidx=idx and str(root / idx), batch_size=2, resize=resize)
    assert iterator.next().label[0].asnumpy().tolist() == [0, 1]
    iterator.next()
    where = rf"bad\.rec: record 5, offset {offsets(root)[5]}: "
    with pytest.raises(fr.Error, match=where):
        iterator.next()
    assert labels(iterator) == [[6, 7], [8, 9]]


def test_jpeg_cut_at_half(root: pathlib.Path) -> None:
    def spoil(content: bytearray) -> None:
        place = image_of(root, 0)
        middle = (place.start + place.stop) // 2
        content[middle : place.stop] = bytes(place.stop - middle)

    with pytest.raises(fr.Error, match=r"bad\.rec: record 0, offset 0: "):
        make(root, damaged(root, spoil)).next()


def test_a_place_where_no_mean_image_can_be_says_so_before_images_are_read(
    root: pathlib.Path,
) -> None:
    def spoil(content: bytearray) -> None:
        place = image_of(root, 0)
        content[place] = bytes(place.stop - place.start)

    name = damaged(root, spoil)
    with pytest.raises(fr.NotFoundError, match=r"/no: the folder does not exist"):
        make(root, name, mean_img=str(root / "no" / "mean.bin"))
    with pytest.raises(fr.Error, match=r"bad\.rec: record 0, offset 0: "):
        make(root, name, mean_img=str(root / "mean.bin"))
    assert not list(root.glob("mean.bin*"))


def rewritten(root: pathlib.Path, payloads: list[bytes]) -> str:
    content = b""
    for payload in payloads:
        padding = bytes(-len(payload) % 4)
        content += struct.pack("<II", 0xCED7230A, len(payload)) + payload + padding
    (root / "bad.rec").write_bytes(content)
    return "bad.rec"


def test_record_without_image_or_header(root: pathlib.Path) -> None:
    empty = struct.pack("<IfQQ", 0, 1.0, 7, 0)
    lying = struct.pack("<IfQQ", 1000, 1.0, 7, 0)
    iterator = make(root, rewritten(root, [empty, empty, b"short", lying, empty]), batch_size=1)
    for record, said in enumerate(("empty", "empty", "header", "header", "empty")):
        with pytest.raises(fr.Error, match=rf"bad\.rec: record {record}, offset \d+: .*{said}"):
            iterator.next()


# --- Indices, lists, labels ---


def test_index_of_another_file_or_of_some_records(root: pathlib.Path) -> None:
    with pytest.raises(fr.CorruptError, match=r"inter\.idx"):
        make(root, path_imgidx=str(root / "inter.idx"))
    lines = (root / "small.idx").read_text().splitlines(keepends=True)
    for kept in (lines[::2], lines[2:], lines[:8]):
        (root / "some.idx").write_text("".join(kept))
        with pytest.raises(
            fr.CorruptError,
            match=r"some\.idx: (a record is missing from the index|the index ends before)",
        ):
            make(root, path_imgidx=str(root / "some.idx"))


def test_labels_that_are_not_of_the_width(root: pathlib.Path) -> None:
    for rec, width in (("small.rec", 2), ("multilabel.rec", 1), ("multilabel.rec", 2)):
        iterator = make(root, rec, label_width=width, batch_size=2)
        with pytest.raises(fr.CorruptError, match=rf"{rec}: record 0, offset 0: .*label_width"):
            iterator.next()
    with pytest.raises(fr.CorruptError, match=r"det\.rec: record 0, .*label_width"):
        make(root, "det.rec", batch_size=2).next()


def test_list_without_an_id_or_with_a_short_row(root: pathlib.Path) -> None:
    rows = (root / "small.lst").read_text().splitlines(keepends=True)
    (root / "less.lst").write_text("".join(rows[:-1]))
    iterator = make(root, path_imglist=str(root / "less.lst"))
    with pytest.raises(fr.CorruptError, match=r"id"):
        labels(iterator)
    with pytest.raises(fr.CorruptError, match=r"small\.lst"):
        make(root, path_imglist=str(root / "small.lst"), label_width=3)


def test_detection_labels_that_are_none_or_do_not_fit(root: pathlib.Path) -> None:
    options: dict[str, Any] = {"data_shape": (3, 32, 32), "batch_size": 4}
    with pytest.raises(fr.InvalidArgumentError, match=r"label_pad_width.*at least 25.*found 8"):
        io.ImageDetRecordIter(path_imgrec=str(root / "det.rec"), label_pad_width=8, **options)
    with pytest.raises(fr.CorruptError, match=r"small\.rec: record 0, offset 0: "):
        io.ImageDetRecordIter(path_imgrec=str(root / "small.rec"), **options).next()


# --- Keywords ---


@pytest.mark.parametrize(
    ("keywords", "named"),
    [
        ({"rezise": 4}, "resize"),
        ({"batchsize": 4}, "batch_size"),
        ({"path_rec": "x"}, "path_imgrec"),
        ({"verbos": True}, "verbose"),
        ({"rand_mirror_prob": 1}, "rand_mirror"),
    ],
)
def test_unknown_keywords_name_the_nearest(
    root: pathlib.Path, keywords: dict[str, Any], named: str
) -> None:
    with pytest.raises(fr.ArgumentTypeError, match=f"unknown option .*'{named}'") as raised:
        make(root, **keywords)
    assert isinstance(raised.value, TypeError)


def test_detection_has_no_index_and_says_so(root: pathlib.Path) -> None:
    with pytest.raises(fr.ArgumentTypeError, match=r"unknown option 'path_imgidx'\. Remove it"):
        io.ImageDetRecordIter(
            path_imgrec=str(root / "small.rec"),
            path_imgidx=str(root / "small.idx"),
            data_shape=(3, 8, 8),
            batch_size=2,
        )


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"data_shape": (32, 32)}, "`data_shape` is out of range: expected three numbers"),
        ({"data_shape": (3, 0, 32)}, "data_shape"),
        ({"data_shape": (2, 32, 32)}, "data_shape"),
        ({"data_shape": (3, 40000, 32)}, "data_shape"),
        ({"batch_size": 0}, "`batch_size` is out of range: expected at least 1, found 0"),
        ({"pad": 20000}, "`pad` is out of range: expected at most 16383, found 20000"),
        ({"brightness": -0.5}, "`brightness` is out of range: expected 0 to 1000000, found -0.5"),
        ({"batch_size": -1}, "batch_size"),
        ({"batch_size": 21}, "more than twice the number of records"),
        ({"label_width": 0}, "label_width"),
        ({"preprocess_threads": 0}, "preprocess_threads"),
        ({"prefetch_buffer": 0}, "prefetch_buffer"),
        ({"prefetch_buffer": 65536}, "`prefetch_buffer` is out of range: expected 1 to 65535"),
        ({"inter_method": 7}, "inter_method"),
        ({"dtype": "float64"}, "`dtype` is invalid"),
        ({"dtype": "float16"}, "`dtype` is invalid"),
        ({"dtype": "foo"}, "`dtype` is invalid"),
        ({"aug_seq": "mine"}, "`aug_seq` is invalid"),
        ({"ctx": "tpu"}, "`ctx` is invalid"),
        ({"resize": "abc"}, "`resize` has the wrong type: expected an integer"),
        ({"resize": 0}, "resize"),
        ({"resize": 1.5}, "`resize` has the wrong type: expected an integer"),
        ({"round_batch": 2}, "`round_batch` has the wrong type: expected True, False, 1 or 0"),
        ({"round_batch": "no"}, "`round_batch` has the wrong type: expected True, False, 1 or 0"),
        ({"round_batch": 10**5000}, "`round_batch` is out of range"),
        ({"scale": "much"}, "`scale` has the wrong type: expected a number"),
        ({"scale": float("nan")}, "scale"),
        ({"std_r": 0}, "std_r"),
        ({"random_resized_crop": True, "rand_crop": True}, "random_resized_crop"),
        ({"fill_value": 300}, "fill_value"),
        ({"fill_value": -5}, "fill_value"),
        ({"part_index": 1}, "part_index"),
        ({"part_index": -1}, "part_index"),
        ({"num_parts": 0}, "num_parts"),
        ({"num_parts": 50, "part_index": 49}, "the part has no records"),
        ({"augmenter": 3}, "`augmenter` has the wrong type: expected a function"),
        ({"rotate_list": {1: 2}.keys}, "`rotate_list` has the wrong type: expected a list"),
        ({"seed": 2**70}, "`seed` is out of range"),
        ({"seed_aug": 2**40}, "`seed_aug` is out of range: expected -2147483648 to 2147483647"),
        ({"seed_aug": 2**70}, f"expected -2147483648 to 2147483647, found {2**70}"),
        ({"batch_size": str(2**70)}, f"at least 1, at most {2**63 - 1}, found {2**70}"),
        (
            {"data_shape": (3, 2**70, 8)},
            f"`data_shape` is out of range: expected three numbers: channels, height and width, found [3, {2**70}, 8]",
        ),
        ({"rotate_list": [90, 2000000]}, "expected -1000000 to 1000000 each, found [90, 2000000]"),
        ({"num_parts": 2**40, "part_index": 2**40 - 1}, "the part has no records"),
        ({"path_imgrec": "small.rec#cache"}, "cache"),
        ({"path_imgrec": 5}, "`path_imgrec` has the wrong type"),
    ],
)
def test_bad_values_are_refused_by_name(
    root: pathlib.Path, keywords: dict[str, Any], said: str
) -> None:
    with pytest.raises(fr.Error, match=re.escape(said)) as raised:
        make(root, **keywords)
    assert isinstance(raised.value, (ValueError, NotImplementedError))


def test_missing_and_unnamed_arguments(root: pathlib.Path) -> None:
    with pytest.raises(fr.ArgumentTypeError, match="`data_shape` is missing"):
        io.ImageRecordIter(path_imgrec=str(root / "small.rec"), batch_size=4)
    with pytest.raises(fr.ArgumentTypeError, match="only keyword arguments"):
        io.ImageRecordIter(str(root / "small.rec"))
    with pytest.raises(fr.Error, match="imgrec"):
        io.ImageDetRecordIter(data_shape=(3, 8, 8), batch_size=1)


def test_four_channels_of_a_jpeg_and_a_crop_larger_than_the_image(root: pathlib.Path) -> None:
    with pytest.raises(fr.Error, match=r"small\.rec: record 0, offset 0: "):
        make(root, data_shape=(4, 32, 32)).next()
    with pytest.raises(fr.InvalidArgumentError, match=r"record 0, .*max_crop_size"):
        make(root, max_crop_size=9999, min_crop_size=9999).next()


def test_mean_image_of_another_shape_or_damaged(root: pathlib.Path) -> None:
    golden = pathlib.Path(__file__).parents[2] / "golden" / "mxnet" / "iter" / "mean.bin"
    shutil.copy(golden, root)
    with pytest.raises(fr.InvalidArgumentError, match=r"mean\.bin"):
        make(root, mean_img=str(root / "mean.bin"), data_shape=(3, 16, 16), dtype="float32")
    (root / "mean.bin").write_bytes(b"no array at all, but long enough to be read")
    with pytest.raises(fr.CorruptError, match=r"mean\.bin"):
        make(root, mean_img=str(root / "mean.bin"), dtype="float32")


# --- Odd calls ---


def test_no_length_no_pickle_and_the_end_stays_the_end(root: pathlib.Path) -> None:
    iterator = make(root)
    with pytest.raises(TypeError):
        len(iterator)  # type: ignore[arg-type]
    assert len(labels(iterator)) == 3
    assert labels(iterator) == []
    with pytest.raises(StopIteration):
        iterator.next()
    with pytest.raises(fr.StateError, match="pickled"):
        pickle.dumps(iterator)
    with pytest.raises(fr.StateError, match="no batch has been read yet"):
        iterator.getdata()
    iterator.close()
    with pytest.raises(fr.StateError, match="closed"):
        iterator.next()
    with pytest.raises(fr.StateError, match="closed"):
        iterator.reset()


FORK = """
import os, signal, sys
import fuelrail as fr
from fuelrail import mxnet
from fuelrail.mxnet import io

def make():
    return io.ImageRecordIter(path_imgrec=sys.argv[1], data_shape=(3, 8, 8), batch_size=2)

def in_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def refused(call):
    try:
        call()
    except fr.StateError as error:
        return "another process" in str(error)
    return False

rest = lambda iterator: [batch.label[0].asnumpy().tolist() for batch in iterator]
whole = rest(make())
fresh, used = make(), make()
used.next()
in_child(lambda: refused(used.next) and refused(used.reset))
in_child(lambda: rest(fresh) == whole)
in_child(lambda: rest(make()) == whole)
assert rest(used) == whole[1:]
assert rest(fresh) == whole
print("done")
"""


def test_a_fork_is_answered_and_the_parent_goes_on(root: pathlib.Path, python: Python) -> None:
    assert python(FORK, str(root / "small.rec")).stdout == "done\n"


def test_interrupted_wait_of_an_iterator_left_behind_ends_with_the_process(
    root: pathlib.Path, python: Python
) -> None:
    script = FORK.split("rest =")[0] + "iterator = make()\niterator.next()\nprint('left')\n"
    assert python(script, str(root / "small.rec")).stdout == "left\n"
    assert os.path.exists(root / "small.rec")


# --- What is not supported ---


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        (mxnet, "nd", "torch.from_dlpack"),
        (mxnet.gluon.data, "DataLoader", "torch.utils.data.DataLoader"),
        (mxnet.gluon.data.vision, "transforms", "fuelrail.transforms"),
        (mxnet.gluon.data.vision, "ImageFolderDataset", "fuelrail.open"),
        (mxnet.image, "ImageIter", "fuelrail.torch.DataLoader"),
        (io, "NDArrayIter", "ThreadedIter"),
        (io, "ResizeIter", "itertools.islice"),
        (io, "MXDataIter", "fuelrail.mxnet.io.DataIter"),
    ],
)
def test_names_of_mxnet_that_are_not_here_say_what_to_use(
    module: Any, name: str, said: str
) -> None:
    path = module.__name__
    words = rf"{path} has no '{name}'\. .*{re.escape(said)}"
    with pytest.raises(ImportError, match=words):
        exec(f"from {path} import {name}", {})
    with pytest.raises(AttributeError, match=words):
        getattr(module, name)
    assert not hasattr(module, name)
    assert getattr(module, name, 7) == 7
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'\. (Known|Did)"):
        module.nothing  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec(f"from {path} import nothing", {})
    assert not hasattr(module, "nothing")


@pytest.mark.parametrize(
    ("module", "name", "near"),
    [
        (io, "ImageRecordItr", "ImageRecordIter"),
        (io, "ImageRecordIter_v2", "ImageRecordIter_v1"),
        (mxnet, "np2recs", "np2rec"),
        (mxnet.image, "imrezise", "imresize"),
    ],
)
def test_misspelled_names_suggest_the_nearest(module: Any, name: str, near: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'\. Did you mean '{near}'\?$"):
        getattr(module, name)
