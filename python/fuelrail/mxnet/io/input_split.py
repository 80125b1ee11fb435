"""dmlc-core's InputSplit: reads one part of many files, record by record.

docs/input_split.md has the rules.
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
    """Part `part` of `nsplit` of some files, as bytes. The parts are the same as dmlc-core's.

    >>> from fuelrail.mxnet.io import InputSplit
    >>> split = InputSplit("train.rec", 0, 4, "recordio")
    >>> records = list(split)
    >>> split.before_first()
    >>> records == list(split)
    True

    From the first read on, a thread reads ahead by up to two chunks. `close`, the end of a `with`
    or the deletion of the split stops the thread and closes the files. Any thread may call; calls
    run one at a time. In a forked child, a split works if nothing was read from it before the fork;
    otherwise it raises StateError there, and the parent's split still works.
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
        """Finds the files and the start and end of the part.

        uri: `item;item?key=value#cachefile`. An item is a file, a directory (its files, sorted by
        name), or a path whose last component is a regular expression for names in its directory.
        The arguments after `?` are for parsers and are ignored. With a cache file, the first pass
        copies the part into it (into `cachefile.splitN.partK` if there are several parts). Later
        passes read the copy while it matches the files; otherwise the copy is rebuilt.
        type: "text" (records are lines), "recordio" or "indexed_recordio". The last one needs
        `index_uri`, the `.idx` of all files together, and makes parts with equal record counts.
        shuffle: for indexed_recordio: read the part's records in a new order in every pass, the
        order that dmlc-core has for `seed`. num_shuffle_parts: for the other types: the number of
        sub-parts into which the part is divided; every pass reads the sub-parts in a new order, by
        `seed`. 0 = do not shuffle.
        batch_size: records per chunk, for indexed_recordio. chunk_size: bytes per chunk, for the
        other types. recurse_directories: include the subdirectories of a directory.

        Errors: InvalidArgumentError, ArgumentTypeError; NotFoundError for an item that matches no
        file; UnsupportedError for stdin, s3:// and hdfs://; CorruptError for a RecordIO file whose
        size is not a multiple of 4, and for an index of other data. Source: dmlc-core, io.h.
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
        """dmlc's `InputSplit::Create`. options: keyword arguments of `InputSplit`."""
        return cls(uri, part, nsplit, type, **options)

    def next_record(self) -> bytes | None:
        """Returns the next record: a line without its line end, or a payload. None at the end.

        Errors: CorruptError and TruncatedError, with path and offset, after all records before the
        damage.
        """
        self._has_read = True
        return self._core.next_record()

    def next_chunk(self) -> bytes | None:
        """Returns complete records as stored in the files: the rest of the chunk, or the next one.

        None at the end.
        """
        self._has_read = True
        return self._core.next_chunk()

    def next_batch(self, n: int) -> bytes | None:
        """Like `next_chunk`, but returns n records.

        The last batch may have fewer. The first batch of the next pass then has only the number
        that was missing.
        """
        self._has_read = True
        return self._core.next_batch(whole("n", n, least=1))

    def records_of(self, chunk: bytes) -> list[bytes]:
        """Returns the records in a result of `next_chunk` or `next_batch`."""
        if not isinstance(chunk, bytes):
            raise ArgumentTypeError(
                "`chunk` has the wrong type", expected="bytes", found=typed(chunk)
            )
        return self._core.records_of(chunk)

    def before_first(self) -> None:
        """Goes back to the start of the part, at any time. With shuffling, draws the next order."""
        self._has_read = True
        self._core.before_first()

    def reset_partition(self, part: int, nsplit: int) -> None:
        """Moves to the start of another part, at any time. Errors: as for `InputSplit`."""
        part, nsplit = whole("part", part), whole("nsplit", nsplit)
        self._core.reset_partition(part, nsplit)
        self._options.update(part=part, nsplit=nsplit)

    def hint_chunk_size(self, chunk_size: int) -> None:
        """Sets the size in bytes of further chunks; two may already have been read ahead.

        A chunk is longer if one record does not fit. Default: 8 MiB. No effect for
        indexed_recordio.
        """
        size = whole("chunk_size", chunk_size, least=1)
        self._core.hint_chunk_size(size)
        self._options["chunk_bytes"] = size

    def close(self) -> None:
        """Stops the thread and closes the files, after the call in progress.

        Later calls that read, move or use the files raise StateError. A second `close` does
        nothing.
        """
        self._core.close()

    @property
    def total_size(self) -> int:
        """Size of all files in bytes, not of the part."""
        return self._core.total_size()

    @property
    def part(self) -> int:
        """Number of this part, from 0 to `nsplit` - 1."""
        return int(self._options["part"])

    @property
    def nsplit(self) -> int:
        """Number of parts."""
        return int(self._options["nsplit"])

    @property
    def type(self) -> str:
        """ "text", "recordio" or "indexed_recordio"."""
        return str(self._options["type"])

    @property
    def files(self) -> list[str]:
        """The files that `uri` names, in order, without empty ones."""
        return self._core.files

    def __iter__(self) -> Iterator[bytes]:
        """Iterates over the remaining records of the pass."""
        self._has_read = True
        return iter(self._core.next_record, None)

    def __repr__(self) -> str:
        uri = os.fsdecode(self._options["uri"])
        kind = type(self).__name__
        return f"<{kind} {uri!r}, {self.type}, part {self.part} of {self.nsplit}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles arguments; the copy finds the files again. Errors: StateError after a read."""
        if self._has_read:
            raise StateError(
                "an input split cannot be pickled after a read",
                remedy="Create it from its uri and part in the process that reads it",
            )
        return _remade, (type(self), self._options)


class InputSplitShuffle(InputSplit):
    """dmlc-core's InputSplitShuffle: reads the part's sub-parts in a new order in every pass.

    >>> from fuelrail.mxnet.io import InputSplitShuffle
    >>> split = InputSplitShuffle.create("train.rec", 0, 4, "recordio", 16, shuffle_seed=7)

    The order inside a sub-part does not change. `reset_partition` requires the same `nsplit`.
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
        """dmlc's `InputSplitShuffle::Create`. type: "text" or "recordio"."""
        count = whole("num_shuffle_parts", num_shuffle_parts, least=1)
        return cls(uri, part, nsplit, type, num_shuffle_parts=count, seed=shuffle_seed)


def _remade(kind: type[InputSplit], options: dict[str, Any]) -> InputSplit:
    split = kind.__new__(kind)
    split._options = options
    split._has_read = False
    split._core = _core.open_input_split(**options)
    return split
