"""What importing fuelrail.inputs costs, and what it needs."""

from __future__ import annotations

import inspect
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from fuelrail import inputs

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_importing_needs_neither_dali_nor_cupy_nor_torch(python: Run) -> None:
    result = python(
        """
import sys
for absent in ("nvidia", "cupy", "torch", "numba", "scipy"):
    sys.modules[absent] = None  # importing it is an error
import fuelrail.inputs
for part in ("pipeline", "internal_helpers", "processing_steps"):
    assert f"fuelrail.inputs.{part}" not in sys.modules
    assert getattr(fuelrail.inputs, part) is sys.modules[f"fuelrail.inputs.{part}"]
group = fuelrail.inputs.SampleDataGroup()
group.add_data_field("x", fuelrail.inputs.DataType.FLOAT)
group["x"] = [1, 2]
print(group.get_data())
"""
    )
    assert (result.stderr, result.returncode) == ("", 0)
    assert "array([1., 2.], dtype=float32)" in result.stdout


def test_importing_imports_only_a_few_small_modules_beyond_numpy(python: Run) -> None:
    # Small: each takes less than 5 ms. With asyncio, multiprocessing or a framework, importing
    # would take seconds in a job with many processes.
    small = {"array", "atexit", "copy", "dataclasses", "decimal", "json", "mmap", "threading"}
    small |= {"traceback", "zlib", "__future__"}
    script = """
import sys, numpy
before = {name.partition(".")[0] for name in sys.modules}
import fuelrail.inputs
print(*({name.partition(".")[0] for name in sys.modules} - before))
"""
    modules = set(python(script).stdout.split())
    assert {name for name in modules if not name.startswith("_")} - small == {"fuelrail"}


def test_checks_remain_when_python_drops_assertions(python: Run) -> None:
    script = """
import subprocess, sys
from fuelrail.inputs import SampleDataGroup, SequenceSampler
for call in (lambda: SequenceSampler(2, [1], 1), lambda: SampleDataGroup().set_item_in_path([], 1)):
    try:
        call()
    except AssertionError as error:
        print(type(error).__name__)
"""
    result = python(
        f"import subprocess, sys; subprocess.run([sys.executable, '-O', '-c', {script!r}])"
    )
    assert result.stdout.split() == ["InputArgumentError"] * 2


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("SequenceSampler", "total_batch_size, sequence_lenghts, seed, randomize"),
        (
            "ShuffledShardedInputCallable",
            "data_provider, batch_size, shard_id, num_shards, shuffle, seed",
        ),
        (
            "SamplerInputCallable",
            "data_provider, sampler, max_num_iterations, pre_fetch_queue_length, shard_id, "
            "num_shards",
        ),
        ("SamplerInputIterable", "data_provider, sampler, shard_id, num_shards"),
    ],
)
def test_arguments_have_the_names_order_and_defaults_of_accv_lab(name: str, arguments: str) -> None:
    defaults: dict[str, Any] = {
        "randomize": True,
        "shard_id": 0,
        "num_shards": 1,
        "shuffle": False,
        "seed": 21 if "Shuffled" in name else inspect.Parameter.empty,
    }
    parameters = inspect.signature(getattr(inputs, name)).parameters.values()
    ours = [p for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert [p.name for p in ours] == arguments.split(", ")
    for parameter in ours:
        expected = defaults.get(parameter.name, inspect.Parameter.empty)
        assert parameter.default == expected, parameter.name


def test_the_modules_of_accv_lab_exist() -> None:
    for module, name in (
        ("sampler_base", "SamplerBase"),
        ("sampler_input_callable", "SamplerInputCallable"),
        ("sampler_input_iterable", "SamplerInputIterable"),
        ("sequence_sampler", "SequenceSampler"),
        ("sfuffled_sharded_input_callable", "ShuffledShardedInputCallable"),
        ("callable_base", "CallableBase"),
        ("data_provider", "DataProvider"),
        ("iterable_base", "IterableBase"),
        ("pipeline", "SampleDataGroup"),
    ):
        found = __import__(f"fuelrail.inputs.{module}", fromlist=[name])
        assert getattr(found, name) is getattr(inputs, name)


@pytest.mark.parametrize("name", ["CallableBase", "DataProvider", "IterableBase", "SamplerBase"])
def test_base_classes_are_abstract(name: str) -> None:
    with pytest.raises(TypeError, match="abstract"):
        getattr(inputs, name)()
