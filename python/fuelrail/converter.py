"""Converts record files from one format to another."""

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
    """Converts a RecordIO file to an FFRecord file, or the reverse.

    source: a `.rec` or `.ffr` file.
    output: a file of the other format, given by its name; with `schema`, of either format.
    schema: as for `fuelrail.open`. "class_folders": the source is a packed folder (`pack_folder`)
        of images. The output, of either format, then has image records with labels and class names,
        as `fuelrail.pack` makes them from the folder itself. None: the source's own records.
    classes: with a schema, the class names by label, as for `fuelrail.pack`. Default: the names of
        the folders, ordered by code point.
    overwrite: replaces an existing output. If False, an existing output, index or sidecar is an
        IoError. Default: False.
    progress: called with a PackProgress of records, at most ten times a second and at the end. An
        exception from it ends the conversion, and no file is left. Default: a line on standard
        error if that is a terminal; False: nothing.

    Without a schema, the records' bytes are copied unchanged, in order. The checksums that the
    source has are verified. The sidecar's class names and the keys of an index beside the source
    are kept: converting back gives the same `.rec` and the same `.idx`. Memory: that of the longest
    record, and 20 bytes for each record.

    The output gets its name when it is complete. Errors: InvalidArgumentError and ArgumentTypeError
    for invalid names, schemas and options; NotFoundError; IoError; CorruptError and TruncatedError
    for a damaged source; UnsupportedError for an index whose keys are not integers, one for each
    record, and for a record that is too long for the output's format.
    """
    names = (file_name("`source`", source), file_name("`output`", output))
    kind = "" if schema is None else text("schema", schema)
    table = class_names(classes)
    truth("overwrite", overwrite)
    with CoreWarnings() as said, shown_progress(progress, "converted", "records") as tell:
        made = _core.convert(*names, kind, table, overwrite, tell, said)
    return PackedFile(*made)
