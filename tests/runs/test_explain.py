"""Explanations by word, and how far they can be trusted."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

import pssa
from pssa import saliency
from pssa.data.evidence import Evidence
from pssa.data.example import Corpus, Example
from pssa.data.opinion_words import evidence_source
from pssa.errors import InputError
from pssa.evaluation import Faithfulness
from pssa.evaluation.agreement import NEAREST
from pssa.runs import Classifier, load
from pssa.runs.answers import Explanation
from pssa.runs.explain import Trust, explain, trust, trusted_saliencies
from pssa.saliency import observe
from pssa.saliency.leave_one_out import LeaveOneOut

MODELS = {
    "memnet": ("attention", "gradient", "integrated_gradients", "leave_one_out", "random"),
    "tnet_att": ("attention", "gradient", "integrated_gradients", "leave_one_out", "random"),
    "tnet": ("gradient", "integrated_gradients", "leave_one_out", "random"),
    "bertabsa_att": ("attention", "gradient", "integrated_gradients", "leave_one_out", "random"),
    "bertabsa": ("leave_one_out", "random"),
    "bertabsa_cls": ("leave_one_out", "random"),
}
TrainTiny = Callable[..., Path]
EvidenceFor = Callable[[Corpus], Evidence]


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
    seen = observe(classifier.torch.model, classifier.torch.index(examples), saliency.build("gradient", {})).scores
    answers = classifier.answer(examples)
    for example, answer, row, given in zip(examples, answers, seen, found, strict=True):
        assert (given.text, given.spans, given.aspect) == (example.text, example.spans, example.aspect)
        assert (given.words, given.saliency, given.answer) == (example.words, "gradient", answer)
        assert given.shares == pytest.approx(row[: len(example.words)].tolist())
        assert is_distribution(given)


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


@pytest.mark.parametrize("name", ["attention", "gradient", "leave_one_out"])
def test_a_sentence_that_is_nothing_but_its_aspect_has_no_shares(finished_run: Path, name: str) -> None:
    (given,) = explain(load(finished_run), [Example.from_text("battery life", (0, 12))], name)
    assert given.shares == (0.0, 0.0)
    assert given.answer.label


def test_an_unknown_saliency_is_refused_with_those_that_can_be_used(finished_run: Path, corpus: Corpus) -> None:
    with pytest.raises(InputError, match="saliency 'magic' cannot explain model"):
        explain(load(finished_run), corpus[:1], "magic")
    with pytest.raises(InputError, match="'self_attention' cannot explain"):
        explain(load(finished_run), [], "self_attention")


def test_explaining_leaves_the_model_and_the_random_state_alone(finished_run: Path, corpus: Corpus) -> None:
    classifier = load(finished_run)
    weights = {name: tensor.clone() for name, tensor in classifier.torch.model.state_dict().items()}
    state = torch.get_rng_state()
    for name in classifier.saliencies:
        explain(classifier, corpus[:3], name)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in classifier.torch.model.state_dict().items())
    assert all(parameter.grad is None for parameter in classifier.torch.model.parameters())


def loses_by_hiding(classifier: Classifier, example: Example) -> bool:
    """Whether hiding some word makes the model less sure; where none does, no word has a share."""
    batch = classifier.torch.index([example]).batch(torch.tensor([0]))
    return bool((LeaveOneOut(signed=True)(cast(Any, classifier.torch.model), batch) > 0).any())


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_every_saliency_explains_in_words(train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus, model: str) -> None:
    classifier, examples = load(train_tiny(tmp_path / "run", model=model, epochs=1)), corpus[:4]
    assert classifier.saliencies == MODELS[model]
    for name in MODELS[model]:
        for example, given in zip(examples, explain(classifier, examples, name), strict=True):
            says_nothing = name == "leave_one_out" and not loses_by_hiding(classifier, example)
            assert given.shares == (0.0,) * len(given.shares) if says_nothing else is_distribution(given), name


@pytest.mark.slow
def test_refined_self_attention_can_be_looked_at(train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus) -> None:
    classifier = load(train_tiny(tmp_path / "run", model="bertabsa", epochs=1, refine="average"))
    assert classifier.saliencies[0] == "attention"
    assert "self_attention" in classifier.saliencies
    for name in ("attention", "self_attention"):
        assert all(is_distribution(given) for given in explain(classifier, corpus[:4], name))


def test_several_models_are_explained_by_the_first(train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus) -> None:
    out = train_tiny(tmp_path / "run", method="boosting", epochs=1)
    (voted,) = explain(load(out), corpus[:1])
    (alone,) = explain(load(out / "members" / "1"), corpus[:1])
    assert voted.shares == alone.shares
    assert voted.answer == load(out).answer(corpus[:1])[0]


@pytest.fixture(scope="module")
def classifier(finished_run: Path) -> Classifier:
    return pssa.load(finished_run)


@pytest.fixture(scope="module")
def opinion_words(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> EvidenceFor:
    """The last word but the full stop of every sentence: great, poor or usual."""
    lines = ["s_id\tsentence\ttarget_tags\topinion_words_tags"]
    for number, example in enumerate(corpus):
        target = [place in range(*example.aspect) for place in range(len(example.words))]
        opinion = [place == len(example.words) - 2 for place in range(len(example.words))]
        tags = [
            " ".join(f"{word}\\{'B' if mark else 'O'}" for word, mark in zip(example.words, marks, strict=True))
            for marks in (target, opinion)
        ]
        lines.append("\t".join([str(number), " ".join(example.words), *tags]))
    path = tmp_path_factory.mktemp("opinion") / "words.tsv"
    path.write_text("\n".join(lines) + "\n")
    return evidence_source(path)


def without_control(found: Faithfulness) -> list[float]:
    return [each.value.mean for part in (found.comprehensiveness, found.sufficiency) for each in part.values()]


@pytest.mark.slow
def test_all_that_is_asked_for_is_found(classifier: Classifier, corpus: Corpus, opinion_words: EvidenceFor) -> None:
    found = trust(classifier, corpus, ("gradient", "attention"), opinion_words)
    assert (found.instances, found.left_out) == (24, 0)
    assert {way: list(by_name) for way, by_name in found.faithfulness.items()} == {
        "mask": ["gradient", "attention"],
        "deletion": ["gradient", "attention"],
    }
    assert [(pair.first, pair.second, pair.instances) for pair in found.correlation] == [("gradient", "attention", 24)]
    assert found.agreement is not None
    assert (found.agreement.instances, found.agreement.left_out) == (24, 0)
    assert list(found.agreement.saliencies) == ["gradient", "attention", NEAREST]
    assert {label: hits.instances for label, hits in found.agreement.saliencies[NEAREST].per_label.items()} == {
        "positive": 8,
        "negative": 8,
        "neutral": 8,
    }
    values = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert list(values) == ["faithfulness", "correlation", "agreement"]
    estimate = values["faithfulness"]["mask"]["attention"]["comprehensiveness"]["aopc"]["difference"]
    assert estimate["low"] <= estimate["mean"] <= estimate["high"]
    assert (values["faithfulness"]["instances"], values["faithfulness"]["left_out"]) == (24, 0)
    assert values["agreement"]["saliencies"]["attention"]["overall"]["instances"] == 24
    assert "agreement" not in trust(classifier, corpus.select(range(3)), ("attention",)).as_dict()


@pytest.mark.slow
def test_a_memory_network_cannot_tell_a_masked_word_from_a_missing_one(classifier: Classifier, corpus: Corpus) -> None:
    # It attends to candidates only and knows of no order.
    ways = trust(classifier, corpus, ("attention",)).faithfulness
    masked, deleted = (without_control(ways[way]["attention"]) for way in ("mask", "deletion"))
    assert masked == pytest.approx(deleted, abs=1e-6)


@pytest.mark.slow
def test_a_word_left_out_loses_what_leave_one_out_says(classifier: Classifier, corpus: Corpus) -> None:
    found = trust(classifier, corpus, ("leave_one_out",)).faithfulness["deletion"]["leave_one_out"]
    drops = []
    for example in corpus:
        whole, predicted = classifier.torch.probabilities([example])[0].max(dim=0)
        hidden = classifier.torch.probabilities([example.hide([word]) for word in sorted(example.candidates)])
        drops.append(float((whole - hidden[:, predicted]).max()))
    assert found.comprehensiveness["1"].value.mean == pytest.approx(sum(drops) / len(drops), abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tnet", "bertabsa_att", "bertabsa"])
def test_every_model_can_be_judged(model: str, train_tiny: Callable[..., Path], corpus: Corpus, tmp_path: Path) -> None:
    classifier = pssa.load(train_tiny(tmp_path / "run", model=model, epochs=1))
    found = trust(classifier, corpus.select(range(4)))
    names = trusted_saliencies(classifier)
    assert list(found.faithfulness["mask"]) == list(found.faithfulness["deletion"]) == list(names)
    assert (
        names
        == {
            "tnet": ("gradient", "integrated_gradients"),
            "bertabsa_att": ("attention", "gradient", "integrated_gradients"),
            "bertabsa": ("leave_one_out",),
        }[model]
    )


@pytest.mark.slow
def test_where_several_vote_the_first_is_judged(classifier: Classifier, corpus: Corpus) -> None:
    silent = copy.deepcopy(classifier.torch.model)
    with torch.no_grad():
        for parameter in silent.parameters():
            parameter.zero_()
    team = replace(
        classifier,
        runtime=replace(classifier.torch, members=(classifier.torch.model, silent), vote_weights=(1.0, 5.0)),
    )
    few = corpus.select(range(6))
    assert trust(team, few, ("attention",)) == trust(classifier, few, ("attention",))


@pytest.mark.slow
def test_a_limit_draws_examples_by_the_seed(classifier: Classifier, corpus: Corpus) -> None:
    def found(seed: int) -> Trust:
        return trust(classifier, corpus, ("attention",), seed=seed, limit=5)

    assert found(1).instances == 5
    assert found(1) == found(1)
    assert without_control(found(1).faithfulness["mask"]["attention"]) != without_control(
        found(2).faithfulness["mask"]["attention"]
    )
    assert trust(classifier, corpus, ("attention",), limit=24) == trust(classifier, corpus, ("attention",))


@pytest.mark.slow
def test_sentences_of_the_aspect_alone_count_and_labels_are_not_needed(classifier: Classifier, corpus: Corpus) -> None:
    alone = Example.from_text("screen", (0, 6), label="neutral")
    found = trust(classifier, Corpus((*corpus[:3], alone)), ("attention",))
    assert (found.instances, found.left_out) == (4, 1)
    assert found.as_dict()["faithfulness"]["instances"] == 3
    bare = Corpus(tuple(replace(example, label=None) for example in corpus[:4]))
    assert (
        trust(classifier, bare, ("attention",)).faithfulness
        == trust(classifier, corpus.select(range(4)), ("attention",)).faithfulness
    )


@pytest.mark.slow
def test_a_saliency_that_was_asked_for_twice_is_judged_once(classifier: Classifier) -> None:
    assert trusted_saliencies(classifier, ("random", "attention", "random")) == ("random", "attention")
    assert trusted_saliencies(classifier) == ("attention", "gradient", "integrated_gradients")


@pytest.mark.slow
def test_what_cannot_be_judged_is_refused(classifier: Classifier, corpus: Corpus, opinion_words: EvidenceFor) -> None:
    with pytest.raises(InputError, match="saliency 'self_attention' cannot explain"):
        trust(classifier, corpus, ("self_attention",))
    with pytest.raises(InputError, match="the corpus is empty"):
        trust(classifier, Corpus(()), ("attention",))
    other = Corpus((Example.from_text("a great phone", (8, 13), label="positive"),))
    with pytest.raises(InputError, match="marks no opinion words of these"):
        trust(classifier, other, ("attention",), opinion_words)
