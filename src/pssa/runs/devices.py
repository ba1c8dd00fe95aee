"""The device that models run on."""

from __future__ import annotations

import torch

from pssa.errors import InputError


def choose_device(name: str) -> torch.device:
    """Return the device called `name`; `auto` is the GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device is cuda, but there is no usable CUDA device; use auto or cpu")
    if name not in ("cpu", "cuda"):
        raise InputError(f"device is {name!r}; it can be auto, cpu or cuda")
    return torch.device(name)


def computes_bfloat16(device: torch.device) -> bool:
    """Return whether the device has instructions for products of bfloat16 numbers."""
    if device.type == "cuda":
        return True
    # Older versions of PyTorch lack this function.
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
