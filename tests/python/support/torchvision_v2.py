"""torchvision.transforms.v2, from the wheel that `./run setup` installs apart.

The wheel's compiled operators need CUDA's libraries. Beside PyTorch for the CPU, its import fails
where it registers fakes of these operators, so they are ignored here. Transforms do not use them.

tensor_functional is torchvision.transforms.functional. Its changes of colour round after every
operation; those of v2 fuse two of them, and may differ by one level.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from typing import Any

import torch

_FOLDER = pathlib.Path(__file__).parents[3] / ".venv" / "torchvision"
_register = torch.library.register_fake


def _register_others(name: Any, *arguments: Any, **options: Any) -> Callable[..., Any]:
    if isinstance(name, str) and name.startswith("torchvision::"):
        return lambda function: function
    return _register(name, *arguments, **options)


sys.path.append(str(_FOLDER))
torch.library.register_fake = _register_others
try:
    from torchvision import tv_tensors
    from torchvision.transforms import functional as tensor_functional
    from torchvision.transforms import v2
    from torchvision.transforms.v2 import functional
finally:
    torch.library.register_fake = _register
    sys.path.remove(str(_FOLDER))

__all__ = ["functional", "tensor_functional", "tv_tensors", "v2"]
