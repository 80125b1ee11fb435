"""Packs a folder into one FFRecord file, and reads files from it."""

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

_MARK = b"piouhjgbr"  # the first bytes of the last record
_MOST_FOLDERS = 256  # levels of nested folders, including the root; readers reject more
_PICKLE_PROTOCOL = 4  # the protocol that FFRecord uses on the Python versions it supports


def pack_folder(folder: Path, out_file: Path, verbose: bool = False) -> None:
    """Packs all files in a folder and its subfolders into one `.ffr` file. Read this file with
    `PackedFolder`.

    Each file becomes one record. Folders are searched depth-first, and their entries are sorted by
    name. Links are followed. Large files are read in pieces to save memory.

    verbose: print the number and the path of each file.

    Errors: FileNameError (also an AssertionError) if `folder` is not a folder or `out_file` does
    not end with `.ffr`; NotFoundError for a broken link; InvalidArgumentError if `out_file` is
    inside the folder, links form a cycle, an entry is neither a file nor a folder, or folders are
    nested more than 256 levels deep; MissingFolderError and FileAccessError (both also
    RuntimeErrors) if `out_file` cannot be written; OSError if a file cannot be read. If an error
    occurs, no new file is created.
    """
    root = path_name("`folder`", folder)
    if not os.path.isdir(root):
        raise FileNameError("the path is not a folder", path=root)
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
    """Escapes the characters that standard output cannot print."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return name.encode(encoding, "backslashreplace").decode(encoding)


def _check_outside(root: str, output: str) -> None:
    inside = os.path.realpath(root)
    beside = os.path.realpath(os.path.dirname(os.path.abspath(output)))
    if os.path.commonpath([inside, beside]) == inside:
        raise InvalidArgumentError(
            "the output file is inside the folder to pack",
            path=output,
            remedy="Choose an output path outside this folder",
        )


def _listed(folder: str, files: list[str], above: tuple[tuple[int, int], ...]) -> Structure:
    """Returns the entries of `folder` as a tree, and appends the paths of its files to `files`."""
    status = os.stat(folder)
    here = (status.st_dev, status.st_ino)
    if here in above:
        raise InvalidArgumentError(
            "symbolic links form a cycle",
            path=folder,
            found=f"a path that leads back to {os.path.realpath(folder)}",
            remedy="Remove the symbolic link that closes the cycle",
        )
    if len(above) == _MOST_FOLDERS:
        raise InvalidArgumentError(
            "folders are nested too deeply",
            path=folder,
            expected=f"at most {_MOST_FOLDERS} levels",
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
    """Rejects broken links, and entries that are not regular files, such as pipes."""
    if os.path.isfile(path):
        return
    if os.path.islink(path) and not os.path.exists(path):
        raise NotFoundError(
            "the target of the link does not exist",
            path=path,
            found=f"a link to {os.readlink(path)}",
            remedy="Remove the link",
        )
    raise InvalidArgumentError(
        "the entry is neither a file nor a folder", path=path, remedy="Move it out of the folder"
    )


class PackedFolder(Closing):
    """Reads files from a folder that `pack_folder` packed.

    >>> fuelrail.ffrecord.pack_folder("photographs", "photographs.ffr")
    >>> with fuelrail.ffrecord.PackedFolder("photographs.ffr") as folder:
    ...     names = folder.list(recursive=True, list_dir=False)
    ...     first, second = folder.read(names[:2])

    The last record stores the names of the files and folders as a pickle. The parser that reads the
    pickle creates only dictionaries, strings and integers, and never runs code from the file.
    """

    def __init__(self, ffr_file: Names, check_data: bool = True) -> None:
        """Opens a packed folder and reads the names of its files.

        ffr_file: the `.ffr` file, or a list of files, as for `FileReader`. In a list, the last
        record of the last file must contain the names.
        check_data: verify checksums. Default: True.

        Errors: the errors of `FileReader`; CorruptFileError (also a ValueError and a RuntimeError)
        if the file is not a packed folder, or if the pickle that stores the names is invalid or
        refers to a Python class other than OrderedDict.
        """
        self.reader = FileReader(ffr_file, check_data)
        try:
            self.structure: Structure = self._read_structure()
        except BaseException:
            self.reader.close()
            raise

    def num_files(self) -> int:
        """Returns the number of packed files."""
        return self.reader.n - 1

    def read_one(self, fname: Path) -> Record:
        """Returns the bytes of a packed file as a one-dimensional uint8 array.

        fname: the path of the file, relative to the packed folder.

        Errors: MissingFileError if the file does not exist, FileNameError if the path is a
        directory (both also AssertionErrors); the errors of `FileReader.read`.
        """
        return self.reader.read_one(self._record(fname))

    @overload
    def read(self, fnames: Path) -> Record: ...  # type: ignore[overload-overlap]
    @overload
    def read(self, fnames: Sequence[Path]) -> builtins.list[Record]: ...
    def read(self, fnames: Path | Sequence[Path]) -> Record | builtins.list[Record]:
        """Returns the bytes of one packed file, or a list with the bytes of several files.

        fnames: a path, or a list of paths. The files of a list are requested all at once.
        Errors: see `read_one`.
        """
        if isinstance(fnames, (str, os.PathLike)):
            return self.read_one(fnames)
        if not isinstance(fnames, (list, tuple)):
            raise ArgumentTypeError(
                "`fnames` has the wrong type",
                expected="a path or a list of paths",
                found=typed(fnames),
            )
        return self.reader.read([self._record(fname) for fname in fnames])

    def list(
        self,
        path: Path | None = None,
        list_file: bool = True,
        list_dir: bool = True,
        recursive: bool = False,
    ) -> builtins.list[Any]:
        """Returns the names of the entries of a directory, in stored order.

        path: the directory. Default: the root.
        list_file: include files. list_dir: include directories.
        recursive: also include the entries of subdirectories, as pathlib.Path objects relative to
        `path`.

        Errors: MissingFileError if the directory does not exist, FileNameError if `path` is a file
        (both also AssertionErrors).
        """
        start = "" if path is None else path
        found = self._find(start)
        if found is None:
            raise MissingFileError(
                "the directory does not exist in the packed folder", path=str(path)
            )
        if isinstance(found, int):
            raise FileNameError("the path is a file, not a directory", path=str(path))
        return [
            parts[0] if len(parts) == 1 else pathlib.Path(*parts)
            for parts, entry in _walk(found, recursive)
            if (list_file if isinstance(entry, int) else list_dir)
        ]

    def exists(self, path: Path) -> bool:
        """Returns whether the file or directory exists. `..` is treated as the name of an entry,
        not as the parent directory.
        """
        return self._find(path) is not None

    def is_file(self, path: Path) -> bool:
        """Returns whether the path exists and is a file."""
        return isinstance(self._find(path), int)

    def is_dir(self, path: Path) -> bool:
        """Returns whether the path exists and is a directory."""
        return isinstance(self._find(path), dict)

    def close(self) -> None:
        """Closes the `.ffr` file. Methods that need only the names of files, such as `list`, still
        work.
        """
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
            if reader._core.is_packed_folder():  # checked before the whole last record is read
                last = reader.read_one(-1)
                return cast("Structure", _core.packed_entries(last, reader.n - 1))
        except Error as error:
            raise as_original(error, path=reader.fnames[-1]) from None
        raise CorruptFileError(
            "the file is not a packed folder",
            path=reader.fnames[-1],
            expected=f"the last record to start with {_MARK!r}",
            remedy="Open the file with `FileReader`, or create a packed folder with `pack_folder`",
        )

    def _find(self, path: Path) -> int | Structure | None:
        if not isinstance(path, (str, os.PathLike)):
            raise ArgumentTypeError(
                "the path in the packed folder has the wrong type",
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
            raise MissingFileError("the file does not exist in the packed folder", path=str(path))
        if not isinstance(found, int):
            raise FileNameError("the path is a directory, not a file", path=str(path))
        return found


def _walk(entries: Structure, recursive: bool) -> Iterator[tuple[tuple[str, ...], int | Structure]]:
    for name, entry in entries.items():
        yield (name,), entry
        if recursive and not isinstance(entry, int):
            for parts, inner in _walk(entry, recursive):
                yield (name, *parts), inner
