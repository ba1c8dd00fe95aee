"""The files of a run that can be given away: what loading and evaluating it takes, without paths of this machine."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import tomli_w

from pssa.data.validation import read_toml
from pssa.runs.directory import RunDirectory

# A star matches files in deeper folders too.
PORTABLE = (
    "model.json",
    "model.safetensors",
    "vectors.safetensors",
    "vocabulary.json",
    "calibration.json",
    "inputs.json",
    "encoder/*",
    "members/*",
    "aspects/*",
    "config.toml",
    "metrics.json",
    "history.jsonl",
    "evidence.jsonl",
    "README.md",
)
_TRAINING_STATE = "stages"  # only resuming needs it
_PATHS = (("data", "train"), ("data", "dev"), ("data", "vectors"), ("supervision", "evidence"))
_TAGGER = "aspects/tagger.json"
# Keys under which transformers records where a configuration or a tokenizer was loaded from.
_ORIGIN = ("_name_or_path", "name_or_path")


def is_portable(name: str) -> bool:
    """Return whether a file of this name, relative to the run, can be given away."""
    parts = name.split("/")
    hidden = any(part.startswith(".") or part == _TRAINING_STATE for part in parts)
    return not hidden and any(fnmatch(name, pattern) for pattern in PORTABLE)


def portable_files(run: Path) -> dict[str, Path | str]:
    """Return the files of a finished run by their names in it: paths, or the text of those that must be changed.

    :raises InputError: if `run` is not a finished run.
    """
    RunDirectory.open(run).require_finished()
    names = sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())
    files: dict[str, Path | str] = {name: run / name for name in names if is_portable(name)}
    files["config.toml"] = _config(run / "config.toml")
    if _TAGGER in files:
        files[_TAGGER] = _tagger(run / _TAGGER)
    described = [name for name in files if fnmatch(name, "*encoder/*.json")]
    return files | {name: _described(run / name) for name in described}


def _config(path: Path) -> str:
    """Return the configuration without paths of this machine."""
    table = read_toml(path)
    for section, key in _PATHS:
        table.get(section, {}).pop(key, None)
    for key in {"encoder", "from_pretrained"} & table["data"].keys():
        table["data"][key] = _name(table["data"][key])
    return tomli_w.dumps(table)


def _tagger(path: Path) -> str:
    """Return the description of a tagger without paths of this machine."""
    table = json.loads(path.read_text("utf-8"))
    return _json(table | {"vectors": None, "encoder": table["encoder"] and _name(table["encoder"])})


def _described(path: Path) -> Path | str:
    """Return an encoder's JSON file without the folder it was loaded from."""
    table = json.loads(path.read_text("utf-8"))
    origins = [key for key in _ORIGIN if isinstance(table, dict) and Path(str(table.get(key, ""))).is_absolute()]
    return _json(table | {key: _name(table[key]) for key in origins}) if origins else path


def _name(encoder: str) -> str:
    return Path(encoder).name if Path(encoder).is_absolute() else encoder


def _json(table: dict[str, Any]) -> str:
    return json.dumps(table, indent=2, ensure_ascii=False) + "\n"
