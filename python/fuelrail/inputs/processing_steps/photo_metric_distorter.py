"""Random changes of brightness, contrast, saturation, hue and channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuelrail.inputs.dali import dali
from fuelrail.inputs.data_type import DataType
from fuelrail.inputs.errors import FieldError, InputArgumentError
from fuelrail.inputs.field_tree import Name, flat_name
from fuelrail.inputs.processing_steps.colors import PERMUTATIONS, color_matrix
from fuelrail.inputs.processing_steps.fields_of_steps import (
    cast,
    check_has_gpu,
    computed,
    dali_type,
    kind_of,
    reals,
)
from fuelrail.inputs.processing_steps.image_steps import ImageStep
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import real, shown

__all__ = ["PhotoMetricDistorter"]

Array = numpy.ndarray[Any, Any]

_CHANGES = ("brightness", "contrast", "saturation", "hue", "swap_channels")


class PhotoMetricDistorter(ImageStep):
    """Changes the colors of images (HWC) at random, of all images of a sample alike.

    The images are UINT8, or FLOAT from 0 to 1. Each change is made with its own probability, in
    this order: a number is added (brightness); half of the time, contrast is next; the colors are
    multiplied (saturation) and turned (hue) in YIQ; else, contrast is next; the channels are
    swapped. Contrast is a factor of all values. After brightness, contrast and the last change,
    values are clipped to the images' range.
    """

    def __init__(
        self,
        image_name: Name,
        min_max_brightness: Sequence[float],
        min_max_hue: Sequence[float],
        min_max_contrast: Sequence[float],
        min_max_saturation: Sequence[float],
        prob_brightness_aug: float = 0.5,
        prob_hue_aug: float = 0.5,
        prob_contrast_aug: float = 0.5,
        prob_saturation_aug: float = 0.5,
        prob_swap_channels: float = 0.5,
        is_bgr: bool = False,
        enforce_process_on_gpu: bool = True,
    ) -> None:
        """image_name: the name of the fields.

        min_max_brightness: what is added: of 255 for UINT8, of 1 for FLOAT.
        min_max_hue: the angle in degrees.
        min_max_contrast, min_max_saturation: the factors.
        prob_brightness_aug, prob_hue_aug, prob_contrast_aug, prob_saturation_aug,
        prob_swap_channels: the probability of each change. Default: 0.5.
        is_bgr: whether the channels are blue, green, red. Default: red, green, blue.
        enforce_process_on_gpu: whether images are moved to the GPU first. Default: True.

        Errors: InputArgumentError for a range without two numbers, or with the larger one first,
        and for a probability outside of 0 to 1.
        """
        super().__init__(image_name)
        self._ranges = {
            "brightness": _range("min_max_brightness", min_max_brightness),
            "contrast": _range("min_max_contrast", min_max_contrast),
            "saturation": _range("min_max_saturation", min_max_saturation),
            "hue": _range("min_max_hue", min_max_hue),
        }
        self._probabilities = [
            _probability("prob_brightness_aug", prob_brightness_aug),
            _probability("prob_contrast_aug", prob_contrast_aug),
            _probability("prob_saturation_aug", prob_saturation_aug),
            _probability("prob_hue_aug", prob_hue_aug),
            _probability("prob_swap_channels", prob_swap_channels),
        ]
        self._bgr = is_bgr
        self._on_gpu = enforce_process_on_gpu

    def _drawn(self) -> Any:
        """Draws the numbers of a sample, and returns what `changes` makes of them."""
        if self._on_gpu:
            check_has_gpu("enforce_process_on_gpu")
        fn = dali("fn")
        chances = [fn.random.uniform(range=[0.0, 1.0]) for _ in _CHANGES]
        late = fn.random.uniform(range=[0, 2])
        values = [
            low if low == high else fn.random.uniform(range=[low, high])
            for low, high in self._ranges.values()
        ]
        channels = fn.random.uniform(range=[0, 6])
        return computed(
            changes,
            *chances,
            late,
            channels,
            *[value for value in values if not isinstance(value, float)],
            outputs=5,
            probabilities=self._probabilities,
            fixed=[value if isinstance(value, float) else None for value in values],
            bgr=self._bgr,
        )

    def _changed(self, image: Any, kind: DataType, drawn: Any) -> Any:
        fn, clamp = dali("fn"), dali("math").clamp
        first, added, first_limit, second, second_limit = drawn
        most = 255.0 if kind is DataType.UINT8 else 1.0
        if self._on_gpu:
            image = image.gpu()
        # DALI reads and writes the image once for each of these lines.
        image = fn.coord_transform(image, M=first, T=added, dtype=dali_type(DataType.FLOAT))
        image = clamp(image, 0.0, first_limit * most)
        image = fn.coord_transform(image, M=second)
        image = clamp(image, 0.0, second_limit * most)
        return cast(image, kind) if kind is DataType.UINT8 else image

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for path in self._image_paths(data_empty):
            kind = kind_of(data_empty, path)
            if kind not in (DataType.UINT8, DataType.FLOAT):
                raise FieldError(
                    f"the image '{flat_name(path)}' has the wrong type",
                    expected="UINT8 or FLOAT",
                    found=kind.name,
                )
        return data_empty


def changes(
    *drawn: Array, probabilities: list[float], fixed: list[float | None], bgr: bool
) -> tuple[Array, Array, Array, Array, Array]:
    """Returns what the drawn numbers mean: a matrix, a vector that is added, and the upper limit as
    a part of the images' range; then another matrix, and another limit.

    drawn: the chances of the five changes, when contrast is changed (below 1: last), which
    permutation, and a value for each None in `fixed`.

    To clip, multiply by f and clip again is to multiply, and to clip with the limit min(f, 1).
    """
    chances, late, permutation = drawn[:5], drawn[5], drawn[6]
    values = iter(drawn[7:])
    brightness, contrast, saturation, hue = (
        float(next(values)) if value is None else value for value in fixed
    )
    does = [
        chance < probability for chance, probability in zip(chances, probabilities, strict=True)
    ]
    channels = PERMUTATIONS[min(int(permutation), len(PERMUTATIONS) - 1)] if does[4] else (0, 1, 2)
    factor = max(contrast, 0.0) if does[1] else 1.0
    early, last = (1.0, factor) if late < 1 else (factor, 1.0)
    colors = color_matrix(saturation if does[2] else 1.0, hue if does[3] else 0.0, channels, bgr)
    return (
        numpy.eye(3, dtype=numpy.float32) * numpy.float32(early),
        numpy.full(3, early * brightness if does[0] else 0.0, numpy.float32),
        numpy.array(min(early, 1.0), numpy.float32),
        colors * numpy.float32(last),
        numpy.array(min(last, 1.0), numpy.float32),
    )


def _range(argument: str, values: Sequence[float]) -> tuple[float, float]:
    low, high = reals(argument, values, 2)
    if not low <= high:
        raise InputArgumentError(
            f"`{argument}` is invalid",
            expected="the smaller number first",
            found=shown(values),
        )
    return low, high


def _probability(argument: str, value: float) -> float:
    number = real(argument, value)
    if not 0 <= number <= 1:
        raise InputArgumentError(
            f"`{argument}` is out of range", expected="from 0 to 1", found=shown(value)
        )
    return number
