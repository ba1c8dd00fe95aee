"""The command that trains with reviewed evidence: the model of the run that mined it, as far as that is known.

What nobody has said stands there in capital letters.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from pssa import models
from pssa.data.evidence import Header
from pssa.data.read import Columns
from pssa.errors import option_arguments
from pssa.runs import Config
from pssa.runs.config import DataConfig
from pssa.runs.repeated import repeated_options
from pssa.serve.review.sources import Run, Sources

__all__ = ["training_command"]


def training_command(sources: Sources, header: Header, path: Path) -> str:
    """Trains with the evidence at `path`."""
    same = repeated_options(_known(sources, header)) if sources.run is None else _as_in(sources.run, sources)
    return shlex.join(["pssa", "train", *same, "--evidence", str(path), "--out", "RUN"])


def _as_in(run: Run, sources: Sources) -> list[str]:
    """The run's configuration, and what of the corpus is not as in it."""
    data = run.config.data
    words = ["--config", str(run.path), "--method", "base"]
    if sources.corpus is None:
        return words if data.train else [*words, "--train", "TRAIN"]
    if not run.trained_on(sources.corpus):
        words += ["--train", str(sources.corpus)]
    for name, value in _data(sources).items():
        if value != getattr(data, name):
            # Columns that a configuration names are named otherwise, if only by their own names.
            told = (str(Columns.of(value)) or "text=text") if name == "columns" else _joined(value)
            words += option_arguments(name, told) if told else [f"--{name}", ""]
    return words


def _known(sources: Sources, header: Header) -> Config:
    """The configuration, as far as the evidence and those who began the review say it."""
    model = header.model if header.model in models.names() else ""  # evidence of people names none
    encoder = "ENCODER" if model and models.reads(model) != "words" else ""
    train = "TRAIN" if sources.corpus is None else str(sources.corpus)
    return Config(model, seed=header.seed, data=DataConfig(train=train, encoder=encoder, **_data(sources)))


def _data(sources: Sources) -> dict[str, Any]:
    """How the corpus is read, as the configuration says it."""
    given = sources.reading
    return {
        "format": given.get("format") or "",
        "columns": dict(Columns.of(given.get("columns")).pairs),
        "labels": given.get("labels") or ("LABELS",),
        "conflict": given.get("conflict") or "drop",
    }


def _joined(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ",".join(value)
