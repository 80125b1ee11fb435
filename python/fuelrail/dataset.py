"""Opens record files, folders and lists of images as datasets, and combines and splits datasets."""

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
from fuelrail.nested import Nesting, groups_around
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
from fuelrail.schema import Field, Schema

if TYPE_CHECKING:
    import numpy
    import numpy.typing

__all__ = ["Dataset", "Field", "Place", "Sample", "open"]

Openable: TypeAlias = Union[
    str, os.PathLike[str], os.PathLike[bytes], bytes, "Dataset", Iterable["Openable"]
]
# A function and the arguments with which it rebuilds a dataset, as `__reduce__` returns them.
Origin: TypeAlias = "tuple[Callable[..., Dataset], tuple[Any, ...]]"


class Place(NamedTuple):
    """The file and the byte offset at which a sample's record is stored."""

    path: str
    record: int
    """Index of the record in the file `path`. The sample's index in a dataset may differ."""
    offset: int
    """Byte offset in the file `path`."""


class FieldNames:
    """The names of a dataset's fields and groups, prepared once for all samples."""

    def __init__(self, names: Iterable[str]) -> None:
        self.all = tuple(names)
        self.first = {name.partition(".")[0]: None for name in self.all}
        """The keys of a sample, in order."""
        self.groups = {place for name in self.all for place in groups_around(name) if place}
        """The names of all groups."""
        self._nestings: dict[str, tuple[list[str], Nesting]] = {}

    def nesting(self, group: str) -> tuple[list[str], Nesting]:
        """Returns the fields of a group ("": of the sample), and what nests their values."""
        if group not in self._nestings:
            begin = f"{group}." if group else ""
            inner = [name for name in self.all if name.startswith(begin)]
            paths = [name[len(begin) :].split(".") for name in inner]
            self._nestings[group] = inner, Nesting(paths)
        return self._nestings[group]


class Sample:
    """One sample of a dataset. Its fields are attributes: `sample.image`, `sample.label`. Groups of
    fields are nested dicts, with lists for numbers: `sample["cameras"][0]["boxes"]`, or
    `sample["cameras.0.boxes"]`.

    Images and raw bytes are `bytes`, text is a `str`, a single number is a `bool`, an `int` or a
    `float`, a tensor is a `numpy.ndarray` or, of bfloat16, which NumPy does not have, a
    `fuelrail.Array`, and a field that is a list is a `list`. If a field or
    group has the same name as a property or method of this class, such as `id`, use
    `sample["id"]`.

    All data are read and checked when the sample is created. A sample stays valid after the dataset
    is deleted. Samples are immutable, so copying returns the sample itself. A sample cannot be
    pickled. Instead, pickle its values, or pickle the dataset and the sample's index.
    """

    __slots__ = ("_names", "_record")

    def __init__(self, record: _core.Record, names: FieldNames) -> None:
        self._record = record
        self._names = names

    @property
    def id(self) -> int:
        """The record's stored id, or the record's index if the format stores no ids."""
        return self._record.id

    @property
    def place(self) -> Place:
        """The path of the record's file, and the record's index and byte offset in this file."""
        return Place(*self._record.place)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the sample's fields. In the name of a field of a group, dots separate the
        keys: "cameras.0.image".
        """
        return self._names.all

    def __getitem__(self, field: str) -> Any:
        """Returns the value of a field, or the values of a group of fields. Errors:
        InvalidArgumentError for an unknown name (the error text suggests a similar field name);
        ArgumentTypeError if `field` is not a string.
        """
        name = text("the field name", field)
        return self._group(name) if name in self._names.groups else self._value(name)

    def nested(self) -> Any:
        """Returns the values of all fields in nested dicts and lists."""
        return self._group("")

    def _group(self, name: str) -> Any:
        inner, nesting = self._names.nesting(name)
        return nesting([self._value(one) for one in inner])

    def _value(self, field: str) -> Any:
        value = self._record.value(field)
        if not isinstance(value, _core.Array) or value.dtype == "bfloat16":
            return value
        return value.numpy()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # `copy` and others may look them up before __init__ has run
            raise AttributeError(f"the sample has no attribute '{name}'")
        values = self._names.first
        if name not in values:
            known = ["decode", "fields", "id", "nested", "place", *sorted(values)]
            raise AttributeError(f"the sample has no attribute '{name}'. {nearest(name, known)}")
        return self[name]

    def __copy__(self) -> Sample:
        return self

    def __deepcopy__(self, memo: object) -> Sample:
        return self

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError(
            "a sample cannot be pickled",
            remedy="Pickle the dict {name: sample[name] for name in sample.fields}, or pickle the "
            "dataset and the sample's index",
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names.first]

    @suggests_options
    def decode(
        self,
        field: str = "image",
        *,
        item: int | None = None,
        orientation: Literal["apply", "ignore"] = "apply",
        max_pixels: int = _core.DEFAULT_MAX_PIXELS,
    ) -> numpy.typing.NDArray[Any]:
        """Decodes an image. Returns the RGB pixels as uint8 of shape (height, width, 3).

        Of a mask or a map, returns its numbers, of shape (height, width) or, for a map of several
        channels, (height, width, channels): uint8, uint16 or int32, as they are stored, or float32.

        field: the name of an image field, such as "image" or "cameras.0.image".
        item: if the field is a list of images, the number of one of them, counted from 0. Default:
            None, for fields that are one image.
        orientation: "apply" rotates and flips the image according to its EXIF orientation tag.
            "ignore" does not.
        max_pixels: the maximum of width * height. A larger image raises DecodeError before memory
            for its pixels is allocated.

        Errors: DecodeError, TruncatedError, UnsupportedError or OutOfMemoryError if decoding fails
        (the error has the path, the record's index and, if the sample has several images, the
        field); InvalidArgumentError if the field is unknown or is not an image, or if `item` is
        given without need or missing; OutOfRangeError for an `item` that does not exist.
        """
        upright = choice_of("orientation", orientation, ("apply", "ignore")) == "apply"
        limit = whole("max_pixels", max_pixels, least=1)
        number = None if item is None else whole("item", item, least=0)
        pixels: numpy.typing.NDArray[Any] = _core.decode(
            self._record, text("the field name", field), number, upright, limit
        ).numpy()
        return pixels

    def __repr__(self) -> str:
        path, record, _ = self.place
        return f"<fuelrail.Sample: {', '.join(self.fields)}; record {record} of {path}>"


class Dataset:
    """A sequence of samples, as returned by `fuelrail.open`.

    A dataset is immutable. It can be used in any thread and in forked child processes. Pickling
    saves the paths and options with which the dataset was created, but not the data. Unpickling
    opens the files again, and raises CorruptError if their content has changed. Relative paths are
    resolved in the current directory of the process that unpickles the dataset.
    """

    def __init__(
        self,
        container: _core.Container,
        name: str,
        origin: Origin | None = None,
        opened_as: Opening | None = None,
    ) -> None:
        """origin: a function and the arguments with which it creates this dataset from other
            datasets. Unpickling calls this function. None if the dataset was opened from the path
            `name`.
        opened_as: the options for opening the path `name` again. Default: those of `open`. Not used
            if `origin` is given.
        """
        self._container = container
        self._name = name
        self._origin = origin
        self._opened_as = opened_as or Opening()
        self._fields = tuple(Field(*field) for field in container.schema)
        self._names = FieldNames(field.name for field in self._fields)
        self._full_schema: Schema | None = None
        with contextlib.suppress(ImportError):
            # Samples and batches need NumPy. It is imported here, because a later import could run
            # in a different thread, where a fork or the interpreter's exit could interrupt it.
            importlib.import_module("numpy")

    @property
    def container(self) -> _core.Container:
        """The C++ object that this dataset wraps."""
        return self._container

    @property
    def schema(self) -> Schema:
        """The fields of every sample. Iterating over it gives the name, kind, dtype and shape of
        each field (`fuelrail.Field`). Errors: UnsupportedError for fields of other programs that no
        class in `fuelrail.fields` describes.
        """
        if self._full_schema is None:
            rows = self._container.fields
            classes = {
                row[0]: self._container.classes_of(row[0]) for row in rows if row[4] == "label"
            }
            self._full_schema = Schema.from_native(rows, classes)
        return self._full_schema

    @property
    def classes(self) -> list[str]:
        """The class names by label: those of the field `label` or, if it has none, the names that
        all label fields share. Empty if there are no names, or if they differ; `schema.classes` has
        those of each field.
        """
        if names := self._container.classes:
            return names
        tables = {
            tuple(self._container.classes_of(row[0]))
            for row in self._container.fields
            if row[4] == "label"
        } - {()}
        return list(tables.pop()) if len(tables) == 1 else []

    @property
    def fingerprint(self) -> str:
        """A string built from the number of records, the number of bytes and a checksum of the
        record lengths. Datasets with equal content have equal fingerprints, even if their paths
        differ.
        """
        return self._container.fingerprint

    @property
    def verifies_checksums(self) -> bool:
        """Whether reading a record verifies the checksum of its data."""
        return self._container.verifies_checksums

    def place(self, index: int) -> Place:
        """Returns the file and the byte offset at which a sample's record is stored. Does not read
        the record. Errors: OutOfRangeError, ArgumentTypeError.
        """
        return Place(*self._container.place(self._index(index)))

    def begin_epoch(self) -> None:
        """Called when an epoch of a loader begins."""

    def take_warnings(self) -> list[str]:
        """Returns what a loader is to warn of."""
        return []

    def note_restored(self) -> None:
        """Called when a loader's state of this dataset was restored."""

    def subset(self, indices: Iterable[int]) -> Dataset:
        """Returns a dataset of the samples at `indices`, in the order of `indices`.

        indices: a list, an array, a tensor or another iterable of integers, or an object that
            supports DLPack, such as a `fuelrail.Array`. Indices may be repeated. Negative indices
            count from the end of the dataset.

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

        parts: a dict from the name of each part to its fraction of the samples. Every fraction is
            greater than 0, and their sum is at most 1. If the sum is less than 1, the remaining
            samples are in no part.
        seed: an integer from 0 to 2**64 - 1. The same seed always gives the same parts.

        Returns: a dict from the name of each part to its dataset. Errors: InvalidArgumentError,
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
        """Reads and returns the sample at an index. For a slice, returns a dataset of the selected
        samples. Errors: OutOfRangeError; ArgumentTypeError; InvalidArgumentError for a slice with
        step 0; the errors of reading the record.
        """
        if isinstance(index, slice):
            chosen = self._sliced(index)
            begin = chosen.start if chosen else 0
            part = self._container.slice(begin, len(chosen), chosen.step)
            return Dataset(part, f"part of {self._name}", (operator.getitem, (self, index)))
        return Sample(self._container.read(self._index(index)), self._names)

    def __iter__(self) -> Iterator[Sample]:
        for index in range(len(self)):
            yield Sample(self._container.read(index), self._names)

    def __copy__(self) -> Dataset:
        return self

    def __deepcopy__(self, memo: object) -> Dataset:
        return self

    def __reduce__(self) -> Origin:
        return self._origin or (_reopen, (self._name, self.fingerprint, self._opened_as))

    def __repr__(self) -> str:
        fields = ", ".join(self._names.all)
        classes = f"; {len(self.classes)} classes" if self.classes else ""
        return f"<fuelrail.Dataset: {len(self):,} samples of {fields}{classes}; {self._name}>"

    def _sliced(self, index: slice) -> range:
        try:
            return range(len(self))[index]
        except TypeError:
            raise ArgumentTypeError(
                "the start, stop or step of a slice has the wrong type",
                expected="an integer or None",
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


class Opening(NamedTuple):
    """The options of `open` for a path, checked and completed."""

    schema: str = ""
    root: str = ""
    track: str = ""
    split: str = ""
    ignore_sidecar: bool = False
    classes: tuple[str, ...] = ()

    def refuse_for_open_dataset(self) -> None:
        """Errors: InvalidArgumentError if any option except `classes` is given."""
        given = {
            "schema": self.schema,
            "root": self.root and shown(self.root),
            "track": self.track,
            "split": self.split,
            "sidecar": '"ignore"' if self.ignore_sidecar else "",
        }
        for name, value in given.items():
            if value:
                raise InvalidArgumentError(
                    f"`{name}` cannot be given for a dataset that is already open",
                    found=value,
                    remedy=f"Pass `{name}` in the call to `fuelrail.open` that opens the file",
                )


# A loader's remedies for options that only `open` takes.
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
    track: str | None = None,
    split: str | None = None,
) -> Dataset:
    """Opens a dataset.

    >>> fuelrail.open("train.rec")
    <fuelrail.Dataset: 8 samples of image, label; 2 classes; train.rec>

    source: one of the following, or a Python list of them, concatenated in the list's order:
        - A RecordIO file (`.rec`), an FFRecord file (`.ffr`) or a Benzina file (`.bzna`).
        - A folder of `.ffr` files, which are concatenated in the order of their names.
        - A folder with one sub-folder for each class. The sub-folders are numbered from 0 in the
          code-point order of their names. An image's label is the number of its sub-folder.
        - A list of images: a `.lst` file with lines of the form id TAB label TAB path, or a `.csv`
          or `.tsv` file with the column names in its first row. The columns `path` and `label` are
          required. Labels are either all numbers or all class names.
        - A Dataset.
        In a folder, names that start with a dot are skipped.
    schema: how to interpret the records, if the format allows more than one way. "class_folders" is
        for a `.ffr` file that `fuelrail.ffrecord.pack_folder` wrote from a folder with one
        sub-folder for each class. The samples then have an image and a label, as in the folder
        itself. Default: None, the format's default schema.
    root: the folder to which the paths in a list of images are relative. Can be given only for a
        list of images. Default: None, the folder of the list.
    sidecar: "use" reads the sidecar of each record file (`X.rec.frx` for `X.rec`), and writes that
        of a `.rec` file if it does not exist. "ignore" neither reads nor writes sidecars, and scans
        the `.rec` files instead. Checksums are then unknown, and class names are known only if
        `classes` is given. Use "ignore" for a file that is damaged or was changed on purpose.
    classes: the class names in the order of their labels. Pass a list of names, such as
        `train.classes`, or the path of a packed file, of a folder with one sub-folder for each
        class, or of a text file with one name on each line. For a folder or a list of images, the
        position of a name in `classes` is its label. Classes without images are allowed, but images
        of other classes are not. A record file's own class names must equal `classes`. With
        sidecar="ignore", a record file has no class names of its own and gets those in `classes`.
        Default: None, the class names of `source`.
    track: for a `.bzna` file, the image of each sample: "bzna_thumb", which has at most 512 x 512
        pixels, or "bzna_input", the image in full size. Default: None, the thumbnail or, if a record has
        none, the image in full size.
    split: for a `.bzna` file, the samples to open: "train", "validation" (or "val") or "test".
        Default: None, all samples.

    Issues a FuelrailWarning for each problem that does not prevent opening.

    Errors: ArgumentTypeError for a `source` of any other type; NotFoundError; IoError;
    UnsupportedError for an unsupported URI scheme or format; CorruptError or TruncatedError for a
    damaged file; TruncatedError for a file with fewer records than its sidecar lists;
    InvalidArgumentError in these cases:
        - The items of a Python list differ in their fields or class names.
        - The class names differ from `classes` (the error text shows the first difference).
        - `schema` is unknown or does not apply to the format.
        - `root` is given, but `source` is not a list of images.
        - `track` or `split` is unknown, or is given for a source that is not a `.bzna` file; or
          the file does not have this split.
    """
    names = class_names(classes)
    opening = Opening(
        schema="" if schema is None else text("schema", schema),
        root="" if root is None else file_name("`root`", root),
        track="" if track is None else text("track", track),
        split="" if split is None else text("split", split),
        ignore_sidecar=choice_of("sidecar", sidecar, ("use", "ignore")) == "ignore",
        classes=tuple(names),
    )
    if isinstance(source, Dataset):
        opening.refuse_for_open_dataset()
        if names:
            source.container.check_classes(names)
        return source
    if isinstance(source, (str, bytes, os.PathLike)):
        path = file_name("`source`", source)
        with CoreWarnings() as said:
            return _open_path(path, said, opening)
    if hasattr(source, "used_sample_data_structure"):
        raise ArgumentTypeError(
            "an input of fuelrail.inputs cannot be opened",
            expected="a path or a list of paths",
            found=typed(source),
            remedy="Pass its data provider to the loader, and its sampler as `batch_sampler`",
        )
    if not isinstance(source, Iterable) and hasattr(source, "__getitem__"):
        raise ArgumentTypeError(
            "a dataset implemented in Python cannot be opened",
            expected="a path or a list of paths",
            found=typed(source),
            remedy="Create an object of the class, and pass it to a loader"
            if isinstance(source, type)
            else "Pass it to a loader or to `fuelrail.open_python`"
            if hasattr(source, "__len__")
            else "Give it `__len__`, and pass it to a loader or to `fuelrail.open_python`",
        )
    if isinstance(source, _NO_LISTS) or not _is_iterable(source):
        raise ArgumentTypeError(
            "`source` has the wrong type",
            expected="a path or a list of paths",
            found=typed(source),
            remedy="Create an object of the class" if isinstance(source, type) else None,
        )
    parts = [open(part, schema, root, sidecar, names or None, track, split) for part in source]
    if not parts:
        raise InvalidArgumentError("the list of datasets to open is empty")
    container = _core.concat([part.container for part in parts])
    return Dataset(container, f"{len(parts)} datasets", (open, (parts,)))


def _is_iterable(value: object) -> bool:
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:  # a 0-dimensional array or tensor has __iter__, which raises
        return False
    return True


def _reopen(path: str, fingerprint: str, opening: Opening) -> Dataset:
    """Opens the files of a pickled dataset again, without issuing warnings."""
    data = _open_path(path, [], opening)
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


def _open_path(path: str, said: list[str], opening: Opening) -> Dataset:
    """Opens a dataset and appends the core's warnings to `said`."""
    container = _core.open_container(
        os.fsencode(path),
        said,
        schema=opening.schema,
        root=os.fsencode(opening.root),
        track=opening.track,
        split=opening.split,
        ignore_sidecar=opening.ignore_sidecar,
        classes=list(opening.classes),
    )
    return Dataset(container, path, opened_as=opening)
