"""DataType and DALI's DALIDataType, which stand for each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from nvidia.dali import fn, pipeline_def
from nvidia.dali.types import DALIDataType

from fuelrail.inputs import DataType, SampleDataGroup

BOTH = [(ours, getattr(DALIDataType, ours.name)) for ours in DataType]


@pytest.mark.parametrize(("ours", "dalis"), BOTH, ids=lambda member: member.name)
def test_members_of_one_name_are_equal(ours: Any, dalis: Any) -> None:
    assert ours == dalis
    assert dalis == ours
    assert dalis in {ours: 1}
    assert int(ours) == int(dalis)


@pytest.mark.parametrize(("ours", "dalis"), BOTH, ids=lambda member: member.name)
def test_a_field_may_have_a_type_of_either(ours: Any, dalis: Any) -> None:
    groups = SampleDataGroup(), SampleDataGroup()
    for group, kind in zip(groups, (ours, dalis), strict=True):
        group.add_data_field("x", kind)
    assert groups[0].type_matches(groups[1])
    assert groups[1].get_type_of_field("x") == dalis
    groups[1].change_type_of_data_and_remove_data("x", dalis)
    assert groups[1].field_top_level_types == (dalis,)
    if ours is not DataType.STRING:
        found = SampleDataGroup.get_numpy_type_for_dali_type(dalis)
        assert found == SampleDataGroup.get_numpy_type_for_dali_type(ours)


def test_operators_of_dali_take_our_members() -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def pipeline() -> Any:
        numbers = fn.external_source(
            lambda info: np.array([info.idx_in_epoch], np.uint8), batch=False, dtype=DataType.UINT8
        )
        return fn.cast(numbers, dtype=DataType.FLOAT)

    made = pipeline()
    made.build()
    (batch,) = made.run()
    assert batch.as_array().tolist() == [[0.0], [1.0]]
    assert batch.dtype == DALIDataType.FLOAT
