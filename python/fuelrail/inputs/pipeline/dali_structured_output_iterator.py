"""Batches of a DALI pipeline with the structure of the samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fuelrail.inputs.dali import dali, forking
from fuelrail.inputs.sample_data_group import SampleDataGroup

__all__ = ["DALIStructuredOutputIterator"]


class DALIStructuredOutputIterator:
    """Iterates over the batches of a DALI pipeline as nested dicts, like a torch DataLoader.

    >>> loader = DALIStructuredOutputIterator(
    ...     source.num_batches, pipeline, definition.check_and_get_output_data_structure())
    >>> for batch in loader:
    ...     loss = model(batch["camera"]["image"])

    The dicts have the names of the fields; an array of fields is a dict with the keys 0, 1, ... A
    data field is a tensor of shape (batch, ...), a string field a list of str. The shapes of a
    field must be equal in a batch, except those of strings: the step PaddingToUniform pads.

    DALI cannot begin an epoch before the end of the last one. An iterator therefore begins the next
    epoch if the last one has ended, and otherwise continues it. All iterators of one object share
    their position.
    """

    class SimpleIterator(Iterator[Any]):
        """An iterator over the batches of the rest of an epoch."""

        def __init__(self, obj: DALIStructuredOutputIterator) -> None:
            self._obj = obj
            self.reset()

        def __iter__(self) -> DALIStructuredOutputIterator.SimpleIterator:
            return self

        def __next__(self) -> Any:
            return self._obj._next()

        def __len__(self) -> int:
            return len(self._obj)

        def reset(self) -> None:
            """As `DALIStructuredOutputIterator.reset`."""
            self._obj.reset()

    def __init__(
        self,
        num_batches_in_epoch: int,
        pipeline: Any,
        sample_data_structure_blueprint: SampleDataGroup,
        contained_dataset: Any = None,
        dali_generic_iterator_class: Any = None,
        convert_sample_data_group_to_dict: bool = True,
        post_process_func: Callable[[Any], Any] | None = None,
    ) -> None:
        """Builds the pipeline, and starts it.

        num_batches_in_epoch: what `len` returns. It changes nothing else.
        pipeline: the pipeline of a `PipelineDefinition`.
        sample_data_structure_blueprint: the fields of the pipeline's output.
        contained_dataset: what the attribute `dataset` is. Default: this object.
        dali_generic_iterator_class: the class of DALI's iterator, which is created with the
            pipeline and a list of names; `NumPyIterator` gives NumPy arrays. Default:
            `nvidia.dali.plugin.pytorch.DALIGenericIterator`, which gives torch tensors.
        convert_sample_data_group_to_dict: whether batches are dicts. Otherwise each is a
            SampleDataGroup. Default: True.
        post_process_func: a function that receives each batch and returns what takes its place. It
            runs in the thread that asks for the batch. Default: none.

        Errors: ImportError if DALI, or torch for its iterator, is not installed. What the source
            raises for the first batch can arrive here.
        """
        iterator_class = dali_generic_iterator_class
        if iterator_class is None:
            iterator_class = dali("plugin.pytorch").DALIGenericIterator
        self._num_batches_in_epoch = num_batches_in_epoch
        self._blueprint = sample_data_structure_blueprint.get_empty_like_self()
        self._contained_dataset = contained_dataset
        self._as_dict = convert_sample_data_group_to_dict
        self._post_process = post_process_func
        with forking():
            self._internal = iterator_class(pipeline, list(self._blueprint.field_names_flat))
        self._epoch_ended = False

    def __iter__(self) -> SimpleIterator:
        return self.SimpleIterator(self)

    def __len__(self) -> int:
        return self._num_batches_in_epoch

    def reset(self) -> None:
        """Begins the next epoch, after the end of an epoch. At any other time, does nothing."""
        if self._epoch_ended:
            self._internal.reset()
            self._epoch_ended = False

    @property
    def dataset(self) -> Any:
        """The argument `contained_dataset`; by default, this object."""
        return self if self._contained_dataset is None else self._contained_dataset

    @property
    def internal_iterator(self) -> Any:
        """DALI's iterator."""
        return self._internal

    @property
    def sample_data_structure_blueprint(self) -> SampleDataGroup:
        """The fields of a batch, without values; a new object at each access."""
        return self._blueprint.get_empty_like_self()

    @classmethod
    def CreateAsDataLoaderObject(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N802
        """Returns an object of this class that is also an instance of torch's DataLoader.

        It takes the arguments of the class. What DataLoader has and this class lacks raises a
        RuntimeError when it is used.

        Errors: ImportError if torch is not installed.
        """
        from fuelrail.inputs.pipeline.as_data_loader import as_data_loader

        return as_data_loader(cls)(*args, **kwargs)

    def _next(self) -> Any:
        try:
            batches = next(self._internal)
        except StopIteration:
            self._epoch_ended = True
            raise
        batch: Any = self._blueprint.get_empty_like_self()
        batch.set_data_from_dali_generic_iterator_output(batches, 0)
        if self._as_dict:
            batch = batch.to_dictionary()
        return batch if self._post_process is None else self._post_process(batch)
