"""Copies of a run to give away: its files without paths of this machine, and a compact copy to ship.

A compact copy has what loading takes. Numbers are stored in half precision, and loading makes them single precision again.
Training data, evidence and checkpoints are left out, so no training sentence is in the copy. Words and vectors that classifier
and tagger have in common are stored once, in `vocabulary.json` and `vectors.safetensors`; vectors of words that nobody needs
can be left out.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import tomli_w
import torch
from torch import Tensor

from pssa.data.files import write_atomically
from pssa.data.validation import read_toml
from pssa.data.vectors import PACKED, save_matrix
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.runs.directory import RunDirectory, read_json, read_tensors, write_tensors
from pssa.runs.run_names import resolve_run

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
_WEIGHTS, _WORDS = "model.safetensors", "vocabulary.json"
_ASPECTS = "aspects"
_LEFT_OUT = ("evidence.jsonl",)  # it quotes the training sentences
_TABLES = ("calibration.json", "inputs.json")  # long lists, of which nobody reads single lines
_ROWS = "unseen"  # how the name of a tensor with word vectors ends


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


@dataclass
class _SavedWeights:
    """The tensors of one folder and, where the model reads words, their vocabulary."""

    tensors: dict[str, Tensor]
    vocabulary: Vocabulary | None

    @classmethod
    def read(cls, folder: Path) -> _SavedWeights:
        tensors, _ = read_tensors(folder / _WEIGHTS)
        words = folder / _WORDS
        return cls(tensors, Vocabulary.load(words) if words.is_file() else None)

    @property
    def rows(self) -> str:
        """The name of the tensor with word vectors that training left as they were; empty if there is none."""
        name = next((name for name in self.tensors if name.endswith(_ROWS)), "")
        # Trained vectors are a parameter beside it.
        is_frozen = name and len(self.tensors[f"{name.removesuffix(_ROWS)}words"]) == 0
        return name if is_frozen else ""

    def keep(self, words: Sequence[str]) -> None:
        """Keep the vectors of these words and of the special ones only, training words first."""
        known, name = self.vocabulary, self.rows
        if known is None or not name:
            raise InputError("only word vectors that training left as they were can be left out; keep all words")
        wanted = set(words)
        ids = [id for id, word in enumerate(known.words) if id < known.n_special or word in wanted]
        counts = dict(zip(known.training_words, known.counts, strict=True)) if known.counts else {}
        kept = tuple(known.words[id] for id in ids)
        n_trained = sum(id < known.n_trained for id in ids)
        self.tensors[name] = self.tensors[name][ids]
        n_counted = n_trained - known.n_special if counts else 0
        trained = kept[known.n_special : known.n_special + n_counted]
        self.vocabulary = Vocabulary(kept, n_trained, tuple(counts[word] for word in trained))


def write_compact(run: str | Path, out: str | Path, *, words: Sequence[str] | None = None) -> Path:
    """Write a compact copy of a finished run into the new directory `out`.

    :param words: the words whose vectors are kept, beside the special ones; by default all. Other words become unknown.
    :raises InputError: if `run` is not a finished run, or `out` exists.
    """
    root = resolve_run(run)
    files = {name: content for name, content in portable_files(root).items() if name not in _LEFT_OUT}
    saved = {
        Path(name).parent: _SavedWeights.read(root / Path(name).parent) for name in files if Path(name).name == _WEIGHTS
    }
    if words is not None:
        for weights in saved.values():
            weights.keep(words)
    shared = _share_vectors(saved)

    with RunDirectory.created(Path(out)) as directory:
        for name, content in files.items():
            is_rewritten = Path(name).parent in saved and Path(name).name in (_WEIGHTS, _WORDS)
            if name in _TABLES:
                content = flat_json(root / name)
            if not is_rewritten:
                _copy(content, directory.root / name)
        for folder, weights in saved.items():
            halves = {name: _half(tensor) for name, tensor in weights.tensors.items()}
            write_tensors(directory.root / folder / _WEIGHTS, halves)
            if weights.vocabulary is not None and not (shared is not None and folder == Path(_ASPECTS)):
                weights.vocabulary.save(directory.root / folder / _WORDS)
        if shared is not None:
            save_matrix(directory.root / PACKED, _half(shared).numpy())
    return Path(out)


def flat_json(path: Path) -> str:
    """Return a JSON file on one line, without spaces."""
    return json.dumps(read_json(path), ensure_ascii=False, separators=(",", ":")) + "\n"


def _share_vectors(saved: dict[Path, _SavedWeights]) -> Tensor | None:
    """Take the vectors out of classifier and tagger, if both have the same words with the same vectors, and return them."""
    run, tagger = saved.get(Path()), saved.get(Path(_ASPECTS))
    if not (run and run.rows and run.vocabulary and tagger and tagger.rows and tagger.vocabulary):
        return None
    places = {word: id for id, word in enumerate(tagger.vocabulary.words)}
    if places.keys() != set(run.vocabulary.words):
        return None
    order = [places[word] for word in run.vocabulary.words]
    if not torch.equal(run.tensors[run.rows], tagger.tensors[tagger.rows][order]):
        return None
    tagger.vocabulary = run.vocabulary
    del tagger.tensors[tagger.rows]
    return run.tensors.pop(run.rows)


def _half(tensor: Tensor) -> Tensor:
    """Return the tensor in half precision, unless it has numbers that are too large for it."""
    narrow = tensor.half() if tensor.is_floating_point() else tensor
    return narrow if bool(narrow.isfinite().all()) else tensor


def _copy(content: Path | str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        write_atomically(target, content.encode())
    else:
        shutil.copyfile(content, target)
