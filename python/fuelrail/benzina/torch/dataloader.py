"""Benzina's DataLoader: batches of H.265 stills, warped and normalised."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.utils.data
from torch.utils.data.dataloader import default_collate

import fuelrail
from fuelrail import _core
from fuelrail.benzina.torch import operations as ops
from fuelrail.benzina.torch.dataset import Dataset
from fuelrail.benzina.torch.row_transforms import RowTransforms
from fuelrail.closing import close_at_exit, end_thread_at_exit
from fuelrail.delivery import NativeColumn
from fuelrail.errors import ArgumentTypeError, InvalidArgumentError, warn_user
from fuelrail.fed_order import FedOrder
from fuelrail.options import choice_of, listed, real, shown, truth, typed, whole
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
        combination that torch refuses; UnsupportedError if `device` is a CUDA device and CUDA is
        not available; those of `fuelrail.open`.
        """
        if not isinstance(dataset, Dataset):
            raise ArgumentTypeError(
                "a dataset has the wrong type",
                expected="a dataset of fuelrail.benzina.torch.dataset",
                found=typed(dataset),
                remedy="To load some of its samples, pass their indices as `sampler`",
            )
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
        self.path: Any = path if path is not None else dataset.filename
        if self.path is None:
            raise InvalidArgumentError(
                "`path` is missing",
                expected="the path of a `.bzna` file, because the dataset was given by tracks",
            )
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
        self._idle: deque[_core.Loader] = deque(maxlen=1)  # lent to no iterator
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
        numbers. A batch with a sample that cannot be decoded, or for which a transform or
        `collate_fn` raises an error, is replaced by this error; the next call of `next` returns the
        next batch. An error of the sampler ends the epoch after the batches before it.

        Several iterators may be used at a time. The threads of an iterator that has ended without
        errors, or was deleted, serve the next one. Without a sidecar beside the file, a warp that
        depends on the sizes of images reads each record twice. `fuelrail index` makes the sidecar.

        Errors of `next`: DecodeError and the other errors of reading and decoding, with the path
        and the record; StallError, which is a TimeoutError, after `timeout`; what the sampler, a
        transform or `collate_fn` raises.
        """
        return _Batches(self, np.random.RandomState(self._random.randint(2**32)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_idle": deque(maxlen=1)}  # a copy starts threads of its own

    def _lend(self) -> _core.Loader:
        """Returns a loader of the core that no iterator uses."""
        with contextlib.suppress(IndexError):
            idle = self._idle.pop()
            if idle.life() != "started in another process":
                return idle
        values = {name: value for name, value in self._options.items() if value is not None}
        core = _core.Loader.stills(
            self._data.container,
            values,
            height=self.shape[0],
            width=self.shape[1],
            image_bounds=self._bounds == "image",
            antialias=self._antialias,
        )
        close_at_exit(core, _core.Loader.stop)
        return core

    def _prepared(
        self,
        batches: Iterator[Any],
        core: _core.Loader,
        random: np.random.RandomState,
        targets: dict[int, Any],
    ) -> Iterator[list[int]]:
        """Yields the records of each batch of an epoch, after their parameters were passed to the
        core. Stores the targets of each batch, by the batch's number. If the batch has an error,
        stores the error, and yields a batch without records in its place.
        """
        transforms = RowTransforms(
            warp=self.warp_transform,
            color=self.color_transform,
            bias=self.bias_transform,
            norm=self.norm_transform,
            oob=self.oob_transform,
        )
        _, position = core.progress()
        for number, indices in enumerate(batches):
            try:
                records = [self._data._index(index) for index in indices]
                rows = transforms.draw(records, self._sizes, self.shape, random)
                core.add_rows(position, rows)
                targets[number] = self._targets(records)
            except Exception as error:
                records, targets[number] = [], error
            position += len(records)
            yield records

    def _sizes(self, records: Sequence[int]) -> npt.NDArray[np.int64]:
        array = np.array(records, np.uint64)
        return np.asarray(_core.benzina_image_sizes(self._data.container, array))

    def _targets(self, records: list[int]) -> tuple[Any, ...]:
        dataset: Any = self.dataset
        targets = dataset.targets
        if targets is None:
            return ()
        collate = self.collate_fn or default_collate
        collated = collate([(target,) for target in targets[records]])
        return tuple(collated)


class _Batches:
    """The batches of an epoch.

    The thread that requests a batch reads the sampler and draws the parameters of the transforms,
    `multibuffering` + 2 batches ahead. The core's threads run no Python code.
    """

    def __init__(self, loader: DataLoader, random: np.random.RandomState) -> None:
        self._loader = loader
        batches: Any = loader.batch_sampler
        core = self._core = loader._lend()
        self._turn = core.begin()
        core.reserve(0)  # discards what an earlier iterator has fed
        self._targets: dict[int, Any] = {}
        # FedOrder iterates over the generator again for the next epoch, which ends the order.
        self._order = FedOrder(
            loader._prepared(iter(batches), core, random, self._targets),
            batch_size=None,
            drop_last=False,
            index=loader._data._index,
            prefetch=loader.multibuffering,
            rank=0,
            world_size=1,
        )
        self._taken: list[tuple[NativeColumn, ...]] = []  # a batch that was not returned yet
        self._has_failed = False  # the core may have failed as a whole
        self._is_over = False

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> tuple[Any, ...]:
        with self._order.own_lock():
            return self._next()

    def _next(self) -> tuple[Any, ...]:
        if self._is_over or not (self._taken or self._take()):
            raise StopIteration
        number = self._order.done(self._core) - 1
        targets = self._targets[number]
        if isinstance(targets, Exception):
            self._taken.clear()
            try:
                raise self._targets.pop(number)
            finally:
                del targets  # a cycle with the traceback would keep the iterator alive
        ((images,),) = self._taken
        assert isinstance(images, _core.Array)
        framework = self._loader._framework
        placed = framework.place([framework.column(images, True)])
        self._taken.clear()
        return (*placed, *self._targets.pop(number))

    def _take(self) -> bool:
        """Requests a batch. Returns False at the end of the epoch."""
        try:
            is_batch = self._order.take(self._core, self._turn, self._taken)
        except BaseException:
            self._has_failed = True
            raise
        finally:
            end_thread_at_exit()
            for said in self._core.warnings():
                warn_user(said)
        if not is_batch:
            self.close()
        return is_batch

    def close(self) -> None:
        """Ends the epoch. Unless an error was raised, the next iterator gets the threads of this
        one.
        """
        if not self._is_over:
            self._is_over = True
            if not self._has_failed:
                self._loader._idle.append(self._core)

    def __del__(self) -> None:
        if hasattr(self, "_is_over"):
            self.close()


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
