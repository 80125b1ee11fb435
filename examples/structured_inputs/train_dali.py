"""Trains on a data provider with NVIDIA DALI, on the CPU.

python examples/structured_inputs/train_dali.py
"""

from __future__ import annotations

import argparse

from detector import SIZE, train
from streets import Streets

from fuelrail.inputs import ShuffledShardedInputCallable
from fuelrail.inputs.pipeline import DALIStructuredOutputIterator, PipelineDefinition
from fuelrail.inputs.processing_steps import AffineTransformer, ImageDecoder, PaddingToUniform


def loader(data: Streets, shuffle: bool = True) -> DALIStructuredOutputIterator:
    source = ShuffledShardedInputCallable(data, 8, shuffle=shuffle, seed=1)
    steps = [
        ImageDecoder("image", use_device_mixed=False),
        AffineTransformer(
            SIZE,
            AffineTransformer.ResizingMode.STRETCH,
            image_field_names="image",
            projection_matrix_field_names="intrinsics",
            point_field_names="boxes",
            transform_image_on_gpu=False,
        ),
        PaddingToUniform(["boxes", "classes"]),
    ]
    definition = PipelineDefinition(
        source, steps, check_data_format=False, copy_external_source_passthrough_outputs=True
    )
    return DALIStructuredOutputIterator(
        source.num_batches,
        definition.get_dali_pipeline(batch_size=8, num_threads=2, py_num_workers=2),
        definition.check_and_get_output_data_structure(),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    train(loader(Streets()), options.epochs)


if __name__ == "__main__":
    main()
