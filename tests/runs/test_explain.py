"""Why a label was given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from pssa import saliency
from pssa.data.example import Corpus, Example
from pssa.errors import InputError
from pssa.runs import load
from pssa.runs.classifier import Classifier
from pssa.runs.explain import Explanation, explain, usable_saliencies, usual_saliency
from pssa.saliency import observe
from pssa.saliency.leave_one_out import LeaveOneOut

WORD_MODELS = {
    "memnet": ("attention", "gradient", "integrated_gradients", "leave_one_out", "random"),
    "tnet_att": ("attention", "gradient", "integrated_gradients", "leave_one_out", "random"),
    "tnet": ("gradient", "integrated_gradients", "leave_one_out", "random"),
}
PIECE_MODELS = {
    "bertabsa_att": ("attention", "gradient", "integrated_gradients", "leave_one_out", "random"),
    "bertabsa": ("leave_one_out", "random"),
    "bertabsa_cls": ("leave_one_out", "random"),
}
TrainTiny = Callable[..., Path]


def is_distribution(given: Explanation) -> bool:
    start, end = given.aspect
    return (
        min(given.shares) >= 0
        and given.shares[start:end] == (0.0,) * (end - start)
        and abs(sum(given.shares) - 1) < 1e-5
    )


def test_shares_are_the_saliency_of_each_word_in_the_order_of_the_examples(finished_run: Path, corpus: Corpus) -> None:
    classifier, examples = load(finished_run), corpus[:7]
    found = explain(classifier, examples, "gradient")
    seen = observe(classifier.model, classifier.index(examples), saliency.build("gradient", {})).scores
    answers = classifier.answer(examples)
    for example, answer, row, given in zip(examples, answers, seen, found, strict=True):
        assert (given.text, given.spans, given.aspect) == (example.text, example.spans, example.aspect)
        assert (given.words, given.saliency, given.answer) == (example.words, "gradient", answer)
        assert given.shares == pytest.approx(row[: len(example.words)].tolist())
        assert is_distribution(given)


def test_without_a_name_the_usual_saliency_is_taken(finished_run: Path, corpus: Corpus) -> None:
    (given,) = explain(load(finished_run), corpus[:1])
    assert given.saliency == usual_saliency(load(finished_run)) == "attention"


def test_plain_values_are_json_under_the_names_of_the_service(finished_run: Path) -> None:
    (given,) = explain(load(finished_run), [Example.from_text("so the screen", (7, 13))])
    found = json.loads(json.dumps(given.as_dict()))
    assert list(found) == ["text", "aspect", "from", "to", "label", "probabilities", "saliency", "words"]
    assert (found["text"], found["aspect"], found["from"], found["to"]) == ("so the screen", "screen", 7, 13)
    assert [(word["word"], word["from"], word["to"]) for word in found["words"]] == [
        ("so", 0, 2),
        ("the", 3, 6),
        ("screen", 7, 13),
    ]
    assert [word["share"] for word in found["words"]] == list(given.shares)


def test_nothing_asked_is_nothing_explained(finished_run: Path) -> None:
    assert explain(load(finished_run), []) == []


@pytest.mark.parametrize("name", ["attention", "gradient", "leave_one_out"])
def test_a_sentence_that_is_nothing_but_its_aspect_has_no_shares(finished_run: Path, name: str) -> None:
    (given,) = explain(load(finished_run), [Example.from_text("battery life", (0, 12))], name)
    assert given.shares == (0.0, 0.0)
    assert given.answer.label


def test_an_unknown_saliency_is_refused_with_those_that_can_be_used(finished_run: Path, corpus: Corpus) -> None:
    with pytest.raises(InputError, match="saliency 'magic' cannot explain model memnet; it can be attention, gradient"):
        explain(load(finished_run), corpus[:1], "magic")
    with pytest.raises(InputError, match="'self_attention' cannot explain"):
        explain(load(finished_run), [], "self_attention")


def test_explaining_leaves_the_model_and_the_random_state_alone(finished_run: Path, corpus: Corpus) -> None:
    classifier = load(finished_run)
    weights = {name: tensor.clone() for name, tensor in classifier.model.state_dict().items()}
    state = torch.get_rng_state()
    for name in usable_saliencies(classifier):
        explain(classifier, corpus[:3], name)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in classifier.model.state_dict().items())
    assert all(parameter.grad is None for parameter in classifier.model.parameters())


def loses_by_hiding(classifier: Classifier, example: Example) -> bool:
    """Whether hiding some word makes the model less sure; where none does, no word has a share."""
    batch = classifier.index([example]).batch(torch.tensor([0]))
    return bool((LeaveOneOut(signed=True)(cast(Any, classifier.model), batch) > 0).any())


def check_model(train_tiny: TrainTiny, out: Path, corpus: Corpus, model: str, expected: tuple[str, ...]) -> None:
    classifier = load(train_tiny(out, model=model, epochs=1))
    assert usable_saliencies(classifier) == expected
    assert usual_saliency(classifier) == expected[0]
    examples = corpus[:4]
    for name in expected:
        for example, given in zip(examples, explain(classifier, examples, name), strict=True):
            says_nothing = name == "leave_one_out" and not loses_by_hiding(classifier, example)
            assert given.shares == (0.0,) * len(given.shares) if says_nothing else is_distribution(given), name


@pytest.mark.parametrize("model", WORD_MODELS)
def test_every_saliency_that_is_named_explains_the_model(
    train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus, model: str
) -> None:
    check_model(train_tiny, tmp_path / "run", corpus, model, WORD_MODELS[model])


@pytest.mark.slow
@pytest.mark.parametrize("model", PIECE_MODELS)
def test_models_that_read_pieces_are_explained_in_words(
    train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus, model: str
) -> None:
    check_model(train_tiny, tmp_path / "run", corpus, model, PIECE_MODELS[model])


@pytest.mark.slow
def test_where_self_attention_is_refined_it_can_be_looked_at(
    train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus
) -> None:
    classifier = load(train_tiny(tmp_path / "run", model="bertabsa", epochs=1, refine="average"))
    assert usable_saliencies(classifier)[0] == "attention"
    assert "self_attention" in usable_saliencies(classifier)
    for name in ("attention", "self_attention"):
        assert all(is_distribution(given) for given in explain(classifier, corpus[:4], name))


def test_several_models_are_explained_by_the_first(train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus) -> None:
    out = train_tiny(tmp_path / "run", method="boosting", epochs=1)
    (voted,) = explain(load(out), corpus[:1])
    (alone,) = explain(load(out / "members" / "1"), corpus[:1])
    assert voted.shares == alone.shares
    assert voted.answer == load(out).answer(corpus[:1])[0]
