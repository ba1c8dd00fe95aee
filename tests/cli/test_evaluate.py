"""`pssa evaluate`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.command import Command

import pssa
from pssa.cli import main
from pssa.data.example import Corpus
from pssa.display import p_value, percent, points
from pssa.runs.evaluate import compare, evaluate
from pssa.runs.explain import trust


@pytest.fixture(scope="module")
def other(tiny: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was trained for longer."""
    out = tmp_path_factory.mktemp("runs") / "other"
    assert main(["train", *tiny, "--epochs", "12", "--out", str(out)]) == 0
    return out


@pytest.mark.slow
def test_two_runs_are_compared(command: Command, run: Path, other: Path, data: Path, held_out: Corpus) -> None:
    words = ("evaluate", other, "--data", data, "--versus", run, "--seed", "3")
    found, out = command(*words, "--json").json, command(*words).out
    results = [evaluate(pssa.load(path), held_out) for path in (other, run)]
    bootstrap, p_mcnemar = compare(results[0], results[1], resamples=1000, seed=3)
    expected = results[0].scores.as_dict() | bootstrap.as_dict() | {"p_mcnemar": p_mcnemar}
    assert {name: found[name] for name in expected} == json.loads(json.dumps(expected))
    assert found["versus"] == json.loads(json.dumps(results[1].scores.as_dict()))
    assert {"misleading", "plain"} <= set(found["slices"])
    for name, label in (("accuracy", "accuracy"), ("macro_f1", "macro-F1")):
        low, high = found[f"{name}_interval"]
        gain, p = points(found[f"{name}_difference"]), p_value(found[f"p_{name}"])
        assert f"  difference in {label} {gain}, 95 % interval {100 * low:+.1f} to {points(high)}, {p}\n" in out
    assert f"versus {run}: accuracy {percent(found['versus']['accuracy'])}, macro-F1 " in out
    assert f"{other} is no better than {run}" in out


def test_people_get_tables(command: Command, run: Path, data: Path) -> None:
    result = command("evaluate", run, "--data", data, "--versus", run)
    assert (result.code, result.err) == (0, "")
    majority = pssa.load(run).evaluate(data).majority
    assert f": accuracy {percent(majority.accuracy)}, macro-F1 {percent(majority.macro_f1)}\n" in result.out
    for part in (
        "40 instances: accuracy",
        "\nalways ",
        "confusion: gold in rows",
        "paired bootstrap, 1000 resamples",
        "p = 1.000",
    ):
        assert part in result.out


@pytest.mark.slow
def test_saliencies_are_judged_on_demand(
    command: Command, run: Path, other: Path, data: Path, held_out: Corpus
) -> None:
    words = ("--faithfulness", "--saliency", "gradient,attention", "--seed", "3")
    found = command("evaluate", run, "--data", data, "--versus", other, *words, "--json").json
    expected = [trust(pssa.load(path), held_out, ("gradient", "attention"), seed=3).as_dict() for path in (run, other)]
    for part in ("faithfulness", "correlation"):
        assert (found[part], found["versus"][part]) == tuple(each[part] for each in expected)
    assert "agreement" not in found
    assert "faithfulness" not in command("evaluate", run, "--data", data, "--json").json


@pytest.fixture(scope="module")
def opinion_words(held_out: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that marks the word before the last one in the first ten sentences, the aspect being marked too."""
    rows = []
    for example in held_out[:10]:
        places = range(len(example.words))
        marked = ([place in range(*example.aspect) for place in places], [place == len(places) - 2 for place in places])
        tags = [
            " ".join(f"{word}\\{'B' if mark else 'O'}" for word, mark in zip(example.words, marks, strict=True))
            for marks in marked
        ]
        rows.append("\t".join(["1", " ".join(example.words), *tags]))
    path = tmp_path_factory.mktemp("opinion") / "words.tsv"
    path.write_text("\n".join(["s_id\tsentence\ttarget_tags\topinion_words_tags", *rows]) + "\n", "utf-8")
    return path


@pytest.mark.slow
def test_people_get_tables_of_trust_that_fit_80_columns(
    command: Command, run: Path, data: Path, opinion_words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ("--faithfulness", "--evidence", opinion_words, "--versus", run)
    result = command("evaluate", run, "--data", data, *words)
    assert (result.code, result.err) == (0, "")
    tables = result.out[result.out.index("faithfulness on 40 instances") :]
    assert tables.count("comprehensiveness (high is good)") == tables.count("sufficiency (low is good)") == 2
    for part in ("integrated_ ", "minus random", "random order", "versus:", "agreement with human opinion words"):
        assert part in tables
    assert tables.count("nearest word") == tables.count("random word") == 1
    assert "…" not in tables
    assert "rank correlation of saliencies" in tables
    # No interval is broken over two lines.
    assert tables.count("..") == len(re.findall(r"-?\d+\.\d+\.\.-?\d+\.\d+ ", tables)) > 0


def test_triplets_are_scored_as_whole_texts_too_and_what_was_dropped_is_told(
    command: Command, run: Path, tmp_path: Path
) -> None:
    data = tmp_path / "triplets.txt"
    data.write_text("A bright screen . It came late .####[([2], [1], 'POS'), ([-1], [6], 'NEG')]####Phones\n")
    found = command("evaluate", run, "--data", data, "--json").json
    assert (found["instances"], found["dropped"]) == (1, {"implied_aspect": 1})
    reviews = found["reviews"]
    assert (reviews["reviews"], reviews["spans"], reviews["top_word_instances"]) == (1, None, 1)
    assert reviews["labels"]["instances"] == 1
    told = command("evaluate", run, "--data", data).out
    assert told.startswith("1 instance, 1 dropped")
    assert "top word" in told


def test_a_run_that_finds_aspects_is_scored_on_whole_sentences_of_xml(command: Command, tmp_path: Path) -> None:
    data = tmp_path / "test.xml"
    data.write_text(
        '<sentences><sentence id="1"><text>The food was great.</text><aspectTerms>'
        '<aspectTerm term="food" polarity="positive" from="4" to="8"/></aspectTerms></sentence></sentences>'
    )
    words = ("evaluate", "starter", "--data", data)
    spans = command(*words, "--json").json["reviews"]["spans"]
    assert (spans["gold"], spans["labelled"]["gold"]) == (1, 1)
    assert spans["labelled"]["right"] == spans["right"] == 1
    assert "with the right label: precision 100" in command(*words).out


def test_instances_known_from_the_training_are_told(
    command: Command, run: Path, corpus: Corpus, tmp_path: Path
) -> None:
    corpus.select(range(4)).write(tmp_path / "old.jsonl")
    told = command("evaluate", run, "--data", tmp_path / "old.jsonl").out
    assert told.splitlines()[2].startswith("Of 4 test instances, 4 have a text that the run was trained on")
    assert command("evaluate", run, "--data", tmp_path / "old.jsonl", "--json").json["seen_in_training"] == 4
    (tmp_path / "new.csv").write_text("text,aspect,label\na fine screen,screen,positive\n")
    told = command("evaluate", run, "--data", tmp_path / "new.csv").out
    assert "trained on" not in told


def test_answers_that_are_withheld_are_reported(command: Command, run: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("text,aspect,label\na fine screen,screen,positive\n")
    words = ("evaluate", run, "--data", tmp_path / "new.csv", "--abstain", "0.999999")
    found = command(*words, "--json").json
    assert (found["abstaining"]["coverage"], found["abstaining"]["accuracy"]) == (0.0, None)
    assert 0 <= found["calibration_error"] <= 1
    assert "all instances are uncertain" in command(*words).out
    # A risk that all answers keep withholds none.
    found = command(*words[:1], "starter", *words[2:4], "--abstain-risk", "0.9", "--json").json
    assert found["abstaining"]["coverage"] == 1.0
