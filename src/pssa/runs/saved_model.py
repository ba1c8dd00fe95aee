"""A model in a folder: `model.json` describes it, `model.safetensors` holds its weights, and its featurizer is `vocabulary.json`,
or `encoder/` with a configuration and a tokenizer.

An ensemble has its models in `members/`, each a folder of the same kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pssa import models
from pssa.aspects.find import OLDER_FILE, TAGGERS
from pssa.data.files import make_folder, require_regular
from pssa.data.validation import format_error, list_of, number, parse_fields, parsers_of, shorten, text
from pssa.errors import InputError, PssaWarning, RunError, setting
from pssa.models import Pretrained, WordTable
from pssa.runs.calibration import Calibration
from pssa.runs.devices import choose_device
from pssa.runs.directory import (
    FileStore,
    naming_damage,
    read_json,
    read_tensors,
    resume_hint,
    write_json,
    write_tensors,
)
from pssa.runs.featurizer import Featurizer, PieceFeaturizer, WordFeaturizer
from pssa.runs.settings import PRECISIONS, UNITS, Config
from pssa.runs.torch_runtime import TorchRuntime
from pssa.training.checkpoint import load_parameters

_SCHEMA = 1
_MAX_DIMENSION, _MAX_MEMBERS = 10**6, 1000


@dataclass(frozen=True)
class Description:
    """The content of `model.json`: what must be known, besides the featurizer, to build the model again.

    The file may come from a stranger: types and ranges are checked before anything is built from it.
    """

    model: str
    options: dict[str, Any]
    labels: tuple[str, ...]
    dimension: int = 0  # of the word vectors, where the model reads words
    vote_weights: tuple[float, ...] = (1.0,)  # of the members, where there are several
    max_pieces: int = 0  # of a sentence, where the model reads pieces; 0: as many as the encoder can read
    unit: str = "word"  # of what is explained, where the model reads pieces
    max_words: int = 0  # of a text, around the aspect, where the model reads words; 0: all

    @classmethod
    def of(cls, config: Config, featurizer: Featurizer) -> Description:
        """Describe what a run trains."""
        dimension = featurizer.table.dimension if isinstance(featurizer, WordFeaturizer) else 0
        data = config.data
        return cls(
            config.model,
            config.options,
            data.labels,
            dimension,
            max_pieces=data.max_pieces or 0,
            unit=data.unit,
            max_words=featurizer.max_words if isinstance(featurizer, WordFeaturizer) else 0,
        )

    def save(self, folder: Path) -> None:
        """Write `model.json`."""
        values = asdict(self)
        values["says"] = values.pop("vote_weights")
        write_json(folder / "model.json", {"schema": _SCHEMA, **values})

    @classmethod
    def load(cls, folder: Path) -> Description:
        """Read `model.json`.

        :raises InputError: if it is damaged, of another schema, or describes no model.
        """
        is_older_tagger = (folder / OLDER_FILE).is_file()
        path = folder / (OLDER_FILE if is_older_tagger else "model.json")
        found = read_json(path)
        if not isinstance(found, dict) or "schema" not in found:
            raise InputError(f"{path} is damaged: it has no schema; copy or train the run again")
        schema = found.pop("schema")
        if schema != _SCHEMA:
            raise InputError(f"{path} has schema {shorten(schema)}; this version reads schema {_SCHEMA}")
        if is_older_tagger:
            own = {name: found.get(name) for name in ("options", "dimension")}
            words, pieces = {"model": "tagger", **own}, {"model": "encoder_tagger", "options": {}}
            found = {"labels": ["O", "B", "I"], **(words if found.get("encoder") is None else pieces)}
        # Keys that earlier versions did not write.
        defaults = {"dimension": 0, "says": [1.0], "max_pieces": 0, "unit": "word", "max_words": 0}
        with naming_damage(path):
            parsers = parsers_of(cls, options=_options, labels=list_of(text), vote_weights=list_of(number))
            parsers["says"] = parsers.pop("vote_weights")
            values = parse_fields(defaults | found, "", parsers)
            options = models.saved_options(values["model"], values["options"])
            values["options"] = Config().updated({"model": values["model"], "options": options}).options
            models.read_options(values["model"], values["options"])
            description = cls(vote_weights=values.pop("says"), **values)
            description._check()
            return description

    def load_featurizer(self, folder: Path) -> Featurizer:
        """Read what turns examples into tensors for the model of a folder."""
        if models.uses_encoder(self.model):
            return PieceFeaturizer.load(folder, models.reads_pairs(self.model), self.max_pieces or None, self.unit)
        return WordFeaturizer.load(folder, self.dimension, self.max_words)

    def _check(self) -> None:
        if len(set(self.labels)) != len(self.labels) or len(self.labels) < 2:
            raise InputError(f"`labels` is {shorten(self.labels)}; expected two or more, each once")
        least = 0 if models.uses_encoder(self.model) else 1
        if not least <= self.dimension <= _MAX_DIMENSION:
            raise InputError(f"`dimension` is {self.dimension}; expected {least} to {_MAX_DIMENSION}")
        if not 1 <= len(self.vote_weights) <= _MAX_MEMBERS:
            raise InputError(f"`says` has {len(self.vote_weights)} numbers; expected 1 to {_MAX_MEMBERS}")
        if self.max_words < 0:
            raise InputError(f"`max_words` is {self.max_words}; it must not be negative")
        if self.max_pieces < 0:
            raise InputError(f"`max_pieces` is {self.max_pieces}; it must not be negative")
        if self.unit not in UNITS:
            raise InputError(f"`unit` is {shorten(self.unit)}; it can be {' or '.join(UNITS)}")


def _options(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"`{name}` is {shorten(value)}; expected an object")
    return value


def save_weights(folder: Path, model: nn.Module, description: Description, featurizer: Featurizer) -> None:
    """Write one model so that `load` finds it."""
    make_folder(folder)
    featurizer.save(folder)
    description.save(folder)
    write_tensors(folder / "model.safetensors", dict(model.state_dict()))


def save_ensemble(
    folder: Path, members: tuple[nn.Module, ...], description: Description, featurizer: Featurizer
) -> None:
    """Write several models that vote."""
    single = replace(description, vote_weights=(1.0,))
    make_folder(folder / "members")
    for place, member in enumerate(members, start=1):
        save_weights(folder / "members" / str(place), member, single, featurizer)
    featurizer.save(folder)
    description.save(folder)


def require_classifier(folder: Path, description: Description) -> None:
    """Refuse the run of a tagger.

    :raises InputError: if it is one.
    """
    if description.model in TAGGERS:
        raise InputError(
            f"{folder} is a tagger and labels no aspects; find them with {setting('aspects_from', str(folder))}"
        )


def load_torch(folder: Path, device: str = "cpu", precision: str = "auto") -> TorchRuntime:
    """Load the model of a run, a stage or a member of an ensemble; `pssa.load` describes it."""
    description = Description.load(folder)
    place = choose_device(device)
    require_classifier(folder, description)
    narrow = _is_narrow(description.model, precision, place)
    featurizer = description.load_featurizer(folder)
    # An interrupted ensemble has members but no vote weights yet; it is loaded like any unfinished run.
    numbers = range(1, len(description.vote_weights) + 1)
    folders = [folder / "members" / str(number) for number in numbers] if len(numbers) > 1 else [folder]
    if len(folders) > 1 and (lost := [member for member in folders if not (member / "model.safetensors").is_file()]):
        raise InputError(f"{lost[0]} is missing; the ensemble has {len(folders)} members; copy the run again")
    sources = [_weights_of(member) for member in folders]
    loaded = (load_model(*of, description, featurizer) for of in zip(folders, sources, strict=True))
    members = tuple(member.to(place).eval() for member in loaded)
    if (stage := sources[0].parent) != folders[0]:
        warning = (
            f"{folder} is not a finished run, and its stage {stage.name} answers in its place; {resume_hint(folder)}"
        )
        warnings.warn(PssaWarning(warning), stacklevel=2)
    if narrow:
        for member in members:
            models.narrow(member)
    calibration = Calibration.load(folder)
    return TorchRuntime(
        description.model,
        description.labels,
        featurizer,
        members,
        description.vote_weights,
        calibration.temperature if calibration else 1.0,
    )


def _is_narrow(model: str, precision: str, device: torch.device) -> bool:
    if precision not in PRECISIONS:
        raise InputError(f"precision is {precision!r}; it can be {', '.join(PRECISIONS)}")
    if models.uses_encoder(model):
        return precision == "bfloat16" or (precision == "auto" and device.type == "cuda")
    if precision == "bfloat16":
        known = ", ".join(filter(models.uses_encoder, models.names()))
        raise InputError(f"model {model} has no encoder and cannot use bfloat16; models that can: {known}")
    return False


def load_model(folder: Path, source: Path, description: Description, featurizer: Featurizer) -> nn.Module:
    """Return the model of a folder with the weights of a file in it, or of a checkpoint."""
    # Weights replace what a seed drew; an unfinished run may have drawn more than weights, such as a head to refine.
    settings = folder / "config.toml"
    seed = Config.from_toml(settings).seed if settings.is_file() else 0
    is_checkpoint, vectors = source.name == "checkpoint.safetensors", folder / "stages" / "vectors.safetensors"
    # Checkpoints hold parameters only: other vectors come from their own file.
    _require_enough_weights(folder, description, featurizer.table, (source, vectors) if is_checkpoint else (source,))
    n_labels = len(description.labels)
    model = models.build(description.model, featurizer.table, n_labels, description.options, seed)
    if is_checkpoint:
        _load_checkpoint(source, vectors, model)
    else:
        load_weights(source, model)
    return model


def _weights_of(folder: Path) -> Path:
    """Return the file that holds the model or, in an interrupted run, the newest state of it."""
    # A method that mines saves its initial model; those it trains after that see masked sentences, or have just begun.
    for path in (folder / "model.safetensors", folder / "stages" / "initial" / "model.safetensors"):
        if path.is_file():
            return path
    found = sorted((folder / "stages").glob("*/checkpoint.safetensors"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise RunError(f"{folder} was interrupted before its first epoch; {resume_hint(folder)}")
    return found[-1]


def _require_enough_weights(
    folder: Path, description: Description, table: WordTable | Pretrained, files: Sequence[Path]
) -> None:
    """Refuse a model of more numbers than the files that it is loaded from can fill, before memory is allocated for them."""
    if isinstance(table, WordTable):
        table = WordTable(torch.empty(table.matrix.shape, device="meta"), table.n_trained)
    # Choosing heads to refine runs the model, and adds next to nothing.
    options = {name: "none" if name == "refine" else value for name, value in description.options.items()}
    try:
        with torch.device("meta"):
            model = models.build(description.model, table, len(description.labels), options, 0)
    except (RuntimeError, TypeError, OverflowError) as error:  # of torch, about sizes beyond any memory
        what = f"{folder} describes a model that cannot be built: {format_error(error)}"
        raise InputError(f"{what}; copy or train the run again") from error
    there = [path for path in files if path.is_file()]
    for path in there:
        require_regular(path)
    models.refuse_outsized(model, sum(path.stat().st_size for path in there), f"{folder} describes a model")


def load_weights(path: Path, model: nn.Module) -> None:
    """Load the weights of `model` from a file; every tensor must be there, in its shape, with finite numbers.

    Numbers of half precision, as compact copies have, become single precision.
    """
    tensors, _ = read_tensors(path)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        reason = format_error(str(error).strip().splitlines()[-1])
        raise InputError(f"{path} does not fit the model that its folder describes: {reason}") from error
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise InputError(f"{path} is damaged: {name} holds a number that is not finite; copy the run again")


def _load_checkpoint(path: Path, vectors: Path, model: nn.Module) -> None:
    checkpoint = FileStore(path).load()
    assert checkpoint is not None
    try:
        if vectors.is_file():  # of words unseen in training: checkpoints hold parameters only, and those are a buffer
            (matrix,) = read_tensors(vectors)[0].values()
            for name, buffer in model.named_buffers():
                if name.endswith("unseen"):
                    buffer.copy_(matrix[len(matrix) - len(buffer) :])
        load_parameters(checkpoint, model)
    except (KeyError, RuntimeError, ValueError) as error:
        raise InputError(f"{path} does not fit the model that model.json describes: {format_error(error)}") from error
