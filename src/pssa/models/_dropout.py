"""Dropout that draws eight decisions from one random number.

On a CPU, drawing random numbers was half of MN's training time. Here each element takes one random byte, so the rate is a
multiple of 1/256, and values are scaled by that exact rate.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["dropout"]

_STEPS = 256


def dropout(values: Tensor, rate: float, training: bool) -> Tensor:
    """Set a share `rate` of `values` to zero and scale up the others; random numbers are torch's global ones."""
    if not training or rate == 0:
        return values
    if values.device.type != "cpu":
        return functional.dropout(values, rate)
    dropped = min(round(rate * _STEPS), _STEPS - 1)
    draws = torch.empty(-(-values.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    kept = draws.view(torch.uint8)[: values.numel()].view(values.shape) >= dropped
    return values * (kept * (_STEPS / (_STEPS - dropped)))
