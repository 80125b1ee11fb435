"""The error policies for samples that cannot be read or decoded."""

from __future__ import annotations

import pathlib
import struct
import warnings
import zlib

import numpy as np
import pytest

import fuelrail as fr
import many_fields
import many_fields_writer
from fuelrail import transforms as T
from loading import record_file
from photographs import encoded, photograph

FIELDS = ("id", "position", "substituted", "label")
COUNT = 240


def declares_a_giant(png: bytes) -> bytes:
    """The PNG with 60,000 x 60,000 in its header, and a correct checksum of the header."""
    header = b"IHDR" + struct.pack(">II", 60000, 60000) + png[24:29]
    return png[:12] + header + struct.pack(">I", zlib.crc32(header)) + png[33:]


def bad_images() -> list[bytes]:
    """One image for each kind of decoder error."""
    jpeg = encoded(photograph(1, 64, 64))
    png = encoded(photograph(2, 64, 64), "PNG")
    return [
        b"these bytes are no image",
        jpeg[: len(jpeg) // 2],
        jpeg[:20],
        png[: len(png) // 2],
        png[:60] + bytes(200) + png[260:],
        declares_a_giant(png),
        b"GIF89a" + bytes(40),
    ]


BAD = {17 + 33 * i: image for i, image in enumerate(bad_images())}  # 7 of 240: 3 %


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    good = encoded(photograph(0, 40, 40))
    return record_file(tmp_path / "some.rec", [BAD.get(i, good) for i in range(COUNT)])


def skipping(file: pathlib.Path, batch_size: int, **options: object) -> fr.Loader:
    crop = [T.ResizedCenterCrop(32, 32)]
    fields = (*FIELDS, "image")
    return fr.Loader(
        file, batch_size, **{"transforms": crop, "fields": fields, "on_error": "skip", **options}
    )


Row = tuple[int, int, bool, int]


def rows_of(loader: fr.Loader) -> list[list[Row]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fr.FuelrailWarning)
        return [
            list(zip(*(column.numpy().tolist() for column in batch[:4]), strict=True))
            for batch in loader
        ]


def test_every_error_has_a_substitute_on_every_rank_and_batch_counts_agree(
    file: pathlib.Path,
) -> None:
    found: set[int] = set()
    epoch: dict[int, Row] = {}
    counts = []
    for rank in range(4):
        loader = skipping(file, 8, shuffle=True, seed=4, rank=rank, world_size=4)
        batches = rows_of(loader)
        counts.append((len(batches), len(loader)))
        for row in (row for batch in batches for row in batch):
            epoch[row[1]] = row
        found |= {bad.index for bad in loader.bad_records}
    assert counts == [(8, 8)] * 4
    assert set(BAD) <= found
    assert found <= set(BAD)
    assert sorted(epoch) == list(range(COUNT))
    for sample, _, _, label in epoch.values():
        assert sample not in BAD
        assert label == sample
    assert sum(substituted for _, _, substituted, _ in epoch.values()) == len(BAD)

    alone = skipping(file, 32, shuffle=True, seed=4, threads=3)
    assert {row[1]: row for batch in rows_of(alone) for row in batch} == epoch


def test_a_substitute_is_marked_and_the_others_are_not(file: pathlib.Path) -> None:
    (batch,) = rows_of(skipping(file, COUNT))
    for position, (sample, at, substituted, _) in enumerate(batch):
        assert at == position
        assert substituted == (position in BAD)
        assert (sample == position) == (not substituted)


@pytest.mark.filterwarnings("ignore::fuelrail.FuelrailWarning")
@pytest.mark.parametrize("threads", [1, 3])
def test_a_substitute_brings_all_its_fields(tmp_path: pathlib.Path, threads: int) -> None:
    samples = [many_fields_writer.sample(i) for i in range(60)]
    samples[7]["cameras"][1]["image"] = b"no image"
    samples[20]["cameras"][0]["mask"] = encoded(photograph(1, 9, 9), "PNG")[:60]
    samples[32]["clip"][1] = declares_a_giant(encoded(photograph(2, 9, 9), "PNG"))
    samples[41]["cameras"][0]["depth"] = np.zeros((2, 90), np.float32)
    bad = {7, 20, 32, 41, 50}
    file = many_fields_writer.write_samples(tmp_path / "some.rec", samples)
    content = file.read_bytes()
    assert content.count(b"sample 50") == 1
    file.write_bytes(content.replace(b"sample 50", b"sample \xff0"))
    options = {**many_fields.OPTIONS, "batch_size": 9, "seed": 3, "threads": threads}
    loader = fr.Loader(file, **options, shuffle=True, on_error="skip")
    batches = list(loader)
    assert {record.index for record in loader.bad_records} == bad
    ids = [i for batch in batches for i in batch["id"].numpy().tolist()]
    assert bad.isdisjoint(ids)
    # A row's random numbers depend on its position alone, so a dataset with the substitutes at
    # these places gives the same bits.
    expected = fr.Loader(file, **options, sampler=ids)
    assert [*map(many_fields.bits, batches)] == [*map(many_fields.bits, expected)]


def test_bad_records_say_which_where_and_why(file: pathlib.Path) -> None:
    loader = skipping(file, 40)
    assert loader.bad_records == []
    rows_of(loader)
    rows_of(loader)
    bad = {record.index: record for record in loader.bad_records}
    assert set(bad) == set(BAD)
    for index, record in bad.items():
        assert record.epoch == 0
        assert record.times >= 2
        assert record.error.startswith(f"{file}: record {index}, offset ")
    first = loader.bad_records[0]
    assert first.index == first.position == 17
    assert repr(first).startswith("BadRecord(index=17, epoch=0, position=17, times=2, error='")


def test_what_is_passed_over_is_warned_of(file: pathlib.Path) -> None:
    with pytest.warns(fr.FuelrailWarning) as caught:
        for _ in skipping(file, 40):
            pass
    assert len(caught) == len(BAD)
    assert f"{file}: record 17, offset " in str(caught[0].message)
    assert str(caught[0].message).endswith("The loader uses another sample instead.")
    assert {warning.filename for warning in caught} == {__file__}


def test_an_image_that_is_cut_off_says_how_to_go_on(tmp_path: pathlib.Path) -> None:
    image = encoded(photograph(0, 40, 40))
    file = record_file(tmp_path / "cut.rec", [image, image[: len(image) // 2]])
    with pytest.raises(fr.TruncatedError) as caught:
        list(fr.Loader(file, 2, transforms=[T.CenterCrop(40)]))
    assert 'on_error="skip"' in caught.value.remedy
    with pytest.warns(fr.FuelrailWarning) as warned:
        list(fr.Loader(file, 2, transforms=[T.CenterCrop(40)], on_error="skip"))
    assert "on_error" not in str(warned[0].message)


def test_a_warning_that_is_an_error_loses_no_batch(file: pathlib.Path) -> None:
    loader, again = skipping(file, 40), skipping(file, 40)
    expected = rows_of(skipping(file, 40))
    batches: list[list[Row]] = []
    warned = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", fr.FuelrailWarning)
        iterator = iter(loader)
        while len(batches) < len(expected):
            try:
                batch = next(iterator)
            except fr.FuelrailWarning:
                warned += 1
                again.load_state_dict(loader.state_dict())
                assert rows_of(again) == expected[len(batches) :]
                continue
            columns = (column.numpy().tolist() for column in batch[:4])
            batches.append(list(zip(*columns, strict=True)))
    assert batches == expected
    assert warned == len(BAD)


def test_only_the_first_ten_are_warned_of_one_by_one(
    tmp_path: pathlib.Path,
) -> None:
    good = encoded(photograph(0, 40, 40))
    file = record_file(
        tmp_path / "some.rec", [b"no image" if i % 5 == 0 else good for i in range(100)]
    )
    with pytest.warns(fr.FuelrailWarning) as caught:
        for _ in skipping(file, 10, max_bad=1.0):
            pass
    assert len(caught) == 11
    assert "`bad_records` lists" in str(caught[10].message)


def test_one_too_many_stops_the_run_with_the_list_and_a_restored_one_counts_anew(
    file: pathlib.Path,
) -> None:
    loader = skipping(file, 40, max_bad=4)
    iterator = iter(loader)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fr.FuelrailWarning)
        for _ in range(2):
            next(iterator)
        state = loader.state_dict()
        assert state["position"] == 80
        with pytest.raises(fr.TooManyBadRecordsError) as caught:
            next(iterator)
        assert list(iterator) == []
        with pytest.raises(fr.TooManyBadRecordsError):
            iter(loader)
        assert loader.state_dict() == state
        assert isinstance(caught.value, RuntimeError)
        text = str(caught.value)
        assert "found 5: " in text
        assert [f"record {bad}" in text for bad in BAD if bad < 120] == [True] * 4
        loader.load_state_dict(state)
        batch = next(iter(loader))
        assert batch[1].numpy()[0] == 80


@pytest.mark.parametrize("max_bad", [-1, -0.5, 1.5, float("nan"), "all", True])
def test_a_max_bad_that_makes_no_sense_is_refused(file: pathlib.Path, max_bad: object) -> None:
    with pytest.raises(fr.Error, match="max_bad"):
        skipping(file, 40, max_bad=max_bad)


def test_max_bad_goes_with_skip(file: pathlib.Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="skip"):
        skipping(file, 40, on_error="raise", max_bad=3)


def test_a_run_that_has_ended_begins_anew_where_it_is_told(file: pathlib.Path) -> None:
    loader = skipping(file, 120, max_bad=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fr.FuelrailWarning)
        for epoch in (0, 0, 3):
            loader.set_epoch(epoch)
            with pytest.raises(fr.TooManyBadRecordsError, match=f"epoch {epoch}"):
                next(iter(loader))


@pytest.mark.parametrize("last_batch", ["pad", "wrap"])
def test_filler_rows_do_not_count(tmp_path: pathlib.Path, last_batch: str) -> None:
    good = encoded(photograph(0, 40, 40))
    file = record_file(tmp_path / "some.rec", [good] * 32 + [b"no image"])
    loader = skipping(file, 32, last_batch=last_batch, max_bad=1)
    assert len(rows_of(loader)) == 2
    assert [bad.index for bad in loader.bad_records] == [32]


@pytest.mark.parametrize(("max_bad", "ends"), [(2.5 / COUNT, True), (3.5 / COUNT, False)])
def test_a_fraction_with_a_sampler_is_of_the_dataset_on_every_rank(
    file: pathlib.Path, max_bad: float, ends: bool
) -> None:
    sampler = [17, 16, 50, 51, 83, 84]
    loader = skipping(file, 2, sampler=sampler, max_bad=max_bad, rank=1, world_size=4)
    if ends:
        with pytest.raises(fr.TooManyBadRecordsError, match="found 3"):
            rows_of(loader)
    else:
        assert len(rows_of(loader)) == 3


def test_room_for_longer_batches_forgets_no_bad_sample(file: pathlib.Path) -> None:
    batches = [[17, 1], [50, *range(8)], [17, *range(16)], [83, *range(17), *range(17)]]
    loader = skipping(file, 1, batch_sampler=batches, max_bad=2, prefetch=1)
    iterator = iter(loader)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fr.FuelrailWarning)
        for _ in range(3):
            next(iterator)
        with pytest.raises(fr.TooManyBadRecordsError, match="found 3"):
            next(iterator)
    assert [(bad.index, bad.times) for bad in loader.bad_records] == [(17, 2), (50, 1), (83, 1)]


def test_an_unknown_policy_is_refused(file: pathlib.Path) -> None:
    with pytest.raises(fr.InvalidArgumentError, match="skip"):
        skipping(file, 40, on_error="skp")


def test_an_error_comes_at_its_batch_and_the_loop_goes_on(file: pathlib.Path) -> None:
    loader = skipping(file, 10, on_error="raise", prefetch=8)
    iterator = iter(loader)
    firsts: list[int | str] = []
    while len(firsts) < 24:
        try:
            firsts.append(int(next(iterator)[1].numpy()[0]))
        except fr.Error as error:
            firsts.append(error.record or -1)
    batch_of = {bad // 10: bad for bad in BAD}
    assert firsts == [batch_of.get(batch, 10 * batch) for batch in range(24)]
    assert loader.bad_records == []
