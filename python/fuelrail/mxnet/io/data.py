"""The types of MXNet's data iterators: `NDArray`, `DataDesc`, `DataBatch`, `DataIter`.

Each type behaves like the type of the same name in `mxnet.io`. `NDArray` has only those methods of
`mxnet.nd.NDArray` that users of batches need.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from fuelrail.errors import ArgumentTypeError, InvalidArgumentError
from fuelrail.options import shown, typed

__all__ = ["DataBatch", "DataDesc", "DataIter", "NDArray"]


def _reduction(name: str) -> Callable[..., NDArray]:
    def reduce(self: NDArray, axis: Any = None, **options: Any) -> NDArray:
        made = getattr(self.asnumpy(), name)(axis, **_plain(options))
        reduced: NDArray = _given(options.get("out"), made)
        return reduced

    reduce.__name__ = name
    reduce.__doc__ = f"""Computes NumPy's `{name}`, over all elements or along `axis`.

    Returns: `out` if it was passed, else a new NDArray. The {name} of all elements is an NDArray
    without dimensions; `asscalar` or `float` converts this array to a number.
    """
    return reduce


class NDArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in CPU memory, with the most used methods of MXNet's NDArray.

    An NDArray is created from any array that NumPy or DLPack accepts, and shares its memory.
    `asnumpy()`, `numpy.asarray(array)` and `torch.from_dlpack(array)` return views of the same
    memory. Operators and NumPy's ufuncs return NDArrays. The values and types of the results are
    NumPy's: for example, a comparison returns bools, where MXNet returns floats. All other NumPy
    functions also accept NDArrays. Two NDArrays have equal hashes only if they are the same object.

    The memory of a batch does not change while an array of the batch, or a view of such an array,
    exists.
    """

    __slots__ = ("_source",)

    def __init__(self, source: Any) -> None:
        """source: an array, or an object that NumPy can convert to an array.

        Errors: InvalidArgumentError if `source` cannot be converted to an array of numbers.
        """
        if not (hasattr(source, "__dlpack__") and hasattr(source, "shape")):
            try:
                source = np.asarray(source)
            except (TypeError, ValueError):
                source = None
            if source is None or source.dtype.hasobject:
                raise InvalidArgumentError(
                    "the source of an NDArray is not an array of numbers", found=typed(source)
                )
        self._source = source

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension. In a batch, the first length is the number of rows."""
        return tuple(int(extent) for extent in self._source.shape)

    @property
    def dtype(self) -> Any:
        """The element type as a NumPy scalar type, for example `numpy.float32`, as in MXNet."""
        return self.asnumpy().dtype.type

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def context(self) -> str:
        """The array's device, always "cpu(0)"."""
        return "cpu(0)"

    ctx = context

    @property
    def T(self) -> NDArray:  # noqa: N802  NumPy's and MXNet's name
        """A view with the dimensions in reverse order."""
        return self.transpose()

    def asnumpy(self) -> Any:
        """Returns a NumPy array that shares this array's memory. (MXNet returns a copy.)"""
        return np.asarray(self._source)

    def asscalar(self) -> Any:
        """Returns the element of an array with one element.

        Errors: InvalidArgumentError if the array has any other number of elements.
        """
        if self.size != 1:
            raise InvalidArgumentError(
                "the array does not have exactly one element",
                found=f"{self.size} elements",
                remedy="Select one element, or reduce the array, for example with `sum`",
            )
        return self.asnumpy().reshape(-1)[0]

    def copy(self) -> NDArray:
        """Returns a copy with its own memory."""
        return NDArray(self.asnumpy().copy())

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """Returns the array converted to the NumPy type `dtype`, like NumPy's `astype`.

        copy: if False, an array that already has this type is not copied.
        """
        return NDArray(self.asnumpy().astype(dtype, copy=copy))

    def reshape(self, *extents: Any, shape: Any = None) -> NDArray:
        """Returns the array with a new shape, like NumPy's `reshape`.

        The shape can be passed in three ways: `reshape(2, -1)`, `reshape((2, -1))` or
        `reshape(shape=(2, -1))`. A length of -1 is computed from the number of elements; a length
        of 0 keeps the present length of that dimension.

        Errors: InvalidArgumentError for MXNet's special lengths -2, -3 and -4; NumPy's ValueError
        if the shape does not match the number of elements.
        """
        if shape is None:
            shape = extents[0] if len(extents) == 1 else extents
        given = np.atleast_1d(shape).tolist()
        now = self.shape
        if any(n < -1 for n in given):
            raise InvalidArgumentError(
                "the shape is invalid",
                expected="positive numbers, 0 (keep the length) or -1 (compute the length)",
                found=shown(tuple(given)),
                remedy="Give a length for each dimension, with at most one -1",
            )
        made = [now[i] if n == 0 and i < len(now) else n for i, n in enumerate(given)]
        return NDArray(self.asnumpy().reshape(made))

    def transpose(self, *order: Any, axes: Any = None) -> NDArray:
        """Returns a view with the dimensions in a new order. By default, the order is reversed.

        The order can be passed in three ways: `transpose(1, 0)`, `transpose((1, 0))` or
        `transpose(axes=(1, 0))`.
        """
        return NDArray(self.asnumpy().transpose(*(order if axes is None else (axes,))))

    sum, mean, max, min = map(_reduction, ("sum", "mean", "max", "min"))

    def wait_to_read(self) -> None:
        """Does nothing, because the array's elements are always available."""

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentTypeError(
                "an array without dimensions has no length",
                remedy="Read its element with `asscalar`",
            )
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray:
        return NDArray(self.asnumpy()[_plain(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.asnumpy()[_plain(key)] = _plain(value)

    def __iter__(self) -> Iterator[NDArray]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    def __float__(self) -> float:
        return float(self.asscalar())

    __hash__ = object.__hash__  # the mixin's `__eq__` compares elements and removes the hash

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        made = getattr(ufunc, method)(*_plain(inputs), **_plain(options))
        results = made if isinstance(made, tuple) else (made,)
        given = tuple(map(_given, options.get("out", repeat(None)), results))
        return given if isinstance(made, tuple) else given[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.asnumpy()
        return np.asarray(array, dtype) if copy is None else np.array(array, dtype, copy=copy)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._source.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self._source.__dlpack_device__()

    def __reduce__(self) -> tuple[Any, ...]:
        return NDArray, (self.asnumpy(),)

    def __repr__(self) -> str:
        extents = "x".join(str(extent) for extent in self.shape)
        return f"\n{self.asnumpy()}\n<NDArray {extents} @{self.context}>"


def _plain(value: Any) -> Any:
    """Converts each NDArray to a NumPy array, also inside a tuple or a dict."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value.asnumpy() if isinstance(value, NDArray) else value


def _given(out: Any, made: Any) -> Any:
    """Returns `out` if it is not None. Otherwise returns `made`, which is converted to an NDArray
    if it is a NumPy array or scalar.
    """
    if out is not None:
        return out
    return NDArray(made) if isinstance(made, (np.ndarray, np.generic)) else made


class _Description(NamedTuple):
    name: str
    shape: tuple[int, ...]


class DataDesc(_Description):
    """Describes an array of a batch by its name, shape, element type and layout.

    A DataDesc is a tuple (name, shape), with the further attributes `dtype` and `layout`.
    """

    dtype: Any
    layout: str

    def __new__(
        cls, name: str, shape: Sequence[int], dtype: Any = None, layout: str = "NCHW"
    ) -> DataDesc:
        """dtype: a NumPy scalar type. Default: numpy.float32.
        layout: a string with one letter per dimension. The letter N marks the batch dimension.
        """
        description = super().__new__(cls, name, tuple(shape))
        description.dtype = np.float32 if dtype is None else dtype
        description.layout = layout
        return description

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """Returns the index of the batch dimension, marked by the letter N in `layout`.

        Returns 0 if `layout` is None, and -1 if `layout` has no N.
        """
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(
        shapes: Sequence[tuple[str, Sequence[int]]],
        types: Sequence[tuple[str, Any]] | None = None,
    ) -> list[DataDesc]:
        """Creates a DataDesc for each (name, shape) pair in `shapes`.

        types: (name, element type) pairs. Default: numpy.float32 for every name.
        """
        of = dict(types) if types is not None else {}
        return [DataDesc(name, shape, of.get(name)) for name, shape in shapes]


@dataclass(eq=False, repr=False)
class DataBatch:
    """A batch of an MXNet data iterator.

    data, label: lists of NDArray.
    pad: the number of padding rows at the end of the batch. These rows are not part of the epoch.
    index: the ids of the records, a numpy.uint64 array of shape (batch,).
    bucket_key, provide_data, provide_label: as in MXNet.
    """

    data: Sequence[Any]
    label: Sequence[Any] | None = None
    pad: int | None = None
    index: Any = None
    bucket_key: Any = None
    provide_data: Sequence[DataDesc] | None = None
    provide_label: Sequence[DataDesc] | None = None

    def __post_init__(self) -> None:
        for option, arrays in (("data", self.data), ("label", self.label)):
            if arrays is not None and not isinstance(arrays, (list, tuple)):
                raise InvalidArgumentError(
                    f"`{option}` has the wrong type",
                    expected="a list or a tuple of arrays",
                    found=shown(arrays),
                )

    def __str__(self) -> str:
        shapes = [array.shape for array in self.data]
        labels = None if self.label is None else [array.shape for array in self.label]
        return f"{type(self).__name__}: data shapes: {shapes} label shapes: {labels}"


class DataIter:
    """The base class of data iterators, as in MXNet.

    A subclass defines `reset`, `iter_next`, `getdata`, `getlabel`, `getpad` and, optionally,
    `getindex`. `next` calls these methods and returns a DataBatch.
    """

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> DataIter:
        return self

    def reset(self) -> None:
        """Starts the next epoch. The base class does nothing."""

    def next(self) -> DataBatch:
        """Returns the next batch.

        Errors: StopIteration at the end of the epoch, and on further calls until `reset`.
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch(
            data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex()
        )

    def __next__(self) -> DataBatch:
        return self.next()

    def iter_next(self) -> bool:
        """Moves to the next batch. Returns False at the end of the epoch, and True otherwise."""
        raise NotImplementedError

    def getdata(self) -> Any:
        """Returns the data of the current batch."""
        raise NotImplementedError

    def getlabel(self) -> Any:
        """Returns the labels of the current batch."""
        raise NotImplementedError

    def getindex(self) -> Any:
        """Returns the ids of the current batch's records. The base class returns None."""
        return None

    def getpad(self) -> int | None:
        """Returns the number of padding rows at the end of the batch."""
        raise NotImplementedError
