"""Replaces `mxnet.gluon.data.vision`: a dataset of the images in a record file."""

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

    Item i is (image, label). The image is uint8 RGB (height, width, 3) or, with flag 0, grey
    (height, width, 1), oriented by its EXIF tag. It is a NumPy array, not an MXNet array as in
    Gluon. The label is a float, or a float32 array if the record has several labels.
    """

    def __init__(
        self,
        filename: str | os.PathLike[str],
        flag: int = 1,
        transform: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        """filename: the `.rec` file. flag: 1 = colour, 0 = grey. transform: a function that is
        called with image and label, and returns the item.

        Errors: as for RecordFileDataset; InvalidArgumentError for any other flag.
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
