"""Where samples come from: record files, folders, lists of them, and parts of any of these."""

from __future__ import annotations

import array
import contextlib
import importlib
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    TypeAlias,
    Union,
    cast,
    overload,
)

from fuelrail import _core
from fuelrail.class_names import ClassNames, class_names
from fuelrail.errors import (
    ArgumentTypeError,
    CoreWarnings,
    CorruptError,
    InvalidArgumentError,
)
from fuelrail.options import (
    choice_of,
    file_name,
    fractions,
    listed,
    nearest,
    place_of,
    shown,
    suggests_options,
    text,
    typed,
    whole,
)

if TYPE_CHECKING:
    import numpy
    import numpy.typing

__all__ = ["Dataset", "Field", "Place", "Sample", "open"]

Openable: TypeAlias = Union[
    str, os.PathLike[str], os.PathLike[bytes], bytes, "Dataset", Iterable["Openable"]
]
# A function and its arguments that make the dataset again, as `__reduce__` returns them.
Origin: TypeAlias = "tuple[Callable[..., Dataset], tuple[Any, ...]]"


class Field(NamedTuple):
    """What a dataset's samples hold under one name."""

    name: str
    kind: str
    """"image" (encoded), "tensor" or "bytes"."""
    dtype: str | None
    """Of a tensor's elements, by NumPy's name; None for the other kinds."""
    shape: tuple[int, ...]
    """Of a tensor: () for one number, -1 where the extent differs from sample to sample."""


class Place(NamedTuple):
    """Where a sample's record lies."""

    path: str
    record: int
    """Index in that file, whatever list or part of it the sample was taken from."""
    offset: int
    """Byte offset in that file."""


class Sample:
    """One sample, read and checked; its fields are attributes: `sample.image`, `sample.label`.

    An image or raw bytes are `bytes`, a number is an `int` or a `float`, a tensor is a
    `numpy.ndarray`. A field whose name an attribute has already (`id`, `place`) is `sample[name]`.
    It owns its memory, outlives the dataset and cannot change, so its copies are itself. It does
    not pickle: its values do, and so do the dataset and the index.
    """

    __slots__ = ("_record", "_schema")

    def __init__(self, record: _core.Record, schema: tuple[Field, ...]) -> None:
        self._record = record
        self._schema = schema

    @property
    def id(self) -> int:
        """The format's number of the record, or its index where the format has none."""
        return self._record.id

    @property
    def place(self) -> Place:
        """File, index in the file, and byte offset."""
        return Place(*self._record.place)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(field.name for field in self._schema)

    def __getitem__(self, field: str) -> Any:
        """The value of a field. Errors: InvalidArgumentError that suggests the nearest name,
        ArgumentTypeError for what is no name.
        """
        value = self._record.value(text("the name of a field", field))
        return value.numpy() if isinstance(value, _core.Array) else value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked by `copy` and others, maybe before __init__
            raise AttributeError(f"the sample has no attribute '{name}'")
        if name not in self.fields:
            known = ["decode", "fields", "id", "place", *self.fields]
            raise AttributeError(f"the sample has no '{name}'. {nearest(name, known)}")
        return self[name]

    def __copy__(self) -> Sample:
        return self

    def __deepcopy__(self, memo: object) -> Sample:
        return self

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError(
            "a sample cannot be pickled",
            remedy="Pickle its values, as with {name: sample[name] for name in sample.fields}, or "
            "the dataset and the index",
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.fields]

    @suggests_options
    def decode(
        self,
        field: str = "image",
        *,
        orientation: Literal["apply", "ignore"] = "apply",
        max_pixels: int = _core.DEFAULT_MAX_PIXELS,
    ) -> numpy.typing.NDArray[numpy.uint8]:
        """The image's pixels: uint8, (height, width, 3), RGB.

        orientation: "apply" turns the image as its EXIF tag says; "ignore" leaves it as stored.
        max_pixels: a larger image is refused before memory is taken for it. Errors: DecodeError,
        TruncatedError, UnsupportedError, OutOfMemoryError, each with the sample's place;
        InvalidArgumentError for a field that holds no image.
        """
        upright = choice_of("orientation", orientation, ("apply", "ignore")) == "apply"
        limit = whole("max_pixels", max_pixels, least=1)
        pixels: numpy.typing.NDArray[numpy.uint8] = _core.decode(
            self._record, text("the name of a field", field), upright, limit
        ).numpy()
        return pixels

    def __repr__(self) -> str:
        path, record, _ = self.place
        return f"<fuelrail.Sample: {', '.join(self.fields)}; record {record} of {path}>"


class Dataset:
    """Samples by index. Made by `fuelrail.open`, or as a part of another one.

    Immutable; any thread may use it, and it works in forked children. Pickled, it is how it was
    made: its files are opened again where it is unpickled (a relative path from there), and it is
    a CorruptError if their content is another one by then.
    """

    def __init__(
        self,
        container: _core.Container,
        name: str,
        origin: Origin | None = None,
        opened_as: tuple[str, str, bool, tuple[str, ...]] = ("", "", False, ()),
    ) -> None:
        """origin: None where `name` is the path that was opened, with the schema, the root,
        whether sidecars are ignored, and the class names in `opened_as`."""
        self._container = container
        self._name = name
        self._origin = origin
        self._opened_as = opened_as
        self._schema = tuple(Field(*field) for field in container.schema)
        with contextlib.suppress(ImportError):
            # Samples and batches become its arrays, maybe in a thread that the interpreter's exit
            # or a fork meets in the middle of an import.
            importlib.import_module("numpy")

    @property
    def container(self) -> _core.Container:
        """The core's side of the dataset."""
        return self._container

    @property
    def schema(self) -> tuple[Field, ...]:
        """The fields that every sample has."""
        return self._schema

    @property
    def classes(self) -> list[str]:
        """Names of the classes, by label; empty where nobody wrote them down."""
        return self._container.classes

    @property
    def fingerprint(self) -> str:
        """Says "the same content": number of records, bytes, checksum of the lengths."""
        return self._container.fingerprint

    @property
    def verifies_checksums(self) -> bool:
        """Whether every read compares the payload with a checksum."""
        return self._container.verifies_checksums

    def place(self, index: int) -> Place:
        """Where a sample's record lies; reads nothing. Errors: OutOfRangeError."""
        return Place(*self._container.place(self._index(index)))

    def subset(self, indices: Iterable[int]) -> Dataset:
        """The samples of these indices, in this order; an index may come more than once and may be
        negative. A list, an array, a tensor, what speaks DLPack (`fuelrail.Array`), any iterable.
        Errors: OutOfRangeError, ArgumentTypeError.
        """
        given = listed(indices)
        if not _is_iterable(given):
            raise ArgumentTypeError("the indices are not a list", found=typed(indices))
        wrapped = [self._index(index) for index in cast("Iterable[object]", given)]
        origin = (Dataset.subset, (self, array.array("q", wrapped)))
        return Dataset(self._container.subset(wrapped), f"part of {self._name}", origin)

    @suggests_options
    def split(self, parts: Mapping[str, float], seed: int = 0) -> dict[str, Dataset]:
        """Disjoint random parts by fraction.

        >>> parts = fuelrail.open("train.rec").split({"train": 0.5, "val": 0.5}, seed=1)
        >>> {name: len(part) for name, part in parts.items()}
        {'train': 4, 'val': 4}

        parts: fractions in (0, 1] by name, which sum to at most 1; what they leave is in no part.
        seed: 64 bits; the same one gives the same parts. Errors: InvalidArgumentError,
        ArgumentTypeError.
        """
        shares = fractions("parts", parts)
        seed = whole("seed", seed, bits=64)
        cut = self._container.split(list(shares.items()), seed)
        return {
            name: Dataset(part, f"{name} of {self._name}", (_part, (self, shares, seed, name)))
            for name, part in cut.items()
        }

    def __len__(self) -> int:
        return len(self._container)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Dataset: ...
    def __getitem__(self, index: int | slice) -> Sample | Dataset:
        """A sample, read now, or for a slice a Dataset. Errors: OutOfRangeError; of reading."""
        if isinstance(index, slice):
            chosen = self._sliced(index)
            begin = chosen.start if chosen else 0
            part = self._container.slice(begin, len(chosen), chosen.step)
            return Dataset(part, f"part of {self._name}", (operator.getitem, (self, index)))
        return Sample(self._container.read(self._index(index)), self._schema)

    def __iter__(self) -> Iterator[Sample]:
        for index in range(len(self)):
            yield Sample(self._container.read(index), self._schema)

    def __copy__(self) -> Dataset:
        return self

    def __deepcopy__(self, memo: object) -> Dataset:
        return self

    def __reduce__(self) -> Origin:
        return self._origin or (_reopen, (self._name, self.fingerprint, *self._opened_as))

    def __repr__(self) -> str:
        fields = ", ".join(field.name for field in self._schema)
        classes = f"; {len(self.classes)} classes" if self.classes else ""
        return f"<fuelrail.Dataset: {len(self):,} samples of {fields}{classes}; {self._name}>"

    def _sliced(self, index: slice) -> range:
        try:
            return range(len(self))[index]
        except TypeError:
            raise ArgumentTypeError("a slice is not one of integers", found=shown(index)) from None
        except ValueError:
            raise InvalidArgumentError("a slice has the step 0", found=shown(index)) from None

    def _index(self, index: object) -> int:
        if isinstance(index, bool):
            raise ArgumentTypeError(
                "an index is a bool",
                remedy="Turn a mask into indices first: numpy.flatnonzero(mask)",
            )
        return place_of(index, len(self), "sample")


# What a loader's error says of options that `open` alone has.
OPENS_ALONE = {
    name: f"Give the dataset `fuelrail.open(path, {name}=...)`" for name in ("root", "classes")
}
# They can be iterated over, but have no order, or items that no path is.
_NO_LISTS = (Mapping, Set, bytearray, memoryview)


@suggests_options
def open(
    source: Openable,
    schema: str | None = None,
    root: str | os.PathLike[str] | None = None,
    sidecar: Literal["use", "ignore"] = "use",
    classes: ClassNames | None = None,
) -> Dataset:
    """Opens a dataset.

    >>> fuelrail.open("train.rec")
    <fuelrail.Dataset: 8 samples of image, label; 2 classes; train.rec>

    source: a RecordIO file (`.rec`) or an FFRecord file (`.ffr`); a folder with `.ffr` files in it,
    which are put one after another by name; a folder with one sub-folder for each class (the label
    is the sub-folder's rank in code-point order); a list of images as text (`.lst`: id TAB label
    TAB path; `.csv` or `.tsv`: a first row that names the columns `path` and `label`; a label is a
    number, or, if all are, the name of a class); a Dataset; or a Python list of any of these, which
    are put one after another. In a folder, names that begin with a dot are passed over. What can go
    on but should be known is a FuelrailWarning.
    schema: what the records are, where a file can be read in more than one way. "class_folders": a
    `.ffr` is a packed folder (`pack_folder`) of such class folders, and its samples are images and
    labels, as those of the folder itself. None: what the file says.
    root: of a list of images, the folder that its paths are relative to. None: the list's own.
    sidecar: "use": what is known of a record file is read from its sidecar, and one is made where
    there is none. "ignore": no sidecar is read or written; the file is scanned, so that payload
    checksums, and class names unless `classes` gives them, are unknown: for a file that was changed
    on purpose, or is damaged.
    classes: the class names, by label: a list of them (`train.classes`), or the path of a file that
    has them (a packed file, a folder, or a text with a name on each line). A folder or a list of images gets
    its labels from them, need not have all of these classes, and may have no other; a record file
    must have the same names, or takes these where its sidecar is ignored. None: what is opened says
    them.

    Errors: ArgumentTypeError for what is none of these; NotFoundError; UnsupportedError for a
    scheme or a format that fuelrail does not read; CorruptError and TruncatedError for a damaged
    file, TruncatedError also for one that has fewer records than its sidecar says; IoError;
    InvalidArgumentError for a list whose parts differ in fields or classes, for other classes than
    `classes`, with the first difference, for a schema that there is not, or not for this, and for a
    root of what is no list of images.
    """
    schema = "" if schema is None else text("schema", schema)
    folder = "" if root is None else file_name("`root`", root)
    ignored = choice_of("sidecar", sidecar, ("use", "ignore")) == "ignore"
    names = class_names(classes)
    if isinstance(source, Dataset):
        if schema:
            raise InvalidArgumentError(
                "a dataset that is open takes no schema",
                found=schema,
                remedy="Give the schema where its file is opened",
            )
        if folder:
            raise InvalidArgumentError(
                "a dataset that is open takes no root",
                found=shown(folder),
                remedy="Give the root where the list is opened",
            )
        if ignored:
            raise InvalidArgumentError(
                "a dataset that is open has read its sidecar",
                found='sidecar="ignore"',
                remedy="Give the option where its file is opened",
            )
        if names:
            source.container.check_classes(names)
        return source
    if isinstance(source, (str, bytes, os.PathLike)):
        path = file_name("what is to be opened", source)
        with CoreWarnings() as said:
            return _open_path(path, said, schema, folder, ignored, tuple(names))
    if not isinstance(source, Iterable) and hasattr(source, "__getitem__"):
        raise ArgumentTypeError(
            "a dataset of Python code cannot be opened",
            expected="a path, or a list of them",
            found=typed(source),
            remedy="Give the folder or file that it reads; what is made in Python stays with "
            "torch.utils.data.DataLoader, or fuelrail.ffrecord.torch.DataLoader",
        )
    if isinstance(source, _NO_LISTS) or not _is_iterable(source):
        raise ArgumentTypeError(
            "this cannot be opened", expected="a path, or a list of them", found=typed(source)
        )
    parts = [open(part, schema, root, sidecar, names or None) for part in source]
    if not parts:
        raise InvalidArgumentError("the list of datasets to open is empty")
    container = _core.concat([part.container for part in parts])
    return Dataset(container, f"{len(parts)} datasets", (open, (parts,)))


def _is_iterable(value: object) -> bool:
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:  # also of an array or a tensor without dimensions, which has __iter__
        return False
    return True


def _reopen(
    path: str, fingerprint: str, schema: str, root: str, ignored: bool, classes: tuple[str, ...]
) -> Dataset:
    """What was opened when it was pickled; whoever pickled it has heard the warnings."""
    data = _open_path(path, [], schema, root, ignored, classes)
    if data.fingerprint != fingerprint:
        raise CorruptError(
            "the dataset has changed since it was pickled",
            path=path,
            expected=f"fingerprint {fingerprint}",
            found=data.fingerprint,
            remedy="Open it again and pickle that",
        )
    return data


def _part(data: Dataset, fractions: Mapping[str, float], seed: int, name: str) -> Dataset:
    return data.split(fractions, seed)[name]


def _open_path(
    path: str, said: list[str], schema: str, root: str, ignored: bool, classes: tuple[str, ...]
) -> Dataset:
    """The dataset; what the core warns of is appended to `said`."""
    container = _core.open_container(
        os.fsencode(path), said, schema, os.fsencode(root), ignored, list(classes)
    )
    return Dataset(container, path, opened_as=(schema, root, ignored, classes))
