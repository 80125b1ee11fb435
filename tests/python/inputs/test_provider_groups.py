"""Data providers of ACCV-Lab as datasets of the engine, and as files."""

from __future__ import annotations

import io
import os
import pathlib
import subprocess
import sys
import warnings
from typing import Any

import pytest
from PIL import Image

import fuelrail as fr
from fuelrail import fields as F
from fuelrail import transforms as T
from fuelrail.inputs import SampleDataGroup, SamplerBase, SequenceSampler
from many_fields import bits
from python_datasets import Provider

SUPPORT = pathlib.Path(__file__).parents[1] / "support"
ROLES = {
    "*.bboxes": F.Boxes("xyxy", rows="objects"),
    "*.classes": F.Label(rows="objects"),
    "*.intrinsics": F.CameraMatrix(),
}
OPTIONS: dict[str, Any] = {
    "fields": ["cameras", "scene", "speed"],
    "transforms": {"cameras.*.image": [T.Resize((8, 12)), T.HorizontalFlip(0.5)]},
    "ragged": {"*.bboxes": "packed", "*": "list"},
    "shuffle": True,
    "seed": 3,
}


@pytest.fixture(scope="module")
def data() -> fr.Dataset:
    """The samples, made in this process: what is tested here does not depend on workers."""
    return fr.open_python(Provider(), roles=ROLES, workers=0)


def test_groups_become_nested_fields() -> None:
    data = fr.open_python(Provider(), roles=ROLES)
    assert data.schema == fr.Schema(
        {
            "cameras": [
                {
                    "image": F.Image(),
                    "bboxes": F.Boxes("xyxy", rows="objects"),
                    "classes": F.Label(rows="objects"),
                    "intrinsics": F.CameraMatrix(),
                }
                for _ in range(2)
            ],
            "scene": F.Text(),
            "speed": F.Tensor("float32", ()),
        }
    )
    sample, group = data[5], Provider().get_data(5)
    assert sample["scene"] == "scene 1 ☂"
    assert sample["speed"] == 2.5
    camera = group["cameras"][1]
    assert (sample["cameras.1.bboxes"] == camera["bboxes"]).all()
    assert (sample.decode("cameras.1.image") == camera["image"]).all()


class WithEmptyGroups(Provider):
    def get_data(self, sample_index: int) -> Any:
        sample = super().get_data(sample_index)
        sample.add_data_group_field_array("none", SampleDataGroup(), 2)
        return sample


def test_groups_without_data_fields_vanish() -> None:
    assert fr.open_python(WithEmptyGroups()).schema == fr.open_python(Provider()).schema


def test_without_roles_the_fields_are_tensors() -> None:
    schema = fr.open_python(Provider()).schema
    assert schema["cameras.0.bboxes"] == F.Tensor("float32", (-1, 4))
    assert schema["cameras.0.image"] == F.Image()


def test_arrays_of_encoded_images_are_decoded(data: fr.Dataset) -> None:
    encoded = fr.open_python(Provider(encoded=True), roles=ROLES)
    assert encoded.schema == data.schema
    ours, theirs = fr.Loader(encoded, 4, **OPTIONS), fr.Loader(data, 4, **OPTIONS)
    assert [bits(batch) for batch in ours] == [bits(batch) for batch in theirs]


def test_a_loader_takes_a_provider() -> None:
    loader = fr.Loader(Provider(), 4, fields=["speed"])
    assert next(iter(loader))["speed"].numpy().tolist() == [0, 0.5, 1, 1.5]


def test_a_role_that_matches_nothing_is_an_error() -> None:
    with pytest.raises(fr.InvalidArgumentError, match=r"matches no field.*bboxs"):
        fr.open_python(Provider(), roles={"*.bboxs": F.Boxes("xyxy")})
    with pytest.raises(fr.ArgumentTypeError, match="roles"):
        fr.open_python(Provider(), roles={"*.bboxes": "xyxy"})  # type: ignore[dict-item]


class Wrong(Provider):
    def __init__(self, change: str) -> None:
        super().__init__()
        self._change = change

    def get_data(self, sample_index: int) -> Any:
        sample = super().get_data(sample_index)
        if sample_index != 6:
            return sample
        if self._change == "field":
            sample.remove_field("speed")
        elif self._change == "dtype":
            from fuelrail.inputs.data_type import DataType

            sample.change_type_of_data_and_remove_data("speed", DataType.INT64)
            sample["speed"] = 3
        elif self._change == "array":
            sample["speed"] = [1, 2]
        elif self._change == "none":
            sample = sample.get_empty_like_self()
        else:
            return sample.to_dictionary()
        return sample


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("field", "the sample has no field 'speed'"),
        ("dtype", "'speed' has the wrong dtype"),
        ("array", "'speed' has the wrong shape"),
        ("none", "'cameras.0.image' has no value. Assign one in `get_data`"),
        ("dict", "`get_data` returned a wrong type"),
    ],
)
def test_another_structure_is_an_error_of_its_sample(
    data: fr.Dataset, change: str, text: str
) -> None:
    wrong = fr.open_python(Wrong(change), data.schema, workers=0)
    loader = fr.Loader(wrong, 4, fields=["speed"])
    batches = iter(loader)
    next(batches)
    with pytest.raises(fr.CorruptError, match=text) as raised:
        next(batches)
    assert raised.value.record == 6
    assert len(next(batches)["speed"].numpy()) == 4


def test_a_sequence_sampler_feeds_the_loader_and_resumes(data: fr.Dataset) -> None:
    def loader() -> fr.Loader:
        sampler = SequenceSampler(2, [3, 4, 2, 3], seed=42)
        return fr.Loader(data, batch_sampler=sampler, fields=["index"])

    expected = [[9, 7], [10, 8], [11, 0], [3, 1], [4, 2], [5, 7], [6, 8], [9, 3], [10, 4]]
    batches = iter(loader())
    assert [next(batches)["index"].numpy().tolist() for _ in range(9)] == expected
    for at in (1, 4, 7):
        first = loader()
        begun = iter(first)
        for _ in range(at):
            next(begun)
        resumed = loader()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            resumed.load_state_dict(first.state_dict())
        rest = iter(resumed)
        assert [next(rest)["index"].numpy().tolist() for _ in range(9 - at)] == expected[at:]
        first.close()
        resumed.close()


def packed(folder: pathlib.Path, *words: str) -> subprocess.CompletedProcess[str]:
    paths = [str(SUPPORT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "fuelrail", "pack", *words],
        cwd=folder, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


CONFIGURED = """
import numpy as np
from fuelrail import fields as F
from python_datasets import Provider
class Configured(Provider):
    roles = {"*.bboxes": F.Boxes("xyxy", rows="objects"), "*.classes": F.Label(rows="objects"),
             "*.intrinsics": F.CameraMatrix()}
whole = Configured(6)
def of(folder):
    return Configured(6)
class Leaves(Configured):
    def get_data(self, sample_index):
        raise SystemExit(0)
none = [{"tags": []}]
class Far(list):
    roles = {"image": F.Image(), "boxes": F.Boxes("xyxy")}
far = Far([{"image": np.zeros((4, 4, 3), np.uint8), "boxes": np.full((1, 4), 100, np.float32)}])
"""


@pytest.mark.parametrize("encode", ["npy", "png"])
def test_a_packed_provider_gives_the_same_batches(
    data: fr.Dataset, tmp_path: pathlib.Path, encode: str
) -> None:
    (tmp_path / "configured.py").write_text(CONFIGURED)
    done = packed(tmp_path, "--provider", "configured:Configured", "x.rec", "--encode", encode)
    assert (done.returncode, done.stderr) == (0, "")
    assert "x.rec: 12 samples" in done.stdout
    file = fr.open(tmp_path / "x.rec")
    assert file.schema == data.schema
    ours, theirs = fr.Loader(data, 4, **OPTIONS), fr.Loader(file, 4, **OPTIONS)
    for _ in range(2):
        assert [bits(batch) for batch in ours] == [bits(batch) for batch in theirs]


def test_pack_takes_a_provider(data: fr.Dataset, tmp_path: pathlib.Path) -> None:
    fr.pack(Provider(), tmp_path / "x.rec", schema=data.schema)
    assert fr.open(tmp_path / "x.rec")[3]["scene"] == "scene 0 ☂"


def test_a_provider_may_say_its_roles(tmp_path: pathlib.Path) -> None:
    (tmp_path / "configured.py").write_text(CONFIGURED)
    script = "import configured, fuelrail; fuelrail.pack(configured.Configured(), 'x.rec')"
    environment = os.environ | {"PYTHONPATH": f"{SUPPORT}:{tmp_path}"}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)
    assert isinstance(fr.open(tmp_path / "x.rec").schema.fields["cameras.0.bboxes"], F.Boxes)


def test_the_command_has_help(tmp_path: pathlib.Path) -> None:
    for words in (["--provider", "--help"], ["--provider=a:b", "x.rec", "-h"]):
        done = packed(tmp_path, *words)
        assert done.returncode == 0
        assert "--provider MODULE:NAME" in done.stdout


def test_the_command_takes_an_object_and_writes_parts(tmp_path: pathlib.Path) -> None:
    (tmp_path / "configured.py").write_text(CONFIGURED)
    done = packed(tmp_path, "--provider=configured:whole", "x.rec", "--nsplit", "2")
    assert done.returncode == 0
    assert len(fr.open([tmp_path / "x.part000.rec", tmp_path / "x.part001.rec"])) == 6


@pytest.mark.parametrize(
    ("place", "code", "text"),
    [
        ("configured", 2, "MODULE:NAME"),
        ("nothing:Configured", 3, "cannot be imported"),
        ("configured:Configurd", 2, "Did you mean 'Configured'?"),
        ("configured:F", 2, "expected a class"),
        ("configured:of", 2, "missing a required argument: 'folder'"),
        ("configured:Leaves", 1, "the provider raised SystemExit: 0"),
        (".configured:Configured", 2, "MODULE:NAME"),
        ("configured:F.Boxes", 2, "cannot be called without arguments"),
        ("fuelrail.inputs:DataProvider", 2, "is an abstract class"),
        ("configured:none", 2, "Give the dataset an attribute schema = fr.Schema({"),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: pathlib.Path, place: str, code: int, text: str
) -> None:
    (tmp_path / "configured.py").write_text(CONFIGURED)
    done = packed(tmp_path, "--provider", place, "x.rec")
    assert done.returncode == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x.rec").exists()


def test_the_command_warns_without_a_line_of_code(tmp_path: pathlib.Path) -> None:
    (tmp_path / "configured.py").write_text(CONFIGURED)
    done = packed(tmp_path, "--provider", "configured:far", "x.rec")
    assert done.returncode == 0
    assert done.stderr.startswith("fuelrail: warning: x.rec: boxes of the field 'boxes' outside")
    assert done.stderr.count("\n") == 1


def test_the_command_stores_progressive_jpegs_as_baseline(tmp_path: pathlib.Path) -> None:
    jpeg = io.BytesIO()
    Image.new("RGB", (64, 48), "red").save(jpeg, "JPEG", progressive=True)
    (tmp_path / "photo.jpg").write_bytes(jpeg.getvalue())
    (tmp_path / "listed.py").write_text('photos = [{"image": open("photo.jpg", "rb").read()}]')
    done = packed(tmp_path, "--provider", "listed:photos", "x.rec", "--baseline")
    assert (done.returncode, done.stderr) == (0, "")
    assert "stored as baseline: 1\n" in done.stdout
    with Image.open(io.BytesIO(fr.open(tmp_path / "x.rec")[0]["image"])) as stored:
        assert stored.format == "JPEG"
        assert "progressive" not in stored.info


def test_strings_of_differing_length_arrive_unchanged() -> None:
    loader = fr.Loader(Provider(), 12, fields=["scene"])
    assert next(iter(loader))["scene"] == [f"scene {i // 4} ☂" for i in range(12)]


class Descending(SamplerBase):
    """Two batches of three samples in each epoch."""

    def __init__(self) -> None:
        self._left = 2

    def get_next_batch_indices(self) -> list[int]:
        if self._left == 0:
            raise StopIteration
        self._left -= 1
        return [self._left * 3 + k for k in (2, 1, 0)]

    @property
    def is_epoch_based(self) -> bool:
        return True

    def reset(self) -> None:
        self._left = 2

    @property
    def length(self) -> int | None:
        return 2

    @property
    def num_batches(self) -> int | None:
        return 2


def test_a_sampler_with_epochs_feeds_the_loader(data: fr.Dataset) -> None:
    loader = fr.Loader(data, batch_sampler=Descending(), fields=["index"])
    assert len(loader) == 2
    epoch = [[5, 4, 3], [2, 1, 0]]
    for _ in range(3):
        assert [batch["index"].numpy().tolist() for batch in loader] == epoch
    next(iter(loader))
    resumed = fr.Loader(data, batch_sampler=Descending(), fields=["index"])
    with pytest.warns(fr.FuelrailWarning, match="yields the same indices again"):
        resumed.load_state_dict(loader.state_dict())
    assert [batch["index"].numpy().tolist() for batch in resumed] == epoch[1:]


class Negative(Descending):
    def get_next_batch_indices(self) -> list[int]:
        return [-index for index in super().get_next_batch_indices()]


def test_an_index_of_a_sampler_does_not_count_from_the_end(data: fr.Dataset) -> None:
    with pytest.raises(fr.OutOfRangeError, match="the sampler drew an index below 0"):
        list(fr.Loader(data, batch_sampler=Negative(), fields=["index"]))


def test_each_rank_reads_its_slice_of_a_samplers_batches(data: fr.Dataset) -> None:
    def loader(rank: int, ranks: int, slots: int = 2) -> fr.Loader:
        sampler = SequenceSampler(slots, [3, 4, 2, 3], seed=42)
        return fr.Loader(data, batch_sampler=sampler, fields=["index"], rank=rank, world_size=ranks)

    ranks = [iter(loader(rank, 2)) for rank in (0, 1)]
    found = [[next(rank)["index"].numpy().tolist() for rank in ranks] for _ in range(4)]
    assert found == [[[9], [7]], [[10], [8]], [[11], [0]], [[3], [1]]]
    with pytest.raises(fr.InvalidArgumentError, match="cannot be divided among the ranks"):
        next(iter(loader(0, 2, slots=3)))
