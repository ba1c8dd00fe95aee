"""Tokenizers small enough to be read: a vocabulary of a few words, and every ASCII character as a piece of its own.

They have the steps, the special tokens and the templates of BERT, RoBERTa and DeBERTa-v3, and come from no file.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

WORDS = ("the", "battery", "life", "is", "good", "bad", "but", "not", "screen", "keyboard", "food", "great", "i", "don")
# Words that are in no list are read in parts: `lap ##top ##s`, `Ġlap t o p s`, `▁lap top s`.
PARTS = ("lap", "bat")
TAILS = ("top", "tery", "t", "s")
CHARACTERS = tuple(string.digits + string.ascii_letters + string.punctuation)

BERT_ROLES = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
ROBERTA_ROLES = {
    "cls_token": "<s>",
    "pad_token": "<pad>",  # not 0
    "sep_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


def word_piece() -> Any:
    """BERT's kind: lower case, accents removed, `##` inside words, `[CLS] a [SEP] b [SEP]`."""
    characters = tuple(dict.fromkeys(character.lower() for character in CHARACTERS))
    inner = tuple(f"##{piece}" for piece in (*TAILS, *characters))
    vocabulary = _numbered((*BERT_ROLES.values(), *characters, *WORDS, *PARTS, *inner))
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = _template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", vocabulary)
    return wrap(tokenizer, BERT_ROLES)


def byte_pair() -> Any:
    """RoBERTa's kind: bytes, a leading space is part of its word, `<s> a </s></s> b </s>`."""
    # Words after a space come first: what begins with a space is merged before anything inside it.
    merges = _merges((*(f"Ġ{word}" for word in (*WORDS, *PARTS)), *WORDS, "tery", "'t", "...", "<s>"))
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = _numbered((*ROBERTA_ROLES.values(), *alphabet, *(first + second for first, second in merges)))
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    sep, cls = ("</s>", vocabulary["</s>"]), ("<s>", vocabulary["<s>"])
    tokenizer.post_processor = processors.RobertaProcessing(sep, cls, add_prefix_space=False)
    return wrap(tokenizer, ROBERTA_ROLES)


def sentence_piece() -> Any:
    """DeBERTa-v3's kind: unigrams with `▁` for a space, one before the text, special tokens in their midst."""
    words = tuple(f"▁{word}" for word in (*WORDS, *PARTS, "don't"))
    scores = {"▁": -4.0, **dict.fromkeys(words, -2.0), **dict.fromkeys(TAILS, -5.0)}
    scores |= dict.fromkeys((*WORDS, *PARTS), -6.0) | dict.fromkeys(CHARACTERS, -8.0) | {"t": -5.0, "s": -5.0}
    vocabulary = [*((token, 0.0) for role, token in BERT_ROLES.items() if role != "mask_token"), *scores.items()]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=1, byte_fallback=False))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFKC(), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens([AddedToken("[MASK]", special=True)])
    ids = tokenizer.get_vocab()
    tokenizer.post_processor = _template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ids)
    return wrap(tokenizer, BERT_ROLES)


def wrap(tokenizer: Any, roles: dict[str, str]) -> Any:
    """The tokenizer as encoders have it, with the tokens of these roles."""
    fast: Any = PreTrainedTokenizerFast
    return fast(tokenizer_object=tokenizer, **roles)


KINDS: dict[str, Callable[[], Any]] = {
    "word_piece": word_piece,
    "byte_pair": byte_pair,
    "sentence_piece": sentence_piece,
}


def _numbered(tokens: Iterable[str]) -> dict[str, int]:
    return {token: place for place, token in enumerate(dict.fromkeys(tokens))}


def _merges(words: Iterable[str]) -> list[tuple[str, str]]:
    """Merges that build each word from its beginning, one character after the other."""
    steps = (zip(accumulate(word), word[1:], strict=False) for word in words)
    return list(dict.fromkeys(pair for step in steps for pair in step))


def _template(single: str, pair: str, ids: dict[str, int]) -> Any:
    special = [(token, ids[token]) for token in ("[CLS]", "[SEP]")]
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=special)
