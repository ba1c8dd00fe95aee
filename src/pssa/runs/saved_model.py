"""A model in a folder: `model.json` says what it is, `model.safetensors` holds its weights, and beside them lies what it reads:
`vocabulary.json`, or `encoder/` with a configuration and a tokenizer.

An ensemble has its models in `members/`, each a folder of the same kind.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from pssa import models
from pssa.data.validation import format_error
from pssa.errors import InputError, RunError
from pssa.models import WordTable
from pssa.runs.classifier import Classifier
from pssa.runs.config import Config
from pssa.runs.description import Description
from pssa.runs.device import choose_device
from pssa.runs.directory import FileStore, RunDirectory, read_tensors, write_tensors
from pssa.runs.featurizer import Featurizer, PieceFeaturizer, WordFeaturizer
from pssa.runs.sections import PRECISIONS
from pssa.training.checkpoint import load_parameters

__all__ = ["Description", "load", "load_weights", "save_ensemble", "save_weights"]

_SLACK = 10**7  # numbers that a model may have beside its weights: positions, masks


def save_weights(folder: Path, model: nn.Module, description: Description, featurizer: Featurizer) -> None:
    """Write one model so that `load` finds it."""
    folder.mkdir(exist_ok=True)
    featurizer.save(folder)
    description.save(folder)
    write_tensors(folder / "model.safetensors", dict(model.state_dict()))


def save_ensemble(
    folder: Path, members: tuple[nn.Module, ...], description: Description, featurizer: Featurizer
) -> None:
    """Write several models that vote."""
    single = replace(description, vote_weights=(1.0,))
    (folder / "members").mkdir(exist_ok=True)
    for number, member in enumerate(members, start=1):
        save_weights(folder / "members" / str(number), member, single, featurizer)
    featurizer.save(folder)
    description.save(folder)


def load(path: str | Path, device: str = "cpu", precision: str = "auto") -> Classifier:
    """Load a run, a stage's model or an ensemble's member from its folder.

    Of a run that was interrupted a stage's model is loaded, with a `UserWarning` that names the stage: the initial model where
    the run has trained it and goes on to mine, else the newest checkpoint.

    :param device: cpu, cuda, or auto: the GPU where there is one.
    :param precision: float32, bfloat16 for encoders, or auto: bfloat16 for encoders on a GPU.
    :raises InputError: if the folder is not a run, a file in it is damaged, or the model cannot answer in this precision.
    """
    folder = RunDirectory.open(Path(path)).root
    description = Description.load(folder)
    place = choose_device(device)
    narrow = _is_narrow(description.model, precision, place)
    featurizer = _load_featurizer(folder, description)
    # An ensemble that was interrupted has members but no says yet; it is loaded like any unfinished run.
    numbers = range(1, len(description.vote_weights) + 1)
    folders = [folder / "members" / str(number) for number in numbers] if len(numbers) > 1 else [folder]
    if len(folders) > 1 and (lost := [member for member in folders if not (member / "model.safetensors").is_file()]):
        raise InputError(f"{lost[0]} is missing; the ensemble has {len(folders)} members; copy the run again")
    sources = [_weights_of(member) for member in folders]
    loaded = (_load_model(*of, description, featurizer) for of in zip(folders, sources, strict=True))
    members = tuple(member.to(place).eval() for member in loaded)
    if (stage := sources[0].parent) != folders[0]:
        said = f"{folder} is not a finished run, and its stage {stage.name} answers in its place"
        warnings.warn(f"{said}; go on with: pssa train --resume {folder}", stacklevel=2)
    if narrow:
        for member in members:
            models.narrow(member)
    return Classifier(description.model, description.labels, featurizer, members, description.vote_weights)


def _is_narrow(model: str, precision: str, device: torch.device) -> bool:
    if precision not in PRECISIONS:
        raise InputError(f"precision is {precision!r}; it can be {', '.join(PRECISIONS)}")
    if models.reads(model) != "words":
        return precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
    if precision == "bfloat16":
        kinds = ", ".join(name for name in models.names() if models.reads(name) != "words")
        raise InputError(f"model {model} has no encoder and takes no precision bfloat16; models that do: {kinds}")
    return False


def _load_featurizer(folder: Path, description: Description) -> Featurizer:
    reads = models.reads(description.model)
    if reads == "words":
        return WordFeaturizer.load(folder, description.dimension)
    return PieceFeaturizer.load(folder, reads == "pairs", description.max_pieces, description.unit)


def _load_model(folder: Path, source: Path, description: Description, featurizer: Featurizer) -> nn.Module:
    # Weights replace what a seed drew; an unfinished run may have drawn what is no weight, such as a head to look at.
    settings = folder / "config.toml"
    seed = Config.from_toml(settings).seed if settings.is_file() else 0
    _refuse_outsized(folder, description, featurizer)
    model = models.build(description.model, featurizer.table, len(description.labels), description.options, seed)
    if source.name == "checkpoint.safetensors":
        _load_checkpoint(source, folder / "stages" / "vectors.safetensors", model)
    else:
        load_weights(source, model)
    return model


def _weights_of(folder: Path) -> Path:
    """The file that holds the model or, in a run that was interrupted, what there is of it."""
    # A method that mines leaves its initial model complete; what it trains after that sees masked sentences, or has just begun.
    for path in (folder / "model.safetensors", folder / "stages" / "initial" / "model.safetensors"):
        if path.is_file():
            return path
    found = sorted((folder / "stages").glob("*/checkpoint.safetensors"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise RunError(f"{folder} was interrupted before its first epoch; go on with: pssa train --resume {folder}")
    return found[-1]


def _refuse_outsized(folder: Path, description: Description, featurizer: Featurizer) -> None:
    """Refuse a description of more numbers than the weights beside it can fill, before there is memory for them."""
    table, options = featurizer.table, description.options
    if isinstance(table, WordTable):
        table = WordTable(torch.empty(table.matrix.shape, device="meta"), table.n_trained)
    if "refine" in options:  # choosing heads asks the model something, and adds next to nothing
        options = options | {"refine": "none"}
    with torch.device("meta"):
        model = models.build(description.model, table, len(description.labels), options, 0)
    needed = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    held = sum(path.stat().st_size for path in folder.rglob("*.safetensors"))
    if needed > held + _SLACK:
        raise InputError(
            f"{folder}: model.json describes a model of {needed} numbers, but its weights have {held} bytes; "
            "they do not belong together, copy the run again"
        )


def load_weights(path: Path, model: nn.Module) -> None:
    """Fill `model` from a file; every tensor must be there, in its shape, with finite numbers."""
    tensors, _ = read_tensors(path)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        reason = format_error(str(error).strip().splitlines()[-1])
        raise InputError(f"{path} does not fit the model that model.json describes: {reason}") from error
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise InputError(f"{path} is damaged: {name} holds what is no finite number; copy the run again")


def _load_checkpoint(path: Path, vectors: Path, model: nn.Module) -> None:
    checkpoint = FileStore(path).load()
    assert checkpoint is not None
    try:
        if vectors.is_file():
            _fill_unseen(vectors, model)
        load_parameters(checkpoint, model)
    except (KeyError, RuntimeError, ValueError) as error:
        raise InputError(f"{path} does not fit the model that model.json describes: {format_error(error)}") from error


def _fill_unseen(path: Path, model: nn.Module) -> None:
    """Put the vectors of words that training has not seen in their place; they are no parameters."""
    vectors, _ = read_tensors(path)
    (matrix,) = vectors.values()
    for name, buffer in model.named_buffers():
        if name.endswith("unseen"):
            buffer.copy_(matrix[len(matrix) - len(buffer) :])
