"""The contender NVIDIA DALI on the CPU, on bench/inputs.py's samples: FOLDER KIND RECORDS SAVED THREADS PREFETCH START.

Two worker processes, started by START ("fork" or "spawn"), call the provider. THREADS: of the pipeline. PREFETCH: batches that
the workers, and the pipeline, prepare ahead. The batches are DALI's own outputs, without a copy.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from answer import serve
from nvidia.dali import fn, types
from sample_jobs import CAMERA, MEAN, SCALED, STD
from two_cameras import BATCH, TwoCameras, saving

from fuelrail.inputs import DataType, SampleDataGroup, ShuffledShardedInputCallable
from fuelrail.inputs.pipeline import PipelineDefinition
from fuelrail.inputs.processing_steps import PipelineStepBase

WIDER, HIGHER = SCALED[1] / CAMERA[1], SCALED[0] / CAMERA[0]
ON_BOXES = np.array([[WIDER, HIGHER, WIDER, HIGHER]], np.float32)
ON_MATRIX = np.array([[WIDER], [HIGHER], [1]], np.float32)


class Resized(PipelineStepBase):
    """Decodes encoded images, resizes and normalises images, and moves boxes and matrices with them."""

    def __init__(self, kind: str) -> None:
        self._encoded = kind == "encoded"

    def _check_and_adjust_data_format_input_to_output(
        self, data_empty: SampleDataGroup
    ) -> SampleDataGroup:
        for path in data_empty.find_all_occurrences("image"):
            data_empty.change_type_of_data_and_remove_data(path, DataType.FLOAT)
        return data_empty

    def _process(self, data: SampleDataGroup) -> SampleDataGroup:
        for path in data.find_all_occurrences("image"):
            image = data.get_item_in_path(path)
            image = fn.decoders.image(image) if self._encoded else fn.reshape(image, layout="HWC")
            image = fn.resize(image, size=SCALED, interp_type=types.INTERP_LINEAR, antialias=True)
            image = fn.crop_mirror_normalize(
                image,
                dtype=types.FLOAT,
                output_layout="CHW",
                mean=[255 * value for value in MEAN],
                std=[255 * value for value in STD],
            )
            data.change_type_of_data_and_remove_data(path, DataType.FLOAT)
            data.set_item_in_path(path, image)
        for name, factors in (("boxes", ON_BOXES), ("intrinsics", ON_MATRIX)):
            for path in data.find_all_occurrences(name):
                data.set_item_in_path(path, data.get_item_in_path(path) * types.Constant(factors))
        return data


def main() -> None:
    folder, kind, records = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    saved, threads, prefetch = pathlib.Path(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6])
    provider = TwoCameras(folder, kind, records)
    begin = time.perf_counter()
    definition = PipelineDefinition(
        ShuffledShardedInputCallable(provider, BATCH, shuffle=True),
        [Resized(kind)],
        check_data_format=False,
        prefetch_queue_depth=prefetch,
        copy_external_source_passthrough_outputs=False,
    )
    pipe = definition.get_dali_pipeline(
        batch_size=BATCH,
        num_threads=threads,
        device_id=None,
        prefetch_queue_depth=prefetch,
        py_num_workers=2,
        py_start_method=sys.argv[7],
    )
    names = definition.check_and_get_output_data_structure().field_names_flat
    pipe.build()
    pipe.run()
    first = time.perf_counter() - begin

    def batches() -> Iterator[Any]:
        """The rest of an epoch. The next one begins when the next one is asked for."""
        while True:
            try:
                yield pipe.run()
            except StopIteration:
                return

    def columns(outputs: Any) -> dict[str, Any]:
        named = {
            name.replace("[", "").replace("]", ""): [np.array(value) for value in column]
            for name, column in zip(names, outputs, strict=True)
        }
        texts = [bytes(value).rstrip(b"\0").decode() for value in named["scene"]]
        return {**named, "scene": texts}

    def run(_: int) -> Iterator[int]:
        pipe.reset()
        for outputs in batches():
            yield len(outputs[0])

    sum(len(outputs[0]) for outputs in batches())
    pipe.reset()
    sum(saving(saved, map(columns, batches())))
    serve(run, {"first_batch_seconds": first})


if __name__ == "__main__":
    main()
