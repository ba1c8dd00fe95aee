"""Output layers that start from sentences which show the labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pssa.data import Corpus, Example
from pssa.errors import InputError
from pssa.runs import Config
from pssa.runs.prepared_data import prepare
from pssa.runs.run_context import RunContext
from pssa.runs.warm_start import _features, _fit_biases, init_output_layer
from pssa.training import Observer

GERMAN = {"positive": "{aspect} ist gut", "negative": "{aspect} ist schlecht", "neutral": "{aspect}"}


@pytest.fixture
def context(corpus: Corpus, encoder: Path) -> RunContext:
    return open_context(corpus, encoder)


def open_context(corpus: Corpus, encoder: Path, **settings: Any) -> RunContext:
    chosen = {"model": "bertabsa_att", "encoder": str(encoder), "device": "cpu", **settings}
    config, data = prepare(corpus, None, Config().updated(chosen))
    return RunContext(config, None, data, Observer())


def test_few_english_labels_have_texts_unless_something_else_is_set(corpus: Corpus, encoder: Path) -> None:
    texts = open_context(corpus, encoder).config.data.label_texts
    assert texts is not None
    assert set(texts) == set(corpus.labels)
    settings: dict[str, Any]
    for settings in ({"label_texts": {}}, {"min_steps": 0}, {"preset": "paper"}):
        assert not open_context(corpus, encoder, **settings).config.data.label_texts
    assert open_context(corpus, encoder, label_texts=GERMAN).config.data.label_texts == GERMAN
    foreign = Corpus(tuple(Example.from_text("qwertz uiopü", (0, 6), label=one.label) for one in corpus), corpus.labels)
    assert open_context(foreign, encoder).config.data.label_texts is None


def test_texts_that_cannot_be_used_are_refused(corpus: Corpus, encoder: Path) -> None:
    with pytest.raises(InputError, match="no text for the label neutral"):
        open_context(corpus, encoder, label_texts={key: GERMAN[key] for key in ("positive", "negative")})
    with pytest.raises(InputError, match="model memnet has no encoder"):
        prepare(corpus, None, Config().updated({"model": "memnet", "label_texts": GERMAN}))


def test_each_label_is_most_likely_for_its_own_sentence(context: RunContext) -> None:
    model, sentences = context.new_model().eval(), context.label_sentences
    output = model.get_submodule("output")
    assert isinstance(output, torch.nn.Linear)
    shown = _features(model, output, sentences)
    means = torch.stack([shown[sentences.labels == label].mean(dim=0) for label in range(3)])
    # Up to the biases, which are those of the training data.
    assert ((means - means.mean(dim=0)) @ output.weight.T).argmax(dim=1).tolist() == [0, 1, 2]
    torch.testing.assert_close(output.weight.sum(dim=0), torch.zeros(16), atol=1e-5, rtol=0)
    assert model.training is False


def test_models_of_other_seeds_start_alike_and_training_data_gives_the_biases(context: RunContext) -> None:
    model = context.new_model(seed=5)
    before = model.get_parameter("output.bias").clone()
    labels = torch.zeros_like(context.train_data.labels)
    one_sided = replace(context.train_data, table=replace(context.train_data.table, labels=labels))
    init_output_layer(model, context.label_sentences, one_sided)
    after = model.get_parameter("output.bias")
    assert (after - before).argmax() == 0
    assert after.isfinite().all()


def test_biases_do_not_depend_on_the_scale_of_scores_and_make_an_absent_label_rare() -> None:
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(300) % 2
    scores = torch.nn.functional.one_hot(labels, 3) + torch.randn(300, 3, generator=generator)
    scale, bias = _fit_biases(scores, labels)
    logits = scores * scale + bias
    assert float((scores * scale).std()) == pytest.approx(2, rel=1e-4)
    assert logits.isfinite().all()
    assert (logits.argmax(dim=1) == 2).sum() < 0.05 * len(labels) < (scores.argmax(dim=1) == 2).sum()
    other_scale, other_bias = _fit_biases(40 * scores + 7, labels)
    torch.testing.assert_close((40 * scores + 7) * other_scale + other_bias, logits, atol=1e-2, rtol=0)
