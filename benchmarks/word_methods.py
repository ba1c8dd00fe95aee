"""What each method costs on word vectors: whole trainings, as multiples of the plain one.

    python benchmarks/word_methods.py --data DIR --vectors F --rows 800 --out F.json

A training is all that `pssa train` does after its start: preparing the data, searching the number of epochs, every stage, saving
the run. The methods take turns. `--rows`: instances to train on. To compare with another version of the package, run the script
with its sources in PYTHONPATH at the same time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from harness import Measurement, Request, Table, in_turns, main, medians, open_corpora, seconds_of

_PLAIN = "base"
_METHODS: dict[str, dict[str, Any]] = {
    _PLAIN: {"method": _PLAIN},
    "pg-as": {"method": "pg-as"},
    "boosting": {"method": "boosting"},
    "consensus": {"method": "consensus"},
    "consensus, 5 folds": {"method": "consensus", "consensus_folds": 5},
}
_MODELS = ("memnet", "tnet_att")


def measure(request: Request) -> Measurement:
    """Train both models by each method in turns."""
    from pssa.runs import Config, train

    corpus = open_corpora(request)[0]
    if request.rows:
        corpus = corpus.select(range(min(request.one_size(len(corpus)), len(corpus))))
    vectors = {"vectors": str(request.vectors)} if request.vectors else {}
    tables, raw = [], {}
    with tempfile.TemporaryDirectory() as name:
        folder, numbers = Path(name), iter(range(1 << 20))

        def work(model: str, method: str) -> float:
            out = folder / str(next(numbers))
            config = Config().updated({"model": model, "device": "cpu", **_METHODS[method], **vectors})
            seconds = seconds_of(partial(train, corpus, out, config=config))
            print(f"{time.strftime('%H:%M:%S')} {model} {method}: {seconds:.1f} s", file=sys.stderr, flush=True)
            return seconds

        for model in _MODELS:
            found = in_turns({method: partial(work, model, method) for method in _METHODS}, request.repeats)
            times, raw[model] = medians(found), found
            lines = tuple((method, times[method], times[method] / times[_PLAIN]) for method in _METHODS)
            tables.append(
                Table(f"{model}, {len(corpus)} instances", ("method", "seconds", "times the plain one"), lines)
            )
    return Measurement(tuple(tables), (), {"seconds": raw})


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
