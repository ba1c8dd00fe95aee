"""Analyses of trained models, on models whose attention is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.mining.toys import scripted
from tests.models.encoders import tiny_encoder
from tests.paper.experiments.rooms import marked_resources, write_opinion_words
from torch import nn

from paper.experiments.analyses import (
    AnalysisInput,
    agreement,
    faithfulness,
    find,
    frequency_bucket,
    heat,
    mined_words,
    rare_words,
    round_attention,
)
from paper.experiments.cells import Analysis, Mining, Place, Training, settings
from paper.experiments.ledger import Ledger
from paper.experiments.schedule import CellSchedule, open_pool
from paper.experiments.workspace import Workspace
from pssa import models
from pssa.data.evidence import Evidence, Finding, Header
from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.opinion_words import OpinionWords, read_opinion_words
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import Batch, Encoding, Prediction, WordTable
from pssa.runs.classifier import Classifier
from pssa.runs.featurizer import PieceFeaturizer, WordFeaturizer
from pssa.runs.torch_runtime import TorchRuntime


def corpus(*sentences: str, labels: Sequence[str] = ()) -> Corpus:
    """Every aspect is the word `screen`; all are positive unless said otherwise."""
    given = labels or ["positive"] * len(sentences)
    return Corpus(
        tuple(
            Example.from_text(text, (text.index("screen"), text.index("screen") + 6), label=label, id=str(number))
            for number, (text, label) in enumerate(zip(sentences, given, strict=True))
        )
    )


def classifier(attention: Sequence[Sequence[float]], classes: Sequence[int], *corpora: Corpus) -> Classifier:
    """A model that attends and answers by the place of an example in its corpus."""
    words = Vocabulary.build([word for each in corpora for example in each for word in example.words])
    featurizer = WordFeaturizer(words, WordTable(torch.zeros(len(words), 1), words.n_trained))
    return Classifier(TorchRuntime("memnet", DEFAULT_LABELS, featurizer, (scripted(attention, classes),), (1.0,)))


def subject(train: Corpus, test: Corpus, model: Classifier, opinion_rows: OpinionWords | None = None) -> AnalysisInput:
    return AnalysisInput(model, train, test, opinion_rows)


def opinion_rows(folder: Path, given: Corpus, *marked: Sequence[str]) -> OpinionWords:
    """A row for each sentence, in which these words are marked."""
    return read_opinion_words(write_opinion_words(folder / "words.tsv", given, *marked))


class ByWord(nn.Module):
    def __init__(self, words: Sequence[str], weights: Mapping[str, float]) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor([weights.get(word, 0.0) for word in words]))

    def encode(self, batch: Batch) -> Encoding:
        states = self.weights[batch.positions].unsqueeze(-1)
        return Encoding(states, states.new_zeros(len(states), 1))

    def classify(self, encoding: Encoding, batch: Batch) -> Prediction:
        return Prediction(torch.tensor([[2.0, 1.0, 0.0]]).repeat(len(batch.labels), 1), encoding.words.squeeze(-1))


def weighing(test: Corpus, weights: Mapping[str, float]) -> AnalysisInput:
    """Such a model, to be looked at on `test`."""
    model = classifier([[0.0]], (0,), test)
    words = model.torch.featurizer.vocabulary.words  # type: ignore[union-attr]
    return subject(test, test, replace(model, runtime=replace(model.torch, members=(ByWord(words, weights),))))


GREY = corpus("a dim grey screen", "a bright sharp screen")
WEIGHED = weighing(GREY, {"a": 0.4, "dim": 0.35, "grey": 0.25, "bright": 0.6, "sharp": 0.0})


def test_attention_is_compared_with_marked_words(tmp_path: Path) -> None:
    rows = opinion_rows(tmp_path, GREY, ("dim",), ("bright",))
    found = agreement(replace(WEIGHED, opinion_rows=rows), saliencies=("attention",))
    hits = found["agreement"]["saliencies"]["attention"]["overall"]
    # "a" comes first in one sentence, "bright" in the other.
    assert hits["precision_at_1"]["value"]["mean"] == 0.5
    assert hits["precision_at_1"]["control"]["mean"] == pytest.approx(1 / 3)
    assert hits["mass"]["value"]["mean"] == pytest.approx((0.35 + 0.6) / 2)
    assert found["correlation"] == []


def test_saliencies_are_compared_with_each_other() -> None:
    # Answers do not change when a word goes, so that one of the two puts words in no order.
    (pair,) = agreement(WEIGHED, saliencies=("attention", "leave_one_out"))["correlation"]
    assert (pair["first"], pair["second"], pair["instances"], pair["left_out"]) == ("attention", "leave_one_out", 0, 2)
    assert pair["kendall"] is None


SEEN = weighing(corpus("a dim grey screen", "a bright sharp screen", "screen"), {"dim": 0.5, "bright": 0.5})


def test_words_that_change_no_answer_are_neither_needed_nor_enough() -> None:
    found = faithfulness(SEEN, saliencies=("attention",))
    assert (found["instances"], found["left_out"]) == (2, 1)
    for way in ("mask", "deletion"):
        for measure in ("comprehensiveness", "sufficiency"):
            assert found[way]["attention"][measure]["aopc"]["difference"]["mean"] == 0.0


TEST = corpus("a dim screen", "bright screen", labels=("negative", "positive"))
TRAIN = corpus("screen so sharp")


def test_sentences_are_described_by_their_lines() -> None:
    model = classifier([[0.25, 0.75, 0.0]], (0,), TEST, TRAIN)
    (first,) = heat(subject(TRAIN, TEST, model), test=(1,))
    assert first["probabilities"] == pytest.approx({"positive": 0.9, "negative": 0.05, "neutral": 0.05})
    del first["probabilities"]
    assert first == {
        "part": "test",
        "line": 1,
        "text": "a dim screen",
        "spans": [[0, 1], [2, 5], [6, 12]],
        "aspect": [2, 3],
        "shares": [0.25, 0.75, 0.0],
        "gold": "negative",
        "saliency": "attention",
    }


def test_lines_that_are_not_there_are_left_out() -> None:
    model = classifier([[0.5, 0.5, 0.0]], (0,), TEST, TRAIN)
    found = heat(subject(TRAIN, TEST, model), test=(1, 3), train=(1, 9))
    assert [(each["part"], each["line"]) for each in found] == [("test", 1), ("train", 1)]


@pytest.mark.slow
@pytest.mark.parametrize("head", ["linear", "dense"])
def test_bertabsa_shows_the_mean_head_of_its_top_layer_from_the_aspect(head: str) -> None:
    encoder = tiny_encoder("bert")
    featurizer = PieceFeaturizer(encoder, pair=False)
    model = models.build("bertabsa", encoder, 3, {"head": head}, seed=3).eval()
    plain = Classifier(TorchRuntime("bertabsa", DEFAULT_LABELS, featurizer, (model,), (1.0,)))
    given = corpus("the battery is poor but the screen is great")
    (seen,) = heat(subject(given, given, plain), test=(1,))

    body: Any = encoder.body("eager", 0.1).eval()
    body.load_state_dict(model.encoder.body.state_dict())  # type: ignore[union-attr]
    batch = plain.torch.index(given).batch(torch.tensor([0]))
    with torch.no_grad():
        weights = body(batch.positions, batch.present.long(), output_attentions=True).attentions[-1]
    mean_head = weights.mean(dim=1)[0, batch.aspect_positions[0]].mean(dim=0)  # (P,)
    shares = torch.zeros(len(given[0].words))
    for position, word in enumerate(batch.word_of[0].tolist()):
        if word in given[0].candidates:
            shares[word] += mean_head[position]
    assert seen["shares"] == pytest.approx((shares / shares.sum()).tolist(), abs=1e-4)
    assert seen["probabilities"] == pytest.approx(plain.answer(given)[0].probabilities, abs=1e-4)
    assert model.encoder.refinement is None  # type: ignore[union-attr]


COMMON = corpus("Great screen", "a great screen", "the great great screen", "a dim screen")


@pytest.mark.parametrize(
    ("count", "bucket"),
    [(0, "0"), (1, "1-2"), (2, "1-2"), (3, "3-10"), (10, "3-10"), (11, "11-50"), (50, "11-50"), (51, "> 50")],
)
def test_buckets_meet(count: int, bucket: str) -> None:
    assert frequency_bucket(count) == bucket


def test_sums_are_told_by_the_rarest_marked_word(tmp_path: Path) -> None:
    # "great" stands in train four times, "dim" once, "odd" never; nothing is marked in the last sentence.
    test = corpus(
        *("great dim screen", "great screen", "screen so odd", "a screen"),
        labels=("positive", "negative", "positive", "neutral"),
    )
    attention = [[0.25, 0.5, 0.25], [1.0, 0.0, 0.0], [0.0, 0.25, 0.75], [1.0, 0.0, 0.0]]
    model = classifier(attention, (0, 0, 0, 0), COMMON, test)
    rows = opinion_rows(tmp_path, test, ("great", "dim"), ("great",), ("odd",), ())
    found = rare_words(subject(COMMON, test, model, rows))
    # Attention on the aspect is left out of shares: 0.25 and 0.5 of 0.75 are all of it.
    assert found["1-2"] == {"instances": 1, "right": 1, "mass": pytest.approx(1.0), "even": 1.0}
    assert found["3-10"] == {"instances": 1, "right": 0, "mass": pytest.approx(1.0), "even": 1.0}
    assert found["0"] == {"instances": 1, "right": 1, "mass": pytest.approx(0.75), "even": 0.5}
    assert found["> 50"] == found["11-50"] == {"instances": 0, "right": 0, "mass": 0.0, "even": 0.0}


def test_data_without_marks_cannot_be_looked_at() -> None:
    model = classifier([[1.0, 0.0]], (0,), COMMON)
    with pytest.raises(InputError, match="no marked opinion words"):
        rare_words(subject(COMMON, COMMON, model))


DIM = corpus("a dim screen", "bright sharp screen")
MODEL = classifier([[0.25, 0.75, 0.0], [0.5, 0.5, 0.0]], (0, 0), DIM)


def finding(word: int, kind: str, iteration: int) -> Finding:
    return Finding(word, kind, iteration, 0.5, 0.5, "positive", "positive")


def test_words_and_their_attention_are_summed_by_round_and_kind() -> None:
    found = [(finding(1, "misleading", 1), finding(0, "active", 2)), (finding(0, "active", 1), finding(1, "active", 2))]
    header = Header("memnet", "gradient", 3.0, 2, DIM.hash(), 0, "pg-as")
    evidence = Evidence.from_findings(header, DIM, found)
    assert round_attention(replace(subject(DIM, DIM, MODEL), evidence=evidence)) == {
        "1": {"active": {"words": 1, "attention": 0.5}, "misleading": {"words": 1, "attention": 0.75}},
        "2": {"active": {"words": 2, "attention": 0.75}, "misleading": {"words": 0, "attention": 0.0}},
    }
    first, *others = mined_words(replace(subject(DIM, DIM, MODEL), evidence=evidence), lines=(1, 99))
    assert (first["words"], others) == (list(DIM[0].words), [])
    assert [(each["iteration"], each["word"]) for each in first["findings"]] == [(1, 1), (2, 0)]


def test_a_model_without_evidence_cannot_be_looked_at() -> None:
    with pytest.raises(InputError, match="no evidence supervised this model"):
        round_attention(subject(DIM, DIM, MODEL))


PLACE = Place("laptop", "memnet", 0)
PLAIN = Training(PLACE)
MINED = Mining(PLACE, "pg-as", settings(iterations=2))
SUPERVISED = Training(PLACE, evidence=MINED)
ANALYSED = {
    "agreement": Analysis(PLAIN, "agreement"),
    "faithfulness": Analysis(PLAIN, "faithfulness", settings(limit=15)),
    "rare words": Analysis(SUPERVISED, "rare_words"),
    "heat": Analysis(PLAIN, "heat", settings(test=(1, 2), train=(3,))),
    "attention": Analysis(SUPERVISED, "round_attention"),
}


def test_an_unknown_analysis_is_refused() -> None:
    with pytest.raises(InputError, match="unknown analysis 'glance'; known: "):
        find("glance")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("looks")
    workspace = Workspace(folder / "out", marked_resources(folder))
    with Ledger.open(folder / "out" / "cells.jsonl") as ledger, open_pool("local", 1) as pool:
        outcome = CellSchedule(workspace, ledger).execute([*ANALYSED.values(), MINED], pool)
        assert not outcome.failures
    # As a later process reads it.
    ledger = Ledger.read(folder / "out" / "cells.jsonl")
    records = {name: ledger.find(workspace.key(look)) for name, look in ANALYSED.items()}
    mined = ledger.find(workspace.key(MINED))
    assert mined is not None
    return {name: record["found"] for name, record in records.items() if record} | {"mined": mined}


@pytest.mark.slow
def test_faithfulness_is_looked_at_for_real(found: dict[str, Any]) -> None:
    assert found["faithfulness"]["instances"] == 15
    assert set(found["faithfulness"]["mask"]) == set(found["faithfulness"]["deletion"]) == {"attention", "gradient"}


@pytest.mark.slow
def test_agreement_is_looked_at_for_real(found: dict[str, Any]) -> None:
    looked = found["agreement"]
    assert [(pair["first"], pair["second"]) for pair in looked["correlation"]] == [("attention", "gradient")]
    assert looked["agreement"]["instances"] + looked["agreement"]["left_out"] == 20
    assert set(looked["agreement"]["saliencies"]) == {"attention", "gradient", "nearest word"}


@pytest.mark.slow
def test_every_marked_test_instance_is_in_a_bucket(found: dict[str, Any]) -> None:
    rows = found["rare words"].values()
    assert sum(row["instances"] for row in rows) == found["agreement"]["agreement"]["instances"]
    assert all(0 <= row["right"] <= row["instances"] and 0 <= row["mass"] <= row["instances"] + 1e-6 for row in rows)


@pytest.mark.slow
def test_sentences_have_shares_that_sum_to_one(found: dict[str, Any]) -> None:
    assert [(each["part"], each["line"]) for each in found["heat"]] == [("test", 1), ("test", 2), ("train", 3)]
    for each in found["heat"]:
        assert sum(each["shares"]) == pytest.approx(1, abs=0.01)
        assert sum(each["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert len(each["shares"]) == len(each["spans"])
    json.dumps(found["heat"], allow_nan=False)


@pytest.mark.slow
def test_attention_is_told_of_every_word_that_was_mined(found: dict[str, Any]) -> None:
    rounds = found["mined"]["rounds"]
    assert set(found["attention"]) == set(rounds)
    for number, row in found["attention"].items():
        for kind in ("active", "misleading"):
            assert row[kind]["words"] == rounds[number][kind]
            assert 0 <= row[kind]["attention"] <= row[kind]["words"]
