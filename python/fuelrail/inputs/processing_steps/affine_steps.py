"""The matrices of random affine transformations, and how they change points and matrices.

Matrices are float64 of shape (3, 3), and map (x, y, 1) of the input to that of the output, in pixels:
(0, 0) is the corner of the first pixel, (width, height) that of the last.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy

from fuelrail.errors import InvalidArgumentError
from fuelrail.inputs.errors import InputArgumentError
from fuelrail.inputs.processing_steps.fields_of_steps import reals
from fuelrail.options import real, shown, typed

Array = numpy.ndarray[Any, Any]
Draws = Iterator[float]


class TransformationStep(ABC):
    """One of the transformations that AffineTransformer makes in turn.

    A derived class defines `_apply` and `_draws`.
    """

    def __init__(self, prob: float) -> None:
        """prob: the probability of this step. Errors: InputArgumentError outside of 0 to 1."""
        self._prob = real("prob", prob)
        if not 0 <= self._prob <= 1:
            raise InputArgumentError(
                "`prob` is out of range", expected="from 0 to 1", found=shown(prob)
            )

    @property
    def draws(self) -> int:
        """How many random numbers the step needs, made or not."""
        return 1 + self._draws

    def __call__(self, matrix: Array, size: Array, draws: Draws) -> Array:
        """Returns the matrix after this step.

        matrix: the transformations before. size: width and height of the image. draws: random
        numbers from 0 to 1, of which the step takes as many as `draws` says.
        """
        happens = next(draws) < self._prob
        own = iter([next(draws) for _ in range(self._draws)])
        return self._apply(matrix, size, own) if happens else matrix

    def check_prev_types_compatible_and_add_current_type(self, prev_types: set[type]) -> set[type]:
        """Returns the types of the steps up to this one. Errors: InvalidArgumentError if the step
        cannot follow one of `prev_types`.
        """
        return prev_types | {type(self)}

    @property
    def _draws(self) -> int:
        return 0

    @abstractmethod
    def _apply(self, matrix: Array, size: Array, draws: Draws) -> Array:
        """Returns the matrix with the step made."""


class _Ranged(TransformationStep):
    """A step that draws one or two numbers, each from its own range."""

    def __init__(self, prob: float, argument: str, minimum: Any, maximum: Any, count: int) -> None:
        super().__init__(prob)
        single = count == 0
        low = [real(argument, minimum)] if single else reals(argument, minimum, count)
        high = low
        if maximum is not None:
            high = [real(argument, maximum)] if single else reals(argument, maximum, count)
        self._low, self._high = numpy.array(low), numpy.array(high)

    @property
    def _draws(self) -> int:
        return len(self._low)

    def _drawn(self, draws: Draws) -> Array:
        chosen = numpy.array([next(draws) for _ in self._low])
        return numpy.asarray(self._low + (self._high - self._low) * chosen)


class Translation(_Ranged):
    """Moves the image."""

    def __init__(
        self, prob: float, min_xy: Sequence[float], max_xy: Sequence[float] | None = None
    ) -> None:
        """prob: the probability of this step.

        min_xy, max_xy: the smallest and largest shift in x and y, in pixels. Default of max_xy:
            exactly min_xy.
        """
        super().__init__(prob, "min_xy", min_xy, max_xy, 2)

    def _apply(self, matrix: Array, size: Array, draws: Draws) -> Array:
        return moved(self._drawn(draws)) @ matrix


class Rotation(_Ranged):
    """Rotates the image about the center."""

    def __init__(self, prob: float, min_rot: float, max_rot: float | None = None) -> None:
        """prob: the probability of this step.

        min_rot, max_rot: the smallest and largest angle in degrees; a positive angle turns the
            image counter-clockwise, as one sees it. Default of max_rot: exactly min_rot.
        """
        super().__init__(prob, "min_rot", min_rot, max_rot, 0)

    def _apply(self, matrix: Array, size: Array, draws: Draws) -> Array:
        angle = numpy.deg2rad(-self._drawn(draws)[0])
        cos, sin = numpy.cos(angle), numpy.sin(angle)
        return about(size / 2, numpy.array([[cos, -sin], [sin, cos]])) @ matrix


class UniformScaling(_Ranged):
    """Scales the image about the center. Its size in pixels stays."""

    def __init__(self, prob: float, min_scaling: float, max_scaling: float | None = None) -> None:
        """prob: the probability of this step.

        min_scaling, max_scaling: the smallest and largest factor. Default of max_scaling: exactly
            min_scaling.
        """
        super().__init__(prob, "min_scaling", min_scaling, max_scaling, 0)

    def _apply(self, matrix: Array, size: Array, draws: Draws) -> Array:
        return about(size / 2, numpy.eye(2) * self._drawn(draws)[0]) @ matrix


class NonUniformScaling(_Ranged):
    """Scales the image about the center, in x and y by independent factors."""

    def __init__(
        self,
        prob: float,
        min_scaling_xy: Sequence[float],
        max_scaling_xy: Sequence[float] | None = None,
    ) -> None:
        """prob: the probability of this step.

        min_scaling_xy, max_scaling_xy: the smallest and largest factors in x and y. Default of
            max_scaling_xy: exactly min_scaling_xy.
        """
        super().__init__(prob, "min_scaling_xy", min_scaling_xy, max_scaling_xy, 2)

    def _apply(self, matrix: Array, size: Array, draws: Draws) -> Array:
        return about(size / 2, numpy.diag(self._drawn(draws))) @ matrix


class Shearing(_Ranged):
    """Shears the image about the center."""

    def __init__(
        self,
        prob: float,
        min_shearing_xy: Sequence[float],
        max_shearing_xy: Sequence[float] | None = None,
    ) -> None:
        """prob: the probability of this step.

        min_shearing_xy, max_shearing_xy: the smallest and largest angles in degrees: by which the y
            axis turns along x, and the x axis along y. Default of max_shearing_xy: exactly
            min_shearing_xy.
        """
        super().__init__(prob, "min_shearing_xy", min_shearing_xy, max_shearing_xy, 2)

    def _apply(self, matrix: Array, size: Array, draws: Draws) -> Array:
        x, y = numpy.tan(numpy.deg2rad(self._drawn(draws)))
        return about(size / 2, numpy.array([[1, x], [y, 1]])) @ matrix


class _AlignedStep(TransformationStep):
    """A step that needs the image's borders to be parallel to those of the viewport."""

    def check_prev_types_compatible_and_add_current_type(self, prev_types: set[type]) -> set[type]:
        if prev_types & {Rotation, Shearing}:
            # The beginning of this text is ACCV-Lab's, because programs may match it.
            name = type(self).__name__
            raise _misplaced(
                f"Cannot perform `{name}` if rotation or shearing are performed before"
            )
        return super().check_prev_types_compatible_and_add_current_type(prev_types)


class ShiftInsideOriginalImage(_AlignedStep):
    """Moves the image at random so that it covers the viewport: in x and y independently, and only
    where the image is at least as large as the viewport.
    """

    def __init__(self, prob: float, shift_x: bool, shift_y: bool) -> None:
        """prob: the probability of this step. shift_x, shift_y: whether it moves in x, and in y."""
        super().__init__(prob)
        self._moves = numpy.array([shift_x, shift_y], bool)

    @property
    def _draws(self) -> int:
        return 2

    def _apply(self, matrix: Array, size: Array, draws: Draws) -> Array:
        low, high = borders(matrix, size)
        least, most = size - high, -low  # so that the image's border is the viewport's
        chosen = least + (most - least) * numpy.array([next(draws), next(draws)])
        return moved(numpy.where(self._moves & (least <= most), chosen, 0.0)) @ matrix


class _Border(enum.Enum):
    """A border of the viewport."""

    TOP = 0
    LEFT = 1
    BOTTOM = 2
    RIGHT = 3


class ShiftToAlignWithOriginalImageBorder(_AlignedStep):
    """Moves the image so that one of its borders is that of the viewport."""

    Border: ClassVar[type[_Border]] = _Border

    def __init__(self, prob: float, border: _Border) -> None:
        """prob: the probability of this step. border: which border."""
        super().__init__(prob)
        if not isinstance(border, _Border):
            raise InputArgumentError(
                "`border` has the wrong type", expected="a Border", found=typed(border)
            )
        self._border = border

    def _apply(self, matrix: Array, size: Array, draws: Draws) -> Array:
        low, high = borders(matrix, size)
        shift = -low if self._border in (_Border.TOP, _Border.LEFT) else size - high
        along_y = self._border in (_Border.TOP, _Border.BOTTOM)
        return moved(numpy.where([not along_y, along_y], shift, 0.0)) @ matrix


class Selection(TransformationStep):
    """Makes one of several sequences of steps, chosen at random."""

    def __init__(
        self,
        prob: float,
        option_probs: Sequence[float],
        options: Sequence[Sequence[TransformationStep] | TransformationStep],
    ) -> None:
        """prob: the probability of this step.

        option_probs: the probability of each option; their sum is 1.
        options: the options: a step, or a list of steps.

        Errors: InputArgumentError, an AssertionError, if the numbers of options and probabilities
        differ, or the sum is not 1.
        """
        super().__init__(prob)
        chances = reals("option_probs", option_probs)
        if len(chances) != len(options):
            raise InputArgumentError(
                "the numbers of probabilities and options do not match",
                expected=f"{len(options)} probabilities",
                found=str(len(chances)),
            )
        if abs(sum(chances) - 1) > 1e-6 or min(chances) < 0:
            raise InputArgumentError(
                "`option_probs` is invalid",
                expected="probabilities whose sum is 1",
                found=shown(option_probs),
            )
        self._limits = numpy.cumsum(chances)[:-1]
        self._options = [
            [option] if isinstance(option, TransformationStep) else list(option)
            for option in options
        ]

    @property
    def _draws(self) -> int:
        return 1 + max(sum(step.draws for step in option) for option in self._options)

    def _apply(self, matrix: Array, size: Array, draws: Draws) -> Array:
        chosen = int(numpy.searchsorted(self._limits, next(draws), side="right"))
        for step in self._options[chosen]:
            matrix = step(matrix, size, draws)
        return matrix

    def check_prev_types_compatible_and_add_current_type(self, prev_types: set[type]) -> set[type]:
        after = super().check_prev_types_compatible_and_add_current_type(prev_types)
        for option in self._options:
            types = prev_types
            for step in option:
                types = step.check_prev_types_compatible_and_add_current_type(types)
            after = after | types
        return after


class ResizingMode(enum.Enum):
    """How an image fits an output of another aspect ratio."""

    STRETCH = 0
    """Width and height are scaled by different factors."""
    PAD = 1
    """The whole image is inside the output; the rest is black."""
    CROP = 2
    """The image covers the whole output; the rest is cut off."""


class ResizingAnchor(enum.Enum):
    """Which point of the image stays at the same point of the output, when padding or cropping."""

    CENTER = 0
    TOP_OR_LEFT = 1
    BOTTOM_OR_RIGHT = 2


_ANCHORS = {
    ResizingAnchor.TOP_OR_LEFT: 0.0,
    ResizingAnchor.CENTER: 0.5,
    ResizingAnchor.BOTTOM_OR_RIGHT: 1.0,
}


def resized(size: Array, output: Array, mode: ResizingMode, anchor: ResizingAnchor | None) -> Array:
    """Returns the matrix of a resize. size, output: width and height."""
    factors = output / size
    if mode is ResizingMode.PAD:
        factors = numpy.full(2, factors.min())
    elif mode is ResizingMode.CROP:
        factors = numpy.full(2, factors.max())
    at = _ANCHORS[anchor] if anchor is not None else 0.0
    return moved((output - size * factors) * at) @ numpy.diag([*factors, 1.0])


def _misplaced(failure: str) -> InvalidArgumentError:
    return InvalidArgumentError(failure, remedy="Put this step before the rotation or shearing")


def moved(shift: Array) -> Array:
    """Returns the matrix of a shift in x and y."""
    matrix = numpy.eye(3)
    matrix[:2, 2] = shift
    return matrix


def about(center: Array, linear: Array) -> Array:
    """Returns the matrix of a linear transformation, of shape (2, 2), that keeps a point."""
    matrix = numpy.eye(3)
    matrix[:2, :2] = linear
    return moved(center) @ matrix @ moved(-center)


def borders(matrix: Array, size: Array) -> tuple[Array, Array]:
    """Returns the smallest and the largest x and y of an image that is not rotated."""
    corners = numpy.stack([matrix[:2, 2], matrix[:2, :2] @ size + matrix[:2, 2]])
    return corners.min(0), corners.max(0)


def transformed_points(points: Array, matrix: Array) -> Array:
    """Returns points in the dtype of `points`. points: shape (..., 2 K), rows of x and y in turn."""
    if points.shape[-1] % 2:
        raise ValueError(
            f"the points have the shape {list(points.shape)}, but a row needs an even number of "
            "coordinates: x and y in turn"
        )
    pairs = points.reshape(*points.shape[:-1], points.shape[-1] // 2, 2)
    moved_pairs = pairs @ matrix[:2, :2].T + matrix[:2, 2]
    return moved_pairs.reshape(points.shape).astype(points.dtype)


def transformed_projection(projection: Array, matrix: Array) -> Array:
    """Returns a matrix that projects to the transformed image. projection: shape (..., 3 or 4, N);
    a fourth row stays as it is.
    """
    if projection.ndim < 2 or projection.shape[-2] not in (3, 4):
        raise ValueError(
            f"the projection matrix has the shape {list(projection.shape)}, but should have 3 or 4 "
            "rows"
        )
    result = projection.copy()
    result[..., :3, :] = matrix @ projection[..., :3, :]
    return result
