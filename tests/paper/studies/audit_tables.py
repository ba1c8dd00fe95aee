"""The audit's checks: which rows of which tables rest on which records."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.paper.studies.audit import DATA, MODELS, RESAMPLES, Audit, Record, Row, row_of, training_of
from tests.paper.studies.audit_readings import CHECKS as READINGS

Table = dict[str, Any]
_BASES = {"over TNet or BERTABSA": {"tnet_att": "tnet", "bertabsa_att": "bertabsa"}}


def audit_table(audit: Audit, table: Table) -> bool:
    """Check the numbers of a table; return False if no check knows it."""
    for pattern, check in _CHECKS.items():
        if found := re.fullmatch(pattern, table["name"]):
            for fields in table["rows"]:
                check(audit, table["name"], dict(zip(table["columns"], fields, strict=True)), *found.groups())
            return True
    return False


def _levels(audit: Audit, where: str, fields: Record, data: str, **place: Any) -> None:
    """Check a row with seeds, accuracy, macro-F1 and gains."""
    small = _small(audit, fields["model"], where)
    row = row_of(fields["model"], data, head=fields.get("head") or "", place=tuple({**place, **small}.items()))
    where, most = f"{where}, {fields['model']} {fields.get('head') or ''} {place or ''}", fields["seeds"]
    if not most:
        return
    runs = audit.runs(row, most)
    scores = [audit.scores(data, run) for run in runs.values()]
    for number, metric in enumerate(("accuracy", "macro-F1")):
        audit.check_mean(f"{where}, {metric}", fields[metric], [100 * each[number] for each in scores])
        apart = fields.get("ours - paper")
        if apart:
            mean = float(np.mean([100 * each[number] for each in scores]))
            audit.check(f"{where}, ours - paper", apart[metric], mean - fields["paper"][metric])
    others = {"gain": row.with_method(""), "over +RM-AS": row.with_method("+RM-AS")}
    if row.model in _BASES["over TNet or BERTABSA"]:
        others["over TNet or BERTABSA"] = row.with_method("", _BASES["over TNet or BERTABSA"][row.model])
    for column, other in others.items():
        if fields.get(column):
            value = fields[column]
            theirs = audit.runs(other, 99)
            common = {seed: theirs[seed] for seed in sorted(theirs.keys() & runs.keys())[: value["seeds"]]}
            audit.check_gain(f"{where}, {column}", value, [(data, runs, common)], seeds=False)
    if fields.get("best epoch on test"):
        best = [max(map(tuple, record["curve"])) for record in audit.found(row, most).values()]
        for number, metric in enumerate(("accuracy", "macro-F1")):
            audit.check(
                f"{where}, best epoch",
                fields["best epoch on test"][metric],
                100 * float(np.mean([b[number] for b in best])),
            )


_SWEEPS = ("corpus-size", "strip-bug")


def _small(audit: Audit, name: str, table: str) -> Record:
    """Return the mark of cells on the small encoder, where the page has one."""
    is_small = audit.has_small and name.startswith("BERT") and table.startswith(_SWEEPS)
    return {"small_encoder": True} if is_small else {}


def _corpus_size(audit: Audit, where: str, fields: Record, data: str) -> None:
    share = fields["corpus"]["share"]
    _levels(audit, where, fields, data, **({"share": share} if share < 1 else {}))


def _strip_bug(audit: Audit, where: str, fields: Record, data: str) -> None:
    sound, stripped = (
        row_of(fields["model"], data, place=tuple({**_small(audit, fields["model"], where), **more}.items()))
        for more in ({}, {"stripped": True})
    )
    most = fields["seeds"] or 3
    where = f"{where}, {fields['model']}"
    for name, row in (("sound", sound), ("stripped", stripped)):
        scores = [audit.scores(data, run) for run in audit.runs(row, most).values()]
        for number, metric in enumerate(("accuracy", "macro-F1")):
            if fields[f"{name} {metric}"]:
                audit.check_mean(
                    f"{where}, {name} {metric}", fields[f"{name} {metric}"], [100 * each[number] for each in scores]
                )
    pairs = {
        "stripped - sound": (stripped, sound),
        "gain on sound": (sound, sound.with_method("")),
        "gain on stripped": (stripped, stripped.with_method("")),
    }
    for column, (ours, theirs) in pairs.items():
        if fields[column]:
            both = (data, audit.runs(ours, most), audit.runs(theirs, most))
            audit.check_gain(f"{where}, {column}", fields[column], [both], seeds=False)


def _gains(audit: Audit, where: str, fields: Record) -> None:
    for method in (name for name in fields if name not in ("model", "data")):
        if fields[method]:
            row = Row(MODELS[fields["model"]], method, fields["data"].lower())
            over = row.with_method("again" if where == "overall-control" else "")
            most = fields[method]["seeds"]
            both = (row.data, audit.runs(row, most), audit.runs(over, most))
            name = f"{where}, {fields['model']} {fields['data']} {method}"
            audit.check_gain(name, fields[method], [both], seeds=where == "overall-control")


def _averages(audit: Audit, where: str, fields: Record) -> None:
    columns = {
        "on other tests": ("", False),
        "of other trainings too": ("", True),
        "over a second training": ("again", True),
    }
    for column, (over, seeds) in columns.items():
        value = fields[column]
        if not value:
            continue
        pairs = []
        for data in DATA:
            row = Row(MODELS[fields["model"]], fields["row"], data)
            if row == _OLDER:
                continue
            ours, theirs = audit.runs(row, 5), audit.runs(row.with_method(over), 5)
            pairs += [(data, ours, theirs)] if ours.keys() & theirs.keys() else []
        audit.check_gain(f"{where}, {fields['model']} {fields['row']}, {column}", value, pairs, seeds)


_CONTROLS = ("", "again")
_OLDER = Row("bertabsa_att", "+Consensus", "twitter")  # its records have an earlier gamma, and no page shows it
_ATTENDING = ("memnet", "tnet_att", "bertabsa_att")


def _overall_aim(audit: Audit, where: str, fields: Record) -> None:
    """Check the mean over all models and data sets, over both trainings without evidence."""
    rows = [Row(model, fields["row"], data) for model in _ATTENDING for data in DATA]
    _pooled(audit, where, fields, [row for row in rows if row != _OLDER])


def _transfer_aim(audit: Audit, where: str, fields: Record) -> None:
    pairs = (("laptop", "rest"), ("rest", "laptop"))
    rows = [Row(model, fields["row"], source, on=target) for model in _ATTENDING for source, target in pairs]
    _pooled(audit, where, fields, rows)


def _pooled(audit: Audit, where: str, fields: Record, rows: Sequence[Row]) -> None:
    found = [
        (row.tested, [audit.runs(each, 5) for each in (row, *(row.with_method(control) for control in _CONTROLS))])
        for row in rows
    ]
    measured = [(data, sides) for data, sides in found if all(sides)]
    audit.check(f"{where}, {fields['row']}, measured", fields["measured"]["count"], len(measured))
    audit.check_pooled(f"{where}, {fields['row']}, over both controls", fields["over both controls"], measured)


def _transfer(audit: Audit, where: str, fields: Record, source: str, target: str) -> None:
    home = row_of(fields["model"], source)
    away = Row(home.model, home.method, source, on=target)
    where, most = f"{where}, {fields['model']}", fields["seeds"]
    if not most:
        return
    if fields["at home"]:
        scores = [audit.scores(source, run)[1] for run in audit.runs(home, most).values()]
        audit.check_mean(f"{where}, at home", fields["at home"], [100 * each for each in scores])
    for number, metric in enumerate(("accuracy", "macro-F1")):
        scores = [audit.scores(target, run)[number] for run in audit.runs(away, most).values()]
        audit.check_mean(f"{where}, {metric}", fields[metric], [100 * each for each in scores])
    columns = {"over again": (away, "again"), "over +Random": (away, "+Random"), "over again at home": (home, "again")}
    for column, (row, over) in columns.items():
        if fields[column]:
            value = fields[column]
            both = (row.tested, audit.runs(row, value["seeds"]), audit.runs(row.with_method(over), value["seeds"]))
            audit.check_gain(f"{where}, {column}", value, [both], seeds=True)


def _transfer_gains(audit: Audit, where: str, fields: Record) -> None:
    source, target = fields["trained on"].lower(), fields["tested on"].lower()
    for method in (name for name in fields if name not in ("model", "trained on", "tested on")):
        value = fields[method]
        if value:
            row = Row(MODELS[fields["model"]], method, source, on=target)
            over = row.with_method("" if method == "again" else "again")
            both = (target, audit.runs(row, value["seeds"]), audit.runs(over, value["seeds"]))
            audit.check_gain(f"{where}, {fields['model']} {source} {target} {method}", value, [both], seeds=True)


def _stress(audit: Audit, where: str, fields: Record, data: str, model: str) -> None:
    row = row_of(fields["model"], data)
    where, most = f"{where}, {fields['model']}", fields["seeds"]
    if not most:
        return

    def found(method: str) -> dict[int, Record]:
        training = training_of(row.with_method(method))
        looks = ((json.loads(each), by_seed) for each, by_seed in audit.records.items() if '"what": "stress"' in each)
        by_seed = next(by_seed for look, by_seed in looks if look["training"] == training and "on" not in look)
        return {seed: by_seed[seed]["found"] for seed in sorted(by_seed)[:most]}

    ours = found(row.method)
    audit.check_mean(f"{where}, originals", fields["originals"], [100 * each["accuracy"] for each in ours.values()])
    for kind in (name for name in fields if name in next(iter(ours.values()))["kinds"]):
        audit.check_mean(
            f"{where}, {kind}", fields[kind], [100 * each["kinds"][kind]["accuracy"] for each in ours.values()]
        )
    right = {seed: np.array(list(map(int, each["right"]))) for seed, each in ours.items()}
    audit.check_mean(f"{where}, all right", fields["all right"], [100 * float(each.mean()) for each in right.values()])
    if fields["over again"]:
        again = {seed: np.array(list(map(int, each["right"]))) for seed, each in found("again").items()}
        common = sorted(right.keys() & again.keys())
        gain = 100 * float(np.mean([right[seed].mean() - again[seed].mean() for seed in common]))
        shown = fields["over again"]
        audit.check(f"{where}, over again", next(v for k, v in shown.items() if k not in ("shown", "p", "seeds")), gain)
        plain = {seed: np.array(list(map(int, each["right"]))) for seed, each in found("").items()}
        both = float(np.mean([(right[s].mean() - (again[s].mean() + plain[s].mean()) / 2) for s in common]))
        if fields["over both controls"]:
            audit.check(f"{where}, over both controls", fields["over both controls"]["all right"], 100 * both)
        audit.check_p(
            f"{where}, p over again", shown["p"], _p_of_means([right[s] for s in common], [again[s] for s in common])
        )


def _p_of_means(ours: Sequence[npt.NDArray[np.int64]], theirs: Sequence[npt.NDArray[np.int64]]) -> float:
    """Return the share of resamples of seeds and instances without a gain in the mean."""
    generator = np.random.default_rng(3)
    gains = np.stack(ours).astype(float) - np.stack(theirs)  # (S, n)
    n_seeds, n_instances = gains.shape
    drawn = []
    for _ in range(RESAMPLES):
        seeds = gains[generator.integers(n_seeds, size=n_seeds)].mean(axis=0)
        drawn.append(seeds[generator.integers(n_instances, size=n_instances)].mean())
    return float((np.array(drawn) <= 1e-12).mean())


def _selection(audit: Audit, where: str, fields: Record) -> None:
    """Check the value of each choice by going through every draw."""
    if fields["model"] not in MODELS or not fields["trainings"]:
        return
    most = 3 if fields["model"].startswith("BERT") else 5
    row = row_of(fields["model"], fields["data"].lower())
    records = [each for name in ("", "again") for each in audit.found(row.with_method(name), most).values()]
    curves = [[tuple(point) for point in record["curve"]] for record in records if record["curve"]]
    last, best = [curve[-1] for curve in curves], [max(curve) for curve in curves]
    audit.check(f"{where}, trainings", fields["trainings"], len(curves))
    for place, metric in enumerate(("accuracy", "macro-F1")):
        one, at_best = (float(np.mean([each[place] for each in scores])) for scores in (last, best))
        of_five, of_six = (_best_of(number, scores, place) for number, scores in ((5, last), (6, best)))
        expected = {
            "one training": one,
            "epoch": at_best - one,
            "best of 5": of_five - one,
            "best of 6": of_six - at_best,
            "all": of_six - one,
        }
        for column, number in expected.items():
            if fields[column]:
                audit.check(
                    f"{where}, {fields['model']} {fields['data']} {column}", fields[column][metric], 100 * number
                )


def _best_of(number: int, scores: Sequence[tuple[float, ...]], place: int) -> float:
    draws = [max(drawn)[place] for drawn in itertools.combinations(scores, number)]
    return float(np.mean(draws)) if draws else 0.0


def _claims(audit: Audit, where: str, fields: Record) -> None:
    """Check differences between two rows of the overall results; other claims rest on other numbers."""
    claim = next((each for each in _claim_texts() if each["says"] == fields["claim"]), None)
    if claim is None or fields["model"] is None:
        return
    sides = []
    for name in (claim["ours"], claim["theirs"]):
        model, _, method = name.rpartition("/")
        sides.append((model or MODELS[fields["model"]], method))
    for data in DATA:
        value = fields.get(data.upper())
        if not value or "number 1" not in value:
            continue
        most = fields["seeds"][data.upper()]
        runs = [
            audit.runs(Row(model, method, data), 5 if not model.startswith("bert") else 3) for model, method in sides
        ]
        common = sorted(runs[0].keys() & runs[1].keys())[:most]
        ours, theirs = ({seed: run[seed] for seed in common} for run in runs)
        name = f"{where}, {fields['claim']}, {fields['model']} {data}"
        down = value["number 1"] < 0
        parts: Record = {"macro-F1": value["number 1"] * (-1 if down else 1)}
        if "p 1" in value:
            parts |= {"p macro-F1": value["p 1"]}
            both = (data, theirs, ours) if down else (data, ours, theirs)
            if value.get("low 1") is not None:
                low, high = value["low 1"], value["high 1"]
                parts |= {"low macro-F1": -high if down else low, "high macro-F1": -low if down else high}
            audit.check_gain(name, parts, [both], seeds=True)


def _claim_texts() -> list[Record]:
    """Return the claims that compare two rows of the overall results."""
    text = (Path(__file__).parents[3] / "paper/studies/exhibits/claims.toml").read_text("utf-8")
    pairs = [each for each in tomllib.loads(text)["claim"] if "ours" in each]
    return [each for each in pairs if each["ours"] not in ("restarted", "refined")]


_CHECKS: dict[str, Callable[..., None]] = {
    r"overall-(laptop|rest|twitter)": _levels,
    r"overall-(?:gains|control)": _gains,
    r"overall-average": _averages,
    r"overall-aim": _overall_aim,
    r"transfer-aim": _transfer_aim,
    r"random-masking-(laptop|rest|twitter)": _levels,
    r"self-attention-(laptop)": _levels,
    r"corpus-size-\w+-(laptop|rest|twitter)": _corpus_size,
    r"strip-bug-(laptop|rest|twitter)": _strip_bug,
    r"transfer-(laptop|rest)-(laptop|rest|twitter)": _transfer,
    r"transfer-gains": _transfer_gains,
    r"stress-(laptop|rest)-(\w+)": _stress,
    r"selection-choices": _selection,
    r"claims": _claims,
    **READINGS,
}
