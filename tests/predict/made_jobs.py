"""Jobs that end before their time."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from pssa.predict import Job, LocalEngine, Scoring
from pssa.predict.engines import ScoringTask
from pssa.predict.window import Window

BAD = {"text": "a keyboard", "aspect": "screen"}


@dataclass(frozen=True)
class Stopping:
    """An engine that is stopped after so many windows."""

    after: int
    end: BaseException

    def resolve(self, scoring: Scoring) -> Scoring:
        return LocalEngine().resolve(scoring)

    def results(self, task: ScoringTask) -> Generator[Window]:
        for number, result in enumerate(LocalEngine().results(task)):
            if number == self.after:
                raise self.end
            yield result


def names(job: Job) -> list[str]:
    return sorted(path.name for path in Path(job.output).parent.iterdir())
