"""Heatmaps of objects from their boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import InputArgumentError
from fuelrail.inputs.field_tree import Name
from fuelrail.inputs.processing_steps.fields_of_steps import (
    add_field,
    computed,
    height_width,
    kind_of,
    missing,
    occurrences,
    reals,
)
from fuelrail.inputs.processing_steps.heatmaps import HeatmapOptions, heatmap_of
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import real, shown, whole

__all__ = ["BoundingBoxToHeatmapConverter"]

_LEAST_RADIUS = 0.5


class BoundingBoxToHeatmapConverter(PipelineStepBase):
    """Adds a heatmap to annotations: a Gaussian for each object, with the value 1 at its center.

    Boxes and centers are scaled to the heatmap, and clipped to it. The radius of a Gaussian is the
    distance of the center to the nearest side of the clipped box, times a factor; where Gaussians
    overlap, the larger value counts. An object is not drawn if it is too small, if too much of its
    box is outside of the image, if its category is out of range, or if it is not valid.

    The new fields, of which all but the heatmap are optional:
    - heatmap: FLOAT, shape (categories, height, width), or (height, width).
    - is_active: BOOL, shape (N,): which objects are drawn.
    - center: INT32, shape (N, 2): x and y of the pixel of the center.
    - center_offset: FLOAT, shape (N, 2): the place of the center inside this pixel, 0 to 1.
    - height_width_bboxes_heatmap: FLOAT, shape (N, 2): the size of the clipped box.
    - bboxes_heatmap: FLOAT, shape (N, 4): the clipped box, its corners in their order.
    """

    def __init__(
        self,
        annotation_field_name: Name,
        bboxes_in_name: Name,
        heatmap_out_name: Name,
        heatmap_hw: tuple[int, int],
        image_field_name: Name | None = None,
        image_hw_field_name: Name | None = None,
        categories_in_name: Name | None = None,
        num_categories: int | None = None,
        min_object_size: Sequence[float] | None = None,
        per_category_min_object_sizes: Sequence[Sequence[float]] | None = None,
        use_per_category_heatmap: bool = True,
        is_valid_opt_in_name: Name | None = None,
        center_opt_in_name: Name | None = None,
        is_active_opt_out_name: Name | None = None,
        center_opt_out_name: Name | None = None,
        center_offset_opt_out_name: Name | None = None,
        height_width_bboxes_heatmap_opt_out_name: Name | None = None,
        bboxes_heatmap_opt_out_name: Name | None = None,
        min_fraction_area_clipping: float = 0.25,
        min_radius: float = 0.5,
        max_radius: float = 10.0,
        radius_scaling_factor: float = 0.8,
        radius_to_sigma_factor: float = 1.0 / 3.0,
    ) -> None:
        """annotation_field_name: the name of the groups, each of which is treated by itself.

        bboxes_in_name: the boxes, of shape (N, 4): x and y of two opposite corners, in pixels.
        heatmap_out_name, *_opt_out_name: the names of the new fields. Default: not added.
        heatmap_hw: height and width of the heatmap.
        image_field_name, image_hw_field_name: one of them: the image (HWC) beside the annotation,
            or a field with its height and width.
        categories_in_name, num_categories: the category of each object, of shape (N,), and their
            number. Needed for a heatmap or a least size per category. Default: no categories.
        min_object_size, per_category_min_object_sizes: the least height and width in the heatmap:
            a pair, or a pair for each category. Default: any size.
        use_per_category_heatmap: whether each category has its own heatmap. Default: True.
        is_valid_opt_in_name: BOOL, shape (N,): which objects may be drawn. Default: all. A field
            that an annotation lacks is ignored.
        center_opt_in_name: the centers, of shape (N, 2). Default: the centers of the boxes.
        min_fraction_area_clipping: the least part of a box's area inside the image. Default: 0.25.
        min_radius, max_radius: the limits of the radius; at least 0.5. Default: 0.5 and 10.
        radius_scaling_factor: what a radius is multiplied by, before the limits. Default: 0.8.
        radius_to_sigma_factor: the standard deviation divided by the radius. Default: 1/3.

        Errors: InvalidArgumentError, a ValueError, unless there is one source of the image's size;
        InputArgumentError, an AssertionError, for other arguments that do not match.
        """
        if (image_field_name is None) == (image_hw_field_name is None):
            raise InvalidArgumentError(
                "the size of the image is needed once",
                expected="either image_field_name or image_hw_field_name",
            )
        uses_categories = use_per_category_heatmap or not (
            num_categories is None and per_category_min_object_sizes is None
        )
        if uses_categories and (categories_in_name is None or num_categories is None):
            raise InputArgumentError(
                "categories are used, but not given",
                expected="categories_in_name and num_categories",
            )
        if min_object_size is not None and per_category_min_object_sizes is not None:
            raise InputArgumentError(
                "the least size of objects is given twice",
                expected="min_object_size or per_category_min_object_sizes",
            )
        self._annotation_name = annotation_field_name
        self._boxes_name = bboxes_in_name
        self._image_name = image_field_name
        self._size_name = image_hw_field_name
        self._categories_name = categories_in_name if uses_categories else None
        self._centers_name = center_opt_in_name
        self._valid_name = is_valid_opt_in_name
        self._outputs = [
            (heatmap_out_name, DataType.FLOAT),
            (is_active_opt_out_name, DataType.BOOL),
            (center_opt_out_name, DataType.INT32),
            (center_offset_opt_out_name, DataType.FLOAT),
            (height_width_bboxes_heatmap_opt_out_name, DataType.FLOAT),
            (bboxes_heatmap_opt_out_name, DataType.FLOAT),
        ]
        height, width = _pair("heatmap_hw", heatmap_hw)
        self._options = HeatmapOptions(
            height=whole("heatmap_hw", int(height), least=1),
            width=whole("heatmap_hw", int(width), least=1),
            categories=_count(num_categories) if uses_categories else None,
            per_category=use_per_category_heatmap,
            least_sizes=_least_sizes(
                min_object_size, per_category_min_object_sizes, num_categories
            ),
            least_area=real("min_fraction_area_clipping", min_fraction_area_clipping),
            least_radius=max(real("min_radius", min_radius), _LEAST_RADIUS),
            most_radius=max(real("max_radius", max_radius), _LEAST_RADIUS),
            radius_factor=real("radius_scaling_factor", radius_scaling_factor),
            sigma_factor=real("radius_to_sigma_factor", radius_to_sigma_factor),
        )
        if not self._options.sigma_factor > 0:
            raise InputArgumentError(
                "`radius_to_sigma_factor` is out of range",
                expected="above 0",
                found=shown(radius_to_sigma_factor),
            )

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for path in data.find_all_occurrences(self._annotation_name):
            group: SampleDataGroup = data.get_item_in_path(path)
            beside = data.get_parent_of_path(path)
            names = (self._categories_name, self._centers_name, self._valid_name)
            given = tuple(name is not None and name in group for name in names)
            made = computed(
                heatmap_of,
                group[self._boxes_name],
                self._size_node(beside),
                *[group[name] for name in names if name is not None and name in group],
                outputs=len(self._outputs),
                given=given,
                options=self._options,
            )
            self._add_fields(group)
            for index, (name, _) in enumerate(self._outputs):
                if name is not None:
                    group[name] = made[index]
        return data

    def _size_node(self, beside: SampleDataGroup) -> Any:
        if self._size_name is not None:
            return beside[self._size_name]
        assert self._image_name is not None
        return height_width(beside[self._image_name])

    def _add_fields(self, group: SampleDataGroup) -> None:
        for name, kind in self._outputs:
            if name is not None:
                add_field(group, name, kind, self)

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        annotation = self._annotation_name
        text = f"No occurrences of annotations found with the name '{annotation}'"
        for path in occurrences(data_empty, annotation, text):
            group: SampleDataGroup = data_empty.get_item_in_path(path)
            beside = data_empty.get_parent_of_path(path)
            for name in (self._image_name, self._size_name):
                if name is not None and name not in beside:
                    raise missing(
                        data_empty, name, f"No field '{name}' beside the annotation '{annotation}'"
                    )
            for name in (self._boxes_name, self._categories_name, self._centers_name):
                if name is None:
                    continue
                if name not in group:
                    raise missing(
                        group, name, f"No field '{name}' in the annotation '{annotation}'"
                    )
                kind_of(group, name)
            self._add_fields(group)
        return data_empty


def _count(num_categories: int | None) -> int:
    number = whole("num_categories", num_categories)
    if number < 1:
        raise InputArgumentError("`num_categories` is out of range", expected="at least 1")
    return number


def _pair(argument: str, values: Sequence[float]) -> list[float]:
    numbers = reals(argument, values, 2)
    if min(numbers) < 0 or (argument == "heatmap_hw" and min(numbers) < 1):
        raise InputArgumentError(
            f"`{argument}` is out of range", expected="positive numbers", found=shown(values)
        )
    return numbers


def _least_sizes(
    size: Sequence[float] | None,
    per_category: Sequence[Sequence[float]] | None,
    num_categories: int | None,
) -> Any:
    if size is not None:
        return numpy.array(_pair("min_object_size", size))
    if per_category is None:
        return None
    if len(per_category) != num_categories:
        raise InputArgumentError(
            "`per_category_min_object_sizes` is invalid",
            expected=f"{num_categories} pairs of height and width",
            found=f"{len(per_category)} items",
        )
    return numpy.array([_pair("per_category_min_object_sizes", pair) for pair in per_category])
