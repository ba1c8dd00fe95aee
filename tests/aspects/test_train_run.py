"""A classifier and its tagger in one run, used by one call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.aspects.made_taggers import SMALL, toy_sentences

import pssa
from pssa.aspects import AspectSentence, load_finder, train_aspects
from pssa.errors import InputError
from pssa.runs.training_run import write_run

TAGGER: dict[str, Any] = {"epochs": 25, "learning_rate": 0.02, "batch_size": 8, "options": SMALL, "device": "cpu"}
CLASSIFIER: dict[str, Any] = {"model": "memnet", "dimension": 16, "epochs": 1, "device": "cpu", "progress": False}
REVIEW = "We came in May.  The screen is great! I hate the front desk!"


def as_xml(path: Path) -> Path:
    def terms(sentence: AspectSentence) -> str:
        label = "negative" if "hate" in sentence.text else "neutral" if "slow" in sentence.text else "positive"
        return "".join(
            f'<aspectTerm term="{sentence.text[start:end]}" polarity="{label}" from="{start}" to="{end}"/>'
            for start, end in sentence.aspects
        )

    sentences = (
        f'<sentence id="{number}"><text>{each.text}</text><aspectTerms>{terms(each)}</aspectTerms></sentence>'
        for number, each in enumerate(toy_sentences())
    )
    path.write_text(f"<sentences>{''.join(sentences)}</sentences>", "utf-8")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    data, out = as_xml(folder / "train.xml"), folder / "run"
    write_run(data, out, **CLASSIFIER)
    train_aspects(data, out / "aspects", dimension=16, **TAGGER)
    return out


@pytest.mark.slow
def test_a_run_has_its_own_tagger(run: Path) -> None:
    found = load_finder(run).find(REVIEW)
    assert [REVIEW[start:end] for start, end in found] == ["screen", "front desk"]
    assert json.loads((run / "aspects" / "metrics.json").read_text("utf-8"))["sentences"] == len(toy_sentences())


@pytest.mark.slow
def test_one_call_finds_and_judges_the_aspects_of_raw_text(run: Path) -> None:
    judge = pssa.load(run)
    answers = judge.predict(REVIEW)
    assert [(answer.aspect, answer.start, answer.end) for answer in answers] == [
        ("screen", 21, 27),
        ("front desk", 49, 59),
    ]
    alone = judge.predict("The screen is great!", "screen")
    assert answers[0].probabilities == pytest.approx(alone.probabilities)
    assert judge.predict([REVIEW, "", "We came in May."]) == [answers, [], []]
    named = pssa.load(run, aspects=["May"]).predict(REVIEW)
    assert [answer.aspect for answer in named] == ["May"]
    with pytest.raises(InputError, match="expected text"):
        judge.predict(["The screen.", 3])
    with pytest.raises(InputError, match="aspects_from"):
        pssa.load(run, aspects_from=run, aspects="food")


def test_data_that_may_leave_out_aspects_train_no_tagger(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("text,aspect,label\nThe screen is good.,screen,positive\n", "utf-8")
    data: Any
    for data, named in ((path, "group"), (pssa.read(path), "sentences")):
        with pytest.raises(InputError, match=named):
            train_aspects(data, tmp_path / "run")
    assert not (tmp_path / "run").exists()
