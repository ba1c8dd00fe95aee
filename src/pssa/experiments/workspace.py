"""What a process needs to carry out cells: resources, files of the cells before, and corpora that it prepares once.

    OUT/evidence/KEY.jsonl   mined evidence, kept
    OUT/weights/KEY/         a trained model, for as long as another cell needs it
    OUT/timing/KEY/          the runs of a timing, while it is at work
    OUT/vectors/             rows of vector files, shared by all

Evidence and weights lie under the key of the cell that made them, so no two cells write the same file; what they share is
written whole or not at all.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from pssa.data import Corpus
from pssa.data.evidence import Evidence
from pssa.experiments.cells import Cell, Place, Setting
from pssa.experiments.resources import Resources
from pssa.runs.config import Config
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.training import NullObserver, Observer

__all__ = ["Bench", "Workroom"]


@dataclass(frozen=True)
class Workroom:
    """A folder and what is read."""

    folder: Path
    resources: Resources

    def key(self, cell: Cell) -> str:
        """The cell's key with these resources."""
        return self.resources.key(cell)

    def evidence(self, cell: Cell) -> Path:
        """Where the evidence of a mining lies."""
        return self.folder / "evidence" / f"{self.key(cell)}.jsonl"

    def weights(self, cell: Cell) -> Path:
        """Where a trained model lies while it is needed."""
        return self.folder / "weights" / self.key(cell)

    def has_weights(self, cell: Cell) -> bool:
        """Whether the trained model is there, whole."""
        return (self.weights(cell) / "model.safetensors").is_file()

    def drop_weights(self, cell: Cell) -> None:
        """Forget a trained model."""
        shutil.rmtree(self.weights(cell), ignore_errors=True)

    def timing(self, cell: Cell) -> Path:
        """Where the runs of a timing lie while it is at work."""
        return self.folder / "timing" / self.key(cell)

    def clear(self, cells: Iterable[Cell]) -> None:
        """Remove what only cells at work need, as a process leaves it behind when it is killed; nothing that others put there."""
        for cell in cells:
            for path in (self.weights(cell), self.timing(cell)):
                shutil.rmtree(path, ignore_errors=True)
        for name in ("weights", "timing"):
            with suppress(OSError):  # it is not there, or something of others is in it
                (self.folder / name).rmdir()

    def open(self, place: Place, changes: tuple[Setting, ...], observer: Observer | None = None) -> Bench:
        """A context with the place's data and these settings."""
        bench = _prepare(self, place)
        config = bench.shop.config.updated({"seed": place.seed, **dict(changes)})
        shop = RunContext(config, None, bench.shop.prepared_data, observer or NullObserver())
        return replace(bench, shop=shop)

    def __hash__(self) -> int:
        # Resources hold mappings, which have no hash of their own.
        return hash(f"{self.folder}|{self.resources}")


@dataclass(frozen=True)
class Bench:
    """A context, what judges its models, and the words that people marked in what it trains on."""

    shop: RunContext
    test: Corpus
    human: Evidence | None


# Materials hold a vocabulary with its vectors, or an encoder: a few are kept, since cells come ordered by place.
@lru_cache(maxsize=3)
def _prepare(room: Workroom, place: Place) -> Bench:
    resources = room.resources
    corpus, test = resources.corpora(place)
    wanted = Config().updated(resources.settings_in(place))
    config, prepared_data = prepare(corpus, None, wanted, cache=room.folder / "vectors")
    return Bench(
        RunContext(config, None, prepared_data, NullObserver()), test, resources.human(place, prepared_data.corpus)
    )
