"""What experiments are made of, as values: a model trained and tested, evidence mined, a look at a trained model.

A cell names everything that decides its outcome but the files themselves, whose fingerprints `Resources` adds. Equal cells are
one cell: exhibits that share a baseline or mined evidence share its outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

__all__ = [
    "Cell",
    "Look",
    "Mining",
    "Place",
    "Setting",
    "Timing",
    "Training",
    "describe",
    "from_description",
    "name_of",
    "settings",
    "with_needs",
]

Setting = tuple[str, Any]  # a name of the configuration and its value


def settings(**values: Any) -> tuple[Setting, ...]:
    """Settings by name, in the order of their names."""
    return tuple(sorted(values.items()))


@dataclass(frozen=True)
class Place:
    """Where an experiment happens: a model on a data set, with a seed."""

    data: str  # name of a data set
    model: str
    seed: int
    share: float = 1.0  # of train: so many of its first instances
    held_out: bool = False  # judged on a fifth of train, by sentence, instead of test, which then is not opened
    stripped: bool = False  # targets damaged as the paper's footnote tells
    settings: tuple[Setting, ...] = ()  # of everything that happens here


@dataclass(frozen=True)
class Mining:
    """Evidence mined once; K rounds hold those of fewer."""

    place: Place
    method: str  # aw-as, pg-as, rm-as, consensus; or human: the opinion words that people marked
    settings: tuple[Setting, ...] = ()

    @property
    def needs(self) -> tuple[Cell, ...]:
        """Human words need nothing; the others the number of epochs, and most the trained baseline itself."""
        return () if self.method == "human" else (Training(self.place),)

    @property
    def needs_weights(self) -> bool:
        """Whether mining goes on from the baseline's parameters."""
        chosen = dict(self.settings)
        own_models = self.method in ("human", "consensus") or chosen.get("folds", 0) or "refine" in chosen
        return not own_models


@dataclass(frozen=True)
class Training:
    """A model trained and tested; the plain one is the baseline of its place."""

    place: Place
    method: str = "base"  # or kt, boosting, adaboost
    evidence: tuple[Mining, ...] = ()  # that supervises it: the words that all of them found
    rounds: int = 0  # of the evidence; 0: all
    above: float = 0.0  # least score of a word of the evidence that counts
    settings: tuple[Setting, ...] = ()

    @property
    def is_baseline(self) -> bool:
        """Whether others compare with it and take its number of epochs."""
        return self == Training(self.place)

    @property
    def needs(self) -> tuple[Cell, ...]:
        """The baseline's number of epochs, and the evidence."""
        return () if self.is_baseline else (Training(self.place), *self.evidence)

    @property
    def needs_weights(self) -> bool:
        """Every training starts afresh."""
        return False


@dataclass(frozen=True)
class Look:
    """A measurement of a trained model, by the name of a file in `looks/`."""

    training: Training
    what: str
    settings: tuple[Setting, ...] = ()

    @property
    def place(self) -> Place:
        """Of the model."""
        return self.training.place

    @property
    def needs(self) -> tuple[Cell, ...]:
        """The model."""
        return (self.training,)

    @property
    def needs_weights(self) -> bool:
        """Always."""
        return True


@dataclass(frozen=True)
class Timing:
    """Wall times of whole methods, one after the other in one process, so that their ratios mean something."""

    place: Place
    methods: tuple[str, ...]  # the first is what the others are compared with

    @property
    def needs(self) -> tuple[Cell, ...]:
        """Nothing: every method runs from its beginning, as a user's would."""
        return ()

    @property
    def needs_weights(self) -> bool:
        """No."""
        return False


Cell = Mining | Training | Look | Timing


def with_needs(cells: Iterable[Cell]) -> list[Cell]:
    """The cells and all that they need, each once."""
    found: dict[Cell, None] = {}
    for cell in cells:
        found |= dict.fromkeys([*with_needs(cell.needs), cell]) if cell not in found else {}
    return list(found)


def name_of(cell: Cell) -> str:
    """A short name for people."""
    place = cell.place
    words = [place.data, place.model, f"seed {place.seed}", *_told_within(place.settings)]
    match cell:
        case Mining():
            words.append(f"mine {cell.method}")
        case Training():
            words.append(cell.method)
            words += (word for one in cell.evidence for word in (f"+{one.method}", *_told_within(one.settings)))
            words += [f"K={cell.rounds}"] if cell.rounds else []
            words += [f"above {cell.above:g}"] if cell.above else []
        case Look():
            words.append(f"look {cell.what}")
        case Timing():
            words.append("timing")
    if place.share < 1:
        words.append(f"{place.share:.0%}")
    words += ["held out"] if place.held_out else []
    words += ["stripped"] if place.stripped else []
    return " ".join(words + _told(getattr(cell, "settings", ())))


def _told(chosen: tuple[Setting, ...]) -> list[str]:
    return [f"{name}={value}" for name, value in chosen]


def _told_within(chosen: tuple[Setting, ...]) -> list[str]:
    return [f"[{' '.join(_told(chosen))}]"] if chosen else []


def describe(cell: Cell) -> dict[str, Any]:
    """The cell as plain values, the same for equal cells in every process and version; what is usual is left out."""
    return {"kind": type(cell).__name__.lower(), **_unusual(cell)}


def _unusual(value: Any) -> dict[str, Any]:
    usual = {f.name: f.default for f in fields(value)}
    found: dict[str, Any] = {}
    for name, chosen in ((f.name, getattr(value, f.name)) for f in fields(value)):
        if chosen == usual[name]:
            continue
        if name == "evidence":
            found[name] = [_unusual(mining) for mining in chosen]
        elif name in ("place", "training"):
            found[name] = _unusual(chosen)
        else:
            found[name] = dict(chosen) if name == "settings" else chosen
    return found


def from_description(described: Mapping[str, Any]) -> Cell:
    """Build the cell that `describe` described."""
    values = {name: value for name, value in described.items() if name != "kind"}
    match described["kind"]:
        case "mining":
            return _mining(values)
        case "training":
            return _training(values)
        case "look":
            return Look(_training(values["training"]), values["what"], _settings(values))
        case "timing":
            return Timing(_place(values), tuple(values["methods"]))
    raise ValueError(f"unknown kind of cell: {described['kind']}")


def _mining(values: Mapping[str, Any]) -> Mining:
    return Mining(_place(values), values["method"], _settings(values))


def _training(values: Mapping[str, Any]) -> Training:
    evidence = tuple(_mining(each) for each in values.get("evidence", ()))
    known = {name: value for name, value in values.items() if name in ("method", "rounds", "above")}
    return Training(_place(values), evidence=evidence, settings=_settings(values), **known)


def _place(values: Mapping[str, Any]) -> Place:
    place = values["place"]
    return Place(**{**place, "settings": _settings(place)})


def _settings(values: Mapping[str, Any]) -> tuple[Setting, ...]:
    chosen = values.get("settings", {}).items()
    return settings(**{name: tuple(value) if isinstance(value, list) else value for name, value in chosen})
