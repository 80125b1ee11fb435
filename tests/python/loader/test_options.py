"""Invalid options are rejected at once, with a valid one as remedy."""

from __future__ import annotations

import functools
import inspect
import operator
import pathlib
import re
import typing
from collections.abc import Callable

import numpy as np
import pytest
import torch

import fuelrail as fr
from fuelrail import transforms as T
from fuelrail.mxnet import im2rec
from fuelrail.options import PATTERNED
from loading import CROP, tiny

OPTIONS = [
    ({"batchsize": 3}, fr.ArgumentTypeError, "'batch_size'"),
    ({"suffle": True}, fr.ArgumentTypeError, "'shuffle'"),
    ({"workers_of_mine": 3}, fr.ArgumentTypeError, "Known: "),
    ({"\ud800": 3}, fr.ArgumentTypeError, "unknown option"),
    ({"shuffle": "ful"}, fr.InvalidArgumentError, "'full'"),
    ({"shuffle": 1}, fr.InvalidArgumentError, "shuffle"),
    ({"shuffle": None}, fr.InvalidArgumentError, "shuffle"),
    ({"shuffle": np.zeros(2)}, fr.InvalidArgumentError, "shuffle"),
    ({"layout": "\ud800"}, fr.InvalidArgumentError, "layout"),
    ({"layout": None}, fr.ArgumentTypeError, "layout"),
    ({"dtype": "flaot32"}, fr.InvalidArgumentError, "'float32'"),
    ({"dtype": np.float64}, fr.InvalidArgumentError, "dtype"),
    ({"layout": "nchw"}, fr.InvalidArgumentError, "layout"),
    ({"last_batch": "dorp"}, fr.InvalidArgumentError, "'drop'"),
    ({"orientation": "applied"}, fr.InvalidArgumentError, "'apply'"),
    ({"read_backend": "iouring"}, fr.InvalidArgumentError, "'io_uring'"),
    ({"direct_reads": 1}, fr.ArgumentTypeError, "direct_reads"),
    ({"stall_timeout": 0}, fr.InvalidArgumentError, "stall_timeout"),
    ({"stall_timeout": -1e-9}, fr.InvalidArgumentError, "above 0, or None"),
    ({"stall_timeout": "1"}, fr.ArgumentTypeError, "stall_timeout"),
    ({"stall_timeout": float("nan")}, fr.InvalidArgumentError, "stall_timeout"),
    ({"fields": ["image", "labels"]}, fr.InvalidArgumentError, "'label'"),
    ({"fields": ["image", "image"]}, fr.InvalidArgumentError, "has 'image' twice"),
    ({"fields": []}, fr.InvalidArgumentError, "fields"),
    ({"fields": "image"}, fr.ArgumentTypeError, "`fields` has the wrong type"),
    ({"fields": None}, fr.ArgumentTypeError, "`fields` has the wrong type"),
    ({"fields": {"image"}}, fr.ArgumentTypeError, "`fields` has the wrong type"),
    ({"fields": [3]}, fr.ArgumentTypeError, r"`fields\[0\]` has .*a string, found 3"),
    ({"fields": ["image", b"label"]}, fr.ArgumentTypeError, r"`fields\[1\]`"),
    ({"fields": ["image\0"]}, fr.InvalidArgumentError, r"NUL.*'image\\x00'"),
    ({"batch_size": 0}, fr.InvalidArgumentError, "batch_size"),
    ({"batch_size": -1}, fr.InvalidArgumentError, "batch_size"),
    ({"batch_size": 2.0}, fr.ArgumentTypeError, "batch_size"),
    ({"batch_size": True}, fr.ArgumentTypeError, r"batch_size.*found True \(bool\)"),
    ({"batch_size": 10**50}, fr.InvalidArgumentError, "batch_size"),
    ({"seed": -1}, fr.InvalidArgumentError, "seed"),
    ({"batch_size": 0, "sampler": [1]}, fr.InvalidArgumentError, "batch_size"),
    ({"prefetch": 2**16}, fr.InvalidArgumentError, "prefetch"),
    ({"max_bad": 1.5, "on_error": "skip"}, fr.InvalidArgumentError, "a fraction from 0 to 1"),
    ({"max_bad": -1, "on_error": "skip"}, fr.InvalidArgumentError, "max_bad"),
    ({"max_bad": 3}, fr.InvalidArgumentError, '`max_bad` needs on_error="skip"'),
    ({"threads": 10**9}, fr.InvalidArgumentError, "threads"),
    ({"rank": 0, "world_size": 0}, fr.InvalidArgumentError, "world_size"),
    ({"seed": 2**64}, fr.InvalidArgumentError, "seed"),
    ({"threads": 0}, fr.InvalidArgumentError, "threads"),
    ({"read_threads": 0}, fr.InvalidArgumentError, "expected 1 to 1024, found 0"),
    ({"max_pixels": 2**70}, fr.InvalidArgumentError, f"at least 1, at most {2**63 - 1}, found"),
    ({"prefetch": 0}, fr.InvalidArgumentError, "prefetch"),
    ({"max_pixels": 0}, fr.InvalidArgumentError, "max_pixels"),
    ({"rank": 1}, fr.InvalidArgumentError, "world_size"),
    ({"rank": 2, "world_size": 2}, fr.OutOfRangeError, "rank"),
    ({"transforms": T.CenterCrop(8)}, fr.ArgumentTypeError, "list"),
    ({"transforms": [T.CenterCrop(8), "flip"]}, fr.ArgumentTypeError, r"transforms\[1\]"),
    ({"transforms": [T.CenterCrop]}, fr.ArgumentTypeError, "'CenterCrop'"),
    ({"transforms": [T.Normalize((0,) * 3, (1,) * 3), *CROP]}, fr.InvalidArgumentError, "last"),
    (
        {"transforms": [*CROP, T.Normalize((0,) * 3, (1,) * 3)], "dtype": "uint8"},
        fr.InvalidArgumentError,
        "uint8",
    ),
]


@pytest.mark.parametrize(("options", "kind", "match"), OPTIONS, ids=lambda value: str(value)[:40])
def test_a_bad_option_is_refused_with_the_nearest_good_one(
    tiny_file: pathlib.Path, options: dict[str, object], kind: type[fr.Error], match: str
) -> None:
    with pytest.raises(kind, match=match):
        fr.Loader(tiny_file, **{"transforms": CROP, **options})


ONE_TEXT = [
    ({"read_threads": 1025}, "`read_threads` is out of range: expected {least} to 1024, found 1025"),
    ({"read_threads": -1}, "`read_threads` is out of range: expected {least} to 1024, found -1"),
    ({"read_threads": 2**70}, f"`read_threads` is out of range: expected {{least}} to 1024, found {2**70}"),
    ({"read_threads": 4.0}, "`read_threads` has the wrong type: expected an integer, found 4.0 (float)"),
    ({"read_threads": True}, "`read_threads` has the wrong type: expected an integer, found True (bool)"),
    ({"read_threads": torch.tensor(True)}, "`read_threads` has the wrong type: expected an integer, found tensor(True) (Tensor)"),
    ({"read_backend": "iouring"}, "`read_backend` is invalid: found 'iouring'. Did you mean 'io_uring'?"),
    ({"direct_reads": 1}, "`direct_reads` has the wrong type: expected True or False, found 1 (int)"),
    ({"read_thread": 4}, "unknown option 'read_thread'. Did you mean 'read_threads'?"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "text"), ONE_TEXT, ids=lambda value: str(value)[:40])
def test_a_bad_option_has_one_text_whatever_is_told_it(
    tiny_file: pathlib.Path, tmp_path: pathlib.Path, options: dict[str, object], text: str
) -> None:
    fr.convert(tiny_file, tmp_path / "tiny.ffr", progress=False)
    told = [
        functools.partial(fr.Loader, tiny_file, transforms=CROP),
        functools.partial(fr.torch.DataLoader, tiny_file, transforms=CROP),
        functools.partial(fr.ffrecord.FileReader, tmp_path / "tiny.ffr"),
    ]
    if "read_threads" in options:
        told.append(functools.partial(fr.torch.MapDataset, tiny_file, transforms=CROP))
    for tell in told:
        with pytest.raises(fr.InvalidArgumentError) as caught:
            tell(**options)
        least = 0 if tell.func is fr.ffrecord.FileReader else 1  # read_threads
        assert str(caught.value) == text.replace("{least}", str(least))


THREADS = "`threads` is out of range: expected 1 to 1024, found"
MAX_ERRORS = "a fraction from 0 to 1, or a whole number, found"
TEXTS_OF_DOORS = [
    ({"threads": 0}, f"{THREADS} 0"),
    ({"threads": 2000}, f"{THREADS} 2000"),
    ({"threads": 2**70}, f"{THREADS} {2**70}"),
    ({"threads": 2.0}, "`threads` has the wrong type: expected an integer, found 2.0 (float)"),
    ({"thread": 2}, "unknown option 'thread'. Did you mean 'threads'?"),
    ({"max_errors": 1.5}, f"`max_errors` is out of range: expected {MAX_ERRORS} 1.5"),
    ({"max_errors": -0.5}, f"`max_errors` is out of range: expected {MAX_ERRORS} -0.5"),
    (
        {"max_errors": "few"},
        "`max_errors` has the wrong type: expected a number, found 'few' (str)",
    ),
    (
        {"max_errors": np.array("4")},
        "`max_errors` has the wrong type: expected a number, "
        "found array('4', dtype='<U1') (ndarray)",
    ),
    (
        {"max_errors": np.True_},
        "`max_errors` has the wrong type: expected a number, found np.True_ (bool)",
    ),
    ({"max_error": 1}, "unknown option 'max_error'. Did you mean 'max_errors'?"),
]


@pytest.mark.parametrize(("options", "text"), TEXTS_OF_DOORS, ids=lambda value: str(value)[:40])
def test_a_bad_option_has_one_text_at_loaders_packers_and_the_command(
    tiny_file: pathlib.Path,
    tmp_path: pathlib.Path,
    capfd: pytest.CaptureFixture[str],
    options: dict[str, object],
    text: str,
) -> None:
    ((name, value),) = options.items()
    output = tmp_path / "x.rec"
    told = [lambda **given: fr.pack(tmp_path, output, **given)]
    if name.startswith("thread"):
        loaders = (fr.Loader, fr.torch.DataLoader, fr.torch.MapDataset)
        told += [functools.partial(loader, tiny_file, transforms=CROP) for loader in loaders]
    if name == "max_errors":
        told.append(lambda **given: im2rec(tiny_file, None, given, output))
    for tell in told:
        with pytest.raises(fr.InvalidArgumentError) as caught:
            tell(**options)
        assert str(caught.value) == text
    if "out of range" in text and value != 2**70:
        written = f"{value:%}" if name == "max_errors" else value
        option = f"--{name.replace('_', '-')}={written}"
        assert fr._core.cli_main(["fuelrail", "pack", str(tmp_path), str(output), option]) == 2
        assert text in capfd.readouterr().err


def test_pythons_own_defaults_are_those_of_the_core() -> None:
    def shown_by(called: Callable[..., object], name: str) -> object:
        return inspect.signature(called).parameters[name].default

    fields = fr._core.Loader.__init__.__nb_signature__[0][2][-1]
    for loader in (fr.Loader, fr.torch.DataLoader):
        assert [*shown_by(loader, "fields")] == fields
    check_data = fr._core.open_ffrecord.__nb_signature__[0][2][-1]
    assert shown_by(fr.ffrecord.FileReader, "check_data") is check_data
    assert shown_by(fr.ffrecord.PackedFolder, "check_data") is check_data
    *_, scale, ratio, interpolation, antialias = (
        fr._core.RandomResizedCrop.__init__.__nb_signature__[0][2]
    )
    crop = T.RandomResizedCrop(8)
    assert [[*crop.scale], [*crop.ratio]] == [[*scale], [*ratio]]
    assert (crop.interpolation, crop.antialias) == (interpolation.name, antialias)


ANNOTATIONS = {
    "float": "float",
    "bool": "bool",
    "int": "int",
    "int or None": "int | None",
    "float or None": "float | None",
    "int or float or None": "int | float | None",
}


@pytest.mark.parametrize("kind", ["Loader", "torch.DataLoader", "ffrecord.FileReader"])
def test_signature_and_help_show_the_cores_options(kind: str) -> None:
    called = operator.attrgetter(kind)(fr)
    results, speed = fr._core.loader_options()
    table = fr._core.reader_options() if kind == "ffrecord.FileReader" else [*results, *speed]
    parameters = inspect.signature(called.__init__).parameters
    text = " ".join(called.__init__.__doc__.split())
    for name, value_kind, default, _, meaning in table:
        assert parameters[name].default == default, name
        if name != "dtype":  # dtype may also be NumPy's
            literal = f"Literal{value_kind.split()[2:]}"
            written = ANNOTATIONS.get(value_kind, literal)
            if name in PATTERNED:
                written = f"Union[{written}, collections.abc.Mapping[str, {written}]]"
            shown = inspect.formatannotation(parameters[name].annotation)
            assert shown.strip("'") == written, name
        assert f"{name}: {meaning}" in text, name
        assert default is None or f"{meaning} Default: {default!r}." in text, name


LOADERS = ["Loader", "torch.DataLoader", "torch.MapDataset", "ffrecord.FileReader"]


@pytest.mark.parametrize("kind", LOADERS)
def test_help_has_one_text_for_each_parameter(kind: str) -> None:
    called = operator.attrgetter(kind)(fr)
    text = f"{called.__doc__}\n{called.__init__.__doc__}"
    for name in inspect.signature(called).parameters:
        assert len(re.findall(rf"\b{name}(?:, \w+)*: ", text)) == 1, name


@pytest.mark.parametrize("kind", LOADERS)
def test_annotations_can_be_evaluated_and_are_those_of_the_signature(kind: str) -> None:
    called = operator.attrgetter(kind)(fr)
    hints = typing.get_type_hints(called.__init__)
    parameters = inspect.signature(called, eval_str=True).parameters
    assert [*hints] == [*parameters, "return"]
    assert hints["read_threads"] is int


def test_every_option_of_the_core_can_be_given_to_a_loader() -> None:
    results, speed = fr._core.loader_options()
    parameters = inspect.signature(fr.Loader.__init__).parameters
    assert {name for name, *_ in [*results, *speed]} <= {*parameters}
    assert {name for name, *_ in fr._core.reader_options()} <= {*parameters}


class Unspeakable:
    def __repr__(self) -> str:
        raise ValueError("mine")


@pytest.mark.parametrize(
    "option", ["batch_size", "shuffle", "fields", "dtype", "transforms", "threads"]
)
def test_a_value_that_cannot_be_shown_is_named_by_its_type(
    tiny_file: pathlib.Path, option: str
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=f"{option}.*Unspeakable"):
        fr.Loader(tiny_file, **{"transforms": CROP, option: Unspeakable()})


TORCH = {
    "num_workers": "`threads`",
    "drop_last": '`last_batch="drop"`',
    "pin_memory_device": "`device`",
    "collate_fn": "`fields`",
    "prefetch_factor": "`prefetch`",
    "worker_init_fn": "`seed`",
    "persistent_workers": "Omit it",
    "generator": "`seed`",
}


@pytest.mark.parametrize(("option", "remedy"), TORCH.items())
@pytest.mark.parametrize("kind", ["Loader", "torch.DataLoader"])
def test_an_option_of_torch_is_answered_with_what_to_use_instead(
    tiny_file: pathlib.Path, kind: str, option: str, remedy: str
) -> None:
    loader = operator.attrgetter(kind)(fr)
    match = f"unknown option '{option}'. .*{remedy}"
    with pytest.raises(fr.ArgumentTypeError, match=match) as caught:
        loader(tiny_file, 4, transforms=CROP, **{option: 1})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["Loader", "torch.DataLoader", "torch.MapDataset"])
def test_an_option_of_open_alone_is_answered_with_open(tiny_file: pathlib.Path, kind: str) -> None:
    for option in ("classes", "root"):
        remedy = rf"option '{option}'. Pass the dataset `fuelrail\.open\(path, {option}=...\)`"
        with pytest.raises(fr.ArgumentTypeError, match=remedy):
            operator.attrgetter(kind)(fr)(tiny_file, transforms=CROP, **{option: "x"})


def test_every_option_of_torch_is_an_option_or_answered(tiny_file: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    theirs = inspect.signature(torch.utils.data.DataLoader.__init__).parameters
    ours = inspect.signature(fr.torch.DataLoader.__init__).parameters
    for option in set(theirs) - set(ours):
        with pytest.raises(fr.ArgumentTypeError, match=f"unknown option '{option}'") as caught:
            fr.torch.DataLoader(tiny_file, **{option: 1})
        assert caught.value.remedy is not None
        assert not caught.value.remedy.startswith(("Known", "Did you mean")), option


def test_a_stall_timeout_may_be_infinite(tiny_file: pathlib.Path) -> None:
    with fr.Loader(tiny_file, 2, transforms=CROP, stall_timeout=float("inf")) as loader:
        next(iter(loader))


def test_options_want_their_names(tiny_file: pathlib.Path) -> None:
    with pytest.raises(
        fr.ArgumentTypeError, match="`data` and `batch_size`, found an additional argument, True"
    ):
        fr.Loader(tiny_file, 4, True)


@pytest.mark.parametrize("dtype", ["float16", np.float16, np.dtype("float16")])
def test_a_dtype_may_be_numpys(tiny_file: pathlib.Path, dtype: object) -> None:
    images, _ = next(iter(fr.Loader(tiny_file, 2, transforms=CROP, dtype=dtype)))
    assert images.dtype == "float16"
    assert images.numpy().dtype == np.float16


def test_rank_and_world_size_come_from_the_environment(
    tiny_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert next(iter(tiny(tiny_file, 5)))[1].numpy().tolist() == [5, 6, 7, 8, 9]
    assert next(iter(tiny(tiny_file, 5, rank=0, world_size=1)))[1].numpy()[0] == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RANK", "one"),
        ("RANK", ""),
        ("RANK", "-1"),
        ("RANK", "4"),
        ("RANK", str(2**32)),
        ("WORLD_SIZE", "0"),
        ("WORLD_SIZE", "-4"),
        ("WORLD_SIZE", "4.0"),
        ("WORLD_SIZE", str(2**70)),
    ],
)
def test_junk_in_the_environment_is_refused_by_the_variables_name(
    tiny_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv(name, value)
    loader = tiny(tiny_file)
    for ask in (len, iter, fr.Loader.state_dict):
        with pytest.raises(fr.InvalidArgumentError, match=f"variable {name} .*found '{value}'"):
            ask(loader)
