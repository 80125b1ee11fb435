"""What can be read of a damaged file into a new one."""

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
    """Bytes of a damaged file that are in no record of the recovered one."""

    offset: int
    """Of the first of them."""
    bytes: int
    """How many; 0 where the file ends too early."""
    record: int | None
    """The number of the first record lost, where it is known."""
    reason: str


@dataclass(frozen=True)
class Recovery:
    """What `recover` did."""

    file: PackedFile
    losses: tuple[Loss, ...]
    """As they were found, by their offsets within a kind."""
    lost_records: int | None
    """How many records are not in the new file; None for a RecordIO file without its sidecar,
    where nothing says how many it had."""
    checksums: bool
    """Whether the checksums that records had before the damage are known, and were verified."""


@suggests_options
def recover(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    progress: Progress = None,
) -> Recovery:
    """Copies every record that can be read of a damaged or cut file to a new one.

    source: a `.rec` or `.ffr` file. It stays as it is.
    output: the file; its name says its format, `.rec` or `.ffr`.
    overwrite: replaces an output that is there. Default: that, or an index or a sidecar of its
        name, is an IoError.
    progress: called with a PackProgress of bytes read (a `.rec` is read twice), at most ten times a
        second and at the end. What it raises ends the job, and no file is left. Default: a line on
        standard error where that is a terminal; False: nothing.

    Damage of a `.rec` is passed over to the next record; of a `.ffr`, which may be cut, the table
    at its beginning must be whole. A record with another checksum than the sidecar, or the `.ffr`
    itself, says is lost too. Class names and keys of the sidecar and the index are kept where these
    belong to the source; an index that cannot be used is a FuelrailWarning. Memory: that of the
    longest record, and at most 52 bytes a record.

    The output gets its name when it is complete. Errors: InvalidArgumentError and ArgumentTypeError
    for names and options that cannot be; NotFoundError; IoError; CorruptError where no record can
    be read, and for a damaged table; UnsupportedError for a record longer than 512 MiB.
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
