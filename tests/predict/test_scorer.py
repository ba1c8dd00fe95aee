"""How rows are scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.models.encoders import tiny_encoder

import pssa
from pssa import models
from pssa.data import embedded
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.errors import InputError
from pssa.models import Batch, Encoding, IndexedCorpus
from pssa.models.memnet import MemoryNetwork
from pssa.predict import Scoring
from pssa.predict.job import default_window_rows
from pssa.predict.scorer import Scorer, open_scorer
from pssa.runs.answers import Answer, Question
from pssa.runs.classifier import Classifier
from pssa.runs.explain import explain
from pssa.runs.featurizer import PieceFeaturizer, WordFeaturizer
from pssa.runs.saved_model import Description, save_weights
from pssa.runs.torch_runtime import TorchRuntime

EXAMPLES = [replace(example, label=None) for example in embedded.load("test").select(range(9))]


def ask(scorer: Scorer, examples: Sequence[Example]) -> list[Answer]:
    """What is said of the aspect of each example."""
    questions = [Question(example.text, (example.aspect_chars,)) for example in examples]
    return [answer for inside in scorer.ask(questions)() for answer in inside]


def test_a_batch_has_at_least_one_row() -> None:
    with pytest.raises(InputError, match="batch_size is 0; it must be at least 1"):
        Scoring(batch_size=0)


def test_what_suits_follows_from_the_model_and_the_device(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_window_rows("memnet", "cpu") == 2048
    assert default_window_rows("bertabsa_cls", "cpu") == 512
    for model in ("memnet", "bertabsa"):
        assert default_window_rows(model, "cuda") == 4096
    runtime = pssa.load(run).torch
    assert runtime.usual_batch == 64
    pieces = PieceFeaturizer(tiny_encoder(), pair=False)
    assert replace(runtime, featurizer=pieces).usual_batch == 16
    monkeypatch.setattr(TorchRuntime, "is_on_gpu", True)
    assert runtime.usual_batch == 1024


def test_answers_are_those_of_the_classifier(run: Path) -> None:
    scorer = open_scorer(run, Scoring(device="cpu", batch_size=2))
    assert (scorer.n_threads, scorer.fields.saliency, scorer.classifier) == (torch.get_num_threads(), None, None)
    for ours, theirs in zip(ask(scorer, EXAMPLES), pssa.load(run).answer(EXAMPLES, 2), strict=True):
        assert (ours.label, ours.aspect, ours.notes) == (theirs.label, theirs.aspect, theirs.notes)
        assert ours.probabilities == pytest.approx(theirs.probabilities, abs=1e-6)


@pytest.mark.parametrize("saliency", ["", "gradient"])
def test_word_scores_are_those_of_an_explanation(run: Path, saliency: str) -> None:
    scorer = open_scorer(run, Scoring(saliency=saliency, device="cpu"))
    assert scorer.fields.saliency == (saliency or "attention")
    for ours, theirs in zip(ask(scorer, EXAMPLES), explain(pssa.load(run), EXAMPLES, saliency), strict=True):
        assert tuple((word.start, word.end) for word in ours.words) == theirs.spans
        assert [word.share for word in ours.words] == pytest.approx(theirs.shares, abs=1e-6)
        assert ours.probabilities == pytest.approx(theirs.answer.probabilities, abs=1e-6)


def test_word_scores_cost_no_more_runs_of_the_model_and_take_its_batches(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, encode = list[int](), MemoryNetwork.encode

    def counted(model: MemoryNetwork, batch: Batch) -> Encoding:
        runs.append(len(batch.labels))
        return encode(model, batch)

    monkeypatch.setattr(MemoryNetwork, "encode", counted)
    ask(open_scorer(run, Scoring(saliency="attention", device="cpu")), EXAMPLES)
    ask(open_scorer(run, Scoring(saliency="attention", device="cpu", batch_size=4)), EXAMPLES)
    assert runs == [len(EXAMPLES), 4, 4, 1]
    with pytest.raises(InputError, match="saliency 'self_attention' cannot explain"):
        open_scorer(run, Scoring(saliency="self_attention", device="cpu"))


@pytest.mark.filterwarnings("ignore:.*only a window around the aspect")
@pytest.mark.parametrize("saliency", [None, "attention"])
def test_one_long_text_widens_no_other_row(run: Path, monkeypatch: pytest.MonkeyPatch, saliency: str | None) -> None:
    monkeypatch.setattr("pssa.runs.torch_runtime._MAX_TABLE_WORDS", 200 if saliency is None else 200 * 32)
    long = Example.from_text("so " * 900 + "huge", (2700, 2704))
    examples = [*EXAMPLES[:4], long, *EXAMPLES[4:], *EXAMPLES]
    tables, index = list[int](), WordFeaturizer.index

    def watched(featurizer: WordFeaturizer, examples: Sequence[Example], *more: Any) -> IndexedCorpus:
        corpus = index(featurizer, examples, *more)
        tables.append(corpus.table.positions.numel())
        return corpus

    monkeypatch.setattr(WordFeaturizer, "index", watched)
    found = ask(open_scorer(run, Scoring(saliency=saliency, device="cpu")), examples)
    assert len(tables) > 1
    assert max(tables) <= 200  # a part of the long text has no more words
    for ours, theirs in zip(found, pssa.load(run).answer(examples), strict=True):
        assert (ours.aspect, ours.start) == (theirs.aspect, theirs.start)
        assert ours.probabilities == pytest.approx(theirs.probabilities, abs=1e-6)


def test_an_encoder_that_is_cut_is_asked_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 5)
    featurizer = PieceFeaturizer(tiny_encoder(), pair=False)
    for options, threads in (({}, 5), ({"refine": "average"}, 1)):
        model = models.build("bertabsa", featurizer.table, 3, options, seed=0)
        assert TorchRuntime("bertabsa", DEFAULT_LABELS, featurizer, (model,)).n_threads == threads


@pytest.mark.parametrize(
    ("is_native", "precision", "expected"),
    [
        (True, "auto", torch.bfloat16),
        (False, "auto", torch.float32),
        (True, "float32", torch.float32),
        (False, "bfloat16", torch.bfloat16),
    ],
)
def test_files_are_scored_in_what_the_processor_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_native: bool, precision: str, expected: torch.dtype
) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx512_bf16": is_native}, raising=False)
    featurizer, asked = PieceFeaturizer(tiny_encoder(), pair=False), list[Any]()
    model = models.build("bertabsa", featurizer.table, 3, {}, seed=0)
    save_weights(tmp_path, model, Description("bertabsa", {}, DEFAULT_LABELS), featurizer)
    monkeypatch.setattr(Classifier, "start", lambda self, *_, **__: asked.append(self.torch.model.encoder))
    open_scorer(tmp_path, Scoring(device="cpu", precision=precision)).ask([])
    assert {parameter.dtype for parameter in asked[0].body.parameters()} == {expected}


def test_several_members_vote_and_the_first_is_explained(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = pssa.load(run)
    other = models.build("memnet", one.torch.featurizer.table, 3, {}, seed=5).eval()
    both = replace(one, runtime=replace(one.torch, members=(*one.torch.members, other), vote_weights=(1.0, 3.0)))
    monkeypatch.setattr("pssa.predict.scorer.load", lambda *given, **more: both)
    found = ask(open_scorer(run, Scoring(saliency="attention", device="cpu")), EXAMPLES)
    for ours, alone, voted in zip(found, explain(one, EXAMPLES, "attention"), both.answer(EXAMPLES), strict=True):
        assert [word.share for word in ours.words] == pytest.approx(alone.shares, abs=1e-6)
        assert ours.probabilities == pytest.approx(voted.probabilities, abs=1e-6)


@pytest.mark.filterwarnings("ignore:.*only a window around the aspect")
def test_a_text_to_be_read_once_for_each_of_many_words_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pssa.runs.torch_runtime._MAX_QUADRATIC_WORDS", 100)
    scorer = open_scorer(run, Scoring(saliency="leave_one_out", device="cpu"))
    longest = Example.from_text("so " * 99 + "huge", (297, 301))
    assert len(ask(scorer, [longest, *EXAMPLES])) == len(EXAMPLES) + 1
    long = Example.from_text("so " * 100 + "huge", (300, 304))
    with pytest.raises(InputError, match="text has 101 words, and leave_one_out"):
        ask(scorer, [*EXAMPLES, long])
    assert ask(open_scorer(run, Scoring(saliency="gradient", device="cpu")), [long])
