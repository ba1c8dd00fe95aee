"""What the exhibits say, each in one sentence and one small picture made from its tables, for the first page of results.

A sentence must stay true whatever the numbers are: it gives differences with their sign and counts, and praises nothing.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from pssa.evaluation.significance import SIGNIFICANT
from pssa.studies.exhibit import KeyFinding, StripPlot, StripRow, TableLookup, Value, number_in, numbers_in
from pssa.studies.paper import OVERALL, RANDOM_MASKING, SPEED, PaperRow, Scores

_F1 = "macro-F1"
_CONTROLS = ("+Random", "again", "nearest word")
_PAPER = "paper"
_Row = Mapping[str, Value]


def transfer(tables: TableLookup) -> KeyFinding:
    """Return what evidence gains in another domain."""
    shown = {
        "+Random": "random words",
        "+PG-AS": "the paper's method",
        "+Consensus": "consensus",
        "+Human": "words people marked",
    }
    rows = {name: tables.rows("transfer-aim", name)[0] for name in shown}
    means = {name: number_in(row["mean gain"], "points") for name, row in rows.items()}
    ours = rows["+Consensus"]
    measured, of = (number_in(ours["measured"], part) for part in ("count", "of"))
    answer = (
        "We train on laptops and test on restaurants, and the other way round. Consensus evidence changes macro-F1 by "
        f"{means['+Consensus']:+.1f} points, compared with the same model trained again without evidence; random words change it "
        f"by {means['+Random']:+.1f}."
    )
    more = (
        f"Consensus scores higher than the model trained again in {ours['above again']} of {measured:.0f} pairs of model and "
        f"direction, with p < .05 in {ours['p < .05']}. Compared with the first training it changes macro-F1 by "
        f"{number_in(ours['over the first'], 'points'):+.1f}."
        f"{_unmeasured(measured, of, 'pairs')}"
    )
    # The mean is over pairs of these two domains in which every row is measured.
    pairs = [row for row in tables.rows("transfer-gains") if row["tested on"] != "TWITTER" and _is_complete(row)]
    strips = _strips(shown, {name: numbers_in(pairs, name, _F1) for name in shown}, means)
    plot = StripPlot("macro-F1 in another domain, points over training again", strips)
    return KeyFinding("Does mined evidence help in another domain?", answer, plot, more=more)


def stress(tables: TableLookup) -> KeyFinding:
    """Return how many more instances are right in every variant, with word vectors and with an encoder."""
    gains = _stress_gains(tables)
    contrast = [f"{_mean(values):+.1f} with {family}" for family, values in gains["+Contrast"].items()]
    human, consensus, random = (
        " and ".join(f"{_mean(values):+.1f}" for values in gains[method].values())
        for method in ("+Human", "+Consensus", "+Random")
    )
    answer = (
        "We count the test instances that a model gets right in every variant of their sentence. Compared with the same model "
        f"trained again, contrast (`--augment contrast`) changes this share by {' and '.join(contrast)}, in points. Words that "
        f"people marked change it by {human}, consensus evidence by {consensus}, random words by {random}."
    )
    above = [tables.rows("stress-gains", method)[0]["places above again"] for method in ("+Contrast", "+Consensus")]
    more = f"Contrast scores higher in {above[0]} pairs of model and data set, consensus in {above[1]}."
    rows = [
        StripRow(f"{name}, {family.removeprefix('an ')}", _mean(values), values)
        for name, method in (("contrast", "+Contrast"), ("consensus", "+Consensus"))
        for family, values in gains[method].items()
    ]
    at_random = tuple(value for values in gains["+Random"].values() for value in values)
    rows.append(StripRow("random words", _mean(at_random), at_random, kind="control"))
    plot = StripPlot("right in every variant, points over training again", tuple(rows))
    return KeyFinding("Does it help if opinions are reversed, or other opinions distract?", answer, plot, more=more)


def _stress_gains(tables: TableLookup) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return gains over the model trained again by method and family of models, for families with all methods measured."""
    every = [row for name in tables.names("stress-") for row in tables.rows(name) if "over again" in row]
    families = {
        "word vectors": [row for row in every if not _has_encoder(row)],
        "an encoder": [row for row in every if _has_encoder(row)],
    }
    methods = ("+Contrast", "+Human", "+Consensus", "+Random")
    measured = [rows for rows in families.values() if all(_all_right(rows, method) for method in methods)]
    return {
        method: {family: _all_right(rows, method) for family, rows in families.items() if rows in measured}
        for method in methods
    }


def _all_right(rows: Sequence[_Row], method: str) -> tuple[float, ...]:
    return numbers_in(_of(rows, method), "over again", "all right")


def _has_encoder(row: _Row) -> bool:
    return str(row["model"]).startswith("BERTABSA")


def correction(tables: TableLookup) -> KeyFinding:
    """Return how much correcting evidence by hand gains."""
    shown = {
        "random over none": "25 to 400, at random",
        "useful over none": "25 to 400, useful first",
        "all over none": "all that people marked",
    }
    home, variants = (tables.rows("correction-orders", score)[0] for score in ("in domain", "all right"))
    answer = (
        f"Correcting the evidence of 25 to 400 instances changes macro-F1 by {_pair(home['random over none'])} points (± "
        "standard error). Correcting it for all instances with words that people marked changes it by "
        f"{_pair(home['all over none'])}."
    )
    more = (
        f"If the most useful instances come first, 25 to 400 change it by {_pair(home['useful over none'])}. Correcting all of "
        f"them changes the share that is right in every variant by {_pair(variants['all over none'])}."
    )
    rows = [
        StripRow(name, number_in(variants[column], "mean"), error=number_in(variants[column], "error"))
        for column, name in shown.items()
    ]
    plot = StripPlot("right in every variant, points over no correction", tuple(rows))
    return KeyFinding("Is it worth correcting evidence by hand?", answer, plot, more=more)


def few_labels(tables: TableLookup) -> KeyFinding:
    """Return how our models compare with SetFit, by number of labelled instances."""
    best, same_encoder = "it over SetFit", "BERTABSA-ATT over SetFit"
    every = tables.rows("few-labels-aim")
    measured = [row for row in every if numbers_in([row], best, _F1)]
    gaps, on_encoder = (numbers_in(measured, column, _F1) for column in (best, same_encoder))
    sizes = list(dict.fromkeys(str(row["instances"]) for row in measured))
    ahead = sum(gap >= 0 for gap in gaps)
    answer = (
        f"With {sizes[0]} to {sizes[-1]} labelled instances, our best model on held-out data differs from SetFit by "
        f"{_mean(gaps):+.1f} points of macro-F1, and is at or above it in {ahead} of {len(gaps)} pairs of data set and size. "
        f"BERTABSA-ATT on the same encoder as SetFit differs by {_mean(on_encoder):+.1f}."
    )
    rows = []
    for size in sizes:
        values = numbers_in([row for row in measured if str(row["instances"]) == size], best, _F1)
        rows.append(StripRow(f"{size} labels", _mean(values), values))
    plot = StripPlot("macro-F1, points over SetFit", tuple(rows))
    more = _unmeasured(len(measured), len(every), "pairs of data set and size").strip()
    return KeyFinding("How far do a few labels get you?", answer, plot, more=more)


def _pair(field: Value) -> str:
    return f"{number_in(field, 'mean'):+.1f} ± {number_in(field, 'error'):.1f}"


def overall(tables: TableLookup) -> KeyFinding:
    """Return what supervision gains in domain, beside the paper's gains."""
    shown = {
        _PAPER: "the paper, +PG-AS",
        "+PG-AS": "ours, +PG-AS",
        "+Consensus": "ours, consensus",
        "again": "ours, trained again",
    }
    gains, control = tables.rows("overall-gains"), tables.rows("overall-control")
    models = ("memnet", "tnet_att", "bertabsa_att")
    single = {name: numbers_in(gains, name, _F1) for name in shown if name != _PAPER}
    single[_PAPER] = tuple(_paper_gains(OVERALL, models, "+PG-AS", ""))
    means = {name: _mean(values) for name, values in single.items()}
    over_again = _mean(numbers_in(control, "+PG-AS", _F1))
    significant = sum(p < SIGNIFICANT for p in numbers_in(control, "+PG-AS", f"p {_F1}"))
    answer = (
        f"We measure {means['+PG-AS']:+.1f}, and {over_again:+.1f} compared with the same model trained again, with p < .05 in "
        f"{significant} of {len(single['+PG-AS'])} pairs of model and data set."
    )
    more = (
        f"Consensus evidence changes macro-F1 by {means['+Consensus']:+.1f}, training again by {means['again']:+.1f}."
    )
    claim = f"The paper reports {means[_PAPER]:+.1f} points of macro-F1 for its method (+PG-AS), on average."
    plot = StripPlot("macro-F1 in domain, points over the same model", _strips(shown, single, means))
    return KeyFinding("Does mined evidence help in the same domain?", answer, plot, claim, more)


def selection(tables: TableLookup) -> KeyFinding:
    """Return what choosing on the test set is worth without any evidence, beside the paper's gain."""
    shown = {
        _PAPER: "the paper, +PG-AS",
        "best of 6": "best of six, best epochs",
        "best of 5": "best of five",
        "epoch": "best epoch",
    }
    columns = {name: "paper, +PG-AS" if name == _PAPER else name for name in shown}
    places = [row for row in tables.rows("selection-choices") if row["model"] != "mean"]
    single = {name: numbers_in(places, column, _F1) for name, column in columns.items()}
    means = {
        name: tables.number("selection-choices", "mean", column=column, part=_F1) for name, column in columns.items()
    }
    answer = (
        f"Without any evidence, the best of six trainings on the test set has {means['best of 6']:+.1f} points over a single "
        "training. Choosing 0 to 5 rounds on the test set gains that much even if no round does anything."
    )
    more = f"Choosing the epoch on the test set adds {means['epoch']:+.1f} to every row of a table."
    claim = (
        f"The paper reports {means[_PAPER]:+.1f} points of macro-F1 for +PG-AS, on average over {len(places)} pairs of model and "
        "data set."
    )
    plot = StripPlot("macro-F1 gained by choosing on the test set, points", _strips(shown, single, means))
    return KeyFinding("How much does choosing on the test set gain?", answer, plot, claim, more)


def random_masking(tables: TableLookup) -> KeyFinding:
    """Return whether mined words are better evidence than random ones."""
    shown = {_PAPER: "the paper, gradients", "+PG-AS": "ours, gradients", "+AW-AS": "ours, attention"}
    every = [row for name in tables.names("random-masking-") for row in tables.rows(name)]
    single = {name: numbers_in(_of(every, name), "over +RM-AS", _F1) for name in shown if name != _PAPER}
    single[_PAPER] = tuple(_paper_gains(RANDOM_MASKING, ("bertabsa_att",), "+PG-AS", "+RM-AS"))
    means = {name: _mean(values) for name, values in single.items()}
    above = [f"{sum(gain > 0 for gain in single[name])} of {len(single[name])}" for name in ("+PG-AS", "+AW-AS")]
    answer = (
        f"We measure {means['+PG-AS']:+.1f} for gradients, which score higher in {above[0]} pairs of model and data set, and "
        f"{means['+AW-AS']:+.1f} for attention, which scores higher in {above[1]}."
    )
    claim = (
        f"The paper reports {means[_PAPER]:+.1f} points of macro-F1 for words found by gradients over random words, with "
        "BERTABSA-ATT."
    )
    plot = StripPlot("macro-F1, points over random words", _strips(shown, single, means))
    return KeyFinding("Are mined words better than random ones?", answer, plot, claim)


def human_agreement(tables: TableLookup) -> KeyFinding:
    """Return how many of the mined words people mark, early and late."""
    every = [row for name in tables.names("mined-") for row in tables.rows(name) if "coverage" in row]
    chosen = {
        "first round": ("PG", "1"),
        "fifth round": ("PG", "5"),
        "consensus": ("consensus, as it supervises", "None"),
        "nearest word": ("nearest word", "None"),
    }
    found = {
        name: [row for row in every if (str(row["mined by"]), str(row["round"])) == key] for name, key in chosen.items()
    }
    single = {name: tuple(100 * share for share in numbers_in(rows, "precision")) for name, rows in found.items()}
    means = {name: _mean(values) for name, values in single.items()}
    answer = (
        f"People marked {means['first round']:.0f} % of the words that gradients find in the first round, "
        f"{means['fifth round']:.0f} % of those in the fifth round, and {means['consensus']:.0f} % of the consensus words. Of "
        f"the words next to the aspect, they marked {means['nearest word']:.0f} %."
    )
    names = {name: name for name in chosen}
    plot = StripPlot("mined words that people marked, in %", _strips(names, single, means), "{:.0f} %")
    return KeyFinding("Do people mark the words that mining finds?", answer, plot)


def claims(tables: TableLookup) -> KeyFinding:
    """Return how many of the paper's sentences hold."""
    counts = Counter(str(row["verdict"]) for row in tables.rows("claims"))
    total = sum(counts.values())
    said = {"holds": "hold", "undecided": "are undecided", "does not hold": "do not hold"}
    answer = (
        f"We tested {total} claims, each about one model: {counts['holds']} hold, {counts['does not hold']} do not, and "
        f"{counts['undecided']} are undecided, because chance could explain the numbers or the seeds disagree."
    )
    plot = StripPlot("claims, each for one model", tuple(StripRow(said[name], counts[name]) for name in said), "{:.0f}")
    return KeyFinding("Which claims of the paper hold here?", answer, plot)


def speed(tables: TableLookup) -> KeyFinding:
    """Return what supervision costs, in plain trainings."""
    shown = {
        "+PG-AS": "ours, +PG-AS",
        "+Consensus": "ours, consensus",
        _PAPER: "the paper, +PG-AS",
    }
    every = [row for name in tables.names("speed-") for row in tables.rows(name) if "training, x" in row]
    renamed = [{**row, "model": row["method"]} for row in every]
    single = {name: numbers_in(_of(renamed, name), "training, x") for name in shown if name != _PAPER}
    data = [key[2] for key in SPEED if key[:2] == ("bertabsa_att", "+PG-AS")]
    single[_PAPER] = tuple(
        SPEED["bertabsa_att", "+PG-AS", each][0] / SPEED["bertabsa_att", "", each][0] for each in data
    )
    means = {name: _mean(values) for name, values in single.items()}
    answer = (
        f"Ours takes {_interval(single['+PG-AS'])} times as long, because each round of mining takes one epoch. Consensus takes "
        f"{_interval(single['+Consensus'])} times as long."
    )
    claim = f"The paper's +PG-AS takes {_interval(single[_PAPER])} times as long as a plain training."
    plot = StripPlot("training time, in plain trainings", _strips(shown, single, means), "{:.1f}", origin=1.0)
    return KeyFinding("What does it cost?", answer, plot, claim)


def _of(rows: Sequence[_Row], method: str) -> list[_Row]:
    """Return the rows of models with a method."""
    return [row for row in rows if str(row["model"]).endswith(f"({method})")]


def _is_complete(row: _Row) -> bool:
    return all(str(field or "") for field in row.values())


def _paper_gains(printed: Mapping[PaperRow, Scores], models: Sequence[str], ours: str, theirs: str) -> list[float]:
    """Return differences in macro-F1 that the paper prints."""
    rows = [key for key in printed if key[0] in models and key[1] == ours]
    return [printed[key][1] - printed[key[0], theirs, key[2]][1] for key in rows]


def _strips(
    names: Mapping[str, str], single: Mapping[str, tuple[float, ...]], means: Mapping[str, float]
) -> tuple[StripRow, ...]:
    def kind(row: str) -> str:
        return "paper" if row == _PAPER else "control" if row in _CONTROLS else "tried"

    return tuple(StripRow(name, means[row], single[row], kind=kind(row)) for row, name in names.items())


def _mean(values: Sequence[float]) -> float:
    if not values:
        raise LookupError("nothing is measured")
    return statistics.mean(values)


def _interval(values: Sequence[float]) -> str:
    """Return `1.4 to 1.7`, or one number where both are shown alike."""
    _mean(values)
    return " to ".join(dict.fromkeys(f"{end:.1f}" for end in (min(values), max(values))))


def _unmeasured(count: float, of: float, what: str) -> str:
    return f" {of - count:.0f} of {of:.0f} {what} are not measured yet." if count < of else ""


# By name of the exhibit, in the order of the page: where evidence pays, or does not; then what the paper says. A function raises
# LookupError where its numbers are not measured.
FINDINGS: dict[str, Callable[[TableLookup], KeyFinding]] = {
    "transfer": transfer,
    "stress": stress,
    "correction": correction,
    "few-labels": few_labels,
    "overall": overall,
    "selection": selection,
    "random-masking": random_masking,
    "claims": claims,
    "human-agreement": human_agreement,
    "speed": speed,
}
