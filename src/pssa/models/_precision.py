"""Full precision for what is small and delicate: heads, softmaxes and entropies, whatever the encoder runs in."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["full_precision", "widen"]


def widen(values: Tensor) -> Tensor:
    """The values in single precision, or in double where they are."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def full_precision(values: Tensor) -> torch.autocast:
    """A context without autocast, on the device of `values`."""
    return torch.autocast(values.device.type, enabled=False)
