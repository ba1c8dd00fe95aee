"""`Pretrained`: a Transformer encoder that others have trained, as a folder or on the Hugging Face hub.

Weights are read from safetensors alone and no code that comes with a model is run. A hub name is looked up in the local cache
first; only where it is not there is the network asked.
"""

from __future__ import annotations

import hashlib
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pssa.data.pieces import PieceCutter
from pssa.errors import InputError, MissingExtra
from pssa.models._encoder_files import check_weights, find_folder, first_line, read_description, weight_files

__all__ = ["Pretrained"]

# What the configurations of different architectures call the dropouts of their layers.
_DROPOUTS = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
    "embedding_dropout",
    "mlp_dropout",
)
_MOST_POSITIONS = 512  # of an encoder that states no limit
_NO_LIMIT = 10**6  # tokenizers without a limit state an absurd one
_CHUNK = 1 << 20
_SLACK = 10**7  # numbers that are in no file: a pooler, positions


@dataclass(frozen=True)
class Pretrained:
    """A configuration, a tokenizer and, unless they come from elsewhere, weights."""

    config: Any  # of transformers
    tokenizer: Any  # a fast one
    weights: str = ""  # the folder they are in; empty: the body is drawn at random, to be filled from a file

    @classmethod
    def open(cls, source: str) -> Pretrained:
        """The encoder in a folder or, if there is no such folder, the one of that name on the hub.

        :raises InputError: if it cannot be had or used; the message says why.
        """
        transformers = _transformers()
        folder = find_folder(source)
        with _quiet(transformers):
            config, tokenizer = read_description(transformers, folder)
        check_weights(folder)
        with _quiet(transformers):
            _refuse_outsized(transformers, config, folder)
        return cls(config, tokenizer, str(folder))

    @classmethod
    def load(cls, folder: Path) -> Pretrained:
        """What `save` wrote: no weights.

        :raises InputError: if files are missing or damaged.
        """
        transformers = _transformers()
        with _quiet(transformers):
            return cls(*read_description(transformers, folder))

    def save(self, folder: Path) -> None:
        """Write config.json and the tokenizer's files; weights belong to the model."""
        with _quiet(_transformers()):
            self.config.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)

    def body(self, attention: str | None, dropout: float) -> nn.Module:
        """The encoder in single precision, without a pooler, with `dropout` in every layer.

        `attention` names an implementation ("eager", "sdpa"); None leaves the choice to transformers. A body without weights, and
        nothing else, draws from torch's global random state.

        :raises InputError: if the weights cannot be read or do not fit.
        """
        transformers = _transformers()
        config = deepcopy(self.config)
        config.output_attentions, config.output_hidden_states, config.return_dict = False, False, True
        for name in _DROPOUTS:
            if hasattr(config, name):
                setattr(config, name, dropout)
        options: dict[str, Any] = {"dtype": torch.float32, "attn_implementation": attention}
        with _quiet(transformers):
            kind = transformers.MODEL_MAPPING[type(config)]  # several, for some architectures
            if "add_pooling_layer" in inspect.signature(kind[0] if isinstance(kind, tuple) else kind).parameters:
                options["add_pooling_layer"] = False  # no loss reaches it
            if self.weights:
                return self._filled(transformers, config, options)
            return _drawn(transformers, config, options)

    def _filled(self, transformers: Any, config: Any, options: dict[str, Any]) -> nn.Module:
        try:
            body, report = transformers.AutoModel.from_pretrained(
                self.weights,
                config=config,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                **options,
            )
        except Exception as error:  # as many kinds as there are ways to damage a file
            raise InputError(f"{self.weights}: its weights cannot be read ({first_line(error)})") from error
        # transformers would draw them at random and go on.
        if missing := sorted(report["missing_keys"]):
            raise InputError(
                f"{self.weights}: {len(missing)} tensors are missing, such as {missing[0]}; "
                f"expected the weights of a {config.model_type} encoder as config.json describes it"
            )
        return _module(body)

    @property
    def dimension(self) -> int:
        """D, the width of the encoder's states."""
        return int(self.config.hidden_size)

    @property
    def mask_id(self) -> int:
        """What stands in place of a hidden word's pieces."""
        return int(self.tokenizer.mask_token_id)

    @property
    def pad_id(self) -> int:
        """What fills a row up."""
        return int(self.tokenizer.pad_token_id)

    @property
    def max_positions(self) -> int:
        """The longest row that the encoder and its tokenizer allow, special tokens included."""
        limit = getattr(self.config, "max_position_embeddings", None) or 0
        limit = limit - self._first_position if limit > 0 else _MOST_POSITIONS
        stated = self.tokenizer.model_max_length
        return int(min(limit, stated)) if 0 < stated < _NO_LIMIT else int(limit)

    @cached_property
    def _first_position(self) -> int:
        """Where rows begin in the table of positions: in RoBERTa and its kin at the one after the padding's, else at 0."""
        transformers = _transformers()
        with _quiet(transformers), torch.device("meta"):
            body = _drawn(transformers, deepcopy(self.config), {})
        tables = (module for name, module in body.named_modules() if name.endswith("position_embeddings"))
        padding = getattr(next(tables, None), "padding_idx", None)
        return 0 if padding is None else int(padding) + 1

    def cutter(self, pair: bool, max_positions: int = 0) -> PieceCutter:
        """What cuts sentences into this encoder's pieces; no row is longer than `max_positions`, 0 being what it allows.

        :raises InputError: for more positions than the encoder has.
        """
        if not 0 <= max_positions <= self.max_positions:
            raise InputError(
                f"at most {max_positions} pieces are asked for; the encoder takes up to {self.max_positions}"
            )
        return PieceCutter(self.tokenizer, max_positions or self.max_positions, pair)

    def digest(self) -> str:
        """SHA-256 over the weight files, or nothing where there are none."""
        if not self.weights:
            return ""
        total = hashlib.sha256()
        for path in weight_files(Path(self.weights)):
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    total.update(chunk)
        return total.hexdigest()


def _transformers() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise MissingExtra("transformers", "bert") from error
    return transformers


def _drawn(transformers: Any, config: Any, options: dict[str, Any]) -> nn.Module:
    try:
        return _module(transformers.AutoModel.from_config(config, trust_remote_code=False, **options))
    except Exception as error:  # as many kinds as there are numbers that do not go together
        raise InputError(
            f"its configuration describes no {config.model_type} encoder that can be built ({first_line(error)})"
        ) from error


def _refuse_outsized(transformers: Any, config: Any, folder: Path) -> None:
    """Refuse a configuration of more numbers than the weights can fill, before there is memory for them."""
    with torch.device("meta"):
        body = _drawn(transformers, deepcopy(config), {})
    needed = sum(tensor.numel() for tensor in (*body.parameters(), *body.buffers()))
    held = sum(path.stat().st_size for path in weight_files(folder))
    if needed > held + _SLACK:
        raise InputError(
            f"{folder}: config.json describes an encoder of {needed} numbers, but its weights have {held} bytes; "
            "they do not belong together"
        )


def _module(body: Any) -> nn.Module:
    assert isinstance(body, nn.Module)
    return body


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Without progress bars, reports of what was loaded and warnings of its own; `Pretrained` says itself what is wrong."""
    log = transformers.utils.logging
    verbosity, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.set_verbosity(verbosity)
        if bars:
            log.enable_progress_bar()
