"""Beyond the paper: models in another domain. Trained on LAPTOP and tested on REST, and the other way round; TWITTER too.

Each training is a cell that its own test set has scored; analyses score the same model on the other sets, and measure what it
attends to there. Nothing is chosen by looking at the other domain.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from paper.experiments.cells import Analysis, Training, settings
from paper.experiments.comparison import METRICS, Change, Gain, Row, average, gather, gather_found, gold_labels
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import (
    HEADLINE,
    Exhibit,
    FormattedValue,
    Part,
    Table,
    TableRow,
    Value,
    format_count,
    format_mean,
    format_number,
    format_row,
)
from paper.studies.exhibits._rows import (
    ATTENDING,
    FEW_SEEDS,
    FULL_GAMMA,
    METHODS,
    NAMES,
    TRANSFER_ROWS,
    TRIED_ROWS,
    format_gain,
    format_gain_interval,
    row_name,
)
from pssa import models
from pssa.evaluation.significance import SIGNIFICANT

__all__ = ["EXHIBIT"]

_SOURCES = ("laptop", "rest")
_CONTROL, _RANDOM = "again", "+Random"
_ANALYSED = ("", "+Consensus", FULL_GAMMA, "+Human", _RANDOM, "+Contrast", "+Consensus+Contrast")
_FAITHFUL = ("", "+Consensus", FULL_GAMMA, "+Human", "+Contrast")
_LIMIT = settings(limit=100)  # instances of an analysis that takes a hundred predictions each
_UNSEEN = "0"  # bucket of words that never occur in training
_STARS = (
    "Stars: * p < .05, ** p < .01 of a gain, one-sided, by a bootstrap that resamples seeds together with test instances, so "
    "that they hold for other trainings as well as for other tests. A single seed has none."
)
_AIM_NOTES = (
    "Three models, each trained on LAPTOP and tested on REST, and the other way round: six pairs. A pair counts if all its rows "
    "are measured. `mean gain`: difference in macro-F1 to a second training without evidence (`again`); p by a bootstrap that "
    "resamples seeds together with test instances, one-sided. `over the first`: to the first training instead. `over both "
    "controls`: to the mean of both, with its 95 % interval; the seeds of each row are drawn by themselves. `at home`: on the "
    "test set of the training domain. Our aim for +Consensus: above `again` and above +Random in 5 of 6 pairs, by "
    "2.0 over `again` on average, p < .05 in 4.",
)
_GAIN_NOTES = (
    "Accuracy / macro-F1 over `again`, the baseline trained a second time with other random numbers; the column `again` has its "
    f"own gain over the first training, which is chance. TWITTER is measured for word vectors alone. {_STARS}",
)
_PAIR_NOTES = (
    "`at home`: macro-F1 on the test set of the training domain. `over again`: accuracy / macro-F1 in the other domain. "
    "+Random has as many random words as +Consensus has mined ones, and the same gamma. `full gamma`: the gamma of +AW-AS and "
    "+PG-AS. Held-out data of the training domain chose a smaller one for the consensus of MN and of BERTABSA-ATT; TNet-ATT "
    f"keeps it. {_STARS}",
)
_ATTENTION_NOTES = (
    "Test instances of the other domain in which people marked an opinion word. `unseen`: instances whose rarest marked word "
    "never occurs in the training domain. Accuracy, and attention on the marked words, in points, ± standard deviation over "
    "seeds. `even`: the attention that these words would get if all words got the same.",
)
_FAITHFULNESS_NOTES = (
    "We remove the words with most attention, or all others, and see how much probability the predicted label loses. "
    "Comprehensiveness: without these words; high is good. Sufficiency: with them alone; low is good. AOPC as in ERASER, mean "
    "over seeds, on 100 test instances. `random`: the same with words in random order.",
)


@dataclass(frozen=True)
class _DomainPair:
    """A model trained on one data set and tested on another."""

    model: str
    source: str
    target: str

    @property
    def head(self) -> tuple[str, str, str]:
        """The first fields of its rows."""
        return NAMES[self.model], self.source.upper(), self.target.upper()

    def trainings(self, scope: Scope, name: str, seeds: int = 0) -> list[Training]:
        """Return the trainings of a row by seed."""
        return METHODS[name].trainings(scope, self.model, self.source, seeds)

    def scores(self, scope: Scope, name: str) -> list[Analysis]:
        """Return the scores of a row in the other domain by seed."""
        return [Analysis(training, "scores", on=self.target) for training in self.trainings(scope, name)]

    def analyses(self, scope: Scope, name: str, what: str) -> list[Analysis]:
        """Return analyses of a row in the other domain by seed, where people marked words in it."""
        if not scope.has_opinion_words(self.target):
            return []
        is_long = what == "faithfulness"
        chosen, seeds = (_LIMIT, 1 if self.model.startswith("bertabsa") else FEW_SEEDS) if is_long else ((), FEW_SEEDS)
        return [Analysis(each, what, chosen, on=self.target) for each in self.trainings(scope, name, seeds)]


def _pairs(scope: Scope, data: Sequence[str]) -> list[_DomainPair]:
    """Return the pairs of data sets with every model in scope; models on encoders, which cost more, stay within the sources."""
    places = [(source, target) for source in _SOURCES for target in data if source != target]
    known = [(source, target) for source, target in places if source in scope.data and target in scope.data]
    return [
        _DomainPair(model, source, target)
        for model in ATTENDING
        if scope.has(model)
        for source, target in known
        if target in _SOURCES or not models.uses_encoder(model)
    ]


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return how far each row gets, gains in every pair, all scores, and what models attend to in the other domain."""
    board = _Board(scope, lookup)
    every = _pairs(scope, scope.data)
    marked = [pair for pair in every if scope.has_opinion_words(pair.target)]
    targets = dict.fromkeys((pair.source, pair.target) for pair in every)
    return [
        _aim(board, _pairs(scope, _SOURCES)),
        _gains(board, every),
        *(_scores(board, [pair for pair in every if (pair.source, pair.target) == each]) for each in targets),
        _attention(board, marked),
        _faithfulness(board, marked),
    ]


class _Board:
    """Records of rows by pair, and differences between them."""

    def __init__(self, scope: Scope, lookup: RecordLookup) -> None:
        self.scope, self.lookup = scope, lookup
        self.gain = cache(self._gain)  # several tables show it

    def home(self, pair: _DomainPair, name: str) -> Row:
        """Return the records of a row on the test set of its training domain."""
        return gather(self.lookup, pair.trainings(self.scope, name))

    def away(self, pair: _DomainPair, name: str) -> Row:
        """Return the scores of a row in the other domain."""
        return gather_found(self.lookup, pair.scores(self.scope, name))

    def _gain(self, pair: _DomainPair, name: str, other: str, at_home: bool = False) -> Gain | None:
        """Return the gain of a row over another in the other domain, or in the training domain."""
        data, row = (pair.source, self.home) if at_home else (pair.target, self.away)
        return average([(gold_labels(self.scope, data), row(pair, name), row(pair, other))])

    def gain_over_both(self, pairs: Sequence[_DomainPair], name: str) -> Gain | None:
        """Return the mean gain of a row in other domains over both trainings without evidence."""
        rows = [[self.away(pair, each) for each in (name, "", _CONTROL)] for pair in pairs]
        gold = [gold_labels(self.scope, pair.target) for pair in pairs]
        return average([(labels, ours, tuple(theirs)) for labels, (ours, *theirs) in zip(gold, rows, strict=True)])


def _aim(board: _Board, pairs: Sequence[_DomainPair]) -> Table:
    columns = (
        *("row", "measured", "above again", "above +Random", "mean gain", "p < .05"),
        *("over the first", "over both controls", "mean gain at home"),
    )
    complete = [pair for pair in pairs if all(board.away(pair, name) for name in TRANSFER_ROWS)]
    rows = tuple(_reached(board, complete, name, len(pairs)) for name in TRIED_ROWS)
    return Table("transfer-aim", "How far each row gets in the other domain", columns, rows, _AIM_NOTES, columns[2:3])


def _reached(board: _Board, pairs: Sequence[_DomainPair], name: str, n_pairs: int) -> TableRow:
    def gains(other: str, at_home: bool = False) -> list[Change]:
        return [gain.macro_f1 for pair in pairs if (gain := board.gain(pair, name, other, at_home))]

    over_again, over_random = gains(_CONTROL), gains(_RANDOM) if name != _RANDOM else []
    measured = format_count(len(over_again), n_pairs)
    if not over_again:
        return (name, measured, *[None] * 7)
    return (
        *(name, measured, sum(gain.points > 0 for gain in over_again)),
        sum(gain.points > 0 for gain in over_random) if over_random else None,
        _mean_points(over_again),
        sum(gain.points > 0 and gain.p_rise < SIGNIFICANT for gain in over_again),
        _mean_points(gains("")),
        format_gain_interval(board.gain_over_both(pairs, name)),
        _mean_points(gains(_CONTROL, at_home=True)),
    )


def _mean_points(gains: Sequence[Change]) -> FormattedValue | None:
    return format_number("points", statistics.mean(gain.points for gain in gains) if gains else None)


def _gains(board: _Board, pairs: Sequence[_DomainPair]) -> Table:
    columns = ("model", "trained on", "tested on", *TRIED_ROWS, _CONTROL)
    rows: tuple[TableRow, ...] = tuple(
        (
            *pair.head,
            *(_format(board.gain(pair, name, _CONTROL)) for name in TRIED_ROWS),
            _format(board.gain(pair, _CONTROL, "")),
        )
        for pair in pairs
    )
    return Table("transfer-gains", "Gains in the other domain", columns, rows, _GAIN_NOTES, columns[3:])


def _format(gain: Gain | None) -> FormattedValue | None:
    """Return a gain with its stars, which a single seed does not have."""
    shown = format_gain(gain)
    return replace(shown, text=shown.text.replace("*", "")) if shown and gain and gain.seeds == 1 else shown


def _scores(board: _Board, pairs: Sequence[_DomainPair]) -> Table:
    """Return all rows of one pair of data sets."""
    columns = ("model", "seeds", "at home", "accuracy", "macro-F1", "over again", "over +Random", "over again at home")
    rows: list[TableRow] = []
    for pair in pairs:
        for name in TRANSFER_ROWS:
            away, home = board.away(pair, name), board.home(pair, name)
            rows.append(
                (
                    row_name(pair.model, name),
                    len(away),
                    format_row(home, "macro_f1"),
                    *(format_row(away, metric) for metric in METRICS),
                    _format(board.gain(pair, name, _CONTROL) if name != _CONTROL else None),
                    _format(board.gain(pair, name, _RANDOM) if name != _RANDOM else None),
                    _format(board.gain(pair, name, _CONTROL, at_home=True) if name != _CONTROL else None),
                )
            )
    source, target = pairs[0].source, pairs[0].target
    title = f"Trained on {source.upper()}, tested on {target.upper()}"
    return Table(f"transfer-{source}-{target}", title, columns, tuple(rows), _PAIR_NOTES, ("seeds",))


def _attention(board: _Board, pairs: Sequence[_DomainPair]) -> Table:
    columns = (
        *("model", "trained on", "tested on", "row", "seeds", "unseen", "seen"),
        *(f"{measure}: {group}" for measure in ("accuracy", "attention", "even") for group in ("unseen", "seen")),
    )
    rows = tuple((*pair.head, name or "plain", *_attended(board, pair, name)) for pair in pairs for name in _ANALYSED)
    title = "Attention on opinion words of the other domain"
    return Table("transfer-attention", title, columns, rows, _ATTENTION_NOTES, ("seeds",))


def _attended(board: _Board, pair: _DomainPair, name: str) -> TableRow:
    found = gather_found(board.lookup, pair.analyses(board.scope, name, "rare_words"))
    groups = ([_UNSEEN], [bucket for bucket in next(iter(found.values()), {}) if bucket != _UNSEEN])
    counts = [sum(each[bucket]["instances"] for bucket in group) for group in groups for each in [*found.values()][:1]]
    values: list[Value] = [len(found) or None, *(counts or (None, None))]
    for measure in ("right", "mass", "even"):
        for group in groups:
            shares = [
                sum(each[bucket][measure] for bucket in group) / number
                for each in found.values()
                if (number := sum(each[bucket]["instances"] for bucket in group))
            ]
            values.append(format_mean(shares[:1] if measure == "even" else shares))
    return tuple(values)


def _faithfulness(board: _Board, pairs: Sequence[_DomainPair]) -> Table:
    measures = list(product(("comprehensiveness", "sufficiency"), {"value": "", "control": ", random"}.items()))
    names = (f"{measure}{ending}" for measure, (_, ending) in measures)
    columns = ("model", "trained on", "tested on", "row", "seeds", *names)
    rows: list[TableRow] = []
    for pair, name in product(pairs, _FAITHFUL):
        found = gather_found(board.lookup, pair.analyses(board.scope, name, "faithfulness")).values()
        judged = [[each["deletion"]["attention"][measure] for each in found] for measure, _ in measures]
        fields = (
            format_number(
                "mean", statistics.mean(each["aopc"][side]["mean"] for each in seeds) if seeds else None, ".3f"
            )
            for seeds, (_, (side, _)) in zip(judged, measures, strict=True)
        )
        rows.append((*pair.head, name or "plain", len(found) or None, *fields))
    title = "Do models rely on the words that they attend to, in the other domain?"
    return Table("transfer-faithfulness", title, columns, tuple(rows), _FAITHFULNESS_NOTES, ("seeds",))


EXHIBIT = Exhibit("transfer", "Evidence in another domain", show, needs=_SOURCES, encoders=HEADLINE)
