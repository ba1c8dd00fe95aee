"""How a training is carried out, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass

from pssa.errors import InputError

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Optimiser and stopping rule."""

    learning_rate: float = 0.001
    batch_size: int = 64
    clip_norm: float = 5.0
    max_epochs: int = 40  # of a search; a training of known length runs that long
    patience: int = 8  # epochs without a better development score before a search stops
    smoothing: int = 5  # epochs over which development scores are averaged before the best is chosen
    class_weights: str = "none"  # or "balanced": every class counts the same in the loss

    def __post_init__(self) -> None:
        for name in ("learning_rate", "batch_size", "clip_norm", "max_epochs", "patience", "smoothing"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name)}; it must be greater than 0")
        if self.class_weights not in ("none", "balanced"):
            raise InputError(f"class_weights is {self.class_weights!r}; it can be none or balanced")
