"""Held-out trials behind the defaults of consensus and contrast (results/defaults.md).

    python benchmarks/evidence_trials.py gamma --data DIR --vectors F --encoder FOLDER --workers 14 --out DIR
    python benchmarks/evidence_trials.py contrast --data DIR --vectors F --encoder FOLDER --workers 14 --out DIR
    python benchmarks/evidence_trials.py show --out results/raw/evidence-trials.jsonl

A fifth of train, held out by sentence, judges; no test file is opened. Records are cells of OUT/cells.jsonl: a call that was
stopped goes on where it was, and both trials share baselines and evidence.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from paper.experiments.analyses import ANALYSES
from paper.experiments.cells import Analysis, Cell, Mining, Place, Training, cell_name, describe, settings
from paper.experiments.ledger import LEDGER, Ledger, Record, RecordLookup
from paper.experiments.resources import DATA_SETS, Resources
from paper.experiments.schedule import CellSchedule, open_pool
from paper.experiments.workspace import Workspace

GAMMAS = {
    "bertabsa_att": (0.0, 0.5, 1.0, 2.5, 5.0, 10.0),
    "tnet_att": (0.0, 0.05, 0.125, 0.25, 0.5, 1.0),
    "memnet": (0.0, 0.125, 0.25, 0.5, 1.0, 2.0),
}
OPTIONS: dict[str, dict[str, Any]] = {"memnet": {"hops": 3}, "tnet_att": {"gating": "lossless", "initial_bound": 0.05}}
CONTRAST: tuple[dict[str, Any], ...] = (
    *({}, {"contrast_share": 0.5}, {"contrast_weight": 0.5}, {"contrast_epochs": 3}),
    *({"contrast_partner": partner} for partner in ("short", "similar", "distant")),
    {"contrast_partner": "short", "contrast_share": 0.5},
)
WITH_CONSENSUS: tuple[dict[str, Any], ...] = ({}, {"contrast_share": 0.5}, {"contrast_partner": "short"}, CONTRAST[-1])
_STRESS = "stress"


def gamma_trials(place: Place) -> Iterator[tuple[str, Training]]:
    """Yield the baseline and consensus with each gamma; zero is a second training without evidence."""
    mined = Mining(place, "consensus")
    yield "base", Training(place)
    for gamma in GAMMAS[place.model]:
        yield f"gamma {gamma:g}", Training(place, evidence=(mined,), settings=settings(gamma=gamma))


def contrast_trials(place: Place) -> Iterator[tuple[str, Training]]:
    """Yield the baseline, consensus, and contrast with each option, alone and with consensus."""
    mined = Mining(place, "consensus")
    yield "base", Training(place)
    yield "again", Training(place, evidence=(mined,), settings=settings(gamma=0.0))
    yield "consensus", Training(place, evidence=(mined,))
    for evidence, grid in (((), CONTRAST), ((mined,), WITH_CONSENSUS)):
        for options in grid:
            named = ", ".join(f"{name.removeprefix('contrast_')} {value}" for name, value in options.items())
            name = ("consensus + " if evidence else "") + f"contrast {named}".strip()
            yield name, Training(place, evidence=evidence, settings=settings(augment="contrast", **options))


TRIALS = {"gamma": gamma_trials, "contrast": contrast_trials}


def find_places(arguments: argparse.Namespace, model: str, data: str) -> list[Place]:
    """Return the held-out places of a model on a data set."""
    options = settings(**OPTIONS.get(model, {}))
    return [Place(data, model, seed, held_out=True, settings=options) for seed in range(arguments.seeds)]


def find_cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """Yield the cells of a trial; with contrast, also how the models do on variants, where that can be measured."""
    for model in arguments.models:
        for data in arguments.data_sets:
            for place in find_places(arguments, model, data):
                for _, training in TRIALS[arguments.trial](place):
                    yield training
                    if arguments.trial == "contrast" and _STRESS in ANALYSES:
                        yield Analysis(training, _STRESS)


def run(arguments: argparse.Namespace, resources: Resources) -> None:
    """Execute the cells without a record."""
    workspace = Workspace(arguments.out, resources)
    with Ledger.open(arguments.out / LEDGER) as ledger, open_pool("local", arguments.workers) as pool:
        schedule = CellSchedule(workspace, ledger, progress=lambda *done: print(*done, flush=True))
        result = schedule.execute(find_cells(arguments), pool)
    print(f"{result.done} cells executed, {result.reused} reused")
    for cell, reason in result.failures.items():
        print(f"{cell_name(cell)} failed: {reason}")


def show(arguments: argparse.Namespace, lookup: RecordLookup) -> None:
    """Print a table of each trial and model: macro-F1 over the mean of the two plain trainings, and shares on variants."""
    for trial, trials in TRIALS.items():
        for model in arguments.models:
            tables = {data: _gains(lookup, find_places(arguments, model, data), trials) for data in arguments.data_sets}
            names = dict.fromkeys(name for table in tables.values() for name in table)
            print(f"\n### {trial}, {model}\n\n| trial | {' | '.join(map(str.upper, tables))} | mean |")
            print("|---" * (len(tables) + 2) + "|")
            for name in names:
                found = [tables[data].get(name) for data in tables]
                fields = [_text(each) for each in (*found, _mean([each for each in found if each]))]
                print(f"| {name} | {' | '.join(fields)} |")


def read_records(path: Path) -> RecordLookup:
    """Return a function that finds the record of a cell by its description alone, whatever files it was made with."""
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    known = {json.dumps(record["cell"], sort_keys=True): record for record in records}
    return lambda cell: known.get(json.dumps(describe(cell), sort_keys=True))


_Gain = tuple[float, float | None, int]  # in macro-F1 and in the share of instances with all variants right; seeds


def _gains(lookup: RecordLookup, places: Iterable[Place], trials: Any) -> dict[str, _Gain]:
    found: dict[str, list[tuple[float, float | None]]] = {}
    for place in places:
        cells: dict[str, Training] = dict(trials(place))
        records = {name: record for name, cell in cells.items() if (record := lookup(cell))}
        plain = [name for name in ("base", "again", "gamma 0") if name in records]
        if len(plain) < 2:
            continue
        right = {name: _all_right(lookup(Analysis(cells[name], _STRESS))) for name in records}
        level = statistics.mean(records[name]["macro_f1"] for name in plain)
        known = [value for name in plain if (value := right[name]) is not None]
        for name, record in records.items():
            share = right[name]
            gain = None if share is None or not known else 100 * (share - statistics.mean(known))
            found.setdefault(name, []).append((100 * (record["macro_f1"] - level), gain))
    return {name: _average(values) for name, values in found.items()}


def _all_right(record: Record | None) -> float | None:
    return None if record is None else float(record["found"]["all_right"])


def _average(values: Sequence[tuple[float, float | None]]) -> _Gain:
    known = [second for _, second in values if second is not None]
    return statistics.mean(first for first, _ in values), statistics.mean(known) if known else None, len(values)


def _mean(gains: Sequence[_Gain]) -> _Gain | None:
    if not gains:
        return None
    average = _average([(first, second) for first, second, _ in gains])
    return (*average[:2], min(seeds for *_, seeds in gains))


def _text(gain: _Gain | None) -> str:
    if gain is None:
        return ""
    macro_f1, right, seeds = gain
    return f"{macro_f1:+.2f}" + ("" if right is None else f" / {right:+.1f}") + f" ({seeds})"


def main() -> None:
    """Run what is missing, or show what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trial", choices=(*TRIALS, "show"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--models", nargs="+", default=list(GAMMAS), choices=list(GAMMAS))
    parser.add_argument("--data-sets", nargs="+", default=list(DATA_SETS), choices=list(DATA_SETS))
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.trial == "show":
        show(arguments, read_records(arguments.out if arguments.out.is_file() else arguments.out / LEDGER))
        return
    if arguments.data is None:
        parser.error("--data is needed to run trials")
    resources = Resources.find(arguments.data, arguments.vectors, arguments.encoder, arguments.device)
    arguments.models = [model for model in arguments.models if resources.can_train(model)]
    run(arguments, resources)


if __name__ == "__main__":
    main()
