"""The folder that cells share, and the data of each place, which a process prepares once.

    OUT/evidence/KEY.jsonl   mined evidence, kept
    OUT/weights/KEY/         a trained model, as long as another cell needs it
    OUT/vectors/             rows of vector files, shared by all

Evidence and weights lie under the key of the cell that made them, so no two cells write the same file. Shared files are written
whole or not at all.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from paper.experiments.cells import Cell, Place, Setting
from paper.experiments.resources import Resources
from pssa.data import Corpus
from pssa.data.evidence import Evidence
from pssa.runs.prepared_data import prepare
from pssa.runs.resolve import resolve
from pssa.runs.run_context import RunContext
from pssa.runs.settings import Config
from pssa.runs.warm_start import merge_settings
from pssa.training import Observer


@dataclass(frozen=True)
class PlaceContext:
    """A run context, the corpus that tests its models, and the words that people marked in its training data."""

    run: RunContext
    test: Corpus
    human: Evidence | None

    def configured(self, **changes: Any) -> PlaceContext:
        """Return a context with these settings changed."""
        return replace(self, run=replace(self.run, config=resolve(self.run.config.updated(changes))))


@dataclass(frozen=True)
class Workspace:
    """An output folder, and the resources of its cells."""

    folder: Path
    resources: Resources

    def key(self, cell: Cell) -> str:
        """Return the cell's key with these resources."""
        return self.resources.key(cell)

    def evidence(self, cell: Cell) -> Path:
        """Return where the evidence of a mining lies."""
        return self.folder / "evidence" / f"{self.key(cell)}.jsonl"

    def weights(self, cell: Cell) -> Path:
        """Return where a trained model lies while it is needed."""
        return self.folder / "weights" / self.key(cell)

    def has_weights(self, cell: Cell) -> bool:
        """Return whether the trained model is there, complete."""
        return (self.weights(cell) / "model.safetensors").is_file()

    def drop_weights(self, cell: Cell) -> None:
        """Remove a trained model."""
        shutil.rmtree(self.weights(cell), ignore_errors=True)

    def clear(self, cells: Iterable[Cell]) -> None:
        """Remove temporary files of these cells, which a killed process leaves behind; nobody else's files."""
        for cell in cells:
            self.drop_weights(cell)
        with suppress(OSError):  # it does not exist, or holds files of others
            (self.folder / "weights").rmdir()

    def open(self, place: Place, changes: tuple[Setting, ...], observer: Observer | None = None) -> PlaceContext:
        """Return a context with the place's data and these settings."""
        prepared = _prepare(self, place)
        config = resolve(prepared.run.config.updated({"seed": place.seed, **dict(changes)}))
        return replace(prepared, run=RunContext(config, None, prepared.run.prepared_data, observer or Observer()))

    def __hash__(self) -> int:
        # Resources hold mappings, which have no hash of their own.
        return hash(f"{self.folder}|{self.resources}")


# Prepared data holds a vocabulary with its vectors, or an encoder: a few are kept, since cells come ordered by place.
@lru_cache(maxsize=3)
def _prepare(workspace: Workspace, place: Place) -> PlaceContext:
    resources = workspace.resources
    corpus, test = resources.corpora(place)
    config = merge_settings(Config(), resources.settings_in(place))
    config, prepared_data = prepare(corpus, None, config, cache=workspace.folder / "vectors")
    human = resources.human(place, prepared_data.corpus)
    return PlaceContext(RunContext(config, None, prepared_data, Observer()), test, human)
