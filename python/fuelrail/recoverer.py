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
    """A range of bytes in a damaged file that no record of the recovered file contains."""

    offset: int
    """Offset of the first byte."""
    bytes: int
    """Number of bytes; 0 if the file is truncated at `offset`."""
    record: int | None
    """The first lost record, counted from 0; None if unknown."""
    reason: str


@dataclass(frozen=True)
class Recovery:
    """The result of `recover`."""

    file: PackedFile
    losses: tuple[Loss, ...]
    """The losses, in the order in which they were found."""
    lost_records: int | None
    """Number of the source's records that are not in the new file; None for a RecordIO file without
    its sidecar, whose original number of records is unknown."""
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
    output: the file to write. Its extension selects the format, `.rec` or `.ffr`.
    overwrite: replaces an existing output. If False, an existing output, index or sidecar causes an
        IoError. Default: False.
    progress: a function that is called with a PackProgress that counts bytes read (a `.rec` is read
        twice), at most ten times a second and at the end. If it raises an exception, the job ends
        and leaves no file. False: show nothing. Default: show a line on standard error if that is a
        terminal.

    In a damaged `.rec`, reading continues at the next intact record. A `.ffr` may be truncated, but
    the table at its beginning must be intact. A record is also lost if its checksum differs from
    the one in the sidecar or in the `.ffr` itself. If the sidecar and the index belong to the
    source, their class names and keys are kept; an unusable index causes a FuelrailWarning. Memory:
    the size of the longest record, plus 52 bytes for each record, or 100 if the index is truncated.

    The output gets its name when it is complete. Errors: InvalidArgumentError and ArgumentTypeError
    for invalid names and options; NotFoundError; IoError; CorruptError if no record can be read,
    and for a damaged table; UnsupportedError for a record that is too long for the output's format.
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
