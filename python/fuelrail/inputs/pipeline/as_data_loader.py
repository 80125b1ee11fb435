"""Makes objects that pass for a torch DataLoader."""

from __future__ import annotations

from typing import Any

from torch.utils.data import DataLoader

from fuelrail.errors import StateError

__all__ = ["as_data_loader"]


def as_data_loader(iterator_class: type) -> type:
    """Returns a subclass of the class and of torch's DataLoader.

    DataLoader's constructor is never called, so an attribute of DataLoader that the class lacks
    would be wrong: each raises a StateError, which is a RuntimeError.
    """
    own = {name for base in iterator_class.__mro__ for name in vars(base)}
    foreign = {name for base in DataLoader.__mro__ for name in vars(base)} - own
    members: dict[str, Any] = {name: _Disabled() for name in foreign - _OF_CLASSES}
    # DataLoader's would refuse some names.
    members.update(__setattr__=object.__setattr__, __module__=iterator_class.__module__)
    return type(f"{iterator_class.__name__}AsDataLoader", (iterator_class, DataLoader), members)


_OF_CLASSES = {  # which Python reads from a class
    "__annotations__",
    "__class_getitem__",
    "__init_subclass__",
    "__orig_bases__",
    "__parameters__",
    "__slots__",
    "_is_protocol",
}


class _Disabled:
    """An attribute whose use raises an error until it is assigned."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> _Disabled:
        if instance is None:
            return self
        raise StateError(
            f"the attribute {self._name} of torch's DataLoader cannot be used",
            found=f"an object of {type(instance).__name__}, which loads with DALI",
        )
