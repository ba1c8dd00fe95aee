"""Outcomes: warnings go to whom they are about, and what fails alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, cast

import pytest
from torch import nn

from pssa.data.example import Example
from pssa.errors import InputError
from pssa.runs.classifier import Answer, Classifier
from pssa.serve.scoring import score


class Moody:
    """In place of a classifier: dislikes some texts, and reads long ones with a warning, as encoders do."""

    name = "memnet"
    model = nn.Linear(1, 1)

    def index(self, examples: Sequence[Example]) -> None:
        long = sum("long" in example.text for example in examples)
        if long:
            warnings.warn(f"{long} of {len(examples)} are long", stacklevel=2)

    def answer(self, examples: Sequence[Example], batch_size: int) -> list[Answer]:
        self.index(examples)
        for example in examples:
            if "bad" in example.text:
                raise InputError("a bad text")
            if "broken" in example.text:
                raise RuntimeError("a secret")
        shares = [float("nan") if "nan" in example.text else 1.0 for example in examples]
        return [Answer(e.text, {"positive": share}, "x", 0, 1) for e, share in zip(examples, shares, strict=True)]


def outcomes(*texts: str) -> list[dict[str, Any]]:
    examples = [Example.from_text(text, (0, 1)) for text in texts]
    return [outcome.as_dict() for outcome in score(cast(Classifier, Moody()), examples, None)]


def test_answers_come_in_the_order_of_the_examples() -> None:
    assert [found["label"] for found in outcomes("x one", "x two")] == ["x one", "x two"]


def test_a_warning_goes_to_the_example_it_is_about() -> None:
    assert [found.get("warning") for found in outcomes("x", "x long", "x")] == [None, "1 of 1 are long", None]


def test_what_cannot_be_scored_spoils_no_other() -> None:
    found = outcomes("x one", "x bad", "x long")
    assert [one.get("label") for one in found] == ["x one", None, "x long"]
    assert found[1] == {"error": "a bad text"}
    assert found[2]["warning"] == "1 of 1 are long"


def test_an_unforeseen_error_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    [found] = outcomes("x broken")
    assert found == {"error": "could not be scored (RuntimeError); the log of the service says why"}
    assert "a secret" in caplog.text


def test_what_is_no_finite_number_is_an_error() -> None:
    found = outcomes("x nan", "x one")
    assert found[0] == {"error": "the model gives no finite number for this text"}
    assert found[1]["label"] == "x one"


def test_earlier_doubts_stand_before_the_warning() -> None:
    [outcome] = score(cast(Classifier, Moody()), [Example.from_text("x long", (0, 1))], None)
    assert outcome.as_dict("the first is taken")["warning"] == "the first is taken; 1 of 1 are long"


@pytest.mark.parametrize("saliency", [None, "attention", "gradient"])
def test_many_at_once_are_scored_as_each_alone(classifier: Classifier, saliency: str | None) -> None:
    # More than are read together, of different lengths.
    examples = [Example.from_text(f"{'so ' * (7 * n % 11)}the screen {n} is huge", (0, 2)) for n in range(40)]
    for example, outcome in zip(examples, score(classifier, examples, saliency), strict=True):
        [alone] = score(classifier, [example], saliency)
        found, expected = outcome.as_dict(), alone.as_dict()
        assert found["label"] == expected["label"]
        assert found["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-5)
        if saliency is not None:
            shares, others = ([word["share"] for word in one["words"]] for one in (found, expected))
            assert shares == pytest.approx(others, abs=1e-4)
            assert "text" not in found
