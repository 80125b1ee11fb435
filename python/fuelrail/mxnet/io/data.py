"""What MXNet's data iterators hand out: `NDArray`, `DataDesc`, `DataBatch`, and their base, `DataIter`.

Names and meanings are those of `mxnet.io` and, of an array, as much of `mxnet.nd.NDArray` as batches need.
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
    reduce.__doc__ = f"""NumPy's `{name}`; of all elements an array without dimensions, for `asscalar` or `float`.

    Returns: `out` itself, where it is given.
    """
    return reduce


class NDArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in the processor's memory: a view of what it was made from, without a copy.

    Takes whatever NumPy or DLPack does; gives `asnumpy()`, DLPack (`torch.from_dlpack(array)`) and NumPy's
    `__array__`. Operators and NumPy's ufuncs work on it and give an NDArray; what they compute, and of which type, is
    NumPy's (a comparison gives bools, where MXNet gives floats). NumPy's other functions take it, too. Hashed by
    identity. A batch's memory is unchanged, and kept, while an array of it, or anything made of one, lives.
    """

    __slots__ = ("_source",)

    def __init__(self, source: Any) -> None:
        """`source`: an array; anything else becomes a NumPy array. Errors: InvalidArgumentError for what is none."""
        if not (hasattr(source, "__dlpack__") and hasattr(source, "shape")):
            try:
                source = np.asarray(source)
            except (TypeError, ValueError):
                source = None
            if source is None or source.dtype.hasobject:
                raise InvalidArgumentError("this is no array of numbers", found=typed(source))
        self._source = source

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, the batch's rows first."""
        return tuple(int(extent) for extent in self._source.shape)

    @property
    def dtype(self) -> Any:
        """NumPy's scalar type, `numpy.float32` for one, as MXNet gives it."""
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
        """Where the memory is: "cpu(0)"."""
        return "cpu(0)"

    ctx = context

    @property
    def T(self) -> NDArray:  # noqa: N802  NumPy's and MXNet's name
        """The same memory with its dimensions in reverse order."""
        return self.transpose()

    def asnumpy(self) -> Any:
        """The elements as a NumPy array: a view of the same memory, where MXNet copies."""
        return np.asarray(self._source)

    def asscalar(self) -> Any:
        """The one element, as NumPy's scalar. Errors: InvalidArgumentError where there are more or none."""
        if self.size != 1:
            raise InvalidArgumentError(
                "the array has not one element",
                found=f"{self.size}",
                remedy="Take one of them, or reduce them, as `sum` does",
            )
        return self.asnumpy().reshape(-1)[0]

    def copy(self) -> NDArray:
        """The same elements in memory of their own."""
        return NDArray(self.asnumpy().copy())

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """With another element type, as NumPy names and converts them. copy: False: no copy of the same type."""
        return NDArray(self.asnumpy().astype(dtype, copy=copy))

    def reshape(self, *extents: Any, shape: Any = None) -> NDArray:
        """The same memory in another shape: `reshape(2, -1)`, `reshape((2, -1))` or `reshape(shape=(2, -1))`.

        -1 stands for what is left over; 0 for the extent that is there now. Errors: InvalidArgumentError for MXNet's
        -2, -3 and -4; NumPy's ValueError where the elements do not fit.
        """
        if shape is None:
            shape = extents[0] if len(extents) == 1 else extents
        given = np.atleast_1d(shape).tolist()
        now = self.shape
        if any(n < -1 for n in given):
            raise InvalidArgumentError(
                "this shape has a number that is not understood",
                expected="extents, 0 or -1",
                found=shown(tuple(given)),
                remedy="Write the extents",
            )
        made = [now[i] if n == 0 and i < len(now) else n for i, n in enumerate(given)]
        return NDArray(self.asnumpy().reshape(made))

    def transpose(self, *order: Any, axes: Any = None) -> NDArray:
        """The same memory with its dimensions in another order: `transpose(1, 0)`, `transpose((1, 0))` or
        `transpose(axes=(1, 0))`. Default: reversed.
        """
        return NDArray(self.asnumpy().transpose(*(order if axes is None else (axes,))))

    sum, mean, max, min = map(_reduction, ("sum", "mean", "max", "min"))

    def wait_to_read(self) -> None:
        """Does nothing: the elements are there."""

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentTypeError(
                "an array without dimensions has no length",
                remedy="Take its element with `asscalar`",
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

    __hash__ = object.__hash__  # the operators' base, which compares elements, has none

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
    """`value` with NumPy's arrays for those of this module, in a tuple or a function's keywords, too."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value.asnumpy() if isinstance(value, NDArray) else value


def _given(out: Any, made: Any) -> Any:
    """What a function gives: the caller's own array, where there is one, else what was made, wrapped."""
    if out is not None:
        return out
    return NDArray(made) if isinstance(made, (np.ndarray, np.generic)) else made


class _Description(NamedTuple):
    name: str
    shape: tuple[int, ...]


class DataDesc(_Description):
    """Name and shape of one array of a batch, a pair; and its element type and layout."""

    dtype: Any
    layout: str

    def __new__(
        cls, name: str, shape: Sequence[int], dtype: Any = None, layout: str = "NCHW"
    ) -> DataDesc:
        """`dtype`: NumPy's scalar type. Default: numpy.float32. `layout`: a letter a dimension, N the batch's."""
        description = super().__new__(cls, name, tuple(shape))
        description.dtype = np.float32 if dtype is None else dtype
        description.layout = layout
        return description

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """The dimension that counts the batch's rows: where N stands in `layout`; 0 without one, -1 without N."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(
        shapes: Sequence[tuple[str, Sequence[int]]],
        types: Sequence[tuple[str, Any]] | None = None,
    ) -> list[DataDesc]:
        """A list of descriptions from (name, shape) and, if given, (name, type) pairs."""
        of = dict(types) if types is not None else {}
        return [DataDesc(name, shape, of.get(name)) for name, shape in shapes]


@dataclass(eq=False, repr=False)
class DataBatch:
    """One batch.

    data, label: lists of NDArray. pad: rows at the end that are no part of the epoch. index: numpy.uint64 (batch,), the
    ids of the records. bucket_key, provide_data, provide_label: as in MXNet, kept as they are given.
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
                    f"`{option}` is neither a list nor a tuple of arrays", found=shown(arrays)
                )

    def __str__(self) -> str:
        shapes = [array.shape for array in self.data]
        labels = None if self.label is None else [array.shape for array in self.label]
        return f"{type(self).__name__}: data shapes: {shapes} label shapes: {labels}"


class DataIter:
    """The base of MXNet's data iterators: `next` over `iter_next` and the `get` functions.

    A derived class defines `reset`, `iter_next`, `getdata`, `getlabel`, `getpad` and, if it can, `getindex`.
    """

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> DataIter:
        return self

    def reset(self) -> None:
        """Begins the next epoch. Default: nothing happens."""

    def next(self) -> DataBatch:
        """The next batch. Errors: StopIteration at the end of the epoch, and until `reset`."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(
            data=self.getdata(), label=self.getlabel(), pad=self.getpad(), index=self.getindex()
        )

    def __next__(self) -> DataBatch:
        return self.next()

    def iter_next(self) -> bool:
        """Goes to the next batch. Returns: whether there is one."""
        raise NotImplementedError

    def getdata(self) -> Any:
        """The data of the current batch."""
        raise NotImplementedError

    def getlabel(self) -> Any:
        """The labels of the current batch."""
        raise NotImplementedError

    def getindex(self) -> Any:
        """The ids of the current batch's records. Default: None."""
        return None

    def getpad(self) -> int | None:
        """The rows at the current batch's end that are no part of the epoch."""
        raise NotImplementedError
