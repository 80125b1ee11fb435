"""Datasets: record files, folders, lists of images, and combinations and parts of them."""

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
# A function and its arguments that rebuild the dataset, in the form that `__reduce__` returns.
Origin: TypeAlias = "tuple[Callable[..., Dataset], tuple[Any, ...]]"


class Field(NamedTuple):
    """One field of a dataset's samples."""

    name: str
    kind: str
    """"image" (encoded), "tensor" or "bytes"."""
    dtype: str | None
    """NumPy's name of a tensor's element type; None for the other kinds."""
    shape: tuple[int, ...]
    """Shape of a tensor: () for a single number; -1 for a dimension that varies between samples.
    () for the other kinds.
    """


class Place(NamedTuple):
    """The location of a sample's record."""

    path: str
    record: int
    """Index of the record in the file `path`; the sample's index in a dataset may differ."""
    offset: int
    """Byte offset in the file `path`."""


class Sample:
    """One sample, read and checked. Its fields are attributes: `sample.image`, `sample.label`.

    An image and raw bytes are `bytes`, a number is an `int` or a `float`, a tensor is a
    `numpy.ndarray`. A field with the name of another attribute (`id`, `place`) is only available
    as `sample[name]`. A sample owns its memory and stays valid after the dataset is gone. It is
    immutable, so copying returns the sample itself. It cannot be pickled: pickle its values, or
    the dataset and the index.
    """

    __slots__ = ("_record", "_schema")

    def __init__(self, record: _core.Record, schema: tuple[Field, ...]) -> None:
        self._record = record
        self._schema = schema

    @property
    def id(self) -> int:
        """The id stored with the record, or the record's index if the format stores no id."""
        return self._record.id

    @property
    def place(self) -> Place:
        """The file, the record's index in it, and the byte offset."""
        return Place(*self._record.place)

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(field.name for field in self._schema)

    def __getitem__(self, field: str) -> Any:
        """Returns the value of a field. Errors: InvalidArgumentError for an unknown field, with the
        nearest name; ArgumentTypeError unless `field` is a string.
        """
        value = self._record.value(text("the field name", field))
        return value.numpy() if isinstance(value, _core.Array) else value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # looked up by `copy` and others, maybe before __init__
            raise AttributeError(f"the sample has no attribute '{name}'")
        if name not in self.fields:
            known = ["decode", "fields", "id", "place", *self.fields]
            raise AttributeError(f"the sample has no attribute '{name}'. {nearest(name, known)}")
        return self[name]

    def __copy__(self) -> Sample:
        return self

    def __deepcopy__(self, memo: object) -> Sample:
        return self

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError(
            "a sample cannot be pickled",
            remedy="Pickle its values, {name: sample[name] for name in sample.fields}, or the "
            "dataset and the index",
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
        """Decodes an image. Returns: RGB pixels, uint8, (height, width, 3).

        orientation: "apply" rotates and flips the image as its EXIF orientation tag requires;
        "ignore" leaves it as stored.
        max_pixels: width * height of the largest image that is decoded. The limit is checked before
        memory is allocated.

        Errors: DecodeError, TruncatedError, UnsupportedError, OutOfMemoryError, each with the
        sample's place; InvalidArgumentError for an unknown field and for a field that is not an
        image.
        """
        upright = choice_of("orientation", orientation, ("apply", "ignore")) == "apply"
        limit = whole("max_pixels", max_pixels, least=1)
        pixels: numpy.typing.NDArray[numpy.uint8] = _core.decode(
            self._record, text("the field name", field), upright, limit
        ).numpy()
        return pixels

    def __repr__(self) -> str:
        path, record, _ = self.place
        return f"<fuelrail.Sample: {', '.join(self.fields)}; record {record} of {path}>"


class Dataset:
    """A sequence of samples. Created by `fuelrail.open`, or as a part of another dataset.

    A dataset is immutable. Any thread may use it, and it works in forked children. A pickle holds
    the paths and options that it was opened with, not the data: unpickling opens the files again
    (relative paths start at the current directory there), and raises CorruptError if their content
    has changed.
    """

    def __init__(
        self,
        container: _core.Container,
        name: str,
        origin: Origin | None = None,
        opened_as: tuple[str, str, bool, tuple[str, ...]] = ("", "", False, ()),
    ) -> None:
        """origin: None if `name` is the path that was opened. `opened_as` then holds the schema,
        the root, whether sidecars are ignored, and the class names.
        """
        self._container = container
        self._name = name
        self._origin = origin
        self._opened_as = opened_as
        self._schema = tuple(Field(*field) for field in container.schema)
        with contextlib.suppress(ImportError):
            # Samples and batches need NumPy. Imported now, because a later import could run in
            # another thread, where the interpreter's exit or a fork could interrupt it.
            importlib.import_module("numpy")

    @property
    def container(self) -> _core.Container:
        """The core's object behind the dataset."""
        return self._container

    @property
    def schema(self) -> tuple[Field, ...]:
        """The fields that every sample has."""
        return self._schema

    @property
    def classes(self) -> list[str]:
        """The class names, in the order of the labels; empty if they are not stored."""
        return self._container.classes

    @property
    def fingerprint(self) -> str:
        """Identifies the content by the number of records, the number of bytes and a checksum of
        the lengths of the records. Equal content has equal fingerprints under any path.
        """
        return self._container.fingerprint

    @property
    def verifies_checksums(self) -> bool:
        """Whether every read checks the payload's checksum."""
        return self._container.verifies_checksums

    def place(self, index: int) -> Place:
        """Returns where a sample's record is stored, without reading it. Errors: OutOfRangeError,
        ArgumentTypeError.
        """
        return Place(*self._container.place(self._index(index)))

    def subset(self, indices: Iterable[int]) -> Dataset:
        """Returns a dataset of the samples at `indices`, in this order. An index may be repeated or
        negative.

        indices: a list, an array, a tensor, any other iterable, or any object that supports DLPack
        (`fuelrail.Array`).

        Errors: OutOfRangeError, ArgumentTypeError.
        """
        given = listed(indices)
        if not _is_iterable(given):
            raise ArgumentTypeError(
                "`indices` has the wrong type", expected="a list of integers", found=typed(indices)
            )
        wrapped = [self._index(index) for index in cast("Iterable[object]", given)]
        origin = (Dataset.subset, (self, array.array("q", wrapped)))
        return Dataset(self._container.subset(wrapped), f"part of {self._name}", origin)

    @suggests_options
    def split(self, parts: Mapping[str, float], seed: int = 0) -> dict[str, Dataset]:
        """Splits the dataset into disjoint random parts.

        >>> parts = fuelrail.open("train.rec").split({"train": 0.5, "val": 0.5}, seed=1)
        >>> {name: len(part) for name, part in parts.items()}
        {'train': 4, 'val': 4}

        parts: the name and fraction of each part. A fraction is in (0, 1], and all together are at
        most 1; the remaining samples are in no part.
        seed: 0 to 2**64 - 1. The same seed gives the same parts.

        Returns: the parts by name. Errors: InvalidArgumentError, ArgumentTypeError.
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
        """Reads the sample at an index, or returns the dataset of a slice. Errors: OutOfRangeError,
        ArgumentTypeError, those of reading; InvalidArgumentError for a slice with step 0.
        """
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
            raise ArgumentTypeError(
                "a slice bound or step has the wrong type",
                expected="integers or None",
                found=shown(index),
            ) from None
        except ValueError:
            raise InvalidArgumentError("the step of a slice is 0", found=shown(index)) from None

    def _index(self, index: object) -> int:
        if isinstance(index, bool):
            raise ArgumentTypeError(
                "an index has the wrong type",
                expected="an integer",
                found=typed(index),
                remedy="Convert a mask to indices with numpy.flatnonzero(mask)",
            )
        return place_of(index, len(self), "sample")


# Remedies of a loader for options that only `open` takes.
OPENS_ALONE = {
    name: f"Pass the dataset `fuelrail.open(path, {name}=...)`" for name in ("root", "classes")
}
# Iterables that are not lists of paths: they have no order, or their items are not paths.
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

    source: one of these, or a Python list of them, which are concatenated in its order:
        a RecordIO file (`.rec`) or an FFRecord file (`.ffr`);
        a folder of `.ffr` files, which are concatenated in the order of their names;
        a folder with one sub-folder for each class: the label of an image is the rank of its
        sub-folder's name in code-point order;
        a list of images, `.lst` (id TAB label TAB path) or `.csv` or `.tsv` (the first row names
        the columns, among them `path` and `label`): a label is a number, or a class name if all
        labels are names;
        a Dataset.
        Names in a folder that start with a dot are skipped. Problems that do not prevent opening
        are issued as FuelrailWarning.
    schema: how to read the records of a format that has several ways. "class_folders": a `.ffr` is
        a packed folder (`pack_folder`) with one sub-folder for each class, and its samples are
        images and labels, like those of the folder itself. None: the format's default.
    root: for a list of images only: the folder that its relative paths start from. None: the folder
        of the list.
    sidecar: "use": read what is known about a record file from its sidecar, and write a sidecar if
        the file has none. "ignore": neither read nor write a sidecar, but scan the file. Payload
        checksums are then unknown, and so are class names unless `classes` gives them. Use it for a
        damaged file, or one that was changed on purpose.
    classes: the class names, in the order of the labels: a list of names (`train.classes`) or the
        path of a file or folder that has them (a packed file, a folder of classes, or a text file
        with one name on each line). A folder and a list of images take their labels from these
        names; some classes may have no images, but no other class may occur. A record file must
        have exactly these names, unless its sidecar is ignored: then it takes these. None: the
        names that `source` has.

    Errors: ArgumentTypeError for any other source; NotFoundError; UnsupportedError for a URI scheme
    or a format that fuelrail does not read; CorruptError and TruncatedError for a damaged file;
    TruncatedError also for a file with fewer records than its sidecar says; IoError;
    InvalidArgumentError for a list whose parts differ in fields or classes, for class names that
    differ from `classes` (the text shows the first difference), for an unknown schema or one that
    the format does not take, and for a root without a list of images.
    """
    schema = "" if schema is None else text("schema", schema)
    folder = "" if root is None else file_name("`root`", root)
    ignored = choice_of("sidecar", sidecar, ("use", "ignore")) == "ignore"
    names = class_names(classes)
    if isinstance(source, Dataset):
        if schema:
            raise InvalidArgumentError(
                "`schema` does not apply to an open dataset",
                found=schema,
                remedy="Pass `schema` to the `fuelrail.open` that opens the file",
            )
        if folder:
            raise InvalidArgumentError(
                "`root` does not apply to an open dataset",
                found=shown(folder),
                remedy="Pass `root` to the `fuelrail.open` that opens the list of images",
            )
        if ignored:
            raise InvalidArgumentError(
                "`sidecar` does not apply to an open dataset",
                found='"ignore"',
                remedy="Pass `sidecar` to the `fuelrail.open` that opens the file",
            )
        if names:
            source.container.check_classes(names)
        return source
    if isinstance(source, (str, bytes, os.PathLike)):
        path = file_name("`source`", source)
        with CoreWarnings() as said:
            return _open_path(path, said, schema, folder, ignored, tuple(names))
    if not isinstance(source, Iterable) and hasattr(source, "__getitem__"):
        raise ArgumentTypeError(
            "a dataset implemented in Python cannot be opened",
            expected="a path or a list of paths",
            found=typed(source),
            remedy="Pass the path of the folder or file that it reads, or keep "
            "torch.utils.data.DataLoader or fuelrail.ffrecord.torch.DataLoader if Python code "
            "creates its samples",
        )
    if isinstance(source, _NO_LISTS) or not _is_iterable(source):
        raise ArgumentTypeError(
            "`source` has the wrong type",
            expected="a path or a list of paths",
            found=typed(source),
        )
    parts = [open(part, schema, root, sidecar, names or None) for part in source]
    if not parts:
        raise InvalidArgumentError("the list of datasets to open is empty")
    container = _core.concat([part.container for part in parts])
    return Dataset(container, f"{len(parts)} datasets", (open, (parts,)))


def _is_iterable(value: object) -> bool:
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:  # an array or a tensor without dimensions has __iter__, but raises
        return False
    return True


def _reopen(
    path: str, fingerprint: str, schema: str, root: str, ignored: bool, classes: tuple[str, ...]
) -> Dataset:
    """Opens the files of a pickled dataset again, without its warnings: the process that pickled it
    has issued them.
    """
    data = _open_path(path, [], schema, root, ignored, classes)
    if data.fingerprint != fingerprint:
        raise CorruptError(
            "the dataset has changed since it was pickled",
            path=path,
            expected=f"fingerprint {fingerprint}",
            found=data.fingerprint,
            remedy="Open the files with `fuelrail.open` and pickle the new dataset",
        )
    return data


def _part(data: Dataset, fractions: Mapping[str, float], seed: int, name: str) -> Dataset:
    return data.split(fractions, seed)[name]


def _open_path(
    path: str, said: list[str], schema: str, root: str, ignored: bool, classes: tuple[str, ...]
) -> Dataset:
    """Opens a dataset and appends the core's warnings to `said`."""
    container = _core.open_container(
        os.fsencode(path), said, schema, os.fsencode(root), ignored, list(classes)
    )
    return Dataset(container, path, opened_as=(schema, root, ignored, classes))
