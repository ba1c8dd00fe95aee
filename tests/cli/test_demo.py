"""`pssa demo`, with a model that is small enough to wait for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import Command

import pssa
from pssa.cli import demo
from pssa.runs.answers import Answer


class Stubborn:
    """Answers the same to everything."""

    def __init__(self, label: str) -> None:
        self._answer = Answer(label, {label: 0.75}, "", 0, 0)

    def predict(self, text: str, aspect: str) -> Answer:
        return self._answer


def test_a_file_is_no_place_for_runs(command: Command, tmp_path: Path) -> None:
    (tmp_path / "demo").touch()
    refusal = command("demo", "--out", tmp_path / "demo").refusal
    assert f"{tmp_path / 'demo'} is a file" in refusal
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]


def test_answers_are_told_by_classifier_and_wrong_ones_are_marked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "_QUESTIONS", (("Great view.", "view", "positive"),))
    demo._show_predictions({"one": Stubborn("positive"), "two": Stubborn("negative")})  # type: ignore[dict-item]
    *_, head, _, first, second, _ = (line.split() for line in capsys.readouterr().out.replace("│", " ").splitlines())
    assert [word for word in head if word.isalpha()] == ["one", "two"]
    assert first == ["Great", "view.", "positive", "75.0", "%", "negative", "75.0", "%"]
    assert second == ["view:", "positive", "WRONG"]


@pytest.mark.slow
def test_the_demonstration_ends_with_a_run_scores_and_a_report(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "_N_LABELS", 20)
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo-2").touch()
    out = tmp_path / "demo-3"
    result = command("demo", "--out", tmp_path / "demo")
    assert (result.code, result.err) == (0, "")
    for part in ("always the commonest", "trained on 20", "battery: ", "overall: negative", "made up", str(out)):
        assert part in result.out
    assert "Model card" in (out / "report.html").read_text("utf-8")
    assert "What they dislike" in (out / "insights.html").read_text("utf-8")
    assert pssa.load(out / "run").predict("Great view, but the waiter was rude.", "waiter").label == "negative"
    found = command("demo", "--out", tmp_path / "json", "--json").json
    assert (found["run"], Path(found["report"]).is_file()) == (str(tmp_path / "json" / "run"), True)
    assert found["test"]["trained"]["instances"] == 301
    assert [len(item["aspects"]) > 0 for item in found["starter"]][:2] == [True, True]
