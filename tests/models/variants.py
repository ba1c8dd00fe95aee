"""Every model, with each way to refine its self-attention where it has one, and what it reads: examples, vectors, an encoder."""

from __future__ import annotations

from typing import Any

import torch
from tests.models.encoders import tiny_encoder
from torch import nn

from pssa import models
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.vocabulary import Vocabulary
from pssa.models import AspectModel, Batch, IndexedCorpus, Prediction, Pretrained, WordTable, index_words

EXAMPLES = (
    Example.from_text("the screen of this laptop is really very great", (4, 10), label="positive"),
    Example.from_text("battery life poor", (0, 12), label="negative"),  # an aspect of two words
    Example.from_text("screen", (0, 6), label="neutral"),  # nothing but the aspect
    Example.from_text("great price", (6, 11), label="positive"),  # shorter than a convolution
    Example.from_text("this is not great price", (18, 23), label="negative").hide([0, 3]),
)
VOCABULARY = Vocabulary.build(
    [word for example in EXAMPLES for word in example.words if word != "price"], extra=["price", "unheard"]
)
N_LABELS = 3

# Small, but with initial weights large enough that every word matters.
_SMALL = {"hidden": 8, "filters": 16, "initial_bound": 0.5}
_WAYS = ("random_head", "smallest_entropy", "average")
_REFINED = {
    f"{name}-{way}": {"refine": way}
    for name in models.names()
    if "refine" in models.option_defaults(name)
    for way in _WAYS
}
# A variant is a model's name, and after a hyphen its way to refine.
VARIANTS: dict[str, dict[str, Any]] = {name: {} for name in models.names()} | _REFINED
ENCODERS = tuple(variant for variant in VARIANTS if models.uses_encoder(variant.partition("-")[0]))
ATTENDING = tuple(
    variant for variant, options in VARIANTS.items() if models.attends(variant.partition("-")[0], options)
)
REFINED = tuple(_REFINED)


def name_of(variant: str) -> str:
    return variant.partition("-")[0]


def draw_table() -> WordTable:
    matrix = torch.randn(len(VOCABULARY), 6, generator=torch.Generator().manual_seed(7))
    return WordTable(matrix, VOCABULARY.n_trained)


def start_of(variant: str) -> WordTable | Pretrained:
    """What the model is built from."""
    return tiny_encoder() if models.uses_encoder(name_of(variant)) else draw_table()


def index(variant: str, encoder: str = "bert") -> IndexedCorpus:
    """The examples as the model reads them."""
    name = name_of(variant)
    if not models.uses_encoder(name):
        return index_words(EXAMPLES, VOCABULARY, DEFAULT_LABELS)
    return IndexedCorpus.of(
        tiny_encoder(encoder).cutter(pair=models.reads_pairs(name)).features(EXAMPLES, DEFAULT_LABELS)
    )


def build(variant: str, start: WordTable | Pretrained, seed: int = 0, **options: Any) -> nn.Module:
    """The variant in eval mode; options that it does not have are left out."""
    known = models.option_defaults(name_of(variant))
    chosen = {key: value for key, value in (_SMALL | options).items() if key in known}
    return models.build(name_of(variant), start, N_LABELS, VARIANTS[variant] | chosen, seed).eval()


def predict(model: nn.Module, batch: Batch) -> Prediction:
    assert isinstance(model, AspectModel)
    return model.classify(model.encode(batch), batch)


def set_parameters(model: nn.Module, values: dict[str, float | torch.Tensor]) -> None:
    """Give parameters values that can be followed by hand."""
    with torch.no_grad():
        for name, value in values.items():
            parameter = model.get_parameter(name)
            parameter.copy_(torch.as_tensor(value).expand_as(parameter))
