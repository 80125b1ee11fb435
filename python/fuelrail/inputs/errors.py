"""The errors of fuelrail.inputs. Programs that catch ACCV-Lab's errors also catch these.

ACCV-Lab raises AssertionError, KeyError and RuntimeError for some mistakes. Each class here derives
from one of these three, and from a class of `fuelrail.errors`.
"""

from __future__ import annotations

from fuelrail.errors import Error, InvalidArgumentError, OutOfRangeError

__all__ = ["ExhaustedError", "FieldError", "InputArgumentError", "ProviderError"]


class InputArgumentError(InvalidArgumentError, AssertionError):
    """An argument has an invalid value or type."""


class FieldError(InvalidArgumentError, KeyError):
    """A field does not exist, exists already, or does not match; or a mapping lacks a value."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # KeyError would show the repr of the text


class ExhaustedError(OutOfRangeError, RuntimeError):
    """A SamplerInputCallable was asked for more batches than it was created for."""


class ProviderError(Error, RuntimeError):
    """A data provider raised an exception, which is the `__cause__`, or returned a sample that does
    not match its blueprint.
    """
