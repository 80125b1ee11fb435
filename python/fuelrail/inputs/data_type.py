"""The types of data fields."""

from __future__ import annotations

import enum
from typing import Protocol

import numpy

from fuelrail.inputs.errors import InputArgumentError
from fuelrail.options import typed

__all__ = ["DataType", "NamedType", "data_type"]


class NamedType(Protocol):
    """A member of `DataType` or of DALI's `DALIDataType`."""

    @property
    def name(self) -> str: ...


class DataType(enum.IntEnum):
    """The type of a data field's elements. The names and numbers are those of DALI's enumeration
    `DALIDataType`, whose members are equal to these.
    """

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11
    STRING = 12
    """Text, stored as UTF-8 in a uint8 array."""

    @property
    def dtype(self) -> numpy.dtype[numpy.generic]:
        """The dtype of stored arrays, in native byte order. For STRING, uint8."""
        return _DTYPES[self]


_SPELT = {"FLOAT": "float32", "STRING": "uint8"}
_DTYPES = {member: numpy.dtype(_SPELT.get(member.name, member.name.lower())) for member in DataType}


def data_type(member: object) -> DataType:
    """Returns the member of `DataType` that has the name of `member`, which may be a member of
    DALI's enumeration. Errors: InputArgumentError for anything else.
    """
    if isinstance(member, DataType):
        return member
    known = DataType.__members__.get(str(getattr(member, "name", "")))
    if known is None or isinstance(member, type):
        raise InputArgumentError(
            "the type of a data field is invalid",
            expected="a member of DataType or of DALIDataType",
            found=typed(member),
            remedy="Use add_data_group_field for a SampleDataGroup",
        )
    return known
