"""Encoders small enough for a test: two layers, sixteen wide, two heads, drawn at random, one of each architecture."""

from __future__ import annotations

from contextlib import redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import torch
import transformers
from tests.models.tokenizers import byte_pair, sentence_piece, word_piece
from torch import nn

from pssa.models import Pretrained

_SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 128,
    # Large enough that every word matters, where the usual 0.02 would leave all states alike.
    "initializer_range": 0.5,
}
# Relative positions as the released DeBERTa-v3 has them.
_RELATIVE = {
    "relative_attention": True,
    "position_buckets": 8,
    "pos_att_type": ["p2c", "c2p"],
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
    "type_vocab_size": 0,
}
_KINDS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "bert": (transformers.BertConfig, word_piece, {}),
    "deberta-v2": (transformers.DebertaV2Config, sentence_piece, _RELATIVE),
    "distilbert": (transformers.DistilBertConfig, word_piece, {"hidden_dim": 24}),
    "electra": (transformers.ElectraConfig, word_piece, {"embedding_size": 8}),
    # A window of one position to each side, so that sentences reach beyond it; its top layer looks everywhere.
    "modernbert": (
        transformers.ModernBertConfig,
        word_piece,
        {"local_attention": 2, "layer_types": ["sliding_attention", "full_attention"]},
    ),
    "mpnet": (transformers.MPNetConfig, byte_pair, {}),
    "roberta": (transformers.RobertaConfig, byte_pair, {"type_vocab_size": 1}),
}
ARCHITECTURES = tuple(_KINDS)


@cache
def tiny_encoder(kind: str = "bert") -> Pretrained:
    """An encoder of that architecture without weights: its body is drawn."""
    configuration, tokenizer, options = _KINDS[kind]
    made = tokenizer()
    special = {f"{name}_token_id": getattr(made, f"{name}_token_id") for name in ("pad", "bos", "eos", "cls", "sep")}
    sizes = {"vocab_size": len(made), **_SIZES, **special}
    return Pretrained(configuration(**sizes | options), made)


def write_encoder(
    folder: Path, kind: str = "bert", dtype: torch.dtype = torch.float32, parts: str = "1GB"
) -> nn.Module:
    """Write an encoder with weights, the same at every call, as a folder from elsewhere would be; its body."""
    encoder = tiny_encoder(kind)
    encoder.save(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        body: Any = encoder.body(None, 0.1).to(dtype)
    with redirect_stderr(StringIO()):  # progress bars
        body.save_pretrained(folder, max_shard_size=parts)
    assert isinstance(body, nn.Module)
    return body
