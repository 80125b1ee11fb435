"""Benzina's transforms, called one by one. The expected matrices of the first tests are from
Benzina 0.0.5."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
import fuelrail.benzina.torch.operations as ops

IMAGE, OUTPUT = (512, 384), (224, 224)
IDENTITY = (1, 0, 0, 0, 1, 0, 0, 0, 1)


def random_state(seed: int = 0) -> np.random.RandomState:
    return np.random.RandomState(seed)


def draws(
    transform: Any, count: int, image: tuple[int, int] = IMAGE, output: tuple[int, int] = OUTPUT
) -> np.ndarray:
    """The matrices of `count` samples, of shape (count, 3, 3)."""
    rng = random_state(1)
    return np.array([transform(i, image, output, rng) for i in range(count)]).reshape(-1, 3, 3)


def matrix(transform: Any, image: tuple[int, int], output: tuple[int, int]) -> np.ndarray:
    return draws(transform, 1, image, output)[0]


def affine(*six: float) -> np.ndarray:
    return np.array([*six, 0, 0, 1]).reshape(3, 3)


def centres(warps: np.ndarray, output: tuple[int, int] = OUTPUT) -> np.ndarray:
    """The pixels of the image that the centre of the output shows, of shape (count, 2)."""
    return (warps @ [(output[0] - 1) / 2, (output[1] - 1) / 2, 1])[:, :2]


# --- Benzina's numbers ---


def test_three_training_samples_of_the_documented_example() -> None:
    warp = ops.SimilarityTransform(
        scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), flip_h=0.5, random_crop=True
    )
    rng = random_state(1234)
    for expected in (
        affine(0.7385730981, 0, 151.5680480762, 0, 0.6884640283, 180.3071140956),
        affine(-1.6929009022, 0, 419.8963711280, 0, 1.6919318931, 3.9146474116),
        affine(1.7644282416, 0, 9.1843365137, 0, 1.6510837194, 5.5470743575),
    ):
        drawn = np.reshape(warp(0, IMAGE, OUTPUT, rng), (3, 3))
        np.testing.assert_allclose(drawn, expected, rtol=0, atol=1e-10)


def test_validation_crop_of_the_documented_example() -> None:
    drawn = matrix(ops.CenterResizedCrop(224 / 256), IMAGE, OUTPUT)
    np.testing.assert_allclose(drawn, affine(1.5, 0, 88.25, 0, 1.5, 24.25), atol=1e-12)


def test_crop_that_does_not_fit_is_central_and_leaves_the_transform_unchanged() -> None:
    warp = ops.RandomResizedCrop(scale=(1, 1))
    rng = random_state(0)
    drawn = np.reshape(warp(0, (512, 100), OUTPUT, rng), (3, 3))
    expected = affine(0.59375, 0, 189.296875, 0, 0.4464285714, -0.2767857143)
    np.testing.assert_allclose(drawn, expected, atol=1e-10)
    assert warp.random_crop
    later = ops.RandomResizedCrop(scale=(0.1, 0.1))
    places = [centres(np.reshape(later(i, IMAGE, OUTPUT, rng), (1, 3, 3))) for i in range(20)]
    assert np.unique(places, axis=0).shape[0] == 20


def test_affine_matrices() -> None:
    crop = (10, -10, 40, 20)
    np.testing.assert_allclose(
        ops.compute_affine_matrix((256, 144), (144, 256), crop, 90, resize=True),
        affine(0, -0.15625, 157.421875, 0.1388888888888889, 0, 51.569444444444444),
        atol=1e-12,
    )
    made = ops.compute_affine_matrix((256, 144), (64, 36), crop, flip_h=True)
    assert made.shape == (3, 3)
    assert made.dtype == np.float64
    np.testing.assert_array_equal(made, affine(-1, 0, 149, 0, 1, 44))


# --- What each argument does ---


def test_without_arguments_an_image_of_the_output_size_is_unchanged() -> None:
    np.testing.assert_array_equal(
        matrix(ops.SimilarityTransform(), (256, 144), (256, 144)), np.eye(3)
    )
    np.testing.assert_array_equal(ops.compute_affine_matrix((7, 5), (7, 5)), np.eye(3))


@pytest.mark.parametrize(
    ("image", "output", "x", "y"),
    [((256, 144), (64, 36), 96, 54), ((64, 36), (256, 144), -96, -54), ((11, 8), (4, 5), 3.5, 1.5)],
)
def test_without_arguments_the_centre_is_cropped(
    image: tuple[int, int], output: tuple[int, int], x: float, y: float
) -> None:
    expected = affine(1, 0, x, 0, 1, y)
    np.testing.assert_array_equal(matrix(ops.SimilarityTransform(), image, output), expected)


def test_scale_is_of_the_area_and_stretches_the_crop_to_the_output() -> None:
    drawn = matrix(ops.SimilarityTransform(scale=(0.25, 0.25)), (256, 144), (64, 72))
    np.testing.assert_allclose(drawn, affine(2, 0, 64.5, 0, 1, 36), atol=1e-12)
    scales = np.linalg.det(draws(ops.SimilarityTransform(scale=2), 300, (100, 100), (100, 100)))
    assert 0.5 < scales.min() < 0.6
    assert 1.6 < scales.max() < 2
    assert 120 < (scales > 1).sum() < 180  # log-uniform


@pytest.mark.parametrize("ratio", [16 / 9, 2.0, 0.5])
def test_ratio_is_of_width_to_height_of_the_crop(ratio: float) -> None:
    warp = ops.SimilarityTransform(scale=(0.2, 0.2), ratio=(ratio, ratio))
    drawn = matrix(warp, (400, 400), (100, 100))
    assert drawn[0, 0] / drawn[1, 1] == pytest.approx(ratio)
    assert np.linalg.det(drawn) * 100 * 100 == pytest.approx(0.2 * 400 * 400)
    np.testing.assert_allclose(centres(drawn[None], (100, 100)), [[199.5, 199.5]])


def test_a_single_ratio_is_an_interval() -> None:
    warp = ops.SimilarityTransform(scale=(0.1, 0.1), ratio=0.5)
    drawn = draws(warp, 300, (400, 400), (100, 100))
    ratios = drawn[:, 0, 0] / drawn[:, 1, 1]
    assert 0.5 < ratios.min() < 0.55
    assert 1.85 < ratios.max() < 2


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [
        (90, affine(0, -1, 199, 1, 0, -56)),
        (-90, affine(0, 1, 56, -1, 0, 199)),
        (180, affine(-1, 0, 255, 0, -1, 143)),
    ],
)
def test_rotation_is_about_the_centre(degrees: float, expected: np.ndarray) -> None:
    warp = ops.SimilarityTransform(degrees=(degrees, degrees))
    np.testing.assert_array_equal(matrix(warp, (256, 144), (256, 144)), expected)


def test_a_single_angle_is_an_interval() -> None:
    drawn = draws(ops.SimilarityTransform(degrees=30), 300)
    angles = np.degrees(np.arctan2(drawn[:, 1, 0], drawn[:, 0, 0]))
    assert -30 < angles.min() < -28
    assert 28 < angles.max() < 30


def test_rotated_square_is_resized_to_the_box_of_its_corners() -> None:
    made = ops.compute_affine_matrix((400, 400), (100, 100), (0, 0, 100, 100), 45, resize=True)
    half = np.sqrt(2) * np.sqrt(0.5)
    np.testing.assert_allclose(made[:2, :2], [[half, -half], [half, half]], atol=1e-12)


@pytest.mark.parametrize("translate", [(0.1, 0.4), 0.25])
def test_translation_is_a_fraction_of_the_output(translate: Any) -> None:
    drawn = draws(ops.SimilarityTransform(translate=translate), 300, (300, 300), (100, 200))
    shifts = centres(drawn, (100, 200)) - 149.5
    most = np.broadcast_to(translate, 2) * (100, 200)
    assert (np.abs(shifts) <= most).all()
    assert (np.abs(shifts).max(axis=0) > 0.9 * most).all()


def test_translation_is_scaled_with_the_crop() -> None:
    made = ops.compute_affine_matrix(
        (100, 100), (50, 50), (0, 0, 100, 100), translate=(3, -4), resize=True
    )
    np.testing.assert_array_equal(made, affine(2, 0, 6.5, 0, 2, -7.5))


def test_flips_mirror_the_image_with_a_probability() -> None:
    both = matrix(ops.SimilarityTransform(flip_h=True, flip_v=np.True_), (256, 144), (256, 144))
    np.testing.assert_array_equal(both, affine(-1, 0, 255, 0, -1, 143))
    drawn = draws(ops.SimilarityTransform(flip_h=0.3, flip_v=0.8), 500)
    assert 110 < (drawn[:, 0, 0] < 0).sum() < 190
    assert 360 < (drawn[:, 1, 1] < 0).sum() < 440


def test_resize_stretches_the_image_unless_it_keeps_its_ratio() -> None:
    stretched = matrix(ops.SimilarityTransform(resize=True), (256, 144), (64, 72))
    np.testing.assert_allclose(stretched, affine(4, 0, 1.5, 0, 2, 0.5))
    kept = matrix(ops.SimilarityTransform(resize=True, keep_ratio=True), (256, 144), (64, 72))
    np.testing.assert_allclose(kept, affine(2, 0, 64.5, 0, 2, 0.5))
    ignored = matrix(ops.SimilarityTransform(keep_ratio=True), (256, 144), (64, 72))
    np.testing.assert_array_equal(ignored, affine(1, 0, 96, 0, 1, 36))


def test_random_crops_stay_inside_the_image_and_reach_its_edges() -> None:
    drawn = draws(ops.SimilarityTransform(random_crop=True), 500, (256, 144), (100, 100))
    lefts, tops = drawn[:, 0, 2], drawn[:, 1, 2]
    assert 0 <= lefts.min() < 3
    assert 153 < lefts.max() <= 156
    assert 0 <= tops.min() < 1
    assert 43 < tops.max() <= 44
    larger = draws(ops.SimilarityTransform(random_crop=True), 5, (50, 144), (100, 100))
    np.testing.assert_array_equal(larger[:, 0, 2], -25)


def test_all_arguments_together_show_the_crop_rotated_and_mirrored() -> None:
    warp = ops.SimilarityTransform(
        scale=(0.1, 0.5),
        ratio=(0.5, 2),
        degrees=180,
        translate=0.1,
        flip_h=0.5,
        flip_v=0.5,
        random_crop=True,
    )
    drawn = draws(warp, 200, (300, 200), (64, 64))
    assert (drawn[:, 2] == [0, 0, 1]).all()
    assert np.unique(np.sign(np.linalg.det(drawn))).tolist() == [-1, 1]
    assert (centres(drawn, (64, 64)) > -50).all()
    assert (centres(drawn, (64, 64)) < 350).all()


# --- The protocol ---


def test_arguments_of_width_and_height_are_not_exchanged() -> None:
    drawn = matrix(ops.CenterResizedCrop(keep_ratio=False), (200, 100), (50, 100))
    np.testing.assert_allclose(drawn, affine(4, 0, 1.5, 0, 1, 0), atol=1e-12)


def test_a_random_state_continues_as_if_numpy_had_drawn() -> None:
    rng, same = random_state(3), random_state(3)
    rng.randn()
    same.randn()
    ops.SimilarityTransform()(0, IMAGE, OUTPUT, rng)
    same.uniform(size=6)
    assert [rng.randint(2**32), rng.randn()] == [same.randint(2**32), same.randn()]
    state = rng.get_state()
    ops.ConstantWarpTransform()(0, IMAGE, OUTPUT, rng)
    np.testing.assert_equal(rng.get_state(), state)


def test_generators_that_are_not_the_legacy_one_are_rejected() -> None:
    for rng in (np.random.RandomState(np.random.PCG64(0)), np.random.default_rng(0), None):
        with pytest.raises(fr.InvalidArgumentError, match="RandomState with the generator MT19937"):
            ops.RandomResizedCrop()(0, IMAGE, OUTPUT, rng)  # type: ignore[arg-type]


def test_constants_are_what_was_passed() -> None:
    def called(transform: Any) -> Any:
        return transform(0, IMAGE, OUTPUT, None)

    for given in (None, IDENTITY, np.eye(3), [float(x) for x in IDENTITY]):
        assert called(ops.ConstantWarpTransform(given)) == IDENTITY
    for kind, default in (
        (ops.ConstantNormTransform, 1),
        (ops.ConstantBiasTransform, 0),
        (ops.ConstantOOBTransform, 0),
    ):
        assert called(kind()) == called(kind(None)) == (default,) * 3
        assert called(kind(2.5)) == called(kind(np.float32(2.5))) == (2.5, 2.5, 2.5)
        assert called(kind([1, 2, 3])) == called(kind(np.arange(1, 4))) == (1, 2, 3)
        assert called(kind(x for x in (1, 2, 3))) == (1, 2, 3)
    assert called(ops.ConstantColorTransform()) == called(ops.ConstantColorTransform(None)) == (0,)
    assert called(ops.ConstantColorTransform(2)) == called(ops.ConstantColorTransform((2,))) == (2,)


@pytest.mark.parametrize(
    "base",
    [
        ops.WarpTransform,
        ops.NormTransform,
        ops.BiasTransform,
        ops.OOBTransform,
        ops.ColorTransform,
    ],
)
def test_base_classes_raise(base: Callable[[], Any]) -> None:
    with pytest.raises(NotImplementedError, match="Define `__call__"):
        base()(0, IMAGE, OUTPUT, None)


def test_standard_deviations_divide() -> None:
    std = [0.229 * 255, 0.224 * 255, 0.225 * 255]
    assert ops.ConstantNormTransform.from_std(std).norm == tuple(1 / x for x in std)
    assert ops.ConstantNormTransform.from_std(2).norm == (0.5, 0.5, 0.5)
    for bad in (0, [1, 0, 1], -1, float("nan")):
        with pytest.raises(fr.InvalidArgumentError, match="`std` is out of range"):
            ops.ConstantNormTransform.from_std(bad)


def test_a_norm_that_looks_like_a_standard_deviation_warns() -> None:
    with pytest.warns(fr.FuelrailWarning, match="ConstantNormTransform.from_std") as caught:
        ops.ConstantNormTransform((0.229 * 255, 57.12, 57.375))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ops.ConstantNormTransform(10)


# --- Composition ---


class Shift(ops.WarpTransform):
    """A user's own transform."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(
        self, index: int, in_shape: Any, out_shape: Any, rng: np.random.RandomState
    ) -> tuple[float, ...]:
        self.calls.append((index, in_shape, out_shape))
        return (1, 0, rng.uniform(-5, 5), 0, 1, 0, 0, 0, 1)


def test_composed_warps_are_a_product() -> None:
    crop, turn = ops.CenterResizedCrop(0.5), ops.SimilarityTransform(degrees=30)
    rng, same = random_state(5), random_state(5)
    both = np.reshape(ops.Compose([crop, turn])(0, IMAGE, OUTPUT, rng), (3, 3))
    first = np.reshape(crop(0, IMAGE, OUTPUT, same), (3, 3))
    second = np.reshape(turn(0, OUTPUT, OUTPUT, same), (3, 3))
    np.testing.assert_allclose(both, first @ second, rtol=1e-14)
    np.testing.assert_equal(rng.get_state(), same.get_state())
    assert ops.Compose([])(0, IMAGE, OUTPUT, rng) == IDENTITY


def test_own_warps_compose_with_built_in_ones() -> None:
    shift = Shift()
    nested = ops.Compose([ops.RandomResizedCrop(), ops.Compose([shift, ops.CenterResizedCrop()])])
    rng, same = random_state(5), random_state(5)
    whole = np.reshape(nested(7, IMAGE, OUTPUT, rng), (3, 3))
    first = np.reshape(ops.RandomResizedCrop()(7, IMAGE, OUTPUT, same), (3, 3))
    expected = first @ affine(1, 0, same.uniform(-5, 5), 0, 1, 0)
    np.testing.assert_allclose(whole, expected, rtol=1e-12)
    assert shift.calls == [(7, OUTPUT, OUTPUT)]


def test_transforms_can_be_copied_pickled_and_derived() -> None:
    class Padded(ops.RandomResizedCrop):
        def __init__(self) -> None:
            super().__init__(scale=(0.5, 1))
            self.note = "own"

    warp = ops.RandomResizedCrop(scale=(0.5, 1))
    for other in (copy.deepcopy(warp), pickle.loads(pickle.dumps(warp)), Padded()):
        np.testing.assert_array_equal(draws(other, 3), draws(warp, 3))


# --- Invalid arguments ---

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: ops.ConstantWarpTransform((1, 2, 0, 2, 4, 0, 0, 0, 1)), "the warp is invalid"),
        (lambda: ops.ConstantWarpTransform((1, 0, NAN, 0, 1, 0, 0, 0, 1)), "the warp is invalid"),
        (lambda: ops.ConstantWarpTransform((1, 0, INF, 0, 1, 0, 0, 0, 1)), "the warp is invalid"),
        (lambda: ops.SimilarityTransform(scale=0), "`scale` is out of range"),
        (lambda: ops.SimilarityTransform(scale=(-1, 1)), "`scale` is out of range"),
        (lambda: ops.SimilarityTransform(ratio=-2), "`ratio` is out of range"),
        (lambda: ops.SimilarityTransform(ratio=(1, NAN)), "`ratio` is out of range"),
        (lambda: ops.SimilarityTransform(degrees=-5), "`degrees` is out of range"),
        (lambda: ops.SimilarityTransform(degrees=(0, INF)), "`degrees` is out of range"),
        (lambda: ops.SimilarityTransform(translate=1.5), "`translate` is out of range"),
        (lambda: ops.SimilarityTransform(translate=(0, -0.1)), "`translate` is out of range"),
        (lambda: ops.SimilarityTransform(flip_h=1.5), "`flip_h` is out of range"),
        (lambda: ops.SimilarityTransform(flip_v=NAN), "`flip_v` is out of range"),
        (lambda: ops.CenterResizedCrop(-0.5), "`scale` is out of range"),
        (lambda: ops.compute_affine_matrix((0, 4), (4, 4)), "`in_shape` is out of range"),
        (lambda: ops.compute_affine_matrix((4, 4), (4, 0)), "`out_shape` is out of range"),
        (lambda: ops.compute_affine_matrix((4, 4), (4, 4, 4)), "`out_shape` is invalid"),
        (lambda: ops.compute_affine_matrix((4, 4), (4, 4), degrees=NAN), "`degrees` is out of"),
        (
            lambda: ops.compute_affine_matrix((4, 4), (4, 4), (0, 0, 0, 4), resize=True),
            "`crop` is out of range",
        ),
        (
            lambda: ops.compute_affine_matrix((4, 4), (4, 4), translate=(INF, 0)),
            "the warp is invalid",
        ),
        (
            lambda: ops.RandomResizedCrop()(0, (0, 4), OUTPUT, random_state()),
            "`in_shape` is out of range",
        ),
    ],
)
def test_values_out_of_range_are_rejected(make: Callable[[], Any], named: str) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=named) as caught:
        make()
    assert not isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: ops.ConstantWarpTransform(1), "`warp` has the wrong type: expected 9 numbers"),  # type: ignore[arg-type]
        (lambda: ops.ConstantWarpTransform((1, 2, 3)), "expected 9 numbers"),
        (lambda: ops.ConstantNormTransform((1, 2)), "expected a number or 3 numbers"),
        (lambda: ops.ConstantBiasTransform("abc"), "`bias` has the wrong type"),  # type: ignore[arg-type]
        (lambda: ops.ConstantOOBTransform([1, "b", 3]), "`oob` has the wrong type"),  # type: ignore[list-item]
        (lambda: ops.ConstantColorTransform(2.5), "the index of the color matrix has the"),  # type: ignore[arg-type]
        (lambda: ops.ConstantColorTransform((1, 2)), "the index of the color matrix has the"),
        (lambda: ops.SimilarityTransform(scale="a"), "`scale` has the wrong type"),  # type: ignore[arg-type]
        (lambda: ops.SimilarityTransform(scale=(1, 2, 3)), "expected 2 numbers"),
        (lambda: ops.SimilarityTransform(resize=2), "`resize` has the wrong type"),  # type: ignore[arg-type]
        (lambda: ops.Compose([1]), "expected a WarpTransform"),  # type: ignore[list-item]
        (
            lambda: ops.RandomResizedCrop()(0, (4.5, 4), OUTPUT, random_state()),
            "`in_shape` has the",
        ),  # type: ignore[arg-type]
    ],
)
def test_values_of_the_wrong_type_are_rejected(make: Callable[[], Any], named: str) -> None:
    with pytest.raises(fr.InvalidArgumentError, match=named) as caught:
        make()
    assert isinstance(caught.value, TypeError)
