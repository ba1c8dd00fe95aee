"""A run's configuration: frozen dataclasses, a TOML file, and overrides by name.

`config.toml` in a run directory holds every value, defaults included. A key may be given bare (`patience`) or with its section
(`training.patience`); bare names are unique. Unknown keys and values of a wrong type are errors that say what is known.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

import tomli_w

from pssa import models
from pssa.data.example import DEFAULT_LABELS
from pssa.errors import InputError
from pssa.training.settings import Settings

__all__ = ["UNSET", "Config", "DataConfig", "MiningConfig", "SupervisionConfig", "parse_value"]

_SEEDS = 2**32


# Stands for "choose by model and method" where 0 is a value that people ask for; TOML has no null.
UNSET = -1.0


@dataclass(frozen=True)
class DataConfig:
    """What is read and how it is divided."""

    train: str = ""
    dev: str = ""  # development data of its own; it only selects and never joins the refit
    dev_fraction: float = 0.2  # of train, held out by sentence where there is no `dev`
    format: str = ""  # empty: recognised
    labels: tuple[str, ...] = DEFAULT_LABELS
    conflict: str = "drop"
    vectors: str = ""  # empty: random, trained embeddings
    vector_rows: int = 50_000  # rows of the file kept beside the training words, for words unseen in training
    dimension: int = 300  # of the embeddings where there is no `vectors`

    def __post_init__(self) -> None:
        if not 0 < self.dev_fraction < 1:
            raise InputError(f"dev_fraction is {self.dev_fraction}; it must be greater than 0 and less than 1")
        if self.vector_rows < 0:
            raise InputError(f"vector_rows is {self.vector_rows}; it must not be negative")
        if self.dimension < 1:
            raise InputError(f"dimension is {self.dimension}; it must be greater than 0")


@dataclass(frozen=True)
class MiningConfig:
    """How words are mined; methods that do not mine ignore it."""

    saliency: str = ""  # empty: the method's own
    epsilon: float = UNSET  # bits; unset: the model's default
    iterations: int = 5
    round_epochs: int = 1  # of the training between two rounds
    start: str = "continue"  # each round from the previous parameters, or "restart" from the initial ones, in full
    folds: int = 0  # 0: one miner, trained on what it judges; N: each instance judged by a model that has not seen it
    random_mask: bool = False  # with saliency "random": take the top word and hide a random one
    samples: int = 10  # of the gradient saliency: noisy copies of h(x); 0: none
    sigma: float = 0.15  # standard deviation of the noise
    target: str = "predicted"  # whose logit the gradient is of; the released code takes "gold"
    signed_shift: bool = False  # the released code's way with negative scores
    average: str = "scores"  # of normalised scores; the released code averages "raw" ones
    stop_drop: float = 0.0  # leave a sentence alone once hiding its last word cost less confidence; 0: never
    consensus_models: int = 3  # seeds of the consensus; each has a model per fold
    consensus_folds: int = 5
    consensus_right: int = 2  # models that must have been right about an instance
    consensus_threshold: float = 0.5  # least mean share of a word
    consensus_soft: bool = False  # expect the mean distribution itself


@dataclass(frozen=True)
class SupervisionConfig:
    """How evidence is used in the final training."""

    evidence: str = ""  # a file to train with instead of mining
    words: str = "both"  # or "active", "misleading"
    penalty: str = "tuned"  # or "letter", "release"
    gamma: float = UNSET  # unset: the penalty's own


@dataclass(frozen=True)
class Config:
    """Everything that determines a run."""

    model: str = "tnet_att"
    method: str = "base"
    seed: int = 0
    device: str = "auto"
    epochs: int = 0  # 0: as many as development data asks for
    data: DataConfig = field(default_factory=DataConfig)
    options: dict[str, Any] = field(default_factory=dict)  # of the model
    training: Settings = field(default_factory=Settings)
    mining: MiningConfig = field(default_factory=MiningConfig)
    supervision: SupervisionConfig = field(default_factory=SupervisionConfig)

    def __post_init__(self) -> None:
        if not 0 <= self.seed < _SEEDS:
            raise InputError(f"seed is {self.seed}; it must be a whole number from 0 to {_SEEDS - 1}")
        if self.epochs < 0:
            raise InputError(f"epochs is {self.epochs}; it must be a number of epochs, or 0 to search for it")

    def updated(self, changes: Mapping[str, Any]) -> Config:
        """A copy with these values, by bare or dotted name, or by section as a mapping.

        :raises InputError: for an unknown name or a value of the wrong type.
        """
        config = self
        for name, value in _flat(changes).items():
            config = _with_value(config, name, value)
        return config

    def to_toml(self) -> str:
        """Every value, as `from_toml` reads it."""
        return tomli_w.dumps(_plain(asdict(self)))

    @classmethod
    def from_toml(cls, path: str | Path) -> Config:
        """Read a configuration; what the file does not name keeps its default."""
        try:
            table = tomllib.loads(Path(path).read_text("utf-8"))
        except OSError as error:
            raise InputError.at(path, None, f"cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError.at(path, None, f"not a TOML file: {error}") from error
        try:
            return cls().updated(table)
        except InputError as error:
            raise InputError.at(path, None, str(error)) from error


def parse_value(text: str) -> Any:
    """A value as TOML spells it; what is not TOML is taken as a string, so quotes can be left out."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _with_value(config: Config, name: str, value: Any) -> Config:
    section, _, key = name.rpartition(".")
    section = section or _home(config, key)
    if section == "":
        return replace(config, **{key: _checked(config, key, value)})
    if section == "options":
        defaults = models.option_defaults(config.model)
        if key not in defaults:
            raise InputError(f"unknown option {key!r} of model {config.model}; known: {', '.join(sorted(defaults))}")
        return replace(config, options=config.options | {key: _as_kind(key, value, type(defaults[key]))})
    part = getattr(config, section, None)
    if not is_dataclass(part) or isinstance(part, type) or key not in {f.name for f in fields(part)}:
        raise InputError(f"unknown setting {name!r}; known: {', '.join(_names(config))}")
    changed: Any = replace(part, **{key: _checked(part, key, value)})
    return replace(config, **{section: changed})


def _home(config: Config, key: str) -> str:
    """The section that a bare name belongs to; an unknown name is taken for an option of the model."""
    for f in fields(config):
        part = getattr(config, f.name)
        if f.name == key:
            return ""
        if is_dataclass(part) and key in {inner.name for inner in fields(part)}:
            return f.name
    if key in models.option_defaults(config.model):
        return "options"
    raise InputError(f"unknown setting {key!r}; known: {', '.join(_names(config))}")


def _checked(part: Any, key: str, value: Any) -> Any:
    return _as_kind(key, value, get_type_hints(type(part))[key])


def _as_kind(key: str, value: Any, kind: Any) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if kind == tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        if isinstance(parts, (list, tuple)) and all(isinstance(part, str) for part in parts):
            return tuple(part.strip() for part in parts)
    elif type(value) is kind:
        return value
    raise InputError(f"{key} is {value!r}; expected {getattr(kind, '__name__', str(kind))}")


def _names(config: Config) -> list[str]:
    names: list[str] = []
    for f in fields(config):
        part = getattr(config, f.name)
        if f.name == "options":
            names.extend(f"options.{key}" for key in models.option_defaults(config.model))
        elif is_dataclass(part):
            names.extend(f"{f.name}.{inner.name}" for inner in fields(part))
        else:
            names.append(f.name)
    return names


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    # The model comes first, since the names of its options depend on it.
    order = sorted(table, key=lambda key: key != "model")
    values = {key: table[key] for key in order if not isinstance(table[key], dict)}
    for section, inner in table.items():
        if isinstance(inner, dict):
            values |= {f"{section}.{key}": value for key, value in inner.items()}
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value
