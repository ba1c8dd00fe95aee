"""The options of a training that has its data, its model and its seed in common with what is configured."""

from __future__ import annotations

from pssa.data.read import Columns
from pssa.errors import option_arguments
from pssa.runs.config import Config, DataConfig

__all__ = ["repeated_options"]


def repeated_options(config: Config) -> list[str]:
    """What the training must be told, as the words of a command."""
    data, usual = config.data, DataConfig()
    options = {"train": data.train, "model": config.model, "encoder": data.encoder, "vectors": data.vectors}
    options |= {
        name: ",".join(value) if name == "labels" else value
        for name in ("format", "labels", "conflict", "unit")
        if (value := getattr(data, name)) != getattr(usual, name)
    }
    options |= {"columns": str(Columns.of(data.columns)), "seed": str(config.seed or "")}
    return [word for name, value in options.items() if value for word in option_arguments(name, value)]
