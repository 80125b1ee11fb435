"""One line says which command helps if DALI cannot be used as it is installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

MAKE = """
from structured_sources import Handmade
from fuelrail.inputs.pipeline import PipelineDefinition
definition = PipelineDefinition(
    Handmade(), check_data_format=False, copy_external_source_passthrough_outputs=True
)
"""
PIPELINE = "definition.get_dali_pipeline(batch_size=1, num_threads=1)"
ITERATE = """
from fuelrail.inputs.pipeline import DALIStructuredOutputIterator
DALIStructuredOutputIterator(8, None, definition.input_data_structure)
"""


def run(*lines: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
        check=False,
    )


def error_of(*lines: str) -> str:
    """The last line of a program's error."""
    ran = run(*lines)
    assert ran.returncode == 1, ran.stdout
    return ran.stderr.splitlines()[-1]


def without(module: str) -> str:
    """Lets `import module` fail, as it does where the module is not installed."""
    return f"import sys; sys.modules[{module!r}] = None"


@pytest.mark.parametrize("module", ["nvidia", "nvidia.dali"])
def test_without_dali_the_command_installs_it(module: str) -> None:
    assert error_of(without(module), MAKE, PIPELINE) == (
        "ImportError: fuelrail.inputs needs NVIDIA DALI, which is not installed. Install it with "
        '`pip install "fuelrail[dali]"`.'
    )


@pytest.mark.parametrize("package", ["astunparse", "six"])
def test_without_a_package_that_dali_imports_the_command_installs_it(package: str) -> None:
    assert error_of(without(package), MAKE, PIPELINE) == (
        f"ImportError: NVIDIA DALI is installed without the package {package}, which it imports. "
        "Install what it lacks with `pip install nvidia-dali-cuda120`."
    )


def test_a_version_that_is_too_old_is_named_with_the_command_that_upgrades_it() -> None:
    old = "import nvidia.dali; nvidia.dali.__version__ = '1.52.0'"
    assert error_of(old, MAKE, PIPELINE) == (
        "ImportError: NVIDIA DALI 1.52.0 is too old: fuelrail.inputs needs 1.53 or later. Install "
        "it with `pip install --upgrade nvidia-dali-cuda120`."
    )


def test_without_torch_the_error_says_how_to_get_numpy_arrays() -> None:
    assert error_of(without("torch"), MAKE, ITERATE) == (
        "ImportError: DALI's iterator for PyTorch needs torch, which is not installed. Install it "
        "with `pip install torch`, or pass dali_generic_iterator_class=NumPyIterator."
    )


def test_without_torch_numpy_arrays_work() -> None:
    program = """
pipeline = definition.get_dali_pipeline(batch_size=4, num_threads=1)
from fuelrail.inputs.pipeline import DALIStructuredOutputIterator, NumPyIterator
fields = definition.input_data_structure
loader = DALIStructuredOutputIterator(
    2, pipeline, fields, dali_generic_iterator_class=NumPyIterator
)
print([batch["id"].tolist() for batch in loader])
"""
    ran = run(without("torch"), MAKE, program)
    assert (ran.stdout, ran.stderr) == ("[[0, 1, 2, 3], [4, 5, 6, 7]]\n", "")
