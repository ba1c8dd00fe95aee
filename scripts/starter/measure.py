"""The scores of the starter on held-out data of MAMS, and on data of other sources as transfer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pssa
from pssa.aspects import evaluate_aspects, load_finder, read_sentences
from pssa.evaluation import Scores, SpanScores
from pssa.runs.evaluate import evaluate

__all__ = ["Measured", "TestFiles", "measure"]


@dataclass(frozen=True)
class TestFiles:
    """The files to measure on; those that are None are left out."""

    val: Path  # of MAMS, for classifier and tagger
    labelled: Mapping[str, Path | None] = field(default_factory=dict)
    aspects: Mapping[str, Path | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """Scores by data set."""

    labels: Mapping[str, Scores]
    spans: Mapping[str, SpanScores]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        labels = {name: {"accuracy": s.accuracy, "macro_f1": s.macro_f1} for name, s in self.labels.items()}
        return {"labels": labels, "spans": {name: {"f1": s.f1, **asdict(s)} for name, s in self.spans.items()}}


def measure(run: Path, files: TestFiles) -> Measured:
    """Measure the classifier and the tagger of a run."""
    classifier, finder = pssa.load(run), load_finder(run)
    labelled = {"MAMS val": files.val, **{f"{name} test": path for name, path in files.labelled.items()}}
    aspects = {"MAMS val": files.val, **{f"{name} test": path for name, path in files.aspects.items()}}
    return Measured(
        {name: evaluate(classifier, pssa.read(path)).scores for name, path in labelled.items() if path is not None},
        {name: evaluate_aspects(finder, read_sentences(path)) for name, path in aspects.items() if path is not None},
    )
