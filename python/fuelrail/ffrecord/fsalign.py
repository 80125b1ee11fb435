"""Whether a file system aligns direct reads by itself."""

from __future__ import annotations

import fcntl
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

__all__ = ["checkFsAlign"]

_ASK = 0x80046664  # _IOR('f', 100, 4 bytes)


def checkFsAlign(fd: FileDescriptorLike) -> bool:  # noqa: N802  the original's name
    """Whether the file system of an open file says, by an ioctl of its own, that it takes direct
    reads at any offset. Ordinary ones do not know the question: False.

    No read depends on it: direct reads (`FileReader(direct_reads=True)`) are aligned here.
    """
    try:
        answer = fcntl.ioctl(fd, _ASK, bytes(4))
    except OSError:
        return False
    return bool(struct.unpack("i", answer)[0] == 1)
