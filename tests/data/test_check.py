"""The report on a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.check import check
from pssa.errors import InputError

_PUBLIC = {
    "laptop/train": (980, 858, 453, 1448, 536, 84, 16, [1292, 1896]),
    "laptop/test": (340, 128, 171, 411, 154, 71, 0, []),
    "rest/train": (2159, 798, 632, 1977, 965, 80, 3, [1408, 1478]),
    "rest/test": (728, 195, 195, 606, 313, 74, 0, [744]),
    "twitter/train": (1561, 1560, 3127, 6241, 1, 45, 5, [1632]),
    "twitter/test": (173, 173, 346, 692, 0, 41, 0, [115]),
}


def test_every_bad_line_is_listed_and_the_good_ones_counted(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(
        "text,aspect,label\n"
        "a good menu,menu,positive\n"
        "a bad bar,pub,negative\n"
        "a bad bar,bar,awful\n"
        "a good menu,menu,positive\n"
        "a good menu,good,neutral\n"
        "menu,menu,neutral\n"
        "a good menu,menu,negative\n"
        "a fine bar,bar,conflict\n"
    )
    report = check(path)
    assert (report.format, report.instances, report.rejected) == ("csv", 5, 2)
    assert report.labels == {"positive": 2, "negative": 1, "neutral": 2}
    assert report.dropped == {"conflict": 1}
    assert (report.sentences, report.sentences_with_several_aspects, report.duplicates) == (2, 1, 1)
    assert (report.words_mean, report.words_max) == (2.6, 3)
    assert [(problem.line, problem.rejected) for problem in report.problems] == [
        (3, True),
        (4, True),
        (7, False),
        (8, False),
    ]


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("data.csv", "", "is empty; expected at least one instance"),
        ("data.csv", "text,aspect,label\n", "has no instance; expected at least one"),
        ("data.csv", "text,aspect,label\n\n\n", "has no instance; expected at least one"),
        ("data.jsonl", "\n\n", "has no instance; expected at least one"),
        ("data.xml", "<sentences></sentences>", "has no instance; expected at least one"),
    ],
)
def test_a_file_without_instances_is_refused(tmp_path: Path, name: str, content: str, what: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=f"{name}: {what}$"):
        check(path)


def test_a_file_of_which_everything_is_dropped_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("text,aspect,label\na good menu,menu,conflict\n")
    report = check(path)
    assert (report.instances, report.words_mean, report.rejected, report.dropped) == (0, 0.0, 0, {"conflict": 1})
    assert [problem.what for problem in report.problems] == ["every instance was dropped; none is left for training"]


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", _PUBLIC)
def test_the_public_files_have_their_known_counts(shared_data: Path, name: str) -> None:
    report = check(shared_data / f"{name}.txt")
    positive, negative, neutral, *stats, lines = _PUBLIC[name]
    assert report.labels == {"positive": positive, "negative": negative, "neutral": neutral}
    assert report.instances == positive + negative + neutral
    assert [report.sentences, report.sentences_with_several_aspects, report.words_max, report.duplicates] == stats
    assert [problem.line for problem in report.problems] == lines
    assert report.rejected == 0


def test_an_aspect_inside_a_word_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,aspect,label\nThe smart phone is good,art,positive\nThe art is good,art,positive\n")
    report = check(path)
    (problem,) = report.problems
    assert (report.instances, report.rejected, problem.line) == (2, 0, 2)
    assert problem.what == "aspect 'art' is found inside the word 'smart' only; check that it is meant"


def test_lines_are_not_held_since_there_may_be_very_many(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("{half\n")
    (problem,) = (problem for problem in check(tmp_path / "in.jsonl").problems if problem.rejected)
    assert problem.given == ""
