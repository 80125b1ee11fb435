"""One table of class names gives all files the same labels; another table is rejected."""

from __future__ import annotations

import pathlib
import pickle
import warnings
from typing import Any

import pytest

import fuelrail as fr
from fuelrail.ffrecord import pack_folder
from fuelrail.mxnet import im2rec
from photographs import encoded, photograph

TRAIN = ["ant", "bee", "cat"]
WORDS = {"bee/0.jpg": "bee", "cat/1.jpg": "cat", "bee/2.jpg": "bee"}


def put_images(root: pathlib.Path, names: list[str]) -> pathlib.Path:
    for i, name in enumerate(names):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(encoded(photograph(i, 16, 16)))
    return root


@pytest.fixture
def train(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = put_images(tmp_path / "train", [f"{name}/0.jpg" for name in TRAIN])
    fr.pack(folder, tmp_path / "train.rec")
    return tmp_path / "train.rec"


@pytest.fixture
def val(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder without the class `ant`."""
    return put_images(tmp_path / "val", list(WORDS))


def labels(data: fr.Dataset) -> list[str]:
    return [data.classes[sample.label] for sample in data]


@pytest.mark.parametrize("given", ["a file", "a text", "a list"])
def test_a_folder_that_lacks_a_class_gets_the_numbers_of_the_table(
    train: pathlib.Path, val: pathlib.Path, given: str
) -> None:
    (val.parent / "names.txt").write_text("ant\nbee\ncat\n")
    table: Any = {"a file": train, "a text": str(val.parent / "names.txt"), "a list": TRAIN}[given]
    fr.pack(val, val.parent / "val.rec", classes=table)
    for data in (fr.open(val.parent / "val.rec", classes=table), fr.open(val, classes=table)):
        assert data.classes == TRAIN
        assert [sample.label for sample in data] == [1, 1, 2]
    assert len(fr.open([train, val.parent / "val.rec"])) == 6
    assert labels(pickle.loads(pickle.dumps(fr.open(val, classes=table)))) == ["bee", "bee", "cat"]


def test_a_packed_folder_gets_the_numbers_of_the_table_too(val: pathlib.Path) -> None:
    pack_folder(val, val.parent / "val.ffr")
    made = val.parent / "c.rec"
    fr.convert(val.parent / "val.ffr", made, schema="class_folders", classes=TRAIN)
    fr.pack(val, val.parent / "val.rec", classes=TRAIN)
    assert made.read_bytes() == (val.parent / "val.rec").read_bytes()
    assert fr.open(made).classes == TRAIN
    with pytest.raises(fr.InvalidArgumentError, match="`classes` needs a `schema`"):
        fr.convert(made, val.parent / "d.ffr", classes=TRAIN)


def test_the_parts_of_a_job_have_the_whole_table(train: pathlib.Path, val: pathlib.Path) -> None:
    fr.pack(val, val.parent / "v.rec", classes=train, split={"a": 0.5, "b": 0.5})
    assert fr.open(val.parent / "v_a.rec").classes == fr.open(val.parent / "v_b.rec").classes


def test_a_class_that_is_not_in_the_table_is_refused(
    train: pathlib.Path, val: pathlib.Path
) -> None:
    put_images(val, ["catt/0.jpg"])
    said = "the folder name 'catt' is not one of the given class names.*Did you mean 'cat'"
    with pytest.raises(fr.CorruptError, match=said):
        fr.pack(val, val.parent / "val.rec", classes=train)
    with pytest.raises(fr.InvalidArgumentError, match=said):
        fr.open(val, classes=TRAIN)


def test_another_table_is_refused_with_the_first_difference(
    train: pathlib.Path, val: pathlib.Path
) -> None:
    fr.pack(val, val.parent / "val.rec")
    other = "expected 'ant' as class 0.*found 'bee' as class 0.*classes"
    for source in (val.parent / "val.rec", fr.open(val)):
        with pytest.raises(fr.InvalidArgumentError, match=other):
            fr.open(source, classes=fr.open(train).classes)
    with pytest.raises(fr.InvalidArgumentError, match="part 1 .*" + other):
        fr.open([train, val])
    with pytest.raises(fr.InvalidArgumentError, match="have different class names: " + other):
        fr.merge(val.parent / "both.rec", [train, val.parent / "val.rec"])
    data = fr.open(train)
    assert fr.open(data, classes=TRAIN) is data
    for format in ("rec", "ffr"):  # the sidecar is ignored, so nothing else has names
        file = train.parent / f"x.{format}"
        fr.pack(train.parent / "train", file)
        nameless = fr.open(file, sidecar="ignore", classes=TRAIN)
        assert (nameless.classes, fr.open(file, sidecar="ignore").classes) == (TRAIN, [])
    assert len(fr.open([train, val], classes=TRAIN)) == 6


@pytest.mark.parametrize(
    ("classes", "kind", "match"),
    [
        ([], fr.InvalidArgumentError, "`classes` is empty"),
        (["ant", 2], fr.ArgumentTypeError, "expected a string, found 2"),
        (["ant", ""], fr.InvalidArgumentError, "the name of a class is empty"),
        (["ant", "ant"], fr.InvalidArgumentError, "'ant' as class 0 and 1"),
        (["a\0"], fr.InvalidArgumentError, "NUL"),
        (3, fr.ArgumentTypeError, "expected a path or a list of names"),
        ({"ant": 0}, fr.ArgumentTypeError, "expected a path or a list of names"),
        ("nowhere.rec", fr.NotFoundError, r"nowhere\.rec"),
    ],
)
def test_a_table_that_cannot_be_is_refused(
    train: pathlib.Path, classes: Any, kind: type[fr.Error], match: str
) -> None:
    with pytest.raises(kind, match=match):
        fr.open(train, classes=classes)
    with pytest.raises(kind, match=match):
        fr.pack(train.parent / "train", train.parent / "x.rec", classes=classes)


def write_lists(root: pathlib.Path) -> list[pathlib.Path]:
    """Writes lists of the images of WORDS, in each list format."""
    rows = [(f'"{path}"', word) for path, word in WORDS.items()]
    lines = [f"{i}\t{word}\t{path}\n" for i, (path, word) in enumerate(WORDS.items())]
    (root / "a.lst").write_text("".join(lines))
    (root / "a.csv").write_text(
        "\ufeffpath,label\r\n" + "".join(f"{path},{word}\r\n" for path, word in rows)
    )
    (root / "a.tsv").write_text(
        "label\tpath\n" + "".join(f"{word}\t{path}\n" for path, word in rows)
    )
    return [root / f"a.{end}" for end in ("lst", "csv", "tsv")]


def test_words_are_labels_in_every_format_of_lists(
    val: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    packed = []
    for file in write_lists(tmp_path):
        fr.pack(file, tmp_path / "a.rec", root=val, overwrite=True)
        packed.append((tmp_path / "a.rec").read_bytes())
        for data in (fr.open(tmp_path / "a.rec"), fr.open(file, root=val)):
            assert data.classes == ["bee", "cat"]
            assert labels(data) == list(WORDS.values())
            assert [sample.id for sample in data] == [0, 1, 2]
        data = fr.open(file, root=val, classes=TRAIN)
        assert (data.classes, [sample.label for sample in data]) == (TRAIN, [1, 2, 1])
        assert data.schema == fr.open(val).schema
        with pytest.raises(fr.CorruptError, match=r"line .: the label is not one of the classes"):
            fr.pack(file, tmp_path / "x.rec", root=val, classes=["bee", "dog"], max_errors=2)
    assert packed[0] == packed[1] == packed[2]


def test_numbers_of_a_list_are_named_by_the_table(
    val: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "n.csv").write_text("path,label,size\nbee/0.jpg,1,16\ncat/1.jpg,2,16\n")
    with pytest.warns(fr.FuelrailWarning, match="'path' and 'label' are used, not 'size'"):
        fr.pack(tmp_path / "n.csv", tmp_path / "n.rec", root=val, classes=TRAIN)
    assert labels(fr.open(tmp_path / "n.rec")) == ["bee", "cat"]


def test_mxnets_lists_have_numbers_alone(val: pathlib.Path, tmp_path: pathlib.Path) -> None:
    lists = write_lists(tmp_path)
    with pytest.raises(fr.CorruptError, match=r"the label is not a number: .* found 'bee'"):
        im2rec(str(lists[0]), None, {"root": str(val)}, str(tmp_path / "x.rec"))
    with pytest.raises(fr.InvalidArgumentError, match=r"whose name ends in \.lst"):
        im2rec(str(lists[1]), None, {"root": str(val)}, str(tmp_path / "x.rec"))


def test_the_command_takes_a_table(
    train: pathlib.Path, val: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def run(*words: object) -> int:
        return fr._core.cli_main(["fuelrail", "pack", "-q", *map(str, words)])

    assert run(val, val.parent / "val.rec", "--classes", train) == 0
    assert [sample.label for sample in fr.open(val.parent / "val.rec")] == [1, 1, 2]
    (val.parent / "names.txt").write_text("ant\nbee\nant\n")
    assert run(val, val.parent / "x.rec", "--classes", val.parent / "names.txt") == 1
    assert "names.txt: line 3 repeats the class name on line 1" in capfd.readouterr().err
    (val.parent / "names.txt").write_text("ant\nbee\n")
    assert run(val, val.parent / "x.rec", "--classes", val.parent / "names.txt") == 1
    said = "the folder name 'cat' is not one of the given class names"
    assert said in capfd.readouterr().err


def test_a_state_is_refused_on_a_file_with_another_table(
    train: pathlib.Path, val: pathlib.Path
) -> None:
    def loader(**options: Any) -> fr.Loader:
        return fr.Loader(fr.open(val, **options), 2, fields=["label"], rank=0, world_size=1)

    first = loader(classes=TRAIN)
    next(iter(first))
    state = first.state_dict()
    again = loader(classes=TRAIN)
    again.load_state_dict(state)
    assert [batch[0].numpy().tolist() for batch in again] == [[2]]
    other = loader()
    assert other.dataset.fingerprint == first.dataset.fingerprint
    with pytest.raises(
        fr.InvalidArgumentError,
        match=r"'classes' differs from the loader's: expected 2-\w+, found 3-\w+\. Open",
    ):
        other.load_state_dict(state)
    assert other.state_dict()["position"] == 0


def test_a_state_says_nothing_of_classes_without_names(tmp_path: pathlib.Path) -> None:
    put_images(tmp_path, ["a.jpg", "b.jpg"])
    (tmp_path / "a.lst").write_text("0\t1\ta.jpg\n1\t0\tb.jpg\n")

    def loader(**options: Any) -> fr.Loader:
        data = fr.open(tmp_path / "a.lst", **options)
        return fr.Loader(data, 1, fields=["id"], rank=0, world_size=1)

    nameless, named = loader(), loader(classes=["ant", "bee"])
    assert nameless.state_dict()["classes"] == ""
    named.load_state_dict(nameless.state_dict())
    nameless.load_state_dict(named.state_dict())


def test_a_table_is_read_without_a_warning(train: pathlib.Path, val: pathlib.Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fr.open(val, classes=train.parent / "train").classes == TRAIN
