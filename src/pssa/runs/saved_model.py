"""A model in a folder: `model.json` says what it is, `model.safetensors` holds its weights, `vocabulary.json` its words.

An ensemble has its models in `members/`, each a folder of the same kind.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pssa import models
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError, RunError
from pssa.models import WordTable
from pssa.runs.classifier import Classifier
from pssa.runs.directory import FileStore, RunDirectory, read_json, read_tensors, write_json, write_tensors
from pssa.training.checkpoint import load_parameters

__all__ = ["Description", "load", "load_weights", "save_ensemble", "save_weights"]

_SCHEMA = 1


@dataclass(frozen=True)
class Description:
    """What must be known to build the model again."""

    model: str
    options: dict[str, Any]
    labels: tuple[str, ...]
    dimension: int  # of the word vectors
    says: tuple[float, ...] = (1.0,)  # of the members, where there are several

    def save(self, folder: Path) -> None:
        """Write `model.json`."""
        write_json(folder / "model.json", {"schema": _SCHEMA, **asdict(self)})

    @classmethod
    def load(cls, folder: Path) -> Description:
        """Read `model.json`."""
        record = read_json(folder / "model.json")
        try:
            schema = record.pop("schema")
            if schema != _SCHEMA:
                raise InputError(f"{folder}/model.json has schema {schema}; this version reads schema {_SCHEMA}")
            return cls(**record | {"labels": tuple(record["labels"]), "says": tuple(record["says"])})
        except (AttributeError, KeyError, TypeError) as error:
            raise InputError(f"{folder}/model.json is damaged: {error}") from error


def save_weights(folder: Path, model: nn.Module, description: Description, vocabulary: Vocabulary) -> None:
    """Write one model so that `load` finds it."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary.save(folder / "vocabulary.json")
    description.save(folder)
    write_tensors(folder / "model.safetensors", dict(model.state_dict()))


def save_ensemble(
    folder: Path, members: tuple[nn.Module, ...], description: Description, vocabulary: Vocabulary
) -> None:
    """Write several models that vote."""
    single = Description(description.model, description.options, description.labels, description.dimension)
    for number, member in enumerate(members, start=1):
        save_weights(folder / "members" / str(number), member, single, vocabulary)
    vocabulary.save(folder / "vocabulary.json")
    description.save(folder)


def load(path: str | Path, device: str = "cpu") -> Classifier:
    """Load a run, a stage's model or an ensemble's member from its folder.

    A run that was interrupted is loaded as far as it came, from its newest checkpoint.

    :raises InputError: if the folder is not a run or a file in it is damaged.
    """
    folder = RunDirectory.open(Path(path)).root
    description = Description.load(folder)
    vocabulary = Vocabulary.load(folder / "vocabulary.json")
    # An ensemble that was interrupted has members but no says yet; it is loaded like any unfinished run.
    numbers = range(1, len(description.says) + 1)
    folders = [folder / "members" / str(number) for number in numbers] if len(numbers) > 1 else [folder]
    if len(folders) > 1 and (lost := [member for member in folders if not (member / "model.safetensors").is_file()]):
        raise InputError(f"{lost[0]} is missing; the ensemble has {len(folders)} members; copy the run again")
    members = tuple(_load_model(member, description, vocabulary).to(device).eval() for member in folders)
    return Classifier(description.model, description.labels, vocabulary, members, description.says)


def _load_model(folder: Path, description: Description, vocabulary: Vocabulary) -> nn.Module:
    matrix = torch.zeros(len(vocabulary), description.dimension)
    table = WordTable(matrix, vocabulary.n_trained)
    model = models.build(description.model, table, len(description.labels), description.options, seed=0)
    path = folder / "model.safetensors"
    if path.is_file():
        load_weights(path, model)
    else:
        _load_unfinished(folder, model)
    return model


def load_weights(path: Path, model: nn.Module) -> None:
    """Fill `model` from a file; every tensor must be there, in its shape."""
    tensors, _ = read_tensors(path)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise InputError(f"{path} does not fit the model that model.json describes: {reason}") from error


def _load_unfinished(folder: Path, model: nn.Module) -> None:
    # A method that mines leaves its initial model complete; what it trains after that sees masked sentences, or has just begun.
    initial = folder / "stages" / "initial" / "model.safetensors"
    if initial.is_file():
        load_weights(initial, model)
        return
    found = sorted((folder / "stages").glob("*/checkpoint.safetensors"), key=lambda path: path.stat().st_mtime)
    checkpoint = FileStore(found[-1]).load() if found else None
    if checkpoint is None:
        raise RunError(f"{folder} was interrupted before its first epoch; go on with: pssa train --resume {folder}")
    vectors, _ = read_tensors(folder / "stages" / "vectors.safetensors")
    (matrix,) = vectors.values()
    for name, buffer in model.named_buffers():
        if name.endswith("unseen"):
            buffer.copy_(matrix[len(matrix) - len(buffer) :])
    load_parameters(checkpoint, model)
