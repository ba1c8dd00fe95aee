"""Seconds of training and mining by number of instances, sentence length and rounds, with fitted exponents: 1 is linear.

Instances are drawn from the training corpus with replacement; other sentences are appended to make sentences longer. A training
is one epoch, mining is one pass over all instances with the gradient saliency, and a round is one of each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from harness import Measurement, Request, Table, exponent, in_turns, main, model_settings, open_corpora, seconds_of

if TYPE_CHECKING:
    from torch import nn

    from pssa.data.example import Example
    from pssa.models import IndexedCorpus
    from pssa.runs.run_context import RunContext

_FACTORS = (1, 2, 4, 8)
_WORDS, _PIECES = 500, 48  # instances to begin with, by what the model reads


def measure(request: Request) -> Measurement:
    """Measure the sizes of each axis in turns, after a first training that is not counted."""
    context = _context(request)
    base = request.one_size(_PIECES if request.encoder else _WORDS)
    data = _resampled(context, base * max(_FACTORS))
    more = {float(base * factor): data.select(range(base * factor)) for factor in _FACTORS}
    longer = {_words(rows): rows for rows in (_longer(context, base, factor) for factor in _FACTORS)}
    axes: dict[str, Mapping[float, Callable[[], float]]] = {
        "instances, training": {size: partial(_training, context, rows) for size, rows in more.items()},
        "instances, mining": {size: partial(_mining, context, rows, 1) for size, rows in more.items()},
        "words, training": {size: partial(_training, context, rows) for size, rows in longer.items()},
        "words, mining": {size: partial(_mining, context, rows, 1) for size, rows in longer.items()},
        "rounds, training and mining": {float(n): partial(_rounds, context, more[base], n) for n in _FACTORS},
    }
    _training(context, more[base])
    found = {name: _timed(works, request.repeats) for name, works in axes.items()}
    fits = tuple((name, exponent([*times], [*map(median, times.values())])) for name, times in found.items())
    summary = Table(f"exponents with {context.config.model}", ("", "exponent"), fits)
    raw = {name: {f"{size:g}": each for size, each in times.items()} for name, times in found.items()}
    return Measurement((*(_table(name, times) for name, times in found.items()), summary), (), {"seconds": raw})


def lengthened(example: Example, others: Sequence[Example]) -> Example:
    """Append other sentences to the example; the aspect keeps its place."""
    text, spans = example.text, list(example.spans)
    for other in others:
        shift = len(text) + 1
        text += f" {other.text}"
        spans += [(start + shift, end + shift) for start, end in other.spans]
    return replace(example, text=text, spans=tuple(spans))


def _context(request: Request) -> RunContext:
    from pssa.runs.prepared_data import prepare
    from pssa.runs.run_context import RunContext
    from pssa.runs.settings import Config
    from pssa.training import Observer

    settings = {**model_settings(request), "method": "pg-as", "epochs": 1}
    config, prepared_data = prepare(open_corpora(request)[0], None, Config().updated(settings))
    return RunContext(config, None, prepared_data, Observer())


def _resampled(context: RunContext, count: int) -> IndexedCorpus:
    import torch

    data = context.train_data
    return data.select(torch.randint(len(data), (count,), generator=torch.Generator().manual_seed(0)))


def _longer(context: RunContext, base: int, factor: int) -> IndexedCorpus:
    """Return `base` instances, each with `factor` - 1 other sentences appended."""
    corpus = context.prepared_data.corpus
    places = range(base)
    return context.index(
        [
            lengthened(corpus[place % len(corpus)], [corpus[(place + k) % len(corpus)] for k in range(1, factor)])
            for place in places
        ]
    )


def _words(data: IndexedCorpus) -> float:
    """Return the mean number of words of a sentence."""
    return data.widths[:, 2].float().mean().item()


def _training(context: RunContext, data: IndexedCorpus) -> float:
    from pssa.training import Task, fit

    model = context.new_model()
    return seconds_of(partial(fit, model, Task(data, 0, "growth"), context.settings, 1))


def _mining(context: RunContext, data: IndexedCorpus, rounds: int) -> float:
    import torch

    from pssa.mining import Procedure, mine
    from pssa.runs.resolve import build_saliency, mining_rule
    from pssa.training import Task, fit

    def train(iteration: int, number: int, model: nn.Module, masked: IndexedCorpus) -> nn.Module:
        fit(model, Task(masked, 0, f"round-{iteration}"), context.settings, 1)
        return model

    procedure = Procedure(build_saliency(context.config, "gradient"), mining_rule(context.config), rounds)
    miners = [(context.new_model(), torch.arange(len(data)))]
    return seconds_of(partial(mine, data, miners, train, procedure, context.config.data.labels))


def _rounds(context: RunContext, data: IndexedCorpus, rounds: int) -> float:
    """Include the training before the first round, so that there are as many trainings as passes of mining."""
    return _training(context, data) + _mining(context, data, rounds)


def _timed(works: Mapping[float, Callable[[], float]], repeats: int) -> dict[float, list[float]]:
    found = in_turns({str(size): work for size, work in works.items()}, repeats)
    return dict(zip(works, found.values(), strict=True))


def _table(name: str, times: Mapping[float, Sequence[float]]) -> Table:
    first = median(next(iter(times.values())))
    rows = tuple((size, median(each), median(each) / first) for size, each in times.items())
    return Table(name, (name.partition(",")[0], "seconds", "of the first"), rows)


if __name__ == "__main__":
    sys.exit(main(__doc__, measure))
