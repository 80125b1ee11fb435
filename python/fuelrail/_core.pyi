"""
The C++ core of fuelrail. Its interface may change at any time: use `fuelrail`.
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
    """The package's version."""

def compose_error(failure: str, path: str | None, record: int | None, offset: int | None, expected: str | None, found: str | None, remedy: str | None) -> str: ...

def suggest(given: str, known: Sequence[str]) -> str:
    """
    Returns a sentence with the known name nearest to `given`, or with all known names.
    """

def process_ends() -> None:
    """
    Must be called when the process ends. From then on, all loaders that are closed share one time limit for storage that hangs.
    """

def default_threads() -> int:
    """Number of threads that a loader starts by default."""

class Array:
    """
    A dense, row-major, writable array in the core's memory.

    `numpy.asarray(array)`, `torch.from_dlpack(array)` and other consumers of DLPack
    or the buffer protocol share the memory and keep it alive. bfloat16 arrays work
    only with DLPack: conversion to NumPy raises UnsupportedError, and the buffer
    protocol raises BufferError. `data.subset`, `sampler` and `weights` accept an
    Array, like any object with DLPack.
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
        """Size of the elements in bytes."""

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

    def numpy(self) -> Any:
        """Returns a numpy.ndarray that shares the memory."""

    def __array__(self, dtype: Any | None = None, copy: bool | None = None) -> Any: ...

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

def listed(array: object) -> Any:
    """
    Converts an object with DLPack in CPU memory to a number or nested lists.
    """

def copy_floats(source: object, into: array.array[float]) -> bool:
    """
    Copies `source` to `into` if it is a float32 or float64 array in CPU memory with the length of `into`. Returns whether it copied.
    """

DEFAULT_MAX_RECORD_BYTES: int = 2147483648

class Record:
    """One record's bytes, read and checked."""

    def value(self, field: str) -> Any:
        """
        Returns an image or a raw-bytes field as bytes, a scalar as a number, and any other value as an Array.
        """

    @property
    def id(self) -> int: ...

    @property
    def place(self) -> tuple[str, int, int]:
        """(path, record in that file, byte offset)."""

class Container:
    """The records of one or more files."""

    def __len__(self) -> int: ...

    def read(self, index: int) -> Record:
        """Reads and checks one record."""

    def place(self, index: int) -> tuple[str, int, int]: ...

    def slice(self, begin: int, count: int, step: int) -> Container: ...

    def subset(self, indices: Sequence[int]) -> Container: ...

    def split(self, fractions: Sequence[tuple[str, float]], seed: int) -> dict[str, Container]: ...

    @property
    def schema(self) -> list[tuple[str, str, str | None, tuple[int, ...]]]:
        """(name, kind, dtype of a tensor, shape of a tensor) of each field."""

    @property
    def classes(self) -> list[str]: ...

    def check_classes(self, classes: list[str]) -> None: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def verifies_checksums(self) -> bool: ...

def open_container(uri: bytes, warnings: list[str], schema: str = '', root: bytes = b'', ignore_sidecar: bool = False, classes: list[str] = []) -> Container: ...

def read_class_names(uri: bytes, warnings: list[str]) -> list[str]:
    """Returns the class names that a file contains."""

def concat(parts: Sequence[Container]) -> Container:
    """Returns one container with the records of all parts, in order."""

def cv_resize(pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], height: int, width: int, interpolation: int) -> Array:
    """Resizes uint8 pixels (height, width, channels) as cv2.resize does."""

def cv_warp_affine(pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], matrix: Sequence[float], height: int, width: int, interpolation: int, fill: int) -> Array:
    """Warps uint8 pixels as cv2.warpAffine does with a constant border."""

def cv_rgb_to_hls(pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> Array:
    """Converts uint8 pixels as cv2.cvtColor does with COLOR_RGB2HLS."""

def cv_hls_to_rgb(pixels: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> Array:
    """Converts uint8 pixels as cv2.cvtColor does with COLOR_HLS2RGB."""

DEFAULT_MAX_PIXELS: int = 178956970

def decode(record: Record, field: str, upright: bool, max_pixels: int) -> Array:
    """
    Decodes a field of a record to uint8 RGB pixels of shape (height, width, 3).
    """

def decode_image(encoded: Any, channels: int, upright: bool, bgr: bool, max_pixels: int) -> Array:
    """Decodes an image to uint8 pixels of shape (height, width, channels)."""

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
    def __init__(self, height: int, width: int, shorter_side: int, interpolation: Interpolation, antialias: bool) -> None: ...

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

class ColorJitter:
    def __init__(self, brightness: Sequence[float], contrast: Sequence[float], saturation: Sequence[float], hue: Sequence[float]) -> None: ...

class Grayscale:
    def __init__(self) -> None: ...

class RandomGrayscale:
    def __init__(self, p: float) -> None: ...

class CustomStage:
    """A pixel stage defined in a C++ extension."""

def check_transforms(transforms: Sequence[RandomResizedCrop | CenterCrop | Resize | ResizedCenterCrop | Pad | RandomCrop | RandomRotation | RandomAffine | HorizontalFlip | VerticalFlip | ColorJitter | Grayscale | RandomGrayscale | CustomStage | Normalize]) -> None:
    """Raises InvalidArgumentError for an invalid value."""

class Shuffle:
    @staticmethod
    def none() -> Shuffle: ...

    @staticmethod
    def full() -> Shuffle: ...

    @staticmethod
    def window(block: int, blocks: int) -> Shuffle: ...

class Weights:
    """The relative frequency with which each record is drawn."""

    def __init__(self, values: array.array[float]) -> None:
        """Takes a contiguous array of float64 in CPU memory."""

def loader_options() -> tuple[list[tuple[str, str, Any, str, str]], list[tuple[str, str, Any, str, str]]]:
    """
    Returns (name, kind, default, bounds, meaning) of each option, in two lists: the options that change results, and the options that change only speed.
    """

def check_loader_options(values: dict[str, Any]) -> None:
    """Raises InvalidArgumentError for the first value out of bounds."""

class BadRecord:
    """A sample that was skipped."""

    @property
    def index(self) -> int:
        """Index in the loader's dataset."""

    @property
    def epoch(self) -> int:
        """Epoch of the first occurrence."""

    @property
    def position(self) -> int:
        """Position of the first occurrence in its epoch."""

    @property
    def times(self) -> int:
        """Number of occurrences."""

    @property
    def error(self) -> str:
        """Text of the first error, with file and record."""

    def __repr__(self) -> str: ...

class StageStats:
    """Statistics of one stage of a loader."""

    @property
    def busy_seconds(self) -> float:
        """Seconds spent working, summed over the stage's threads."""

    @property
    def waiting_seconds(self) -> float:
        """
        Seconds spent waiting for input, for free slots or for the user, summed over the stage's threads.
        """

    @property
    def items(self) -> int:
        """Number of records; for `consumer`, number of batches."""

    @property
    def bytes(self) -> int:
        """Bytes read from storage or written into batches."""

    @property
    def mean_queue_depth(self) -> float:
        """Mean number of items that were waiting each time the stage took items."""

    def as_dict(self) -> dict[str, int | float]:
        """Returns all attributes by name."""

    def __repr__(self) -> str: ...

class Stats:
    """Statistics of a loader's stages since it started."""

    @property
    def seconds(self) -> float:
        """Seconds since the first batch was requested."""

    @property
    def fetch(self) -> StageStats:
        """The stage that reads records."""

    @property
    def process(self) -> StageStats:
        """The stage that decodes and transforms."""

    @property
    def consumer(self) -> StageStats:
        """The user's loop, which is busy with a batch or waits for the next one."""

    @property
    def tolerated(self) -> int:
        """Number of ignored oddities in images."""

    @property
    def slots_lent(self) -> int:
        """Number of batches that the user holds."""

    @property
    def read_backend(self) -> str:
        """
        The backend used so far: 'io_uring', 'pread' (threads) or 'io_uring and pread'; empty before the first batch and after `close`.
        """

    @property
    def reads_at_once(self) -> int:
        """
        Current number of simultaneous reads by threads. io_uring has its own limit.
        """

    @property
    def limit(self) -> str:
        """
        The slowest stage, for which the other stages wait: 'fetch', 'process' or 'consumer'.
        """

    def as_dict(self) -> dict[str, Any]:
        """
        Returns all attributes by name, with each stage as a dict, for JSON and loggers.
        """

    def __repr__(self) -> str: ...

    def __str__(self) -> str:
        """Returns a table with one line for each stage and one for the loader."""

class Loader:
    def __init__(self, data: Container, values: dict[str, Any], shuffle: Shuffle, weights: Weights | None, fed: str, rank: int, world_size: int, transforms: Sequence[RandomResizedCrop | CenterCrop | Resize | ResizedCenterCrop | Pad | RandomCrop | RandomRotation | RandomAffine | HorizontalFlip | VerticalFlip | ColorJitter | Grayscale | RandomGrayscale | CustomStage | Normalize], fields: Sequence[str] = ['image', 'label']) -> None: ...

    def begin(self) -> int:
        """Begins the next epoch; returns the `turn` of this pass, for `next`."""

    def next(self, turn: int, taken: list[tuple[Array | list[Array] | list[bytes], ...]]) -> bool:
        """
        Appends the next batch to `taken`; returns False at the end of the epoch. A ragged column is a list. (A returned batch would be lost if a signal handler raised an exception on return.)
        """

    def set_epoch(self, epoch: int) -> None: ...

    def state(self) -> str:
        """Returns the state as JSON."""

    def restore(self, json: str) -> None: ...

    def reshard(self, rank: int, world_size: int) -> None:
        """
        Changes the rank and the world size for the next batches; restarts the feed.
        """

    def at_end(self) -> bool:
        """Whether the next result is the end of the epoch."""

    def size(self) -> int:
        """Number of batches in an epoch; 0 for a fed order."""

    def batches_left(self) -> int:
        """Number of batches left in the epoch. StateError for a fed order."""

    def life(self) -> str:
        """Whether the loader's threads were started, and in which process."""

    def bad_records(self, since: int) -> list[BadRecord]: ...

    def feed(self, records: Sequence[int], ends_epoch: bool) -> None:
        """Passes the next batch of the user's sampler to the core."""

    def end_feed(self) -> None:
        """Tells the core that the order passed to `feed` has no more batches."""

    def feeds(self) -> int:
        """
        Number of times that the feed has started. When it changes, the feed must continue from `progress`.
        """

    def reserve(self, rows: int) -> None:
        """Makes room for batches of up to `rows` rows, and restarts the feed."""

    def progress(self) -> tuple[int, int]:
        """Epoch and position of the next batch to return."""

    def stats(self) -> Stats: ...

    def warnings(self) -> list[str]:
        """Returns the warnings since the last call."""

    def stop(self) -> None:
        """Ends all threads."""

def pack_options() -> list[tuple[str, str, Any, str, str]]:
    """
    Returns (name, kind, default, bounds, meaning) of each option of `pack`.
    """

def image_options() -> list[tuple[str, str, Any, str, str]]:
    """As `pack_options`, for the image options of `im2rec`."""

def progress_line(verb: str, things: str, done: int, total: int, seconds: float) -> str: ...

def pack(source: str, output: str, options: dict[str, Any], progress: Callable[[int, int, int, float], object] | None, failed: Callable[[str, str], object] | None, warnings: list[str]) -> dict[str, Any]: ...

def pack_arrays(data: Any, labels: Sequence[float], label_width: int, output: str, options: dict[str, Any], progress: Callable[[int, int, int, float], object] | None, failed: Callable[[str, str], object] | None, warnings: list[str]) -> dict[str, Any]: ...

def merge(sources: list[str], output: str, overwrite: bool, progress: Callable[[int, int, int, float], object] | None, warnings: list[str]) -> tuple[str, int, int, bool]: ...

def recover(source: str, output: str, overwrite: bool, progress: Callable[[int, int, int, float], object] | None, warnings: list[str]) -> dict[str, Any]: ...

def convert(source: str, output: str, schema: str, classes: list[str], overwrite: bool, progress: Callable[[int, int, int, float], object] | None, warnings: list[str]) -> tuple[str, int, int, bool]: ...

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
    Returns (name, kind, default, bounds, meaning) of each parameter of a record iterator.
    """

class RecordIter:
    def __init__(self, values: dict[str, Any], detection: bool, warnings: list[str]) -> None: ...

    def next(self, taken: list[tuple[Array, Array, Array, int]]) -> bool:
        """
        Appends data, label, index and pad to `taken`; returns False at the end of the epoch.
        """

    def reset(self) -> None: ...

    def described(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Returns the element type and shape of a column."""

    @property
    def records(self) -> int:
        """Number of records in the part."""

    def stats(self) -> Stats: ...

    def stop(self) -> None: ...

class FfrecordReader:
    """Reads FFRecord files in batches."""

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
    """Returns (name, kind, default, bounds, meaning) of each option."""

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
    """Reads the payloads of a RecordIO file."""

    def next(self) -> bytes | None: ...

    def read_at(self, offset: int) -> bytes | None: ...

    def check_index(self, entries: int, uri: bytes) -> None: ...

    def seek(self, offset: int) -> None: ...

def open_recordio(uri: bytes) -> RecordioReader: ...

class RecordioWriter:
    """Writes a RecordIO file and its index."""

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
    """Runs the `fuelrail` command; returns its exit code."""
