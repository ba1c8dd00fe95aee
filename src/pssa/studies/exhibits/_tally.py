"""Words that were found, and how many of them people marked: sums over seeds, from records of minings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pssa.experiments.ledger import Record

__all__ = ["Tally", "tally_above", "tally_all", "tally_reference", "tally_round"]


@dataclass(frozen=True)
class Tally:
    """Of instances in which people marked a word; expected numbers where words are drawn at random."""

    judged: Mapping[str, float]  # words by the label of their instance
    marked: Mapping[str, float]  # those among them that people marked
    covered: float  # instances for which there is a word
    instances: float

    @property
    def precision(self) -> float | None:
        """The share of the words that people marked."""
        words = sum(self.judged.values())
        return sum(self.marked.values()) / words if words else None

    @property
    def coverage(self) -> float | None:
        """The share of the instances for which there is a word."""
        return self.covered / self.instances if self.instances else None

    def precision_of(self, label: str) -> float | None:
        """Of the words in instances of one label."""
        words = self.judged.get(label, 0)
        return self.marked.get(label, 0) / words if words else None


def tally_round(records: Sequence[Record], number: int) -> Tally:
    """The words of one round, which takes at most one from an instance."""
    rounds = [record["rounds"].get(str(number), {"judged": {}, "marked": {}}) for record in records]
    judged = _sum(each["judged"] for each in rounds)
    return Tally(judged, _sum(each["marked"] for each in rounds), sum(judged.values()), _instances(records))


def tally_all(records: Sequence[Record]) -> Tally:
    """The words of all rounds."""
    rounds = [each for record in records for each in record["rounds"].values()]
    covered = sum(record["judged_with_active"] for record in records)
    judged, marked = (_sum(each[name] for each in rounds) for name in ("judged", "marked"))
    return Tally(judged, marked, covered, _instances(records))


def tally_above(records: Sequence[Record], least: float) -> Tally:
    """The words of all rounds with a score above `least`, of records that tell scores."""
    found = [record["by_score"][str(least)] for record in records]
    judged, marked = (_sum(each[name] for each in found) for name in ("judged", "marked"))
    return Tally(judged, marked, sum(each["covered"] for each in found), _instances(records))


def tally_reference(records: Sequence[Record], kind: str) -> Tally:
    """A `random` candidate of every instance, or the `nearest` to the aspect, of records that tell it."""
    found = [record["reference"] for record in records]
    instances = _sum({label: row["instances"] for label, row in each.items()} for each in found)
    marked = _sum({label: row[kind] for label, row in each.items()} for each in found)
    return Tally(instances, marked, sum(instances.values()), _instances(records))


def _instances(records: Sequence[Record]) -> int:
    return sum(record["judged"] for record in records)


def _sum(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)
