"""Uses the functions of docs/resume.md. tests/tools/test_examples.py runs the page itself."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import fuelrail as fr
from page import DOCS, code_of

torch = pytest.importorskip("torch")

RECIPE, SHARDED, _ = code_of("resume.md")


@pytest.fixture
def here(
    tiny_file: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> pathlib.Path:
    """The current folder, with the page's train.rec."""
    fr.pack(tiny_file.parent / "folder", tmp_path / "train.rec")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def functions(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)
    return names


class Preempted(Exception):
    pass


class Model:
    """A model whose weights are the ids that it has learned from."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.seen: list[int] = []

    def step(self, batch: tuple[fr.Array, ...]) -> None:
        if len(self.seen) >= self.most:
            raise Preempted
        self.seen += batch[0].numpy().tolist()

    def state_dict(self) -> list[int]:
        return self.seen

    def load_state_dict(self, state: list[int]) -> None:
        self.seen = state


@pytest.mark.parametrize("stops", [[], [0], [30], [30, 30], [90, 97], [97, 130, 180, 187]])
def test_the_recipe_goes_on_where_it_was_stopped(here: pathlib.Path, stops: list[int]) -> None:
    train = functions(RECIPE)["train"]
    for most in stops:
        with pytest.raises(Preempted):
            train("checkpoint", fr.Loader("train.rec", 10, fields=["id"]), Model(most), epochs=2)
    model = Model(1000)
    train("checkpoint", fr.Loader("train.rec", 10, fields=["id"]), model, epochs=2)
    assert model.seen == [*range(97), *range(97)]
    again = Model(0)
    train("checkpoint", fr.Loader("train.rec", 10, fields=["id"]), again, epochs=2)
    assert again.seen == model.seen


def test_the_loader_is_what_sharded_checkpoints_take(tiny_file: pathlib.Path) -> None:
    from torch.distributed.checkpoint.stateful import Stateful

    assert isinstance(fr.Loader(tiny_file, fields=["id"]), Stateful)
    assert isinstance(fr.torch.DataLoader(tiny_file, fields=["id"]), Stateful)


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled:UserWarning")
def test_a_sharded_checkpoint_brings_loader_and_model_back(here: pathlib.Path) -> None:
    page = functions(SHARDED)
    options = {"shuffle": "full", "seed": 5, "fields": ["id"]}
    loader = fr.torch.DataLoader("train.rec", 10, **options)
    iterator = iter(loader)
    for _ in range(4):
        next(iterator)
    model, other = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    page["save_sharded"]("saved", model, loader)
    again = fr.torch.DataLoader("train.rec", 7, **options)
    page["load_sharded"]("saved", other, again)
    assert torch.equal(other.weight, model.weight)
    assert again.state_dict() == loader.state_dict()
    rest = [i for (ids,) in again for i in ids.tolist()]
    assert rest == [i for (ids,) in iterator for i in ids.tolist()]
    with pytest.raises(
        fr.InvalidArgumentError, match="'seed' differs from the loader's: expected 6, found 5"
    ):
        page["load_sharded"]("saved", other, fr.Loader("train.rec", **{**options, "seed": 6}))


def test_the_page_names_every_member_of_the_state(tiny_file: pathlib.Path) -> None:
    text = (DOCS / "resume.md").read_text()
    state = fr.Loader(tiny_file, fields=["id"]).state_dict()
    assert len(state) == 7
    assert len(json.dumps(state)) < 1024
    for member in state:
        assert f"`{member}`" in text
