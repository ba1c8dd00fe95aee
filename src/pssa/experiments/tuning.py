"""Grid search: a grid of settings, the cells that evaluate its points, with evidence shared where possible, and the best point.

A setting of supervision (gamma, ramp, weighting, words) costs a final training. A setting of mining costs a mining as well, but
numbers of rounds share one, since K rounds contain those of fewer, and so do numbers of words and thresholds of a consensus,
since a higher threshold keeps a part of the words. Any other setting costs a baseline too.

The best of many settings is optimistic. The bias is measured: the choice is repeated without one seed and evaluated on that
seed, for each seed.
"""

from __future__ import annotations

import itertools
import statistics
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pssa.data.validation import read_toml
from pssa.errors import InputError, setting
from pssa.experiments.cells import Mining, Place, Setting, Training, settings
from pssa.experiments.comparison import METRICS, Row, gather
from pssa.experiments.ledger import RecordLookup
from pssa.runs import Config, methods
from pssa.runs.defaults import check_mining, check_supervision, choose_consensus_rule, resolve
from pssa.runs.setting_field import parse_value

DATA = "train"  # the one data set that is tuned on
Grid = Mapping[str, Sequence[Any]]  # values by setting; every combination is a point
Point = tuple[Setting, ...]  # in the order of the grid

TIE = 1e-9  # points; means of equal scores differ by rounding alone
# Fixed for a search, or given once by its own option.
_NO_AXES = ("model", "method", "preset", "seed", "device", "train", "dev", "vectors", "encoder", "evidence")
# How the training file is read.
_READ_OPTIONS = ("format", "columns", "labels", "conflict")


@dataclass(frozen=True)
class GridSearch:
    """A model and method, the grids of settings that vary, the settings that stay, and the metric that chooses."""

    model: str
    method: str
    grids: tuple[Grid, ...]
    fixed: tuple[Setting, ...] = ()
    metric: str = "macro_f1"

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise InputError(f"{setting('metric')} is {self.metric!r}; choose {' or '.join(METRICS)}")
        if not methods.find(self.method).mines:
            known = ", ".join(methods.mining_names())
            raise InputError(f"{setting('method')} is {self.method}, which has no supervision to tune; choose {known}")
        if not any(self.grids):
            given = setting("grids", option="--grid NAME=VALUE,VALUE or --grid-file F")
            raise InputError(f"the grid is empty; name settings to vary with {given}")
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
        """Every combination of every grid, once, with the values that the configuration would hold."""
        found: dict[Point, None] = {}
        for grid in self.grids:
            for values in itertools.product(*grid.values()):
                found[self._typed(zip(grid, values, strict=True))] = None
        return tuple(found)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the settings that vary, in the given order."""
        return tuple(dict.fromkeys(itertools.chain.from_iterable(self.grids)))

    def config(self, point: Point) -> Config:
        """Return the configuration of a point, without files."""
        return Config().updated({"model": self.model, "method": self.method, **dict(self.fixed), **dict(point)})

    def cells(self, seed: int) -> dict[Point, Training]:
        """Return the training that evaluates each point with one seed."""
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
        return _Parts(*rest, settings(**by_section["supervision"]), *_extent(config))

    def _typed(self, given: Iterable[Setting]) -> Point:
        """Return settings by bare name with the values that the configuration holds, so that 2 and 2.0 are equal."""
        values = dict(given)
        config = Config().updated({"model": self.model, **values})
        typed = {name: _value(config, name) for name in values}
        return tuple((bare_name(name), values[name] if value is None else value) for name, value in typed.items())

    def _check_names(self, names: Sequence[str]) -> None:
        """Refuse settings that cannot vary, have no effect, or are given twice."""
        for name, times in Counter(map(bare_name, names)).items():
            if times > 1:
                raise InputError(f"{name} is given twice, as fixed and varied or under two names; leave one out")
        for name in names:
            self._check_name(name)

    def _check_values(self, point: Point) -> None:
        """Refuse the value by which a configuration marks a setting as unset."""
        config = self.config(point)
        for name, value in self._typed((dict(self.fixed) | dict(point)).items()):
            if value == -1 and _value(config, name) is None:
                raise InputError(f"{name} is -1, which means unset; leave it out, or give another value")

    def _check_name(self, name: str) -> None:
        bare = bare_name(name)
        is_used = methods.find(self.method).uses(Config(), "mining", bare)
        if bare in _NO_AXES:
            raise InputError(f"{name} cannot vary or be fixed here; a search has one of it")
        if bare in _READ_OPTIONS:
            option = setting("read_options", option=f"--{bare}")
            raise InputError(f"{name} cannot vary or be fixed here; it describes the file: use {option}")
        if bare.startswith("consensus_") and not is_used:
            raise InputError(
                f"{name} is a setting of method consensus and has no effect with {self.method}; leave it out"
            )
        if bare == "iterations" and not is_used:
            raise InputError("iterations has no effect with method consensus; use consensus_words, or leave it out")


@dataclass(frozen=True)
class _Parts:
    """The settings of a point by what they concern, and the extent of its mining: rounds, and the lowest score of a word."""

    place: tuple[Setting, ...]
    mining: tuple[Setting, ...]
    supervision: tuple[Setting, ...]
    rounds: int
    threshold: float

    def training(self, search: GridSearch, seed: int, sharing: Sequence[_Parts]) -> Training:
        """Return the final training, with evidence for all points that share it."""
        rounds, threshold = max(part.rounds for part in sharing), min(part.threshold for part in sharing)
        place = Place(DATA, search.model, seed, held_out=True, settings=self.place)
        names = methods.find(search.method).extent_settings
        deep = dict(zip(names, (rounds, threshold), strict=False))
        defaults = {"consensus_threshold": _default_threshold(search.model)}
        changed = {name: value for name, value in deep.items() if value != defaults.get(name, _default("mining", name))}
        mining = Mining(place, search.method, settings(**dict(self.mining), **changed))
        fewer = self.rounds if self.rounds < rounds else 0
        above = self.threshold if self.threshold > threshold else 0.0
        return Training(place, evidence=(mining,), rounds=fewer, above=above, settings=self.supervision)


@dataclass(frozen=True)
class PointResult:
    """A point of the grid and its records, by seed."""

    point: Point
    scores: Row
    baseline: Row  # of the same place
    place: tuple[Setting, ...] = ()  # settings that the baseline has too

    def mean(self, metric: str, seeds: Iterable[int] | None = None) -> float:
        """Return the mean in points, over these seeds or all."""
        chosen = self.scores if seeds is None else seeds
        return statistics.mean(100 * float(self.scores[seed][metric]) for seed in chosen)

    def gains(self, metric: str) -> dict[int, float]:
        """Return the points above the baseline of the same seed."""
        common = [seed for seed in self.scores if seed in self.baseline]
        return {seed: 100 * (self.scores[seed][metric] - self.baseline[seed][metric]) for seed in common}

    def gain(self, metric: str) -> float:
        """Return the mean of the gains."""
        return statistics.mean(self.gains(metric).values())


@dataclass(frozen=True)
class GridResult:
    """Every point of a grid search, as far as it was evaluated."""

    search: GridSearch
    seeds: int
    points: tuple[PointResult, ...]

    @classmethod
    def of(cls, search: GridSearch, seeds: int, lookup: RecordLookup) -> GridResult:
        """Collect the records of a search."""
        cells = [search.cells(seed) for seed in range(seeds)]
        points = []
        for point in search.points:
            trainings = {seed: found[point] for seed, found in enumerate(cells)}
            baselines = {seed: Training(training.place) for seed, training in trainings.items()}
            rows = gather(lookup, trainings), gather(lookup, baselines)
            points.append(PointResult(point, *rows, trainings[0].place.settings))
        return cls(search, seeds, tuple(points))

    @property
    def metric(self) -> str:
        """The metric that chooses."""
        return self.search.metric

    @property
    def complete(self) -> tuple[PointResult, ...]:
        """Points with a record for every seed; means over fewer seeds could not be compared."""
        return tuple(each for each in self.points if len(each.scores) == len(each.baseline) == self.seeds)

    @property
    def best(self) -> PointResult | None:
        """The point with the best mean; of equals, the first."""
        return _best(self.complete, self.metric, range(self.seeds))

    @property
    def helps(self) -> bool:
        """Whether the best point is better than its baseline."""
        return self.best is not None and self.best.gain(self.metric) > TIE

    @property
    def n_best(self) -> int:
        """Number of points with the mean of the best, itself included."""
        best = self.best
        means = [each.mean(self.metric) for each in self.complete]
        return 0 if best is None else sum(mean > best.mean(self.metric) - TIE for mean in means)

    @property
    def honest_gain(self) -> float | None:
        """Mean gain on a seed of the point that the other seeds choose; None with one seed, or nothing to choose from."""
        if self.seeds < 2 or len(self.complete) < 2:
            return None
        gains = []
        for left_out in range(self.seeds):
            chosen = _best(self.complete, self.metric, [seed for seed in range(self.seeds) if seed != left_out])
            assert chosen is not None
            gains.append(chosen.gains(self.metric)[left_out])
        return statistics.mean(gains)


def _best(points: Iterable[PointResult], metric: str, seeds: Iterable[int]) -> PointResult | None:
    chosen = list(seeds)
    return max(points, key=lambda each: each.mean(metric, chosen), default=None)


def parse_axis(text: str) -> tuple[str, tuple[Any, ...]]:
    """Parse `NAME=VALUE,VALUE`, values as in TOML; values that are not TOML are strings."""
    name, values = _split(text, "NAME=VALUE,VALUE")
    try:
        return name, tuple(tomllib.loads(f"values = [{values}]")["values"])
    except (ValueError, RecursionError):
        return name, tuple(parse_value(value.strip()) for value in values.split(","))


def parse_setting(text: str) -> Setting:
    """Parse `NAME=VALUE`."""
    name, value = _split(text, "NAME=VALUE")
    return name, parse_value(value)


def read_grids(path: Path) -> tuple[Grid, ...]:
    """Read the grids of a TOML file: one, or several tables `[[grid]]` whose points are joined."""
    table = read_toml(path)
    grids = table.pop("grid", None)
    if grids is None:
        return (_axes(path, table),)
    if table or not isinstance(grids, list) or not all(isinstance(grid, dict) for grid in grids):
        raise InputError.at(
            path, None, "expected settings with lists of values, or only tables [[grid]] of such settings"
        )
    return tuple(_axes(path, grid) for grid in grids)


def bare_name(name: str) -> str:
    """Return a setting's name without its section."""
    return name.rpartition(".")[2]


def section_of(config: Config, name: str) -> str:
    """Return the section of a setting; empty: it is at the top level."""
    return config.places({name: None})[0][0]


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


def _split(text: str, form: str) -> tuple[str, str]:
    name, equals, values = text.partition("=")
    if not equals or not name.strip() or not values.strip():
        raise InputError(f"{text!r} has no name or no value; write {form}")
    return name.strip(), values.strip()


def _value(config: Config, name: str) -> Any:
    section, key = config.places({name: None})[0]
    return config.flat()[f"{section}.{key}" if section else key]


def _default(section: str, name: str) -> Any:
    """Return the default for every model; None for a model option, whose default depends on the files."""
    return None if section == "options" else _value(Config(), name)


def _check_schedule(config: Config) -> None:
    """Refuse a schedule that would not be the one of `pssa train`, which keeps the schedule of its search for epochs."""
    if not config.known_epochs and config.training.schedule != "constant":
        raise InputError(
            f"schedule {config.training.schedule} needs a fixed number of epochs; add {setting('fixed', option='--set epochs=N')}"
        )


def _shared(config: Config) -> tuple[str, ...]:
    """Return the settings of mining that may differ between points that share evidence."""
    # A distribution itself has no threshold and no number of words.
    return () if config.mining.consensus_soft else methods.find(config.method).extent_settings


def _default_threshold(model: str) -> float:
    return choose_consensus_rule(Config(model=model)).threshold


def _extent(config: Config) -> tuple[int, float]:
    if config.mining.consensus_soft:
        return Config().mining.consensus_words, _default_threshold(config.model)
    return methods.find(config.method).extent(config)
