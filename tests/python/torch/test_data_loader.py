from __future__ import annotations

import pathlib
from collections.abc import Callable

import numpy as np
import pytest

import fuelrail as fr
import many_fields
from fuelrail import transforms as T
from photographs import encoded, photograph

torch = pytest.importorskip("torch")

CROP = [T.CenterCrop(4)]


def test_it_yields_tensors_that_equal_the_loaders_arrays(tiny_file: pathlib.Path) -> None:
    options = {"shuffle": True, "seed": 4, "transforms": CROP}
    ours = fr.Loader(tiny_file, 10, **options)
    theirs = fr.torch.DataLoader(tiny_file, batch_size=10, **options)
    assert len(theirs) == 10
    for (image, label), (image_tensor, label_tensor) in zip(ours, theirs, strict=True):
        assert isinstance(image_tensor, torch.Tensor)
        assert image_tensor.dtype == torch.float32
        assert label_tensor.dtype == torch.int64
        np.testing.assert_array_equal(image_tensor.numpy(), image.numpy())
        np.testing.assert_array_equal(label_tensor.numpy(), label.numpy())


@pytest.mark.parametrize("options", [{}, {"device": "cpu"}], ids=str)
def test_tensors_of_many_fields_equal_the_loaders_arrays(
    many_fields_file: pathlib.Path, options: dict[str, object]
) -> None:
    order = {"shuffle": True, "seed": 4, **many_fields.OPTIONS}
    ours = fr.Loader(many_fields_file, 10, **order)
    theirs = fr.torch.DataLoader(many_fields_file, 10, **order, **options)
    for arrays, tensors in zip(ours, theirs, strict=True):
        assert all(isinstance(each, torch.Tensor) for each in many_fields.arrays_of(tensors))
        assert many_fields.bits(tensors) == many_fields.bits(arrays)


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
def test_every_column_becomes_a_tensor(tiny_file: pathlib.Path) -> None:
    fields = ["image", "label", "id", "position", "valid"]
    loader = fr.torch.DataLoader(
        tiny_file, 48, transforms=CROP, fields=fields, dtype=torch.float16, rank=1, world_size=2
    )
    *_, full, empty = loader
    for batch in (full, empty):
        assert [tensor.dtype for tensor in batch] == [
            torch.float16,
            torch.int64,
            torch.int64,
            torch.int64,
            torch.bool,
        ]
    assert empty[0].shape == (0, 3, 4, 4)


def test_labels_that_are_not_whole_are_float32(make_file: Callable[..., pathlib.Path]) -> None:
    file = make_file([encoded(photograph(1, 20, 20))] * 2, [(0.5, 1), (2, 3)])
    _, labels = next(iter(fr.torch.DataLoader(file, 2, transforms=CROP)))
    assert labels.tolist() == [[0.5, 1.0], [2.0, 3.0]]
    assert labels.dtype == torch.float32


def test_a_tensor_can_be_trained_on(tiny_file: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(tiny_file, 16, shuffle=True, transforms=CROP)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert np.isfinite(losses).all()


def test_a_state_goes_through_torch_save(tiny_file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    loader = fr.torch.DataLoader(tiny_file, 10, transforms=CROP, fields=["id"])
    next(iter(loader))
    torch.save(loader.state_dict(), tmp_path / "state.pt")
    again = fr.torch.DataLoader(tiny_file, 10, transforms=CROP, fields=["id"])
    again.load_state_dict(torch.load(tmp_path / "state.pt"))
    assert next(iter(again))[0].tolist() == list(range(10, 20))
