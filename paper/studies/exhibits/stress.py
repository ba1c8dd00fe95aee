"""Beyond the paper: do models look where they should? Variants of the test set that reverse opinions or distract.

The same trainings as in `transfer`, on variants of their own test set (`pssa.stress`). An instance is all right if the original
and every variant of it is. Opinion words are those that people marked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from paper.experiments.cells import Analysis, settings
from paper.experiments.comparison import Change, Row, average, gather_found, stars
from paper.experiments.ledger import RecordLookup
from paper.experiments.resources import Scope
from paper.studies.exhibit import (
    HEADLINE,
    Exhibit,
    FormattedValue,
    Part,
    Table,
    TableRow,
    format_count,
    format_interval,
    format_mean,
    format_row,
)
from paper.studies.exhibits._rows import METHODS, NAMES, TRANSFER_ROWS, TRIED_ROWS, marked_places, row_name
from pssa.evaluation.significance import SIGNIFICANT
from pssa.stress.variants import KINDS, VERSION

__all__ = ["EXHIBIT"]

_CONTROL = "again"
_NOTES = (
    "Accuracy on the originals and on each kind of variant, and the share of instances that are right in the original and in "
    "every variant (`all right`), in points, ± standard deviation over seeds. `over again`: difference in `all right` to a "
    "second training without evidence; `over both controls`: to the mean of that and the first training, with its 95 % interval. "
    "* p < .05, ** p < .01 of a gain, one-sided, by a bootstrap that resamples seeds together with instances.",
)
_RETRAINED = (
    "{} of {} measurements were made on models that were trained again for them; their accuracy on the originals differs from "
    "that on the other pages, by {:.2f} points at most."
)
_AIM_NOTES = (
    "A place is one model on one data set. `mean over again`: difference in `all right` to a second training without evidence "
    "(`again`), in points, mean over the places. `over both controls`: to the mean of `again` and the first training, with its "
    "95 % interval. `plain` is the first training: its differences are chance, also those with p < .05. Our aim for +Consensus: "
    "above `again` in 5 of 6 places, by 2 points on average.",
)

_JUDGED = Path(__file__).with_name("stress_judged.toml")
_JUDGED_NOTES = (
    "Drawn at random from the variants of both test sets, 50 each, with opinion words that people marked. Sound: a careful "
    "reader gives the aspect the label of the variant, nothing in the sentence contradicts it, and it reads no worse than the "
    "original. Two earlier draws (89 and 94 sound) led to corrections; after this one nothing was changed. "
    "`raw/stress-judged.jsonl` has every verdict, with the number of the instance in its test file and a digest of the variant.",
)
_LEXICON_NOTE = (
    "Without marked words the lexicon decides what is an opinion, and fewer variants are sound: {sound} of {judged} of MAMS val, "
    "a set that we did not use to write the rules; {reversed} of those with a reversed opinion, {other} of the others "
    "(`raw/stress-judged-lexicon.jsonl`, `raw/stress-judged-mams.jsonl`)."
)


def stress_analyses(scope: Scope, method: str, model: str, data: str) -> list[Analysis]:
    """Return the analyses of a row by seed."""
    trainings = METHODS[method].trainings(scope, model, data, METHODS[method].seeds)
    return [Analysis(training, "stress", settings(version=VERSION)) for training in trainings]


_Found = Mapping[str, Row]  # what was found, by row and seed


def show(scope: Scope, lookup: RecordLookup) -> Sequence[Part]:
    """Return gains over all places, then a table for each place."""
    places = {
        (data, model): {
            method: gather_found(lookup, stress_analyses(scope, method, model, data)) for method in TRANSFER_ROWS
        }
        for data, model in marked_places(scope)
    }
    tables = [_place_table(data, model, rows) for (data, model), rows in places.items()]
    return [_aim_table(places, _retrained(scope, lookup)), *tables, _judged_table()]


def _retrained(scope: Scope, lookup: RecordLookup) -> tuple[str, ...]:
    """Return a note on models that were trained again for an analysis, which gives other labels on a GPU; empty without any."""
    apart: list[float] = []
    for data, model in marked_places(scope):
        for method in TRANSFER_ROWS:
            for analysis in stress_analyses(scope, method, model, data):
                found, trained = lookup(analysis), lookup(analysis.training)
                if found is not None and trained is not None:
                    apart.append(100 * abs(found["found"]["accuracy"] - trained["accuracy"]))
    count = sum(points > 1e-6 for points in apart)
    return (_RETRAINED.format(count, len(apart), max(apart)),) if count else ()


def _judged_table() -> Table:
    """Return how many variants were sound when a person judged them."""
    judged = tomllib.loads(_JUDGED.read_text("utf-8"))
    counts = {kind: tuple(judged["kinds"][kind]) for kind in KINDS}
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = tuple((kind, format_count(*pair)) for kind, pair in (*counts.items(), ("in all", total)))
    sound, of_all = (sum(column) for column in zip(*judged["lexicon"].values(), strict=True))
    shares = {name: f"{count} of {of}" for name, (count, of) in judged["lexicon"].items()}
    lexicon = _LEXICON_NOTE.format(sound=sound, judged=of_all, **shares)
    title = f"Sound variants, judged by hand (version {judged['version']} of the variants)"
    return Table("stress-judged", title, ("kind", "sound"), rows, (*_JUDGED_NOTES, lexicon))


def _aim_table(places: Mapping[tuple[str, str], _Found], notes: tuple[str, ...]) -> Table:
    rows: list[TableRow] = []
    for method in ("", *TRIED_ROWS):
        gains = [gain for found in places.values() if (gain := _gain([found], method, _CONTROL))]
        pooled = _gain(places.values(), method, "", _CONTROL) if method else None
        mean = _gain(places.values(), method, _CONTROL)
        if mean is None:
            rows.append((method or "plain", None, None, None, None, _with_interval(pooled)))
            continue
        rows.append(
            (
                method or "plain",
                format_count(sum(gain.points > 0 for gain in gains), len(gains)),
                FormattedValue(f"{mean.points:+.2f}", {"mean": mean.points, "spread": None}),
                sum(gain.p_rise < SIGNIFICANT for gain in gains),
                # Resamples cannot show that a p is zero.
                FormattedValue("< 0.001" if mean.p_rise < 0.001 else f"{mean.p_rise:.3f}", {"p": mean.p_rise}),
                _with_interval(pooled),
            )
        )
    columns = (
        *("row", "places above again", "mean over again", "places with p < .05", "p of the mean"),
        "over both controls",
    )
    title = "Share of instances right in every variant: gains over a second training"
    return Table("stress-gains", title, columns, tuple(rows), (*_AIM_NOTES, *notes), columns[1:3])


def _place_table(data: str, model: str, found: _Found) -> Table:
    rows: list[TableRow] = [
        (
            row_name(model, method),
            len(records),
            format_row(records, "accuracy"),
            *(format_mean([each["kinds"][kind]["accuracy"] for each in records.values()]) for kind in KINDS),
            format_row(records, "all_right"),
            _with_stars(_gain([found], method, _CONTROL) if method != _CONTROL else None),
            _with_interval(_gain([found], method, "", _CONTROL) if method in TRIED_ROWS else None),
        )
        for method, records in found.items()
    ]
    columns = ("model", "seeds", "originals", *KINDS, "all right", "over again", "over both controls")
    some = next((record for each in found.values() for record in each.values()), None)
    counts = ", ".join(f"{kind} {some['kinds'][kind]['variants']}" for kind in KINDS) if some else ""
    notes = (*_NOTES, f"Instances: {some['instances']}. Variants: {counts}.") if some else _NOTES
    return Table(f"stress-{data}-{model}", f"{NAMES[model]} on {data.upper()}", columns, tuple(rows), notes, ("seeds",))


def _gain(places: Iterable[_Found], method: str, *controls: str) -> Change | None:
    """Return what a row gains over others, pooled, in the share of instances that are all right, mean over places."""
    pairs = []
    for found in places:
        ours, *theirs = (
            {seed: {"predicted": record["right"], "labels": "01"} for seed, record in found[each].items()}
            for each in (method, *controls)
        )
        n_instances = max((len(record["predicted"]) for record in ours.values()), default=0)
        pairs.append((["1"] * n_instances, ours, tuple(theirs)))
    gain = average(pairs)
    return None if gain is None else gain.accuracy


def _with_interval(gain: Change | None) -> FormattedValue | None:
    return None if gain is None else format_interval("all right", gain.points, gain.low, gain.high)


def _with_stars(gain: Change | None) -> FormattedValue | None:
    if gain is None:
        return None
    return FormattedValue(f"{gain.points:+.2f}{stars(gain.p_rise)}", {"all right": gain.points, "p": gain.p_rise})


_TITLE = "Variants that reverse or distract"
EXHIBIT = Exhibit("stress", _TITLE, show, needs=("opinion_words",), encoders=HEADLINE)
