"""A model in a folder: `model.json` says what it is, `model.safetensors` holds its weights, and beside them lies what it reads:
`vocabulary.json`, or `encoder/` with a configuration and a tokenizer.

An ensemble has its models in `members/`, each a folder of the same kind.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pssa import models
from pssa.errors import InputError, RunError
from pssa.runs.classifier import Classifier
from pssa.runs.config import Config
from pssa.runs.device import choose_device
from pssa.runs.directory import FileStore, RunDirectory, read_json, read_tensors, write_json, write_tensors
from pssa.runs.lexicon import Lexicon, PieceLexicon, WordLexicon
from pssa.runs.sections import PRECISIONS
from pssa.training.checkpoint import load_parameters

__all__ = ["Description", "load", "load_weights", "save_ensemble", "save_weights"]

_SCHEMA = 1


@dataclass(frozen=True)
class Description:
    """What must be known to build the model again."""

    model: str
    options: dict[str, Any]
    labels: tuple[str, ...]
    dimension: int = 0  # of the word vectors, where the model reads words
    says: tuple[float, ...] = (1.0,)  # of the members, where there are several
    max_pieces: int = 0  # of a sentence, where the model reads pieces; 0: as many as the encoder can read
    unit: str = "word"  # of what is explained, where the model reads pieces

    @classmethod
    def of(cls, config: Config, lexicon: Lexicon) -> Description:
        """What a run trains."""
        dimension = lexicon.table.dimension if isinstance(lexicon, WordLexicon) else 0
        data = config.data
        return cls(config.model, config.options, data.labels, dimension, max_pieces=data.max_pieces, unit=data.unit)

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


def save_weights(folder: Path, model: nn.Module, description: Description, lexicon: Lexicon) -> None:
    """Write one model so that `load` finds it."""
    folder.mkdir(parents=True, exist_ok=True)
    lexicon.save(folder)
    description.save(folder)
    write_tensors(folder / "model.safetensors", dict(model.state_dict()))


def save_ensemble(folder: Path, members: tuple[nn.Module, ...], description: Description, lexicon: Lexicon) -> None:
    """Write several models that vote."""
    single = replace(description, says=(1.0,))
    for number, member in enumerate(members, start=1):
        save_weights(folder / "members" / str(number), member, single, lexicon)
    lexicon.save(folder)
    description.save(folder)


def load(path: str | Path, device: str = "cpu", precision: str = "auto") -> Classifier:
    """Load a run, a stage's model or an ensemble's member from its folder.

    A run that was interrupted is loaded as far as it came, from its newest checkpoint.

    :param device: cpu, cuda, or auto: the GPU where there is one.
    :param precision: float32, bfloat16 for encoders, or auto: bfloat16 for encoders on a GPU.
    :raises InputError: if the folder is not a run or a file in it is damaged.
    """
    folder = RunDirectory.open(Path(path)).root
    description = Description.load(folder)
    lexicon = _load_lexicon(folder, description)
    # An ensemble that was interrupted has members but no says yet; it is loaded like any unfinished run.
    numbers = range(1, len(description.says) + 1)
    folders = [folder / "members" / str(number) for number in numbers] if len(numbers) > 1 else [folder]
    if len(folders) > 1 and (lost := [member for member in folders if not (member / "model.safetensors").is_file()]):
        raise InputError(f"{lost[0]} is missing; the ensemble has {len(folders)} members; copy the run again")
    place = choose_device(device)
    members = tuple(_load_model(member, description, lexicon).to(place).eval() for member in folders)
    if _is_narrow(precision, place):
        for member in members:
            models.narrow(member)
    return Classifier(description.model, description.labels, lexicon, members, description.says)


def _is_narrow(precision: str, device: torch.device) -> bool:
    if precision not in PRECISIONS:
        raise InputError(f"precision is {precision!r}; it can be {', '.join(PRECISIONS)}")
    return precision == "bfloat16" or (precision == "auto" and device.type == "cuda")


def _load_lexicon(folder: Path, description: Description) -> Lexicon:
    reads = models.reads(description.model)
    if reads == "words":
        return WordLexicon.load(folder, description.dimension)
    return PieceLexicon.load(folder, reads == "pairs", description.max_pieces, description.unit)


def _load_model(folder: Path, description: Description, lexicon: Lexicon) -> nn.Module:
    # Weights replace what a seed drew; an unfinished run may have drawn what is no weight, such as a head to look at.
    settings = folder / "config.toml"
    seed = Config.from_toml(settings).seed if settings.is_file() else 0
    model = models.build(description.model, lexicon.table, len(description.labels), description.options, seed)
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
    path = folder / "stages" / "vectors.safetensors"
    if path.is_file():
        _fill_unseen(path, model)
    load_parameters(checkpoint, model)


def _fill_unseen(path: Path, model: nn.Module) -> None:
    """Put the vectors of words that training has not seen in their place; they are no parameters."""
    vectors, _ = read_tensors(path)
    (matrix,) = vectors.values()
    for name, buffer in model.named_buffers():
        if name.endswith("unseen"):
            buffer.copy_(matrix[len(matrix) - len(buffer) :])
