"""`pssa evidence`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import Command

from pssa.data.evidence import Evidence, Finding, Header, RoundReport
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.data.example import Corpus, Example

_CORPUS = Corpus(
    (
        Example.from_text("Huge wine list, but slow", (5, 14), label="positive", id="a"),
        Example.from_text("a huge [bar]", (8, 11), label="negative", id="b"),
    )
)
_HEADER = Header("memnet", "gradient", 3.0, 4, _CORPUS.hash(), 0, "pg-as", (RoundReport(1, 0.5, 1.5, 0.75, 2, 0),))
_EVIDENCE = Evidence.from_findings(
    _HEADER,
    _CORPUS,
    [
        [
            Finding(0, "active", 1, 1.0, 0.5, "positive", "positive"),
            Finding(4, "misleading", 4, 0.5, 0.25, "negative", "positive"),
        ],
        [Finding(2, "active", 1, 2.0, 0.75, "negative", "negative")],
    ],
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "evidence.jsonl"
    write_evidence(_EVIDENCE, path)
    return path


def test_stats_prints_one_json_object(path: Path, command: Command) -> None:
    found = command("evidence", "stats", path, "--limit", "1", "--json").json
    assert (found["examples"], found["active"], found["misleading"]) == (2, 2, 1)
    empty = {"active": 0, "misleading": 0, "mean_entropy": None}
    assert found["per_iteration"] == [
        {"active": 2, "misleading": 0, "mean_entropy": 1.5},
        empty,
        empty,
        {"active": 0, "misleading": 1, "mean_entropy": 0.5},
    ]
    assert found["per_class"]["positive"] == {"examples": 1, "active": 1, "misleading": 1}
    assert found["active_words"] == [{"word": "[", "count": 1, "labels": {"negative": 1}}]
    assert found["rounds"][0]["open_share"] == 0.75


def test_stats_prints_tables_for_people(path: Path, command: Command) -> None:
    shown = command("evidence", "stats", path).out
    assert "2 examples, 0 of them without findings; 2 active and 1 misleading words" in shown
    for title in ("mining log", "findings", "most frequent active words", "most frequent misleading words"):
        assert title in shown
    # One word for one thing: both tables are by round.
    assert (shown.count("┃ round"), shown.count("iteration")) == (2, 0)


def test_show_marks_the_words_so_that_they_can_be_read_without_colour(path: Path, command: Command) -> None:
    assert command("evidence", "show", path).out.splitlines() == [
        "a positive: Huge[+1] [wine list], but[-4] slow",
        "b negative: a huge [[+1][bar]]",
    ]


@pytest.mark.parametrize("which", [("--id", "a"), ("--word", "HUGE"), ("--limit", "1")])
def test_show_selects_examples(path: Path, command: Command, which: tuple[str, str]) -> None:
    shown = command("evidence", "show", path, *which, "--json").json
    assert [example["id"] for example in shown["examples"]] == ["a"]
    assert shown["examples"][0]["shown"] == "Huge[+1] [wine list], but[-4] slow"


def test_show_counts_what_it_leaves_out_and_other_files_are_refused(
    path: Path, tmp_path: Path, command: Command
) -> None:
    assert command("evidence", "show", path, "--limit", "1").out.endswith("... and 1 more; show more with --limit\n")
    other = tmp_path / "data.jsonl"
    other.write_text('{"text": "a bar", "aspect": "bar"}\n')
    assert f"{other}, line 1: " in command("evidence", "stats", other).refusal


def test_edits_are_made_in_the_order_given_and_kept_in_the_header(path: Path, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "edited.jsonl"
    edits = ("--flip", "huge", "but", "--keep", "active", "--drop-word", "[")
    done = command("evidence", "edit", path, "--out", out, *edits, "--json").json
    said = ["flip 'huge': 1 changed", "flip 'but': 1 changed", "keep active: 1 changed", "drop-word '[': 1 changed"]
    assert done == {"output": str(out), "edits": said, "active": 1, "misleading": 0}
    edited = read_evidence(out)
    assert list(edited.header.edits) == said
    assert [finding.word for finding in edited.examples[0].findings] == [4]
    few = ("--keep", "rounds=3", "--keep", "above=0.5")
    assert command("evidence", "edit", path, "--out", out, "--force", *few).code == 0
    assert [len(example.findings) for example in read_evidence(out).examples] == [0, 1]


def test_edit_does_not_write_over_a_file_unless_told_to(path: Path, command: Command) -> None:
    before = path.read_bytes()
    assert "exists" in command("evidence", "edit", path, "--out", path, "--flip", "but").refusal
    assert path.read_bytes() == before
    assert command("evidence", "edit", path, "--out", path, "--force", "--flip", "but").code == 0
    assert read_evidence(path).header.edits == ("flip 'but': 1 changed",)


def test_diff_names_the_words_that_differ(path: Path, tmp_path: Path, command: Command) -> None:
    out = tmp_path / "edited.jsonl"
    assert command("evidence", "edit", path, "--out", out, "--flip", "but", "--drop-word", "huge").code == 0
    shown = command("evidence", "diff", path, out).out
    assert shown.splitlines() == [
        "0 added, 1 removed, 1 flipped, 1 the same",
        "a: removed Huge (active); flipped but (active)",
    ]
    found = command("evidence", "diff", path, out, "--json").json
    assert (found["added"], found["removed"], found["flipped"], found["same"]) == (0, 1, 1, 1)
    assert found["examples"][0]["removed"] == [{"word": 0, "text": "Huge", "kind": "active"}]
