"""Replaces dmlc-core's InputSplit, which divides files into parts and reads one of the parts.

docs/input_split.md describes how the files are divided.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fuelrail import _core
from fuelrail.closing import Closing
from fuelrail.errors import ArgumentTypeError, StateError
from fuelrail.options import (
    choice_of,
    file_name,
    suggests_options,
    truth,
    typed,
    whole,
)

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["InputSplit", "InputSplitShuffle"]

_TYPES = ("text", "recordio", "indexed_recordio")


class InputSplit(Closing):
    """Divides files into `nsplit` parts, as dmlc-core does, and reads the records of one part.

    >>> from fuelrail.mxnet.io import InputSplit
    >>> split = InputSplit("train.rec", 0, 4, "recordio")
    >>> records = list(split)
    >>> split.before_first()
    >>> records == list(split)
    True

    The first read starts a thread, which reads up to two chunks in advance. The thread stops, and
    the files are closed, at `close`, at the end of a `with` block, or when the split is
    garbage-collected. Threads may share a split; their calls run one at a time.

    If nothing was read from a split before a fork, the child can use the split. Otherwise, reading
    in the child raises StateError. The parent can always continue.
    """

    @suggests_options
    def __init__(
        self,
        uri: str | os.PathLike[str],
        part: int = 0,
        nsplit: int = 1,
        type: str = "recordio",
        *,
        index_uri: str | os.PathLike[str] | None = None,
        shuffle: bool = False,
        seed: int = 0,
        batch_size: int = 256,
        recurse_directories: bool = False,
        num_shuffle_parts: int = 0,
        chunk_size: int = 8 << 20,
    ) -> None:
        """Finds the files, and determines where the part number `part` starts and ends.

        uri: items separated by `;`, for example `item;item?key=value#cachefile`. An item is a file,
            a directory (all its files, sorted by name) or `directory/regex` (the directory's files
            whose names match the regular expression). Everything from `?` to `#` is ignored. If a
            cache file is given, the first pass copies the part to this file. If nsplit is above 1,
            the copy is called `cachefile.splitN.partK`, where N is `nsplit` and K is `part`. Later
            passes read the copy. If the input files have changed, the copy is written again.
        part: the number of the part to read, from 0.
        nsplit: the number of parts.
        type: "text" (each line is a record), "recordio" or "indexed_recordio". With
            "indexed_recordio", parts have equal numbers of records; otherwise, parts have about
            equal numbers of bytes.
        index_uri: one `.idx` file for all record files together. Required for "indexed_recordio".
        shuffle: reads the part's records in a new order in every pass. Only for "indexed_recordio".
        seed: the seed of the random orders. The same seed gives the same orders as in dmlc-core.
        batch_size: the number of records in a chunk. Only for "indexed_recordio".
        recurse_directories: includes the files in subdirectories.
        num_shuffle_parts: the number of sub-parts, which are read in a new order in every pass. If
            it is 0, the part is not divided into sub-parts. Only for "text" and "recordio".
        chunk_size: the number of bytes in a chunk. Only for "text" and "recordio".

        Errors: InvalidArgumentError; ArgumentTypeError; NotFoundError for an item that matches no
        file; UnsupportedError for stdin, s3:// and hdfs://; CorruptError if the size of a RecordIO
        file is not a multiple of 4, or if the index does not belong to the files.
        """
        index = os.fsencode(file_name("`index_uri`", index_uri)) if index_uri is not None else b""
        self._options: dict[str, Any] = {
            "uri": os.fsencode(file_name("`uri`", uri)),
            "type": choice_of("type", type, _TYPES),
            "part": whole("part", part),
            "nsplit": whole("nsplit", nsplit),
            "index_uri": index,
            "shuffle": truth("shuffle", shuffle),
            "seed": whole("seed", seed, least=-(2**63)),
            "batch_size": whole("batch_size", batch_size),
            "recurse_directories": truth("recurse_directories", recurse_directories),
            "shuffle_parts": whole("num_shuffle_parts", num_shuffle_parts),
            "chunk_bytes": whole("chunk_size", chunk_size),
        }
        self._has_read = False
        self._core = _core.open_input_split(**self._options)

    @classmethod
    def create(
        cls,
        uri: str | os.PathLike[str],
        part: int,
        nsplit: int,
        type: str,
        **options: Any,
    ) -> Self:
        """Creates an InputSplit, like dmlc's `InputSplit::Create`.

        options: the keyword-only arguments of `InputSplit`.
        """
        return cls(uri, part, nsplit, type, **options)

    def next_record(self) -> bytes | None:
        """Returns the next record, or None at the end of the part.

        A record of a text file is a line without its line ending.

        Errors: CorruptError and TruncatedError, with path and offset, for damaged data. All records
        before the damage are returned first.
        """
        self._has_read = True
        return self._core.next_record()

    def next_chunk(self) -> bytes | None:
        """Returns the unread records of the current chunk. If all of them have been read, returns
        the next chunk. Returns None at the end of the part.

        A chunk contains whole records in the format of the file. `records_of` divides a chunk into
        its records.
        """
        self._has_read = True
        return self._core.next_chunk()

    def next_batch(self, n: int) -> bytes | None:
        """Returns n records as one bytes object in the format of the file. Returns None at the end
        of the part.

        If the last batch of a pass has only k < n records, the first batch of the next pass has
        n - k records.
        """
        self._has_read = True
        return self._core.next_batch(whole("n", n, least=1))

    def records_of(self, chunk: bytes) -> list[bytes]:
        """Divides the result of `next_chunk` or `next_batch` into its records."""
        if not isinstance(chunk, bytes):
            raise ArgumentTypeError(
                "`chunk` has the wrong type", expected="bytes", found=typed(chunk)
            )
        return self._core.records_of(chunk)

    def before_first(self) -> None:
        """Goes back to the start of the part and begins a new pass. If shuffling is on, the new
        pass has a new order.

        May be called at any time.
        """
        self._has_read = True
        self._core.before_first()

    def reset_partition(self, part: int, nsplit: int) -> None:
        """Divides the files into `nsplit` parts, and moves to the start of the part number `part`.
        May be called at any time.

        Errors: as for `InputSplit`.
        """
        part, nsplit = whole("part", part), whole("nsplit", nsplit)
        self._core.reset_partition(part, nsplit)
        self._options.update(part=part, nsplit=nsplit)

    def hint_chunk_size(self, chunk_size: int) -> None:
        """Sets the size in bytes of later chunks. Has no effect for "indexed_recordio".

        The next two chunks may still have the old size, because they are read in advance. If a
        single record is larger than `chunk_size`, its chunk is larger, too.
        """
        size = whole("chunk_size", chunk_size, least=1)
        self._core.hint_chunk_size(size)
        self._options["chunk_bytes"] = size

    def close(self) -> None:
        """Waits for the call in progress, stops the thread and closes the files.

        After `close`, methods that need the files raise StateError. A second `close` does nothing.
        """
        self._core.close()

    @property
    def total_size(self) -> int:
        """The total size of the input files in bytes. It is the same for every part."""
        return self._core.total_size()

    @property
    def part(self) -> int:
        """The number of the part that is read, from 0 to `nsplit` - 1."""
        return int(self._options["part"])

    @property
    def nsplit(self) -> int:
        """The number of parts."""
        return int(self._options["nsplit"])

    @property
    def type(self) -> str:
        """The record format: "text", "recordio" or "indexed_recordio"."""
        return str(self._options["type"])

    @property
    def files(self) -> list[str]:
        """The paths of the files that `uri` selects, in order, without empty files."""
        return self._core.files

    def __iter__(self) -> Iterator[bytes]:
        """Iterates over the records that this pass has not returned yet."""
        self._has_read = True
        return iter(self._core.next_record, None)

    def __repr__(self) -> str:
        uri = os.fsdecode(self._options["uri"])
        kind = type(self).__name__
        return f"<{kind} {uri!r}, {self.type}, part {self.part} of {self.nsplit}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the arguments of the constructor. Unpickling searches for the files again.

        Errors: StateError if the split has already been read or rewound.
        """
        if self._has_read:
            raise StateError(
                "an input split cannot be pickled after it has been read or rewound",
                remedy="Create a split with the same arguments in the other process",
            )
        return _remade, (type(self), self._options)


class InputSplitShuffle(InputSplit):
    """An InputSplit that reads its part of the files in random order: it divides the part into
    sub-parts, and shuffles the sub-parts again for every pass.

    >>> from fuelrail.mxnet.io import InputSplitShuffle
    >>> split = InputSplitShuffle.create("train.rec", 0, 4, "recordio", 16, shuffle_seed=7)

    Replaces dmlc-core's InputSplitShuffle. The order inside a sub-part does not change.
    `reset_partition` cannot change `nsplit`.
    """

    @classmethod
    @suggests_options
    def create(  # type: ignore[override]
        cls,
        uri: str | os.PathLike[str],
        part: int,
        nsplit: int,
        type: str,
        num_shuffle_parts: int,
        shuffle_seed: int = 0,
    ) -> Self:
        """Creates an InputSplitShuffle, like dmlc's `InputSplitShuffle::Create`.

        type: "text" or "recordio". num_shuffle_parts: the number of sub-parts into which the part
        is divided. shuffle_seed: the seed of the random order in which each pass reads the
        sub-parts. The other arguments are those of `InputSplit`.
        """
        count = whole("num_shuffle_parts", num_shuffle_parts, least=1)
        return cls(uri, part, nsplit, type, num_shuffle_parts=count, seed=shuffle_seed)


def _remade(kind: type[InputSplit], options: dict[str, Any]) -> InputSplit:
    split = kind.__new__(kind)
    split._options = options
    split._has_read = False
    split._core = _core.open_input_split(**options)
    return split
