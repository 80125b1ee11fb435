"""Steps on images: decoding, padding and normalizing."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.dali import dali
from fuelrail.inputs.data_type import DataType, NamedType, data_type
from fuelrail.inputs.errors import FieldError, InputArgumentError
from fuelrail.inputs.field_tree import Name, flat_name
from fuelrail.inputs.processing_steps.fields_of_steps import (
    Paths,
    cast,
    check_has_gpu,
    height_width,
    kind_of,
    occurrences,
    reals,
)
from fuelrail.inputs.processing_steps.pipeline_step_base import PipelineStepBase
from fuelrail.inputs.sample_data_group import SampleDataGroup
from fuelrail.options import shown, whole

__all__ = [
    "ImageDecoder",
    "ImageMeanStdDevNormalizer",
    "ImageRange01Normalizer",
    "ImageStep",
    "ImageToTileSizePadder",
]


class ImageStep(PipelineStepBase):
    """A step that changes all images of a name alike."""

    def __init__(self, image_name: Name, output_type: DataType | None = None) -> None:
        """output_type: the type of the images after the step. Default: the type before."""
        self._image_name = image_name
        self._output_type = output_type

    def _drawn(self) -> Any:
        """Returns the random numbers that all images of a sample share. Default: none."""
        return None

    @abstractmethod
    def _changed(self, image: Any, kind: DataType, drawn: Any) -> Any:
        """Returns the node of the changed image. kind: the type of `image`."""

    def _image_paths(self, fields: SampleDataGroup) -> Paths:
        name = self._image_name
        return occurrences(fields, name, f"No occurrences of images found with the name '{name}'")

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        drawn = self._drawn()
        for path in self._image_paths(data):
            image = self._changed(data.get_item_in_path(path), kind_of(data, path), drawn)
            if self._output_type is not None:
                data.change_type_of_data_and_remove_data(path, self._output_type)
            data.set_item_in_path(path, image)
        return data

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for path in self._image_paths(data_empty):
            kind_of(data_empty, path)
            if self._output_type is not None:
                data_empty.change_type_of_data_and_remove_data(path, self._output_type)
        return data_empty


class ImageDecoder(ImageStep):
    """Decodes all images of a name: from a UINT8 array of a file's bytes to UINT8, HWC, 3 channels.

    The formats are those of DALI's `fn.decoders.image`.
    """

    def __init__(
        self,
        image_name: Name,
        use_device_mixed: bool,
        hw_decoder_load: float = 0.65,
        as_bgr: bool = False,
    ) -> None:
        """image_name: the name of the fields.

        use_device_mixed: whether images are decoded partly on the GPU, and stay there.
        hw_decoder_load: the part of the images that the GPU's JPEG decoder takes. Default: 0.65.
        as_bgr: whether the channels are blue, green, red. Default: red, green, blue.
        """
        super().__init__(image_name)
        self._mixed = use_device_mixed
        self._load = hw_decoder_load
        self._bgr = as_bgr

    def _changed(self, image: Any, kind: DataType, drawn: Any) -> Any:
        if self._mixed:
            check_has_gpu("use_device_mixed")
        types = dali("types").DALIImageType
        options: dict[str, Any] = {"hw_decoder_load": self._load} if self._mixed else {}
        return dali("fn").decoders.image(
            image,
            device="mixed" if self._mixed else "cpu",
            output_type=types.BGR if self._bgr else types.RGB,
            **options,
        )

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for path in self._image_paths(data_empty):
            kind = kind_of(data_empty, path)
            if kind is not DataType.UINT8:
                raise FieldError(
                    f"the encoded image '{flat_name(path)}' has the wrong type",
                    expected="UINT8",
                    found=kind.name,
                )
        return data_empty


class ImageToTileSizePadder(ImageStep):
    """Pads images (HWC) with zeros at the bottom and at the right, to multiples of a tile's size."""

    def __init__(self, image_name: Name, tile_size_to_pad_to: int | Sequence[int]) -> None:
        """image_name: the name of the fields.

        tile_size_to_pad_to: the size, or [width, height].

        Errors: InputArgumentError, an AssertionError, for a size that is not positive.
        """
        super().__init__(image_name)
        tile = tile_size_to_pad_to
        sides = [tile, tile] if isinstance(tile, numbers.Integral) else [*tile]  # type: ignore[misc]
        if len(sides) != 2 or min(whole("tile_size_to_pad_to", side) for side in sides) < 1:
            raise InputArgumentError(
                "`tile_size_to_pad_to` is invalid",
                expected="an integer above 0, or two of them",
                found=shown(tile),
            )
        self._sides = sides[::-1]

    def _changed(self, image: Any, kind: DataType, drawn: Any) -> Any:
        fn, shape = dali("fn"), height_width(image)
        padded = [(shape[i] + side - 1) // side * side for i, side in enumerate(self._sides)]
        return fn.pad(image, axes=[0, 1], shape=fn.stack(*padded), fill_value=0)


class ImageRange01Normalizer(ImageStep):
    """Divides images by 255. The result is FLOAT: from 0 to 1 for UINT8."""

    def __init__(self, image_name: Name) -> None:
        """image_name: the name of the fields."""
        super().__init__(image_name, DataType.FLOAT)

    def _changed(self, image: Any, kind: DataType, drawn: Any) -> Any:
        return cast(image, DataType.FLOAT) / 255.0


class ImageMeanStdDevNormalizer(ImageStep):
    """Subtracts a mean from images (HWC), and divides them by a standard deviation."""

    def __init__(
        self,
        image_name: Name,
        mean: Sequence[float] | float,
        std_dev: Sequence[float] | float,
        output_type: NamedType = DataType.FLOAT,
    ) -> None:
        """image_name: the name of the fields.

        mean, std_dev: a number for all channels, or one for each, in the order of the image.
        output_type: the type of the result, rounded if it has no fractions. Default: FLOAT.

        Errors: InvalidArgumentError, a ValueError, for a std_dev that is not positive.
        """
        super().__init__(image_name, data_type(output_type))
        self._mean, self._std = _per_channel(mean, std_dev)
        if not numpy.all(numpy.greater(self._std, 0)):
            raise _not_positive("Standard deviation must be greater than 0", std_dev)

    def _changed(self, image: Any, kind: DataType, drawn: Any) -> Any:
        if isinstance(self._mean, numpy.ndarray):
            image = dali("fn").normalize(image, axes=[0, 1], mean=self._mean, stddev=self._std)
        else:
            image = (cast(image, DataType.FLOAT) - self._mean) / self._std
        return cast(image, self._output_type or DataType.FLOAT)


def _per_channel(
    mean: Sequence[float] | float, std_dev: Sequence[float] | float
) -> tuple[Any, Any]:
    """Returns mean and standard deviation as DALI takes them: two numbers, or two arrays with the
    axes of an image. Errors: InputArgumentError if their lengths differ.
    """
    given = {"mean": mean, "std_dev": std_dev}
    if all(isinstance(values, numbers.Real) for values in given.values()):
        return float(mean), float(std_dev)  # type: ignore[arg-type]
    means, stds = (
        [values] if isinstance(values, numbers.Real) else reals(argument, values)
        for argument, values in given.items()
    )
    if 1 not in (len(means), len(stds)) and len(means) != len(stds):
        raise InputArgumentError(
            "`mean` and `std_dev` have different lengths",
            found=f"{len(means)} and {len(stds)} numbers",
        )
    mean_array, std_array = (
        numpy.array(values, numpy.float32).reshape(1, 1, -1)
        for values in numpy.broadcast_arrays(means, stds)
    )
    return mean_array, std_array


def _not_positive(failure: str, std_dev: object) -> InvalidArgumentError:
    return InvalidArgumentError(failure, found=shown(std_dev))
