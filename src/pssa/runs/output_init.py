"""Initial weights of an encoder's output layer, from sentences that show the labels (`label_texts`), where labels are few.

A few labelled instances do not show how a label looks among all that an encoder's states tell. But the encoder knows what "the
screen is great" means. The weights of a label are the mean feature of its sentence about aspects of the training data, less the
mean of all labels, so that aspects cancel out. Only the biases are fitted to the labelled instances.
"""

from __future__ import annotations

from itertools import islice

import torch
from torch import Tensor, nn
from torch.nn import functional

from pssa.data.example import Corpus
from pssa.data.labels import label_sentences
from pssa.models import IndexedCorpus
from pssa.runs.featurizer import Featurizer
from pssa.runs.settings import Config

_N_ASPECTS = 16  # whose sentences are averaged
_BATCH = 64
_MAX_ITERATIONS = 50
# Deviations of the logits (results/defaults.md). While biases are fitted it is large, so that few labels say little about how
# frequent each is; then smaller, so that the training has something to learn. Which label is the likeliest stays the same.
_FITTED, _STARTED = 8.0, 2.0
_PENALTY = 0.1


def sentences_of(config: Config, corpus: Corpus, featurizer: Featurizer) -> IndexedCorpus:
    """Return the sentences that show the labels, about aspects of the corpus."""
    aspects = islice(dict.fromkeys(example.aspect_text for example in corpus), _N_ASPECTS)
    sentences = label_sentences(config.data.label_texts or {}, config.data.labels, aspects)
    return featurizer.index(featurizer.cut(sentences), config.data.labels)


def init_output_layer(model: nn.Module, sentences: IndexedCorpus, data: IndexedCorpus) -> None:
    """Set the output layer of a new model.

    :param data: the labelled instances.
    """
    output = model.output
    assert isinstance(output, nn.Linear)
    shown = _features(model, output, sentences)
    means = torch.stack([shown[sentences.labels == label].mean(dim=0) for label in range(output.out_features)])
    weights = means - means.mean(dim=0)
    scores = _features(model, output, data) @ weights.T
    scale, bias = _fit_biases(scores, data.labels)
    with torch.no_grad():
        output.weight.copy_(weights * scale)
        output.bias.copy_(bias)


@torch.no_grad()
def _features(model: nn.Module, output: nn.Linear, data: IndexedCorpus) -> Tensor:
    """Return (n, D): what the output layer receives."""
    found: list[Tensor] = []
    hook = output.register_forward_pre_hook(lambda _, inputs: found.append(inputs[0].float()))
    training = model.training
    model.eval()
    try:
        for rows in torch.split(torch.arange(len(data)), _BATCH):
            batch = data.batch(rows)
            model.classify(model.encode(batch), batch)  # type: ignore[operator]
    finally:
        hook.remove()
        model.train(training)
    return torch.cat(found)


def _fit_biases(scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return one scale of the scores (n, C), and the biases (C,) by maximum likelihood, for the scaled scores.

    A penalty keeps the bias of a label finite that no instance has.
    """
    mean, deviation = scores.mean(dim=0), scores.std().clamp(min=1e-6)
    sharp = (scores - mean) * (_FITTED / deviation)
    bias = torch.zeros_like(mean, requires_grad=True)
    optimizer = torch.optim.LBFGS([bias], max_iter=_MAX_ITERATIONS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = functional.cross_entropy(sharp + bias, labels, reduction="sum") + _PENALTY * bias.square().sum() / 2
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    scale = _STARTED / deviation
    return scale, bias.detach() * (_STARTED / _FITTED) - mean * scale
