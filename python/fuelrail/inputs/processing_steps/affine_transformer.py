"""Random affine transformations of images, together with points and projection matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.dali import dali
from fuelrail.inputs.field_tree import Name
from fuelrail.inputs.in_graph import get_as_data_node
from fuelrail.inputs.processing_steps import affine_steps
from fuelrail.inputs.processing_steps.fields_of_steps import (
    Names,
    cast,
    check_has_gpu,
    computed,
    height_width,
    kind_of,
    names_in,
    occurrences,
)
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import shown, whole

__all__ = ["AffineTransformer"]

Array = numpy.ndarray[Any, Any]


class AffineTransformer(PipelineStepBase):
    """Transforms images (HWC) at random and resizes them, with one resampling; and changes points
    and projection matrices alike. All fields of a sample get the same transformation.

    >>> AffineTransformer([256, 704], AffineTransformer.ResizingMode.CROP,
    ...                   AffineTransformer.ResizingAnchor.BOTTOM_OR_RIGHT,
    ...                   image_field_names="image", projection_matrix_field_names="intrinsics",
    ...                   transformation_steps=[AffineTransformer.Rotation(0.5, -5, 5)],
    ...                   transform_image_on_gpu=False)

    The transformations move the image inside a viewport, which has the image's size; what the image
    does not cover is black. Then the viewport is resized to the output. Rotation, scaling and
    shearing keep the viewport's center. Images are interpolated linearly.
    """

    TransformationStep = affine_steps.TransformationStep
    Translation = affine_steps.Translation
    ShiftInsideOriginalImage = affine_steps.ShiftInsideOriginalImage
    ShiftToAlignWithOriginalImageBorder = affine_steps.ShiftToAlignWithOriginalImageBorder
    Rotation = affine_steps.Rotation
    UniformScaling = affine_steps.UniformScaling
    NonUniformScaling = affine_steps.NonUniformScaling
    Shearing = affine_steps.Shearing
    Selection = affine_steps.Selection
    ResizingMode = affine_steps.ResizingMode
    ResizingAnchor = affine_steps.ResizingAnchor

    def __init__(
        self,
        output_hw: Sequence[int],
        resizing_mode: affine_steps.ResizingMode,
        resizing_anchor: affine_steps.ResizingAnchor | None = None,
        image_field_names: Names = None,
        image_hw_field_names: Names = None,
        projection_matrix_field_names: Names = None,
        point_field_names: Names = None,
        transformation_steps: Sequence[affine_steps.TransformationStep] | None = None,
        transform_image_on_gpu: bool = True,
    ) -> None:
        """output_hw: height and width of the output.

        resizing_mode, resizing_anchor: how the image fits another aspect ratio. The anchor is None
            for STRETCH, and only then.
        image_field_names: the images, all of one size in a sample.
        image_hw_field_names: instead of images, fields with their height and width, which are set
            to the output's. Default: the size of the images.
        projection_matrix_field_names: matrices that project to pixels, such as intrinsics, of 3 or
            4 rows.
        point_field_names: points of shape (N, 2 K): x and y in turn, such as boxes.
        transformation_steps: the transformations, in their order. Default: none, only the resize.
        transform_image_on_gpu: whether images are moved to the GPU first. Default: True.

        Names are a name or a list of names; default: none.

        Errors: InvalidArgumentError, a ValueError, for arguments that do not match, and for a step
        that cannot follow another.
        """
        self._output = numpy.array([whole("output_hw", side, least=1) for side in output_hw])
        if len(self._output) != 2:
            raise InvalidArgumentError(
                "`output_hw` is invalid", expected="[height, width]", found=shown(output_hw)
            )
        if (image_field_names is None) == (image_hw_field_names is None):
            raise InvalidArgumentError(
                "the size of the images is needed once",
                expected="either image_field_names or image_hw_field_names",
            )
        if (resizing_mode is self.ResizingMode.STRETCH) is not (resizing_anchor is None):
            raise InvalidArgumentError(
                "`resizing_anchor` does not match `resizing_mode`",
                expected="None for STRETCH, and only then",
                found=f"{resizing_anchor} for {resizing_mode}",
            )
        self._mode, self._anchor = resizing_mode, resizing_anchor
        self._images = names_in("image_field_names", image_field_names)
        self._sizes = names_in("image_hw_field_names", image_hw_field_names)
        self._projections = names_in("projection_matrix_field_names", projection_matrix_field_names)
        self._points = names_in("point_field_names", point_field_names)
        self._steps = list(transformation_steps or ())
        self._on_gpu = transform_image_on_gpu
        types: set[type] = set()
        for step in self._steps:
            types = step.check_prev_types_compatible_and_add_current_type(types)

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        matrix, warp = self._matrix(data)
        for path in _paths(data, self._images):
            image = self._warped(data.get_item_in_path(path), warp)
            data.set_item_in_path(path, image)
        for path in _paths(data, self._projections):
            node = data.get_item_in_path(path)
            data.set_item_in_path(path, computed(affine_steps.transformed_projection, node, matrix))
        for path in _paths(data, self._points):
            node = data.get_item_in_path(path)
            data.set_item_in_path(path, computed(affine_steps.transformed_points, node, matrix))
        for path in _paths(data, self._sizes):
            size = cast(get_as_data_node(self._output), kind_of(data, path))
            data.set_item_in_path(path, size)
        return data

    def _matrix(self, data: SampleDataGroup) -> tuple[Any, Any]:
        """Returns the transformation: a node of shape (3, 3), and one of (2, 3) for images."""
        sizes = [height_width(data.get_item_in_path(path)) for path in _paths(data, self._images)]
        sizes += [data.get_item_in_path(path) for path in _paths(data, self._sizes)]
        draws = sum(step.draws for step in self._steps)
        drawn = [dali("fn").random.uniform(range=[0.0, 1.0], shape=[draws])] if draws else []
        made = computed(
            transformation,
            *drawn,
            *sizes,
            outputs=2,
            steps=self._steps,
            output=self._output,
            mode=self._mode,
            anchor=self._anchor,
        )
        return made[0], made[1]

    def _warped(self, image: Any, warp: Any) -> Any:
        if self._on_gpu:
            check_has_gpu("transform_image_on_gpu")
            image, warp = image.gpu(), warp.gpu()
        return dali("fn").warp_affine(
            image,
            warp,
            size=self._output.tolist(),
            interp_type=dali("types").DALIInterpType.INTERP_LINEAR,
            fill_value=0.0,
            inverse_map=False,
        )

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        kinds = {
            "images": self._images,
            "image sizes": self._sizes,
            "projection matrices": self._projections,
            "point sets": self._points,
        }
        for kind, names in kinds.items():
            for name in names:
                text = f"No occurrences of {kind} found with the name '{name}'"
                for path in occurrences(data_empty, name, text):
                    kind_of(data_empty, path)
        return data_empty


def transformation(
    *inputs: Array,
    steps: list[affine_steps.TransformationStep],
    output: Array,
    mode: affine_steps.ResizingMode,
    anchor: affine_steps.ResizingAnchor | None,
) -> tuple[Array, Array]:
    """Returns the transformation of a sample: float64 (3, 3), and float32 (2, 3).

    inputs: the random numbers, if there are steps; and the height and width of each image.
    """
    drawn, sizes = (inputs[0], inputs[1:]) if steps else (numpy.empty(0), inputs)
    for other in sizes[1:]:
        if not numpy.array_equal(other, sizes[0]):
            raise ValueError(
                f"the images of a sample have different sizes: {sizes[0].tolist()} and "
                f"{other.tolist()} (height and width)"
            )
    size = sizes[0][::-1].astype(numpy.float64)
    draws = iter(drawn.tolist())
    matrix = numpy.eye(3)
    for step in steps:
        matrix = step(matrix, size, draws)
    matrix = affine_steps.resized(size, output[::-1], mode, anchor) @ matrix
    return matrix, matrix[:2].astype(numpy.float32)


def _paths(data: SampleDataGroup, names: tuple[Name, ...]) -> list[tuple[Name, ...]]:
    return [path for name in names for path in data.find_all_occurrences(name)]
