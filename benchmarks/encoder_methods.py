"""What supervision by mined evidence costs on an encoder: whole trainings by each method, as multiples of the plain one.

    python benchmarks/encoder_methods.py --data DIR --encoder FOLDER --repeats 1 --out F.json

A training is all that `pssa train` does after its start: preparing the data, every stage, saving the run. The methods take turns.
A second table has the seconds of the stages: trainings of the initial model, between rounds and of the final model, mining, and
the rest, which is reading and writing.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from harness import Cell, Measurement, Request, Table, in_turns, main, medians, model_settings, open_corpora, seconds_of

from pssa.data import Corpus

_PLAIN = "base"
_METHODS = (_PLAIN, "aw-as", "pg-as")
_STAGES = {"initial": ("initial",), "rounds": ("round-",), "mining": ("mine-",), "final": ("final",)}
_FEW = 64  # instances of the training that warms up


def measure(request: Request) -> Measurement:
    """Train in turns; a short training warms up, since the first use of a GPU takes seconds."""
    from pssa.runs import train

    # As many epochs however few the rows are.
    corpus, settings = open_corpora(request)[0], {**model_settings(request), "min_steps": 0}
    if request.rows:
        corpus = corpus.select(range(min(request.one_size(len(corpus)), len(corpus))))
    stages: dict[str, list[dict[str, float]]] = {method: [] for method in _METHODS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(corpus.select(range(_FEW)), folder / "warm", epochs=1, **settings)
        numbers = iter(range(1 << 20))

        def seconds(method: str) -> float:
            whole, parts = train_once(corpus, folder / str(next(numbers)), {"method": method, **settings})
            stages[method].append(parts)
            return whole

        found = in_turns({method: partial(seconds, method) for method in _METHODS}, request.repeats)
    times, what = medians(found), f"{settings['model']} on {len(corpus)} instances"
    lines = tuple((method, times[method], times[method] / times[_PLAIN]) for method in _METHODS)
    parts: list[tuple[Cell, ...]] = [
        (method, *(median(one[part] for one in stages[method]) for part in _parts())) for method in _METHODS
    ]
    whole = Table(f"trainings of {what}", ("method", "seconds", "times the plain one"), lines)
    return Measurement(
        (whole, Table("seconds of the stages", ("method", *_parts()), tuple(parts))),
        (),
        {"seconds": found, "stages": stages},
    )


def train_once(corpus: Corpus, out: Path, settings: dict[str, Any]) -> tuple[float, dict[str, float]]:
    """Return the seconds of a training, and of its parts."""
    from paper.experiments.timing import StageTimer
    from pssa.runs import train

    timer = StageTimer()
    whole = seconds_of(partial(train, corpus, out, observer=timer, **settings))
    parts = {
        part: sum(spent for stage, spent in timer.seconds.items() if stage.startswith(names))
        for part, names in _STAGES.items()
    }
    parts["rest"] = whole - sum(parts.values())
    print(
        time.strftime("%H:%M:%S"), settings["method"], round(whole, 1), json.dumps(parts), file=sys.stderr, flush=True
    )
    return whole, parts


def _parts() -> tuple[str, ...]:
    return (*_STAGES, "rest")


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
