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
    """Converts a RecordIO file to an FFRecord file, or an FFRecord file to a RecordIO file.

    source: a `.rec` or `.ffr` file.
    output: the file to write. Its extension selects its format, which must differ from the
        source's, unless `schema` is given.
    schema: how to read the source's records, as for `fuelrail.open`. "class_folders": the source is
        a packed folder of images (`pack_folder`), and the output has the same image records, labels
        and class names that `fuelrail.pack` makes from the folder itself. None: the source's own
        records are copied.
    classes: the class names, ordered by label, as for `fuelrail.pack`. Allowed only with a schema.
        Default: the names of the folders, ordered by code point.
    overwrite: replaces an existing output. If False, an existing output, index or sidecar causes an
        IoError. Default: False.
    progress: a function that is called with a PackProgress that counts records, at most ten times a
        second and at the end. If it raises an exception, the conversion ends and leaves no file.
        False: show nothing. Default: show a line on standard error if that is a terminal.

    Without a schema, the records' bytes are copied unchanged, in order. The source's checksums, if
    any, are verified. The class names in the source's sidecar and the keys in its index are kept,
    so that converting back gives the same `.rec` and the same `.idx`. Memory: the size of the
    longest record, plus 20 bytes for each record.

    The output gets its name when it is complete. Errors: InvalidArgumentError and ArgumentTypeError
    for invalid names, schemas and options; NotFoundError; IoError; CorruptError and TruncatedError
    for a damaged source; UnsupportedError for an index that does not have one integer key for each
    record, and for a record that is too long for the output's format.
    """
    names = (file_name("`source`", source), file_name("`output`", output))
    kind = "" if schema is None else text("schema", schema)
    table = class_names(classes)
    truth("overwrite", overwrite)
    with CoreWarnings() as said, shown_progress(progress, "converted", "records") as tell:
        made = _core.convert(*names, kind, table, overwrite, tell, said)
    return PackedFile(*made)
