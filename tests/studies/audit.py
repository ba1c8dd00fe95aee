"""An independent reader of the ledger: recomputes the test figures of the pages from predictions and gold labels.

It imports nothing of the package. Means and differences must agree exactly, p and intervals within the error of resampling.
"""

from __future__ import annotations

import itertools
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Record = dict[str, Any]
Runs = dict[int, npt.NDArray[np.int64]]  # predicted classes by seed
Floats = npt.NDArray[np.float64]

LABELS = ("positive", "negative", "neutral")
TAGS = {"/p": 0, "/n": 1, "/0": 2}
MODELS = {
    "MN": "memnet",
    "TNet": "tnet",
    "TNet-ATT": "tnet_att",
    "BERTABSA": "bertabsa",
    "BERTABSA-ATT": "bertabsa_att",
    "BERTABSA-CLS": "bertabsa_cls",
}
DATA = ("laptop", "rest", "twitter")
HEADS = {"randomly selected": "random_head", "smallest entropy": "smallest_entropy", "average": "average"}
FULL_GAMMA = {"memnet": 2.0, "bertabsa_att": 5.0}  # where the consensus has another gamma than words of rounds
RESAMPLES = 2000
PAGE_RESAMPLES = 20_000
MANY = 5  # standard errors that chance does not explain


@dataclass(frozen=True)
class Row:
    """A row of a table: a model with a method, trained on one data set, perhaps tested on another."""

    model: str
    method: str
    data: str
    on: str = ""
    head: str = ""
    place: tuple[tuple[str, Any], ...] = ()  # share, stripped, small_encoder

    @property
    def tested(self) -> str:
        return self.on or self.data

    def with_method(self, method: str, model: str = "") -> Row:
        return Row(
            model or self.model, method, self.data, self.on, self.head if method == self.method else "", self.place
        )


@dataclass
class Audit:
    """The ledger, the test sets, and what was found to differ."""

    results: Path
    data: Path
    vectors: str  # fingerprints that the page names
    encoders: tuple[str, ...]
    checked: int = 0
    wrong: list[str] = field(default_factory=list)
    _known: dict[tuple[str, bytes], Floats] = field(default_factory=dict)

    @cached_property
    def records(self) -> dict[str, dict[int, Record]]:
        """The last record of every cell that starts from the page's files, by description without its seed."""
        found: dict[str, dict[int, Record]] = {}
        for line in (self.results / "cells.jsonl").read_text("utf-8").splitlines():
            record = json.loads(line)
            files = record.get("files", {})
            if files.get("vectors", self.vectors) == self.vectors and files.get("encoder", "") in ("", *self.encoders):
                found.setdefault(_signature(record["cell"]), {})[_seed(record["cell"])] = record
        return found

    @cached_property
    def gold(self) -> dict[str, npt.NDArray[np.int64]]:
        return {name: np.array(list(_labels(self.data / name / "test.txt"))) for name in DATA}

    @cached_property
    def draws(self) -> dict[str, Floats]:
        """How often each resample has each instance, by data set."""
        generator = np.random.default_rng(20261116)
        sizes = {name: len(gold) for name, gold in self.gold.items()}
        picks = {name: generator.integers(n, size=(RESAMPLES, n)) for name, n in sizes.items()}
        return {
            name: np.stack([np.bincount(row, minlength=sizes[name]) for row in rows]).astype(float)
            for name, rows in picks.items()
        }

    def found(self, row: Row, most: int) -> dict[int, Record]:
        """Return the records of a row by seed, of its first seeds."""
        known = self.records.get(_description(row), {})
        return {seed: known[seed] for seed in sorted(known)[:most]}

    def runs(self, row: Row, most: int) -> Runs:
        """Return the predictions of a row by seed."""
        records = self.found(row, most)
        said = {seed: record["found"] if row.on else record for seed, record in records.items()}
        assert all(tuple(each["labels"]) == LABELS for each in said.values())
        return {seed: np.array(list(map(int, each["predicted"]))) for seed, each in said.items()}

    def scores(self, data: str, run: npt.NDArray[np.int64]) -> tuple[float, float]:
        accuracy, macro_f1 = _scores(self.gold[data], run, np.ones((1, len(run))))[:, 0].tolist()
        return accuracy, macro_f1

    def check(self, where: str, shown: float | None, expected: float, tolerance: float = 1e-6) -> None:
        """Compare a number of a page with the recomputed one."""
        self.checked += 1
        if shown is None or abs(shown - expected) > tolerance:
            self.wrong.append(f"{where}: the page has {shown}, the records give {expected} (± {tolerance:.2g})")

    def check_mean(self, where: str, value: Mapping[str, Any], numbers: Sequence[float]) -> None:
        self.check(where, value["mean"], float(np.mean(numbers)))
        if len(numbers) > 1:
            self.check(f"{where}, spread", value["spread"], float(np.std(numbers, ddof=1)))

    def check_gain(
        self, where: str, value: Mapping[str, Any], pairs: Sequence[tuple[str, Runs, Runs]], seeds: bool
    ) -> None:
        """Check a mean difference over data sets, its p and its interval.

        :param pairs: a data set, our runs and theirs; only common seeds count.
        :param seeds: whether seeds are drawn too.
        """
        drawn, observed = [], []
        generator = np.random.default_rng(7)
        for data, ours, theirs in pairs:
            common = sorted(ours.keys() & theirs.keys())
            gains = np.stack([self._gains(data, ours[seed], theirs[seed]) for seed in common])  # (S, 2, 1 + R)
            observed.append(gains[:, :, 0].mean(axis=0))
            picks = generator.integers(len(common), size=(RESAMPLES, len(common)))
            weights = np.stack([(picks == place).mean(axis=1) for place in range(len(common))])  # (S, R)
            if not seeds:
                weights = np.full_like(weights, 1 / len(common))
            drawn.append((gains[:, :, 1:] * weights[:, None]).sum(axis=0))
        means, resampled = np.mean(observed, axis=0), np.mean(drawn, axis=0)
        for place, metric in enumerate(("accuracy", "macro-F1")):
            if metric in value:
                self.check(f"{where}, {metric}", value[metric], 100 * means[place])
                self.check_p(f"{where}, p {metric}", value[f"p {metric}"], float((resampled[place] <= 1e-12).mean()))
        if value.get("low macro-F1") is not None:
            self.check_interval(where, (value["low macro-F1"], value["high macro-F1"]), 100 * resampled[1])

    def check_p(self, where: str, shown: float, ours: float) -> None:
        p = min(max(ours, 1 / RESAMPLES), 1 - 1 / RESAMPLES)
        error = (p * (1 - p) * (1 / RESAMPLES + 1 / PAGE_RESAMPLES)) ** 0.5
        self.check(where, shown, ours, MANY * error + 1 / RESAMPLES)

    def check_interval(self, where: str, shown: tuple[float, float], resampled: Floats) -> None:
        low, high = np.quantile(resampled, (0.025, 0.975)).tolist()
        error = 0.07 * float(resampled.std()) + 0.01  # of a 2.5 % quantile of a normal distribution
        self.check(f"{where}, low", shown[0], low, MANY * error)
        self.check(f"{where}, high", shown[1], high, MANY * error)

    def _gains(self, data: str, ours: npt.NDArray[np.int64], theirs: npt.NDArray[np.int64]) -> Floats:
        """Return (2, 1 + R): the difference in accuracy and macro-F1, as it is and on every resample."""
        return self._resampled(data, ours) - self._resampled(data, theirs)

    def _resampled(self, data: str, run: npt.NDArray[np.int64]) -> Floats:
        key = (data, run.tobytes())
        if key not in self._known:
            self._known[key] = _scores(self.gold[data], run, np.concatenate([np.ones((1, len(run))), self.draws[data]]))
        return self._known[key]


def _scores(gold: npt.NDArray[np.int64], run: npt.NDArray[np.int64], weights: Floats) -> Floats:
    """Return (2, R): accuracy and macro-F1 for resamples (R, n)."""
    labels = range(len(LABELS))
    hits = weights @ np.stack([(gold == label) & (run == label) for label in labels], axis=1).astype(float)  # (R, C)
    either = weights @ np.stack([(gold == label) * 1.0 + (run == label) for label in labels], axis=1)
    f1 = np.divide(2 * hits, either, out=np.zeros_like(hits), where=either > 0)
    return np.stack([hits.sum(axis=1) / weights.sum(axis=1), f1.mean(axis=1)])


def _labels(path: Path) -> Iterator[int]:
    for line in path.read_text("utf-8").splitlines():
        tags = [TAGS[word[-2:]] for word in line.split() if word[-2:] in TAGS and len(word) > 2]
        if tags:
            yield tags[0]


def _signature(cell: Mapping[str, Any]) -> str:
    return json.dumps(_without_seed(cell), sort_keys=True)


def _without_seed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_seed(each) for name, each in value.items() if name != "seed"}
    return [_without_seed(each) for each in value] if isinstance(value, list) else value


def _seed(cell: Mapping[str, Any]) -> int:
    return int((cell.get("place") or cell["training"]["place"])["seed"])


def _description(row: Row) -> str:
    training = _training(row)
    look = {"kind": "look", "training": training, "what": "scores", "on": row.on}
    return _signature(look if row.on else {"kind": "training", **training})


def _training(row: Row) -> Record:
    """Return the description of a row's training."""
    place, name = {"data": row.data, "model": row.model, **dict(row.place)}, row.method
    if row.head:
        refined = {"refine": HEADS[row.head]}
        mined = {"place": place, "method": "pg-as", "settings": refined}
        return {"place": place, "evidence": [mined], "settings": refined}
    if name in ("+KT", "+Boosting", "+Adaboost"):
        return {"place": place, "method": name[1:].lower()}
    method, chosen = _supervised(name, row.model, row.data)
    evidence = {"evidence": [{"place": place, "method": method}]} if method else {}
    return {"place": place, **evidence, **({"settings": chosen} if chosen else {})}


def _supervised(name: str, model: str, data: str) -> tuple[str, Record]:
    """Return the method that mined, and settings of the training."""
    letter = {"gamma": 0.5 if data == "rest" else 0.1, "penalty": "letter"}
    known: dict[str, tuple[str, Record]] = {
        "": ("", {}),
        "again": ("aw-as", {"gamma": 0.0}),
        "+RM-AS": ("rm-as", {}),
        "+Consensus": ("consensus", {}),
        "+Consensus, full gamma": ("consensus", {"gamma": FULL_GAMMA[model]} if model in FULL_GAMMA else {}),
        "+Human": ("human", {}),
        "+Random": ("random", {}),
        "+Contrast": ("", {"augment": "contrast"}),
        "+Consensus+Contrast": ("consensus", {"augment": "contrast"}),
    }
    for way, mined in (("AW", "aw-as"), ("PG", "pg-as")):
        known[f"+{way}-AS"] = (mined, {})
        known[f"+{way}-AS_a"] = (mined, {"words": "active"})
        known[f"+{way}-AS_m"] = (mined, {"words": "misleading"})
        known[f"+{way}-AS, paper's penalty"] = (mined, letter)
    return known[name]


def row_of(name: str, data: str, **more: Any) -> Row:
    """Return the row behind a name such as `MN (+PG-AS)`."""
    found = re.fullmatch(r"([\w-]+)(?: \((.*)\))?", name)
    assert found, name
    method = found[2] or ""
    return Row(MODELS[found[1]], "+PG-AS" if method == "PG-AS" else method, data, **more)


# Tables ---------------------------------------------------------------------------------------------------------------

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
    is_small = len(audit.encoders) > 1 and name.startswith("BERT") and table.startswith(_SWEEPS)
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
            ours, theirs = audit.runs(row, 5), audit.runs(row.with_method(over), 5)
            pairs += [(data, ours, theirs)] if ours.keys() & theirs.keys() else []
        audit.check_gain(f"{where}, {fields['model']} {fields['row']}, {column}", value, pairs, seeds)


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
        training = _training(row.with_method(method))
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
    text = (Path(__file__).parents[2] / "src/pssa/studies/exhibits/claims.toml").read_text("utf-8")
    pairs = [each for each in tomllib.loads(text)["claim"] if "ours" in each]
    return [each for each in pairs if each["ours"] not in ("restarted", "refined")]


_CHECKS: dict[str, Callable[..., None]] = {
    r"overall-(laptop|rest|twitter)": _levels,
    r"overall-(?:gains|control)": _gains,
    r"overall-average": _averages,
    r"random-masking-(laptop|rest|twitter)": _levels,
    r"self-attention-(laptop)": _levels,
    r"corpus-size-\w+-(laptop|rest|twitter)": _corpus_size,
    r"strip-bug-(laptop|rest|twitter)": _strip_bug,
    r"transfer-(laptop|rest)-(laptop|rest|twitter)": _transfer,
    r"transfer-gains": _transfer_gains,
    r"stress-(laptop|rest)-(\w+)": _stress,
    r"selection-choices": _selection,
    r"claims": _claims,
}
