"""`fuelrail pack --provider MODULE:CLASS OUT`: packs what a Python program gives."""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from fuelrail.errors import Error, FuelrailWarning, InvalidArgumentError, IoError, NotFoundError
from fuelrail.options import nearest, typed
from fuelrail.packer import pack
from fuelrail.python_dataset import open_python
from fuelrail.python_source import source_of
from fuelrail.schema import encoded_as

__all__ = ["is_provider_command", "run"]

_OK, _DATA_PROBLEM, _USAGE, _INPUT_OUTPUT = range(4)
_INTERRUPTED = 130


def is_provider_command(arguments: Sequence[str]) -> bool:
    """Returns whether `run` handles the arguments of `fuelrail`."""
    named = any(word == "--provider" or word.startswith("--provider=") for word in arguments)
    return arguments[:1] == ["pack"] and named


def run(arguments: Sequence[str]) -> int:
    """Runs the command with the arguments after `fuelrail`, and returns its exit code."""
    if {"-h", "--help"} & set(arguments):
        _parser().print_help()
        return _OK
    given = _parser().parse_args(arguments[1:])
    try:
        with warnings.catch_warnings():
            _format_warnings()
            return _pack(given)
    except Error as error:
        said = str(error).replace("Pass schema=", "Give the dataset an attribute schema = ")
        print(f"fuelrail: {said}", file=sys.stderr)
        if isinstance(error, (IoError, NotFoundError)):
            return _INPUT_OUTPUT
        return _USAGE if isinstance(error, InvalidArgumentError) else _DATA_PROBLEM
    except KeyboardInterrupt:
        print("fuelrail: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except SystemExit as error:
        print(f"fuelrail: the provider raised SystemExit: {error}", file=sys.stderr)
        return _DATA_PROBLEM


def _format_warnings() -> None:
    """Makes our warnings those of a command: without a line of code."""
    format_python = warnings.formatwarning

    def format_ours(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        line: str | None = None,
    ) -> str:
        if issubclass(category, FuelrailWarning):
            return f"fuelrail: warning: {message}\n"
        return format_python(message, category, filename, lineno, line)

    warnings.formatwarning = format_ours


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "fuelrail pack",
        description="Packs the samples of a dataset or a data provider that is written in Python.",
    )
    parser.add_argument(
        "--provider",
        required=True,
        metavar="MODULE:NAME",
        help="a class or function that is called without arguments, or a dataset; MODULE is "
        "searched in the current folder, too. Its attributes `schema` and `roles` are those of "
        "fuelrail.open_python",
    )
    parser.add_argument("output", metavar="OUT", help="the file to write, X.rec or X.ffr")
    parser.add_argument(
        "--encode",
        choices=("npy", "png", "jpeg"),
        default="npy",
        help="how arrays of pixels are stored: raw (npy), without loss (png), or with loss (jpeg); "
        "default npy, with which batches are those of the provider, bit for bit",
    )
    parser.add_argument(
        "--entry-points", action="store_true", help="store entry points of JPEGs, as fuelrail index"
    )
    parser.add_argument(
        "--decode", action="store_true", help="decode every image, to find damage beyond the header"
    )
    parser.add_argument(
        "--baseline", action="store_true", help="store progressive JPEGs as baseline, without loss"
    )
    parser.add_argument("--nsplit", type=int, default=1, help="number of parts")
    parser.add_argument("--part", type=int, help="write only this part, from 0 on")
    parser.add_argument("--threads", "-j", type=int, help="threads that read and encode")
    parser.add_argument("--max-errors", type=int, default=0, help="samples that may be skipped")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing OUT")
    parser.add_argument("--resume", action="store_true", help="resume an interrupted run")
    parser.add_argument("--quiet", "-q", action="store_true", help="show no progress")
    return parser


def _pack(given: argparse.Namespace) -> int:
    source = source_of(_found(given.provider))
    schema = open_python(source.dataset, workers=0).schema_as_given
    source.fit(schema)
    options: dict[str, Any] = {
        name: value
        for name, value in vars(given).items()
        if name not in ("provider", "output", "encode", "quiet") and value is not None
    }
    report = pack(
        source,
        given.output,
        schema=encoded_as(schema, given.encode),
        progress=False if given.quiet else None,
        **options,
    )
    for file in report.files:
        print(f"{file.path}: {file.records:,} samples, {file.bytes:,} bytes")
    if report.recoded:
        print(f"progressive JPEGs stored as baseline: {report.recoded:,}")
    for failure in report.failures:
        print(f"fuelrail: {failure.path} cannot be packed: {failure.reason}", file=sys.stderr)
    return _DATA_PROBLEM if report.failures else _OK


def _found(place: str) -> object:
    """Returns the dataset at "module:name"."""
    module, colon, name = place.partition(":")
    if not colon or not name or not all(part.isidentifier() for part in module.split(".")):
        raise InvalidArgumentError(
            "`--provider` is invalid", expected="MODULE:NAME, such as mydata:Street", found=place
        )
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except (ModuleNotFoundError, SystemExit) as error:
        raise NotFoundError(
            "the module of the provider cannot be imported",
            found=f"{type(error).__name__}: {error}",
            path=module,
            remedy="Name the module without .py, and run the command in its folder or set PYTHONPATH",
        ) from None
    for part in name.split("."):
        if not hasattr(found, part):
            known = [own for own in dir(found) if not own.startswith("_")]
            raise InvalidArgumentError(
                f"the module {module} has no '{name}'",
                remedy=nearest(part, known) if known else None,
            )
        found = getattr(found, part)
    is_dataset = not isinstance(found, type) and (
        hasattr(found, "__getitem__") or hasattr(found, "get_data")
    )
    if not is_dataset and not callable(found):
        raise InvalidArgumentError(
            "`--provider` is invalid",
            expected="a class, a function or a dataset",
            found=typed(found),
        )
    return found if is_dataset else _called(found, place)


def _called(found: Callable[[], object], place: str) -> object:
    if inspect.isabstract(found):
        raise InvalidArgumentError(
            f"'{place}' is an abstract class", remedy="Name a class that implements its methods"
        )
    try:
        inspect.signature(found).bind()
    except TypeError as error:
        raise InvalidArgumentError(
            f"'{place}' cannot be called without arguments",
            found=str(error),
            remedy="Name a function that creates the dataset, or a dataset",
        ) from None
    except ValueError:  # its arguments are unknown
        pass
    return found()
