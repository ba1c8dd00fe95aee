"""Where models are computed."""

from __future__ import annotations

import torch

from pssa.errors import InputError

__all__ = ["choose_device"]


def choose_device(name: str) -> torch.device:
    """`auto` is the GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device is cuda, but no CUDA device can be used here; take auto or cpu")
    if name not in ("cpu", "cuda"):
        raise InputError(f"device is {name!r}; it can be auto, cpu or cuda")
    return torch.device(name)
