"""`metrics.json` of a run or a tagger. It may come from a stranger: what reports and summaries show of it is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pssa.data.validation import Parser, integer, list_of, number, optional, parse_fields, shorten, text
from pssa.errors import InputError
from pssa.runs.directory import naming_damage, read_json

FILE = "metrics.json"


def read_metrics(path: Path) -> dict[str, Any]:
    """Read the metrics of a run.

    :raises InputError: if they are not those of a run.
    """
    return _read(path, _RUN)


def read_tagger_metrics(path: Path) -> dict[str, Any]:
    """Read the metrics of a tagger.

    :raises InputError: if they are not those of a tagger.
    """
    return _read(path, _TAGGER)


def held_out_confusion(run: Path, labels: Sequence[str]) -> tuple[tuple[tuple[int, ...], ...] | None, str]:
    """Return how often a run took one label for another on held-out data, by gold and predicted label, and on which data.

    That is `held_out` in `metrics.json`, or the groups in `dev` of a joint model; None if there is nothing of use.
    """
    path = run / FILE
    found = read_json(path) if path.is_file() else None
    if not isinstance(found, dict):
        return None, ""
    kept, groups = found.get("held_out"), found.get("dev")
    if isinstance(kept, dict):
        return _reordered(kept, labels), str(kept.get("source") or "held-out data")[:200]
    scores = [group.get("labels") for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    matrices = [matrix for each in scores if (matrix := _reordered(each, labels))]
    if not matrices:
        return None, ""
    return tuple(tuple(map(sum, zip(*rows, strict=True))) for rows in zip(*matrices, strict=True)), "held-out reviews"


def _reordered(kept: Any, labels: Sequence[str]) -> tuple[tuple[int, ...], ...] | None:
    """Return the matrix in the order of `labels`; None if it is not one of these labels."""
    try:
        found = _matrix(kept, "confusion")
    except InputError:
        return None
    names, rows = found["labels"], found["confusion"]
    if sorted(names) != sorted(labels):
        return None
    places = [names.index(label) for label in labels]
    return tuple(tuple(rows[gold][predicted] for predicted in places) for gold in places)


def _read(path: Path, parsers: Mapping[str, Parser]) -> dict[str, Any]:
    found = read_json(path)
    with naming_damage(path):
        if not isinstance(found, dict):
            raise InputError(f"it is {shorten(found)}; expected an object")
        for key, parse in parsers.items():
            if key in found:
                parse(found[key], key)
            elif key not in _LATER:
                raise InputError(f"it has no `{key}`")
    return found


def _labels(value: Any, name: str) -> dict[str, int]:
    if not (found := _counts(value, name)):
        raise InputError(f"`{name}` is empty; expected the count of each label")
    return found


def _held_out(value: Any, name: str) -> dict[str, Any]:
    source: dict[str, Any] = _some(source=text)(value, name)
    return _matrix(value, name) | source


def _matrix(value: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = _some(labels=list_of(text), confusion=list_of(list_of(_count)))(value, name)
    n_labels, rows = len(found["labels"]), found["confusion"]
    if len(rows) != n_labels or any(len(row) != n_labels for row in rows):
        raise InputError(f"`{name}.confusion` is not a table of {n_labels} by {n_labels} counts")
    return found


def _counts(value: Any, name: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise InputError(f"`{name}` is {shorten(value)}; expected an object of counts")
    return {key: _count(each, f"{name}.{key}") for key, each in value.items()}


def _count(value: Any, name: str) -> int:
    found = integer(value, name)
    if not 0 <= found < 1 << 63:
        raise InputError(f"`{name}` is {shorten(value)}; expected a count")
    return found


def _some(**parsers: Parser) -> Parser:
    """Return a parser of objects that have these keys, and maybe others."""

    def parse(value: Any, name: str) -> dict[str, Any]:
        known = {key: value[key] for key in parsers if key in value} if isinstance(value, dict) else value
        return parse_fields(known, name, parsers)

    return parse


_LATER = ("calibration", "held_out", "gate", "mining")  # keys that runs of other versions or methods lack
_COVERAGE = optional(_some(tokens=number))
_CALIBRATION = _some(temperature=number, source=text, instances=_count, error_before=number, error_after=number)
_RUN: dict[str, Parser] = {
    **dict.fromkeys(("instances", "epochs", "parameters", "members"), _count),
    **{"labels": _labels, "dropped": _counts, "corpus_hash": text, "vector_coverage": _COVERAGE},
    "dev": optional(_some(accuracy=number, macro_f1=number)),
    "calibration": optional(_CALIBRATION),
    "held_out": optional(_held_out),
    "gate": optional(_some(with_evidence=number, without=number)),
}
_TAGGER: dict[str, Parser] = {
    **dict.fromkeys(("sentences", "empty", "aspects", "epochs", "parameters"), _count),
    "dev": optional(_some(f1=number)),
    "vector_coverage": _COVERAGE,
}
