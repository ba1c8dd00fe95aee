"""The recipes for labels and for another language work as they are. The encoder is tiny and learns nothing."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.models.encoders import write_encoder

from pssa.cli import main
from pssa.runs.input_profile import InputProfile

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "how-to"
PUBLISHED = "FacebookAI/xlm-roberta-base"


def commands(page: str) -> list[list[str]]:
    """The commands of a page, without `pssa`."""
    blocks = re.findall(r"```sh\n(.*?)```", (PAGES / page).read_text("utf-8"), re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]


def test_proposed_labels_become_tasks_and_answers_about_a_whole_text_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reviews.csv").write_text("text\nThe food was great.\nNever again!\n")
    for words in commands("label-your-data.md"):
        assert main(words) == 0, words
    (task,) = json.loads(Path("tasks.json").read_text("utf-8"))
    assert task["data"]["text"] == "The food was great."


@pytest.mark.slow
def test_german_reviews_become_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_encoder(tmp_path / "encoder")
    known = [json.loads(line) for line in (ROOT / "tests/fixtures/languages.jsonl").read_text("utf-8").splitlines()]
    german = [each["text"] for each in known if each["language"] == "de"]
    more = [
        f"Am {day}. Tag war die Pizza {state} und der Kellner müde." for day in range(1, 9) for state in ("kalt", "gut")
    ]
    Path("bewertungen.txt").write_text("\n".join(german + more), "utf-8")
    done = []
    for words in commands("another-language.md"):
        done.append(words[0])
        if words == ["data", "check", "export.json"]:
            label(Path("aufgaben.json"), Path("export.json"))
            label(Path("aufgaben.json"), Path("test.json"))
        if words[0] == "train":
            words = [("encoder" if word == PUBLISHED else word) for word in words]
            words += ["--epochs", "1", "--device", "cpu"]
        assert main(words) == 0, words
    assert done == ["predict", "data", "data", "data", "train", "train", "evaluate", "predict"]
    assert InputProfile.load(Path("runs/deutsch")).languages == ("de",)  # type: ignore[union-attr]
    assert "language:" not in Path("urteile.csv").read_text("utf-8")


def label(tasks: Path, export: Path) -> None:
    """Correct the labels, as a person would."""
    found = json.loads(tasks.read_text("utf-8"))
    for task in found:
        is_bad = any(word in task["data"]["text"] for word in ("leer", "schlecht", "Rauch", "kalt", "unfreundlich"))
        for region in task["annotations"][0]["result"]:
            if region["type"] == "choices":
                is_mild = "gut" in task["data"]["text"]
                region["value"]["choices"] = ["negative" if is_bad else "neutral" if is_mild else "positive"]
    export.write_text(json.dumps(found), "utf-8")
