"""Opens a dataset that is written in Python, so that the engine loads it like a file."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fuelrail import _core
from fuelrail.dataset import Dataset
from fuelrail.errors import (
    ArgumentTypeError,
    Error,
    InvalidArgumentError,
    StateError,
    note_sample,
    warn_user,
)
from fuelrail.fields import FieldSpec
from fuelrail.options import shown, suggests_options, whole
from fuelrail.python_source import PythonSource, checked_roles, source_of
from fuelrail.schema import Schema

__all__ = ["PythonDataset", "SampleMaker", "changed_size", "open_python"]

_MAX_WORKERS = 256
_UNKNOWN = "unknown"

starting_worker = False
"""Whether this process is a worker that imports the program's modules."""


class PythonDataset(Dataset):
    """A dataset whose samples a Python program makes, as returned by `fuelrail.open_python`.

    Pickling saves the program's dataset. In a forked child process, new workers are started.
    """

    def __init__(
        self,
        container: _core.Container,
        source: PythonSource,
        rebuilt: tuple[Any, ...],
        warnings: _core.MakerWarnings,
    ) -> None:
        super().__init__(container, source.name, (_rebuilt, rebuilt))
        self._source = source
        self.schema_as_given: Schema = rebuilt[1]
        """With the encodings of arrays, which `schema` does not have."""
        self._warnings = warnings
        self._has_warned = False

    def begin_epoch(self) -> None:
        """Errors: StateError if the number of samples has changed."""
        if len(self._source) != len(self):
            raise changed_size(self._source, len(self))

    def take_warnings(self) -> list[str]:
        """Returns the warnings of the workers since the last call."""
        return self._warnings.take()

    def note_restored(self) -> None:
        """Warns, once, if a restored state may be of other data."""
        if self._has_warned or self._source.fingerprint is not None:
            return
        self._has_warned = True
        warn_user(
            f"{self._source.name} has no `fingerprint`, so only the number of its samples was "
            "compared with the state. Give it an attribute `fingerprint`, a string that changes "
            "with its content."
        )


@suggests_options
def open_python(
    dataset: Any,
    schema: Schema | Mapping[str, Any] | None = None,
    *,
    roles: Mapping[str, FieldSpec] | None = None,
    workers: int = 2,
) -> PythonDataset:
    """Opens a dataset that is written in Python. Loaders read it like a file.

    >>> class Squares:
    ...     def __len__(self):
    ...         return 100
    ...     def __getitem__(self, i):
    ...         return {"number": i, "square": i * i}
    >>> fuelrail.open_python(Squares(), workers=0)
    <fuelrail.Dataset: 100 samples of number, square; Squares>

    dataset: an object with `__len__` and `__getitem__`, whose samples are nested dicts, or a data
        provider (`fuelrail.inputs.DataProvider`). Values are as in `fuelrail.pack`. Images that are
        bytes or paths are decoded by the loader's threads. Arrays are pixels, and are not
        compressed. If it has an attribute `fingerprint`, a string that changes with its content, a
        loader's state is restored only for the same data.
    schema: a `fuelrail.Schema`, or the dict or list to make one from. Default: the attribute
        `schema` of the dataset, if it is a `fuelrail.Schema`; otherwise, it is inferred from the
        first 64 samples (fewer if they have more than 64 MiB), as `fuelrail.pack` does. An array of
        a provider that may be an image is one if its field is called "image" or "img".
    roles: what the values of some fields mean, if the schema is inferred: a dict from the name of a
        field, or a pattern in which `*` stands for any characters, to its type, such as
        {"*.boxes": F.Boxes("xyxy")}. Default: the attribute `roles` of the dataset, if it has one.
    workers: number of processes that make samples, from 0 to 256. They start when the first samples
        are requested, import the modules of the dataset, and get a copy of it by pickle. 0 makes
        samples in a thread of this process, one at a time. On a Python without the global lock,
        workers are threads of this process. Default: 2.

    A sample that raises an exception is a bad sample (`on_error` of the loader). Its error has the
    index, the type of the exception and the traceback. If a worker process ends, for example because
    the system has no memory left, a new one makes its sample again, with a warning; if that ends
    too, StateError is raised. Samples should depend only on their index: seed random numbers with
    it.

    Errors: ArgumentTypeError for another type of dataset, and for one that cannot be pickled;
    InvalidArgumentError for a dataset without samples, and if the schema cannot be inferred;
    StateError in a worker process that imports a program without a guard.
    """
    source = source_of(dataset)
    count = whole("workers", workers)
    if starting_worker and count > 0:
        raise StateError(
            "the program starts workers while a worker imports it",
            remedy='Put the main part of the program below `if __name__ == "__main__":`, or define '
            "the dataset in a module that starts no workers",
        )
    if count > _MAX_WORKERS:
        raise InvalidArgumentError(
            "`workers` is out of range", expected=f"0 to {_MAX_WORKERS}", found=str(count)
        )
    in_processes = count > 0 and _has_global_lock()
    # First, because reading a sample may open files, which cannot be pickled.
    pickled = _pickled(source) if in_processes else b""
    size = len(source)
    fields = _schema_of(source, size, schema, roles)
    return _opened(source, fields, count, size, pickled)


def changed_size(source: PythonSource, size: int) -> StateError:
    """Returns the error for a dataset that had `size` samples when it was opened."""
    return StateError(
        "the number of samples has changed since the dataset was opened",
        path=source.name,
        expected=str(size),
        found=str(len(source)),
        remedy="Open the dataset again, and create a new loader",
    )


def _opened(
    source: PythonSource, schema: Schema, workers: int, size: int, pickled: bytes
) -> PythonDataset:
    maker = SampleMaker(source, schema)
    common = (maker.description, size, source.name, source.fingerprint or _UNKNOWN)
    warnings = _core.MakerWarnings()
    if pickled:
        from fuelrail import worker

        command = worker.command()
        container = _core.open_with_workers(
            *common,
            executable=os.fsencode(command[0]),
            arguments=[os.fsencode(word) for word in command[1:]],
            greeting=worker.greeting(pickled, schema, size),
            workers=workers,
            warnings=warnings,
        )
    else:
        container = _core.open_with_threads(
            *common, read=maker.read, explain=maker.explain, threads=max(workers, 1)
        )
    return PythonDataset(container, source, (source.dataset, schema, workers), warnings)


def _rebuilt(dataset: Any, schema: Schema, workers: int) -> Dataset:
    return open_python(dataset, schema, workers=workers)


def _has_global_lock() -> bool:
    is_enabled: Callable[[], bool] | None = getattr(sys, "_is_gil_enabled", None)
    return is_enabled is None or is_enabled()


def _pickled(source: PythonSource) -> bytes:
    try:
        return pickle.dumps(source, pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        raise
    except Exception as error:
        is_local = "local object" in str(error) or "<lambda>" in str(error)
        raise ArgumentTypeError(
            "the dataset cannot be sent to worker processes, because it cannot be pickled",
            path=source.name,
            found=f"{type(error).__name__}: {shown(str(error))}",
            remedy="Define its classes and functions at the top level of a module; or pass `workers=0`"
            if is_local
            else "Open files and create locks at the first sample, not in `__init__`; or pass "
            "`workers=0`",
        ) from None


def _schema_of(
    source: PythonSource,
    size: int,
    schema: Schema | Mapping[str, Any] | None,
    roles: Mapping[str, FieldSpec] | None,
) -> Schema:
    if schema is None and roles is None:
        own, roles = source.own_schema, source.own_roles
        if own is not None:
            return own
    if schema is not None:
        if roles is not None:
            raise InvalidArgumentError(
                "`schema` and `roles` cannot be combined",
                remedy="Omit `roles`, because the schema says what each field means",
            )
        return schema if isinstance(schema, Schema) else Schema(schema)
    if size == 0:
        raise InvalidArgumentError("the dataset has no samples", remedy="Pass `schema`")
    from fuelrail.schema_inference import infer, looked_at  # it imports NumPy

    samples = looked_at(_made(source, size))
    return infer(samples, checked_roles(roles or {}), source.names_say_images)


def _made(source: PythonSource, size: int) -> Iterator[object]:
    for i in range(size):
        try:
            yield source[i]
        except Exception as error:
            note_sample(error, i)
            raise


class SampleMaker:
    """Reads the samples of a dataset for the core."""

    def __init__(self, source: PythonSource, schema: Schema) -> None:
        from fuelrail.sample_source import RecordValues  # it imports NumPy

        source.fit(schema)
        self._source = source
        self._values = RecordValues(schema)

    @property
    def description(self) -> Any:
        """As `_core.open_with_workers` takes it."""
        return self._values.description

    def read(self, index: int) -> Any:
        """Returns the values of a sample, or why it is refused."""
        return self._values.read(self._source[index])

    def explain(self, error: BaseException) -> tuple[str, str]:
        """Returns the class of the error for an exception that `read` has raised, and its text."""
        trace = error.__traceback__
        while trace and str(trace.tb_frame.f_globals.get("__name__")).startswith("fuelrail."):
            trace = trace.tb_next
        if trace is None and isinstance(error, Error):  # the dataset returned something wrong
            own = Error(
                error.failure, expected=error.expected, found=error.found, remedy=error.remedy
            )
            return _class_of(error), without_surrogates(str(own))
        lines = traceback.format_exception(type(error), error, trace)
        said = "".join(traceback.format_exception_only(type(error), error)).strip()
        first = said.splitlines()[0] if said else type(error).__name__
        whole = f"the dataset raised {first}\n{''.join(lines).rstrip()}\n"
        return _class_of(error), without_surrogates(whole)


def without_surrogates(said: str) -> str:
    """Returns a text that can be encoded as UTF-8."""
    return said.encode("utf-8", "backslashreplace").decode()


def _class_of(error: BaseException) -> str:
    classes: list[tuple[type[BaseException], str]] = [
        (FileNotFoundError, "NotFoundError"),
        (EOFError, "TruncatedError"),
        (MemoryError, "OutOfMemoryError"),
        (NotImplementedError, "UnsupportedError"),
        (OSError, "IoError"),
    ]
    known = (name for kind, name in classes if isinstance(error, kind))
    return next(known, "CorruptError")
