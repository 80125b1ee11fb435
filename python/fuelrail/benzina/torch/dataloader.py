"""Benzina's DataLoader: batches of H.265 stills, warped and normalised."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import torch.utils.data
from torch.utils.data.dataloader import default_collate

import fuelrail
from fuelrail import _core
from fuelrail.benzina.torch import operations as ops
from fuelrail.benzina.torch.row_transforms import RowTransforms
from fuelrail.closing import close_at_exit
from fuelrail.delivery import NativeColumn
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, StateError, warn_user
from fuelrail.options import choice_of, integer, listed, real, shown, truth, typed, whole
from fuelrail.torch.tensors import TensorFramework

__all__ = ["DataLoader"]

_BOUNDS = ("frame", "image")
_told_of_cpu = False


class DataLoader(torch.utils.data.DataLoader[Any]):
    """Loads a dataset of `fuelrail.benzina.torch.dataset` as batches of images and targets.

    A batch is a tuple `(images, *targets)`. `images` is a float32 tensor of shape (batch, 3, height,
    width) with the channels red, green and blue. `targets` are what `collate_fn` returns for the
    targets of the samples: for a ClassificationDataset, one int64 tensor of shape (batch,). A
    dataset without targets gives `(images,)`. The tensors belong to the caller; later batches do
    not change them.

    >>> import fuelrail.benzina.torch as bz
    >>> import fuelrail.benzina.torch.operations as ops
    >>> loader = bz.DataLoader(bz.dataset.ImageNet("ilsvrc2012.bzna", split="train"), shape=224,
    ...     batch_size=256, shuffle=True, bias_transform=ops.ConstantBiasTransform(123.675),
    ...     norm_transform=ops.ConstantNormTransform.from_std(58.395),
    ...     warp_transform=ops.SimilarityTransform(flip_h=0.5))
    >>> for images, targets in loader:
    ...     loss = criterion(model(images), targets)

    Images are decoded by fuelrail's plugin for H.265, on the threads of this process.
    """

    def __init__(
        self,
        dataset: Any,
        shape: int | tuple[int, int],
        path: str | None = None,
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        collate_fn: Callable[[list[Any]], Any] = default_collate,
        drop_last: bool = False,
        timeout: float = 0,
        device: Any = None,
        multibuffering: int = 3,
        seed: int | None = None,
        bias_transform: Any = None,
        norm_transform: Any = None,
        warp_transform: Any = None,
        *,
        color_transform: Any = None,
        oob_transform: Any = None,
        bounds: str = "frame",
        antialias: bool = False,
        threads: int | None = None,
    ) -> None:
        """Creates a loader. The threads of an iterator start with its first batch.

        dataset: a dataset of `fuelrail.benzina.torch.dataset`.
        shape: (height, width) of the images of a batch, or one number for both. It does not imply
            that images are resized.
        path: the `.bzna` file to read. Default: `dataset.filename`.
        batch_size, shuffle, sampler, batch_sampler, drop_last: as in torch.utils.data.DataLoader,
            including the combinations that are errors. torch's global generator shuffles.
        collate_fn: converts the list of the samples' target tuples. Default: torch's.
        timeout: the seconds to wait for a batch before TimeoutError is raised. Default: 0, any
            time.
        device: where the images of a batch are, such as "cuda:0". They are decoded on the CPU in
            any case, and copied. Default: None, the CPU; a FuelrailWarning says so once.
        multibuffering: the number of batches prepared ahead. Default: 3.
        seed: seed of the transforms, 0 to 2**32 - 1. It does not affect `shuffle`. Default: drawn
            from torch's global generator.
        bias_transform: a BiasTransform, or the number or three numbers (red, green, blue) to
            subtract from the pixels, which are 0 to 255. Default: 0.
        norm_transform: a NormTransform, or the number or three numbers by which the result is
            multiplied. Default: 1.
        warp_transform: a WarpTransform, or nine numbers, a 3 x 3 matrix. Default: the identity.
        color_transform: a ColorTransform, or the index of a color matrix. Default: 0, BT.601 in
            full range, as in JPEG files.
        oob_transform: an OOBTransform, or the color of pixels outside the image. Default: 0.
        bounds: where an image ends. "frame", as in Benzina: at the edges of the coded picture, so
            that the padding to the right of the image and below it can be seen. "image": at its own
            edges, half a pixel outside the centres of its outermost pixels.
        antialias: whether pixels of images that are reduced are means of the pixels they cover.
            Default: False, as in Benzina: they interpolate between the four nearest pixels.
        threads: the number of threads that decode. Default: one per processor that this process may
            use.

        Errors: InvalidArgumentError and ArgumentTypeError for invalid arguments; ValueError for a
        combination that torch refuses; UnsupportedError if `device` is a CUDA device and CUDA is not available;
        those of `fuelrail.open`.
        """
        if batch_size is None and batch_sampler is None:
            raise InvalidArgumentError("`batch_size` is None", expected="an integer of at least 1")
        super().__init__(
            dataset,
            batch_size=batch_size,
            shuffle=shuffle,
            sampler=sampler,
            batch_sampler=batch_sampler,
            num_workers=0,
            collate_fn=collate_fn,
            drop_last=drop_last,
            timeout=real("timeout", timeout),
        )
        self.shape = _shape(shape)
        self.path = path if path is not None else dataset.filename
        self.multibuffering = whole("multibuffering", multibuffering, least=1, bits=16)
        if seed is None:
            seed = int(torch.randint(1 << 32, (), dtype=torch.int64))
        self.seed = whole("seed", seed, bits=32)
        self.bias_transform = _transform(
            "bias_transform", bias_transform, ops.BiasTransform, ops.ConstantBiasTransform
        )
        self.norm_transform = _transform(
            "norm_transform", norm_transform, ops.NormTransform, ops.ConstantNormTransform
        )
        self.warp_transform = _transform(
            "warp_transform", warp_transform, ops.WarpTransform, ops.ConstantWarpTransform
        )
        self.color_transform = _transform(
            "color_transform", color_transform, ops.ColorTransform, ops.ConstantColorTransform
        )
        self.oob_transform = _transform(
            "oob_transform", oob_transform, ops.OOBTransform, ops.ConstantOOBTransform
        )
        self._framework = TensorFramework("contiguous_format", False, device)
        if device is None:
            _tell_of_cpu()
        self._bounds = choice_of("bounds", bounds, _BOUNDS)
        self._antialias = truth("antialias", antialias)
        self._options = {
            "prefetch": self.multibuffering,
            "stall_timeout": self.timeout or None,
            "threads": None if threads is None else whole("threads", threads, least=1, bits=10),
        }
        self._random = np.random.RandomState(self.seed)
        self._data = fuelrail.open(self.path, track=dataset.input_label, split=dataset.split)
        if len(self._data) != len(dataset):
            raise InvalidArgumentError(
                "the file does not have the samples of the dataset",
                path=str(self.path),
                expected=f"{len(dataset)} samples",
                found=str(len(self._data)),
            )

    def __iter__(self) -> Any:
        """Starts an epoch, and returns an iterator over its batches. Each epoch draws other random
        numbers. A sample that cannot be decoded raises its error in place of its batch; the next
        call of `next` returns the next batch. Without a sidecar beside the file, records are also
        read for their sizes, up to `multibuffering` + 1 batches ahead: an error of that reading is
        raised early. `fuelrail index` makes the sidecar.

        Errors of `next`: DecodeError and the other errors of reading and decoding, with the path
        and the record; StallError, which is a TimeoutError, after `timeout`; what the sampler, a
        transform or `collate_fn` raises.
        """
        return _Batches(self, np.random.RandomState(self._random.randint(2**32)))

    def _sizes(self, records: Sequence[int]) -> npt.NDArray[np.int64]:
        array = np.array(records, np.uint64)
        return np.asarray(_core.benzina_image_sizes(self._data.container, array))

    def _core(self) -> _core.Loader:
        values = {name: value for name, value in self._options.items() if value is not None}
        return _core.Loader.stills(
            self._data.container,
            values,
            height=self.shape[0],
            width=self.shape[1],
            image_bounds=self._bounds == "image",
            antialias=self._antialias,
        )


class _Pulled(NamedTuple):
    """A batch whose order is known, but that was not returned yet."""

    records: list[int]
    targets: tuple[Any, ...]


class _Batches:
    """The batches of an epoch.

    The thread that requests a batch reads the sampler and draws the parameters of the transforms,
    `multibuffering` + 1 batches ahead. The core's threads run no Python code.
    """

    def __init__(self, loader: DataLoader, random: np.random.RandomState) -> None:
        self._loader = loader
        self._random = random
        self._transforms = RowTransforms(
            warp=loader.warp_transform,
            color=loader.color_transform,
            bias=loader.bias_transform,
            norm=loader.norm_transform,
            oob=loader.oob_transform,
        )
        self._indices: Iterator[Any] | None = iter(loader.batch_sampler or ())
        self._ahead: deque[_Pulled] = deque()
        self._samples = 0  # in the batches that were read from the sampler
        self._rows = 1  # the largest batch for which the core has room
        self._native = loader._core()
        self._turn = self._native.begin()
        close_at_exit(self, _Batches.close)

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> tuple[Any, ...]:
        while self._indices is not None and len(self._ahead) <= self._loader.multibuffering:
            self._pull(self._indices)
        if not self._ahead:
            self.close()
            raise StopIteration
        before = self._native.progress()
        taken: list[tuple[NativeColumn, ...]] = []
        try:
            self._native.next(self._turn, taken)
        finally:
            for said in self._native.warnings():
                warn_user(said)
            # An error in place of a batch advances the progress; a timeout does not.
            is_over = bool(taken) or self._native.progress() != before
            batch = self._ahead.popleft() if is_over else None
        if not taken or batch is None:
            raise StateError("the loader is closed", remedy="Start over with `iter(loader)`")
        (images,) = taken[0]
        assert isinstance(images, _core.Array)
        framework = self._loader._framework
        return (*framework.place([framework.column(images, True)]), *batch.targets)

    def close(self) -> None:
        """Ends the threads of the iterator."""
        self._indices = None
        self._native.stop()

    def __del__(self) -> None:
        if hasattr(self, "_native"):
            self.close()

    def _pull(self, source: Iterator[Any]) -> None:
        """Reads a batch from the sampler, and passes it to the core with its parameters."""
        try:
            indices = next(source, None)
        except BaseException:
            self._end()
            raise
        if indices is None:
            self._end()
            return
        loader = self._loader
        count = len(loader._data)
        records = [_index(index, count) for index in indices]
        array = np.array(records, np.uint64)
        rows = self._transforms.draw(records, loader._sizes, loader.shape, self._random)
        pulled = _Pulled(records, self._targets(array))
        if len(records) > self._rows:
            self._rows = max(len(records), 2 * self._rows if self._rows > 1 else 0)
            self._native.reserve(self._rows)
            for earlier in self._ahead:  # the core keeps their parameters
                self._native.feed(earlier.records, False)
        self._native.add_rows(self._samples, np.ascontiguousarray(rows))
        self._native.feed(records, False)
        self._ahead.append(pulled)
        self._samples += len(records)

    def _end(self) -> None:
        self._indices = None
        self._native.end_feed()

    def _targets(self, records: npt.NDArray[np.uint64]) -> tuple[Any, ...]:
        dataset: Any = self._loader.dataset
        targets = dataset.targets
        if targets is None:
            return ()
        collate = self._loader.collate_fn or default_collate
        collated = collate([(target,) for target in targets[records.astype(np.int64)]])
        return tuple(collated)


def _index(index: object, count: int) -> int:
    number = integer(listed(index))
    if number is None:
        raise ArgumentTypeError(
            "an index of the sampler has the wrong type", expected="an integer", found=typed(index)
        )
    if not -count <= number < count:
        raise InvalidArgumentError(
            "an index of the sampler is out of range",
            expected=f"{-count} to {count - 1}",
            found=str(number),
        )
    return number % count


def _shape(shape: object) -> tuple[int, int]:
    given: Any = listed(shape)
    sides = given if isinstance(given, (list, tuple)) else (given, given)
    if len(sides) != 2:
        raise InvalidArgumentError(
            "the shape is invalid", expected="an integer, or (height, width)", found=shown(shape)
        )
    return whole("shape", sides[0], least=1, bits=15), whole("shape", sides[1], least=1, bits=15)


def _transform(name: str, given: Any, base: type, constant: Callable[..., Any]) -> Any:
    if isinstance(given, base):
        return given
    if callable(given):
        raise ArgumentTypeError(
            f"`{name}` has the wrong type",
            expected=f"a {base.__name__}, or numbers",
            found=typed(given),
            remedy=f"Derive its class from {base.__name__}",
        )
    return constant() if given is None else constant(given)


def _tell_of_cpu() -> None:
    global _told_of_cpu
    if _told_of_cpu:
        return
    _told_of_cpu = True
    warn_user(
        "images are decoded and returned on the CPU, because decoding on a GPU is not available yet. "
        'Pass device="cpu" to confirm this, or a CUDA device to which images are copied.'
    )
