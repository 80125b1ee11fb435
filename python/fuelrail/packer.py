"""Packs images and samples into record files, and merges record files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fuelrail import _core
from fuelrail.class_names import ClassNames, class_names
from fuelrail.errors import ArgumentTypeError, CoreWarnings, InvalidArgumentError
from fuelrail.options import (
    Option,
    file_name,
    fractions,
    read_options,
    suggests_options,
    text,
    truth,
    typed,
)
from fuelrail.progress import Progress, shown_progress
from fuelrail.python_source import is_provider, source_of
from fuelrail.schema import Schema

if TYPE_CHECKING:
    from fuelrail.sample_source import SampleReader, Samples

__all__ = ["PackFailure", "PackReport", "PackedFile", "merge", "pack"]

PACK_OPTIONS = [Option(*row) for row in _core.pack_options()]
_NAMES = {option.name for option in PACK_OPTIONS}


@dataclass(frozen=True)
class PackedFile:
    """An output file of a packing, merging or conversion job."""

    path: str
    records: int
    bytes: int
    was_there: bool = False
    """Whether `resume` kept this file from an earlier run."""


@dataclass(frozen=True)
class PackFailure:
    """An image or sample that could not be packed and was skipped."""

    path: str
    """The path of the image, or "sample 65"."""
    reason: str


@dataclass(frozen=True)
class PackReport:
    """The result of packing."""

    files: tuple[PackedFile, ...]
    failures: tuple[PackFailure, ...]
    report: str | None
    """Path of the file that lists the failures, with one JSON object per line, or None if no image
    failed.
    """
    unassigned: int = 0
    """Number of images or samples in no part, if the fractions of the split add up to less than 1."""
    recoded: int = 0
    """Number of progressive JPEGs that this run stored as baseline, with `baseline`. Those that an
    earlier run packed are not counted.
    """


@suggests_options
def pack(
    source: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | Samples,
    output: str | os.PathLike[str],
    *,
    schema: Schema | Mapping[str, Any] | Sequence[Any] | None = None,
    strict: bool = False,
    resize: int | None = None,
    quality: int | None = None,
    verify_images: bool = True,
    decode: bool = False,
    baseline: bool = False,
    crf: float = 23,
    preset: str = "medium",
    chroma: int = 420,
    thumb: bool = True,
    split: Mapping[str, float] | None = None,
    seed: int = 0,
    nsplit: int = 1,
    part: int | None = None,
    root: str | os.PathLike[str] | None = None,
    classes: ClassNames | None = None,
    entry_points: bool = False,
    quality_report: str | os.PathLike[str] | None = None,
    max_errors: int | float = 0,
    overwrite: bool = False,
    resume: bool = False,
    threads: int | None = None,
    progress: Progress = None,
) -> PackReport:
    """Packs images into a RecordIO, an FFRecord or a `.bzna` file, or samples of many fields into
    a RecordIO or an FFRecord file (docs/samples.md). The command `fuelrail pack --from` packs COCO
    and PASCAL VOC annotations, folders of masks and JSON Lines (docs/annotations.md).

    source: a folder with one sub-folder per class, or a list file. In a folder, names that begin
        with a dot are skipped. Each line of a `.lst` file has an id, labels and a path, separated
        by tabs. The first row of a `.csv` or `.tsv` file names the columns, which must include
        `path` and `label`; the ids are the row numbers. The labels of a list are either all numbers
        or all class names. Without `classes`, they are numbers if the first label is a number. With
        `classes`, they are numbers if all of them are numbers and none is in `classes`. For a
        `.bzna` file, a dict makes a split of each source: {"train": "photos", "validation":
        "more", "test": "others"}; the class names are those of the first source.
        Or samples: nested dicts of values (tuples or lists if `schema` is a list), or a
        `fuelrail.Dataset`, or samples of one, which need its `schema`. They are an object with
        `__len__` and `__getitem__`, such as a list or a dataset for torch's DataLoader, or any
        other iterable, whose number of samples is then unknown and which allows neither `split`,
        `nsplit` nor `resume`. Samples are requested one at a time, by several threads; paths are
        read, and arrays encoded, by all threads at once. Of the options below, `resize`, `quality`,
        `root`, `classes` and those for `.bzna` do not apply to samples.
    output: the file to write. The name `X.rec` selects a RecordIO file, with the index `X.idx` and
        the sidecar `X.rec.frx` beside it. The name `X.ffr` selects an FFRecord file with the same
        records, and with the sidecar `X.ffr.frx` beside it. The name `X.bzna` selects a file of
        H.265 stills, with the sidecar `X.bzna.frx`: each image is encoded as one, and again as a
        thumbnail, which needs the plugin for H.265 (docs/install.md); its label must be one whole
        number. Images that are such stills already, as `fuelrail cat` writes them, are not encoded
        again unless `resize` is given. With `split`, the part called NAME is
        written to `X_NAME.rec` or `X_NAME.ffr`.
    schema: for samples: a `fuelrail.Schema`, or the dict or list to make one from. Default: the
        attribute `schema` of the source, if it is a `fuelrail.Schema`; otherwise, it is inferred
        with the attribute `roles` of the source (`fuelrail.open_python`), from the first 64 samples
        (fewer if they have more than 64 MiB), which are kept: bytes and paths whose content begins
        as an image are images, arrays are tensors whose differing extents become -1, int becomes
        int64, float becomes float32 (float64 if one is over 2**24), and str text. If a field stays
        open, the error shows the schema found so far as code.
    strict: for samples: boxes outside of their image by more than its size are errors of their
        samples. Default: False, they are stored, and counted in a warning.
    resize: length of the shorter side after resizing, 1 to 32,768 pixels. Smaller images are not
        enlarged. Default: no resizing.
    quality: JPEG quality, 1 to 100. If given, every image is encoded as JPEG. If neither `quality`
        nor `resize` is given, all files are stored unchanged. If only `resize` is given, JPEG files
        that are small enough are stored unchanged, and other images are encoded with quality 95.
    verify_images: reads the header of each file that is stored unchanged, to find invalid images.
        Default: True.
    decode: decodes every image before it is stored, to find damage beyond the header. Images that
        are encoded again are always decoded. Default: False.
    baseline: stores progressive JPEGs as baseline JPEGs with the same coefficients and metadata,
        which are decoded faster. The pixels of both are compared first. Progressive JPEGs that are
        damaged or would lose anything are stored as they are. Of samples, it applies to image
        fields. Not for `.bzna`. Default: False.
    crf: for `.bzna`: x265's constant rate factor, 0 to 51. Smaller numbers give better and larger
        images. Default: 23.
    preset: for `.bzna`: x265's preset, "ultrafast" to "placebo". Slower presets give smaller files.
        Default: "medium".
    chroma: for `.bzna`: 420 stores colours in half the width and height, 444 in full size. Default:
        420.
    thumb: for `.bzna`: also stores each image reduced to at most 512 x 512, which loaders read by
        default. Default: True.
    split: the name and the fraction of each part, for example {"train": 0.9, "val": 0.1}, as in
        `Dataset.split`. A name consists of letters, digits, `_`, `-` and `.`.
    seed: seed of the split, an integer from 0 to 2**64 - 1. Default: 0.
    nsplit: number of parts, which are called X.part000.rec and so on. Each part has consecutive
        images, and the sizes of the parts differ by at most one image. `merge` joins the parts.
        `nsplit` cannot be combined with `split`. Default: 1, one file.
    part: the number of a part, from 0 to nsplit - 1. Only this part is written, so that each of
        several machines can write a different part. Default: all parts are written.
    root: the folder to which the paths in a list are relative. Default: the folder of the list.
    classes: the class names, ordered by label. Files packed with the same `classes` have the same
        labels. Pass a list (`fuelrail.open("train.rec").classes`), or the path of a packed file, a
        folder, or a text file with one name per line. The source may lack some of these classes,
        but any other class is an error, regardless of `max_errors`. Numeric labels must be indices
        in `classes`. Default: the names of the folders or the class names in the list, sorted by
        code point.
    entry_points: stores entry points of JPEGs in the sidecar, with which loaders decode crops of
        baseline JPEGs faster (docs/decoding.md). They take about 0.3 % of the file, and 1 ms for
        each photograph. An existing output that is kept (`resume`) gets none; `fuelrail index` adds
        them. Default: False.
    quality_report: for `.bzna`: a file X.md, which receives a report of the quality of the images
        that are encoded: quantiles of PSNR, SSIM and bytes, the 20 images with the lowest PSNR, and
        a plot (X.svg). X.csv has the numbers of each image. PSNR is 10 log10(255**2 / MSE) of all
        RGB values, at most 100 dB. SSIM is the mean structural similarity of the luma by Wang et
        al. (IEEE Transactions on Image Processing 13(4), 2004), with a Gaussian window of 11 x 11.
        Each still is decoded again for it, on the threads that encode. Images that are not encoded,
        and those that an earlier run packed, are counted but not measured. An existing report is
        replaced. Default: no report.
    max_errors: the number (an int) or the fraction (a float from 0 to 1) of the images that may be
        unreadable. These are skipped. If more are unreadable, packing fails after all are checked.
        `<output>.errors.jsonl` lists up to 10,000 unreadable images. Default: 0.
    overwrite: replaces an existing output. If False, an existing output, index or sidecar causes an
        IoError. Default: False.
    resume: True continues a killed or failed run of the same job, if that run left unfinished
        files. If the new run fails, it leaves its unfinished files too. If the images have not
        changed, the result is byte-identical to that of an uninterrupted run. If the output already
        exists (and `overwrite` is False), each image is compared with its record in the output. If
        all are equal, the output is kept; otherwise, an IoError is raised. An IoError is also
        raised if the output exists and the unfinished files beside it belong to a different job.
        False replaces unfinished files of earlier runs; a run that fails then leaves none.
        Default: False.
    threads: number of threads that read, decode and encode. The result does not depend on this
        number. Default: one for each processor that this process may use.
    progress: a function that is called with a PackProgress, at most ten times a second and at the
        end. If the function raises an exception, packing stops, and leaves no unfinished file
        unless `resume` is True. False shows no progress. Default: None, which shows a progress line
        on standard error if standard error is a terminal.
        With tqdm:

        >>> with tqdm.tqdm(unit="image") as bar:
        ...     def show(progress):
        ...         bar.total = progress.total
        ...         bar.update(progress.done - bar.n)
        ...     report = fuelrail.pack("photographs", "packed.rec", progress=show)

    The output files appear under their names together, when all are complete. With `nsplit`, each
    part appears when it is complete, and stays if a later part fails. A FuelrailWarning reports
    problems that do not stop the packing: files that are not images, names that begin with a dot,
    repeated ids.

    Errors: NotFoundError if the source does not exist. InvalidArgumentError and ArgumentTypeError
    for an invalid option. IoError if reading or writing fails, or if another job is writing the
    output. CorruptError for a source without images; for a folder whose images are not in class
    folders, or with a class folder that has no images; for an invalid list; for a class that is not
    in `classes`; and if more images fail than `max_errors` allows. For samples also those of
    `Schema`, InvalidArgumentError if the schema cannot be inferred, and CorruptError, which names
    the sample, the field and the row, for values that do not fit the schema. An exception that the
    source raises is raised again, with a note that names the sample.
    """
    given = {name: value for name, value in locals().items() if name in _NAMES}
    truth("strict", strict)
    if callable(source) and not isinstance(source, Iterable) and not hasattr(source, "__getitem__"):
        raise ArgumentTypeError(
            "`source` is a function", found=typed(source), remedy="Pass what it returns: call it"
        )
    samples = _samples(source, schema)
    if samples is None and (schema is not None or strict):
        raise InvalidArgumentError(
            f"`{'strict' if schema is None else 'schema'}` applies only to samples of many fields",
            remedy=_ONE_SAMPLE if isinstance(source, Mapping) else "Omit it",
        )
    options = {
        **read_options(PACK_OPTIONS, given),
        "split": [] if split is None else list(_parts(split).items()),
        **({} if root is None else {"root": file_name("`root`", root)}),
        "classes": class_names(classes),
        **(
            {}
            if quality_report is None
            else {"quality_report": file_name("`quality_report`", quality_report)}
        ),
    }
    if samples is not None:
        return _pack_samples(samples, file_name("`output`", output), options, strict, progress)
    names = (_sources(source), file_name("`output`", output))

    def run(said: list[str]) -> dict[str, Any]:
        with shown_progress(progress, "read", "images") as tell:
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
    """Merges record files of the same format, such as the parts of one job, into one file.

    output: the file to write. Its name has the same extension as the sources: `.rec`, `.ffr` or
        `.bzna`.
    sources: the files, in the order of their records in the output.
    overwrite: replaces an existing output. If False, an existing output, index or sidecar causes an
        IoError. Default: False.
    progress: a function that is called with a PackProgress at most ten times a second, and once at
        the end. The PackProgress counts records. If the function raises an exception, the merge
        stops and leaves no file. False shows no progress. Default: None, which shows a progress
        line on standard error if standard error is a terminal.

    Records are copied unchanged. Checksums in the sources are verified. Indexes and sidecars are
    merged too. Merging the parts of `pack(..., nsplit=n)` gives the same bytes as `pack` without
    `nsplit`.

    Merging fails if the files have different class names, if a file is listed twice, or if two
    files share a key. A record's key is stored in the file's index or sidecar. A record without a
    stored key has its image's id as its key. A record without an id has its number in the file as
    its key.

    A file whose keys are only its record numbers 0, 1, 2, ... is treated differently. If an earlier
    file has one of these keys, the records without an id get new keys: their numbers in the output.

    Separate packing jobs usually give images the same ids, so the files of such jobs cannot be
    merged. Instead, open these files together with `fuelrail.open([...])`. Merging needs memory for
    the longest record, plus at most 52 bytes for each record.

    The output appears under its name only when it is complete. Errors: InvalidArgumentError and
    ArgumentTypeError for invalid names and options. NotFoundError if a source does not exist.
    IoError if reading or writing fails. CorruptError and TruncatedError for a damaged source.
    UnsupportedError for a source with a sidecar section that cannot be merged.
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
    """Calls `call` with an empty list, and converts the dict that `call` returns to a PackReport.
    The texts that `call` appends to the list are issued as warnings.
    """
    with CoreWarnings() as said:
        result = call(said)
    return PackReport(
        files=tuple(PackedFile(*file) for file in result["files"]),
        failures=tuple(PackFailure(*failure) for failure in result["failures"]),
        report=result["report"],
        unassigned=result["unassigned"],
        recoded=result["recoded"],
    )


def _samples(source: object, schema: object) -> SampleReader | None:
    """Returns a reader if `source` may have samples, and None otherwise."""
    if isinstance(source, (str, bytes, os.PathLike, Mapping)) or not (
        isinstance(source, Iterable) or hasattr(source, "__getitem__") or is_provider(source)
    ):
        return None
    from fuelrail.sample_source import SampleReader  # it imports NumPy

    if schema is not None and not isinstance(schema, Schema):
        schema = Schema(schema)  # type: ignore[arg-type]
    if is_provider(source):
        source = source_of(source)
    return SampleReader(source, schema)  # type: ignore[arg-type]


def _pack_samples(
    samples: SampleReader, output: str, options: dict[str, Any], strict: bool, progress: Progress
) -> PackReport:
    def run(said: list[str]) -> dict[str, Any]:
        with shown_progress(progress, "read", "samples") as tell:
            return _core.pack_samples(
                samples.start, samples.read, samples.size, output, options, strict, tell, said
            )

    return pack_report(run)


def _sources(source: object) -> list[tuple[str, str]]:
    """Returns (split, path) for each source; the split of a source without a name is ""."""
    if isinstance(source, Mapping):
        return [(_split_name(split), _source_name(of, _ONE_SAMPLE)) for split, of in source.items()]
    return [("", _source_name(source))]


def _split_name(split: object) -> str:
    if name := text("`source`", split):
        return name
    raise InvalidArgumentError("a split in `source` has an empty name")


_ONE_SAMPLE = "A dict is read as a source for each split; for one sample, pass a list: [sample]"
_NO_DICTS = (
    "Use fuelrail.mxnet.np2rec for arrays of pixels. Use fuelrail.ffrecord.FileWriter or "
    "fuelrail.mxnet.recordio.MXIndexedRecordIO for other objects"
)


def _source_name(source: object, remedy: str = _NO_DICTS) -> str:
    if isinstance(source, (str, bytes, os.PathLike)):
        return file_name("`source`", source)
    raise no_source(source, remedy)


def no_source(source: object, remedy: str = _NO_DICTS) -> ArgumentTypeError:
    """Returns the error for what has neither images nor samples."""
    return ArgumentTypeError(
        "`source` has the wrong type",
        expected="the path of an image folder, or of a .lst, .csv or .tsv file, or a dict of them, "
        "or samples that are dicts",
        found=typed(source),
        remedy=remedy,
    )


def _parts(split: object) -> dict[str, float]:
    parts = fractions("split", split)
    if not parts:
        raise InvalidArgumentError("`split` is empty", remedy="Omit it to write one file")
    return parts
