"""Human opinion words, carried over to a corpus that is cut into other words."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.data.evidence import Evidence
from pssa.data.evidence_file import write_evidence
from pssa.data.example import Corpus, Example
from pssa.data.io import read
from pssa.data.opinion_words import evidence_from_opinion_words, evidence_source, read_opinion_words
from pssa.errors import InputError

_COLUMNS = "s_id\tsentence\ttarget_tags\topinion_words_tags\n"


def _row(sentence: str, target: str, opinion: str) -> str:
    """One line: tags are given as a string of B, I and O, one for each word."""
    columns = [
        " ".join(f"{word}\\{tag}" for word, tag in zip(sentence.split(), tags, strict=True))
        for tags in (target, opinion)
    ]
    return "\t".join(("1", sentence, *columns)) + "\n"


def _make(tmp_path: Path, rows: str, *examples: Example) -> Evidence:
    path = tmp_path / "opinion.tsv"
    path.write_text(_COLUMNS + rows)
    return evidence_from_opinion_words(read_opinion_words(path), Corpus(examples))


def _marked(evidence: Evidence) -> list[list[str]]:
    return [[example.words[finding.word] for finding in example.findings] for example in evidence.examples]


def test_marks_go_over_although_words_are_cut_and_cased_differently(tmp_path: Path) -> None:
    example = Example.from_text("the built-in camera doesn ' t work , well-made though", (4, 19), label="negative")
    row = _row("The built -in camera does n't work , well - made though", "OBIIOOOOOOOO", "OOOOBIIOBIIO")
    assert _marked(_make(tmp_path, row, example)) == [["doesn", "t", "work", "well-made"]]


def test_words_of_the_aspect_are_passed_over(tmp_path: Path) -> None:
    example = Example.from_text("fast boot up", (0, 9), label="positive")
    assert _marked(_make(tmp_path, _row("fast boot up", "BIO", "BOB"), example)) == [["up"]]


def test_an_opinion_word_is_active_at_iteration_1_with_an_equal_share(tmp_path: Path) -> None:
    example = Example.from_text("A good cheap bar", (13, 16), label="positive")
    made = _make(tmp_path, _row("a good cheap bar", "OOOB", "OBBO"), example)
    first, second = made.examples[0].findings
    assert (first.kind, first.iteration, first.entropy, first.score) == ("active", 1, 0.0, 0.5)
    assert (second.word, second.predicted, second.gold, second.expected) == (2, "positive", "positive", None)
    assert (made.header.method, made.header.iterations) == ("opinion-words", 1)


def test_an_example_without_a_row_is_there_without_findings(tmp_path: Path) -> None:
    row = _row("a good bar", "OOB", "OBO")
    unknown = [
        Example.from_text("a good pub", (7, 10), label="positive"),
        Example.from_text("a good bar", (2, 6), label="neutral"),
    ]
    made = _make(tmp_path, row, *unknown)
    assert _marked(made) == [[], []]


def test_an_aspect_that_occurs_twice_gets_the_row_of_its_place(tmp_path: Path) -> None:
    text = "good food here , bad food there"
    rows = _row(text, "OOOOOBO", "OOOOBOO") + _row(text, "OBOOOOO", "BOOOOOO")
    first, second = (Example.from_text(text, place, label="positive") for place in ((5, 9), (21, 25)))
    assert _marked(_make(tmp_path, rows, first, second)) == [["good"], ["bad"]]


def test_a_row_of_another_place_is_taken_only_if_it_belongs_to_no_other_example(tmp_path: Path) -> None:
    text = "good food here , bad food there"
    row = _row(text, "OBOOOOO", "BOOOOOO")
    first, second = (Example.from_text(text, place, label="positive") for place in ((5, 9), (21, 25)))
    assert _marked(_make(tmp_path, row, second)) == [["good"]]
    assert _marked(_make(tmp_path, row, first, second)) == [["good"], []]


def test_a_target_that_was_marked_twice_has_the_words_of_both(tmp_path: Path) -> None:
    rows = _row("a good cheap bar", "OOOB", "OBOO") + _row("a good cheap bar", "OOOB", "OOBO")
    made = _make(tmp_path, rows, Example.from_text("a good cheap bar", (13, 16), label="positive"))
    assert _marked(made) == [["good", "cheap"]]


def test_quotes_are_characters_and_a_target_of_signs_only_is_passed_over(tmp_path: Path) -> None:
    rows = _row('a "good bar', "OOB", "OBO") + _row("a bar !", "OOB", "OBO")
    made = _make(
        tmp_path,
        rows,
        Example.from_text('a " good bar', (9, 12), label="positive"),
        Example.from_text("a bar !", (6, 7), label="neutral"),
    )
    assert _marked(made) == [["good"], []]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a\tb\n", "line 1: has no opinion words; expected .* the columns s_id, sentence"),
        (_COLUMNS + "1\ta bar\n", "line 2: has 2 columns; expected 4"),
        (_COLUMNS + "1\ta bar\ta\\O\ta\\O bar\\O\n", "line 2: `target_tags` has 1 words; expected the 2"),
        (_COLUMNS + "1\ta bar\ta\\O bar\\B\ta\\X bar\\O\n", "line 2: `opinion_words_tags` has 'a.*X'; expected a word"),
    ],
)
def test_a_wrong_line_is_an_error_with_its_number(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "opinion.tsv"
    path.write_text(content)
    with pytest.raises(InputError, match=said):
        read_opinion_words(path)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("name", "instances", "matched"), [("laptop", 2291, 1537), ("rest", 3589, 2430)])
def test_two_thirds_of_public_data_have_opinion_words(
    shared_data: Path, name: str, instances: int, matched: int
) -> None:
    corpus = read(shared_data / name / "train.txt")
    rows = read_opinion_words(shared_data / "opinion_words" / name / "train.tsv")
    evidence = evidence_from_opinion_words(rows, corpus)
    marked = [example.label for example in evidence.examples if example.findings]
    assert (len(corpus), len(marked)) == (instances, matched)
    # Neutral instances seldom have an opinion word at all.
    assert marked.count("neutral") / corpus.label_counts()["neutral"] < 0.35


def test_triplets_and_quadruples_mark_words_too(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        "The built-in fan isn\u2019t loud, it is QUIET####[([1, 2], [3, 4], 'POS'), ([1, 2], [7], 'POS')]\n"
        "a dim screen####[['screen', 'c', 'negative', 'dim']]\n",
        "utf-8",
    )
    # The same sentence in another file, with other words, and one that is not marked.
    others = (
        Example.from_text("the built-in fan isn't loud, it is quiet", (4, 16), label="positive"),
        Example.from_text("a loud fan", (7, 10), label="negative"),
    )
    evidence = evidence_source(path)(Corpus(others))
    assert _marked(evidence) == [["isn", "t", "loud", "quiet"], []]
    assert _marked(evidence_source(path)(read(path))) == [["isn\u2019t", "loud,", "QUIET"], ["dim"]]


def test_the_evidence_of_a_corpus_comes_from_an_evidence_file_as_well(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a dim screen####[([2], [1], 'NEG')]")
    corpus, other = read(path), Corpus((Example.from_text("a loud fan", (7, 10), label="negative"),))
    write_evidence(evidence_source(path)(corpus), tmp_path / "evidence.jsonl")
    assert evidence_source(tmp_path / "evidence.jsonl")(corpus) == evidence_source(path)(corpus)
    for name in ("a.txt", "evidence.jsonl"):
        with pytest.raises(InputError):
            evidence_source(tmp_path / name)(other)
    path.write_text("text,aspect,label\n")
    with pytest.raises(InputError, match=r"a\.txt, line 1: has no opinion words"):
        evidence_source(path)
