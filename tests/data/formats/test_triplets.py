"""Triplets and quadruples: numbers, strings, places, and files that are not what they seem."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pssa.data import Corpus, Example, check, read, write
from pssa.data.formats.triplets import scan_reviews
from pssa.data.io import format_of
from pssa.data.opinion_words import evidence_source
from pssa.data.reviews import Opinion, Review, read_reviews
from pssa.data.rows import Dropped, Problem
from pssa.data.text_file import InputFile
from pssa.errors import InputError

# The line of the README of DMASTE, shortened: implied aspect, one token, first and last token, a domain.
DMASTE = (
    "good book , did not hold my attention####[([1], [0], 'POS'), ([1], [3, 7], 'NEG'), ([-1], [5, 7], 'NEG')]####Books"
)
ASTE = "The battery life is very good####[([1, 2], [4, 5], 'POS')]"
ROAST = (
    "great phone . the screen is dim , I said the screen"
    "####[['screen', 'display general', 'negative', 'dim'], ['NULL', 'phone general', 'positive', 'great']]"
)


def reviews_of(tmp_path: Path, *lines: str) -> list[Review | Dropped | Problem]:
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines), "utf-8")
    return list(scan_reviews(InputFile(path)))


def instances(corpus: Corpus) -> list[tuple[str, str | None]]:
    return [(example.aspect_text, example.label) for example in corpus]


def test_numbers_are_tokens_and_the_last_is_included(tmp_path: Path) -> None:
    (review,) = reviews_of(tmp_path, DMASTE)
    assert isinstance(review, Review)
    text = "good book , did not hold my attention"
    assert (review.text, review.tag) == (text, "Books")
    assert review.opinions == (
        Opinion("positive", (5, 9), ((0, 4),)),
        Opinion("negative", (5, 9), ((12, 37),)),
        Opinion("negative", None, ((20, 37),)),
    )
    assert [text[start:end] for start, end in review.words] == text.split()
    # The book is praised and blamed; the implied opinion stands on its own.
    assert review.aspects == {(5, 9): None}
    assert review.overall == "negative"


def test_one_index_each_or_first_and_last_mean_the_same(tmp_path: Path) -> None:
    texts = ["a b c d e f####[([0, 1, 2, 3], [4, 5], 'NEU')]", "a b c d e f####[([0, 3], [4, 5], 'NEU')]"]
    first, second = reviews_of(tmp_path, *texts)
    assert isinstance(first, Review)
    assert first == second
    assert first.opinions == (Opinion("neutral", (0, 7), ((8, 11),)),)
    (apart,) = reviews_of(tmp_path, "a b c d e f####[([0], [2, 4, 5], 'NEU')]")
    assert isinstance(apart, Review)
    assert apart.opinions[0].words == ((4, 5), (8, 11))


def test_of_several_places_the_aspect_and_the_opinion_nearest_to_each_other_are_taken(tmp_path: Path) -> None:
    lines = [
        ROAST,
        "screen ok . sound bad , screen bad####[('screen', 'display', 'negative', 'bad')]",
        "screens and a screen####[('screen', 'NULL', 'neutral')]",  # a whole word before a part of one
    ]
    roast, two, whole = (each for each in reviews_of(tmp_path, *lines) if isinstance(each, Review))
    assert roast.opinions == (Opinion("negative", (18, 24), ((28, 31),)), Opinion("positive", None, ((0, 5),)))
    assert roast.words == ()  # its words are not those between spaces
    assert two.opinions == (Opinion("negative", (24, 30), ((31, 34),)),)
    assert whole.opinions == (Opinion("neutral", (14, 20)),)


def test_what_is_no_instance_is_dropped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    lost = "the fan is loud####[['fan', 'c', 'negative', 'noisy'], ['cable', 'c', 'positive', 'loud']]"
    path.write_text("\n".join((DMASTE, ASTE, ROAST, lost, "it came on monday####[]")))
    corpus = read(path)
    assert instances(corpus) == [("battery life", "positive"), ("screen", "negative"), ("fan", "negative")]
    assert corpus.dropped == {
        "implied_aspect": 2,
        "conflict": 1,  # an aspect with two labels
        "opinion_not_in_text": 1,
        "aspect_not_in_text": 1,
        "no_aspect": 1,
    }
    report = check(path)
    assert (report.format, report.instances, report.dropped) == ("triplets", 3, corpus.dropped)
    assert instances(read(path, conflict="keep"))[0] == ("book", "conflict")


def test_opinions_about_one_place_are_one_instance_and_the_domain_is_a_tag(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("good cheap fan####[([2], [0], 'POS'), ([2], [1], 'POS')]####Home\n")
    (example,) = read(path)
    assert (example.id, example.tags, example.words) == ("1:0", ("Home",), ("good", "cheap", "fan"))
    (review,), dropped = read_reviews(path)
    assert (review.opinion_words((11, 14)), dropped) == (((0, 4), (5, 10)), {})


def test_labels_are_mapped_and_other_labels_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a fan####[([1], [0], 'GOOD')]")
    with pytest.raises(InputError, match=r"a\.txt, line 1: unknown label 'GOOD'"):
        read(path)
    with pytest.raises(InputError, match=r"a\.txt, line 1: unknown label 'GOOD'"):
        read_reviews(path)
    assert read(path, label_map="GOOD=positive")[0].label == "positive"
    assert read_reviews(path, label_map="GOOD=positive")[0][0].opinions[0].label == "positive"


@pytest.mark.parametrize("content", [DMASTE, ASTE, ROAST, f"{ASTE}\n{ROAST}", "a b####[]"])
def test_the_content_tells_the_format(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content)
    assert format_of(path, None) == "triplets"
    assert format_of(path, "aste") == format_of(path, "quadruples") == "triplets"


@pytest.mark.parametrize(
    "line",
    [
        "no mark at all",
        "####[([0], [0], 'POS')]",  # no text
        "a b####",
        "a b####x",
        "a b####[([0], [1], 'POS')",  # not closed
        "a b####[([0] [1], 'POS')]",  # no comma
        "a b####[([0], [1], 'POS')] + []",
        "a b####[([0], [1], POS)]",
        "a b####[([0], [1], 'POS', 'b')]",
        "a b####[([0], 'b', 'POS')]",
        "a b####[([0], [1])]",
        "a b####[([], [1], 'POS')]",
        "a b####[([2], [1], 'POS')]",  # there is no third token
        "a b####[([-2], [1], 'POS')]",
        "a b####[([1, 0], [1], 'POS')]",
        "a b####[([0], [1], '')]",
        "a b####[('a', 'c', 'positive', '\\x1')]",
        "a b####[__import__('os')]",
        "a b####" + "[" * 100_000,
        "a b####[" + "-" * 100_000 + "1]",
        "a b####[" + "([0], [1], 'POS'), " * 2000 + "]",
        "a b####" + "####[]" * 9,
        "a \0b####[([0], [1], 'POS')]",
    ],
)
def test_a_line_that_cannot_be_read_is_a_problem_and_the_next_is_read(tmp_path: Path, line: str) -> None:
    began = time.process_time()
    *before, last = reviews_of(tmp_path, line, ASTE)
    assert [each.line for each in before if isinstance(each, Problem)] == [1]
    assert isinstance(last, Review)
    assert last.line == 2
    assert time.process_time() - began < 5


def test_many_places_of_a_repeated_text_are_searched_in_bounded_time(tmp_path: Path) -> None:
    quadruples = ", ".join(["['a', 'c', 'positive', 'b']"] * 50)
    began = time.process_time()
    (review,) = reviews_of(tmp_path, f"{'a b ' * 24_000}####[{quadruples}]")
    assert isinstance(review, Review)
    assert review.opinions[0] == Opinion("positive", (0, 1), ((2, 3),))
    assert time.process_time() - began < 20


def test_quotes_and_escapes_are_those_of_python(tmp_path: Path) -> None:
    text = 'taste \' s "great" \\ 5'
    row = [text[:9], "c", "positive", '"great"']
    (review,) = reviews_of(tmp_path, f"{text}####[{row!r}]")
    assert isinstance(review, Review)
    assert review.opinions == (Opinion("positive", (0, 9), ((10, 17),)),)


def test_a_comma_may_stand_before_the_end_of_a_list_as_in_python(tmp_path: Path) -> None:
    (review,) = reviews_of(tmp_path, "a b####[((0,), [1, ], 'POS'),]")
    assert isinstance(review, Review)
    assert review.opinions == (Opinion("positive", (0, 1), ((2, 3),)),)
    (review,) = reviews_of(tmp_path, "a,) b####[('a,)', 'c', 'positive', 'b')]")
    assert isinstance(review, Review)
    assert review.opinions == (Opinion("positive", (0, 3), ((4, 5),)),)


def test_instances_are_written_with_their_evidence_and_read_again(tmp_path: Path) -> None:
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    lines = "\n".join((ASTE, "good cheap , loud fan####[([4], [0, 1], 'POS'), ([4], [3], 'POS')]####Home"))
    source.write_text(lines)
    corpus = read(source)
    write(corpus, target, format="triplets", evidence=evidence_source(source)(corpus))
    assert target.read_text() == f"{lines}\n"
    write(corpus, target, format="triplets")
    assert target.read_text().splitlines()[0] == "The battery life is very good####[([1, 2], [-1], 'POS')]"
    assert read(target).hash() == corpus.hash()
    assert not read_reviews(target)[0][0].opinions[0].words
    with pytest.raises(InputError, match="marks no opinion words"):
        evidence_source(target)(read(target))


def test_an_aspect_that_comes_again_is_not_joined_with_itself(tmp_path: Path) -> None:
    examples = [
        Example.from_text("a dim , big screen", (12, 18), label=label, id=label) for label in ("negative", "positive")
    ]
    write(examples, tmp_path / "a.txt", format="triplets")
    assert instances(read(tmp_path / "a.txt")) == [("screen", "negative"), ("screen", "positive")]


def test_evidence_is_written_by_triplets_alone_and_for_the_same_examples(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text(ASTE)
    evidence = evidence_source(source)(read(source))
    with pytest.raises(InputError, match="triplets"):
        write(read(source), tmp_path / "b.jsonl", evidence=evidence)
    with pytest.raises(InputError, match="2 examples"):
        write([*read(source)] * 2, tmp_path / "b.txt", format="triplets", evidence=evidence)
    assert sorted(tmp_path.iterdir()) == [source]
