"""What the exhibits say, each in one sentence and one small picture made from its tables, for the first page of results.

A sentence must stay true whatever the numbers are: it gives differences with their sign and counts, and praises nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import product

from paper.studies.exhibit import (
    FormattedValue,
    KeyFinding,
    StripPlot,
    StripRow,
    TableLookup,
    Value,
    number_in,
    numbers_in,
)
from paper.studies.exhibits._course import COURSE, FALL, MEAN, RISE
from paper.studies.exhibits.readings import MINED_BY, PRESET_MEANS, PRESET_ROWS, PRESETS
from paper.studies.paper import OVERALL, RANDOM_MASKING, PaperRow, Scores
from pssa.evaluation.significance import SIGNIFICANT

_F1 = "macro-F1"
_CONTROLS = ("+Random", "again", "nearest word")
_PAPER = "paper"
_MODELS = ("memnet", "tnet_att", "bertabsa_att")
_ATTENDING = ("MN", "TNet-ATT", "BERTABSA-ATT")
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
    means = {name: number_in(row["over both controls"], _F1) for name, row in rows.items()}
    ours = rows["+Consensus"]
    measured, of = (number_in(ours["measured"], part) for part in ("count", "of"))
    answer = (
        "Trained on laptops and tested on restaurants, or the other way round, consensus evidence changes macro-F1 by "
        f"{_with_interval(ours['over both controls'])} points, the paper's method by "
        f"{_with_interval(rows['+PG-AS']['over both controls'])}, random words by {means['+Random']:+.1f}."
    )
    more = (
        f"The first training alone gives consensus {number_in(ours['over the first'], 'points'):+.1f}, the second "
        f"{number_in(ours['mean gain'], 'points'):+.1f}; it scores higher than the second in {ours['above again']} of "
        f"{measured:.0f} pairs of model and direction, with p < .05 in {ours['p < .05']}."
        f"{_unmeasured(measured, of, 'pairs')}"
    )
    # The mean is over pairs of these two domains in which every row is measured.
    gains = (row for row in tables.rows("transfer-gains") if row["tested on"] != "TWITTER")
    pairs = [row for row in gains if all(str(field or "") for field in row.values())]
    strips = _strips(shown, {name: _over_both(pairs, name, 0.5) for name in shown}, means)
    plot = StripPlot("macro-F1 in another domain, points over training without evidence", strips)
    return KeyFinding("Does mined evidence help in another domain?", answer, plot, more=more)


def stress(tables: TableLookup) -> KeyFinding:
    """Return how many more instances are right in every variant, with the paper's method and with others."""
    shown = {
        "+AW-AS": "the paper's, by attention",
        "+PG-AS": "the paper's, by gradients",
        "+Consensus": "consensus",
        "+Human": "words people marked",
        "+Contrast": "contrast",
        "+Random": "random words",
    }
    rows = {name: tables.rows("stress-gains", name)[0]["over both controls"] for name in shown}
    means = {name: number_in(field, "all right") for name, field in rows.items()}
    every = [row for name in tables.names("stress-") for row in tables.rows(name) if "over again" in row]
    single = {name: numbers_in(_of(every, name), "over both controls", "all right") for name in shown}
    pays = all(number_in(rows[name], "low") > 0 for name in ("+AW-AS", "+PG-AS"))
    answer = (
        f"{'Here the method pays. ' if pays else ''}The paper's method changes the share of test instances that are right in "
        f"every variant of their sentence by {_with_interval(rows['+AW-AS'])} points with words mined by attention and by "
        f"{_with_interval(rows['+PG-AS'])} with words mined by gradients; consensus evidence by "
        f"{_with_interval(rows['+Consensus'])}, random words by {_with_interval(rows['+Random'])}. Contrast (`--augment "
        f"contrast`), which needs no evidence, changes it by {means['+Contrast']:+.1f}."
    )
    by_family = {
        family: [row for row in _of(every, "+Contrast") if str(row["model"]).startswith("BERTABSA") == on_encoder]
        for family, on_encoder in (("word vectors", False), ("an encoder", True))
    }
    contrast = [
        f"{_mean(numbers_in(found, 'over both controls', 'all right')):+.1f} with {family}"
        for family, found in by_family.items()
        if found
    ]
    more = f"Contrast changes it by {' and '.join(contrast)}; words that people marked by {_with_interval(rows['+Human'])}."
    plot = StripPlot("right in every variant, points over training without evidence", _strips(shown, single, means))
    return KeyFinding("Does it help if opinions are reversed, or other opinions distract?", answer, plot, more=more)


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
    ahead = [f"{sum(gap >= 0 for gap in each)} of {len(each)}" for each in (on_encoder, gaps)]
    answer = (
        f"With {sizes[0]} to {sizes[-1]} labelled instances, BERTABSA-ATT on the same encoder as SetFit differs from it by "
        f"{_mean(on_encoder):+.1f} points of macro-F1, and is at or above it in {ahead[0]} pairs of data set and size."
    )
    from_starter = sum("starter" in str(row["best of ours"]) for row in measured)
    more = (
        f"Our best model on held-out data differs by {_mean(gaps):+.1f} (at or above SetFit in {ahead[1]} pairs). In "
        f"{from_starter} of them it is the starter gone on, which has learnt from many other reviews."
        f"{_unmeasured(len(measured), len(every), 'pairs of data set and size')}"
    )
    rows = []
    for size in sizes:
        values = numbers_in([row for row in measured if str(row["instances"]) == size], same_encoder, _F1)
        rows.append(StripRow(f"{size} labels", _mean(values), values))
    plot = StripPlot("macro-F1, points over SetFit on the same encoder", tuple(rows))
    return KeyFinding("How far do a few labels get you?", answer, plot, more=more)


def _with_interval(field: Value, decimals: int = 1) -> str:
    """Return a difference with its 95 % interval: `+0.2 [-0.4, +0.9]`."""
    name = next(iter(field.parts)) if isinstance(field, FormattedValue) else ""
    number, low, high = (f"{number_in(field, part):+z.{decimals}f}" for part in (name, "low", "high"))
    return f"{number} [{low}, {high}]"


def _over_both(rows: Sequence[_Row], name: str, weight: float) -> tuple[float, ...]:
    """Return gains over one control as gains over both, given the gain of the second control over the first.

    :param weight: 0.5 for gains over the second control, -0.5 for gains over the first.
    """
    found = ((numbers_in([row], name, _F1), numbers_in([row], "again", _F1)) for row in rows)
    return tuple(gain[0] + weight * apart[0] for gain, apart in found if gain and apart)


def _pair(field: Value) -> str:
    return f"{number_in(field, 'mean'):+.1f} ± {number_in(field, 'error'):.1f}"


def overall(tables: TableLookup) -> KeyFinding:
    """Return what supervision gains in domain, beside the paper's gains."""
    shown = {
        _PAPER: "the paper, +PG-AS",
        "+PG-AS": "ours, +PG-AS",
        "+AW-AS": "ours, +AW-AS",
        "+Consensus": "ours, consensus",
    }
    gains = tables.rows("overall-gains")
    pooled = {name: tables.rows("overall-aim", name)[0]["over both controls"] for name in shown if name != _PAPER}
    single = {name: _over_both(gains, name, -0.5) for name in pooled}
    single[_PAPER] = tuple(_paper_gains(OVERALL, _MODELS, "+PG-AS", ""))
    papers = _mean(single[_PAPER])
    means = {name: number_in(field, _F1) for name, field in pooled.items()} | {_PAPER: papers}
    over_again = numbers_in(tables.rows("overall-control"), "+PG-AS", f"p {_F1}")
    significant = sum(p < SIGNIFICANT for p in over_again)
    is_excluded = number_in(pooled["+PG-AS"], "high") < papers
    answer = (
        f"We measure {_with_interval(pooled['+PG-AS'], 2)}. This "
        f"{'excludes' if is_excluded else 'does not exclude'} a mean gain of {papers:.1f} for our setup: our defaults for MN and "
        "TNet-ATT, MPNet in place of BERT-large, and every choice made on held-out data."
    )
    more = (
        f"Over the second training alone p < .05 in {significant} of {len(over_again)} pairs of model and data set. Words mined "
        f"by attention (+AW-AS) give {_with_interval(pooled['+AW-AS'], 2)}, consensus {_with_interval(pooled['+Consensus'], 2)}."
    )
    claim = f"The paper reports {papers:+.1f} points of macro-F1 for its method (+PG-AS), on average."
    plot = StripPlot("macro-F1 in domain, points over training without evidence", _strips(shown, single, means))
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
        "training. Choosing among 0 to 5 rounds on the test set gains as much if no round does anything and the six trainings "
        "are independent; the more alike they are, the less it gains."
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
    """Return whether supervised models attend more to the words that people mark, and how many mined words these are."""
    shown = {"+PG-AS": "the paper's method", "+Consensus": "consensus", "+Human": "words people marked"}
    attended = [
        row for name in tables.names("attended-") for row in tables.rows(name) if row["words by"] == "attention"
    ]
    changes = {
        name: {model: values for model in _ATTENDING if (values := _attention_changes(attended, model, name))}
        for name in shown
    }
    single = {name: tuple(value for values in each.values() for value in values) for name, each in changes.items()}
    every = [row for name in tables.names("mined-") for row in tables.rows(name) if "coverage" in row]
    shares = {
        (way, number): _mean(
            _shares([row for row in every if (row["mined by"], row["round"]) == (way, number)], "precision")
        )
        for way, number in (("PG", 1), ("PG", 5), ("consensus, as it supervises", None), ("nearest word", None))
    }
    by_model = [f"{min(each):+.0f} to {max(each):+.0f} points in {model}" for model, each in changes["+PG-AS"].items()]
    answer = f"On test sentences it changes the share of attention on words that people marked by {_listed(by_model)}."
    more = (
        f"People marked {shares['PG', 1]:.0f} % of the words that gradients find in the first round, {shares['PG', 5]:.0f} % of "
        f"those in the fifth, and {shares['consensus, as it supervises', None]:.0f} % of the consensus words. Of the words next "
        f"to the aspect, they marked {shares['nearest word', None]:.0f} %."
    )
    claim = "The paper's abstract says that its method “yields better attention results”."
    plot = StripPlot(
        "attention on words that people marked, change in points",
        _strips(shown, single, {name: _mean(values) for name, values in single.items()}),
    )
    return KeyFinding("Does attention move to the words that people mark?", answer, plot, claim, more)


def _attention_changes(rows: Sequence[_Row], model: str, name: str) -> tuple[float, ...]:
    """Return by how much supervision changes the attention on marked words, by data set; empty if nothing is measured."""
    plain, supervised = (
        _shares([row for row in rows if row["model"] == each], "mass") for each in (model, f"{model} ({name})")
    )
    if len(plain) != len(supervised):
        raise LookupError(f"{model} ({name}) is not measured on every data set")
    return tuple(ours - theirs for ours, theirs in zip(supervised, plain, strict=True))


def _shares(rows: Sequence[_Row], column: str) -> tuple[float, ...]:
    """Return the measured shares of a column in %."""
    return tuple(100 * share for share in numbers_in(rows, column))


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def claims(tables: TableLookup) -> KeyFinding:
    """Return how many of the paper's sentences hold, by what they are about."""
    rows = {(str(row["about"]), str(row["tested"])): row for row in tables.rows("claims-counts")}
    scores = rows["scores", "yes"]
    said = {"holds": "hold", "undecided": "are undecided", "does not hold": "do not hold"}
    counts = {verdict: number_in(scores[verdict]) for verdict in said}
    answer = (
        f"We tested {number_in(scores['claims']):.0f} claims about scores, each for one model: {counts['holds']:.0f} "
        f"{'holds' if counts['holds'] == 1 else 'hold'}, {counts['does not hold']:.0f} do not, and {counts['undecided']:.0f} are "
        "undecided, because chance could explain the numbers."
    )
    others = [
        f"of {number_in(row['claims']):.0f} {name} {number_in(row['holds']):.0f} hold"
        for key, name in (
            (("attention", "no"), "about attention"),
            (("mechanical", "no"), "about mined words and the data"),
        )
        if (row := rows.get(key))
    ]
    more = f"Not tested against chance: {_listed(others)}; the last are nearly a matter of course." if others else ""
    plot = StripPlot(
        "tested claims about scores, each for one model",
        tuple(StripRow(said[name], counts[name]) for name in said),
        "{:.0f}",
    )
    return KeyFinding("Which claims of the paper hold here?", answer, plot, more=more)


def speed(tables: TableLookup) -> KeyFinding:
    """Return what supervision costs, in plain trainings."""
    shown = {"+PG-AS": "ours, +PG-AS", "+Consensus": "ours, consensus", _PAPER: "the paper, +PG-AS"}
    every = tables.rows("speed-training")
    ours = [row for row in every if row["plain, s"] is not None and row["seeds"] is not None]
    single = {name: numbers_in(ours, name, "x") for name in shown if name != _PAPER}
    single[_PAPER] = numbers_in([row for row in every if row not in ours], "+PG-AS", "x")
    means = {name: _mean(values) for name, values in single.items()}
    answer = (
        f"Ours takes {_interval(single['+PG-AS'])} times as long, because each round of mining takes one epoch. Consensus takes "
        f"{_interval(single['+Consensus'])} times as long."
    )
    claim = f"The paper's +PG-AS takes {_interval(single[_PAPER])} times as long as a plain training."
    plot = StripPlot("training time, in plain trainings", _strips(shown, single, means), "{:.1f}", origin=1.0)
    return KeyFinding("What does it cost?", answer, plot, claim)


def readings(tables: TableLookup) -> KeyFinding:
    """Return what the presets gain over their own controls, and whether evidence gains more as a training gets longer."""
    every, column = tables.rows(PRESET_ROWS), "over both controls"
    rows, means = [], {}
    for preset, name in product(PRESETS, MINED_BY):
        means[preset, name] = tables.rows(PRESET_MEANS, preset, name)[0]
        single = numbers_in([row for row in every if (row["preset"], row["row"]) == (preset, name)], column, _F1)
        rows.append(StripRow(f"{preset}, {name}", number_in(means[preset, name][column], _F1), single))
    said = {key: _with_interval(row[column]) for key, row in means.items()}
    pairs = [f"{number_in(means[preset, '+PG-AS']['pairs']):.0f}" for preset in PRESETS]
    papers = _mean(_paper_gains(OVERALL, _MODELS, "+PG-AS", ""))
    excluded = sum(number_in(means[preset, "+PG-AS"][column], "high") < papers for preset in PRESETS)
    answer = (
        f"With the settings that the paper gives (preset `paper`, {pairs[0]} pairs of model and data set), its method changes "
        f"macro-F1 by {said['paper', '+PG-AS']} points (+PG-AS) and {said['paper', '+AW-AS']} (+AW-AS) over the same settings "
        f"without evidence; with those of its released code (`release`, {pairs[1]} pairs) by {said['release', '+PG-AS']} and "
        f"{said['release', '+AW-AS']}. {('Neither excludes', 'One of both excludes', 'Both exclude')[excluded]} the paper's mean "
        f"gain of {papers:.1f}."
    )
    plain = [row for row in every if row["preset"] == "paper" and row["row"] == "plain"]
    levels = [
        f"{number_in(row['LAPTOP'], _F1):.1f} for {row['model']} (the paper: {OVERALL[model, '', 'laptop'][1]:.1f})"
        for model, row in zip(_MODELS, plain, strict=False)
    ]
    mean = tables.rows(COURSE, MEAN)[0]
    low, high = (number_in(mean[RISE], end) for end in ("low", "high"))
    verdict = "it grows" if low > 0 else "it shrinks" if high < 0 else "this is undecided"
    release = tables.rows("readings-release", "mean of 1 to 5")[0]
    after = [
        f"{_with_interval(release[f'{data} gain'], 2)} on {data} ({number_in(release[f'{data} seeds']):.0f} seeds)"
        for data in ("LAPTOP", "REST")
    ]
    more = (
        f"Without evidence the preset `paper` gives, on LAPTOP, {_listed(levels)}. TNet-ATT as released gains {_listed(after)}, "
        "in the mean of K = 1 to 5 rounds. Is its long training what evidence cures? From epochs 1 to 10 to epochs 21 to 50 the "
        f"gain changes by {_with_interval(mean[RISE], 2)} points: {verdict}. "
        f"Without evidence, macro-F1 changes by {_with_interval(mean[FALL], 2)} from epochs 6 to 10 to epochs 36 to 50."
    )
    plot = StripPlot("macro-F1 by preset, points over the same settings without evidence", tuple(rows))
    return KeyFinding("Do the paper's own settings gain more?", answer, plot, more=more)


def _of(rows: Sequence[_Row], method: str) -> list[_Row]:
    """Return the rows of models with a method."""
    return [row for row in rows if str(row["model"]).endswith(f"({method})")]


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


# By name of the exhibit, in the order of the page: what the paper claims, where evidence pays or does not, then the rest. A
# function raises LookupError where its numbers are not measured.
FINDINGS: dict[str, Callable[[TableLookup], KeyFinding]] = {
    "overall": overall,
    "stress": stress,
    "transfer": transfer,
    "human-agreement": human_agreement,
    "correction": correction,
    "few-labels": few_labels,
    "selection": selection,
    "random-masking": random_masking,
    "readings": readings,
    "claims": claims,
    "speed": speed,
}
