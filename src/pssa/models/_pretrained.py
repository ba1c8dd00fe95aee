"""`Pretrained`: a pretrained Transformer encoder, from a folder or from the Hugging Face hub.

Weights are read from safetensors alone, and no code that comes with a model is run. A hub name is looked up in the local cache
first, then on the network.
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
from typing import Any, cast

import torch
from torch import nn

from pssa.data.files import sync_tree
from pssa.errors import InputError, MissingExtra
from pssa.models._encoder_folder import check_weights, find_folder, read_description, refuse_faults, weight_files
from pssa.models._layers import refuse_outsized
from pssa.models._pieces import PieceCutter

# What the configurations of different architectures call the dropouts of their layers.
_DROPOUTS = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
    "embedding_dropout",
    "mlp_dropout",
)
_MAX_POSITIONS = 512  # of an encoder that states no limit
_NO_LIMIT = 10**6  # tokenizers without a limit state an absurd one
_CHUNK = 1 << 20
# The implementation of attention is always named: transformers would fetch and run the code that a config.json names.
_EAGER = {"attn_implementation": "eager"}


@dataclass(frozen=True)
class Pretrained:
    """A configuration, a tokenizer and, unless they come from elsewhere, weights."""

    config: Any  # of transformers
    tokenizer: Any  # a fast one
    weights: str = ""  # the folder they are in; empty: the body is drawn at random, to be filled from a file

    @classmethod
    def open(cls, source: str) -> Pretrained:
        """Open the encoder in a folder or, if there is no such folder, the one of that name on the hub."""
        transformers = _transformers()
        folder = find_folder(source)
        with _quiet(transformers):
            config, tokenizer = read_description(transformers, folder)
            check_weights(folder)
            with torch.device("meta"):
                body = _drawn(transformers, deepcopy(config), _EAGER)
        held = sum(path.stat().st_size for path in weight_files(folder))
        refuse_outsized(body, held, f"{folder}: config.json describes an encoder")
        return cls(config, tokenizer, str(folder))

    @classmethod
    def load(cls, folder: Path) -> Pretrained:
        """Read what `save` wrote: no weights."""
        transformers = _transformers()
        with _quiet(transformers):
            return cls(*read_description(transformers, folder))

    def save(self, folder: Path) -> None:
        """Write config.json and the tokenizer's files; weights belong to the model."""
        with _quiet(_transformers()):
            self.config.save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)
        sync_tree(folder)

    def body(self, attention: str | None, dropout: float) -> nn.Module:
        """Return the encoder in single precision, without a pooler, with `dropout` in every layer.

        `attention` names an implementation; None: "sdpa" where the architecture has it, else "eager". A body without weights, and
        nothing else, draws from torch's global random state.
        """
        transformers = _transformers()
        config = deepcopy(self.config)
        config.output_attentions, config.output_hidden_states, config.return_dict = False, False, True
        for name in _DROPOUTS:
            if hasattr(config, name):
                setattr(config, name, dropout)
        with _quiet(transformers):
            kinds = transformers.MODEL_MAPPING[type(config)]  # several, for some architectures
            kind = kinds[0] if isinstance(kinds, tuple) else kinds
            usual = "sdpa" if kind._supports_sdpa else "eager"
            options: dict[str, Any] = {"dtype": torch.float32, "attn_implementation": attention or usual}
            if "add_pooling_layer" in inspect.signature(kind).parameters:
                options["add_pooling_layer"] = False  # no loss reaches it
            if self.weights:
                return self._filled(transformers, config, options)
            return _drawn(transformers, config, options)

    def _filled(self, transformers: Any, config: Any, options: dict[str, Any]) -> nn.Module:
        with refuse_faults(f"{self.weights}: its weights cannot be read"):
            body, report = transformers.AutoModel.from_pretrained(
                self.weights,
                config=config,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                **options,
            )
        # transformers would silently draw them at random.
        if missing := sorted(report["missing_keys"]):
            expected = f"expected the weights of a {config.model_type} encoder as config.json describes it"
            raise InputError(f"{self.weights}: {len(missing)} tensors are missing, such as {missing[0]}; {expected}")
        return cast(nn.Module, body)

    @property
    def dimension(self) -> int:
        """D, the width of the encoder's states."""
        return int(self.config.hidden_size)

    @property
    def mask_id(self) -> int:
        """The id that replaces a hidden word's pieces."""
        return int(self.tokenizer.mask_token_id)

    @property
    def pad_id(self) -> int:
        """The id of padding."""
        return int(self.tokenizer.pad_token_id)

    @property
    def max_positions(self) -> int:
        """The longest row that the encoder and its tokenizer allow, special tokens included."""
        limit = getattr(self.config, "max_position_embeddings", None) or 0
        limit = limit - self._first_position if limit > 0 else _MAX_POSITIONS
        stated = self.tokenizer.model_max_length
        return int(min(limit, stated)) if 0 < stated < _NO_LIMIT else int(limit)

    @cached_property
    def _first_position(self) -> int:
        """The first row of the position table in use: in RoBERTa and its kin the one after the padding's, else 0."""
        transformers = _transformers()
        with _quiet(transformers), torch.device("meta"):
            body = _drawn(transformers, deepcopy(self.config), _EAGER)
        tables = (module for name, module in body.named_modules() if name.endswith("position_embeddings"))
        padding = getattr(next(tables, None), "padding_idx", None)
        return 0 if padding is None else int(padding) + 1

    def cutter(self, pair: bool, max_positions: int = 0) -> PieceCutter:
        """Return what cuts sentences into this encoder's pieces.

        :param max_positions: of a row; 0: as many as the encoder allows.
        """
        if not 0 <= max_positions <= self.max_positions:
            raise InputError(f"max_pieces is {max_positions}; the encoder takes up to {self.max_positions}")
        return PieceCutter(self.tokenizer, max_positions or self.max_positions, pair)

    def digest(self) -> str:
        """Return the SHA-256 of the weight files; empty where there are none."""
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
        raise MissingExtra("transformers", "train") from error
    return transformers


def _drawn(transformers: Any, config: Any, options: dict[str, Any]) -> nn.Module:
    with refuse_faults(f"config.json describes a {config.model_type} encoder that cannot be built"):
        return cast(nn.Module, transformers.AutoModel.from_config(config, trust_remote_code=False, **options))


@contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Silence progress bars, loading reports and warnings of transformers; `Pretrained` reports what is wrong."""
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
