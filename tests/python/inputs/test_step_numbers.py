"""The arithmetic of processing steps, in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fuelrail import transforms as T
from fuelrail.inputs.processing_steps import AffineTransformer, affine_steps
from fuelrail.inputs.processing_steps import bev_bboxes_transformer_3d as bev
from fuelrail.inputs.processing_steps.affine_transformer import transformation
from fuelrail.inputs.processing_steps.colors import PERMUTATIONS, color_matrix
from fuelrail.inputs.processing_steps.heatmaps import HeatmapOptions, draw_gaussian, heatmap_of
from fuelrail.inputs.processing_steps.photo_metric_distorter import changes
from fuelrail.inputs.processing_steps.point_steps import are_inside, clipped
from fuelrail.inputs.processing_steps.visible_bbox_selector import (
    are_large,
    are_not_hidden,
    are_visible,
)

SIZE = np.array([110.0, 100.0])  # width and height
A = AffineTransformer


def matrix_of(*steps: affine_steps.TransformationStep, draws: float = 0.5) -> np.ndarray:
    matrix = np.eye(3)
    for step in steps:
        matrix = step(matrix, SIZE, iter([draws] * step.draws))
    return matrix


# --- Affine transformations ---


@pytest.mark.parametrize(
    ("step", "transform"),
    [
        (A.Rotation(1.0, 30.0), T.RandomAffine((-30, -30))),
        (A.UniformScaling(1.0, 1.5), T.RandomAffine(0, scale=(1.5, 1.5))),
        (A.Shearing(1.0, [-10.0, 0.0]), T.RandomAffine(0, shear=(10, 10))),
        (A.Shearing(1.0, [0.0, 7.0]), T.RandomAffine(0, shear=(0, 0, -7, -7))),
    ],
)
def test_the_engine_moves_points_to_the_same_places(
    step: affine_steps.TransformationStep, transform: T.Transform
) -> None:
    drawn = T.draw([transform], (100, 110))
    assert np.abs(drawn.affine - matrix_of(step)[:2]).max() < 1e-4


def test_the_engine_moves_boxes_points_and_cameras_alike() -> None:
    drawn = T.draw([T.Resize((64, 96))], (100, 110))
    matrix, warp = transformation(
        np.array([100, 110], np.int32),
        steps=[],
        output=np.array([64, 96]),
        mode=A.ResizingMode.STRETCH,
        anchor=None,
    )
    assert np.allclose(drawn.affine, warp)
    boxes = np.random.default_rng(0).uniform(10, 90, (5, 2, 2))
    boxes = np.sort(boxes, 1).reshape(5, 4)
    own = affine_steps.transformed_points(boxes, matrix)
    assert np.allclose(drawn.move_boxes(boxes, min_size=0)[0], own, atol=1e-4)
    camera = np.array([[500.0, 0, 55], [0, 500, 50], [0, 0, 1]])
    moved = affine_steps.transformed_projection(camera, matrix)
    assert np.allclose(drawn.move_camera(camera), moved, atol=1e-3)


def test_a_step_does_not_happen_above_its_probability() -> None:
    assert (matrix_of(A.Translation(0.4, [3, 4])) == np.eye(3)).all()
    assert (matrix_of(A.Translation(0.6, [3, 4]))[:2, 2] == [3, 4]).all()


def test_numbers_are_drawn_from_their_ranges() -> None:
    assert (matrix_of(A.Translation(1, [0, 10], [4, 20]), draws=0.25)[:2, 2] == [1, 12.5]).all()
    assert matrix_of(A.UniformScaling(1, 1, 3), draws=0.5)[0, 0] == 2


def test_a_scaling_keeps_the_steps_before_it() -> None:
    matrix = matrix_of(A.Translation(1, [10, 0]), A.NonUniformScaling(1, [2, 1]))
    assert (matrix @ [55, 50, 1] == [75, 50, 1]).all()


@pytest.mark.parametrize("draw", [0.0, 0.3, 1.0])
def test_a_shift_inside_covers_the_viewport(draw: float) -> None:
    matrix = matrix_of(
        A.UniformScaling(1, 1.6),
        A.Translation(1, [1000, -300]),
        A.ShiftInsideOriginalImage(1, True, True),
        draws=draw,
    )
    low, high = affine_steps.borders(matrix, SIZE)
    assert (low <= 1e-9).all()
    assert (high >= SIZE - 1e-9).all()


def test_a_shift_inside_leaves_a_smaller_image_where_it_is() -> None:
    before = (A.NonUniformScaling(1, [0.5, 2.0]), A.Translation(1, [7, 0]))
    after = (*before, A.ShiftInsideOriginalImage(1, True, True))
    assert matrix_of(*after)[0, 2] == matrix_of(*before)[0, 2]


@pytest.mark.parametrize("border", list(A.ShiftToAlignWithOriginalImageBorder.Border))
def test_a_border_is_aligned(border: object) -> None:
    align = A.ShiftToAlignWithOriginalImageBorder(1, border)  # type: ignore[arg-type]
    low, high = affine_steps.borders(matrix_of(A.UniformScaling(1, 0.6), align), SIZE)
    gaps = {"LEFT": low[0], "TOP": low[1], "RIGHT": 110 - high[0], "BOTTOM": 100 - high[1]}
    assert abs(gaps[border.name]) < 1e-9  # type: ignore[attr-defined]


def test_a_selection_makes_one_of_its_options() -> None:
    left, right = A.Translation(1, [-1, 0]), [A.Translation(1, [1, 0]), A.Translation(1, [1, 0])]
    chosen = [matrix_of(A.Selection(1, [0.25, 0.75], [left, right]), draws=d) for d in (0.2, 0.3)]
    assert [matrix[0, 2] for matrix in chosen] == [-1, 2]


def test_a_border_cannot_be_aligned_after_a_rotation_that_may_happen() -> None:
    turned = A.Selection(0.1, [0.5, 0.5], [A.Translation(1, [0, 0]), A.Rotation(0.1, 5)])
    for step in (A.ShiftInsideOriginalImage(1, True, True),):
        with pytest.raises(ValueError, match="Cannot perform `ShiftInsideOriginalImage`"):
            A([60, 60], A.ResizingMode.STRETCH, None, "image", transformation_steps=[turned, step])


def test_images_of_one_sample_have_one_size() -> None:
    with pytest.raises(ValueError, match=r"different sizes: \[100, 110\] and \[90, 110\]"):
        transformation(
            np.array([100, 110]),
            np.array([90, 110]),
            steps=[],
            output=np.array([64, 96]),
            mode=A.ResizingMode.STRETCH,
            anchor=None,
        )


# --- Colors ---


def test_colors_without_a_change_stay_exactly_as_they_are() -> None:
    assert (color_matrix(1, 0, (0, 1, 2), False) == np.eye(3)).all()


def test_no_saturation_is_gray_and_gray_keeps_its_color() -> None:
    gray = color_matrix(0, 90, (0, 1, 2), False) @ [255, 0, 10]
    assert np.ptp(gray) < 1
    assert np.allclose(color_matrix(1.4, 77, (0, 1, 2), False) @ [9, 9, 9], 9, atol=0.1)


def test_channels_in_the_other_order_change_alike() -> None:
    rgb, bgr = (color_matrix(0.8, 20, (0, 1, 2), reverse) for reverse in (False, True))
    pixel = np.array([200, 100, 7])
    assert np.allclose((rgb @ pixel)[::-1], bgr @ pixel[::-1], atol=1e-3)


@pytest.mark.parametrize("number", range(6))
def test_channels_are_swapped(number: int) -> None:
    drawn = [np.float32(0.9)] * 4 + [np.float32(0.1), np.float32(0), np.float32(number + 0.5)]
    made = changes(*drawn, probabilities=[0.5] * 5, fixed=[0.0, 1.0, 1.0, 0.0], bgr=False)
    assert (made[3] @ [0, 1, 2]).tolist() == list(PERMUTATIONS[number])
    assert (made[0] == np.eye(3)).all()
    assert made[2] == made[4] == 1


@pytest.mark.parametrize("late", [0.0, 1.5])
@pytest.mark.parametrize("factor", [0.0, 0.6, 1.4])
def test_values_are_clipped_after_each_change(late: float, factor: float) -> None:
    drawn = [np.float32(number) for number in (0, 0, 0.9, 0.9, 0.9, late, 0)]
    first, added, limit, second, last = changes(
        *drawn, probabilities=[0.5] * 5, fixed=[0.3, factor, 1.0, 0.0], bgr=False
    )
    values = np.linspace(0, 1, 33).repeat(3).reshape(-1, 3)
    made = np.clip(np.clip(values @ first.T + added, 0, limit) @ second.T, 0, last)
    assert np.allclose(made, np.clip(np.clip(values + 0.3, 0, 1) * factor, 0, 1), atol=1e-6)


# --- Boxes and points ---


def test_a_box_is_hidden_by_several_nearer_ones_together() -> None:
    boxes = np.array([[10, 10, 40, 40], [10, 10, 25, 40], [40, 40, 25, 10]], np.float32)
    size = np.array([100, 200])
    assert are_not_hidden(boxes, np.array([5, 1, 2]), size).tolist() == [False, True, True]
    assert are_not_hidden(boxes, np.array([1, 3, 0]), size).tolist() == [True, False, True]


def test_a_box_without_a_pixel_inside_the_image_is_hidden() -> None:
    boxes = np.array([[200, 0, 210, 9], [-9, -9, 0, 0], [199.5, 99.5, 300, 300]], np.float32)
    seen = are_not_hidden(boxes, np.array([1, 2, 3]), np.array([100, 200]))
    assert seen.tolist() == [False, False, True]


def test_the_size_of_a_box_is_that_inside_the_image() -> None:
    boxes = np.array([[198, 0, 400, 9], [197, 0, 400, 3], [9, 9, 6, 6]], np.float32)
    assert are_large(boxes, np.array([100, 200]), 3).tolist() == [False, True, True]


def test_no_boxes_and_no_points_are_no_error() -> None:
    none = np.zeros((0, 4), np.float32)
    assert are_not_hidden(none, np.zeros(0), np.array([10, 10])).shape == (0,)
    assert are_large(none, np.array([10, 10]), 1).shape == (0,)
    assert clipped(none, np.zeros(4), np.ones(4)).shape == (0, 4)
    assert are_inside(none, np.zeros(4), np.ones(4)).shape == (0,)


def test_points_with_other_dimensions_than_the_box_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"shape \[2, 1\], but the box has 3 dimensions"):
        are_inside(np.zeros((2, 1)), np.zeros(3), np.ones(3))


# --- Boxes in three dimensions ---


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_rotation_turns_the_next_axis_to_the_one_after(axis: int) -> None:
    movement = bev.movement_of(np.float64(np.pi / 2), given=[True] + [False] * 4, axis=axis)
    one = np.eye(3)[[(axis + 1) % 3]]
    assert np.allclose(bev.moved_points(one, movement), np.eye(3)[[(axis + 2) % 3]])


def test_points_keep_their_place_in_the_image() -> None:
    drawn = [np.float64(x) for x in (0.7, 1.3, 2, -1, 0.5)]
    movement = bev.movement_of(*drawn, given=[True] * 5, axis=2)
    points = np.random.default_rng(0).uniform(-5, 5, (6, 3))
    camera = np.random.default_rng(1).uniform(-1, 1, (3, 4))
    pose = np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0]

    def seen(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        return matrix @ np.concatenate([points, np.ones((6, 1))], 1).T

    moved = bev.moved_points(points, movement)
    assert np.allclose(seen(moved, bev.from_right(camera, movement)), seen(points, camera))
    there, back = bev.from_right(pose, movement), bev.from_left(np.linalg.inv(pose), movement)
    assert np.allclose(there @ back, np.eye(4))
    lengths = np.linalg.norm(bev.moved_velocities(points, movement), axis=1)
    assert np.allclose(lengths, 1.3 * np.linalg.norm(points, axis=1))
    assert np.allclose(bev.moved_sizes(points, movement), 1.3 * points)


def test_orientations_stay_within_half_a_turn() -> None:
    movement = bev.movement_of(np.float64(3), given=[True] + [False] * 4, axis=2)
    angles = np.array([0, 3, -3, 100, -100], np.float32)
    turned = bev.turned(angles, movement)
    assert (np.abs(turned) <= np.pi + 1e-6).all()
    assert np.allclose(np.exp(1j * turned), np.exp(1j * (angles + 3)), atol=1e-4)


# --- Heatmaps ---


OPTIONS = HeatmapOptions(
    height=50,
    width=100,
    categories=2,
    per_category=True,
    least_sizes=np.array([[1.0, 1.0], [3.0, 3.0]]),
    least_area=0.25,
    least_radius=0.5,
    most_radius=10,
    radius_factor=0.5,
    sigma_factor=1 / 3,
)


def test_a_gaussian_is_one_at_its_center_and_ends_at_its_radius() -> None:
    image = np.zeros((7, 9), np.float32)
    draw_gaussian(image, np.array([1, 5]), 1.2, 0.5)
    near, far = np.exp(-1 / 0.72), np.exp(-4 / 0.72)
    assert np.allclose(image[5, :5], [near, 1, near, far, 0])
    assert np.allclose(image[2:, 1], [0, far, near, 1, near])
    assert np.isclose(image[3, 3], far**2)


def test_the_larger_value_counts_where_gaussians_overlap() -> None:
    both, one = np.zeros((9, 9), np.float32), np.zeros((9, 9), np.float32)
    draw_gaussian(one, np.array([3, 3]), 3, 1 / 3)
    other = one[::-1, ::-1]
    for pixel in (np.array([3, 3]), np.array([5, 5])):
        draw_gaussian(both, pixel, 3, 1 / 3)
    assert (both == np.maximum(one, other)).all()


def test_objects_are_drawn_or_not_for_each_reason() -> None:
    boxes = np.array(
        [
            [20, 20, 60, 80],
            [60, 80, 20, 20],  # the corners in the other order
            [5, 5, 9, 9],  # too small for category 1, in the heatmap
            [5, 5, 9, 9],
            [180, 80, 380, 180],  # a twentieth of it is inside the image
            [30, 10, 50, 30],  # of a category that does not exist
            [30, 10, 50, 30],
            [30, 10, 50, 30],  # not valid
            [30, 10, 30, 30],  # without an area
        ],
        np.float32,
    )
    categories = np.array([0, 1, 1, 0, 0, 2, -1, 0, 0])
    valid = np.array([True] * 7 + [False, True])
    heatmap, active, pixels, offsets, sizes, inside = heatmap_of(
        boxes,
        np.array([100, 200]),
        categories,
        valid,
        given=(True, False, True),
        options=OPTIONS,
    )
    assert active.tolist() == [True, True, False, True] + [False] * 5
    assert heatmap.shape == (2, 50, 100)
    assert pixels[0].tolist() == [20, 25]
    assert heatmap[0, 25, 20] == heatmap[1, 25, 20] == heatmap[0, 3, 3] == 1
    assert (heatmap == 1).sum() == 3
    assert offsets[3].tolist() == [0.5, 0.5]
    assert sizes[0].tolist() == [30, 20]
    assert inside[1].tolist() == [30, 40, 10, 10]
    assert inside[4].tolist() == [90, 40, 99, 49]


def test_no_objects_give_an_empty_heatmap() -> None:
    made = heatmap_of(
        np.zeros((0, 4), np.float32),
        np.array([100, 200]),
        np.zeros(0, np.int32),
        given=(True, False, False),
        options=OPTIONS,
    )
    assert not made[0].any()
    assert [array.shape for array in made[1:]] == [(0,), (0, 2), (0, 2), (0, 2), (0, 4)]


def test_arrays_of_unequal_lengths_are_an_error() -> None:
    boxes, size = np.zeros((3, 4), np.float32), np.array([100, 200])
    with pytest.raises(ValueError, match="there are 3 boxes, but 2 depths"):
        are_visible(boxes, size, np.zeros((2, 1)), minimum=None)
    with pytest.raises(ValueError, match="there are 3 boxes, but 4 categories"):
        heatmap_of(boxes, size, np.zeros(4, np.int32), given=(True, False, False), options=OPTIONS)


def test_an_object_whose_center_is_no_number_is_not_drawn() -> None:
    boxes = np.array([[20, 20, 60, 80]] * 2, np.float32)
    centers = np.array([[np.nan, 50], [40, 50]], np.float32)
    made = heatmap_of(
        boxes, np.array([100, 200]), centers, given=(False, True, False), options=OPTIONS
    )
    assert made[1].tolist() == [False, True]
    assert (made[0] == 1).sum() == 1
