"""Worker processes that make the samples of a dataset: how one is started, and what it runs."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import traceback
from typing import Any, NamedTuple

from fuelrail import _core, python_dataset
from fuelrail.python_source import PythonSource
from fuelrail.schema import Schema

__all__ = ["command", "greeting", "main"]

_REFERENCES_TO_MAIN = (b"\x8c\x08__main__", b"\x8c\x0b__mp_main__", b"c__main__\n")
"""How pickles name the main module: as short strings of protocol 4, or the line of an older one."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class _Greeting(NamedTuple):
    """What a worker gets to know when it starts."""

    main_module: dict[str, Any] | None
    """The program's main module, as `multiprocessing.spawn` describes it. None if the dataset does
    not refer to it.
    """
    source: bytes
    """The pickled PythonSource."""
    schema: Schema
    size: int


def command() -> list[str]:
    """Returns the words of the command that starts a worker."""
    from multiprocessing import spawn, util

    # Python ignores other entries. Those that do not exist may be names for import hooks.
    paths = [_absolute(path) for path in sys.path if isinstance(path, str)]
    code = f"import sys; sys.path[:] = {paths!a}; import fuelrail.worker as w; w.main()"
    executable = os.fsdecode(spawn.get_executable())
    return [executable, *util._args_from_interpreter_flags(), "-c", code]  # type: ignore[attr-defined]


def _absolute(path: str) -> str:
    if path and not os.path.exists(path):
        return path
    try:
        return os.path.abspath(path)
    except FileNotFoundError:  # the working directory has been deleted
        return path


def greeting(source: bytes, schema: Schema, size: int) -> bytes:
    """Returns what all workers are told. source: the pickled PythonSource."""
    main_module: dict[str, Any] | None = None
    if any(reference in source for reference in _REFERENCES_TO_MAIN):
        from multiprocessing import spawn

        if not hasattr(sys.modules["__main__"], "__spec__"):  # under pdb
            sys.modules["__main__"].__spec__ = None
        main_module = spawn.get_preparation_data("fuelrail-worker")
        del main_module["authkey"]  # it cannot be pickled
        if not os.path.exists(main_module.get("init_main_from_path", os.curdir)):
            del main_module["init_main_from_path"]  # "<stdin>"
    return pickle.dumps(_Greeting(main_module, source, schema, size), pickle.HIGHEST_PROTOCOL)


def main() -> None:
    """Makes samples until the parent process wants no more, and ends this process."""
    for name in _THREADS:  # before NumPy is imported: the workers are many already
        os.environ.setdefault(name, "1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    channel = _core.WorkerChannel(int(sys.argv[-1]))
    failed = True
    try:
        _serve(channel)
        failed = False
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the dataset may have closed it
            stream.flush()
    if failed:
        os._exit(1)
    channel.end()


def _serve(channel: _core.WorkerChannel) -> None:
    try:
        maker, size = _maker(pickle.loads(channel.greeting()))
    except BaseException as error:
        channel.refuse(python_dataset.without_surrogates(_reason(error)))
        return
    channel.serve(maker.description, size, maker.read, maker.explain)


def _maker(told: _Greeting) -> tuple[python_dataset.SampleMaker, int]:
    python_dataset.starting_worker = True
    try:
        if told.main_module is not None:
            from multiprocessing import spawn

            spawn.prepare(told.main_module)
        source: PythonSource = pickle.loads(told.source)
    finally:
        python_dataset.starting_worker = False
    if len(source) != told.size:
        raise python_dataset.changed_size(source, told.size)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    return python_dataset.SampleMaker(source, told.schema), told.size


def _reason(error: BaseException) -> str:
    """Returns why this worker cannot make samples, in a sentence."""
    if isinstance(error, AttributeError) and "__main__" in str(error):
        return (
            f"a worker cannot find the dataset's class ({error}): define it in a module, or pass "
            "`workers=0`"
        )
    said = str(error) or "no text"
    return f"a worker cannot start: {type(error).__name__}: {said}"
