"""Copies of a run to give away: its files without paths of this machine, and a compact copy to ship.

A compact copy has what loading takes. Numbers are stored in half precision, and loading makes them single precision again.
Training data, evidence and checkpoints are left out, so no training sentence is in the copy.
"""

from __future__ import annotations

import json
import shutil
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import tomli_w
from torch import Tensor

from pssa.data.files import write_atomically
from pssa.data.validation import read_toml
from pssa.runs.directory import RunDirectory, read_json, read_tensors, write_tensors
from pssa.runs.run_names import resolve_run

# A star matches files in deeper folders too.
PORTABLE = (
    "model.json",
    "model.safetensors",
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
_WEIGHTS, _EVIDENCE = "model.safetensors", "evidence.jsonl"  # evidence quotes the training sentences
_TABLES = ("calibration.json", "inputs.json")  # long lists, of which nobody reads single lines


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


def write_compact(run: str | Path, out: str | Path) -> Path:
    """Write a compact copy of a finished run into the new directory `out`.

    :raises InputError: if `run` is not a finished run, or `out` exists.
    """
    root = resolve_run(run)
    files = {name: content for name, content in portable_files(root).items() if name != _EVIDENCE}
    with RunDirectory.created(Path(out)) as directory:
        for name, content in files.items():
            target = directory.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.name == _WEIGHTS:
                tensors, _ = read_tensors(root / name)
                write_tensors(target, {each: _half(tensor) for each, tensor in tensors.items()})
            elif name in _TABLES:
                content = json.dumps(read_json(root / name), ensure_ascii=False, separators=(",", ":")) + "\n"
                write_atomically(target, content.encode())
            elif isinstance(content, str):
                write_atomically(target, content.encode())
            else:
                shutil.copyfile(content, target)
    return Path(out)


def _half(tensor: Tensor) -> Tensor:
    """Return the tensor in half precision, unless it has numbers that are too large for it."""
    narrow = tensor.half() if tensor.is_floating_point() else tensor
    return narrow if bool(narrow.isfinite().all()) else tensor
