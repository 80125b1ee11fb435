"""The parameters of whole batches: drawn by the core, or by calls for each sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fuelrail as fr
import fuelrail.benzina.torch.operations as ops
from fuelrail.benzina.torch.row_transforms import RowTransforms

SIZES = np.random.RandomState(0).randint(1, 700, (50, 2))
SHAPE = (96, 224)  # (height, width)


def training(**changed: Any) -> RowTransforms:
    transforms: dict[str, Any] = {
        "warp": ops.Compose([ops.RandomResizedCrop(), ops.SimilarityTransform(degrees=10)]),
        "color": ops.ConstantColorTransform(1),
        "bias": ops.ConstantBiasTransform((123.675, 116.28, 103.53)),
        "norm": ops.ConstantNormTransform.from_std((58.395, 57.12, 57.375)),
        "oob": ops.ConstantOOBTransform(float("nan")),
    }
    return RowTransforms(**{**transforms, **changed})


def drawn(transforms: RowTransforms, seed: int = 1234) -> tuple[np.ndarray, Any]:
    """A batch's parameters, and the state of the random numbers after them."""
    rng = np.random.RandomState(seed)
    rows = transforms.draw(range(1000, 1000 + len(SIZES)), lambda _: SIZES, SHAPE, rng)
    return rows, rng.get_state()


class OwnBias(ops.BiasTransform):
    def __init__(self, *, draws: bool = False) -> None:
        self.draws = draws
        self.calls: list[Any] = []

    def __call__(self, index: int, in_shape: Any, out_shape: Any, rng: Any) -> Any:
        self.calls.append((index, in_shape, out_shape))
        return rng.uniform(0, 9, 3) if self.draws else (123.675, 116.28, 103.53)


def test_a_batch_of_the_core_equals_calls_for_each_sample() -> None:
    own = OwnBias()
    rows, state = drawn(training())
    called, called_state = drawn(training(bias=own))
    assert rows.dtype == called.dtype == np.float32
    assert rows.shape == (50, 19)
    np.testing.assert_array_equal(rows, called)
    np.testing.assert_equal(state, called_state)
    width, height = SIZES[3].tolist()
    assert own.calls[3] == (1003, (width, height), (224, 96))
    assert {type(number) for number in own.calls[3][1]} == {int}


def test_a_row_has_warp_color_bias_norm_and_out_of_bounds() -> None:
    rows, _ = drawn(training(warp=ops.ConstantWarpTransform((1, 2, 3, 4, 5, 6, 7, 8, 10))))
    expected = [1, 2, 3, 4, 5, 6, 7, 8, 10, 1, 123.675, 116.28, 103.53]
    expected += [1 / 58.395, 1 / 57.12, 1 / 57.375, np.nan, np.nan, np.nan]
    np.testing.assert_array_equal(rows, np.tile(np.float32(expected), (50, 1)))


def test_transforms_draw_in_turn_for_each_sample() -> None:
    rows, _ = drawn(training(bias=OwnBias(draws=True)))
    rng = np.random.RandomState(1234)
    warp = training().warp
    for i, size in enumerate(SIZES):
        expected = warp(i, size.tolist(), (224, 96), rng)
        np.testing.assert_array_equal(rows[i, :9], np.float32(expected))
        np.testing.assert_array_equal(rows[i, 10:13], np.float32(rng.uniform(0, 9, 3)))


def test_numbers_that_are_not_square_are_warped_right() -> None:
    rows, _ = drawn(training(warp=ops.CenterResizedCrop(keep_ratio=False)))
    np.testing.assert_allclose(rows[:, 0], SIZES[:, 0] / 224, rtol=1e-6)
    np.testing.assert_allclose(rows[:, 4], SIZES[:, 1] / 96, rtol=1e-6)


def test_sizes_are_only_asked_for_if_a_transform_may_need_them() -> None:
    def no_sizes(_: Any) -> Any:
        raise AssertionError("the sizes were asked for")

    constant = ops.Compose([ops.ConstantWarpTransform(), ops.ConstantWarpTransform()])
    rng = np.random.RandomState(0)
    assert training(warp=constant).draw(range(3), no_sizes, SHAPE, rng).shape == (3, 19)
    for changed in ({}, {"bias": OwnBias(), "warp": constant}):
        with pytest.raises(AssertionError, match="asked for"):
            training(**changed).draw(range(3), no_sizes, SHAPE, rng)


def test_derived_classes_with_their_own_call_are_called() -> None:
    class Halved(ops.ConstantNormTransform):
        def __call__(self, *arguments: Any) -> tuple[float, ...]:
            return tuple(number / 2 for number in super().__call__(*arguments))

    class Mirrored(ops.SimilarityTransform):
        def __call__(self, *arguments: Any) -> tuple[float, ...]:
            return tuple(-number for number in super().__call__(*arguments))

    class Named(ops.RandomResizedCrop):
        pass

    rows, _ = drawn(training(norm=Halved(4), warp=Mirrored()))
    assert (rows[:, 13:16] == 2).all()
    assert (rows[:, 0] == -1).all()
    np.testing.assert_array_equal(
        drawn(training(warp=Named()))[0], drawn(training(warp=ops.RandomResizedCrop()))[0]
    )


def test_a_users_matrix_is_not_checked() -> None:
    class Broken(ops.WarpTransform):
        def __call__(self, *arguments: Any) -> Any:
            return np.full((3, 3), np.nan)

    rows, _ = drawn(training(warp=Broken()))
    assert np.isnan(rows[:, :9]).all()


@pytest.mark.parametrize("result", [(1, 2), None, 3.0, "abc", (1, 2, "c")])
def test_results_of_the_wrong_kind_are_rejected(result: Any) -> None:
    class Wrong(ops.BiasTransform):
        def __call__(self, *arguments: Any) -> Any:
            return result

    with pytest.raises(fr.InvalidArgumentError, match="the result of Wrong"):
        drawn(training(bias=Wrong()))


def test_a_batch_may_be_empty() -> None:
    for bias in (OwnBias(), ops.ConstantBiasTransform()):
        transforms = training(bias=bias)
        rng = np.random.RandomState(0)
        assert transforms.draw([], lambda _: np.empty((0, 2), np.int64), SHAPE, rng).shape == (
            0,
            19,
        )


def test_an_image_without_pixels_is_rejected() -> None:
    with pytest.raises(fr.InvalidArgumentError, match="`in_shape` is out of range"):
        training().draw(
            [0, 1], lambda _: np.array([(4, 4), (4, 0)]), SHAPE, np.random.RandomState(0)
        )
