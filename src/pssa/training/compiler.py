"""A model's calls through torch.compile, and a clear word where nothing can be compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from pssa.errors import InputError

__all__ = ["compiled"]


def compiled(call: Callable[..., Any], device: torch.device) -> Callable[..., Any]:
    """The same call, compiled for `device` when it is first made.

    :raises InputError: where there is no compiler.
    """
    _try_out(device.type)
    return torch.compile(call)


@cache
def _try_out(device: str) -> None:
    try:
        torch.compile(lambda values: values * 2 + 1)(torch.zeros(2, device=device))
    except (RuntimeError, OSError) as error:
        need = "Triton" if device == "cuda" else "a C++ compiler"
        reason = str(error).strip().splitlines()[0]
        raise InputError(
            f"compile is on, but {need} cannot be used ({reason}); install it or leave compile off"
        ) from error
