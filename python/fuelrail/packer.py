"""Images into one record file."""

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
    """It was made by an earlier run, which `resume` has found."""


@dataclass(frozen=True)
class PackFailure:
    """An image that was left out."""

    path: str
    reason: str


@dataclass(frozen=True)
class PackReport:
    """What packing did."""

    files: tuple[PackedFile, ...]
    failures: tuple[PackFailure, ...]
    report: str | None
    """Path of the file that lists the failures, one JSON object a line."""
    unassigned: int = 0
    """Images that no part of the split takes."""


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

    source: a folder with one sub-folder for each class, in which names that begin with a dot are
        passed over; or a list: `.lst` (id, labels and path, separated by tabs), or `.csv` or
        `.tsv` with a first row that names the columns `path` and `label`, whose rows' numbers
        are the ids. The labels of a list are numbers, or, where the first is a word or (with
        `classes`) any is a word or one of these, all of them are names of classes.
    output: the file. `X.rec` is a RecordIO file, beside which come its index `X.idx` and its
        sidecar `X.rec.frx`; `X.ffr` is an FFRecord file of the same records, beside which comes
        `X.ffr.frx`. With `split` it becomes one file a part, X_<name>.rec or X_<name>.ffr.
    resize: length of the shorter side, 1 to 32,768 pixels; smaller images stay. Default: as they
        are.
    quality: of the JPEGs that are encoded anew, 1 to 100. Default: 95 where `resize` shrinks an
        image; without `resize` and `quality`, bytes pass through untouched.
    verify_images: looks into every image's header, so that what cannot be read is left out now.
    decode: decodes every image before it is stored, so that damage behind the header is found too.
        What is encoded anew is decoded in any case. Default: False.
    split: fractions by name, as in `Dataset.split`; a name is of letters, digits, `_`, `-` and `.`.
    seed: of the split; 64 bits. Default: 0.
    nsplit: parts by position, X.part000.rec and so on: even to one image, in order. They get their
        names one by one, and keep them if a later one fails; `merge` joins them. Default: 1, one
        file. Not together with `split`.
    part: this one of the `nsplit` alone, from 0, so that several machines may each make some.
        Default: all.
    root: the folder that a list's paths are relative to. Default: the list's own.
    classes: the class names, by label, so that every file gets the same numbers: a list of them
        (`fuelrail.open("train.rec").classes`), or the path of what has them (a packed file,
        a folder, or a text with a name on each line). A folder or a list need not have all of these classes,
        and may have no other, whatever `max_errors` is; labels that are numbers must be
        numbers of these. Default: the names of the folders, or of the list, in the order of their
        code points.
    max_errors: images that may be left out: a count, or, as a float, a fraction from 0 to 1. Where more
        cannot be read, the packing fails at its end, and `<output>.errors.jsonl` lists all of them
        (up to 10,000). Default: 0.
    overwrite: replaces an output that is there. Default: that, or an index or a sidecar of its
        name, is an IoError.
    resume: goes on with what a killed or failed run of the same job has left; where there is
        nothing, it begins. A run that fails then leaves what it has written for the next. The
        result is, byte for byte, that of a run that was not stopped, as long as the images have not
        changed. An output that is there is compared, image for image, with what would be packed,
        and stays where it is the same; otherwise it is an IoError, as without `resume`, and so is
        any where what was left is of another job. Default: what a run leaves is begun anew, and
        one that fails leaves no file.
    threads: readers. Default: the processors that this process may use. The bytes written are the
        same for any number.
    progress: called with a PackProgress, at most ten times a second and at the end. What it raises
        ends the packing, and no file is left. Default: a line on standard error where that is a
        terminal; False: nothing. With tqdm:

        >>> with tqdm.tqdm(unit="image") as bar:
        ...     def show(progress):
        ...         bar.total = progress.total
        ...         bar.update(progress.done - bar.n)
        ...     report = fuelrail.pack("photographs", "packed.rec", progress=show)

    Files get their final names only when all of them are complete; those of `nsplit`, each when it
    is. What does not stop the packing but should be known (files that are no images, names that
    begin with a dot, ids that repeat) is a FuelrailWarning. Errors: NotFoundError; InvalidArgumentError and ArgumentTypeError for a bad
    option, and for a folder that is not in `classes`; IoError, also while another pack is writing
    the same output; CorruptError for a source without images where they should be, a list's class
    that is not in `classes` or a bad list, and when more images fail than `max_errors` allows.
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
    """Joins record files of one format into one: the parts of one job, or any others.

    output: the file; its name ends as those of the sources, in `.rec` or `.ffr`.
    sources: in the order in which their records come.
    overwrite: replaces an output that is there. Default: that, or an index or a sidecar of its
        name, is an IoError.
    progress: called with a PackProgress of records, at most ten times a second and at the end. What
        it raises ends the merging, and no file is left. Default: a line on standard error where
        that is a terminal; False: nothing.

    Records are copied as they are, and the checksums that the sources have are verified. Index and
    sidecar are joined with them: what comes of `pack(..., nsplit=n)` is, byte for byte, what `pack`
    makes in one file. Refused are files with different class names, a file that is named twice, and
    a key (of an index; else an image's id) that two files have: files of separate jobs, whose ids
    begin anew, can be opened together as they are. Where the keys of a file are only its records'
    numbers, and an earlier file has one of them, its records are numbered on. Memory: that of the
    longest record, and at most 52 bytes a record.

    The output gets its name when it is complete. Errors: InvalidArgumentError and ArgumentTypeError
    for names and options that cannot be; NotFoundError; IoError; CorruptError and TruncatedError
    for a damaged source; UnsupportedError for a source whose sidecar holds what cannot be joined.
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
    """Runs a packing, which is given a list for what it warns of."""
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
