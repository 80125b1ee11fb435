"""Replaces `mxnet.gluon.data.vision`. The dataset reads images and labels from a record file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fuelrail.errors import InvalidArgumentError
from fuelrail.mxnet import recordio
from fuelrail.mxnet.absent_names import missing_from
from fuelrail.mxnet.gluon.data.dataset import RecordFileDataset
from fuelrail.mxnet.image_record import decode_image
from fuelrail.options import integer, shown

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ImageRecordDataset"]


class ImageRecordDataset(RecordFileDataset):
    """The images and labels of a record file that has an index.

    An item is (image, label). The image is a uint8 NumPy array of shape (height, width, 3) in RGB
    order, or of shape (height, width, 1) if `flag` is 0. (MXNet returns an MXNet array.) The image
    is rotated or flipped as its EXIF orientation requires. The label is a float, or a float32 array
    if the record has several labels.
    """

    def __init__(
        self,
        filename: str | os.PathLike[str],
        flag: int = 1,
        transform: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        """filename: the record file, `X.rec`. Its index is `X.idx`.
        flag: 1 for colour images, 0 for grey images. Default: 1.
        transform: a function that is called with image and label, and returns the item. Default:
        None, which keeps (image, label).

        Errors: InvalidArgumentError for any other flag; the errors of RecordFileDataset.
        """
        if integer(flag) not in (0, 1):
            raise InvalidArgumentError(
                "`flag` is invalid", expected="1 (colour) or 0 (grey)", found=shown(flag)
            )
        super().__init__(filename)
        self._flag = int(flag)
        self._transform = transform

    def __getitem__(self, idx: int) -> Any:
        """Returns (image, label), or the result of `transform`.

        Errors: the errors of RecordFileDataset; the errors of `recordio.unpack_img`, with the path
        of the file.
        """
        header, image = self._understood(idx, self._decoded)
        if self._flag == 0:
            image = image[:, :, None]
        if self._transform is not None:
            return self._transform(image, header.label)
        return image, header.label

    def _decoded(self, record: bytes) -> tuple[recordio.IRHeader, NDArray[np.uint8]]:
        header, content = recordio.unpack(record)
        if header.flag > 0:  # torch warns about read-only arrays
            header = header._replace(label=header.label.copy())
        return header, decode_image(content, self._flag, bgr=False)


if not TYPE_CHECKING:  # with `__getattr__`, type checkers accept any name
    __getattr__ = missing_from(__name__)
