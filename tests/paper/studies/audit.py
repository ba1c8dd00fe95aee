"""An independent reader of the ledger: recomputes the test figures of the pages from predictions and gold labels.

It imports nothing of the package. Means and differences must agree exactly, p and intervals within the error of resampling.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
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
    has_small: bool = False  # whether the page names a small encoder
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

    def check_pooled(self, where: str, value: Mapping[str, Any], places: Sequence[tuple[str, Sequence[Runs]]]) -> None:
        """Check a mean difference in macro-F1 to several rows pooled, and its interval; the seeds of each row are drawn apart.

        :param places: a data set, our runs and then those of every control.
        """
        generator = np.random.default_rng(11)
        observed, drawn = [], []
        for data, rows in places:
            common = sorted(set.intersection(*(set(row) for row in rows)))
            sides = []
            for row in rows:
                found = np.stack([self._resampled(data, row[seed])[1] for seed in common])  # (S, 1 + R)
                picks = generator.integers(len(common), size=(RESAMPLES, len(common)))
                weights = np.stack([(picks == place).mean(axis=1) for place in range(len(common))])
                sides.append((found[:, 0].mean(), (found[:, 1:] * weights).sum(axis=0)))
            observed.append(sides[0][0] - np.mean([mean for mean, _ in sides[1:]]))
            drawn.append(sides[0][1] - np.mean([each for _, each in sides[1:]], axis=0))
        self.check(where, value["macro-F1"], 100 * float(np.mean(observed)))
        self.check_interval(where, (value["low"], value["high"]), 100 * np.mean(drawn, axis=0))

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
    training = training_of(row)
    look = {"kind": "look", "training": training, "what": "scores", "on": row.on}
    return _signature(look if row.on else {"kind": "training", **training})


def training_of(row: Row) -> Record:
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
