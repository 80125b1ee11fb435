"""Batches, descriptions and arrays of MXNet's iterators; keywords as text; the user's augmenter."""

from __future__ import annotations

import gc
import pathlib
import pickle
import threading
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import fuelrail as fr
from fuelrail.mxnet import io
from mxnet_goldens import copied


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return copied(tmp_path_factory.mktemp("mxnet"))


def make(root: pathlib.Path, rec: str = "small.rec", **changed: Any) -> io.ImageRecordIter:
    options: dict[str, Any] = {
        "path_imgrec": root / rec,
        "data_shape": (3, 16, 20),
        "batch_size": 4,
    }
    return io.ImageRecordIter(**(options | changed))


def whole(iterator: io.ImageRecordIter) -> list[np.ndarray]:
    found = [batch.data[0].asnumpy() for batch in iterator]
    iterator.reset()
    return found


# --- Iterators ---


def test_the_calls_of_an_iterator_speak_of_its_current_batch(root: pathlib.Path) -> None:
    iterator = make(root)
    assert isinstance(iterator, io.DataIter)
    assert iterator.batch_size == 4
    assert iter(iterator) is iterator
    while iterator.iter_next():
        assert iterator.getdata().shape == (4, 3, 16, 20)
        assert iterator.getlabel().shape == (4,)
        last = (iterator.getpad(), iterator.getindex().tolist())
    assert last == (2, [124, 127, 100, 103])
    assert iterator.getindex is not None
    iterator.reset()
    batch = iterator.next()
    assert batch.index.dtype == np.uint64
    assert batch.index.tolist() == [106, 109, 112, 115]
    assert batch.provide_data == iterator.provide_data == [("data", (4, 3, 16, 20))]
    assert iterator.provide_label == [("softmax_label", (4,))]
    assert str(batch) == "DataBatch: data shapes: [(4, 3, 16, 20)] label shapes: [(4,)]"


def test_names_and_widths_of_arrays_are_as_asked_for(root: pathlib.Path) -> None:
    iterator = make(
        root, "multilabel.rec", label_width=3, batch_size=2, data_name="x", label_name="y"
    )
    assert [iterator.provide_data[0].name, iterator.provide_label[0].name] == ["x", "y"]
    assert iterator.provide_label[0].shape == (2, 3)
    assert next(iterator).label[0].shape == (2, 3)


@pytest.mark.parametrize(
    ("iterator", "dtype"),
    [
        (io.ImageRecordIter, np.float32),
        (io.ImageRecordUInt8Iter, np.uint8),
        (io.ImageRecordInt8Iter, np.int8),
    ],
)
def test_classes_differ_in_the_type_of_images(
    root: pathlib.Path, iterator: Any, dtype: Any
) -> None:
    made = iterator(path_imgrec=str(root / "small.rec"), data_shape=(3, 8, 8), batch_size=2)
    assert made.provide_data[0].dtype is dtype
    data = next(made).data[0]
    assert data.dtype is dtype
    assert np.from_dlpack(data).dtype == dtype


def test_keywords_may_be_the_text_that_mxnet_makes_of_them(root: pathlib.Path) -> None:
    plain = make(root, rand_crop=True, mean_r=12.5, rotate_list=[90], seed_aug=3, resize=40)
    for shape in ("(3, 16, 20)", "[3,16,20]", "3,16,20"):
        text = make(
            root,
            data_shape=shape,
            batch_size="4",
            rand_crop="True",
            mean_r="12.5",
            rotate_list="90",
            seed_aug="3",
            resize="40",
            dtype="None",
            ctx="cpu",
            device_id="-1",
            verbose="False",
            aug_seq="aug_default",
        )
        for expected, found in zip(whole(plain), whole(text), strict=True):
            np.testing.assert_array_equal(found, expected)
        plain.reset()
        plain = make(root, rand_crop=True, mean_r=12.5, rotate_list=[90], seed_aug=3, resize=40)
    assert len(whole(make(root, round_batch=1, shuffle="0", path_imgidx=None))) == 3
    assert len(whole(make(root, round_batch=np.bool_(True), mirror=np.bool_(False)))) == 3


def test_random_numbers_are_the_same_for_any_threads_and_differ_between_epochs(
    root: pathlib.Path,
) -> None:
    options = {
        "rand_crop": True,
        "rand_mirror": True,
        "brightness": 0.3,
        "shuffle": True,
        "round_batch": False,
        "dtype": "uint8",
    }
    one = make(root, preprocess_threads=1, **options)
    many = make(root, preprocess_threads=4, prefetch_buffer=1, **options)
    epochs = [np.concatenate(whole(one)) for _ in range(3)]
    for expected in epochs:
        np.testing.assert_array_equal(np.concatenate(whole(many)), expected)
    assert not np.array_equal(epochs[0], epochs[1])
    other = np.concatenate(whole(make(root, seed=1, **options)))
    assert not np.array_equal(other, epochs[0])


def test_a_kept_batch_never_changes_and_outlives_its_iterator(root: pathlib.Path) -> None:
    iterator = make(root, batch_size=1, prefetch_buffer=1)
    kept = [batch.data[0] for batch in iterator]
    copies = [array.asnumpy().copy() for array in kept]
    for _ in range(3):
        iterator.reset()
        whole(iterator)
    del iterator
    gc.collect()
    for array, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(array.asnumpy(), copy)


def test_threads_may_share_an_iterator(root: pathlib.Path) -> None:
    iterator = make(root, "image.rec", batch_size=1)
    found: list[int] = []

    def take() -> None:
        found.extend(int(batch.label[0].asscalar()) for batch in iterator)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(24))


# --- The user's augmenter ---


def test_an_augmenter_changes_the_batch(root: pathlib.Path) -> None:
    seen = []

    def invert(images: np.ndarray) -> np.ndarray:
        seen.append(images.shape)
        return 255 - images

    plain = make(root, dtype="uint8")
    inverted = make(root, dtype="uint8", augmenter=invert)
    for expected, found in zip(whole(plain), whole(inverted), strict=True):
        np.testing.assert_array_equal(found, 255 - expected)
    assert seen == [(4, 3, 16, 20)] * 3


def test_an_augmenters_error_and_wrong_array_come_in_place_of_the_batch(
    root: pathlib.Path,
) -> None:
    answers: list[Any] = [
        KeyError("mine"),
        np.zeros((4, 3, 16, 19), np.uint8),
        np.zeros((4, 3, 16, 20)),
        None,
    ]

    def odd(images: np.ndarray) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    iterator = make(root, dtype="uint8", augmenter=odd, batch_size=2)
    iterator = make(root, dtype="uint8", augmenter=odd)
    with pytest.raises(KeyError, match="mine"):
        iterator.next()
    for _ in range(2):
        with pytest.raises(fr.InvalidArgumentError, match="provide_data"):
            iterator.next()
    iterator.reset()
    with pytest.raises(fr.InvalidArgumentError, match="array"):
        iterator.next()


# --- Plain values ---


def test_data_desc_is_a_pair_with_type_and_layout() -> None:
    description = io.DataDesc("data", [2, 3])
    assert description == ("data", (2, 3))
    assert (description.dtype, description.layout) == (np.float32, "NCHW")
    assert repr(io.DataDesc("x", (1,), np.uint8, "N")) == "DataDesc[x,(1,),<class 'numpy.uint8'>,N]"
    assert [io.DataDesc.get_batch_axis(layout) for layout in (None, "NCHW", "TNC", "CHW")] == [
        0,
        0,
        1,
        -1,
    ]
    listed = io.DataDesc.get_list([("a", (1,)), ("b", (2,))], [("b", np.int8), ("a", np.uint8)])
    assert [each.dtype for each in listed] == [np.uint8, np.int8]


def test_data_batch_takes_lists_alone() -> None:
    batch = io.DataBatch([io.NDArray([1.0])], pad=0, bucket_key=3)
    assert (batch.label, batch.pad, batch.index, batch.bucket_key) == (None, 0, None, 3)
    with pytest.raises(fr.InvalidArgumentError, match="`data`"):
        io.DataBatch(io.NDArray([1.0]))


def test_ndarray_is_a_view_with_as_much_as_batches_need() -> None:
    memory = np.arange(6, dtype=np.int32).reshape(2, 3)
    array = io.NDArray(memory)
    assert (array.shape, array.size, array.ndim, len(array)) == ((2, 3), 6, 2, 2)
    assert array.dtype is np.int32
    assert array.context == array.ctx == "cpu(0)"
    assert np.shares_memory(array.asnumpy(), memory)
    assert np.shares_memory(np.asarray(array), memory)
    assert np.shares_memory(np.from_dlpack(array), memory)
    assert np.asarray(array, dtype=np.float64).dtype == np.float64
    assert array[1].asnumpy().tolist() == [3, 4, 5]
    assert [row.shape for row in array] == [(3,), (3,)]
    assert array[0, 1].asscalar() == 1
    assert not np.shares_memory(array.copy().asnumpy(), memory)
    assert array.astype("float32").dtype is np.float32
    assert array.reshape(3, 2).shape == (3, 2)
    assert array.wait_to_read() is None
    assert repr(array).endswith("<NDArray 2x3 @cpu(0)>")
    with pytest.raises(fr.InvalidArgumentError, match="one element"):
        array.asscalar()
    with pytest.raises(fr.InvalidArgumentError, match="array of numbers"):
        io.NDArray(object())


def test_ndarray_computes_as_numpy_does() -> None:
    array = io.NDArray(np.arange(6, dtype=np.float32).reshape(2, 3))
    twice = 2 * array / np.float32(2) + array
    assert isinstance(twice, io.NDArray)
    assert twice.dtype is np.float32
    assert twice.asnumpy().tolist() == [[0, 2, 4], [6, 8, 10]]
    assert (array == 4).sum().asscalar() == 1
    assert (np.ones(3, np.float32) - array)[1].asnumpy().tolist() == [-2, -3, -4]
    assert array[array > 4].asnumpy().tolist() == [5]
    assert isinstance(np.exp(array), io.NDArray)
    assert [part.shape for part in np.divmod(array, 2)] == [(2, 3), (2, 3)]
    assert float(np.add.reduce(array, axis=None)) == 15
    assert np.concatenate([array, array]).shape == (4, 3)
    for function in (np.sum, np.mean, np.max, np.min, np.std, np.argmax):
        for axis in (None, 1):
            np.testing.assert_array_equal(
                function(array, axis=axis), function(array.asnumpy(), axis=axis)
            )
    assert np.reshape(array, (3, 2)).shape == np.transpose(array).shape == (3, 2)
    assert np.sum(array, axis=0, keepdims=True, dtype=np.float64).shape == (1, 3)
    assert float(array.mean()) == 2.5
    assert int(array.max()) == 5
    assert array.min(axis=0, keepdims=True).shape == (1, 3)
    assert array.sum(1).asnumpy().tolist() == [3, 12]
    assert array.T.shape == array.transpose((1, 0)).shape == (3, 2)
    with pytest.raises(fr.InvalidArgumentError, match="one element"):
        bool(array == 4)
    assert array.sum() == 15
    assert array.transpose(axes=(1, 0)).shape == array.transpose(1, 0).shape == (3, 2)
    assert {array: 1}[array] == 1  # hashed by identity, not by elements


def test_ndarray_chooses_where_numpy_computes() -> None:
    array = io.NDArray(np.arange(4.0))
    where = array > 1
    assert np.add(np.ones(4), 1, where=where, out=np.zeros(4)).tolist() == [0, 0, 2, 2]
    for reduced in (
        np.sum(array, where=where),
        array.sum(where=where),
        np.add.reduce(array, where=where),
        np.add.reduce(array.asnumpy(), where=where),
        np.max(array, where=where, initial=io.NDArray(5.0)),
        array.min(where=where, initial=5.0) + 3,
    ):
        assert isinstance(reduced, io.NDArray)
        assert float(reduced) == 5
    assert float(np.mean(array, where=where)) == float(array.mean(where=where)) == 2.5


def test_ndarray_is_where_results_go() -> None:
    array, out, plain = io.NDArray([5.0, 7.0]), io.NDArray([0.0, 0.0]), np.zeros(2)
    quotient, rest = np.divmod(array, 2, out=(None, out))
    assert isinstance(quotient, io.NDArray)
    assert quotient.asnumpy().tolist() == [2, 3]
    assert rest is out
    assert out.asnumpy().tolist() == [1, 1]
    assert np.divmod(array, 2, out=(plain, None))[0] is plain
    assert np.add(array, 1, out=plain) is plain
    total = io.NDArray(np.zeros(()))
    assert np.sum(array, out=total) is array.sum(out=total) is total
    assert float(total) == 12
    assert np.add.at(array, [0, 0], out) is None
    assert array.asnumpy().tolist() == [7, 7]


def test_ndarray_without_dimensions_has_no_length_as_numpys() -> None:
    alone = io.NDArray(np.float32(3))
    for use in (len, iter, list):
        with pytest.raises(TypeError, match="without dimensions has no length"):
            use(alone)


def test_ndarray_changes_in_place_the_memory_that_it_views() -> None:
    memory = np.arange(4, dtype=np.float32)
    array = same = io.NDArray(memory)
    array -= 1
    assert array is same
    array[1:3] = io.NDArray([7.0, 8.0])
    array[array < 0] = 9
    assert memory.tolist() == [9, 7, 8, 2]
    assert np.add(array, 1, out=array) is array
    assert memory.tolist() == [10, 8, 9, 3]


def test_ndarray_takes_the_shapes_of_mxnet_that_numpy_has() -> None:
    array = io.NDArray(np.zeros((2, 3, 4)))
    assert array.reshape((0, -1)).shape == (2, 12)
    assert array.reshape(0, 0, 2, 2).shape == (2, 3, 2, 2)
    assert array.reshape(shape=(-1,)).shape == array.reshape(-1).shape == (24,)
    for extents in ([0, -1], np.array([0, -1]), io.NDArray([0, -1])):
        assert array.reshape(extents).shape == array.reshape(shape=extents).shape == (2, 12)
    assert io.NDArray([1]).reshape().shape == io.NDArray([1]).reshape(()).shape == ()
    with pytest.raises(fr.InvalidArgumentError, match=r"found \(-3, 0\)"):  # NumPy treats it as -1
        array.reshape((-3, 0))


def test_batches_pickle_and_copy_with_memory_of_their_own(root: pathlib.Path) -> None:
    batch = make(root).next()
    for copied_batch in (pickle.loads(pickle.dumps(batch)), deepcopy(batch)):
        for ours, other in zip(
            batch.data + batch.label, copied_batch.data + copied_batch.label, strict=True
        ):
            np.testing.assert_array_equal(other.asnumpy(), ours.asnumpy())
            assert not np.shares_memory(other.asnumpy(), ours.asnumpy())
        assert copied_batch.index.tolist() == batch.index.tolist()
        assert copied_batch.provide_data == batch.provide_data
        assert copied_batch.provide_data[0].dtype is np.float32


def test_data_iter_is_a_base_for_ones_own() -> None:
    class Two(io.DataIter):
        left = 2

        def iter_next(self) -> bool:
            self.left -= 1
            return self.left >= 0

        def getdata(self) -> list[io.NDArray]:
            return [io.NDArray([self.left])]

        def getlabel(self) -> list[io.NDArray]:
            return []

        def getpad(self) -> int:
            return 0

    assert [batch.data[0].asscalar() for batch in Two(1)] == [1, 0]
    with pytest.raises(NotImplementedError):
        io.DataIter().next()
