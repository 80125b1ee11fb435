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
    """A range of bytes of a damaged file that is in no record of the recovered file."""

    offset: int
    """Offset of the first byte."""
    bytes: int
    """Number of bytes; 0 if the file ends too early."""
    record: int | None
    """Number of the first lost record; None if unknown."""
    reason: str


@dataclass(frozen=True)
class Recovery:
    """The result of `recover`."""

    file: PackedFile
    losses: tuple[Loss, ...]
    """The losses as they were found, ordered by offset within each kind."""
    lost_records: int | None
    """Number of records that are not in the new file; None for a RecordIO file without its sidecar,
    whose original number of records is unknown."""
    checksums: bool
    """Whether the records' original checksums are known and were verified."""


@suggests_options
def recover(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    progress: Progress = None,
) -> Recovery:
    """Copies every readable record of a damaged or truncated file to a new file.

    source: a `.rec` or `.ffr` file. It is not changed.
    output: the file; its name determines its format, `.rec` or `.ffr`.
    overwrite: replaces an existing output. If False, an existing output, index or sidecar is an
        IoError. Default: False.
    progress: called with a PackProgress of bytes read (a `.rec` is read twice), at most ten times a
        second and at the end. An exception from it ends the job, and no file is left. Default: a
        line on standard error if that is a terminal; False: nothing.

    In a damaged `.rec`, reading continues at the next intact record. A `.ffr` may be truncated, but
    the table at its beginning must be intact. A record whose checksum differs from the one in the
    sidecar, or in the `.ffr` itself, is also lost. Class names and keys of the sidecar and the
    index are kept if these belong to the source; an unusable index causes a FuelrailWarning.
    Memory: that of the longest record, and at most 52 bytes for each record.

    The output gets its name when it is complete. Errors: InvalidArgumentError and ArgumentTypeError
    for invalid names and options; NotFoundError; IoError; CorruptError if no record can be read,
    and for a damaged table; UnsupportedError for a record longer than 512 MiB.
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
