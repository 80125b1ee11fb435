"""Which boxes are visible: not hidden by nearer boxes, and not too small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import FieldError, InputArgumentError
from fuelrail.inputs.field_tree import Name, Path, names_of
from fuelrail.inputs.in_graph import get_as_data_node
from fuelrail.inputs.processing_steps.fields_of_steps import (
    add_field,
    check_lengths,
    computed,
    height_width,
    kind_of,
    occurrences,
)
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import real, shown, whole

__all__ = ["VisibleBboxSelector", "are_large", "are_not_hidden"]

Array = numpy.ndarray[Any, Any]


def are_not_hidden(boxes: Array, depths: Array, image_hw: Array) -> Array:
    """Returns which boxes have a pixel inside the image that no nearer box covers.

    boxes: shape (N, 4): x and y of two opposite corners. A box covers all pixels that it touches.
    depths: shape (N,). Of equal depths, a later box is the nearer one.
    """
    height, width = image_hw
    corners = boxes.reshape(-1, 2, 2)
    limits = numpy.array([width, height], numpy.int64)
    low = numpy.clip(numpy.floor(corners.min(1)), 0, limits).astype(numpy.int64)
    high = numpy.clip(numpy.ceil(corners.max(1)), 0, limits).astype(numpy.int64)
    # Boxes are drawn from the farthest to the nearest, on a grid that is cut only at their edges.
    xs = numpy.unique(numpy.concatenate([low[:, 0], high[:, 0]]))
    ys = numpy.unique(numpy.concatenate([low[:, 1], high[:, 1]]))
    left, right = numpy.searchsorted(xs, low[:, 0]), numpy.searchsorted(xs, high[:, 0])
    top, bottom = numpy.searchsorted(ys, low[:, 1]), numpy.searchsorted(ys, high[:, 1])
    drawn = numpy.full((len(ys), len(xs)), -1)
    for box in numpy.argsort(-depths.ravel(), kind="stable"):
        drawn[top[box] : bottom[box], left[box] : right[box]] = box
    seen = numpy.zeros(len(boxes) + 1, bool)
    seen[drawn] = True  # the last element is for the background
    return seen[:-1]


def are_large(boxes: Array, image_hw: Array, minimum: float) -> Array:
    """Returns which boxes are at least `minimum` wide and high, of the part inside the image."""
    limits = numpy.array([image_hw[1], image_hw[0]], boxes.dtype)
    corners = numpy.clip(boxes.reshape(-1, 2, 2), 0, limits)
    return numpy.asarray((corners.max(1) - corners.min(1) >= minimum).all(1))


def are_visible(boxes: Array, image_hw: Array, *depths: Array, minimum: float | None) -> Array:
    visible = numpy.ones(len(boxes), bool)
    if minimum is not None:
        visible &= are_large(boxes, image_hw, minimum)
    for depth in depths:
        check_lengths(len(boxes), depths=depth.ravel())
        visible &= are_not_hidden(boxes, depth, image_hw)
    return visible


class VisibleBboxSelector(PipelineStepBase):
    """Adds a BOOL field of shape (N,): which boxes are visible.

    A box is hidden if it is outside the image, or if nearer boxes cover all of its pixels inside the
    image. It is too small if it is, inside the image, less wide or high than a minimum. The boxes
    stay.
    """

    def __init__(
        self,
        bboxes_field_name: Name,
        resulting_mask_field_path: Path,
        image_field_name: Name | None = None,
        image_hw_field_name: Name | None = None,
        image_hw: Sequence[int] | None = None,
        check_for_bbox_occlusion: bool = True,
        check_for_minimum_size: bool = True,
        depths_field_name: Name | None = None,
        minimum_bbox_size: float | None = None,
    ) -> None:
        """Each name is the name of exactly one field in the sample.

        bboxes_field_name: the boxes, of shape (N, 4): x and y of two opposite corners.
        resulting_mask_field_path: the path of the new field.
        image_field_name, image_hw_field_name, image_hw: one of them: the image (HWC), a field with
            its height and width, or [height, width].
        check_for_bbox_occlusion: whether boxes may be hidden. Default: True.
        check_for_minimum_size: whether boxes may be too small. Default: True.
        depths_field_name: the distances of the boxes, of shape (N,), if they may be hidden.
        minimum_bbox_size: the minimum in pixels, if they may be too small.

        Errors: InputArgumentError, an AssertionError, for arguments that do not match.
        """
        sizes = {
            "image_field_name": image_field_name,
            "image_hw_field_name": image_hw_field_name,
            "image_hw": image_hw,
        }
        given = [argument for argument, value in sizes.items() if value is not None]
        if len(given) != 1:
            raise InputArgumentError(
                "the size of the image is needed once",
                expected="one of image_field_name, image_hw_field_name and image_hw",
                found=" and ".join(given) or "none",
            )
        if not (check_for_bbox_occlusion or check_for_minimum_size):
            raise InputArgumentError(
                "VisibleBboxSelector has nothing to check",
                expected="check_for_bbox_occlusion or check_for_minimum_size",
            )
        if check_for_minimum_size and minimum_bbox_size is None:
            raise InputArgumentError("check_for_minimum_size needs `minimum_bbox_size`")
        if check_for_bbox_occlusion and depths_field_name is None:
            raise InputArgumentError("check_for_bbox_occlusion needs `depths_field_name`")
        self._boxes_name = bboxes_field_name
        self._mask_path = tuple(names_of(resulting_mask_field_path))
        self._image_name = image_field_name
        self._size_name = image_hw_field_name
        self._size = None if image_hw is None else _size(image_hw)
        self._depths_name = depths_field_name if check_for_bbox_occlusion else None
        self._minimum = (
            real("minimum_bbox_size", minimum_bbox_size) if check_for_minimum_size else None
        )

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        depths = [self._node(data, self._depths_name)] if self._depths_name is not None else []
        mask = computed(
            are_visible,
            self._node(data, self._boxes_name),
            self._size_node(data),
            *depths,
            minimum=self._minimum,
        )
        self._add_mask(data)
        data.set_item_in_path(self._mask_path, mask)
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for name in (self._boxes_name, self._image_name, self._size_name, self._depths_name):
            if name is None:
                continue
            paths = occurrences(data_empty, name, f"No field found with name '{name}'")
            if len(paths) > 1:
                raise FieldError(
                    f"more than one field has the name '{name}'",
                    expected="exactly one",
                    remedy="Apply the step to one group at a time (DataGroupsWithNameAppliedStep)",
                )
            kind_of(data_empty, paths[0])
        self._add_mask(data_empty)
        return data_empty

    def _add_mask(self, fields: SampleDataGroup) -> None:
        group: SampleDataGroup = fields.get_item_in_path(self._mask_path[:-1])
        add_field(group, self._mask_path[-1], DataType.BOOL, self)

    def _size_node(self, data: SampleDataGroup) -> Any:
        if self._size is not None:
            return get_as_data_node(self._size)
        if self._size_name is not None:
            return self._node(data, self._size_name)
        return height_width(self._node(data, self._image_name))

    def _node(self, data: SampleDataGroup, name: Name | None) -> Any:
        assert name is not None
        return data.get_item_in_path(data.find_all_occurrences(name)[0])


def _size(image_hw: Sequence[int]) -> Array:
    sides = [whole("image_hw", side, least=1) for side in image_hw]
    if len(sides) != 2:
        raise InputArgumentError(
            "`image_hw` is invalid", expected="[height, width]", found=shown(image_hw)
        )
    return numpy.array(sides, numpy.int32)
