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
_TAGGER = "aspects/tagger.json"  # of earlier versions
# Keys under which transformers records where a configuration or a tokenizer was loaded from.
_ORIGIN = ("_name_or_path", "name_or_path")


def is_portable(name: str) -> bool:
    """Return whether a file of this name, relative to the run, can be given away."""
    parts = name.split("/")
    hidden = any(part.startswith(".") or part == _TRAINING_STATE for part in parts)
    return not hidden and any(fnmatch(name, pattern) for pattern in PORTABLE)


def portable_files(run: Path) -> dict[str, Path | str]:
    """Return the files of a finished run by their names in it: paths, or text without the paths of this machine.

    :raises InputError: if `run` is not a finished run.
    """
    RunDirectory.open(run).require_finished()
    names = sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())
    files: dict[str, Path | str] = {name: run / name for name in names if is_portable(name)}
    for name in [name for name in files if fnmatch(name, "*config.toml")]:
        table = read_toml(run / name)
        for section, key in _PATHS:
            table.get(section, {}).pop(key, None)
        for key in {"encoder", "from_pretrained"} & table["data"].keys():
            table["data"][key] = _name(table["data"][key])
        files[name] = tomli_w.dumps(table)
    if _TAGGER in files:
        table = json.loads((run / _TAGGER).read_text("utf-8"))
        files[_TAGGER] = _json(table | {"vectors": None, "encoder": table["encoder"] and _name(table["encoder"])})
    for name in [name for name in files if fnmatch(name, "*encoder/*.json")]:
        table = json.loads((run / name).read_text("utf-8"))
        origins = [key for key in _ORIGIN if isinstance(table, dict) and Path(str(table.get(key, ""))).is_absolute()]
        if origins:
            files[name] = _json(table | {key: _name(table[key]) for key in origins})
    return files


def _name(encoder: str) -> str:
    return Path(encoder).name if Path(encoder).is_absolute() else encoder


def _json(table: dict[str, Any]) -> str:
    return json.dumps(table, indent=2, ensure_ascii=False) + "\n"
