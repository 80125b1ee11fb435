"""Converts record files from one format to another."""

from __future__ import annotations

import os

from fuelrail import _core
from fuelrail.class_names import ClassNames, class_names
from fuelrail.errors import CoreWarnings
from fuelrail.options import file_name, read_options, suggests_options, text
from fuelrail.packer import PACK_OPTIONS, PackedFile
from fuelrail.progress import Progress, shown_progress

__all__ = ["convert"]

_OPTIONS = ("crf", "preset", "chroma", "thumb", "threads", "overwrite")


@suggests_options
def convert(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    schema: str | None = None,
    classes: ClassNames | None = None,
    crf: float = 23,
    preset: str = "medium",
    chroma: int = 420,
    thumb: bool = True,
    threads: int | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> PackedFile:
    """Converts a record file to another format.

    source: a `.rec`, `.ffr` or `.bzna` file.
    output: the file to write. Its extension, `.rec`, `.ffr` or `.bzna`, selects the format. If
        `schema` is not given, the format must differ from the format of the source.
    schema: how to interpret the source's records, as in `fuelrail.open`. "class_folders" is for a
        `.ffr` file that `fuelrail.ffrecord.pack_folder` wrote. With this schema, the output has the
        same image records, labels and class names as a file that `fuelrail.pack` writes from the
        same folder. Default: None, which copies the records unchanged.
    classes: the class names in the order of their labels, as in `fuelrail.pack`. Can be given only
        with `schema`. Default: the names of the folders in code-point order.
    crf, preset, chroma, thumb, threads: how the images of a `.bzna` output are encoded, as in
        `fuelrail.pack`.
    overwrite: True replaces an existing output. False raises IoError if the output, its index or
        its sidecar already exists. Default: False.
    progress: a function that is called with a PackProgress at most ten times a second, and once at
        the end. The PackProgress counts records. If the function raises an exception, the
        conversion stops without creating or replacing the output. False shows no progress. Default:
        None, which shows a progress line on standard error if standard error is a terminal.

    If `schema` is not given, the records are copied unchanged and in order. If the source has
    checksums, they are verified. The class names from the source's sidecar and the keys from the
    source's index are copied to the output. Therefore, converting a `.rec` file to `.ffr` and back
    gives the same `.rec` and `.idx` files. Memory use: the size of the longest record, plus 20
    bytes per record.

    A `.bzna` output has H.265 stills: the images are decoded and encoded again, which needs the
    plugin for H.265 (docs/install.md). From a `.bzna` source, each record becomes an image of the
    output as it is, as an MP4 file, and its name goes to the output's sidecar; converting back
    gives the same stills, but no splits. If an image cannot be read, the conversion fails, and a
    report lists all such images, as in `fuelrail.pack`.

    The output appears under its name only when it is complete. Errors: InvalidArgumentError and
    ArgumentTypeError for invalid arguments; NotFoundError; IoError; CorruptError and
    TruncatedError for a damaged source; UnsupportedError if the source's index does not have one
    integer key for each record, or if a record is too long for the output's format.
    """
    names = (file_name("`source`", source), file_name("`output`", output))
    kind = "" if schema is None else text("schema", schema)
    table = class_names(classes)
    given = {name: value for name, value in locals().items() if name in _OPTIONS}
    options = read_options([row for row in PACK_OPTIONS if row.name in _OPTIONS], given)
    with CoreWarnings() as said, shown_progress(progress, "converted", "records") as tell:
        made = _core.convert(*names, kind, table, options, tell, said)
    return PackedFile(*made)
