"""What processing steps refuse, without DALI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.inputs import DataType, SampleDataGroup
from fuelrail.inputs import processing_steps as steps

A = steps.AffineTransformer
STRETCH, PAD = A.ResizingMode.STRETCH, A.ResizingMode.PAD
DISTORTED: dict[str, Any] = {
    "image_name": "image",
    "min_max_brightness": [0, 0],
    "min_max_hue": [0, 0],
    "min_max_contrast": [1, 1],
    "min_max_saturation": [1, 1],
}


def fields() -> SampleDataGroup:
    annotation = SampleDataGroup()
    annotation.add_data_field("boxes", DataType.FLOAT)
    annotation.add_data_field("category", DataType.INT32)
    annotation.add_data_field("name", DataType.STRING)
    sample = SampleDataGroup()
    sample.add_data_field("image", DataType.UINT8)
    sample.add_data_group_field("annotation", annotation)
    sample.add_data_field_array("list", DataType.FLOAT, 2)
    return sample


def heatmap(**changed: Any) -> steps.BoundingBoxToHeatmapConverter:
    arguments = {
        "annotation_field_name": "annotation",
        "bboxes_in_name": "boxes",
        "heatmap_out_name": "heatmap",
        "heatmap_hw": (8, 8),
        "image_field_name": "image",
        "categories_in_name": "category",
        "num_categories": 3,
    }
    return steps.BoundingBoxToHeatmapConverter(**{**arguments, **changed})


def moved(**changed: Any) -> steps.BEVBBoxesTransformer3D:
    arguments: dict[str, Any] = {
        f"data_field_names_{kind}": None
        for kind in (
            "points",
            "velocities",
            "sizes",
            "orientation",
            "proj_matrices_and_extrinsics",
            "ego_to_world",
            "world_to_ego",
        )
    }
    arguments |= dict.fromkeys(
        ("rotation_range", "rotation_axis", "scaling_range", "translation_max_abs")
    )
    return steps.BEVBBoxesTransformer3D(
        **{**arguments, "data_field_names_points": "boxes", **changed}
    )


@pytest.mark.parametrize(
    ("step", "error", "said"),
    [
        (steps.ImageDecoder("imag", False), KeyError, "No occurrences of images found.*image"),
        (steps.ImageDecoder("boxes", False), ValueError, "expected UINT8, found FLOAT"),
        (steps.ImageRange01Normalizer("x"), KeyError, "No occurrences of images found"),
        (steps.ImageRange01Normalizer("annotation"), KeyError, "is a data group field"),
        (steps.PhotoMetricDistorter(**{**DISTORTED, "image_name": "category"}), KeyError, "UINT8"),
        (A([9, 9], STRETCH, image_field_names="x"), KeyError, "No occurrences of images found"),
        (
            A([9, 9], STRETCH, None, "image", point_field_names=["boxes", "x"]),
            KeyError,
            "No occurrences of point sets found",
        ),
        (steps.CoordinateCropper("x", [0], [1]), ValueError, "No fields containing points to crop"),
        (steps.CoordinateCropper("name", [0], [1]), ValueError, "expected numbers"),
        (steps.PointsInRangeCheck("x", "y", [0], [1]), ValueError, "No fields containing points"),
        (
            steps.PointsInRangeCheck("boxes", "name", [0], [1]),
            ValueError,
            "adds the field 'name', which exists already",
        ),
        (
            steps.PaddingToUniform("x"),
            ValueError,
            "No fields to be padded with name 'x' were found",
        ),
        (steps.AxesLayoutSetter(["image", "x"], "HWC"), KeyError, "No occurrences of field 'x'"),
        (
            steps.AnnotationElementConditionEval("x", "r = a > 1", False),
            ValueError,
            "No occurrences of annotations found",
        ),
        (
            steps.AnnotationElementConditionEval("annotation", "r = a > 1", False),
            ValueError,
            "No field 'a' in the annotation",
        ),
        (
            steps.AnnotationElementConditionEval("annotation", "r = name > 1", False),
            ValueError,
            "'name' has the wrong type",
        ),
        (
            steps.AnnotationElementConditionEval("annotation", "boxes = category > 1", False),
            KeyError,
            "adds the field 'boxes', which exists already",
        ),
        (
            steps.ConditionalElementRemover("annotation", "mask", ["boxes"], [0], [2], True),
            KeyError,
            "No field 'mask'",
        ),
        (
            steps.VisibleBboxSelector(
                "x", "mask", "image", minimum_bbox_size=1, depths_field_name="d"
            ),
            ValueError,
            "No field found with name 'x'",
        ),
        (
            steps.VisibleBboxSelector(
                0, ["annotation", "boxes"], "image", None, None, False, True, None, 1
            ),
            ValueError,
            "which exists already",
        ),
        (moved(data_field_names_sizes="x"), ValueError, "No fields found with name 'x'"),
        (moved(data_field_names_sizes="category"), ValueError, "expected a data field of FLOAT"),
        (heatmap(bboxes_in_name="x"), KeyError, "No field 'x' in the annotation"),
        (heatmap(heatmap_out_name="boxes"), KeyError, "which exists already"),
        (heatmap(image_field_name=None, image_hw_field_name="x"), KeyError, "No field 'x' beside"),
        (
            steps.DataGroupInPathAppliedStep(steps.PaddingToUniform(), ["annotation", "boxes"]),
            ValueError,
            "finds no group at 'annotation.boxes'",
        ),
        (
            steps.DataGroupsWithNameAppliedStep(steps.PaddingToUniform(), "x"),
            ValueError,
            "No fields with name `x` found",
        ),
        (
            steps.DataGroupsWithNameAppliedStep(steps.PaddingToUniform(), "image"),
            ValueError,
            "is not a data group field",
        ),
        (
            steps.DataGroupArrayWithNameElementsAppliedStep(steps.PaddingToUniform(), "list"),
            ValueError,
            "'list' is not a data group field array",
        ),
    ],
)
def test_fields_that_a_step_cannot_use_are_an_error_before_any_data(
    step: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        step.check_input_data_format_and_set_output_data_format(fields())


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: A([9, 9], STRETCH), ValueError, "size of the images is needed once"),
        (lambda: A([9, 9], STRETCH, None, "image", "size"), ValueError, "needed once"),
        (lambda: A([9, 9], PAD, None, "image"), ValueError, "`resizing_anchor` does not match"),
        (lambda: A([9], STRETCH, None, "image"), ValueError, "`output_hw` is invalid"),
        (lambda: A.Translation(0.5, [1]), AssertionError, "`min_xy` is invalid: expected 2"),
        (lambda: A.Rotation(1.5, 1), AssertionError, "`prob` is out of range"),
        (lambda: A.Selection(1, [0.5, 0.4], [[], []]), AssertionError, "whose sum is 1"),
        (lambda: A.Selection(1, [0.5, 0.5], [[]]), AssertionError, "do not match"),
        (lambda: steps.ImageToTileSizePadder("image", 0), AssertionError, "above 0"),
        (lambda: steps.ImageMeanStdDevNormalizer("image", 1, [1, 0]), ValueError, "greater than 0"),
        (
            lambda: steps.ImageMeanStdDevNormalizer("image", [1, 2], [1, 2, 3]),
            AssertionError,
            "found 2 and 3 numbers",
        ),
        (
            lambda: steps.PhotoMetricDistorter(**{**DISTORTED, "min_max_hue": [9, -9]}),
            AssertionError,
            "`min_max_hue` is invalid",
        ),
        (
            lambda: steps.PhotoMetricDistorter(**DISTORTED, prob_hue_aug=2),
            AssertionError,
            "from 0 to 1",
        ),
        (lambda: steps.CoordinateCropper("p", [0, 0], [1]), AssertionError, "do not match"),
        (lambda: steps.PointsInRangeCheck("p", "q", [2], [1]), AssertionError, "do not match"),
        (lambda: steps.UnneededFieldRemover("image"), AssertionError, "a list or tuple of names"),  # type: ignore[arg-type]
        (
            lambda: steps.AnnotationElementConditionEval("a", "r = x and 1 < 2", False),
            ValueError,
            "part without any field: found '\\(1 < 2\\)'",
        ),
        (
            lambda: steps.ConditionalElementRemover("a", "m", ["x"], [0, 1], [2], True),
            AssertionError,
            "found 1, 2 and 1 items",
        ),
        (
            lambda: steps.ConditionalElementRemover("a", "m", ["x"], [2], [2], True),
            AssertionError,
            "expected below 2",
        ),
        (lambda: steps.VisibleBboxSelector("b", "m", "i", "hw"), AssertionError, "needed once"),
        (lambda: steps.VisibleBboxSelector("b", "m", "i"), AssertionError, "`minimum_bbox_size`"),
        (
            lambda: steps.VisibleBboxSelector("b", "m", "i", minimum_bbox_size=1),
            AssertionError,
            "`depths_field_name`",
        ),
        (lambda: moved(data_field_names_points=None), AssertionError, "has no fields"),
        (lambda: moved(rotation_range=(0, 1)), AssertionError, "needs `rotation_axis`"),
        (lambda: moved(scaling_range=(1,)), AssertionError, "`scaling_range` is invalid"),
        (lambda: moved(translation_max_abs=(1, 2)), AssertionError, "expected 3 numbers"),
        (lambda: heatmap(image_field_name=None), ValueError, "needed once"),
        (lambda: heatmap(radius_to_sigma_factor=0), AssertionError, "expected above 0, found 0"),
        (lambda: heatmap(num_categories=None), AssertionError, "categories are used"),
        (lambda: heatmap(heatmap_hw=(0, 9)), AssertionError, "`heatmap_hw` is out of range"),
        (
            lambda: heatmap(min_object_size=[1, 1], per_category_min_object_sizes=[[1, 1]] * 3),
            AssertionError,
            "given twice",
        ),
        (
            lambda: heatmap(per_category_min_object_sizes=[[1, 1]]),
            AssertionError,
            "expected 3 pairs",
        ),
    ],
)
def test_arguments_that_do_not_match_are_an_error_at_once(
    make: Callable[[], Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said) as raised:
        make()
    assert isinstance(raised.value, fr.Error)


def test_the_format_that_is_checked_stays_as_it_was() -> None:
    before = fields()
    step = steps.UnneededFieldRemover(["image", "boxes", "list"])
    after = step.check_input_data_format_and_set_output_data_format(before)
    assert before.type_matches(fields())
    assert after.field_names_flat == ("annotation.category", "annotation.name")


def test_numbers_of_numpy_are_taken_as_arguments() -> None:
    steps.ImageToTileSizePadder("image", np.int64(4))
    steps.ImageMeanStdDevNormalizer("image", np.zeros(3), np.float32(2))
