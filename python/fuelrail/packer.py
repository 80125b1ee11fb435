"""Images into one record file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fuelrail import _core
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, warn_user
from fuelrail.options import (
    file_name,
    fractions,
    integer,
    real,
    shown,
    suggests_options,
    truth,
    typed,
    whole,
)

__all__ = ["PackFailure", "PackProgress", "PackReport", "PackedFile", "pack"]

_PART_NAME = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class PackProgress:
    """How far packing has come."""

    done: int
    """Images, also those left out; of a conversion, records."""
    total: int
    bytes: int
    """Written so far."""
    seconds: float


@dataclass(frozen=True)
class PackedFile:
    """A file that was written."""

    path: str
    records: int
    bytes: int


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
    split: Mapping[str, float] | None = None,
    seed: int = 0,
    root: str | os.PathLike[str] | None = None,
    max_errors: int | float = 0,
    overwrite: bool = False,
    threads: int | None = None,
    progress: Callable[[PackProgress], object] | None = None,
) -> PackReport:
    """Packs images into a RecordIO or an FFRecord file.

    source: a folder with one sub-folder for each class, or a list (`.lst`: id, labels and path,
        separated by tabs).
    output: the file. `X.rec` is a RecordIO file, beside which come its index `X.idx` and its
        sidecar `X.rec.frx`; `X.ffr` is an FFRecord file of the same records, beside which comes
        `X.ffr.frx`. With `split` it becomes one file a part, X_<name>.rec or X_<name>.ffr.
    resize: length of the shorter side, 1 to 32,768 pixels; smaller images stay. Default: as they
        are.
    quality: of the JPEGs that are encoded anew, 1 to 100. Default: 95 where `resize` shrinks an
        image; without `resize` and `quality`, bytes pass through untouched.
    verify_images: looks into every image's header, so that what cannot be read is left out now.
    split: fractions by name, as in `Dataset.split`; a name is of letters, digits, `_`, `-` and `.`.
    seed: of the split; 64 bits. Default: 0.
    root: the folder that a list's paths are relative to. Default: the list's own.
    max_errors: images that may be left out: a count, or, as a float below 1, a fraction.
        Default: 0.
    overwrite: replaces an output that is there. Default: that, or an index or a sidecar of its
        name, is an IoError.
    threads: readers. Default: the processors that this process may use. The bytes written are the
        same for any number.
    progress: called with a PackProgress, at most ten times a second and at the end. What it raises
        ends the packing, and no file is left. With tqdm:

        >>> with tqdm.tqdm(unit="image") as bar:
        ...     def show(progress):
        ...         bar.total = progress.total
        ...         bar.update(progress.done - bar.n)
        ...     report = fuelrail.pack("photographs", "packed.rec", progress=show)

    Files get their final names only when all of them are complete. What can go on but should be
    known (files that are no images, ids that repeat) is a FuelrailWarning. Errors: NotFoundError;
    InvalidArgumentError and ArgumentTypeError for a bad option; IoError, also while another pack is
    writing the same output; CorruptError for a source without images where they should be or a bad
    list, and when more images fail than `max_errors` allows.
    """
    count, fraction = _allowance(max_errors)
    if progress is not None and not callable(progress):
        raise ArgumentTypeError("`progress` cannot be called", found=typed(progress))
    said: list[str] = []
    try:
        result: dict[str, Any] = _core.pack(
            file_name("`source`", source),
            file_name("`output`", output),
            resize=0 if resize is None else whole("resize", resize, least=1, bits=31),
            quality=None if quality is None else whole("quality", quality, least=1, bits=31),
            verify_images=truth("verify_images", verify_images),
            split=[] if split is None else list(_parts(split).items()),
            seed=whole("seed", seed, bits=64),
            root=None if root is None else file_name("`root`", root),
            max_error_count=count,
            max_error_fraction=fraction,
            overwrite=truth("overwrite", overwrite),
            threads=0 if threads is None else whole("threads", threads, least=1, bits=16),
            progress=None if progress is None else lambda *now: progress(PackProgress(*now)),
            warnings=said,
        )
    finally:  # also when it fails
        for text in said:
            warn_user(text)
    return PackReport(
        files=tuple(PackedFile(*file) for file in result["files"]),
        failures=tuple(PackFailure(*failure) for failure in result["failures"]),
        report=result["report"],
        unassigned=result["unassigned"],
    )


def _parts(split: object) -> dict[str, float]:
    parts = fractions("split", split)
    if not parts:
        raise InvalidArgumentError("`split` names no part", remedy="Leave it out for one file")
    for name in parts:
        if not _PART_NAME.fullmatch(name):
            raise InvalidArgumentError(
                "a name in `split` cannot be in a file's name",
                expected="letters, digits, '_', '-' and '.'",
                found=shown(name),
            )
    return parts


def _allowance(max_errors: object) -> tuple[int, float]:
    """The count and the fraction of images that may be left out, one of which is 0."""
    if isinstance(max_errors, bool) or integer(max_errors) is not None:
        return whole("max_errors", max_errors), 0.0
    fraction = real("max_errors", max_errors)
    if not 0 <= fraction < 1:
        raise InvalidArgumentError(
            "`max_errors` is neither a count nor a fraction",
            expected="an integer, or a float in [0, 1)",
            found=shown(max_errors),
        )
    return 0, fraction
