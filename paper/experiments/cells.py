"""Cells, the units of an experiment: a model trained and tested, evidence mined, a trained model analysed.

A cell is a value that holds everything that decides its outcome, except the content of the files, which `Resources` adds. Equal
cells are one cell: exhibits that share a baseline or mined evidence share its record.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from pssa.runs import methods

Setting = tuple[str, Any]  # a name of the configuration and its value
HUMAN, RANDOM, CORRECTED = "human", "random", "corrected"
GIVEN = (HUMAN, RANDOM, CORRECTED)  # evidence that no method mines


def settings(**values: Any) -> tuple[Setting, ...]:
    """Return settings sorted by name."""
    return tuple(sorted(values.items()))


@dataclass(frozen=True)
class Place:
    """The place of an experiment: a model on a data set, with a seed."""

    data: str  # name of a data set
    model: str
    seed: int
    share: float = 1.0  # of train: its first instances
    held_out: bool = False  # tested on a fifth of train, by sentence; the test file is not opened
    stripped: bool = False  # targets damaged as in the paper's footnote
    settings: tuple[Setting, ...] = ()  # of every training in this place
    small_encoder: bool = False  # the model starts from the small encoder of sweeps
    instances: int = 0  # of train that are drawn by the seed, fewer ones among more; 0: all


@dataclass(frozen=True)
class Mining:
    """Evidence mined once; K rounds hold those of fewer."""

    place: Place
    # aw-as, pg-as, rm-as, consensus; human: the opinion words that people marked; random: as many random words as consensus has,
    # or the method that the setting `words_of` names; corrected: a consensus whose words are replaced with the human ones in some
    # instances
    method: str
    settings: tuple[Setting, ...] = ()

    @property
    def needs(self) -> tuple[Cell, ...]:
        """The baseline, for its number of epochs and mostly its parameters; human words need nothing, random ones a mining."""
        if self.method == RANDOM:
            chosen = dict(self.settings)
            return (Mining(self.place, chosen.pop("words_of", "consensus"), settings(**chosen)),)
        if self.method == CORRECTED:
            return (Mining(self.place, "consensus"), Mining(self.place, HUMAN))
        return () if self.method == HUMAN else (Training(self.place),)

    @property
    def needs_weights(self) -> bool:
        """Whether mining starts from the baseline's parameters."""
        chosen = dict(self.settings)
        if self.method in GIVEN or chosen.get("folds", 0) or "refine" in chosen:
            return False
        return methods.find(self.method).continues_baseline


@dataclass(frozen=True)
class Training:
    """A model trained and tested; without a method it is the baseline of its place."""

    place: Place
    method: str = "base"  # or kt, boosting, adaboost
    evidence: Mining | None = None  # supervises the training
    rounds: int = 0  # of mining that count; 0: all
    above: float = 0.0  # only words with a higher score count
    settings: tuple[Setting, ...] = ()

    @property
    def needs_weights(self) -> bool:
        """Whether it starts from the baseline's parameters; most start from new ones."""
        return dict(self.settings).get("final_start") == "initial"

    @property
    def needs(self) -> tuple[Cell, ...]:
        """The baseline, whose number of epochs others use, and the evidence."""
        baseline = Training(self.place)
        return () if self == baseline else tuple(filter(None, (baseline, self.evidence)))


@dataclass(frozen=True)
class Analysis:
    """A measurement of a trained model, by the name of a function in `analyses`."""

    training: Training
    what: str
    settings: tuple[Setting, ...] = ()
    on: str = ""  # name of the data set whose test part is analysed; empty: that of the place
    needs_weights: ClassVar[bool] = True

    @property
    def place(self) -> Place:
        """The place of the model."""
        return self.training.place

    @property
    def needs(self) -> tuple[Cell, ...]:
        """The model."""
        return (self.training,)


Cell = Mining | Training | Analysis
_KINDS: dict[type, str] = {Mining: "mining", Training: "training", Analysis: "look"}  # in the ledger


def mining_method(mining: Mining) -> str:
    """Return the method whose gamma a training with this evidence has; random words have that of the words they replace."""
    return dict(mining.settings).get("words_of", "consensus") if mining.method == RANDOM else mining.method


def with_needs(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells and all that they need, each once, needs first."""
    found: dict[Cell, None] = {}
    for cell in cells:
        found |= dict.fromkeys([*with_needs(cell.needs), cell]) if cell not in found else {}
    return list(found)


def cell_name(cell: Cell) -> str:
    """Return a short name for people."""
    place = cell.place
    words = [place.data, place.model, f"seed {place.seed}", *_bracketed(place.settings)]
    match cell:
        case Mining():
            words.append(f"mine {cell.method}")
        case Training():
            words.append(cell.method)
            words += [f"+{cell.evidence.method}", *_bracketed(cell.evidence.settings)] if cell.evidence else []
            words += [f"K={cell.rounds}"] if cell.rounds else []
            words += [f"above {cell.above:g}"] if cell.above else []
        case Analysis():
            words.append(f"look {cell.what}" + (f" on {cell.on}" if cell.on else ""))
    words += ["small encoder"] if place.small_encoder else []
    if place.share < 1:
        words.append(f"{place.share:.0%}")
    words += [f"{place.instances} instances"] if place.instances else []
    words += ["held out"] if place.held_out else []
    words += ["stripped"] if place.stripped else []
    return " ".join(words + _pairs(getattr(cell, "settings", ())))


def _pairs(chosen: tuple[Setting, ...]) -> list[str]:
    return [f"{name}={value}" for name, value in chosen]


def _bracketed(chosen: tuple[Setting, ...]) -> list[str]:
    return [f"[{' '.join(_pairs(chosen))}]"] if chosen else []


def describe(cell: Cell) -> dict[str, Any]:
    """Return the cell as plain values, the same in every process and version; values at their default are left out."""
    return {"kind": _KINDS[type(cell)], **_non_defaults(cell)}


def _non_defaults(value: Any) -> dict[str, Any]:
    defaults = {f.name: f.default for f in fields(value)}
    found: dict[str, Any] = {}
    for name, chosen in ((f.name, getattr(value, f.name)) for f in fields(value)):
        if chosen == defaults[name]:
            continue
        if name == "evidence":
            found[name] = [_non_defaults(chosen)]
        elif name in ("place", "training"):
            found[name] = _non_defaults(chosen)
        else:
            found[name] = dict(chosen) if name == "settings" else chosen
    return found
