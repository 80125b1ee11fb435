"""Asks a file system whether it accepts unaligned direct reads."""

from __future__ import annotations

import fcntl
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

__all__ = ["checkFsAlign"]

_ASK = 0x80046664  # _IOR('f', 100, 4 bytes)


def checkFsAlign(fd: FileDescriptorLike) -> bool:  # noqa: N802  the original's name
    """Returns whether the file system of an open file accepts direct reads at any offset.

    It asks the file system with a special ioctl. For ordinary file systems, which do not support
    this ioctl, it returns False. fuelrail does not need the answer, because its direct reads
    (`FileReader(direct_reads=True)`) are always aligned.
    """
    try:
        answer = fcntl.ioctl(fd, _ASK, bytes(4))
    except OSError:
        return False
    return bool(struct.unpack("i", answer)[0] == 1)
