"""What people see of an object at a prompt stays short, whatever it holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import pssa
from pssa.aspects.names import NameFinder
from pssa.aspects.tagger import AspectFinder
from pssa.data.evidence import Finding, Header
from pssa.data.vocabulary import Vocabulary
from pssa.evaluation import score
from pssa.models import WordTable
from pssa.runs.explain import Trust
from pssa.runs.featurizer import WordFeaturizer
from pssa.runs.torch_runtime import TorchRuntime
from pssa.stress import StressResult, VariantSet
from pssa.stress.variants import Variant

LONGEST = 300
LABELS = tuple(f"label number {number}" for number in range(40))
CORPUS = pssa.read(
    [{"text": "word " * 80 + "aspect", "aspect": "aspect", "label": label} for label in LABELS] * 3, labels=LABELS
)
ANSWER = pssa.Answer(LABELS[0], dict.fromkeys(LABELS, 1 / 40), "aspect " * 100, 0, 9)


def _evidence() -> pssa.Evidence:
    header = Header("model", "gradient", 1.0, 5, CORPUS.hash(), 0, "pg-as")
    found = [[Finding(0, "active", 1, 1.0, 1.0, "a", "a")] for _ in CORPUS]
    return pssa.Evidence.from_findings(header, CORPUS, found)


def _classifier() -> pssa.Classifier:
    words = Vocabulary.build(CORPUS[0].words)
    table = WordTable(torch.zeros(len(words), 1), len(words))
    return pssa.Classifier(
        TorchRuntime("memnet", LABELS, WordFeaturizer(words, table), (torch.nn.Linear(9, 9),), (1.0,))
    )


def _evaluation() -> pssa.Evaluation:
    gold = tuple(example.label or "" for example in CORPUS)
    return pssa.Evaluation(score(gold, gold, LABELS), {}, gold, gold)


def _explanation() -> pssa.Explanation:
    example = CORPUS[0]
    shares = tuple(0.1 for _ in example.spans)
    return pssa.Explanation(example.text, example.spans, example.aspect, shares, "attention", ANSWER)


INSTANCES: dict[str, Any] = {
    "Answer": ANSWER,
    "AspectClassifier": pssa.AspectClassifier(vectors="v" * 900, settings={"labels": LABELS}),
    "Classifier": _classifier(),
    "Config": pssa.Config().updated({"labels": LABELS, "epochs": 3, "vectors": "v" * 400, "encoder": "e" * 400}),
    "Corpus": CORPUS,
    "Evaluation": _evaluation(),
    "Evidence": _evidence(),
    "Example": replace(CORPUS[0], id="i" * 400, label="l" * 400),
    "Explanation": _explanation(),
    "InputError": pssa.InputError("wrong"),
    "PssaError": pssa.PssaError("wrong"),
}


def test_there_is_an_instance_of_every_public_class() -> None:
    assert {name for name in pssa.__all__ if isinstance(getattr(pssa, name), type)} == set(INSTANCES)


@pytest.mark.parametrize("name", pssa.__all__)
def test_every_public_thing_has_a_short_repr(name: str) -> None:
    assert len(repr(getattr(pssa, name))) <= LONGEST
    if name in INSTANCES:
        assert repr(INSTANCES[name]).startswith(name)
        assert len(repr(INSTANCES[name])) <= LONGEST


@pytest.mark.parametrize("name", ["Corpus", "Evaluation", "Evidence", "Explanation"])
def test_what_notebooks_show_is_small(name: str) -> None:
    page = INSTANCES[name]._repr_html_()
    assert page.startswith('<div class="pssa">')
    assert len(page) < 80_000


def test_what_functions_return_is_short_too(tmp_path: Path) -> None:
    CORPUS.write(tmp_path / "a.jsonl")
    assert len(repr(pssa.check(tmp_path / "a.jsonl", labels=LABELS))) <= LONGEST
    assert len(repr(_evidence().examples[0])) <= LONGEST
    featurizer = _classifier().torch.featurizer
    variants = (Variant("typos", 0, CORPUS[0]),) * 99
    finders = AspectFinder(torch.nn.Linear(9, 9), featurizer), NameFinder(LABELS * 3)
    held = (
        featurizer,
        *finders,
        *finders,
        VariantSet(CORPUS, variants),
        StressResult({}, (True,) * 99, (False,) * 99, variants),
        Trust(9, 0, {"mask": {}}, (), None),
    )
    assert [type(each) for each in held if len(repr(each)) > LONGEST] == []
