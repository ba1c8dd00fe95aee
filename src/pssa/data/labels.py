"""Labels as users give them: label maps, such as `4=positive,5=positive,3=neutral`, and label texts.

A label map says which label of a file stands for which label of ours. It is given inline, as a dict, or as a file: CSV with the
columns `from` and `to`, or TOML with lines `"4" = "positive"`. Several labels may become one. A label with nothing after the
equals sign is dropped, and one that is not listed stays as it is.

A label text is a sentence about an aspect that has the label, such as `the {aspect} is great`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.files import read_bounded
from pssa.data.validation import format_error, is_integer, join_names, parse_toml, shorten
from pssa.errors import InputError, setting

LabelMap = Mapping[str, str]  # our label by the file's label; an empty one: drop the instance
GivenLabelMap = LabelMap | str | Path

CONFLICT = "conflict"
MAX_LABEL = 60  # characters of a label that `check` proposes to declare

_LABEL_MAP = setting("label_map")
_CONFLICT_MODES = ("drop", "keep", "error")
_SHORT_LABELS = {"pos": "positive", "neg": "negative", "neu": "neutral"}
_EXAMPLE = "4=positive,5=positive,3=neutral"
_SUFFIXES = (".csv", ".tsv", ".toml")
_MAX_BYTES = 1 << 20
PLACE = "{aspect}"  # where the aspect stands in a text
ENGLISH = {
    "positive": f"the {PLACE} is great",
    "negative": f"the {PLACE} is terrible",
    "neutral": f"there is a {PLACE}",
}
_MAX_CHARACTERS = 200


class UnknownLabel(InputError):
    """A label that was not declared."""

    def __init__(self, label: str, expected: str) -> None:
        super().__init__(f"unknown label {shorten(label)}; {expected}")
        # Many may be held at once; one character too many is enough to see that it cannot be declared.
        self.label = label[: MAX_LABEL + 1]


@dataclass(frozen=True, slots=True)
class LabelRule:
    """The declared labels, and whether instances labelled `conflict` are dropped if that is not one of them."""

    labels: tuple[str, ...]
    drops_conflict: bool
    run: str = ""  # the run whose labels these are; empty if the caller declares them
    mapped: Mapping[str, str] = field(default_factory=dict)  # our label by the key of the file's; empty: drop it

    @classmethod
    def of(cls, labels: tuple[str, ...], conflict: str, run: str = "", label_map: LabelMap | None = None) -> LabelRule:
        """Build the rule; `conflict` is `drop`, `keep` (as one more label) or `error`.

        Where a map gives other labels than the default ones and none are declared, those of the map are.
        """
        if conflict not in _CONFLICT_MODES:
            modes = ", ".join(_CONFLICT_MODES)
            raise InputError(f"{setting('conflict')} is {conflict!r}; expected one of {modes}")
        if len(set(labels)) != len(labels) or len(labels) < 2 or not all(labels):
            raise InputError(f"{setting('labels')} is {', '.join(labels)!r}; expected two or more, each once")
        targets = tuple(dict.fromkeys(label for label in (label_map or {}).values() if label))
        if unknown := [label for label in targets if label not in labels]:
            if run or labels != DEFAULT_LABELS or len(targets) < 2:
                what = f"{setting('label_map')} gives {shorten(unknown[0])}, which is not one of {', '.join(labels)}"
                raise InputError(f"{what}; " + ("map to these" if run else f"declare it with {setting('labels')}"))
            labels = targets
        if conflict == "keep" and CONFLICT not in labels:
            labels = (*labels, CONFLICT)
        mapped = {label_key(name): label for name, label in (label_map or {}).items()}
        return cls(labels, conflict == "drop" and CONFLICT not in labels, run, mapped)

    def normalise(self, label: str | None) -> str:
        """Return the declared label, given in any case or in its short form; `conflict` even if it is dropped."""
        if label is None:
            raise InputError(f"no `label`; {self.expected}")
        key = label_key(label)
        if key in self.mapped:
            return self.mapped[key]
        if label in self.labels:
            return label
        for declared in (*self.labels, CONFLICT) if self.drops_conflict else self.labels:
            if declared.casefold() in (key, _SHORT_LABELS.get(key)):
                return declared
        if self.run:
            known = f"{self.run} knows {', '.join(self.labels)}"
            raise UnknownLabel(label, f"{known}: relabel the data, or say what it means with {_LABEL_MAP}")
        advice = f"map it with {_LABEL_MAP}, or declare yours with {setting('labels')}"
        raise UnknownLabel(label, f"{self.expected}; {advice}")

    def drops(self, label: str | None) -> bool:
        """Whether the label is mapped to nothing, so that its instances are left out."""
        return label is not None and self.mapped.get(label_key(label)) == ""

    @property
    def expected(self) -> str:
        """What messages expect of a label."""
        return f"expected one of {', '.join(self.labels)}"


def read_label_map(given: GivenLabelMap | None) -> dict[str, str]:
    """Return the map that a dict, a text such as `4=positive,5=positive` or a CSV or TOML file gives.

    :raises InputError: if it cannot be read, or has a label twice.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return _checked(given.items(), "")
    if isinstance(given, Path) or (isinstance(given, str) and given.lower().endswith(_SUFFIXES)):
        return _read_file(Path(given))
    if not isinstance(given, str):
        raise InputError(f"{_LABEL_MAP} is {shorten(given)}; expected a dict, a file or {_EXAMPLE}")
    if not given.strip():
        return {}
    parts = [part.partition("=") for part in given.split(",")]
    if bad := [part for part in parts if not part[1] or not part[0].strip()]:
        expected = f"expected LABEL=LABEL pairs, separated by commas, such as {_EXAMPLE}, or a .csv or .toml file"
        raise InputError(f"{_LABEL_MAP} has {shorten(''.join(bad[0]))}; {expected}")
    return _checked(((name, label) for name, _, label in parts), "")


def label_key(label: str) -> str:
    """Return the form in which labels are compared: case and the space around them do not matter."""
    return label.strip().casefold()


def _read_file(path: Path) -> dict[str, str]:
    try:
        content = read_bounded(path, _MAX_BYTES).decode("utf-8-sig")
        pairs = parse_toml(content).items() if path.suffix.lower() == ".toml" else _read_csv(path, content)
    except OSError as error:
        raise InputError.at(path, None, f"cannot be read: {error.strerror}") from error
    except InputError:
        raise
    except (ValueError, csv.Error, RecursionError) as error:  # also: not UTF-8, not TOML
        raise InputError.at(path, None, f"is not a label map: {format_error(error)}") from error
    return _checked(pairs, f"{path}: ")


def _read_csv(path: Path, content: str) -> list[tuple[str, str]]:
    header, *lines = [line for line in content.splitlines() if line.strip()] or [""]
    rows = csv.DictReader([header.casefold().replace(" ", ""), *lines], delimiter=max(",;\t", key=header.count))
    if not {"from", "to"} <= {*(names := rows.fieldnames or ())}:
        raise InputError.at(path, 1, f"has the columns {join_names(names)}; expected `from` and `to`")
    return [(row["from"], row["to"]) for row in rows if None not in (row["from"], row["to"])]


def _checked(pairs: Iterable[tuple[Any, Any]], where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    keys: set[str] = set()
    for given, label in pairs:
        name = str(given) if is_integer(given) else given
        for value in (name, label):
            if not isinstance(value, str):
                raise InputError(f"{where}{_LABEL_MAP} has {shorten(value)}; expected labels as text")
        if label_key(name) in keys or not name.strip():
            raise InputError(f"{where}{_LABEL_MAP} has {shorten(name)} twice or without a name; give each label once")
        keys.add(label_key(name))
        found[name.strip()] = label.strip()
    return found


def read_label_texts(given: Any) -> dict[str, str]:
    """Return the texts by label that a dict, or `positive=the {aspect} is great,negative=...`, gives; none for an empty one.

    :raises InputError: if a text does not have the aspect's place once.
    """
    expected = f"expected a sentence with {PLACE} for each label, such as positive={ENGLISH['positive']}"
    if isinstance(given, str):
        parts = (part.partition("=") for part in given.split(",") if part.strip())
        given = {label: text for label, _, text in parts}
    if not isinstance(given, Mapping):
        raise InputError(f"label_texts is {shorten(given)}; {expected}")
    for label, text in given.items():
        is_text = isinstance(text, str) and text.count(PLACE) == 1 and len(text) <= _MAX_CHARACTERS
        if not is_text or not isinstance(label, str):
            raise InputError(f"label_texts has {shorten(text)} for {shorten(label)}; {expected}")
    return {label.strip(): text.strip() for label, text in given.items()}


def label_sentences(texts: Mapping[str, str], labels: Sequence[str], aspects: Iterable[str]) -> list[Example]:
    """Return the sentence of each label about each aspect."""
    sentences = []
    for aspect in aspects:
        for label in labels:
            text, start = texts[label], texts[label].index(PLACE)
            span = start, start + len(aspect)
            sentences.append(Example.from_text(text.replace(PLACE, aspect), span, label=label))
    return sentences
