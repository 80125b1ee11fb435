"""A folder in one FFRecord file."""

from __future__ import annotations

import builtins
import os
import pathlib
import pickle
import sys
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

from fuelrail import _core
from fuelrail.closing import Closing
from fuelrail.errors import ArgumentTypeError, Error, InvalidArgumentError, NotFoundError
from fuelrail.ffrecord.errors import (
    CorruptFileError,
    FileNameError,
    MissingFileError,
    as_original,
)
from fuelrail.ffrecord.paths import output_name, path_name
from fuelrail.ffrecord.reader import FileReader
from fuelrail.ffrecord.writer import FileWriter
from fuelrail.options import typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuelrail.ffrecord.reader import Names, Record

    Path: TypeAlias = str | os.PathLike[str]
    Structure: TypeAlias = "OrderedDict[str, int | Structure]"

__all__ = ["PackedFolder", "pack_folder"]

_MARK = b"piouhjgbr"  # begins the last record
_MOST_FOLDERS = 256  # in one another, the whole among them: more are not read
_PICKLE_PROTOCOL = 4  # the original's, under the Pythons that it runs on


def pack_folder(folder: Path, out_file: Path, verbose: bool = False) -> None:
    """Packs all files in a folder and its folders into one `.ffr` file, for `PackedFolder`.

    Files become records depth first, the entries of each folder in the order of their names. Links
    are followed. Each file is read in pieces: memory does not grow with it. verbose: print each
    file's number and path.

    Errors: FileNameError (also an AssertionError) for what is no folder, or no `.ffr` name;
    InvalidArgumentError for an output inside the folder, for links that lead in a circle, for what
    is neither a file nor a folder, and for more than 256 folders in one another; NotFoundError for
    a link that leads nowhere; MissingFolderError, FileAccessError (also RuntimeErrors); OSError of
    a file that cannot be read. Nothing is left then.
    """
    root = path_name("`folder`", folder)
    if not os.path.isdir(root):
        raise FileNameError("this is not a folder", path=root)
    output = output_name("`out_file`", out_file)
    _check_outside(root, output)
    files: list[str] = []
    structure = _listed(root, files, ())
    width = len(str(len(files)))
    with FileWriter(output, len(files) + 1) as writer:
        for i, name in enumerate(files):
            if verbose:
                print(f"{i:0{width}}/{len(files)} {_printable(os.path.abspath(name))}", flush=True)
            with open(name, "rb", buffering=0) as file:
                writer.write_file(file)
        writer.write_one(_MARK + pickle.dumps(structure, protocol=_PICKLE_PROTOCOL))


def _printable(name: str) -> str:
    """Where standard output cannot say it: a name in no encoding must not end the packing."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return name.encode(encoding, "backslashreplace").decode(encoding)


def _check_outside(root: str, output: str) -> None:
    inside = os.path.realpath(root)
    beside = os.path.realpath(os.path.dirname(os.path.abspath(output)))
    if os.path.commonpath([inside, beside]) == inside:
        raise InvalidArgumentError(
            "the packed file would lie inside the folder that is packed",
            path=output,
            remedy="Write it somewhere else",
        )


def _listed(folder: str, files: list[str], above: tuple[tuple[int, int], ...]) -> Structure:
    """The entries of a folder; its files are appended to `files`. above: the folders around it."""
    status = os.stat(folder)
    here = (status.st_dev, status.st_ino)
    if here in above:
        raise InvalidArgumentError(
            "links lead in a circle",
            path=folder,
            found=f"a link to {os.path.realpath(folder)}, which it lies in",
            remedy="Remove the link",
        )
    if len(above) == _MOST_FOLDERS:
        raise InvalidArgumentError(
            "too many folders lie in one another",
            path=folder,
            expected=f"at most {_MOST_FOLDERS}",
        )
    entries: Structure = OrderedDict()
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            entries[name] = _listed(path, files, (*above, here))
        else:
            _check_file(path)
            entries[name] = len(files)
            files.append(path)
    return entries


def _check_file(path: str) -> None:
    """A pipe would be waited for, and a device may never end."""
    if os.path.isfile(path):
        return
    if os.path.islink(path) and not os.path.exists(path):
        raise NotFoundError(
            "a link leads nowhere",
            path=path,
            found=f"a link to {os.readlink(path)}",
            remedy="Remove the link",
        )
    raise InvalidArgumentError(
        "this is neither a file nor a folder", path=path, remedy="Move it out of the folder"
    )


class PackedFolder(Closing):
    """The files of a folder that `pack_folder` has packed.

    >>> fuelrail.ffrecord.pack_folder("photographs", "photographs.ffr")
    >>> with fuelrail.ffrecord.PackedFolder("photographs.ffr") as folder:
    ...     names = folder.list(recursive=True, list_dir=False)
    ...     first, second = folder.read(names[:2])

    What the last record says of names and folders is read by a parser of its own that makes nothing
    but dictionaries, names and numbers: no code in a file is ever run.
    """

    def __init__(self, ffr_file: Names, check_data: bool = True) -> None:
        """ffr_file, check_data: as for `FileReader`; of several files, the last one's last record
        says the names of all. Errors: those of `FileReader`; CorruptFileError (also a ValueError
        and a RuntimeError) for what is no packed folder, or names a class.
        """
        self.reader = FileReader(ffr_file, check_data)
        try:
            self.structure: Structure = self._read_structure()
        except BaseException:
            self.reader.close()
            raise

    def num_files(self) -> int:
        """Number of files."""
        return self.reader.n - 1

    def read_one(self, fname: Path) -> Record:
        """A file's bytes. Errors: MissingFileError, FileNameError for a directory (both also
        AssertionErrors); those of `FileReader.read`.
        """
        return self.reader.read_one(self._record(fname))

    @overload
    def read(self, fnames: Path) -> Record: ...  # type: ignore[overload-overlap]
    @overload
    def read(self, fnames: Sequence[Path]) -> builtins.list[Record]: ...
    def read(self, fnames: Path | Sequence[Path]) -> Record | builtins.list[Record]:
        """The bytes of several files, read at once; of one, where `fnames` is a path and not a
        list. Errors: as `read_one`.
        """
        if isinstance(fnames, (str, os.PathLike)):
            return self.read_one(fnames)
        if not isinstance(fnames, (list, tuple)):
            raise ArgumentTypeError(
                "this is neither a path nor a list of paths", found=typed(fnames)
            )
        return self.reader.read([self._record(fname) for fname in fnames])

    def list(
        self,
        path: Path | None = None,
        list_file: bool = True,
        list_dir: bool = True,
        recursive: bool = False,
    ) -> builtins.list[Any]:
        """The names of the entries of a directory, by default of all of it, in stored order.

        recursive: those of its directories too; what lies deeper is a pathlib.Path, relative to
        `path`. Errors: MissingFileError; FileNameError for a file (both also AssertionErrors).
        """
        start = "" if path is None else path
        found = self._find(start)
        if found is None:
            raise MissingFileError(
                "there is no such directory in the packed folder", path=str(path)
            )
        if isinstance(found, int):
            raise FileNameError("this is a file, not a directory", path=str(path))
        return [
            parts[0] if len(parts) == 1 else pathlib.Path(*parts)
            for parts, entry in _walk(found, recursive)
            if (list_file if isinstance(entry, int) else list_dir)
        ]

    def exists(self, path: Path) -> bool:
        """Whether there is such a file or directory. `..` is a name like others."""
        return self._find(path) is not None

    def is_file(self, path: Path) -> bool:
        """Whether there is such a file."""
        return isinstance(self._find(path), int)

    def is_dir(self, path: Path) -> bool:
        """Whether there is such a directory."""
        return isinstance(self._find(path), dict)

    def close(self) -> None:
        """Closes the file. What the folder contains is still known."""
        self.reader.close()

    def __reduce__(self) -> Any:
        return PackedFolder, (self.reader.fnames, self.reader.check_data)

    def __repr__(self) -> str:
        return (
            f"<fuelrail.ffrecord.PackedFolder: {self.num_files():,} files; {self.reader.fnames[0]}>"
        )

    def _read_structure(self) -> Structure:
        reader = self.reader
        try:
            if reader._core.is_packed_folder():  # before all of the last record is read
                last = reader.read_one(-1)
                return cast("Structure", _core.packed_entries(last, reader.n - 1))
        except Error as error:
            raise as_original(error, path=reader.fnames[-1]) from None
        raise CorruptFileError(
            "this is not a packed folder",
            path=reader.fnames[-1],
            expected=f"a last record that begins with {_MARK!r}",
            remedy="Open it with `FileReader`, or make a packed folder with `pack_folder`",
        )

    def _find(self, path: Path) -> int | Structure | None:
        if not isinstance(path, (str, os.PathLike)):
            raise ArgumentTypeError(
                "this is not a path in the packed folder",
                expected="a str or an os.PathLike",
                found=typed(path),
            )
        at: int | Structure = self.structure
        for part in pathlib.PurePath(path).parts:
            if isinstance(at, int) or part not in at:
                return None
            at = at[part]
        return at

    def _record(self, path: Path) -> int:
        found = self._find(path)
        if found is None:
            raise MissingFileError("there is no such file in the packed folder", path=str(path))
        if not isinstance(found, int):
            raise FileNameError("this is a directory, not a file", path=str(path))
        return found


def _walk(entries: Structure, recursive: bool) -> Iterator[tuple[tuple[str, ...], int | Structure]]:
    for name, entry in entries.items():
        yield (name,), entry
        if recursive and not isinstance(entry, int):
            for parts, inner in _walk(entry, recursive):
                yield (name, *parts), inner
