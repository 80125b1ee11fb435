"""Packs images into record files, and merges record files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuelrail import _core
from fuelrail.class_names import ClassNames, class_names
from fuelrail.errors import ArgumentTypeError, CoreWarnings, InvalidArgumentError
from fuelrail.options import (
    Option,
    file_name,
    fractions,
    read_options,
    suggests_options,
    truth,
    typed,
)
from fuelrail.progress import Progress, shown_progress

__all__ = ["PackFailure", "PackReport", "PackedFile", "merge", "pack"]

PACK_OPTIONS = [Option(*row) for row in _core.pack_options()]
_NAMES = {option.name for option in PACK_OPTIONS}


@dataclass(frozen=True)
class PackedFile:
    """A file that was written."""

    path: str
    records: int
    bytes: int
    was_there: bool = False
    """Whether an earlier run made the file, and `resume` kept it."""


@dataclass(frozen=True)
class PackFailure:
    """An image that was skipped."""

    path: str
    reason: str


@dataclass(frozen=True)
class PackReport:
    """The result of packing."""

    files: tuple[PackedFile, ...]
    failures: tuple[PackFailure, ...]
    report: str | None
    """Path of the file that lists the failures, one JSON object per line; None if nothing failed.
    """
    unassigned: int = 0
    """Number of images that the split assigns to no part."""


@suggests_options
def pack(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    resize: int | None = None,
    quality: int | None = None,
    verify_images: bool = True,
    decode: bool = False,
    split: Mapping[str, float] | None = None,
    seed: int = 0,
    nsplit: int = 1,
    part: int | None = None,
    root: str | os.PathLike[str] | None = None,
    classes: ClassNames | None = None,
    max_errors: int | float = 0,
    overwrite: bool = False,
    resume: bool = False,
    threads: int | None = None,
    progress: Progress = None,
) -> PackReport:
    """Packs images into a RecordIO or an FFRecord file.

    source: a folder with one sub-folder per class, or a list. In a folder, names that begin with a
        dot are skipped. Each line of a `.lst` has an id, labels and a path, separated by tabs. A
        `.csv` or `.tsv` has the columns `path` and `label`, named in its first row; its ids are the
        row numbers. The labels of a list are numbers or class names. Without `classes`, they are
        class names if the first label is a word; with `classes`, they are class names if any label
        is a word or one of `classes`.
    output: the file to write. `X.rec` is a RecordIO file, with the index `X.idx` and the sidecar
        `X.rec.frx` beside it. `X.ffr` is an FFRecord file of the same records, with the sidecar
        `X.ffr.frx` beside it. With `split`, each part is a file: X_<name>.rec or X_<name>.ffr.
    resize: length of the shorter side, 1 to 32,768 pixels; smaller images are not enlarged.
        Default: no resizing.
    quality: JPEG quality of encoded images, 1 to 100. If given, every image is encoded. Default: 95
        for the images that `resize` shrinks; without `resize` and `quality`, the files' bytes are
        stored unchanged.
    verify_images: reads the header of each file that is stored unchanged, to find invalid images.
        Default: True.
    decode: decodes every image before it is stored, to find damage beyond the header. Images that
        are encoded again are always decoded. Default: False.
    split: maps the name of each part to its fraction, as in `Dataset.split`. A name consists of
        letters, digits, `_`, `-` and `.`.
    seed: seed of the split, 64 bits. Default: 0.
    nsplit: number of parts, X.part000.rec and so on. Each part has consecutive images, and the
        sizes of the parts differ by at most one image. The parts get their names one by one, and
        keep them if a later part fails; `merge` joins them. Cannot be combined with `split`.
        Default: 1, one file.
    part: makes only this one of the `nsplit` parts, counted from 0, so that several machines can
        share the work. Default: all parts.
    root: the folder that a list's paths are relative to. Default: the list's own folder.
    classes: the class names, ordered by label, so that several files use the same numbers: a list
        (`fuelrail.open("train.rec").classes`), or the path of a packed file, a folder, or a text
        file with a name on each line. A folder or a list need not have all of these classes, but
        any other class is an error, whatever `max_errors` is. Numeric labels must be indices in
        `classes`. Default: the names of the folders, or of the list, ordered by code point.
    max_errors: number of unreadable images that may be skipped, as an int, or their fraction, as a
        float from 0 to 1. If more images are unreadable, packing fails after checking all images,
        and `<output>.errors.jsonl` lists the unreadable ones, up to 10,000. Default: 0.
    overwrite: replaces an existing output. If False, an existing output, index or sidecar causes an
        IoError. Default: False.
    resume: resumes the work of a killed or failed run of the same job, if it left unfinished files.
        If this run fails, it keeps its unfinished files for the next run. The result is, byte for
        byte, that of an uninterrupted run, provided that the images have not changed. An existing
        output is compared with the result, image by image, and is kept if they are equal. An
        existing output that differs, or that is beside a different job's unfinished files, causes
        an IoError. If False, unfinished files are replaced, and a failed run leaves none. Default:
        False.
    threads: number of threads that read, decode and encode. Default: one for each processor that
        this process may use. The result is the same for any number of
        threads.
    progress: a function that is called with a PackProgress, at most ten times a second and at the
        end. If it raises an exception, the packing ends and, without `resume`, leaves no unfinished
        file. False: show nothing. Default: show a line on standard error if that is a terminal.
        With tqdm:

        >>> with tqdm.tqdm(unit="image") as bar:
        ...     def show(progress):
        ...         bar.total = progress.total
        ...         bar.update(progress.done - bar.n)
        ...     report = fuelrail.pack("photographs", "packed.rec", progress=show)

    Files get their final names only when all of them are complete; with `nsplit`, each file gets
    its name when it is complete. A FuelrailWarning reports problems that do not stop the packing:
    files that are not images, names that begin with a dot, repeated ids. Errors: NotFoundError if
    the source does not exist; InvalidArgumentError and ArgumentTypeError for an invalid option, and
    for a folder that is not in `classes`; IoError, also if another job is writing the output;
    CorruptError for a source that has no images, or none in the expected places, for an invalid
    list, for a class in a list that is not in `classes`, and if more images fail than `max_errors`
    allows.
    """
    given = {name: value for name, value in locals().items() if name in _NAMES}
    options = {
        **read_options(PACK_OPTIONS, given),
        "split": [] if split is None else list(_parts(split).items()),
        **({} if root is None else {"root": file_name("`root`", root)}),
        "classes": class_names(classes),
    }
    names = (_source_name(source), file_name("`output`", output))

    def run(said: list[str]) -> dict[str, Any]:
        with shown_progress(progress, "packed", "images") as tell:
            return _core.pack(*names, options, tell, None, said)

    return pack_report(run)


@suggests_options
def merge(
    output: str | os.PathLike[str],
    sources: Sequence[str | os.PathLike[str]],
    *,
    overwrite: bool = False,
    progress: Progress = None,
) -> PackedFile:
    """Merges record files of the same format into one file: the parts of one job, or any other
    files.

    output: the file to write. Its name has the same extension as the sources, `.rec` or `.ffr`.
    sources: the files, in the order of their records in the output.
    overwrite: replaces an existing output. If False, an existing output, index or sidecar causes an
        IoError. Default: False.
    progress: a function that is called with a PackProgress that counts records, at most ten times a
        second and at the end. If it raises an exception, the merging ends and leaves no file.
        False: show nothing. Default: show a line on standard error if that is a terminal.

    Records are copied unchanged, and the sources' checksums, if any, are verified. Indexes and
    sidecars are merged too: merging the parts of `pack(..., nsplit=n)` gives, byte for byte, the
    file that `pack` makes without `nsplit`. It is an error if the files have different class names,
    if a file is listed twice, or if two files share a key. A record's key is its key in the index,
    or else the image's id, or else the record's number. If a file's keys are only its record
    numbers 0, 1, 2, ..., and an earlier file already uses one of them, the later file's records are
    renumbered. Image files packed by separate jobs usually share ids and cannot be merged; open
    them together instead. Memory: the size of the longest record, plus at most 52 bytes for each
    record.

    The output gets its name when it is complete. Errors: InvalidArgumentError and ArgumentTypeError
    for invalid names and options; NotFoundError; IoError; CorruptError and TruncatedError for a
    damaged source; UnsupportedError for a source whose sidecar has a section that cannot be merged.
    """
    if isinstance(sources, (str, bytes, os.PathLike)) or not isinstance(sources, Sequence):
        raise ArgumentTypeError(
            "`sources` has the wrong type", expected="a list of paths", found=typed(sources)
        )
    names = [file_name("`sources`", source) for source in sources]
    made_name = file_name("`output`", output)
    truth("overwrite", overwrite)
    with CoreWarnings() as said, shown_progress(progress, "merged", "records") as tell:
        made = _core.merge(names, made_name, overwrite, tell, said)
    return PackedFile(*made)


def pack_report(call: Callable[[list[str]], dict[str, Any]]) -> PackReport:
    """Calls `call` with a list for its warnings, issues these warnings, and returns the report."""
    with CoreWarnings() as said:
        result = call(said)
    return PackReport(
        files=tuple(PackedFile(*file) for file in result["files"]),
        failures=tuple(PackFailure(*failure) for failure in result["failures"]),
        report=result["report"],
        unassigned=result["unassigned"],
    )


def _source_name(source: object) -> str:
    if isinstance(source, (str, bytes, os.PathLike)):
        return file_name("`source`", source)
    raise ArgumentTypeError(
        "`source` has the wrong type",
        expected="the path of a folder of images or of a list of images (.lst, .csv, .tsv)",
        found=typed(source),
        remedy="Write other objects one by one with fuelrail.mxnet.recordio.MXIndexedRecordIO or "
        "fuelrail.ffrecord.FileWriter, and arrays of pixels with fuelrail.mxnet.np2rec",
    )


def _parts(split: object) -> dict[str, float]:
    parts = fractions("split", split)
    if not parts:
        raise InvalidArgumentError("`split` is empty", remedy="Omit it to write one file")
    return parts
