"""The programs in docs/ and the examples in docstrings, as they stand there, on a folder of photographs."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import numpy
import pytest
import torch
import tqdm

import fuelrail as fr
from fuelrail import inputs
from guides import COUNT, ROOT, blocks

NEED_PLUGIN = {"imagenet.md"} if "FUELRAIL_HEVC" not in os.environ else set()
NEED_FILES = {"annotations.md"}  # test_annotations.py makes them and runs the page
PAGES = {
    page.name: programs
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if (programs := blocks("python", page.read_text()))
    and page.name not in NEED_PLUGIN | NEED_FILES
}
MXNET = [
    importlib.import_module(f"fuelrail.mxnet.{name}")
    for name in (
        "gluon.data",
        "gluon.data.vision",
        "im2rec",
        "image",
        "io",
        "recordio",
        "transforms",
    )
]
PUBLIC = {
    "fuelrail": fr,
    **{f"fuelrail.{name}": getattr(fr, name) for name in fr.__all__},
    **{f"fuelrail.ffrecord.{name}": getattr(fr.ffrecord, name) for name in fr.ffrecord.__all__},
    **{
        f"fuelrail.ffrecord.torch.{name}": getattr(fr.ffrecord.torch, name)
        for name in fr.ffrecord.torch.__all__
    },
    **{
        f"{module.__name__}.{name}": getattr(module, name)
        for module in MXNET
        for name in module.__all__
    },
    **{f"fuelrail.fields.{name}": getattr(fr.fields, name) for name in fr.fields.__all__},
    "fuelrail.inputs": inputs,
    **{f"fuelrail.inputs.{name}": getattr(inputs, name) for name in inputs.__all__},
    **{f"fuelrail.torch.{name}": getattr(fr.torch, name) for name in fr.torch.__all__},
    **{
        f"fuelrail.transforms.{name}": getattr(fr.transforms, name)
        for name in fr.transforms.__all__
    },
}


def names() -> dict[str, object]:
    """What the reader of a docstring has imported and made before."""
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 224 * 224, 2))
    return {
        "criterion": torch.nn.CrossEntropyLoss(),
        "fuelrail": fr,
        "mean": (0.485, 0.456, 0.406),
        "model": model,
        "numpy": numpy,
        "std": (0.229, 0.224, 0.225),
        "torch": torch,
        "tqdm": tqdm,
    }


def docstrings() -> Iterator[doctest.DocTest]:
    """The examples of each public name and of its public members, each docstring once."""
    seen = set()
    for name, thing in PUBLIC.items():
        own = [(name, thing)]
        if isinstance(thing, type):
            members = ((n, getattr(thing, n)) for n in dir(thing) if not n.startswith("_"))
            own += [(f"{name}.{n}", member) for n, member in members]
        for path, one in own:
            text = getattr(one, "__doc__", None) or ""
            parts = doctest.DocTestParser().get_examples(text)
            if parts and text not in seen:
                seen.add(text)
                yield doctest.DocTest(parts, names(), path, None, None, text)


DOCSTRINGS = {test.name: test for test in docstrings()}


@pytest.fixture
def packed(here: pathlib.Path) -> None:
    fr.pack("photographs", "train.rec")
    fr.pack("photographs", "train.ffr")


def test_there_are_programs_and_examples() -> None:
    assert {"loader.md", "packing.md", "from_mxnet.md", "from_benzina.md", "resume.md"} <= set(
        PAGES
    )
    assert {
        *("fuelrail", "fuelrail.open", "fuelrail.pack", "fuelrail.Loader"),
        *("fuelrail.Dataset.split", "fuelrail.torch.DataLoader", "fuelrail.torch.MapDataset"),
    } <= set(DOCSTRINGS)


@pytest.fixture(scope="module")
def pasted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each page said that failed."""
    command = [sys.executable, "-W", "error", ROOT / "tests/tools/pasted_pages.py"]
    run = subprocess.run(
        [*command, tmp_path_factory.mktemp("pages")],
        input=json.dumps(PAGES),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    said: dict[str, str] = json.loads(run.stdout)
    return said


@pytest.mark.parametrize("page", PAGES)
def test_the_programs_of_a_page_paste_in_order_into_an_empty_interpreter(
    page: str, pasted: dict[str, str]
) -> None:
    assert pasted[page] == ""


@pytest.mark.usefixtures("packed")
@pytest.mark.parametrize("name", DOCSTRINGS)
def test_the_examples_of_docstrings_run(name: str) -> None:
    said = io.StringIO()
    with contextlib.redirect_stderr(io.StringIO()):  # tqdm's bars
        results = doctest.DocTestRunner().run(DOCSTRINGS[name], out=said.write)
    assert results.failed == 0, said.getvalue()


def test_a_code_block_of_a_docstring_is_an_example() -> None:
    """An indented program without `>>>` would not be run."""
    for name, thing in PUBLIC.items():
        lines = (getattr(thing, "__doc__", None) or "").splitlines()
        unmarked = [
            line for line in lines if re.fullmatch(r"\s*(import \w+|for .*:|\w+ = .*)", line)
        ]
        assert unmarked == [], name


@pytest.mark.usefixtures("packed")
def test_a_bar_of_progress_knows_the_loaders_length() -> None:
    loader = fr.Loader("train.rec", 4, transforms=[fr.transforms.CenterCrop(8)])
    bar = tqdm.tqdm(loader, file=io.StringIO())
    assert bar.total == len(loader) == 2
    assert sum(len(labels.numpy()) for _, labels in bar) == COUNT
    assert bar.n == 2


@pytest.mark.usefixtures("here")
def test_packing_drives_a_bar_of_progress() -> None:
    with tqdm.tqdm(file=io.StringIO()) as bar:

        def show(progress: fr.PackProgress) -> None:
            bar.total = progress.total
            bar.update(progress.done - bar.n)

        fr.pack("photographs", "train.rec", progress=show)
        assert (bar.n, bar.total) == (COUNT, COUNT)
