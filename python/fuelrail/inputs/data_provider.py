"""What a data set must offer to be an input."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["DataProvider"]


class DataProvider(ABC):
    """Makes the samples of a data set, by index. Derive from this class for your own data.

    An input pickles its provider into each worker process. So open files, and make locks and
    generators, at the first `get_data`, not in the constructor.
    """

    @abstractmethod
    def get_data(self, sample_index: int) -> SampleDataGroup:
        """Returns a sample, in the format of `sample_data_structure`.

        sample_index: from 0 to `get_number_of_samples()` - 1.
        """

    @abstractmethod
    def get_number_of_samples(self) -> int:
        """Returns the number of samples of the data set, which must not change."""

    @property
    @abstractmethod
    def sample_data_structure(self) -> SampleDataGroup:
        """The format of all samples: a group without values."""
