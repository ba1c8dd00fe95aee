"""What each method costs: whole trainings, as multiples of the plain one, and the seconds of their stages.

    python benchmarks/methods.py --data DIR --vectors F --rows 800 --out F.json
    python benchmarks/methods.py --data DIR --encoder FOLDER --repeats 1 --out F.json

A training is all that `pssa train` does after its start: preparing the data, searching the number of epochs, every stage, saving
the run. The methods take turns. Stages: the initial model, the rounds, mining, the final model, and the rest, which is reading,
searching and writing. `--rows`: instances to train on. To compare with another version of the package, run the script with its
sources in PYTHONPATH at the same time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from harness import Cell, Measurement, Request, Table, in_turns, main, medians, model_settings, open_corpora, seconds_of

_PLAIN = "base"
_ON_WORDS: dict[str, dict[str, Any]] = {
    _PLAIN: {"method": _PLAIN},
    "pg-as": {"method": "pg-as"},
    "boosting": {"method": "boosting"},
    "consensus": {"method": "consensus"},
    "consensus, 5 folds": {"method": "consensus", "consensus_folds": 5},
}
_ON_ENCODERS: dict[str, dict[str, Any]] = {method: {"method": method} for method in (_PLAIN, "aw-as", "pg-as")}
_STAGES = {"initial": ("initial",), "rounds": ("round-",), "mining": ("mine-",), "final": ("final",)}
_FEW = 64  # instances of the training that warms up: the first use of torch, or of a GPU, takes seconds


def measure(request: Request) -> Measurement:
    """Train each model by each method in turns."""
    from paper.experiments.timing import StageTimer
    from pssa.runs import train

    corpus, settings = open_corpora(request)[0], {**model_settings(request), "min_steps": 0}
    if request.rows:
        corpus = corpus.select(range(min(request.one_size(len(corpus)), len(corpus))))
    methods = _ON_ENCODERS if request.encoder else _ON_WORDS
    tables, raw = [], {}
    with tempfile.TemporaryDirectory() as name:
        folder, numbers = Path(name), iter(range(1 << 20))

        def seconds(model: str, method: str) -> float:
            timer, given = StageTimer(), {**settings, "model": model, **methods[method]}
            whole = seconds_of(partial(train, corpus, folder / str(next(numbers)), observer=timer, **given))
            spent = {
                part: sum(timer.seconds[key] for key in timer.seconds if key.startswith(names))
                for part, names in _STAGES.items()
            }
            stages[method].append(spent | {"rest": whole - sum(spent.values())})
            print(time.strftime("%H:%M:%S"), model, method, f"{whole:.1f} s", file=sys.stderr, flush=True)
            return whole

        train(corpus.select(range(min(_FEW, len(corpus)))), folder / "warm", epochs=1, **settings)
        for model in (settings["model"],) if request.encoder else ("memnet", "tnet_att"):
            stages: dict[str, list[dict[str, float]]] = {method: [] for method in methods}
            found = in_turns({method: partial(seconds, model, method) for method in methods}, request.repeats)
            times, parts = medians(found), (*_STAGES, "rest")
            raw[model] = {"seconds": found, "stages": stages}
            rows: tuple[tuple[Cell, ...], ...] = tuple(
                (
                    method,
                    times[method],
                    times[method] / times[_PLAIN],
                    *(median(one[part] for one in stages[method]) for part in parts),
                )
                for method in methods
            )
            title = f"trainings of {model} on {len(corpus)} instances"
            tables.append(Table(title, ("method", "seconds", "times the plain one", *parts), rows))
    return Measurement(tuple(tables), (), raw)


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
