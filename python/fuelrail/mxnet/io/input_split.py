"""dmlc-core's InputSplit: one logical part of many files, record by record. docs/input_split.md has the rules."""

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
    """Part `part` of `nsplit` of some files, as bytes: the same parts that dmlc-core makes.

    >>> from fuelrail.mxnet.io import InputSplit
    >>> split = InputSplit("train.rec", 0, 4, "recordio")
    >>> records = list(split)
    >>> split.before_first()
    >>> records == list(split)
    True

    A thread reads ahead from the first read on, up to two chunks; `close`, the end of a `with` or
    of the split itself ends it, and lets go of the files. Any thread may call, one call at
    a time goes on. In a forked child a split from which nothing was read works; one that has read
    raises StateError there, and the parent goes on.
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
        """Finds the files and where the part begins and ends.

        uri: `item;item?key=value#cachefile`. An item is a file, a directory (its files, sorted by
        name), or a path whose last component is a regular expression for names in its directory.
        The arguments after `?` are kept for parsers and not used here. With a cache file, the first
        pass copies the part into it (`cachefile.splitN.partK` of several) and the later ones read
        that, as long as it belongs to the files as they are; else it is made anew.
        type: "text" (records are lines), "recordio" or "indexed_recordio", which needs `index_uri`,
        the `.idx` of all files together, and makes parts of equal counts.
        shuffle: of indexed_recordio: a new order of the part's records in every pass, the one that
        dmlc-core has for `seed`. num_shuffle_parts: of the others: the part is divided into so
        many, which are visited in a new order in every pass, by `seed`; 0 = not.
        batch_size: records of a chunk, for indexed_recordio. chunk_size: bytes of a chunk, for the
        others. recurse_directories: what is in directories below a directory, too.

        Errors: InvalidArgumentError, ArgumentTypeError; NotFoundError for an item that names
        nothing; UnsupportedError for stdin, s3:// and hdfs://; CorruptError for a RecordIO file
        whose size is no multiple of 4, and for an index of other data. Source: dmlc-core, io.h.
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
        """dmlc's `InputSplit::Create`. options: the keywords of `InputSplit`."""
        return cls(uri, part, nsplit, type, **options)

    def next_record(self) -> bytes | None:
        """The next record: a line without its end, or a record's payload. None at the end.

        Errors: CorruptError and TruncatedError with path and offset, after the records before.
        """
        self._has_read = True
        return self._core.next_record()

    def next_chunk(self) -> bytes | None:
        """Whole records as they stand in the files: what is left of the chunk, or the next one."""
        self._has_read = True
        return self._core.next_chunk()

    def next_batch(self, n: int) -> bytes | None:
        """As `next_chunk`, of n records.

        The last batch may have fewer; the next pass's first one then has what it lacked.
        """
        self._has_read = True
        return self._core.next_batch(whole("n", n, least=1))

    def records_of(self, chunk: bytes) -> list[bytes]:
        """The records in what `next_chunk` or `next_batch` gave."""
        if not isinstance(chunk, bytes):
            raise ArgumentTypeError("`chunk` is no bytes", found=typed(chunk))
        return self._core.records_of(chunk)

    def before_first(self) -> None:
        """Goes back to the part's beginning, at any time; shuffled, draws the next order."""
        self._has_read = True
        self._core.before_first()

    def reset_partition(self, part: int, nsplit: int) -> None:
        """Goes on at the beginning of another part, at any time. Errors: as for `InputSplit`."""
        part, nsplit = whole("part", part), whole("nsplit", nsplit)
        self._core.reset_partition(part, nsplit)
        self._options.update(part=part, nsplit=nsplit)

    def hint_chunk_size(self, chunk_size: int) -> None:
        """Bytes of the chunks that are read from now on; two may have been read ahead.

        Longer where one record does not fit. Default: 8 MiB. indexed_recordio has no use for it.
        """
        size = whole("chunk_size", chunk_size, least=1)
        self._core.hint_chunk_size(size)
        self._options["chunk_bytes"] = size

    def close(self) -> None:
        """Ends the thread and closes the files, after the call in progress.

        From now on all that reads, moves or asks for the files is a StateError. Again: nothing.
        """
        self._core.close()

    @property
    def total_size(self) -> int:
        """Bytes of all files, not of the part."""
        return self._core.total_size()

    @property
    def part(self) -> int:
        """Which part it is, of `nsplit`."""
        return int(self._options["part"])

    @property
    def nsplit(self) -> int:
        """How many parts there are."""
        return int(self._options["nsplit"])

    @property
    def type(self) -> str:
        """ "text", "recordio" or "indexed_recordio"."""
        return str(self._options["type"])

    @property
    def files(self) -> list[str]:
        """The files that the list names, in order; empty ones are left out."""
        return self._core.files

    def __iter__(self) -> Iterator[bytes]:
        """The records that are left of the pass."""
        self._has_read = True
        return iter(self._core.next_record, None)

    def __repr__(self) -> str:
        uri = os.fsdecode(self._options["uri"])
        kind = type(self).__name__
        return f"<{kind} {uri!r}, {self.type}, part {self.part} of {self.nsplit}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """How it was made; the files are found again. Errors: StateError after a read."""
        if self._has_read:
            raise StateError(
                "an input split that has read cannot be pickled",
                remedy="Make it where it is read, of its uri and part",
            )
        return _remade, (type(self), self._options)


class InputSplitShuffle(InputSplit):
    """dmlc-core's InputSplitShuffle: the part's sub-parts in a new order in every pass.

    >>> from fuelrail.mxnet.io import InputSplitShuffle
    >>> split = InputSplitShuffle.create("train.rec", 0, 4, "recordio", 16, shuffle_seed=7)

    Inside a sub-part the order stays. `reset_partition` wants the same `nsplit`.
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
