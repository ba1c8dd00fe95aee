"""A classifier and its tagger in one run: trained together, resumed together, and used by one call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.aspects.made_taggers import SMALL, toy_sentences

import pssa
from pssa.aspects import AspectSentence, load_finder, resume_run, train_with_tagger
from pssa.errors import InputError

TAGGER: dict[str, Any] = {"epochs": 25, "learning_rate": 0.02, "batch_size": 8, "options": SMALL}
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
    out = folder / "run"
    return train_with_tagger(as_xml(folder / "train.xml"), out, tagger=TAGGER, **CLASSIFIER)


@pytest.mark.slow
def test_a_run_has_its_own_tagger_and_says_so(run: Path) -> None:
    found = load_finder(run).find(REVIEW)
    assert [REVIEW[start:end] for start, end in found] == ["screen", "front desk"]
    assert "aspects/" in (run / "README.md").read_text("utf-8")
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


@pytest.mark.slow
def test_an_interrupted_run_is_resumed_with_its_tagger(run: Path, tmp_path: Path) -> None:
    class Stop:
        """Stops before the tagger, or in the midst of it."""

        def __init__(self, stage: str, epoch: int) -> None:
            self.stage, self.epoch, self.n_stages = stage, epoch, 0

        def __getattr__(self, name: str) -> Any:
            return lambda *given: None

        def on_epoch(self, record: Any) -> None:
            if (record.stage, record.epoch) == (self.stage, self.epoch):
                raise KeyboardInterrupt

    out, data = tmp_path / "run", as_xml(tmp_path / "train.xml")
    with pytest.raises(KeyboardInterrupt):
        train_with_tagger(data, out, tagger=TAGGER, observer=Stop("final", 12), **CLASSIFIER)
    data.unlink()  # everything is in the run
    with pytest.raises(InputError, match="not finished"):
        load_finder(out)
    resume_run(out)
    for name in ("model.safetensors", "aspects/model.safetensors"):
        assert (out / name).read_bytes() == (run / name).read_bytes()
    assert resume_run(out) == out


def test_data_that_may_leave_out_aspects_train_no_tagger(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("text,aspect,label\nThe screen is good.,screen,positive\n", "utf-8")
    for data in (path, pssa.read(path)):
        with pytest.raises(InputError, match="aspects_train"):
            train_with_tagger(data, tmp_path / "run", **CLASSIFIER)
    assert not (tmp_path / "run").exists()
