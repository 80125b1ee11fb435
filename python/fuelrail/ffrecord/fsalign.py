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

    A special ioctl asks it. Ordinary file systems do not know the ioctl: False. fuelrail's reads do
    not depend on the answer: direct reads (`FileReader(direct_reads=True)`) are always aligned.
    """
    try:
        answer = fcntl.ioctl(fd, _ASK, bytes(4))
    except OSError:
        return False
    return bool(struct.unpack("i", answer)[0] == 1)
