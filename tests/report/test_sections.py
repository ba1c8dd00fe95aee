"""Sections of the report about a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.report.documents import Element, parse

import pssa
from pssa import __version__
from pssa.data.evidence import ACTIVE, MISLEADING, Evidence, ExampleEvidence, Finding, Header, RoundReport
from pssa.data.example import Corpus, Example
from pssa.data.tokenize import tokenize
from pssa.display import p_value, percent
from pssa.evaluation import score
from pssa.report.run_reader import ReportedRun
from pssa.report.run_report import confidence_section
from pssa.report.sections import (
    ComparedPrediction,
    changed_settings,
    changes_section,
    choose_evidence,
    evidence_section,
    faithfulness_section,
    measure_trust,
    run_section,
    scores_section,
    stress_section,
)
from pssa.runs import Config, load
from pssa.runs.calibration import Calibration
from pssa.runs.evaluate import Evaluation, compare, evaluate
from pssa.runs.explain import trust
from pssa.runs.resolve import resolve
from pssa.stress import KINDS, make_variants, stress

LABELS = ("positive", "negative")
GOLD = ("positive",) * 4 + ("negative",) * 4
GOOD = Evaluation(score(GOLD, GOLD, LABELS), {}, GOLD, GOLD)
# Three of four positives are right, and half of the negatives.
_SAID = ("positive",) * 3 + ("negative",) * 3 + ("positive",) * 2
FAIR = Evaluation(score(GOLD, _SAID, LABELS), {}, GOLD, _SAID)


def texts(row: Element) -> list[str]:
    return [cell.text for cell in row.children]


def cells(table: Element) -> list[list[str]]:
    return [texts(row) for row in table.all("tr")]


def tables(source: str) -> dict[str, list[list[str]]]:
    return {table.all("caption")[0].text: cells(table) for table in parse(source).all("table")}


def test_one_run_has_scores_classes_and_confusion_with_its_shares() -> None:
    source = scores_section({"fair": FAIR}).html
    found = tables(source)
    # F1 of positives is 6/9, of negatives 4/7.
    assert found["Scores"][1] == ["fair", "8", "62.5 %", "61.9 %"]
    assert found["Classes"][1:] == [
        ["positive", "60.0 %", "75.0 %", "66.7 %", "4"],
        ["negative", "66.7 %", "50.0 %", "57.1 %", "4"],
    ]
    assert found["Confusion: gold in rows, predicted in columns"] == [
        ["gold", "positive", "negative"],
        ["positive", "3", "1"],
        ["negative", "2", "2"],
    ]
    titles = [cell.attributes["title"] for cell in parse(source).all("span")]
    assert titles == [
        f"{share} of the row, {worth}"
        for share, worth in (("75.0 %", "right"), ("25.0 %", "wrong"), ("50.0 %", "wrong"), ("50.0 %", "right"))
    ]


def test_two_runs_are_tested_as_the_command_tests_them() -> None:
    source = scores_section({"good": GOOD, "<fair>": FAIR}).html
    bootstrap, p_mcnemar = compare(GOOD, FAIR, resamples=1000, seed=0)
    rows = tables(source)["good against <fair>"]
    assert rows[1][:2] == ["accuracy", "+37.5 points"]
    assert rows[1][3] == p_value(bootstrap.p_accuracy)
    assert f"two-sided: {p_value(p_mcnemar)}" in source
    assert "1000 resamples" in source


def test_tags_of_the_data_are_scored_apart(run: Path, held_out: Corpus) -> None:
    result = evaluate(load(run), held_out)
    rows = tables(scores_section({"mined": result}).html)["By tag of the test data: accuracy / macro-F1"]
    assert [row[0] for row in rows[1:]] == list(result.slices)
    first = next(iter(result.slices.values()))
    assert rows[1][1:] == [str(first.instances), f"{percent(first.accuracy)} / {percent(first.macro_f1)}"]


def rows_of(source: str) -> dict[str, str]:
    return {row.children[0].text: row.children[1].text for row in parse(source).all("table")[0].all("tr")}


def test_the_facts_are_those_of_the_run(run: Path) -> None:
    found = rows_of(run_section(ReportedRun.open(run)).html)
    counts = ReportedRun.open(run).metrics or {}
    assert (found["model"], found["method"], found["seed"]) == ("memnet", "aw-as", "0")
    assert found["labels"] == "positive, negative, neutral"
    assert found["training data"].startswith("60 instances (")
    assert found["data digest"] == counts["corpus_hash"][:16]
    assert found["epochs"] == "2 (given, not searched)"
    assert found["written by"] == f"pssa {__version__}"


DEV = {"accuracy": 0.5, "macro_f1": 0.25}


@pytest.mark.parametrize(
    ("config", "dev", "epochs", "score"),
    [
        (Config(epochs=3), None, "3 (given, not searched)", None),
        (Config(model="bertabsa_att"), None, "3 (default for so many instances, not searched)", None),
        (Config(method="base"), DEV, "3", "accuracy 50.0 %, macro-F1 25.0 %;"),
        (Config(method="pg-as"), DEV, "3", "accuracy 50.0 %, macro-F1 25.0 %, before mining;"),
        (
            Config(method="base").updated({"evidence": "e.jsonl"}),
            DEV,
            "3",
            "accuracy 50.0 %, macro-F1 25.0 %, without the evidence;",
        ),
    ],
)
def test_what_chose_the_epochs_and_when_is_said_as_it_was(
    run: Path, config: Config, dev: dict[str, float] | None, epochs: str, score: str | None
) -> None:
    subject = ReportedRun.open(run)
    assert subject.metrics is not None
    measured = replace(subject, config=config, metrics=subject.metrics | {"dev": dev, "epochs": 3})
    found = rows_of(run_section(measured).html)
    assert found["epochs"] == epochs
    assert found.get("development score") == (score and f"{score} it chose the number of epochs")


def test_only_what_somebody_chose_is_listed(run: Path) -> None:
    config = ReportedRun.open(run).config
    assert config is not None
    named = Config(model="memnet").updated({"train": "/home/me/train.csv", "vectors": "/big/glove.txt"})
    assert dict(changed_settings(named)) == {"data.train": "train.csv", "data.vectors": "glove.txt"}, "without folders"
    assert dict(changed_settings(config)) == {
        "device": "cpu",
        "epochs": "2",
        "data.dimension": "8",
        "options.initial_bound": "0.1",
        "training.learning_rate": "0.02",
        "training.batch_size": "16",
        "mining.epsilon": "9.0",
        "mining.iterations": "2",
        "supervision.gamma": "20.0",
    }


@pytest.mark.parametrize("model", ["memnet", "tnet", "tnet_att", "bertabsa_att"])
def test_a_run_with_the_defaults_has_nothing_to_list(model: str) -> None:
    assert changed_settings(resolve(Config(model=model, method="base", seed=7))) == []


def test_what_a_method_ignores_is_not_listed_and_columns_are_as_they_are_given() -> None:
    # Runs of earlier versions name the folds of a consensus whatever their method.
    earlier = Config(model="memnet").updated({"consensus_folds": 5})
    assert changed_settings(replace(earlier, method="pg-as")) == []
    assert changed_settings(replace(earlier, method="consensus")) == [("mining.consensus_folds", "5")]
    config = Config(model="memnet").updated({"columns": {"text": "review", "aspect": "term"}})
    assert changed_settings(config) == [("data.columns", "text=review, aspect=term")]


def test_a_model_without_a_run_around_it_is_described_as_far_as_it_is_known(run: Path) -> None:
    found = rows_of(run_section(ReportedRun.open(run / "stages" / "initial")).html)
    assert set(found) == {"fact", "model", "labels", "written by"}


HEADER = Header("memnet", "attention", 4.0, 3, "hash", 0, "aw-as")


def found(word: int, kind: str, iteration: int, score: float = 0.4, entropy: float = 3.27) -> Finding:
    predicted = "positive" if kind == ACTIVE else "negative"
    return Finding(word, kind, iteration, entropy, score, predicted, "positive")


def example(text: str, *findings: Finding, id: str = "1") -> ExampleEvidence:
    spans = tokenize(text)
    words = tuple(text[start:end] for start, end in spans)
    return ExampleEvidence(id, words, spans, (1, 2), "positive", findings)


# The first sentence of the paper's Table 2.
TABLE_2 = example(
    "The screen is huge and colorful but no led",
    found(3, ACTIVE, 1, 0.4, 3.27),
    found(2, ACTIVE, 2, 0.3, 3.38),
    found(6, MISLEADING, 3, 0.4, 3.42),
)


def rounds_table(given: ExampleEvidence) -> Element:
    return parse(evidence_section(Evidence(HEADER, (given,))).html).all("table", "rounds")[0]


def test_rounds_hide_what_was_found_before_and_tell_kinds_apart_without_colour() -> None:
    document = rounds_table(TABLE_2)
    assert [texts(row) for row in document.all("tr")[1:]] == [
        ["1", "The [screen] is huge and colorful but no led", "positive / positive", "3.27", "huge"],
        ["2", "The [screen] is mask and colorful but no led", "positive / positive", "3.38", "is"],
        ["3", "The [screen] mask mask and colorful but no led", "positive / negative", "3.42", "but"],
    ]
    assert [word.attributes["title"] for word in document.all("s")] == ["hidden: huge", "hidden: is", "hidden: huge"]
    assert document.all("caption")[0].text == "1: screen, positive"
    words = document.all("i")
    assert [word.text + word.attributes["data-n"] for word in words] == ["huge+.40", "is+.30", "but−.40"]
    assert words[2].attributes["title"] == "misleading, share 40.0 %"
    assert "misleading" in words[2].attributes["class"].split()


def test_words_of_one_round_share_a_row() -> None:
    given = example("A screen so nice here", found(2, ACTIVE, 1, entropy=1.5), found(3, ACTIVE, 1, entropy=1.5))
    (row,) = rounds_table(given).all("tr")[1:]
    assert texts(row)[3:] == ["1.50", "so, nice"]


def test_sentences_with_both_kinds_are_chosen_first_and_stay_in_order() -> None:
    few, many = example("a b c d", found(2, ACTIVE, 1), id="few"), replace(TABLE_2, id="both")
    several = example("a b c d", found(2, ACTIVE, 1), found(3, ACTIVE, 2), id="several")
    none, long = example("a b c d", id="none"), example("a b " + "c " * 60, found(2, ACTIVE, 1), id="long")
    chosen = choose_evidence([none, few, long, several, many], 2)
    assert [each.id for each in chosen] == ["several", "both"]
    assert [each.id for each in choose_evidence([none, few, long, several, many], 9)] == ["few", "several", "both"]


def test_the_section_counts_what_there_is() -> None:
    rounds = tuple(RoundReport(number, 0.9, 3.25, 0.5, 1, number) for number in (1, 2, 3))
    evidence = Evidence(replace(HEADER, rounds=rounds), (TABLE_2, example("a b c d", id="none")))
    document = parse(evidence_section(evidence).html)
    assert document.all("p")[0].text == (
        "2 active and 1 misleading words in 2 instances, 1 of them without any; "
        "by attention of memnet, words with an entropy below 4 bits."
    )
    shown = {table.all("caption")[0].text: cells(table) for table in document.all("table")}
    by_round = next(rows for caption, rows in shown.items() if caption.startswith("Training instances by round"))
    assert by_round[0] == ["round", "active", "misleading", "entropy", "gave a word", "right"]
    assert by_round[2] == ["2", "1", "2", "3.25", "50.0 %", "90.0 %"]
    words = [["word", "times", "positive"], ["huge", "1", "100 %"]]
    assert shown["Most frequent active words, by gold label; without stop words"] == words
    assert not any(caption.startswith("Most frequent misleading words") for caption in shown)  # "but" tells nothing


def test_evidence_that_was_not_mined_has_counts_too() -> None:
    header = replace(HEADER, epsilon=None, edits=("flip 'but': 1 changed",))
    document = parse(evidence_section(Evidence(header, (TABLE_2,))).html)
    assert "no threshold. Edited since: flip 'but': 1 changed." in document.all("p")[0].text
    assert cells(document.all("table")[0])[1:] == [
        ["1", "1", "0", "3.270"],
        ["2", "1", "0", "3.380"],
        ["3", "0", "1", "3.420"],
    ]


@pytest.mark.slow
def test_six_thousand_sentences_stay_a_small_page_that_says_its_limit() -> None:
    texts = [f"The screen is huge{number} and <colorful> & but no led " + "word " * 20 for number in range(6000)]
    evidence = Evidence(HEADER, tuple(example(text, *TABLE_2.findings, id=str(n)) for n, text in enumerate(texts)))
    source = evidence_section(evidence).html
    assert len(source) < 100_000
    assert "24 of the 6000 instances with findings" in source
    assert len(parse(source).all("table", "rounds")) == 24


def test_words_from_strangers_stay_words() -> None:
    given = example('<script> screen "x" & \'', found(0, ACTIVE, 1), found(3, MISLEADING, 2), id="<id>")
    document = parse(evidence_section(Evidence(HEADER, (given,))).html)
    assert document.all("script") == []
    assert document.all("table", "rounds")[0].all("caption")[0].text.startswith("<id>: ")


NAMES = ("mined", "initial")


def test_a_verdict_is_about_the_gold_label() -> None:
    example = Example.from_text("a screen", (2, 8), label="positive")
    assert ComparedPrediction(example, "positive", "negative").verdict == "now right"
    assert ComparedPrediction(example, "negative", "positive").verdict == "now wrong"
    assert ComparedPrediction(example, "negative", "neutral").verdict == "wrong either way"


def test_changes_are_counted_and_shown_with_both_heat_maps(run: Path, held_out: Corpus) -> None:
    # What the runs say is made up, so that the counts are known; the heat maps are theirs.
    classifiers = load(run), load(run / "stages" / "initial")
    golds = [example.label or "" for example in held_out]
    other = {"positive": "negative", "negative": "neutral", "neutral": "positive"}
    judged = [
        ComparedPrediction(held_out[0], golds[0], other[golds[0]]),
        ComparedPrediction(held_out[1], golds[1], golds[1]),
        ComparedPrediction(held_out[2], other[golds[2]], golds[2]),
        ComparedPrediction(held_out[3], golds[3], other[golds[3]]),
    ]
    document = parse(changes_section(judged, "test instances", dict(zip(NAMES, classifiers, strict=True))).html)
    assert document.all("p")[0].text == "mined and initial give 3 of 4 test instances different labels."
    counts = [texts(row) for row in document.all("tr")]
    assert counts[1:] == [["now right", "2"], ["now wrong", "1"], ["wrong either way", "0"]]
    sections = document.all("section")
    assert [len(section.all("figure")) for section in sections] == [2, 2, 2]
    assert [section.all("h3")[0].text.split(":")[0] for section in sections] == ["now right", "now wrong", "now right"]
    assert sections[0].all("h3")[0].text.endswith(f"gold {golds[0]}, {other[golds[0]]} before, {golds[0]} now")
    captions = [figure.all("figcaption")[0].text for figure in sections[0].all("figure")]
    assert [caption.split(":")[0] for caption in captions] == ["initial", "mined"]


def test_many_changes_are_cut_and_folded(run: Path, held_out: Corpus) -> None:
    classifiers = load(run), load(run)
    judged = [ComparedPrediction(held_out[number % 40], "positive", "negative") for number in range(200)]
    source = changes_section(judged, "test instances", dict(zip(NAMES, classifiers, strict=True))).html
    document = parse(source)
    assert len(document.all("section")) == 40
    assert len(document.all("details")[0].all("section")) == 34
    assert "Shown are 40 of them: 40 at most, none longer than 100 words." in source
    assert len(source) < 300_000


def test_long_sentences_are_not_shown_and_no_change_is_a_sentence(run: Path, held_out: Corpus) -> None:
    example = Example.from_text("a screen " + "so " * 200, (2, 8), label="positive")
    source = changes_section(
        [ComparedPrediction(example, "positive", "negative")], "x", dict.fromkeys(NAMES, load(run))
    ).html
    assert "All of them are longer than 100 words" in source
    assert parse(source).all("figure") == []
    judged = [ComparedPrediction(one, "positive", "positive") for one in held_out]
    document = parse(changes_section(judged, "test instances", dict.fromkeys(NAMES, load(run))).html)
    assert document.text.strip() == "mined and initial give all 40 test instances the same label."


@pytest.mark.slow
def test_numbers_are_those_of_the_library(run: Path, held_out: Corpus) -> None:
    classifier = load(run)
    both = {"mined": classifier, "initial": load(run / "stages" / "initial")}
    section = faithfulness_section(measure_trust(both, held_out, 10))
    expected = trust(classifier, held_out, ("attention",), limit=10).faithfulness["deletion"]["attention"]
    document = parse(section.html)
    tables = {table.all("caption")[0].text: table for table in document.all("table")}
    assert set(tables) == {
        "Comprehensiveness, by hiding words",
        "Sufficiency, by hiding words",
        "Comprehensiveness, by taking words out",
        "Sufficiency, by taking words out",
    }
    rows = tables["Sufficiency, by taking words out"].all("tr")
    assert [cell.text for cell in rows[0].children] == ["run", "1 word", "2 words", "3 words", "AOPC"]
    assert [row.children[0].text for row in rows[1:]] == ["mined, attention", "initial, attention"]
    found = expected.sufficiency["aopc"]
    assert rows[1].children[4].text == f"{100 * found.value.mean:.1f} ({100 * found.control.mean:.1f})"
    title = rows[1].children[4].all("span")[0].attributes["title"]
    assert title == f"95 % interval {100 * found.value.low:.1f} to {100 * found.value.high:.1f}"
    assert document.all("p")[0].text.startswith("10 instances of the test data")


def test_where_nothing_can_be_measured_the_reason_is_given() -> None:
    assert "Not measured: none of them has a word" in faithfulness_section("none of them has a word").html


GOLD_CONFIDENCE = ("positive", "positive", "negative", "negative")
SAID = ("positive", "negative", "negative", "negative")
TESTED = Evaluation(score(GOLD_CONFIDENCE, SAID, LABELS), {}, GOLD_CONFIDENCE, SAID, (0.9, 0.6, 0.8, 0.7))
KEPT: Any = SimpleNamespace(
    calibration=Calibration(1.5, "held-out data of the search", 4, False, 0.2, 0.1, (0.9, 0.6, 0.8, 0.7), (True,) * 4)
)
PLAIN: Any = SimpleNamespace(calibration=None)


def test_test_data_comes_first_and_kept_predictions_serve_in_its_place() -> None:
    section = confidence_section({"run": TESTED}, {"run": KEPT})
    assert section is not None
    assert "the test data" in section.html
    assert "25.0 %" in section.html  # errors if everything is answered
    assert "0.0 %" in section.html  # without the least confident answer
    section = confidence_section({}, {"run": KEPT})
    assert section is not None
    assert "held-out data of the search" in section.html
    assert confidence_section({}, {"run": PLAIN}) is None


def test_right_answers_and_mistakes_of_both_runs_are_shown(run: Path, base: Path, held_out: Corpus) -> None:
    classifiers = {"mined": pssa.load(run), "base": pssa.load(base)}
    result = stress(classifiers["mined"], make_variants(held_out))
    html = str(stress_section(classifiers, held_out).html)
    assert all(f">{kind}</th>" in html for kind in (*KINDS, "originals", "all right"))
    assert f"{100 * result.as_dict()['all_right']:.1f} %" in html
    assert "McNemar" in html
    assert f"{len(result.mistakes)} variants wrong" in html
    assert html.count('class="heat-map"') == 2 * min(6, len(result.mistakes)) > 0
    assert "McNemar" not in str(stress_section({"mined": classifiers["mined"]}, held_out).html)
