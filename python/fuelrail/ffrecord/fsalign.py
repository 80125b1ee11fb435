"""Checks whether a file system accepts direct reads (O_DIRECT) at unaligned offsets."""

from __future__ import annotations

import fcntl
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

__all__ = ["checkFsAlign"]

_ASK = 0x80046664  # _IOR('f', 100, 4 bytes)


def checkFsAlign(fd: FileDescriptorLike) -> bool:  # noqa: N802  the original's name
    """Returns whether the file system of the open file `fd` accepts direct reads at any offset.

    The function sends an ioctl that only special file systems support. If the ioctl fails, the
    result is False. fuelrail does not need this function, because its own direct reads
    (`FileReader(direct_reads=True)`) are always aligned.
    """
    try:
        answer = fcntl.ioctl(fd, _ASK, bytes(4))
    except OSError:
        return False
    return bool(struct.unpack("i", answer)[0] == 1)
