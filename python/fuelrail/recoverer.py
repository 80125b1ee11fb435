"""Copies the readable records of a damaged file to a new file."""

from __future__ import annotations

import os
from dataclasses import dataclass

from fuelrail import _core
from fuelrail.errors import CoreWarnings
from fuelrail.options import file_name, suggests_options, truth
from fuelrail.packer import PackedFile
from fuelrail.progress import Progress, shown_progress

__all__ = ["Loss", "Recovery", "recover"]


@dataclass(frozen=True)
class Loss:
    """A range of bytes in the damaged file that could not be recovered."""

    offset: int
    """Offset of the first byte."""
    bytes: int
    """Number of bytes. 0 if the file is truncated at `offset`."""
    record: int | None
    """Index of the first lost record, or None if the index is unknown."""
    reason: str


@dataclass(frozen=True)
class Recovery:
    """The result of `recover`."""

    file: PackedFile
    losses: tuple[Loss, ...]
    """The lost ranges of bytes, in the order in which they were found."""
    lost_records: int | None
    """Number of the source's records that are not in the new file. None for a `.rec` file without a
    sidecar, because its original number of records is unknown.
    """
    checksums: bool
    """Whether the records' original checksums were verified. False if they are unknown."""


@suggests_options
def recover(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    progress: Progress = None,
) -> Recovery:
    """Copies every readable record of a damaged or truncated file to a new file.

    source: a `.rec`, `.ffr` or `.bzna` file. It is not changed.
    output: the file to write. Its extension, `.rec`, `.ffr` or `.bzna`, selects the format.
    overwrite: True replaces an existing output. False raises IoError if the output, its index or
        its sidecar already exists. Default: False.
    progress: a function that is called with a PackProgress at most ten times a second, and once at
        the end. The PackProgress counts the bytes read. A `.rec` file is read twice, so its bytes
        are counted twice. If the function raises an exception, the recovery stops and leaves no
        file. False shows no progress. Default: None, which shows a progress line on standard error
        if standard error is a terminal.

    After damage in a `.rec` file, reading continues at the next intact record. A `.ffr` file may be
    truncated, but the record table at its beginning must be intact. A record is not copied if its
    checksum differs from the stored checksum, which is in the sidecar or in the `.ffr` file itself.
    The output keeps the class names of the sidecar and the keys of the index, but only from a
    sidecar or an index that belongs to the source. An unusable index causes a FuelrailWarning.
    Memory use: the size of the longest record, plus 52 bytes for each record (100 bytes for each
    record if the index is truncated).

    The output appears under its name only when it is complete. Errors: InvalidArgumentError and
    ArgumentTypeError for invalid names and options; NotFoundError; IoError; CorruptError if the
    record table is damaged or no record can be read; UnsupportedError if a record is too long for
    the output's format.
    """
    names = (file_name("`source`", source), file_name("`output`", output))
    truth("overwrite", overwrite)
    with CoreWarnings() as said, shown_progress(progress, "read", "bytes") as tell:
        made = _core.recover(*names, overwrite, tell, said)
    return Recovery(
        file=PackedFile(*made["file"]),
        losses=tuple(Loss(*loss) for loss in made["losses"]),
        lost_records=made["lost_records"],
        checksums=made["checksums"],
    )
