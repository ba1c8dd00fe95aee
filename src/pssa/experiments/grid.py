"""A declared grid of settings, its points, and the cells that judge them, with evidence mined once for all that can share it.

What a setting concerns decides what it costs. Of the final training (gamma, ramp, weighting, words): that training. Of mining: a
mining, and it is the same one for every number of rounds, since K rounds hold those of fewer, and for every number of words and
every threshold of a consensus, since a larger threshold leaves a part of the words. Of anything else: a baseline as well.
"""

from __future__ import annotations

import itertools
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pssa.data.files import read_bounded
from pssa.data.validation import format_error
from pssa.errors import InputError
from pssa.experiments.cells import Mining, Place, Setting, Training, settings
from pssa.experiments.comparison import METRICS
from pssa.runs import Config, methods
from pssa.runs.config import parse_value
from pssa.runs.defaults import check_mining, check_supervision, choose_consensus_rule, resolve

__all__ = ["DATA", "Grid", "Point", "Study", "bare_name", "parse_axis", "parse_setting", "read_grids", "section_of"]

DATA = "train"  # the one data set that is tuned on
Grid = Mapping[str, Sequence[Any]]  # values by setting; all combinations are points
Point = tuple[Setting, ...]  # in the order of the grid

_MOST_BYTES = 1 << 20  # of a file
_SECTIONS = ("data", "training", "mining", "supervision")
# What a study is about, or what its command names once.
_NO_AXES = ("model", "method", "seed", "device", "train", "dev", "vectors", "encoder", "evidence")
# How files are read, which belongs to them.
_OF_FILES = ("format", "columns", "labels", "conflict")


@dataclass(frozen=True)
class Study:
    """One model and method, settings that vary, settings that stay, and what chooses between them."""

    model: str
    method: str
    grids: tuple[Grid, ...]
    fixed: tuple[Setting, ...] = ()
    metric: str = "macro_f1"

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise InputError(f"--metric is {self.metric!r}; it can be {' or '.join(METRICS)}")
        if not methods.find(self.method).mines:
            known = ", ".join(methods.mining_names())
            raise InputError(f"--method is {self.method}, which supervises nothing that could be tuned; take {known}")
        if not any(self.grids):
            raise InputError("the grid is empty; name what varies with --grid NAME=VALUE,VALUE or a --grid-file")
        for grid in self.grids:
            self._check_names([*dict(self.fixed), *grid])
        for point in self.points:
            self._check_values(point)
            config = self.config(point)
            check_mining(config)
            check_supervision(config)
            _check_schedule(resolve(config))

    @property
    def points(self) -> tuple[Point, ...]:
        """Every combination of every grid, once, its values as the configuration has them."""
        found: dict[Point, None] = {}
        for grid in self.grids:
            for values in itertools.product(*grid.values()):
                found[self._typed(zip(grid, values, strict=True))] = None
        return tuple(found)

    @property
    def axes(self) -> tuple[str, ...]:
        """The settings that vary, in the order they were named."""
        return tuple(dict.fromkeys(itertools.chain.from_iterable(self.grids)))

    def config(self, point: Point) -> Config:
        """The configuration of a point, but for the files."""
        return Config().updated({"model": self.model, "method": self.method, **dict(self.fixed), **dict(point)})

    def cells(self, seed: int) -> dict[Point, Training]:
        """The training that judges each point with one seed; what it needs follows from it."""
        parts = {point: self._parts(point) for point in self.points}
        needed: dict[tuple[Any, ...], list[_Parts]] = {}
        for part in parts.values():
            needed.setdefault((part.place, part.mining), []).append(part)
        return {point: part.training(self, seed, needed[part.place, part.mining]) for point, part in parts.items()}

    def _parts(self, point: Point) -> _Parts:
        config = self.config(point)
        by_section: dict[str, dict[str, Any]] = {"place": {}, "mining": {}, "supervision": {}}
        for name, value in self._typed((dict(self.fixed) | dict(point)).items()):
            section = section_of(config, name)
            if _value(config, name) != _default(section, name):
                by_section[section if section in by_section else "place"][name] = value
        shared = _shared(config)
        mining = {name: value for name, value in by_section["mining"].items() if name not in shared}
        rest = (settings(**by_section["place"]), settings(**mining))
        return _Parts(*rest, settings(**by_section["supervision"]), *_depth(config))

    def _typed(self, given: Iterable[Setting]) -> Point:
        """The settings by their bare names, as the configuration takes their values, so that 2 and 2.0 are the same."""
        values = dict(given)
        config = Config().updated({"model": self.model, **values})
        typed = {name: _value(config, name) for name in values}
        return tuple((bare_name(name), values[name] if value is None else value) for name, value in typed.items())

    def _check_names(self, names: Sequence[str]) -> None:
        """Refuse what cannot vary, what would do nothing, and a setting that is given twice."""
        for name, times in Counter(map(bare_name, names)).items():
            if times > 1:
                raise InputError(f"{name} is given twice, set and varied or under two names; leave one of them out")
        for name in names:
            self._check_name(name)

    def _check_values(self, point: Point) -> None:
        """Refuse the mark by which a configuration leaves a setting to its default: nothing would be what it says."""
        config = self.config(point)
        for name, value in self._typed((dict(self.fixed) | dict(point)).items()):
            if value == -1 and _value(config, name) is None:
                raise InputError(f"{name} is -1, which stands for the default; leave it out, or give another value")

    def _check_name(self, name: str) -> None:
        bare, consensus = bare_name(name), self.method == "consensus"
        if bare in _NO_AXES:
            raise InputError(f"{name} cannot vary or be set here; a study is about one of it")
        if bare in _OF_FILES:
            raise InputError(f"{name} cannot vary or be set here; it belongs to the file: say it with --{bare}")
        if bare.startswith("consensus_") and not consensus:
            raise InputError(
                f"{name} is a setting of method consensus and does nothing with {self.method}; leave it out"
            )
        if bare == "iterations" and consensus:
            raise InputError("iterations does nothing with method consensus; take consensus_words, or leave it out")


@dataclass(frozen=True)
class _Parts:
    """A point's settings by what they concern, and how deep it digs: rounds, and the least share of a word."""

    place: tuple[Setting, ...]
    mining: tuple[Setting, ...]
    supervision: tuple[Setting, ...]
    rounds: int
    threshold: float

    def training(self, study: Study, seed: int, sharing: Sequence[_Parts]) -> Training:
        """The final training, with evidence that serves all who share it."""
        rounds, threshold = max(part.rounds for part in sharing), min(part.threshold for part in sharing)
        place = Place(DATA, study.model, seed, held_out=True, settings=self.place)
        names = ("consensus_words", "consensus_threshold") if study.method == "consensus" else ("iterations", "")
        deep = {name: value for name, value in zip(names, (rounds, threshold), strict=True) if name}
        usual = {"consensus_threshold": _usual_threshold(study.model)}
        unusual = {name: value for name, value in deep.items() if value != usual.get(name, _default("mining", name))}
        mining = Mining(place, study.method, settings(**dict(self.mining), **unusual))
        fewer = self.rounds if self.rounds < rounds else 0
        above = self.threshold if self.threshold > threshold else 0.0
        return Training(place, evidence=(mining,), rounds=fewer, above=above, settings=self.supervision)


def parse_axis(text: str) -> tuple[str, tuple[Any, ...]]:
    """`NAME=VALUE,VALUE`, values as TOML spells them; what is not TOML is taken as strings."""
    name, values = _split(text, "--grid", "NAME=VALUE,VALUE")
    try:
        return name, tuple(tomllib.loads(f"values = [{values}]")["values"])
    except (ValueError, RecursionError):
        return name, tuple(parse_value(value.strip()) for value in values.split(","))


def parse_setting(text: str) -> Setting:
    """`NAME=VALUE`."""
    name, value = _split(text, "--set", "NAME=VALUE")
    return name, parse_value(value)


def read_grids(path: Path) -> tuple[Grid, ...]:
    """The grids of a TOML file: one, or several tables `[[grid]]` whose points are taken together."""
    try:
        table = tomllib.loads(read_bounded(path, _MOST_BYTES).decode())
    except OSError as error:
        raise InputError.at(path, None, f"cannot be read: {error.strerror}") from error
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError.at(path, None, f"not a TOML file: {format_error(error)}") from error
    grids = table.pop("grid", None)
    if grids is None:
        return (_axes(path, table),)
    if table or not isinstance(grids, list) or not all(isinstance(grid, dict) for grid in grids):
        raise InputError.at(
            path, None, "expected settings with lists of values, or tables [[grid]] of such and no more"
        )
    return tuple(_axes(path, grid) for grid in grids)


def bare_name(name: str) -> str:
    """A setting's name without its section."""
    return name.rpartition(".")[2]


def section_of(config: Config, name: str) -> str:
    """The section of a setting that the configuration has; empty: none, it stands at the top."""
    section, _, key = name.rpartition(".")
    if section:
        return section
    for part in _SECTIONS:
        if key in {f.name for f in fields(getattr(config, part))}:
            return part
    return "" if key in {f.name for f in fields(config)} else "options"


def _axes(path: Path, table: Mapping[str, Any]) -> Grid:
    axes: dict[str, Sequence[Any]] = {}
    for name, values in table.items():
        if isinstance(values, dict):
            axes |= {f"{name}.{key}": inner for key, inner in values.items()}
        else:
            axes[name] = values
    for name, values in axes.items():
        if not isinstance(values, list) or not values:
            raise InputError.at(path, None, f"{name} is {values!r}; expected a list of values, such as [0.5, 2.0]")
    return axes


def _split(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, values = text.partition("=")
    if not equals or not name.strip() or not values.strip():
        raise InputError(f"{option} {text} has no name or no value; write {option} {form}")
    return name.strip(), values.strip()


def _value(config: Config, name: str) -> Any:
    section, key = section_of(config, name), bare_name(name)
    if section == "options":
        return config.options[key]
    return getattr(getattr(config, section) if section else config, key)


def _default(section: str, name: str) -> Any:
    """What is usual whatever the model; none of its options is, since what is usual there depends on the files."""
    return None if section == "options" else _value(Config(), name)


def _check_schedule(config: Config) -> None:
    """Refuse what `pssa train` would do otherwise: there a searched number of epochs keeps the schedule of the search."""
    if not config.known_epochs and config.training.schedule != "constant":
        raise InputError(
            f"schedule {config.training.schedule} is tuned with a number of epochs that is known; add --set epochs=N"
        )


def _shared(config: Config) -> tuple[str, ...]:
    """Settings of mining that points with the same evidence may differ in."""
    if config.method != "consensus":
        return ("iterations",)
    # The distribution itself has no threshold and no number of words.
    return () if config.mining.consensus_soft else ("consensus_words", "consensus_threshold")


def _usual_threshold(model: str) -> float:
    return choose_consensus_rule(Config(model=model)).threshold


def _depth(config: Config) -> tuple[int, float]:
    if config.mining.consensus_soft:
        return Config().mining.consensus_words, _usual_threshold(config.model)
    if config.method == "consensus":
        agreement = choose_consensus_rule(config)
        return agreement.words, agreement.threshold
    return config.mining.iterations, 0.0
