"""A run's configuration: frozen dataclasses, a TOML file, and overrides by name.

`config.toml` in a run directory holds every value, defaults included. A key may be given bare (`patience`) or with its section
(`training.patience`); bare names are unique. Unknown keys and values of a wrong type are errors that say what is known.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

import tomli_w

from pssa import models
from pssa.data.files import read_bounded
from pssa.data.read import Columns
from pssa.data.validation import format_error, shorten
from pssa.errors import InputError
from pssa.runs.sections import (
    UNSET,
    UNSET_TRAINING,
    DataConfig,
    MiningConfig,
    SupervisionConfig,
    TrainingConfig,
)
from pssa.training.settings import Settings

__all__ = [
    "UNSET",
    "UNSET_TRAINING",
    "Config",
    "DataConfig",
    "MiningConfig",
    "SupervisionConfig",
    "TrainingConfig",
    "parse_value",
]

_SEEDS = 2**32
_MOST_BYTES = 1 << 20  # of a file
_LONGEST = 100  # characters of a name
_ALIKE = 0.75  # names at least so similar may have been meant
_COLUMNS = "columns"  # the setting whose value is a table, as sections are
_PATHS = ("train", "dev", "vectors", "encoder", "evidence")


@dataclass(frozen=True)
class Config:
    """Everything that determines a run."""

    model: str = "tnet_att"
    method: str = "base"
    seed: int = 0
    device: str = "auto"
    epochs: int = 0  # 0: as is usual for the model: a search on development data, or a fixed number
    data: DataConfig = field(default_factory=DataConfig)
    options: dict[str, Any] = field(default_factory=dict)  # of the model
    training: TrainingConfig = field(default_factory=TrainingConfig)
    mining: MiningConfig = field(default_factory=MiningConfig)
    supervision: SupervisionConfig = field(default_factory=SupervisionConfig)

    def __post_init__(self) -> None:
        if not 0 <= self.seed < _SEEDS:
            raise InputError(f"seed is {self.seed}; it must be a whole number from 0 to {_SEEDS - 1}")
        if self.epochs < 0:
            raise InputError(
                f"epochs is {self.epochs}; it must be a number of epochs, or 0 for what is usual for the model"
            )

    @property
    def known_epochs(self) -> int:
        """How long to train, where that is known; 0: development data decides."""
        return self.epochs or max(self.training.usual_epochs, 0)

    def updated(self, changes: Mapping[str, Any]) -> Config:
        """A copy with these values, by bare or dotted name, or by section as a mapping.

        :raises InputError: for an unknown name or a value of the wrong type.
        """
        config = self
        for name, value in _flat(changes).items():
            config = _with_value(config, name, value)
        return config

    def places(self, changes: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Section and key of each value that `updated` would change; the section of what is in none is empty."""
        named = (name.rpartition(".") for name in _flat(changes))
        return [(section or _home(self, key), key) for section, _, key in named]

    def to_toml(self) -> str:
        """Every value that is set, as `from_toml` reads it."""
        table = _plain(asdict(self))
        if not self.data.columns:
            del table["data"][_COLUMNS]
        for name, unset in UNSET_TRAINING.items():
            if table["training"][name] == unset:
                del table["training"][name]
        return tomli_w.dumps(table)

    @classmethod
    def from_toml(cls, path: str | Path) -> Config:
        """Read a configuration; what the file does not name keeps its default."""
        try:
            table = tomllib.loads(read_bounded(Path(path), _MOST_BYTES).decode())
        except OSError as error:
            raise InputError.at(path, None, f"cannot be read: {error.strerror}") from error
        except InputError:
            raise
        except (ValueError, RecursionError) as error:  # beside TOML's own: no UTF-8, a number with too many digits
            raise InputError.at(path, None, f"not a TOML file: {format_error(error)}") from error
        try:
            return cls().updated(table)
        except InputError as error:
            raise InputError.at(path, None, str(error)) from error


def parse_value(text: str) -> Any:
    """A value as TOML spells it; what is not TOML is taken as a string, so quotes can be left out."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _with_value(config: Config, name: str, value: Any) -> Config:
    section, _, key = name.rpartition(".")
    section = section or _home(config, key)
    if section == "":
        return replace(config, **{key: _checked(config, key, value)})
    if section == "options":
        defaults = models.option_defaults(config.model)
        if key not in defaults:
            raise InputError(
                f"unknown option {shorten(key)} of model {config.model}; known: {', '.join(sorted(defaults))}"
            )
        return replace(config, options=config.options | {key: _as_kind(key, value, type(defaults[key]))})
    part = getattr(config, section, None)
    if not is_dataclass(part) or isinstance(part, type) or key not in {f.name for f in fields(part)}:
        raise _unknown(config, name)
    checked = _checked(part, key, value)
    if section == "training" and key in UNSET_TRAINING:
        _refuse_unset(key, checked)
    changed: Any = replace(part, **{key: checked})
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
    raise _unknown(config, key)


def _unknown(config: Config, name: str) -> InputError:
    """What to say of a name that is not known: the one it resembles, else all there are."""
    known = _names(config)
    keys = {full.rpartition(".")[2]: full for full in known}
    close = difflib.get_close_matches(name.rpartition(".")[2][:_LONGEST], keys, n=1, cutoff=_ALIKE)
    if not close:
        return InputError(f"unknown setting {shorten(name)}; known: {', '.join(known)}")
    return InputError(f"unknown setting {shorten(name)}; did you mean {keys[close[0]] if '.' in name else close[0]}?")


def _checked(part: Any, key: str, value: Any) -> Any:
    return _as_kind(key, value, get_type_hints(type(part))[key])


def _refuse_unset(key: str, value: Any) -> None:
    """What stands for "unset" is out of range when somebody asks for it."""
    if key == "usual_epochs" and value < 0:
        raise InputError(f"usual_epochs is {value}; it must not be negative")
    if key != "usual_epochs":
        Settings(**{key: value})


def _as_kind(key: str, value: Any, kind: Any) -> Any:
    if kind is float and type(value) is int:
        value = _to_float(value)
    if key == _COLUMNS:
        return dict(Columns.of(value).pairs)
    if kind == tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        if isinstance(parts, (list, tuple)) and all(isinstance(part, str) for part in parts):
            return tuple(part.strip() for part in parts)
    elif type(value) is kind and (kind is not float or math.isfinite(value)):
        if kind is str and len(value) > _LONGEST and key not in _PATHS:
            raise InputError(f"{key} has {len(value)} characters; expected a name, of at most {_LONGEST}")
        return value
    more = ", a finite one" if type(value) is float else ""
    raise InputError(f"{key} is {shorten(value)}; expected {getattr(kind, '__name__', str(kind))}{more}")


def _to_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


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
    sections = {
        key: value for key, value in table.items() if isinstance(value, dict) and key.rpartition(".")[2] != _COLUMNS
    }
    values = {key: table[key] for key in order if key not in sections}
    for section, inner in sections.items():
        values |= {f"{section}.{key}": value for key, value in inner.items()}
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value
