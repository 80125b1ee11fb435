"""Writes det_random/: what MXNet 1.9.1's ImageDetRecordIter makes of det.rec with random numbers on.

    python tests/golden/mxnet/make_det_random.py      # by a Python that has MXNet 1.9.1

One decoding thread, so that one generator (seed 233) serves all records in the order of the file, epoch after epoch.
`configs.json`: the arguments of each configuration. `NAME.npz`: `data` (uint8: without mean, std and scale all values
are whole) and `label`, the rows of three epochs one after the other. `shuffles.json`: orders of shuffled epochs, as the
ids of each batch.
"""

import json
import pathlib

import mxnet as mx
import numpy as np

EPOCHS = 3
HERE = pathlib.Path(__file__).parent
COLOURS = {
    "max_random_hue": 30,
    "random_hue_prob": 0.5,
    "max_random_saturation": 60,
    "random_saturation_prob": 0.6,
    "max_random_illumination": 40,
    "random_illumination_prob": 0.5,
    "max_random_contrast": 0.5,
    "random_contrast_prob": 0.5,
}
CONFIGS = {
    "mirror": {"rand_mirror_prob": 0.5},
    "colours": {"rand_mirror_prob": 0.3, **COLOURS},
    "contrast": {"random_contrast_prob": 0.7, "max_random_contrast": 0.9},
    "pad": {"rand_pad_prob": 0.7, "max_pad_scale": 2.5, "fill_value": 60, "rand_mirror_prob": 0.5},
    "crop": {"rand_crop_prob": 0.9, "min_crop_scales": 0.3},
    "crop_ratio": {
        "rand_crop_prob": 1,
        "min_crop_scales": 0.2,
        "max_crop_scales": 0.8,
        "min_crop_aspect_ratios": 0.4,
        "max_crop_aspect_ratios": 2.5,
    },
    "crop_overlap": {
        "rand_crop_prob": 1,
        "min_crop_scales": 0.3,
        "min_crop_overlaps": 0.2,
        "max_crop_trials": 50,
        "crop_emit_mode": "overlap",
        "emit_overlap_thresh": 0.4,
    },
    "crop_coverage": {
        "rand_crop_prob": 1,
        "min_crop_scales": 0.2,
        "min_crop_object_coverages": 0.9,
        "max_crop_sample_coverages": 0.7,
        "min_crop_aspect_ratios": 0.5,
        "max_crop_aspect_ratios": 2,
    },
    "crop_samplers": {
        "rand_crop_prob": 1,
        "num_crop_sampler": 4,
        "min_crop_scales": "(0.1,0.3,0.5,0.3)",
        "max_crop_scales": "(0.4,0.9,1.0,1.0)",
        "min_crop_aspect_ratios": 0.5,
        "max_crop_aspect_ratios": 2,
        "min_crop_overlaps": "(0.9,0.5,0.0,0.3)",
        "max_crop_overlaps": "(1.0,1.0,0.3,0.8)",
        "min_crop_sample_coverages": "(0.0,0.2,0.0,0.1)",
        "min_crop_object_coverages": "(0.0,0.0,0.8,0.3)",
        "max_crop_trials": "(3,20,40,10)",
    },
    "all": {
        "resize": 60,
        "resize_mode": "fit",
        "rand_mirror_prob": 0.5,
        "rand_pad_prob": 0.5,
        "max_pad_scale": 3,
        "rand_crop_prob": 0.8,
        "min_crop_scales": 0.3,
        "min_crop_overlaps": 0.1,
        "min_crop_aspect_ratios": 0.5,
        "max_crop_aspect_ratios": 2,
        **COLOURS,
    },
    "shrink": {
        "resize_mode": "shrink",
        "rand_crop_prob": 1,
        "min_crop_scales": 0.1,
        "max_crop_scales": 0.5,
        "min_crop_aspect_ratios": 0.3,
        "max_crop_aspect_ratios": 3,
    },
    "any_interpolation": {"inter_method": 10, "resize": 50, "rand_mirror_prob": 0.5},
}


def rows_of(arguments):
    iterator = mx.io.ImageDetRecordIter(
        path_imgrec=str(HERE / "det.rec"), verbose=False, **arguments
    )
    data, label = [], []
    for epoch in range(EPOCHS):
        if epoch > 0:
            iterator.reset()
        for batch in iterator:
            data.append(batch.data[0].asnumpy())
            label.append(batch.label[0].asnumpy())
    return np.concatenate(data), np.concatenate(label)


def shuffled(seed):
    iterator = mx.io.ImageDetRecordIter(
        path_imgrec=str(HERE / "det.rec"),
        data_shape=(3, 8, 8),
        batch_size=3,
        preprocess_threads=1,
        verbose=False,
        shuffle=True,
        seed=seed,
    )
    epochs = []
    for _ in range(EPOCHS):
        epochs.append([batch.index.tolist() for batch in iterator])
        iterator.reset()
    return {"seed": seed, "epochs": epochs}


def main():
    shuffles = [shuffled(seed) for seed in (0, 5)]
    (HERE / "det_random" / "shuffles.json").write_text(json.dumps(shuffles) + "\n")
    configs = {}
    for name, arguments in CONFIGS.items():
        arguments = {
            "data_shape": [3, 32, 40],
            "batch_size": 4,
            "preprocess_threads": 1,
            **arguments,
        }
        data, label = rows_of(arguments)
        levels = data.astype(np.uint8)
        assert (levels == data).all(), name
        configs[name] = arguments
        np.savez_compressed(HERE / "det_random" / f"{name}.npz", data=levels, label=label)
    (HERE / "det_random" / "configs.json").write_text(json.dumps(configs, indent=1) + "\n")


if __name__ == "__main__":
    main()
