"""Imports NVIDIA DALI when it is needed, or says which command installs what is missing."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import importlib.metadata
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["OLDEST", "dali", "forking"]

OLDEST = "1.53"
"""The oldest version of DALI that works."""

_INSTALL = 'Install it with `pip install "fuelrail[dali]"`.'


@functools.cache  # which also keeps DALI's AutoGraph from converting the function
def dali(module: str = "") -> Any:
    """Returns the module `nvidia.dali`, or a module inside it.

    module: the name inside `nvidia.dali`, such as "plugin.pytorch". Default: `nvidia.dali` itself.

    Errors: ImportError, in one line with the command that helps, if DALI is not installed, is older
        than `OLDEST`, or lacks a package that it imports.
    """
    try:
        package = importlib.import_module("nvidia.dali")
        _check_version(package.__version__)
        return importlib.import_module(f"nvidia.dali.{module}") if module else package
    except ModuleNotFoundError as missing:
        raise ImportError(_without(missing.name or "")) from None


@contextlib.contextmanager
def forking() -> Iterator[None]:
    """A block in which pipelines are built, and may fork worker processes.

    A pipeline that is no longer used is garbage of which every forked worker has a copy. If a worker
    collected it, it would wait forever for threads that it does not have. So what exists at the fork
    is never collected in workers.
    """
    if gc.get_freeze_count():  # by the program, which wants it to stay; the rest is less to collect
        gc.collect()
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _check_version(version: str) -> None:
    if _numbers(version) < _numbers(OLDEST):
        raise ImportError(
            f"NVIDIA DALI {version} is too old: fuelrail.inputs needs {OLDEST} or later. Install it "
            f"with `pip install --upgrade {_wheel()}`."
        )


def _without(module: str) -> str:
    package = module.split(".")[0]
    if package == "nvidia":
        return f"fuelrail.inputs needs NVIDIA DALI, which is not installed. {_INSTALL}"
    if package == "torch":
        return (
            "DALI's iterator for PyTorch needs torch, which is not installed. Install it with `pip "
            "install torch`, or pass dali_generic_iterator_class=NumPyIterator."
        )
    return (
        f"NVIDIA DALI is installed without the package {package}, which it imports. Install what it "
        f"lacks with `pip install {_wheel()}`."
    )


def _wheel() -> str:
    """The name of the wheel that DALI was installed from; there is one for each version of CUDA."""
    names = (found.metadata["Name"] for found in importlib.metadata.distributions())
    wheels = (name for name in names if re.match("nvidia[-_]dali[-_]cuda", name or ""))
    return next(wheels, '"fuelrail[dali]"').replace("_", "-")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))
