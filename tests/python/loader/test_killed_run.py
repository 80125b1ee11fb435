"""A run that is killed repeatedly learns from each sample once, as docs/resume.md promises."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

import killed_run

LONG = bool(os.environ.get("FUELRAIL_LONG"))
KILLS = 1000 if LONG else 100
SECONDS = 1100 if LONG else 110


def uninterrupted(file: pathlib.Path, epochs: int) -> list[list[int]]:
    loader = killed_run.make_loader(str(file))
    return [killed_run.seen(batch) for _ in range(epochs) for batch in loader]


@pytest.mark.timeout(SECONDS + 10)
@pytest.mark.parametrize(
    ("source", "kills"),
    [("tiny_file", KILLS), ("many_fields_file", KILLS // 10)],
    ids=["images", "many fields"],
)
def test_killed_at_any_moment_no_sample_is_lost_or_repeated(
    request: pytest.FixtureRequest, source: str, kills: int, tmp_path: pathlib.Path
) -> None:
    file = request.getfixturevalue(source)
    command = [sys.executable, "-W", "error", killed_run.__file__, file, tmp_path, kills]
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")

    state = json.loads((tmp_path / "checkpoint").read_text())["loader"]
    expected = uninterrupted(file, state["epoch"])
    assert state["position"] == 0
    assert [
        [*map(int, line.split())] for line in (tmp_path / "log").read_text().splitlines()
    ] == expected

    # Each process received the batches after the checkpoint, so a batch that the checkpoint did not
    # include yet was repeated.
    handed: dict[int, list[list[int]]] = {}
    for line in (tmp_path / "all").read_text().splitlines():
        process, *ids = map(int, line.split())
        handed.setdefault(process, []).append(ids)
    at = 0  # the batch after the last one received
    repeated = {}
    for process in [*range(kills + len(killed_run.CALLS)), -1]:
        batches = handed.pop(process, [])
        if not batches:  # killed before its first batch
            continue
        repeated[process] = 0 if batches[:1] == expected[at : at + 1] else 1
        at -= repeated[process]
        assert batches == expected[at : at + len(batches)]
        at += len(batches)
    assert not handed
    assert at == len(expected)
    for process, (name, after, count) in enumerate(killed_run.CALLS, start=kills):
        saved = name == "replace" and after
        following = process + 1 if process + 1 < kills + len(killed_run.CALLS) else -1
        assert repeated[following] == (0 if saved else 1), (name, after, count)
