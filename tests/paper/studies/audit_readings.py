"""The audit's checks of the exhibit `readings`: each row beside its own controls."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from tests.paper.studies.audit import DATA, MODELS, Audit, Record, Runs

Chosen = dict[str, Any]
_SPANS = {"1 to 5": (1, 5), "6 to 10": (6, 10), "11 to 20": (11, 20), "21 to 35": (21, 35), "36 to 50": (36, 50)}
_T = {2: 4.30, 3: 3.18, 4: 2.78, 9: 2.26}  # the quantile .975 of Student's t by degrees of freedom
# Of +PG-AS: settings of the mining and of the training, and the rounds that count.
_SINGLE: dict[str, tuple[Chosen, Chosen, int]] = {
    "+PG-AS, default": ({}, {}, 0),
    "epsilon = 1": ({"epsilon": 1.0}, {}, 0),
    "K = 2": ({}, {}, 2),
    "weighting = round": ({}, {"weighting": "round"}, 0),
    "folds = 5": ({"folds": 5}, {}, 0),
    "full-length rounds": ({"round_epochs": 0}, {}, 0),
    "epochs and gamma searched under supervision (gamma 0.5)": ({}, {"final_epochs": "search", "gamma": 0.5}, 0),
    "epochs and gamma searched under supervision (gamma 0.125)": ({}, {"final_epochs": "search", "gamma": 0.125}, 0),
    "final training continued": ({}, {"final_start": "initial"}, 0),
    "penalty on the gradient saliency itself": ({}, {"penalty_on": "gradient"}, 0),
    "noise on the word vectors": ({"noise_on": "input"}, {}, 0),
    "random words, as many as of +PG-AS": ({"words_of": "pg-as"}, {}, 0),
}


def training(place: Chosen, method: str = "", mining: Chosen | None = None, rounds: int = 0, **chosen: Any) -> Record:
    """The description of a training without its seed."""
    mined = {"place": place, "method": method, **({"settings": mining} if mining else {})}
    more = {"evidence": [mined]} if method else {}
    counted = {"rounds": rounds} if rounds else {}
    return {"kind": "training", "place": place, **more, **counted, **({"settings": chosen} if chosen else {})}


def records(audit: Audit, described: Record, most: int) -> dict[int, Record]:
    """The first records of a training by seed."""
    known = audit.records.get(json.dumps(described, sort_keys=True), {})
    return {seed: known[seed] for seed in sorted(known)[:most]}


def runs_of(found: Mapping[int, Record]) -> Runs:
    """Predicted classes by seed."""
    return {seed: np.array(list(map(int, record["predicted"]))) for seed, record in found.items()}


def check_single(audit: Audit, where: str, fields: Record) -> None:
    """Check a row of the single choices."""

    def described(data: str) -> tuple[Record, list[Record]]:
        place = {"data": data, "model": MODELS[fields["model"]]}
        plain, again = training(place), training(place, "aw-as", gamma=0.0)
        if fields["reading"] in ("plain", "trained again"):
            return (plain if fields["reading"] == "plain" else again), []
        mining, chosen, rounds = _SINGLE[fields["reading"]]
        ours = training(place, "random" if "words_of" in mining else "pg-as", mining, rounds, **chosen)
        if "final_start" in chosen or "final_epochs" in chosen:
            again = training(place, "pg-as", **{**chosen, "gamma": 0.0})
        return ours, [again] if "final_start" in chosen else [plain, again]

    _check_row(audit, f"{where}, {fields['model']} {fields['reading']}", fields, described)


def check_preset(audit: Audit, where: str, fields: Record) -> None:
    """Check a row of the presets."""
    where, model = f"{where}, {fields['preset']} {fields['model']} {fields['row']}", MODELS[fields["model"]]
    _check_row(audit, where, fields, lambda data: _of_preset(fields["preset"], model, fields["row"], data))


def check_preset_mean(audit: Audit, where: str, fields: Record) -> None:
    """Check a mean over all pairs of model and data set that have a row with its controls."""
    pairs = []
    for model, data in itertools.product(("memnet", "tnet_att", "bertabsa_att"), DATA):
        ours, controls = _of_preset(fields["preset"], model, fields["row"], data)
        rows = [runs_of(records(audit, each, 99)) for each in (ours, *controls)]
        if all(rows) and set.intersection(*map(set, rows)):
            pairs.append((data, rows))
    where = f"{where}, {fields['preset']} {fields['row']}"
    audit.check(f"{where}, pairs", fields["pairs"], len(pairs))
    audit.check_pooled(f"{where}, over both", fields["over both controls"], pairs)
    paired = [(data, rows[0], rows[-1]) for data, rows in pairs]
    audit.check_gain(f"{where}, over its control", fields["over its control"], paired, seeds=True)


def _of_preset(preset: str, model: str, row: str, data: str) -> tuple[Record, list[Record]]:
    is_large = "large" in row
    place: Chosen = {"data": data, "model": model, "settings": {"preset": preset + ("-rest" if data == "rest" else "")}}
    if model.startswith("bert") and not is_large:
        place["small_encoder"] = True
    usual = {name: value for name, value in place.items() if name != "settings" or not is_large}
    plain, again = training(place), training(usual, "aw-as", gamma=0.0)
    if row in ("plain", "trained again"):
        return (plain if row == "plain" else again), []
    chosen: Chosen = {"penalty_on": "gradient"} if "gradient" in row else {}
    return training(place, "aw-as" if "AW" in row else "pg-as", **chosen), [plain, again]


def _check_row(
    audit: Audit, where: str, fields: Record, described: Callable[[str], tuple[Record, list[Record]]]
) -> None:
    """Check the scores of a row on every data set, and its gains over one control and over all."""
    places: list[tuple[str, list[Runs]]] = []
    for data, seeds in zip(DATA, map(int, fields["seeds"].split("/")), strict=True):
        if not seeds:
            continue
        ours, controls = described(data)
        found = records(audit, ours, seeds)
        _check_scores(audit, f"{where}, {data}", fields[data.upper()], found, data)
        if controls:
            places.append((data, [runs_of(found), *(runs_of(records(audit, each, 99)) for each in controls)]))
    if places:
        paired = [(data, rows[0], rows[-1]) for data, rows in places]
        audit.check_gain(f"{where}, over its control", fields["over its control"], paired, seeds=True)
        if all(len(rows) > 2 for _, rows in places):
            audit.check_pooled(f"{where}, over both", fields["over both controls"], places)


def _check_scores(audit: Audit, where: str, shown: Record, found: Mapping[int, Record], data: str) -> None:
    scores = [audit.scores(data, run) for run in runs_of(found).values()]
    for metric, numbers in zip(("accuracy", "macro-F1"), zip(*scores, strict=True), strict=True):
        audit.check(f"{where}, {metric}", shown[metric], 100 * float(np.mean(numbers)))


def check_release(audit: Audit, where: str, fields: Record) -> None:
    """Check the release by number of rounds, and the mean of all."""
    for data in ("laptop", "rest"):
        seeds, shown = fields[f"{data.upper()} seeds"], fields[f"{data.upper()} gain"]
        rows, controls = _long(audit, "release", data, seeds)
        if fields["K"].isdigit():
            number = int(fields["K"])
            row = rows[number - 1] if number else controls[1]
            _check_scores(audit, f"{where}, K = {number}", fields[data.upper()], row, data)
            best = [max(map(tuple, record["curve"])) for record in row.values()]
            expected = 100 * float(np.mean([f1 for _, f1 in best]))
            audit.check(f"{where}, best epoch", fields[f"{data.upper()} best epoch on test"]["macro-F1"], expected)
            rows = [row] if number else []
            if number:
                audit.check_pooled(f"{where}, K = {number}", shown, [(data, [*map(runs_of, (row, *controls))])])
        if rows:
            expected = 100 * (
                _mean_f1(audit, data, [*map(runs_of, rows)]) - _mean_f1(audit, data, [*map(runs_of, controls)])
            )
            audit.check(f"{where}, K = {fields['K']}, {data}", shown["macro-F1"], expected)


def _long(audit: Audit, name: str, data: str, seeds: int) -> tuple[list[dict[int, Record]], list[dict[int, Record]]]:
    """Return the supervised trainings of 50 epochs and both controls, on the seeds that all have."""
    preset = "release-rest" if data == "rest" else "release"
    chosen: Chosen = {"preset": preset} if name == "release" else {"epochs": 50}
    place = {"data": data, "model": "tnet_att", "settings": chosen}
    rounds = (1, 2, 3, 4, 0) if name == "release" else (0,)
    ours = [records(audit, training(place, "aw-as", rounds=number), 99) for number in rounds]
    controls = [records(audit, each, 99) for each in (training(place), training(place, "aw-as", gamma=0.0))]
    common = sorted(set.intersection(*(set(row) for row in (*ours, *controls))))[:seeds]
    rows = [{seed: row[seed] for seed in common} for row in (*ours, *controls)]
    return rows[: len(ours)], rows[len(ours) :]


def check_course(audit: Audit, where: str, fields: Record) -> None:
    """Check the gain by span of epochs, from the curves."""
    if fields["settings"] == "mean of all":
        names = [(name, data, 99) for name in ("defaults", "release") for data in ("laptop", "rest")]
    else:
        names = [(fields["settings"], fields["data set"].lower(), fields["seeds"])]
    groups, controls = [], []  # by series: (seeds, 50)
    for name, data, seeds in names:
        rows, others = _long(audit, name, data, seeds)
        mine, theirs = (
            np.mean([[np.array(each["curve"])[:, 1] for each in row.values()] for row in side], axis=0)
            for side in (rows, others)
        )
        groups.append(100 * (mine - theirs))
        controls.append(100 * theirs)
        if len(names) == 1:
            gain = _mean_f1(audit, data, [*map(runs_of, rows)]) - _mean_f1(audit, data, [*map(runs_of, others)])
            audit.check(f"{where}, after 50", fields["after 50"]["macro-F1"], 100 * gain)
    gains = {
        span: [group[:, first - 1 : last].mean(axis=1) for group in groups] for span, (first, last) in _SPANS.items()
    }
    early, late = (("1 to 5", "6 to 10"), ("21 to 35", "36 to 50"))
    rise = [
        np.mean([gains[span][n] for span in late], axis=0) - np.mean([gains[span][n] for span in early], axis=0)
        for n in range(len(groups))
    ]
    fall = [each[:, 35:].mean(axis=1) - each[:, 5:10].mean(axis=1) for each in controls]
    for column, values in {**gains, "later less earlier": rise, "controls": fall}.items():
        about, shown = f"{where}, {fields['settings']} {fields['data set']}, {column}", fields[column]
        audit.check(about, shown["macro-F1"], float(np.mean([each.mean() for each in values])))
        if len(values) == 1:
            half = _T[len(values[0]) - 1] * float(values[0].std(ddof=1)) / len(values[0]) ** 0.5
            audit.check(f"{about}, low", shown["low"], float(values[0].mean()) - half)
            audit.check(f"{about}, high", shown["high"], float(values[0].mean()) + half)


def _mean_f1(audit: Audit, data: str, rows: Sequence[Runs]) -> float:
    return float(np.mean([[audit.scores(data, run)[1] for run in row.values()] for row in rows]))


CHECKS: dict[str, Callable[[Audit, str, Record], None]] = {
    r"readings-all": check_single,
    r"readings-presets": check_preset,
    r"readings-preset-means": check_preset_mean,
    r"readings-release": check_release,
    r"readings-course": check_course,
}
