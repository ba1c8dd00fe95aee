"""How far a classifier's saliencies can be trusted."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import pssa
from pssa.data.example import Corpus, Example
from pssa.data.opinion_words import OpinionRow, read_opinion_words
from pssa.errors import InputError
from pssa.evaluation import Faithfulness
from pssa.evaluation.agreement import NEAREST
from pssa.runs import Classifier
from pssa.runs.explain import Trust, trust, trusted_saliencies

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def classifier(finished_run: Path) -> Classifier:
    return pssa.load(finished_run)


@pytest.fixture(scope="module")
def opinion_words(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> tuple[OpinionRow, ...]:
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
    return read_opinion_words(path)


def without_control(found: Faithfulness) -> list[float]:
    return [each.value.mean for part in (found.comprehensiveness, found.sufficiency) for each in part.values()]


def test_all_that_is_asked_for_is_found(
    classifier: Classifier, corpus: Corpus, opinion_words: tuple[OpinionRow, ...]
) -> None:
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


def test_plain_values_survive_json(
    classifier: Classifier, corpus: Corpus, opinion_words: tuple[OpinionRow, ...]
) -> None:
    found = trust(classifier, corpus, ("attention",), opinion_words)
    values = found.as_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values | {"correlation": []}
    estimate = values["faithfulness"]["mask"]["attention"]["comprehensiveness"]["aopc"]["difference"]
    assert estimate["low"] <= estimate["mean"] <= estimate["high"]
    assert (values["faithfulness"]["instances"], values["faithfulness"]["left_out"]) == (24, 0)
    assert values["agreement"]["saliencies"]["attention"]["overall"]["instances"] == 24
    assert "agreement" not in trust(classifier, corpus.select(range(3)), ("attention",)).as_dict()


def test_a_memory_network_cannot_tell_a_masked_word_from_a_missing_one(classifier: Classifier, corpus: Corpus) -> None:
    # It attends to candidates only and knows of no order.
    ways = trust(classifier, corpus, ("attention",)).faithfulness
    masked, deleted = (without_control(ways[way]["attention"]) for way in ("mask", "deletion"))
    assert masked == pytest.approx(deleted, abs=1e-6)


def test_a_word_left_out_loses_what_leave_one_out_says(classifier: Classifier, corpus: Corpus) -> None:
    found = trust(classifier, corpus, ("leave_one_out",)).faithfulness["deletion"]["leave_one_out"]
    drops = []
    for example in corpus:
        whole, predicted = classifier.probabilities([example])[0].max(dim=0)
        hidden = classifier.probabilities([example.hide([word]) for word in sorted(example.candidates)])
        drops.append(float((whole - hidden[:, predicted]).max()))
    assert found.comprehensiveness["1"].value.mean == pytest.approx(sum(drops) / len(drops), abs=1e-6)


@pytest.mark.parametrize("model", ["tnet", "bertabsa_att", "bertabsa"])
def test_every_kind_of_model_can_be_judged(
    model: str, train_tiny: Callable[..., Path], corpus: Corpus, tmp_path: Path
) -> None:
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


def test_where_several_vote_the_first_is_judged(classifier: Classifier, corpus: Corpus) -> None:
    silent = copy.deepcopy(classifier.model)
    with torch.no_grad():
        for parameter in silent.parameters():
            parameter.zero_()
    team = replace(classifier, members=(classifier.model, silent), vote_weights=(1.0, 5.0))
    few = corpus.select(range(6))
    assert trust(team, few, ("attention",)) == trust(classifier, few, ("attention",))


def test_a_limit_draws_examples_by_the_seed(classifier: Classifier, corpus: Corpus) -> None:
    def found(seed: int) -> Trust:
        return trust(classifier, corpus, ("attention",), seed=seed, limit=5)

    assert found(1).instances == 5
    assert found(1) == found(1)
    assert without_control(found(1).faithfulness["mask"]["attention"]) != without_control(
        found(2).faithfulness["mask"]["attention"]
    )
    assert trust(classifier, corpus, ("attention",), limit=24) == trust(classifier, corpus, ("attention",))


def test_sentences_of_the_aspect_alone_are_counted(classifier: Classifier, corpus: Corpus) -> None:
    alone = Example.from_text("screen", (0, 6), label="neutral")
    found = trust(classifier, Corpus((*corpus[:3], alone)), ("attention",))
    assert (found.instances, found.left_out) == (4, 1)
    assert found.as_dict()["faithfulness"]["instances"] == 3


def test_labels_are_not_needed(classifier: Classifier, corpus: Corpus) -> None:
    bare = Corpus(tuple(replace(example, label=None) for example in corpus[:4]))
    assert (
        trust(classifier, bare, ("attention",)).faithfulness
        == trust(classifier, corpus.select(range(4)), ("attention",)).faithfulness
    )


def test_a_saliency_that_was_asked_for_twice_is_judged_once(classifier: Classifier) -> None:
    assert trusted_saliencies(classifier, ("random", "attention", "random")) == ("random", "attention")
    assert trusted_saliencies(classifier) == ("attention", "gradient", "integrated_gradients")


def test_what_cannot_be_judged_is_refused(
    classifier: Classifier, corpus: Corpus, opinion_words: tuple[OpinionRow, ...]
) -> None:
    with pytest.raises(InputError, match="saliency 'self_attention' cannot explain model memnet; it can be attention,"):
        trust(classifier, corpus, ("self_attention",))
    with pytest.raises(InputError, match="the corpus is empty"):
        trust(classifier, Corpus(()), ("attention",))
    other = Corpus((Example.from_text("a great phone", (8, 13), label="positive"),))
    with pytest.raises(InputError, match="people marked no word in any of the 1 sentences"):
        trust(classifier, other, ("attention",), opinion_words)
