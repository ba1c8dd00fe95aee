"""The recipe for another language: its commands work, in their order. The encoder is tiny and learns nothing."""

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
PAGE = ROOT / "docs" / "how-to" / "another-language.md"
PUBLISHED = "FacebookAI/xlm-roberta-base"


def commands() -> list[list[str]]:
    """The commands of the page, without `pssa`."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]


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
    for words in commands():
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
