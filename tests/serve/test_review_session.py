"""A review: sentences, changes and undo, what a kill leaves, exports, and files that do not belong together."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.serve.review_toys import BAR, CORPUS, EVIDENCE, HUGE, SLOW, write_bare, write_files

from pssa.data.evidence import Finding
from pssa.data.evidence_file import read_evidence, write_evidence
from pssa.data.example import Corpus, Example
from pssa.data.io import write
from pssa.errors import InputError, RunError
from pssa.serve.errors import ApiError
from pssa.serve.review.session import Review, ReviewedSentence

ACTIONS = ("flip", "drop", "active", "misleading")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_files(tmp_path)


@pytest.fixture
def review(path: Path) -> Iterator[Review]:
    review = Review.open(path)
    yield review
    review.close()


def _findings(review: Review) -> list[Any]:
    return [sentence.example.findings for sentence in review.sentences]


def _states(review: Review) -> list[Any]:
    return [(sentence.example, sentence.version) for sentence in review.sentences]


def _log_of(path: Path) -> Path:
    return path.with_name("evidence.jsonl.review.jsonl")


def _reopened(path: Path) -> list[Any]:
    review = Review.open(path)
    review.close()
    return [(sentence.example, sentence.version) for sentence in review.sentences]


def test_a_change_is_made_once_and_raises_the_version(review: Review) -> None:
    changed = review.change(1, 0, "flip", 1)
    assert changed.example.findings == (replace(BAR, kind="active"),)
    assert (changed.version, changed.is_changed) == (1, True)
    assert review.sentence(1) is changed
    assert _findings(review)[0] == (SLOW, HUGE)
    assert review.n_changes == 1


def test_a_stale_change_is_refused_and_leaves_no_line(path: Path, review: Review) -> None:
    evidence = path.read_bytes()
    review.change(1, 0, "drop", 1)
    assert path.read_bytes() == evidence
    lines = _log_of(path).read_bytes()
    with pytest.raises(ApiError, match="sentence 1 was changed elsewhere") as caught:
        review.change(1, 0, "active", 0)
    assert caught.value.code == "stale"
    assert _log_of(path).read_bytes() == lines


@pytest.mark.parametrize(
    ("index", "action", "word", "code", "said"),
    [
        (0, "flip", 2, "refused", "'but' is neither active nor misleading; add it first"),
        (0, "drop", 2, "refused", "'but' is neither active nor misleading; add it first"),
        (0, "active", 0, "refused", "'Huge' is active already; flip it or drop it instead"),
        (0, "active", 3, "refused", "'slow' is misleading already; flip it or drop it instead"),
        (0, "active", 1, "refused", "'menu' belongs to the aspect, which is never evidence"),
        (0, "misleading", 4, "missing", "there is no word 4; the sentence has 4 words from 0"),
        (0, "drop", -1, "missing", "there is no word -1; the sentence has 4 words from 0"),
        (3, "active", 0, "missing", "there is no sentence 3; expected 0 to 2"),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_no_line(
    path: Path, review: Review, index: int, action: str, word: int, code: str, said: str
) -> None:
    lines = _log_of(path).read_bytes()
    with pytest.raises(ApiError) as caught:
        review.change(index, 0, action, word)
    assert (caught.value.code, str(caught.value)) == (code, said)
    assert _log_of(path).read_bytes() == lines


def test_undo_goes_back_step_by_step_over_sentences(review: Review) -> None:
    review.change(0, 0, "flip", 0)
    review.change(1, 0, "drop", 1)
    review.change(0, 1, "active", 2)
    with pytest.raises(ApiError, match="change 1 is not the last one, which is 3") as caught:
        review.undo(1)
    assert caught.value.code == "stale"
    assert review.undo(3).example.findings == (SLOW, replace(HUGE, kind="misleading", expected=None))
    assert review.undo(2).example == EVIDENCE.examples[1]
    assert review.undo(1).example == EVIDENCE.examples[0]
    assert [sentence.version for sentence in review.sentences] == [6, 5, 0]
    assert review.last_change is None
    with pytest.raises(ApiError, match="there is nothing to undo"):
        review.undo(6)


def test_the_log_names_the_word_and_what_it_was(path: Path, review: Review) -> None:
    review.change(2, 0, "active", 3)
    review.undo(1)
    _, added, undone = (json.loads(line) for line in _log_of(path).read_text("utf-8").splitlines())
    named = [added[name] for name in ("number", "example", "action", "word", "text")]
    assert named == [1, "3", "active", 3, "cold"]
    assert (added["before"], added["after"]["kind"], added["undoes"]) == (None, "active", None)
    assert (undone["action"], undone["undoes"], undone["after"]) == ("undo", 1, None)
    assert undone["before"] == added["after"]


def test_a_review_torn_at_any_byte_keeps_every_whole_line(path: Path) -> None:
    review = Review.open(path)
    states = [_states(review)]
    for index, action, word in [(0, "flip", 0), (1, "drop", 1), (0, "active", 2)]:
        review.change(index, review.sentence(index).version, action, word)
        states.append(_states(review))
    review.close()
    content = _log_of(path).read_bytes()
    header = content.index(b"\n") + 1
    for length in range(header, len(content) + 1, 7):
        _log_of(path).write_bytes(content[:length])
        assert _reopened(path) == states[content[:length].count(b"\n") - 1]


def test_random_changes_and_undos_survive_and_can_all_be_taken_back(path: Path) -> None:
    dice = random.Random(0)
    review = Review.open(path)
    for _ in range(200):
        index = dice.randrange(3)
        with suppress(ApiError):
            if dice.random() < 0.3 and review.last_change:
                review.undo(review.last_change.number)
            else:
                review.change(index, review.sentence(index).version, dice.choice(ACTIONS), dice.randrange(4))
    assert review.n_changes > 5
    state = _states(review)
    review.close()
    assert _reopened(path) == state
    review = Review.open(path)
    while review.last_change:
        review.undo(review.last_change.number)
    assert tuple(sentence.example for sentence in review.sentences) == EVIDENCE.examples
    review.close()


def test_changes_from_many_threads_are_all_kept_in_one_order(path: Path, review: Review) -> None:
    made: list[int] = []

    def change() -> None:
        for _ in range(20):
            with suppress(ApiError):
                made.append(review.change(0, review.sentence(0).version, "flip", 0).version)

    threads = [threading.Thread(target=change) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == list(range(1, len(made) + 1))
    assert _log_of(path).read_bytes().count(b"\n") == len(made) + 1
    assert review.sentence(0).example.kinds[0] == ("misleading" if len(made) % 2 else "active")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda entry: entry | {"example": "2"}, "is about example '2', which is not at 0 of the evidence"),
        (lambda entry: entry | {"index": 9}, "is about example '1', which is not at 9 of the evidence"),
        (lambda entry: entry | {"before": None}, "does not follow from the lines before it about word 0 of '1'"),
        (lambda entry: entry | {"word": 3}, "does not follow from the lines before it about word 3 of '1'"),
        (
            lambda entry: entry | {"after": entry["before"] | {"word": 2}},
            "does not follow from the lines before it about word 0 of '1'",
        ),
        (lambda entry: entry | {"undoes": 4}, "undoes change 4, which is not the last change before it"),
    ],
)
def test_a_log_that_does_not_fit_is_refused_with_its_line(
    path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], said: str
) -> None:
    review = Review.open(path)
    review.change(0, 0, "drop", 0)
    review.close()
    header, line = _log_of(path).read_text("utf-8").splitlines()
    _log_of(path).write_text(f"{header}\n{json.dumps(change(json.loads(line)))}\n", "utf-8")
    with pytest.raises(InputError) as caught:
        Review.open(path)
    assert f"line 2: {said}; restore the log, or move it away" in str(caught.value)


def test_a_log_is_refused_once_its_evidence_changed(path: Path) -> None:
    Review.open(path).close()
    write_evidence(replace(EVIDENCE, header=replace(EVIDENCE.header, seed=1)), path)
    with pytest.raises(InputError, match="is the log of another evidence file"):
        Review.open(path)


def test_a_second_reviewer_of_the_same_file_is_refused(path: Path, review: Review) -> None:
    with pytest.raises(RunError, match="in use by another process"):
        Review.open(path)


def test_the_corpus_must_be_the_one_that_was_mined(path: Path, tmp_path: Path) -> None:
    Review.open(path, tmp_path / "train.jsonl").close()
    other = Corpus((*CORPUS.examples[:2], Example.from_text("The soup was warm", (4, 8), label="negative", id="3")))
    write(other, tmp_path / "other.jsonl")
    with pytest.raises(InputError, match="the evidence was made from another"):
        Review.open(path, tmp_path / "other.jsonl")
    Review.open(path).close()  # the refusal holds no lock


def test_evidence_of_pieces_is_called_that_and_not_of_another_corpus(path: Path, tmp_path: Path) -> None:
    corpus = Corpus(tuple(map(_by_letter, CORPUS)))
    write_bare(corpus, path)
    with pytest.raises(InputError, match="cut into other words, as with --set unit=piece"):
        Review.open(path, tmp_path / "train.jsonl")
    Review.open(path).close()


def _by_letter(example: Example) -> Example:
    spans = tuple((place, place + 1) for place, letter in enumerate(example.text) if letter != " ")
    aspect, key = example.aspect_chars, example.sentence_id
    return Example.from_spans(example.text, spans, aspect, label=example.label, id=example.id, sentence_id=key)


def test_a_corpus_is_read_as_it_was_mined(tmp_path: Path) -> None:
    path = write_files(tmp_path)
    (tmp_path / "train.csv").write_bytes((tmp_path / "train.jsonl").read_bytes())
    Review.open(path, tmp_path / "train.csv", format="json_lines", labels=("negative", "positive")).close()
    with pytest.raises(InputError, match="unknown label 'positive'; expected one"):
        Review.open(path, tmp_path / "train.jsonl", labels=("good", "bad"))


def test_a_corpus_with_labels_of_its_own_is_read_by_them(tmp_path: Path) -> None:
    examples = tuple(
        replace(example, label=label) for example, label in zip(CORPUS, ("good", "bad", "good"), strict=True)
    )
    corpus = Corpus(examples, ("good", "bad"))
    write(corpus, tmp_path / "train.jsonl")
    write_bare(corpus, tmp_path / "evidence.jsonl")
    Review.open(tmp_path / "evidence.jsonl", tmp_path / "train.jsonl").close()


def test_disagreement_follows_the_changes(path: Path, tmp_path: Path) -> None:
    review = Review.open(path, None, tmp_path / "second.jsonl")
    assert [sentence.is_disputed for sentence in review.sentences] == [True, False, False]
    review.change(0, 0, "flip", 0)
    review.change(2, 0, "active", 0)
    assert [sentence.is_disputed for sentence in review.sentences] == [False, False, True]
    review.close()


def test_a_second_file_of_another_corpus_is_refused(path: Path, tmp_path: Path) -> None:
    header = replace(EVIDENCE.header, corpus_hash="0" * 64)
    write_evidence(replace(EVIDENCE, header=header), tmp_path / "other.jsonl")
    with pytest.raises(InputError, match=r"other\.jsonl: belongs to another corpus"):
        Review.open(path, None, tmp_path / "other.jsonl")


def test_added_words_are_in_the_order_of_the_sentence_whichever_came_first() -> None:
    bare = ReviewedSentence(2, EVIDENCE.examples[2], EVIDENCE.examples[2])
    later = bare.with_finding(3, bare.finding_after("active", 3), 1)
    both = later.with_finding(0, later.finding_after("misleading", 0), 2)
    assert [finding.word for finding in both.example.findings] == [0, 3]


def test_an_export_holds_the_changes_and_says_each_in_its_header(path: Path) -> None:
    review = Review.open(path)
    review.change(0, 0, "flip", 0)
    review.change(0, 1, "active", 2)
    review.change(1, 0, "drop", 1)
    review.change(2, 0, "misleading", 3)
    review.change(2, 4, "flip", 3)
    made_path, edits = review.export()
    review.close()
    evidence = read_evidence(made_path)
    assert made_path.name == "evidence.reviewed-1.jsonl"
    assert evidence.header.edits == ("before", *edits)
    assert edits == (
        f"review of {review.sources.digest[:12]}: 4 changed",
        "review flip 'Huge', word 0 of 1: 1 changed",
        "review add active 'but', word 2 of 1: 1 changed",
        "review drop 'huge', word 1 of 2: 1 changed",
        "review add active 'cold', word 3 of 3: 1 changed",
    )
    assert [example.findings for example in evidence.examples] == [
        (
            SLOW,
            replace(HUGE, kind="misleading", expected=None),
            Finding(2, "active", 1, 0.0, 1.0, "positive", "positive"),
        ),
        (),
        (Finding(3, "active", 1, 0.0, 1.0, "negative", "negative"),),
    ]
    evidence.check_corpus(CORPUS)


def test_exports_never_overwrite_and_are_not_repeated(path: Path) -> None:
    review = Review.open(path)
    first, _ = review.export()
    assert review.export()[0] == first
    review.change(0, 0, "drop", 3)
    second, _ = review.export()
    assert (first.name, second.name) == ("evidence.reviewed-1.jsonl", "evidence.reviewed-2.jsonl")
    assert sorted(path.parent.glob("*.reviewed-*")) == [first, second]
    review.close()


def test_a_word_added_where_nothing_was_mined_is_of_a_first_iteration(path: Path) -> None:
    header = replace(EVIDENCE.header, iterations=0)
    bare = tuple(replace(example, findings=()) for example in EVIDENCE.examples)
    write_evidence(replace(EVIDENCE, header=header, examples=bare), path)
    review = Review.open(path)
    review.change(0, 0, "active", 0)
    assert read_evidence(review.export()[0]).header.iterations == 1
    review.close()
