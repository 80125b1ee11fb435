"""Memory formats, devices, and samples of the map-style dataset."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import fuelrail as fr
import many_fields
from fuelrail import transforms as T

torch = pytest.importorskip("torch")

from fuelrail.torch.tensors import SideStreamCopy, require_cuda, target_device  # noqa: E402

LIST = [T.RandomResizedCrop((20, 30)), T.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.1))]
NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="PyTorch has CUDA here")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("memory_format", [torch.channels_last, "channels_last"])
def test_channels_last_has_the_same_values_over_nhwc_memory(
    record_file: pathlib.Path, dtype: str, memory_format: object
) -> None:
    options = {"batch_size": 8, "transforms": LIST, "dtype": dtype}
    plain = fr.torch.DataLoader(record_file, memory_format=torch.contiguous_format, **options)
    last = fr.torch.DataLoader(record_file, memory_format=memory_format, **options)
    for (images, labels), (other, other_labels) in zip(plain, last, strict=True):
        assert other.shape == images.shape
        assert other.is_contiguous(memory_format=torch.channels_last)
        assert other.stride() == (20 * 30 * 3, 1, 30 * 3, 3)
        assert torch.equal(images, other)
        assert torch.equal(labels, other_labels)


def test_a_batch_held_until_the_end_of_the_program_is_let_go(
    record_file: pathlib.Path, python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    script = """
import sys
import fuelrail as fr
loader = fr.torch.DataLoader(sys.argv[1], 2, memory_format="channels_last")
batch = next(iter(loader))
"""
    done = python(script, record_file)
    assert (done.returncode, done.stderr) == (0, "")


def test_channels_last_of_a_list_and_of_other_columns(record_file: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(
        record_file,
        4,
        dtype="uint8",
        memory_format=torch.channels_last,
        fields=["image", "encoded", "id"],
    )
    images, encoded, ids = next(iter(loader))
    for image, data, i in zip(images, encoded, ids.tolist(), strict=True):
        expected = torch.from_numpy(loader.dataset[i].decode())
        assert torch.equal(image.permute(1, 2, 0), expected)
        assert image.stride()[0] == 1
        assert isinstance(data, bytes)


def test_channels_last_with_nhwc_is_refused(record_file: pathlib.Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match='channels_last` needs layout="NCHW"'):
        fr.torch.DataLoader(
            record_file, 4, transforms=LIST, layout="NHWC", memory_format="channels_last"
        )
    with pytest.raises(fr.InvalidArgumentError, match="Did you mean 'channels_last'"):
        fr.torch.DataLoader(record_file, 4, transforms=LIST, memory_format="chanels_last")
    with pytest.raises(fr.InvalidArgumentError, match="memory_format"):
        fr.torch.DataLoader(record_file, 4, memory_format=torch.channels_last_3d)


def test_tensors_come_as_dicts_and_go_through_batch_transforms(record_file: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(
        record_file,
        8,
        transforms=LIST,
        fields={"x": "image", "y": "label"},
        batch_transforms=[lambda batch: {**batch, "x": batch["x"] * 2}],
    )
    (plain, _), batch = next(iter(fr.torch.DataLoader(record_file, 8, transforms=LIST))), None
    batch = next(iter(loader))
    assert torch.equal(batch["x"], plain * 2)
    assert batch["y"].dtype == torch.int64


@NO_CUDA
@pytest.mark.parametrize("options", [{"device": "cuda"}, {"pin_memory": True}], ids=str)
def test_cuda_is_refused_where_there_is_none(
    record_file: pathlib.Path, options: dict[str, object]
) -> None:
    (option,) = options
    with pytest.raises(fr.UnsupportedError, match=f"`{option}` needs CUDA.*found PyTorch"):
        fr.torch.DataLoader(record_file, 4, transforms=LIST, **options)


class Stream:
    """A stream of FakeCuda."""

    def __init__(self, cuda: FakeCuda, device: torch.device, name: str) -> None:
        self.cuda, self.device, self.name = cuda, device, name

    def wait_stream(self, other: Stream) -> None:
        self.cuda.calls.append(f"{self.name} waits for {other.name}")


class FakeCuda:
    """The part of torch.cuda that copies use, without a GPU. Records calls and their streams."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, devices: int = 4) -> None:
        self.calls: list[str] = []
        self.current = 0  # the current device
        self.initialized = False
        self.fails: list[type[BaseException]] = []  # the errors of the next copies
        self.users = {i: Stream(self, torch.device("cuda", i), f"user {i}") for i in range(devices)}
        for name in ("Stream", "stream", "current_stream", "is_initialized"):
            monkeypatch.setattr(torch.cuda, name, getattr(self, f"_{name}"))
        monkeypatch.setattr(torch.cuda, "current_device", lambda: self.current)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: devices)
        monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: Pinned(self, tensor))

    def _is_initialized(self) -> bool:
        return self.initialized

    def _Stream(self, device: torch.device) -> Stream:  # noqa: N802
        self.initialized = True
        self.calls.append(f"a stream of {device}")
        return Stream(self, device, "side")

    def _current_stream(self, device: torch.device) -> Stream:
        assert device.index is not None
        return self.users[device.index]

    @contextlib.contextmanager
    def _stream(self, stream: Stream) -> Iterator[None]:
        before = self.current, self.users[stream.device.index]
        self.current, self.users[stream.device.index] = stream.device.index, stream
        try:
            yield
        finally:
            self.current, self.users[stream.device.index] = before

    def note(self, what: str) -> None:
        self.calls.append(f"{what} on {self.users[self.current].name}")


class Pinned:
    """A tensor that is first in page-locked memory, then on the device."""

    def __init__(self, cuda: FakeCuda, tensor: torch.Tensor) -> None:
        self.cuda, self.tensor = cuda, tensor
        cuda.note("lock pages")

    def to(self, device: torch.device, *, non_blocking: bool) -> Pinned:
        assert non_blocking
        self.cuda.note(f"copy to {device}")
        if self.cuda.fails:
            raise self.cuda.fails.pop()()
        return self

    def record_stream(self, stream: Stream) -> None:
        self.cuda.calls.append(f"keep for {stream.name}")


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    return FakeCuda(monkeypatch)


def test_a_device_is_decided_on(cuda: FakeCuda) -> None:
    assert target_device(None) is None
    assert target_device("cuda") == torch.device("cuda:0")
    assert target_device("cuda:3") == torch.device("cuda:3")
    assert target_device(torch.device("cuda", 1)) == torch.device("cuda:1")
    assert target_device(2) == torch.device("cuda:2")
    cuda.current = 2
    assert target_device("cuda") == torch.device("cuda:0"), "nobody can have set it"
    cuda.initialized = True
    assert target_device("cuda") == torch.device("cuda:2")
    require_cuda("device")


@pytest.mark.parametrize("device", ["cuda:99", 4, torch.device("cuda", 4)])
def test_a_device_that_is_not_there_is_refused_when_the_loader_is_made(
    record_file: pathlib.Path, cuda: FakeCuda, device: object
) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="device index below 4"):
        fr.torch.DataLoader(record_file, 4, transforms=LIST, device=device)


@pytest.mark.parametrize("device", [None, "cpu", torch.device("cpu"), "meta", "gpu"])
def test_cuda_is_not_asked_about_other_devices(
    record_file: pathlib.Path, monkeypatch: pytest.MonkeyPatch, device: object
) -> None:
    def asked(*arguments: object) -> None:
        raise AssertionError(arguments)

    for name in ("is_available", "device_count", "is_initialized", "current_device"):
        monkeypatch.setattr(torch.cuda, name, asked)
    with contextlib.suppress(fr.UnsupportedError, fr.InvalidArgumentError):
        next(iter(fr.torch.DataLoader(record_file, 4, transforms=LIST, device=device)))


def test_copies_are_made_on_the_side_stream_which_the_current_one_waits_for(cuda: FakeCuda) -> None:
    images, labels = torch.zeros(2, 3, 4, 4), torch.zeros(2)
    copy = SideStreamCopy(torch.device("cuda", 1))
    assert cuda.calls == []  # no CUDA context yet
    copied = copy([[images, images], b"encoded", labels])
    one = ["lock pages on side", "copy to cuda:1 on side", "keep for user 1"]
    assert cuda.calls == ["a stream of cuda:1", *one, *one, *one, "user 1 waits for side"]
    assert [type(column) for column in copied] == [list, bytes, Pinned]
    assert cuda.current == 0
    assert copied[2].tensor is labels
    copy([labels])
    assert cuda.calls.count("a stream of cuda:1") == 1


def test_text_is_not_copied_and_lists_of_lists_are(cuda: FakeCuda) -> None:
    frame = torch.zeros(3, 4, 4)
    copied = SideStreamCopy(torch.device("cuda", 1))([["one", ""], [["a"], []], [[frame], []]])
    assert copied[:2] == [["one", ""], [["a"], []]]
    assert copied[2][0][0].tensor is frame
    assert copied[2][1] == []


@pytest.mark.parametrize("options", [{"device": "cuda"}, {"pin_memory": True}], ids=str)
def test_batch_transforms_get_groups_in_which_every_tensor_was_copied(
    many_fields_file: pathlib.Path, cuda: FakeCuda, options: dict[str, object]
) -> None:
    def unwrapped(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: unwrapped(item) for key, item in value.items()}
        if isinstance(value, list):
            return [unwrapped(item) for item in value]
        return value if isinstance(value, str) else value.tensor  # every other value is Pinned

    loading = {"shuffle": True, **many_fields.OPTIONS}
    plain = list(fr.torch.DataLoader(many_fields_file, 10, **loading))
    copied = list(
        fr.torch.DataLoader(
            many_fields_file, 10, batch_transforms=[unwrapped], **loading, **options
        )
    )
    assert many_fields.bits(copied) == many_fields.bits(plain)
    assert sum("lock pages" in call for call in cuda.calls) == len(many_fields.arrays_of(plain))


def test_the_current_device_is_that_of_the_loaders_making(
    record_file: pathlib.Path, cuda: FakeCuda
) -> None:
    cuda.initialized, cuda.current = True, 2
    loader = fr.torch.DataLoader(record_file, 4, transforms=LIST, device="cuda", fields=["label"])
    cuda.current = 3
    next(iter(loader))
    assert cuda.calls[0] == "a stream of cuda:2"
    assert cuda.calls[-1] == "user 2 waits for side"


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [*range(30, 0, -1)]}], ids=str)
@pytest.mark.parametrize("error", [torch.OutOfMemoryError, KeyboardInterrupt])
def test_a_batch_that_could_not_be_copied_comes_with_the_next_call(
    record_file: pathlib.Path,
    cuda: FakeCuda,
    options: dict[str, object],
    error: type[BaseException],
) -> None:
    def make() -> fr.torch.DataLoader:
        return fr.torch.DataLoader(
            record_file, 8, transforms=LIST, device="cuda", fields=["image", "id"], **options
        )

    def ids(batch: tuple[Pinned, ...]) -> list[int]:
        found: list[int] = batch[1].tensor.tolist()
        return found

    expected = [ids(batch) for batch in make()]
    loader = make()
    iterator = iter(loader)
    found = []
    state = loader.state_dict()
    for batch in range(4):
        cuda.fails = [error] * (1 + batch % 2)
        for _ in range(1 + batch % 2):
            with pytest.raises(error):
                next(iterator)
            assert loader.state_dict() == state, "it was not handed out"
        again = make()
        again.load_state_dict(loader.state_dict())
        assert ids(next(iter(again))) == expected[batch]
        found.append(ids(next(iterator)))
        state = loader.state_dict()
    assert found == expected
    assert next(iterator, None) is None
    assert loader.state_dict()["epoch"] == 1

    iterator = iter(loader)
    cuda.fails = [error]
    with pytest.raises(error):
        next(iterator)
    loader.set_epoch(0)
    with pytest.raises(fr.StateError, match="this iterator has expired"):
        next(iterator)
    assert [ids(batch) for batch in loader] == expected


@pytest.mark.parametrize(
    ("device", "kind", "match"),
    [
        ("cuda", fr.UnsupportedError, "`device` needs CUDA"),
        ("meta", fr.UnsupportedError, "found 'meta'"),
        ("gpu", fr.InvalidArgumentError, "`device` is invalid"),
        (True, fr.ArgumentTypeError, "`device` has the wrong type"),
        (1.5, fr.ArgumentTypeError, "`device` has the wrong type"),
        (-1, fr.InvalidArgumentError, "`device` is invalid"),
    ],
)
def test_a_bad_device_is_refused(
    monkeypatch: pytest.MonkeyPatch, device: object, kind: type[fr.Error], match: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(kind, match=match):
        target_device(device)


def test_the_cpu_is_a_device(record_file: pathlib.Path) -> None:
    images, _ = next(iter(fr.torch.DataLoader(record_file, 2, transforms=LIST, device="cpu")))
    assert images.device.type == "cpu"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "uint8"])
def test_the_map_dataset_has_the_loaders_types_and_formats(
    record_file: pathlib.Path, dtype: str
) -> None:
    options = {
        "transforms": LIST[:1],
        "dtype": dtype,
        "memory_format": torch.channels_last,
        "fields": ["image", "label"],
    }
    samples = fr.torch.MapDataset(record_file, **options)
    for (images, labels), begin in zip(
        fr.torch.DataLoader(record_file, 8, **options), range(0, 31, 8), strict=True
    ):
        columns = samples.__getitems__(range(begin, begin + len(images))).columns
        assert columns[0].dtype == getattr(torch, dtype)
        assert columns[0].is_contiguous(memory_format=torch.channels_last)
        assert torch.equal(columns[0], images)
        assert torch.equal(columns[1], labels)


def test_the_map_datasets_images_may_differ_in_size(record_file: pathlib.Path) -> None:
    samples = fr.torch.MapDataset(record_file, dtype="uint8", fields=["image", "encoded", "label"])
    batch = samples.__getitems__([3, 1])
    assert len(batch) == 2
    for (image, encoded, label), i in zip(batch, (3, 1), strict=True):
        expected = torch.from_numpy(fr.open(record_file)[i].decode()).permute(2, 0, 1)
        assert torch.equal(image, expected)
        assert encoded == fr.open(record_file)[i].image
        assert label.item() == fr.open(record_file)[i].label
    images, _, _ = fr.torch.collate(batch)
    assert isinstance(images, list)
