"""`ReadOptions`: how a file of labelled instances is read, by `read`, `check` and a training."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict, Unpack

from pssa.data.example import DEFAULT_LABELS
from pssa.data.fields import LabelRule
from pssa.data.labels import GivenLabelMap, read_label_map
from pssa.data.rows import ColumnNames, Columns
from pssa.data.validation import nearest_name, shorten
from pssa.errors import InputError, setting

ON_ERRORS = ("fail", "skip")
OCCURRENCES = ("first", "all", "error")


class ReadSettings(TypedDict, total=False):
    """The keyword arguments of `read`; each may be left out."""

    format: str | None
    columns: ColumnNames | None
    labels: tuple[str, ...]
    conflict: str
    label_map: GivenLabelMap | None
    encoding: str | None
    errors: str
    occurrence: str
    run: str


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file of instances.

    :raises InputError: for a value that is not known.
    """

    format: str = ""  # empty: recognised
    columns: Columns = field(default_factory=Columns)
    labels: tuple[str, ...] = DEFAULT_LABELS
    conflict: str = "drop"  # of the label `conflict` if `labels` does not have it: drop, keep or error
    label_map: tuple[tuple[str, str], ...] = ()  # labels of the file, and what they mean
    encoding: str = "utf-8"
    errors: str = "fail"  # on instances that cannot be used; or "skip" them
    occurrence: str = "first"  # on aspects that occur several times; or "all", or "error"
    run: str = ""  # whose labels these are, if a run fixes them

    def __post_init__(self) -> None:
        for name, known in (("errors", ON_ERRORS), ("occurrence", OCCURRENCES)):
            if getattr(self, name) not in known:
                raise InputError(f"{setting(name)} is {shorten(getattr(self, name))}; expected {' or '.join(known)}")
        check_encoding(self.encoding)

    @classmethod
    def of(cls, **given: Unpack[ReadSettings]) -> ReadOptions:
        """Build from the keyword arguments of `read`."""
        known = [each.name for each in fields(cls)]
        if unknown := [name for name in given if name not in known]:
            near = nearest_name(unknown[0], known)
            advice = f"did you mean {near}?" if near else f"known: {', '.join(known)}"
            raise InputError(f"unknown option {shorten(unknown[0])}; {advice}")
        values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        values["columns"] = Columns.of(values.get("columns"))
        values["label_map"] = tuple(read_label_map(values.get("label_map")).items())
        return cls(**values)

    def rule(self) -> LabelRule:
        """Return how labels are read."""
        return LabelRule.of(self.labels, self.conflict, self.run, dict(self.label_map))

    @property
    def changed(self) -> dict[str, Any]:
        """The options that are not at their default, by the names and with the values of the configuration."""
        usual, found = ReadOptions(), {}
        for each in fields(self):
            value = getattr(self, each.name)
            if value != getattr(usual, each.name):
                found[each.name] = dict(value.pairs) if isinstance(value, Columns) else value
        if "label_map" in found:
            found["label_map"] = dict(self.label_map)
        return found


def check_encoding(name: str | None) -> None:
    """Refuse the name of an encoding that Python does not know, or that is not one of text."""
    try:
        known = not name or codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):
        known = False
    if not known:
        examples = "expected a name such as windows-1252, latin-1 or utf-16"
        raise InputError(f"{setting('encoding')} is {shorten(name)}, which is not known; {examples}")
