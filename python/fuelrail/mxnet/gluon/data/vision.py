"""Gluon's `mxnet.gluon.data.vision`: images of record files."""

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
    """The images and labels of a record file with an index.

    Item i is (image, label). The image is uint8 RGB (height, width, 3), or grey (height, width, 1)
    with flag 0, oriented by its EXIF tag. The label is a float, or a float32 array if the record
    has several labels. Images are NumPy arrays, where Gluon returns its own arrays.
    """

    def __init__(
        self,
        filename: str | os.PathLike[str],
        flag: int = 1,
        transform: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        """filename: the `.rec` file. flag: 1 = colour, 0 = grey. transform: called with image and
        label; returns the item.

        Errors: as for RecordFileDataset; InvalidArgumentError for another flag.
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

        Errors: as for RecordFileDataset; those of `recordio.unpack_img`, with the file's path.
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
