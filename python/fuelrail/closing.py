"""What can be closed ends with its `with`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["Closing"]


class Closing:
    """The base of what has a `close`, which the end of a `with` calls."""

    def close(self) -> None:
        raise NotImplementedError

    def _end(self, failed: bool) -> None:
        """What a `with` ends in. failed: an exception leaves it. Default: `close` in both cases."""
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end(failed=kind is not None)
