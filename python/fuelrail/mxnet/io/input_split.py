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
    """Reads one of `nsplit` parts of some files as bytes. The parts are the same as dmlc-core's.

    >>> from fuelrail.mxnet.io import InputSplit
    >>> split = InputSplit("train.rec", 0, 4, "recordio")
    >>> records = list(split)
    >>> split.before_first()
    >>> records == list(split)
    True

    From the first read on, a thread reads up to two chunks ahead. `close`, the end of a `with` or
    the deletion of the split stops the thread and closes the files. Any thread may call the
    methods; the calls run one at a time. In a forked child, a split works if nothing was read from
    it before the fork. Otherwise it raises StateError in the child, but still works in the parent.
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
        The arguments after `?` are for parsers and are ignored. If a cache file is given, the first
        pass copies the part into it (into `cachefile.splitN.partK` if there are several parts).
        Later passes read the copy if it still matches the files, and rebuild it if it does not.
        type: "text" (records are lines), "recordio" or "indexed_recordio". "indexed_recordio" needs
        `index_uri`, one `.idx` for all files together, and makes parts with equal record counts.
        shuffle: only for indexed_recordio; read the part's records in a new order in every pass.
        The orders are those that dmlc-core draws from `seed`.
        num_shuffle_parts: only for the other types; the number of sub-parts into which the part is
        divided. Every pass reads the sub-parts in a new order, drawn from `seed`. 0 = do not
        shuffle.
        batch_size: records per chunk, for indexed_recordio. chunk_size: bytes per chunk, for the
        other types. recurse_directories: include the subdirectories of a directory.

        Errors: InvalidArgumentError, ArgumentTypeError; NotFoundError for an item that matches no
        file; UnsupportedError for stdin, s3:// and hdfs://; CorruptError for a RecordIO file whose
        size is not a multiple of 4, and for an index that does not belong to the files.
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
        """Creates a split, like dmlc's `InputSplit::Create`. options: keywords of `InputSplit`."""
        return cls(uri, part, nsplit, type, **options)

    def next_record(self) -> bytes | None:
        """Returns the next record: a line without its line end, or a payload. None at the end.

        Errors: CorruptError and TruncatedError, with path and offset, once all records before the
        damage have been returned.
        """
        self._has_read = True
        return self._core.next_record()

    def next_chunk(self) -> bytes | None:
        """Returns complete records as they are stored in the files; None at the end.

        The records are the unread rest of the current chunk or, if nothing is left, the next chunk.
        """
        self._has_read = True
        return self._core.next_chunk()

    def next_batch(self, n: int) -> bytes | None:
        """Like `next_chunk`, but returns n records.

        The last batch of a pass may have fewer. In that case, the first batch of the next pass has
        only as many records as were missing.
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
        """Goes back to the start of the part; a shuffled split draws the next order.

        May be called at any time.
        """
        self._has_read = True
        self._core.before_first()

    def reset_partition(self, part: int, nsplit: int) -> None:
        """Moves to the start of a different part. May be called at any time.

        Errors: as for `InputSplit`.
        """
        part, nsplit = whole("part", part), whole("nsplit", nsplit)
        self._core.reset_partition(part, nsplit)
        self._options.update(part=part, nsplit=nsplit)

    def hint_chunk_size(self, chunk_size: int) -> None:
        """Sets the size in bytes of the chunks that are not read yet.

        Up to two chunks of the old size may already have been read ahead. A chunk is longer if a
        single record does not fit. Default: 8 MiB. No effect for indexed_recordio.
        """
        size = whole("chunk_size", chunk_size, least=1)
        self._core.hint_chunk_size(size)
        self._options["chunk_bytes"] = size

    def close(self) -> None:
        """Waits for the call in progress, stops the thread and closes the files.

        Later calls that read, move or use the files raise StateError. A second `close` does
        nothing.
        """
        self._core.close()

    @property
    def total_size(self) -> int:
        """The size of all files in bytes, not only of the part."""
        return self._core.total_size()

    @property
    def part(self) -> int:
        """The number of this part, from 0 to `nsplit` - 1."""
        return int(self._options["part"])

    @property
    def nsplit(self) -> int:
        """The number of parts."""
        return int(self._options["nsplit"])

    @property
    def type(self) -> str:
        """ "text", "recordio" or "indexed_recordio"."""
        return str(self._options["type"])

    @property
    def files(self) -> list[str]:
        """The files that `uri` names, in order, except empty files."""
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
        """Pickles only the split's arguments; unpickling looks up the files again.

        Errors: StateError if the split has been read.
        """
        if self._has_read:
            raise StateError(
                "an input split that has been read cannot be pickled",
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
        """Creates a split, like dmlc's `InputSplitShuffle::Create`. type: "text" or "recordio"."""
        count = whole("num_shuffle_parts", num_shuffle_parts, least=1)
        return cls(uri, part, nsplit, type, num_shuffle_parts=count, seed=shuffle_seed)


def _remade(kind: type[InputSplit], options: dict[str, Any]) -> InputSplit:
    split = kind.__new__(kind)
    split._options = options
    split._has_read = False
    split._core = _core.open_input_split(**options)
    return split
