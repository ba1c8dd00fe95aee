"""What makes a host wait for a device."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Each needs a value, or a number of values, before the next step can be launched.
_WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "equal")


class NoWaiting(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Fails on an operation that would make a device wait."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        assert name not in _WAITING, f"waits in {name}"
        if name.startswith("index") and isinstance(args[1], list | tuple):
            assert not any(place is not None and place.dtype == torch.bool for place in args[1]), "indexed by a mask"
        return func(*args, **(kwargs or {}))
