"""One record format into another."""

from __future__ import annotations

import os

from fuelrail import _core
from fuelrail.class_names import ClassNames, class_names
from fuelrail.errors import CoreWarnings
from fuelrail.options import file_name, suggests_options, text, truth
from fuelrail.packer import PackedFile
from fuelrail.progress import Progress, shown_progress

__all__ = ["convert"]


@suggests_options
def convert(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    schema: str | None = None,
    classes: ClassNames | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> PackedFile:
    """Makes an FFRecord file of a RecordIO file, or the other way round.

    source: a `.rec` or `.ffr` file.
    output: a file of the other format, as its name says; with `schema`, of either.
    schema: as for `fuelrail.open`. "class_folders": the source is a packed folder (`pack_folder`)
        of images, and the output, of either format, gets image records with labels and class names,
        as `fuelrail.pack` makes them of the folder itself. None: the source's own records.
    classes: with a schema, the class names by label, as for `fuelrail.pack`. Default: the names of
        the folders, in the order of their code points.
    overwrite: replaces an output that is there. Default: that, or an index or a sidecar of its
        name, is an IoError.
    progress: called with a PackProgress of records, at most ten times a second and at the end. What
        it raises ends the conversion, and no file is left. Default: a line on standard error where
        that is a terminal; False: nothing.

    The records' bytes are copied as they are, in their order, and the checksums that the source has
    are verified. Class names go along in the sidecar, and so do the keys of an index beside the
    source: converting back gives the same `.rec` and the same `.idx`. Memory: that of the longest
    record, and 20 bytes a record.

    The output gets its name when it is complete. Errors: InvalidArgumentError and ArgumentTypeError
    for names, schemas and options that cannot be; NotFoundError; IoError; CorruptError and
    TruncatedError for a damaged source; UnsupportedError for an index whose keys are not whole
    numbers, one a record, and for a record that is too long for the output's format.
    """
    names = (file_name("`source`", source), file_name("`output`", output))
    kind = "" if schema is None else text("schema", schema)
    table = class_names(classes)
    truth("overwrite", overwrite)
    with CoreWarnings() as said, shown_progress(progress, "converted", "records") as tell:
        made = _core.convert(*names, kind, table, overwrite, tell, said)
    return PackedFile(*made)
