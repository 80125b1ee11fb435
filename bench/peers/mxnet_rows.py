"""Writes the batches of MXNet's iterators: mxnet|fuelrail FOLDER CASES.json OUT.

Rows are written as hashes, and labels as values.

CASES.json: {case: keywords}; the keyword "iterator" names the iterator if it is not ImageRecordIter. OUT:
{case: [{"labels": [...], "pad": ..., "rows": [sha256 of each row]}, ...]}, with two epochs per case.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys

import numpy as np


def main() -> None:
    who, folder, cases, out = sys.argv[1:5]
    if who == "mxnet":
        from mxnet import io
    else:
        from fuelrail.mxnet import io
    results = {}
    for case, keywords in json.loads(pathlib.Path(cases).read_text()).items():
        name = keywords.pop("iterator", "ImageRecordIter")
        stem = f"{folder}/{'one' if name == 'ImageRecordIter' else 'boxes'}"
        if "path_imgidx" in keywords:
            keywords["path_imgidx"] = stem + ".idx"
        batches = getattr(io, name)(path_imgrec=stem + ".rec", verbose=False, **keywords)
        found = []
        for epoch in range(2):
            if epoch:
                batches.reset()
            for batch in batches:
                data = np.ascontiguousarray(batch.data[0].asnumpy())
                found.append(
                    {
                        "labels": batch.label[0].asnumpy().tolist(),
                        "pad": batch.pad,
                        "rows": [hashlib.sha256(row.tobytes()).hexdigest() for row in data],
                    }
                )
        results[case] = found
    pathlib.Path(out).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
