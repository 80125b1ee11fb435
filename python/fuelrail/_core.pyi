"""
The internal C++ core of fuelrail. Its interface may change at any time, so use `fuelrail` instead.
"""

import array
import collections
from collections.abc import Callable, Sequence
import enum
from typing import Annotated, Any, SupportsIndex

import numpy
import numpy.typing
from numpy.typing import NDArray


def version() -> str:
    """Returns the version of fuelrail."""

def compose_error(failure: str, path: str | None, record: int | None, field: str | None, offset: int | None, expected: str | None, found: str | None, remedy: str | None) -> str: ...

def suggest(given: str, known: Sequence[str]) -> str:
    """
    Returns a hint for an unknown name: the most similar known name, or all known names if none is similar.
    """

def process_ends() -> None:
    """
    Called when the process exits. After this call, all loaders together wait at most one timeout for storage that does not respond, instead of one timeout each.
    """

def default_threads() -> int:
    """Returns the default number of a loader's threads."""

class Array:
    """
    A writable, C-contiguous array in memory that fuelrail allocated.

    `numpy.asarray(array)`, `torch.from_dlpack(array)` and other consumers of DLPack
    or the buffer protocol share the memory and keep it alive. bfloat16 arrays
    support only DLPack. For them, conversion to NumPy raises UnsupportedError, and
    the buffer protocol raises BufferError. An Array can be passed to
    `Dataset.subset`, and to a loader as `sampler` or `weights`.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""

    @property
    def dtype(self) -> str:
        """NumPy's name of the element type, such as 'float32'."""

    @property
    def ndim(self) -> int:
        """Number of dimensions."""

    @property
    def nbytes(self) -> int:
        """Total size of the elements in bytes."""

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

    def numpy(self) -> Any:
        """Returns a numpy.ndarray that shares this array's memory."""

    def __array__(self, dtype: Any | None = None, copy: bool | None = None) -> Any: ...

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

def bfloat16_bits(array: Array) -> Array:
    """
    Returns the elements of a bfloat16 array as uint16, in the same memory.
    """

def listed(array: object) -> Any:
    """
    Converts an array to nested lists, or to a number if the array has no dimensions. The array must be in CPU memory and support DLPack.
    """

def copy_floats(source: object, into: array.array[float]) -> bool:
    """
    Copies the numbers of `source` to `into` and returns True. Returns False, without copying, if `source` is not a one-dimensional float32 or float64 CPU array with as many elements as `into`.
    """

DEFAULT_MAX_RECORD_BYTES: int = 2147483648

class Record:
    """A record that was read from a file and checked."""

    def value(self, field: str) -> Any:
        """
        Returns the value of a field. The value is a bytes object if the field is an encoded image or raw bytes, a number if it is a scalar, and otherwise an Array.
        """

    @property
    def id(self) -> int: ...

    @property
    def place(self) -> tuple[str, int, int]:
        """
        Path of the record's file, and the record's index and byte offset in the file.
        """

class Container:
    """A sequence of records from one or more files."""

    def __len__(self) -> int: ...

    def read(self, index: int) -> Record:
        """Reads and checks the record at `index`."""

    def place(self, index: int) -> tuple[str, int, int]: ...

    def slice(self, begin: int, count: int, step: int) -> Container: ...

    def subset(self, indices: Sequence[int]) -> Container: ...

    def split(self, fractions: Sequence[tuple[str, float]], seed: int) -> dict[str, Container]: ...

    @property
    def schema(self) -> list[tuple[str, str, str | None, tuple[int, ...]]]:
        """
        Name, kind, dtype and shape of each field. Only tensors have a dtype and a shape.
        """

    @property
    def fields(self) -> list[tuple[str, str, str | None, tuple[int, ...], str, int | None, int | None, int, int]]:
        """
        Name, kind, dtype (None: not a tensor), shape, role ("": none), of, rows, flags and detail of each field. `of` and `rows` are numbers of fields, or None.
        """

    def classes_of(self, field: str) -> list[str]:
        """The class names of a label field; empty if there are none."""

    @property
    def classes(self) -> list[str]: ...

    def check_classes(self, classes: list[str]) -> None: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def verifies_checksums(self) -> bool: ...

def open_container(uri: bytes, warnings: list[str], schema: str = '', root: bytes = b'', track: str = '', split: str = '', ignore_sidecar: bool = False, classes: list[str] = []) -> Container: ...

def read_class_names(uri: bytes, warnings: list[str]) -> list[str]:
    """Returns the class names in a packed file, a folder or a text file."""

def concat(parts: Sequence[Container]) -> Container:
    """Returns a container with the records of all `parts`, in order."""

def cv_resize(pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], height: int, width: int, interpolation: int) -> Array:
    """Resizes a uint8 image (height, width, channels) like cv2.resize."""

def cv_warp_affine(pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], matrix: Sequence[float], height: int, width: int, interpolation: int, fill: int) -> Array:
    """Warps a uint8 image like cv2.warpAffine with a constant border."""

def cv_rgb_to_hls(pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> Array:
    """Converts a uint8 image like cv2.cvtColor with COLOR_RGB2HLS."""

def cv_hls_to_rgb(pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> Array:
    """Converts a uint8 image like cv2.cvtColor with COLOR_HLS2RGB."""

DEFAULT_MAX_PIXELS: int = 178956970

def decode(record: Record, field: str, item: int | None, upright: bool, max_pixels: int) -> Array:
    """
    Decodes an image field of a record to uint8 RGB pixels of shape (height, width, 3), or a mask or map to its values. `item`: of a list.
    """

def decode_image(encoded: Any, channels: int, upright: bool, bgr: bool, max_pixels: int) -> Array:
    """Decodes an image to uint8 pixels of shape (height, width, channels)."""

def decode_values(encoded: Any, rgb: bool, upright: bool, max_pixels: int) -> Array:
    """
    Decodes an image to its values: uint8, uint16, int32 or float32, of shape (height, width) or (height, width, channels). With `rgb`, red + 256 green + 65536 blue.
    """

def encode_image(pixels: Any, height: int, width: int, channels: int, bgr: bool, png: bool, setting: int) -> bytes: ...

class Interpolation(enum.Enum):
    nearest = 0

    bilinear = 1

    bicubic = 2

class PaddingMode(enum.Enum):
    constant = 0

    edge = 1

    reflect = 2

    symmetric = 3

class RandomResizedCrop:
    def __init__(self, height: int, width: int, scale: Sequence[float] = [0.08, 1.0], ratio: Sequence[float] = [0.75, 1.3333333333333333], interpolation: Interpolation = Interpolation.bilinear, antialias: bool = True) -> None: ...

class CenterCrop:
    def __init__(self, height: int, width: int) -> None: ...

class Resize:
    def __init__(self, height: int, width: int, shorter_side: int, interpolation: Interpolation, antialias: bool, max_size: int) -> None: ...

class ResizedCenterCrop:
    def __init__(self, height: int, width: int, resize: int, interpolation: Interpolation, antialias: bool) -> None: ...

class HorizontalFlip:
    def __init__(self, p: float) -> None: ...

class VerticalFlip:
    def __init__(self, p: float) -> None: ...

class Normalize:
    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None: ...

class Pad:
    def __init__(self, padding: Sequence[int], padding_mode: PaddingMode, fill: Sequence[int]) -> None: ...

class RandomCrop:
    def __init__(self, height: int, width: int, padding: Sequence[int], pad_if_needed: bool, padding_mode: PaddingMode, fill: Sequence[int]) -> None: ...

class RandomRotation:
    def __init__(self, degrees: Sequence[float], interpolation: Interpolation, expand: bool, center: Sequence[float] | None, padding_mode: PaddingMode, fill: Sequence[int]) -> None: ...

class RandomAffine:
    def __init__(self, degrees: Sequence[float], translate: Sequence[float], scale: Sequence[float], shear: Sequence[float], interpolation: Interpolation, center: Sequence[float] | None, padding_mode: PaddingMode, fill: Sequence[int]) -> None: ...

class RandomShortestSize:
    def __init__(self, min_size: Sequence[int], max_size: int, interpolation: Interpolation, antialias: bool) -> None: ...

class ScaleJitter:
    def __init__(self, height: int, width: int, scale_range: Sequence[float], interpolation: Interpolation, antialias: bool) -> None: ...

class RandomZoomOut:
    def __init__(self, side_range: Sequence[float], p: float, padding_mode: PaddingMode, fill: Sequence[int]) -> None: ...

class RandomIoUCrop:
    def __init__(self, scale: Sequence[float], aspect_ratio: Sequence[float], sampler_options: Sequence[float] = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0], trials: int = 40) -> None: ...

class ColorJitter:
    def __init__(self, brightness: Sequence[float], contrast: Sequence[float], saturation: Sequence[float], hue: Sequence[float]) -> None: ...

class Grayscale:
    def __init__(self) -> None: ...

class RandomGrayscale:
    def __init__(self, p: float) -> None: ...

class CustomStage:
    """An image transform that is defined in a C++ extension."""

class BoxFormat(enum.Enum):
    xyxy = 0

    xywh = 1

    cxcywh = 2

class Drawing:
    """What a list of transforms does to one image."""

    def steps(self) -> list[dict[str, Any]]: ...

    @property
    def size(self) -> tuple[int, int]: ...

    @property
    def affine(self) -> list[float]: ...

    @property
    def removed(self) -> Array: ...

    def move_boxes(self, boxes: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], format: BoxFormat, relative: bool, pixel_centers: bool, min_size: float, min_area: float, keep_empty: bool) -> tuple[Array, Array]: ...

    def move_points(self, points: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], numbers: int, relative: bool, pixel_centers: bool) -> tuple[Array, Array]: ...

    def move_camera(self, matrix: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], columns: int, pixel_centers: bool) -> Array: ...

    def move_mask(self, mask: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], fill: int) -> Array: ...

    def move_map(self, map: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], fill: float, vectors: bool) -> Array: ...

def draw(transforms: Sequence[RandomResizedCrop | CenterCrop | Resize | ResizedCenterCrop | Pad | RandomCrop | RandomRotation | RandomAffine | HorizontalFlip | VerticalFlip | ColorJitter | Grayscale | RandomGrayscale | CustomStage | Normalize | RandomShortestSize | ScaleJitter | RandomZoomOut | RandomIoUCrop], height: int, width: int, seed: int, epoch: int, position: int, leader: int, boxes: Sequence[Sequence[float]] | None) -> Drawing: ...

def check_transforms(transforms: Sequence[RandomResizedCrop | CenterCrop | Resize | ResizedCenterCrop | Pad | RandomCrop | RandomRotation | RandomAffine | HorizontalFlip | VerticalFlip | ColorJitter | Grayscale | RandomGrayscale | CustomStage | Normalize | RandomShortestSize | ScaleJitter | RandomZoomOut | RandomIoUCrop]) -> None:
    """Raises InvalidArgumentError if a transform is invalid."""

class Shuffle:
    @staticmethod
    def none() -> Shuffle: ...

    @staticmethod
    def full() -> Shuffle: ...

    @staticmethod
    def window(block: int, blocks: int) -> Shuffle: ...

class Weights:
    """The sampling weight of each record."""

    def __init__(self, values: array.array[float]) -> None:
        """`values` must be a contiguous float64 array in CPU memory."""

def loader_options() -> tuple[list[tuple[str, str, Any, str, str]], list[tuple[str, str, Any, str, str]]]:
    """
    Returns two lists: the options that change the results, and the options that change only the speed. Each option is a tuple (name, kind, default, bounds, meaning).
    """

def check_loader_options(values: dict[str, Any]) -> None:
    """Raises InvalidArgumentError if a value is out of bounds."""

class BadRecord:
    """A bad sample that a loader skipped."""

    @property
    def index(self) -> int:
        """Index of the sample in the loader's dataset."""

    @property
    def epoch(self) -> int:
        """Epoch in which the sample was first skipped."""

    @property
    def position(self) -> int:
        """
        Position of the sample among the samples of all ranks in the epoch `epoch`, counted from 0.
        """

    @property
    def times(self) -> int:
        """Number of times that the sample was skipped."""

    @property
    def error(self) -> str:
        """
        Text of the first error that this sample caused. The text names the file and the record.
        """

    def __repr__(self) -> str: ...

class StageStats:
    """Statistics of one stage of a loader."""

    @property
    def busy_seconds(self) -> float:
        """Seconds spent working, summed over the stage's threads."""

    @property
    def waiting_seconds(self) -> float:
        """
        Seconds spent waiting for input, for free memory or for the user's code, summed over the stage's threads.
        """

    @property
    def items(self) -> int:
        """
        Number of batches for the stage `consumer`; number of records for the other stages.
        """

    @property
    def bytes(self) -> int:
        """
        For the stage `fetch`, the bytes read from storage. For `process`, the bytes written to batches. For `consumer`, the bytes of the batches returned.
        """

    @property
    def mean_queue_depth(self) -> float:
        """
        Mean length of the stage's queue, measured each time the stage takes items from the queue. The queue of `fetch` contains reads in progress, that of `process` records that were read, and that of `consumer` finished batches.
        """

    def as_dict(self) -> dict[str, int | float]:
        """Returns a dict of all attributes."""

    def __repr__(self) -> str: ...

class Stats:
    """Statistics of a loader since its first batch was requested."""

    @property
    def seconds(self) -> float:
        """Seconds since the first batch was requested."""

    @property
    def fetch(self) -> StageStats:
        """The stage that reads records."""

    @property
    def process(self) -> StageStats:
        """The stage that decodes and transforms images."""

    @property
    def consumer(self) -> StageStats:
        """The user's loop, which takes batches from the loader."""

    @property
    def tolerated(self) -> int:
        """
        Number of ignored defects in image files, such as extra bytes between JPEG markers.
        """

    @property
    def images(self) -> dict[str, int]:
        """
        Number of images that were decoded, by method. JPEGs: 'indexed' (from the entry points that 'fuelrail index' stores), 'restart_markers' (from those in the file), 'guessed' (without either), 'libjpeg' (by libjpeg-turbo: progressive, CMYK and other kinds); 'png' (PNGs, by fuelrail), 'libspng' (interlaced or very large PNGs, crops at the top, large compressed texts), 'suspect' (JPEGs and PNGs by libjpeg-turbo or libspng, because the data are not what encoders write), 'other' (all other formats).
        """

    @property
    def hints_refused(self) -> int:
        """Number of JPEGs whose entry points do not fit them, and were not used."""

    @property
    def slots_lent(self) -> int:
        """Number of batches that the user still references."""

    @property
    def read_backend(self) -> str:
        """
        The method of reading: 'io_uring', 'pread' (with threads) or 'io_uring and pread'. Empty before the first batch and after `close`.
        """

    @property
    def reads_at_once(self) -> int:
        """
        Current limit on the number of simultaneous reads by the read threads. The limit grows if storage is slow. It does not apply to io_uring, which has its own limit.
        """

    @property
    def limit(self) -> str:
        """
        The bottleneck: 'fetch', 'process' or 'consumer', whichever is busy for the largest fraction of its time. Empty before the first batch.
        """

    def as_dict(self) -> dict[str, Any]:
        """
        Returns a dict of all attributes, for JSON and loggers. Each stage is also a dict.
        """

    def __repr__(self) -> str: ...

    def __str__(self) -> str:
        """
        Returns a table with a line for each stage, one of totals and, after the first image, one of `images`.
        """

class Loader:
    def __init__(self, data: Container, values: dict[str, Any], shuffle: Shuffle, weights: Weights | None, fed: str, rank: int, world_size: int, transforms: Sequence[RandomResizedCrop | CenterCrop | Resize | ResizedCenterCrop | Pad | RandomCrop | RandomRotation | RandomAffine | HorizontalFlip | VerticalFlip | ColorJitter | Grayscale | RandomGrayscale | CustomStage | Normalize | RandomShortestSize | ScaleJitter | RandomZoomOut | RandomIoUCrop], transforms_of: Sequence[tuple[str, Sequence[RandomResizedCrop | CenterCrop | Resize | ResizedCenterCrop | Pad | RandomCrop | RandomRotation | RandomAffine | HorizontalFlip | VerticalFlip | ColorJitter | Grayscale | RandomGrayscale | CustomStage | Normalize | RandomShortestSize | ScaleJitter | RandomZoomOut | RandomIoUCrop]]] = [], patterns: dict[str, list[tuple[str, str]]] = {}, shared: Sequence[Sequence[str]] = [], fields: Sequence[str] = ['image', 'label']) -> None: ...

    @staticmethod
    def stills(data: Container, values: dict[str, Any], height: int, width: int, image_bounds: bool, antialias: bool) -> Loader:
        """
        Returns a loader of H.265 stills that are warped as Benzina does. Its batches have one column, float32 of shape (rows, 3, height, width). The order is fed, as are the parameters, with `add_rows`.
        """

    def add_rows(self, position: int, rows: Annotated[NDArray[numpy.float32], dict(shape=(None, 19), order='C', device='cpu', writable=False)]) -> None:
        """
        Passes the parameters of a batch to the core, float32 of shape (rows, 19), before the batch is passed to `feed`. `position`: the number of samples before it in the epoch.
        """

    def begin(self) -> int:
        """
        Begins the next epoch. Returns a number that the caller must pass to `next` as `turn`.
        """

    def next(self, turn: int, taken: list[tuple[Array | list[Any], ...]]) -> bool:
        """
        Appends the next batch to the list `taken`. Returns False at the end of the epoch. A batch is a tuple of columns. A column is an array or a list with one item per row: an array, a bytes object, a string, or a list of these. If a signal handler raises an exception, `taken` still contains the batch.
        """

    def column_names(self) -> list[tuple[str, bool]]:
        """
        Returns the name of each column of a batch, and whether its elements are images.
        """

    def set_epoch(self, epoch: int) -> None: ...

    def state(self) -> str:
        """Returns the state from which the loader can resume, as JSON."""

    def restore(self, json: str) -> None: ...

    def reshard(self, rank: int, world_size: int) -> None:
        """
        Changes the rank and the world size for the next batch and all later batches. Discards the batches that were passed to `feed`: pass them again, as `feeds` describes.
        """

    def at_end(self) -> bool:
        """
        Returns whether the next call of `next` will report the end of the epoch.
        """

    def size(self) -> int:
        """
        Returns the number of batches in an epoch, or 0 if a user's sampler defines the order.
        """

    def batches_left(self) -> int:
        """
        Returns the number of batches left in the epoch. Raises StateError if a user's sampler defines the order.
        """

    def life(self) -> str:
        """
        Returns the state of the loader's threads: 'not started', 'started' or 'started in another process'.
        """

    def bad_records(self, since: int) -> list[BadRecord]: ...

    def feed(self, records: Sequence[int], ends_epoch: bool) -> None:
        """
        Passes the next batch of a user's sampler to the core. `records` contains the record indices of the batch. `ends_epoch` is True for the last batch of an epoch.
        """

    def end_feed(self) -> None:
        """Tells the core that no more calls of `feed` follow."""

    def feeds(self) -> int:
        """
        Returns a number that increases each time the core discards the batches passed to `feed`. After an increase, the caller must call `feed` again for all batches from the position that `progress` returns.
        """

    def reserve(self, rows: int) -> None:
        """
        Allows batches of up to `rows` rows. Discards the batches that were passed to `feed`: pass them again, as `feeds` describes.
        """

    def progress(self) -> tuple[int, int]:
        """
        Returns the epoch of the next batch, and the position of its first sample in that epoch.
        """

    def stats(self) -> Stats: ...

    def warnings(self) -> list[str]:
        """Returns the warnings that the core issued since the last call."""

    def stop(self) -> None:
        """Ends all threads of the loader."""

def pack_options() -> list[tuple[str, str, Any, str, str]]:
    """
    Returns a tuple (name, kind, default, bounds, meaning) for each option of `pack`.
    """

def image_options() -> list[tuple[str, str, Any, str, str]]:
    """
    Returns a tuple (name, kind, default, bounds, meaning) for each image option of `im2rec`.
    """

def progress_line(verb: str, things: str, done: int, total: int, seconds: float) -> str: ...

def pack(sources: Sequence[tuple[str, str]], output: str, options: dict[str, Any], progress: Callable[[int, int, int, float], object] | None, failed: Callable[[str, str], object] | None, warnings: list[str]) -> dict[str, Any]: ...

def image_format(data: Any) -> str | None:
    """
    Returns the name of the image format whose signature the bytes begin with, or None.
    """

def image_extensions() -> list[str]:
    """Returns the extensions of image files in folders, such as '.jpg'."""

def pack_samples(start: object, read: object, size: int | None, output: str, options: dict[str, Any], strict: bool, progress: Callable[[int, int, int, float], object] | None, warnings: list[str]) -> dict[str, Any]: ...

def pack_arrays(data: Any, labels: Sequence[float], label_width: int, output: str, options: dict[str, Any], progress: Callable[[int, int, int, float], object] | None, failed: Callable[[str, str], object] | None, warnings: list[str]) -> dict[str, Any]: ...

def merge(sources: list[str], output: str, overwrite: bool, progress: Callable[[int, int, int, float], object] | None, warnings: list[str]) -> tuple[str, int, int, bool]: ...

def recover(source: str, output: str, overwrite: bool, progress: Callable[[int, int, int, float], object] | None, warnings: list[str]) -> dict[str, Any]: ...

def convert(source: str, output: str, schema: str, classes: list[str], options: dict[str, Any], progress: Callable[[int, int, int, float], object] | None, warnings: list[str]) -> tuple[str, int, int, bool]: ...

class MakerWarnings:
    """The warnings of worker processes that make records."""

    def __init__(self) -> None: ...

    def take(self) -> list[str]:
        """Returns the warnings since the last call."""

def open_with_workers(description: tuple[Any, ...], size: int, name: str, fingerprint: str, executable: bytes, arguments: Sequence[bytes], greeting: bytes, workers: int, warnings: MakerWarnings) -> Container:
    """
    Returns a container whose records processes make, which run `executable`. Each creates a WorkerChannel.
    """

def open_with_threads(description: tuple[Any, ...], size: int, name: str, fingerprint: str, read: object, explain: object, threads: int) -> Container:
    """Returns a container whose records threads of this process make."""

class WorkerChannel:
    """A worker's connection to its parent process."""

    def __init__(self, parent: int) -> None: ...

    def greeting(self) -> bytes: ...

    def refuse(self, why: str) -> None: ...

    @staticmethod
    def end() -> None:
        """Ends this process and those it has started."""

    def serve(self, description: tuple[Any, ...], size: int, read: object, explain: object) -> None:
        """
        Makes records until the parent wants no more. `read` and `explain`: as in open_with_threads.
        """

class InputSplit:
    def next_record(self) -> bytes | None: ...

    def next_chunk(self) -> bytes | None: ...

    def next_batch(self, records: int) -> bytes | None: ...

    def records_of(self, chunk: bytes) -> list[bytes]: ...

    def before_first(self) -> None: ...

    def reset_partition(self, part: int, nsplit: int) -> None: ...

    def hint_chunk_size(self, bytes: int) -> None: ...

    def close(self) -> None: ...

    def total_size(self) -> int: ...

    @property
    def files(self) -> list[str]: ...

def open_input_split(uri: bytes, type: str, part: int, nsplit: int, index_uri: bytes, recurse_directories: bool, shuffle: bool, seed: int, shuffle_parts: int, batch_size: int, chunk_bytes: int) -> InputSplit: ...

def record_parameters(detection: bool) -> list[tuple[str, str, Any, str, str]]:
    """
    Returns a tuple (name, kind, default, bounds, meaning) for each parameter of ImageDetRecordIter if `detection` is True, otherwise of ImageRecordIter.
    """

class RecordIter:
    def __init__(self, values: dict[str, Any], detection: bool, warnings: list[str]) -> None: ...

    def next(self, taken: list[tuple[Array, Array, Array, int]]) -> bool:
        """
        Appends the next batch, a tuple (data, label, index, pad), to the list `taken`. Returns False at the end of the epoch.
        """

    def reset(self) -> None: ...

    def described(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Returns the dtype and the shape of the batch column `name`."""

    @property
    def records(self) -> int:
        """Number of records in the part of the data that this iterator reads."""

    def stats(self) -> Stats: ...

    def stop(self) -> None: ...

class BenzinaWarp:
    @staticmethod
    def constant(numbers: Sequence[float]) -> BenzinaWarp: ...

    @staticmethod
    def similarity(scale: Sequence[float], ratio: Sequence[float] | None, degrees: Sequence[float], translate: Sequence[float], flip_h: float, flip_v: float, resize: bool, keep_ratio: bool, random_crop: bool) -> BenzinaWarp: ...

    @property
    def is_constant(self) -> bool: ...

def benzina_affine_matrix(in_shape: Sequence[int], out_shape: Sequence[int], crop: Sequence[float] | None, degrees: float, translate: Sequence[float], flip_h: bool, flip_v: bool, resize: bool, keep_ratio: bool) -> list[float]:
    """Returns the nine numbers of the matrix of compute_affine_matrix."""

def benzina_image_sizes(data: Container, records: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Array:
    """
    Returns the (width, height) of the records' images, int64 of shape (records, 2).
    """

def benzina_draw_warp(warps: list[BenzinaWarp], in_shape: Sequence[int], out_shape: Sequence[int], key: Annotated[NDArray[numpy.uint32], dict(shape=(624), order='C', device='cpu')], position: int) -> tuple[list[float], int]:
    """
    Returns the nine numbers of a warp and the new position of the random numbers. Changes `key` in place.
    """

def benzina_draw_rows(warps: list[BenzinaWarp], constants: Sequence[float], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, 2), order='C', device='cpu', writable=False)], out_shape: Sequence[int], key: Annotated[NDArray[numpy.uint32], dict(shape=(624), order='C', device='cpu')], position: int) -> tuple[Array, int]:
    """
    Returns the parameters of a batch, float32 of shape (rows, 19), and the new position of the random numbers. Changes `key` in place. A row has the warp (9 numbers), the color matrix (1), bias (3), norm (3) and the color out of bounds (3). `constants` has the last 10 of them; `sizes` has a (width, height) for each row.
    """

class FfrecordReader:
    """Reads the records of FFRecord files."""

    def read(self, indices: list[Any]) -> list[NDArray[numpy.uint8]]: ...

    def read_one(self, index: SupportsIndex) -> numpy.typing.NDArray[numpy.uint8]: ...

    def run_of(self, begin: int, most_records: int, most_bytes: int) -> int: ...

    def is_packed_folder(self) -> bool: ...

    def verify(self, progress: Callable[[int], object] | None) -> list[tuple[int, str]]: ...

    def verify_tables(self) -> None: ...

    def offsets(self, file: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]: ...

    def checksums(self, file: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]: ...

    def close(self) -> None: ...

    def take_warnings(self) -> list[str]: ...

    @property
    def read_backend(self) -> str: ...

    def __len__(self) -> int: ...

def open_ffrecord(uris: Sequence[bytes], options: dict[str, Any], check_data: bool = True) -> FfrecordReader: ...

def reader_options() -> list[tuple[str, str, Any, str, str]]:
    """
    Returns a tuple (name, kind, default, bounds, meaning) for each option of FfrecordReader.
    """

class FfrecordWriter:
    """Writes an FFRecord file."""

    def append(self, record: Any) -> None: ...

    def add(self, piece: Any) -> None: ...

    def begin_record(self) -> None: ...

    def end_record(self) -> None: ...

    def finish(self) -> None: ...

    def discard(self) -> None: ...

    @property
    def records(self) -> int: ...

def create_ffrecord(uri: bytes, records: int | None) -> FfrecordWriter: ...

def packed_entries(last_record: Any, records: int) -> collections.OrderedDict[str, Any]: ...

class RecordioReader:
    """Reads the records of a RecordIO file."""

    def next(self) -> bytes | None: ...

    def read_at(self, offset: int) -> bytes | None: ...

    def check_index(self, entries: int, uri: bytes) -> None: ...

    def seek(self, offset: int) -> None: ...

def open_recordio(uri: bytes) -> RecordioReader: ...

class RecordioWriter:
    """Writes a RecordIO file and, if requested, its index."""

    def append(self, payload: Any) -> int: ...

    def append_keyed(self, key: str, payload: Any) -> int: ...

    def position(self) -> int: ...

    def finish(self) -> None: ...

    def discard(self) -> None: ...

def create_recordio(uri: bytes, index_uri: bytes | None) -> RecordioWriter: ...

def open_indexed_recordio(uri: bytes, index_uri: bytes) -> tuple[RecordioReader, list[tuple[str, int]]]: ...

def list_extensions() -> list[str]: ...

def make_lists(prefix: str, root: str, extensions: Sequence[str], recursive: bool, shuffle: bool, chunks: int, train_ratio: float, test_ratio: float, overwrite: bool) -> tuple[list[str], list[str], int]: ...

def cli_main(argv: list[str]) -> int:
    """Runs the `fuelrail` command and returns its exit code."""
