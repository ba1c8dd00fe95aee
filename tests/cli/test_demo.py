"""`pssa demo`, with a model that is small enough to wait for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import Command

import pssa
from pssa.cli import demo
from pssa.runs import Config
from pssa.runs.answers import Answer


class Stubborn:
    """Answers the same to everything."""

    def __init__(self, label: str) -> None:
        self._answer = Answer(label, {label: 0.75}, "", 0, 0)

    def predict(self, text: str, aspect: str) -> Answer:
        return self._answer


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_SAMPLE", 5)
    monkeypatch.setattr(
        demo,
        "_SETTINGS",
        {"model": "memnet", "hops": 1, "epochs": 1, "device": "cpu"},
    )
    monkeypatch.setitem(demo._METHODS, "pg-as", {"iterations": 1, "epsilon": 9.0})


def test_the_demonstration_trains_as_a_training_without_options_does_but_for_the_search() -> None:
    assert Config().updated(demo._SETTINGS | {"epochs": None}) == Config()


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
@pytest.mark.usefixtures("_tiny")
def test_the_demonstration_ends_with_a_run_scores_and_predictions(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "demo"
    result = command("demo", "--out", out)
    assert (result.code, result.err) == (0, "")
    for part in (
        "baseline",
        "+PG-AS",
        "+CONSENSUS",
        "misleading",
        "Predicted labels",
        "battery: ",
        "overall: negative",
        "made-up",
        str(out / "report.html"),
    ):
        assert part in result.out
    assert "[+1]" in result.out
    assert str(out / "consensus" / "evidence.jsonl") in result.out
    assert "treat the differences as chance" in result.out
    report = (out / "report.html").read_text("utf-8")
    for part in ("consensus against pg-as, initial model", "What was mined", "301 test instances", "Comprehensiveness"):
        assert part in report
    for run in (out / "pg-as", out / "consensus", out / "pg-as" / "stages" / "initial"):
        assert pssa.load(run).predict("Great view, but the waiter was rude.", "waiter").label


@pytest.mark.slow
@pytest.mark.usefixtures("_tiny")
def test_a_second_demonstration_gets_a_place_of_its_own_and_json_is_one_object(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo-2").touch()
    found = command("demo", "--out", tmp_path / "demo", "--json").json
    assert found["runs"] == str(tmp_path / "demo-3")
    assert Path(found["report"]) == tmp_path / "demo-3" / "report.html"
    assert Path(found["report"]).is_file()
    assert set(found["methods"]) == {"baseline", "+PG-AS", "+CONSENSUS"}
    assert [len(item["aspects"]) > 0 for item in found["starter"]][:2] == [True, True]
    for result in found["methods"].values():
        assert result["test"]["instances"] >= 200
        assert {"misleading", "plain"} <= set(result["slices"])
