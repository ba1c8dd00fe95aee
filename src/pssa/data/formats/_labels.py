"""Labels as files write them to labels as they were declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from pssa.data.formats._rows import Row
from pssa.data.validation import shorten
from pssa.errors import InputError

__all__ = ["CONFLICT", "LONGEST_LABEL", "LabelRule", "UnknownLabel"]

CONFLICT = "conflict"
LONGEST_LABEL = 60  # that is proposed to be declared
_MODES = ("drop", "keep", "error")
_SHORT = {"pos": "positive", "neg": "negative", "neu": "neutral"}


class UnknownLabel(InputError):
    """A label is none of those that were declared."""

    def __init__(self, label: str, expected: str) -> None:
        super().__init__(f"unknown label {shorten(label)}; {expected}")
        # Many may be held at once; what is one character too long is no label to declare.
        self.label = label[: LONGEST_LABEL + 1]


@dataclass(frozen=True, slots=True)
class LabelRule:
    """The declared labels, and whether instances labelled `conflict`, if that is not one of them, are dropped."""

    labels: tuple[str, ...]
    drops_conflict: bool
    run: str = ""  # that knows these labels and no others; empty where they are whatever somebody declares

    @classmethod
    def of(cls, labels: tuple[str, ...], conflict: str, run: str = "") -> LabelRule:
        """Build the rule; `conflict` is `drop`, `keep` (as one more label) or `error`."""
        if conflict not in _MODES:
            raise InputError(f"conflict={conflict!r}; expected one of {', '.join(_MODES)}")
        if len(set(labels)) != len(labels) or len(labels) < 2 or not all(labels):
            raise InputError(f"labels {', '.join(labels)!r}; expected two or more, each once")
        if conflict == "keep" and CONFLICT not in labels:
            labels = (*labels, CONFLICT)
        return cls(labels, conflict == "drop" and CONFLICT not in labels, run)

    def normalise(self, label: str | None) -> str:
        """The declared label that is meant, in any case or in its short form; `conflict` also where it is dropped.

        :raises InputError: if it is none of them.
        """
        if label is None:
            raise InputError(f"no `label`; {self._expected}")
        if label in self.labels:
            return label
        key = label.strip().casefold()
        for declared in (*self.labels, CONFLICT) if self.drops_conflict else self.labels:
            if declared.casefold() in (key, _SHORT.get(key)):
                return declared
        if self.run:
            raise UnknownLabel(label, f"{self.run} knows {', '.join(self.labels)}: relabel the data")
        raise UnknownLabel(label, f"{self._expected}, or declare yours with `labels` (--labels)")

    def refuse_unlabelled(self, row: Row) -> NoReturn:
        """Refuse a row that has no label among its fields."""
        raise InputError(row.without("label", self._expected))

    @property
    def _expected(self) -> str:
        return f"expected one of {', '.join(self.labels)}"
