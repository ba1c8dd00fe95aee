"""The models: one file each, and the file's name is the model's name.

A model file's class takes (table, n_labels, options, seed) and has these class attributes:

- `options`: the dataclass of its options;
- `reads`: what its positions are, "words", "pieces" of words, or "pairs", pieces with the aspect as a second segment. A model
  that reads words starts from a `WordTable`, the others from a `Pretrained` encoder;
- `attends`: whether it has attention weights; with the option `refine` it has them too, unless that is "none";
- `shares_sentences = True` promises that `encode` gives `self.encoder` the batch as it is, and that the encoder does not see the
  aspect: aspects of one sentence are then scored from one run of the encoder;
- `word_tables`: the parameters that hold word vectors, of a model that reads words. Without it there is one, called `words`. A
  run that goes on adds rows for new words to them; the rows that are not trained are a buffer called `unseen`;
- a method `encode_noised(batch, add)`, where noise on the word vectors is other than noise on h(x).

Files that begin with an underscore are shared parts; this package exports those that a model's author needs. Two models are no
classifiers but find aspects: `tagger` and `encoder_tagger` (`_taggers.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import Field, fields
from typing import Any, cast

import torch
from torch import nn

from pssa.errors import InputError
from pssa.models._encoder import PieceEncoder, TrainedRows
from pssa.models._layers import (
    WordTable,
    attend,
    check_options,
    draw_from,
    dropout,
    lookup,
    pool_words,
    refuse_outsized,
    reset_parameters,
)
from pssa.models._pretrained import Pretrained
from pssa.models._protocol import (
    BUCKET_BATCHES,
    AspectModel,
    Batch,
    Encoding,
    Heads,
    IndexedCorpus,
    Prediction,
    TopLayer,
    index_words,
)
from pssa.models._taggers import EncoderTagger, WordTagger
from pssa.registry import Registry

__all__ = [
    "BUCKET_BATCHES",
    "AspectModel",
    "Batch",
    "Encoding",
    "Heads",
    "IndexedCorpus",
    "Prediction",
    "Pretrained",
    "TopLayer",
    "TrainedRows",
    "WordTable",
    "attend",
    "attends",
    "build",
    "check_options",
    "count_parameters",
    "draw_from",
    "dropout",
    "index_words",
    "lookup",
    "names",
    "narrow",
    "option_defaults",
    "pool_words",
    "read_options",
    "reads_pairs",
    "refuse_outsized",
    "reset_parameters",
    "saved_options",
    "share_sentences",
    "takes_input_noise",
    "train_rows",
    "uses_encoder",
]

_MODELS = Registry(__name__, "model")
_TAGGERS: dict[str, Any] = {"tagger": WordTagger, "encoder_tagger": EncoderTagger}


def names() -> tuple[str, ...]:
    """Return every classifier: the modules of this folder."""
    return _MODELS.names()


def _find(name: str) -> Any:
    return _TAGGERS[name] if name in _TAGGERS else _MODELS.find(name)


def build(name: str, table: WordTable | Pretrained, n_labels: int, options: Mapping[str, Any], seed: int) -> nn.Module:
    """Build a freshly initialised model from word vectors or from an encoder.

    :raises InputError: for a model or an option that does not exist; the message lists those that do.
    """
    kind, chosen = _find(name), read_options(name, options)
    if isinstance(table, WordTable) == uses_encoder(name):
        needed = "a pretrained encoder" if uses_encoder(name) else "word vectors"
        raise InputError(f"model {name} reads {kind.reads}: it starts from {needed}, not from a {type(table).__name__}")
    # Layers draw default values before ours replace them; the caller's random state must not change.
    with torch.random.fork_rng(devices=[]):
        return cast(nn.Module, kind(table, n_labels, chosen, seed))


def read_options(name: str, options: Mapping[str, Any]) -> Any:
    """Return the model's options with these values, the rest at their defaults."""
    kind = _find(name).options
    known = {field.name for field in fields(kind)}
    if unknown := sorted(set(options) - known):
        raise InputError(f"unknown option {unknown[0]!r} of model {name}; known: {', '.join(sorted(known))}")
    return kind(**options)


def uses_encoder(name: str) -> bool:
    """Return whether the model reads pieces of words with a pretrained encoder; others read words with word vectors."""
    return str(_find(name).reads) != "words"


def reads_pairs(name: str) -> bool:
    """Return whether the aspect follows the sentence as a second segment of the model's input."""
    return str(_find(name).reads) == "pairs"


def saved_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a saved model: one that it does not mention, because it is older, has the value it had then."""
    older = {field.name: field.metadata["before"] for field in _fields(name) if "before" in field.metadata}
    return {**options, **{option: value for option, value in older.items() if option not in options}}


def attends(name: str, options: Mapping[str, Any] | None = None) -> bool:
    """Return whether the model, with these options, has attention weights to mine and to supervise."""
    return bool(_find(name).attends) or getattr(read_options(name, options or {}), "refine", "none") != "none"


def takes_input_noise(name: str) -> bool:
    """Return whether noise can be added to the model's word vectors, apart from the states that it computes from them."""
    return hasattr(_find(name), "encode_noised")


def option_defaults(name: str) -> dict[str, Any]:
    """Return the model's options with their default values."""
    return {field.name: field.default for field in _fields(name)}


def _fields(name: str) -> tuple[Field[Any], ...]:
    return fields(_find(name).options)


def narrow(model: nn.Module) -> None:
    """Convert the encoder of a trained model, where most time goes, to bfloat16; its head stays precise."""
    encoder = getattr(model, "encoder", None)
    if isinstance(encoder, PieceEncoder):
        encoder.narrow()


def share_sentences(model: nn.Module, half: bool = False) -> None:
    """Let the encoder read a sentence once for aspects that follow each other in a batch, if the model promises it may.

    :param half: let it always compute in bfloat16, also in mining and scoring.
    """
    encoder = getattr(model, "encoder", None)
    if isinstance(encoder, PieceEncoder):
        encoder.is_half = half
        encoder.shares = encoder.refinement is None and getattr(model, "shares_sentences", False)


def train_rows(model: nn.Module, corpus: IndexedCorpus) -> AbstractContextManager[None]:
    """Leave those rows of an encoder's table that do not occur in `corpus` out of the parameters for a while."""
    encoder = getattr(model, "encoder", None)
    if not isinstance(encoder, PieceEncoder):
        return nullcontext()
    return encoder.train_rows(torch.unique(corpus.table.positions))


def count_parameters(model: nn.Module) -> int:
    """Return how many numbers training changes."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
