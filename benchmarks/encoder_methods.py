"""What supervision by mined evidence costs on an encoder: whole trainings by each method, as multiples of the plain one.

    python benchmarks/encoder_methods.py --data DIR --encoder FOLDER --repeats 1 --out F.json

A training is all that `pssa train` does after its start: preparing the data, every stage, saving the run. The methods take turns.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

from harness import Measurement, Request, Table, in_turns, main, medians, model_settings, open_corpora, seconds_of

_PLAIN = "base"
_METHODS = (_PLAIN, "aw-as", "pg-as")
_FEW = 64  # instances of the training that warms up


def measure(request: Request) -> Measurement:
    """Train in turns; a short training warms up, since the first use of a GPU takes seconds."""
    from pssa.runs import train

    corpus, settings = open_corpora(request)[0], model_settings(request)
    if request.rows:
        corpus = corpus.select(range(min(request.one_size(len(corpus)), len(corpus))))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(corpus.select(range(_FEW)), folder / "warm", epochs=1, min_steps=1, **settings)
        numbers = iter(range(1 << 20))

        def seconds(method: str) -> float:
            return seconds_of(partial(train, corpus, folder / str(next(numbers)), method=method, **settings))

        found = in_turns({method: partial(seconds, method) for method in _METHODS}, request.repeats)
    times = medians(found)
    lines = tuple((method, times[method], times[method] / times[_PLAIN]) for method in _METHODS)
    title = f"trainings of {settings['model']} on {len(corpus)} instances"
    return Measurement((Table(title, ("method", "seconds", "times the plain one"), lines),), (), {"seconds": found})


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
