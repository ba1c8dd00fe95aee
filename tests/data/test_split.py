"""Splits keep sentences whole, labels in proportion, and repeat with the seed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pssa.data.example import Corpus, Example
from pssa.data.io import read
from pssa.data.split import folds, hold_out
from pssa.errors import InputError


def example(text: str, label: str | None, sentence_id: str | None = None) -> Example:
    return Example.from_text(text, (0, 1), label=label, sentence_id=sentence_id)


def synthetic(n_sentences: int, seed: int = 0) -> Corpus:
    """One to six aspects a sentence, labels as uneven as in REST."""
    draw = random.Random(seed)
    labels = ("positive", "negative", "neutral")
    return Corpus(
        tuple(
            example(f"sentence {number}", draw.choices(labels, (60, 22, 18))[0])
            for number in range(n_sentences)
            for _ in range(draw.choices(range(1, 7), (50, 25, 12, 7, 4, 2))[0])
        )
    )


def shares(corpus: Corpus, positions: list[int]) -> list[float]:
    counts = corpus.select(positions).label_counts()
    return [count / len(positions) for count in counts.values()]


@pytest.mark.parametrize("seed", range(5))
def test_size_and_labels_come_within_an_instance_or_two_of_their_target(seed: int) -> None:
    corpus = synthetic(300, seed)
    trained, held_out = hold_out(corpus, 0.2, seed)
    for positions, share in ((trained, 0.8), (held_out, 0.2)):
        assert len(positions) == pytest.approx(share * len(corpus), abs=2)
        counts = corpus.select(positions).label_counts()
        for label, total in corpus.label_counts().items():
            assert counts[label] == pytest.approx(share * total, abs=2)


def test_instances_of_one_sentence_or_one_text_are_never_parted() -> None:
    # 0-1 share an id, 1-2 a text but for case and spaces, 2-3 an id again: one group of four.
    linked = (
        example("good food", "positive", "a"),
        example("Bad  wine", "negative", "a"),
        example("bad wine", "neutral", "b"),
        example("slow staff", "neutral", "b"),
    )
    corpus = Corpus((*linked, *(example(f"other {n}", "positive") for n in range(8))))
    for seed in range(20):
        trained, held_out = hold_out(corpus, 0.3, seed)
        assert {0, 1, 2, 3} <= set(trained) or {0, 1, 2, 3} <= set(held_out)


def test_the_seed_decides_and_repeats_and_a_known_split_stays() -> None:
    corpus = synthetic(100)
    assert hold_out(corpus, 0.2, 7) == hold_out(corpus, 0.2, 7)
    assert hold_out(corpus, 0.2, 7) != hold_out(corpus, 0.2, 8)
    assert folds(corpus, 5, 7) == folds(corpus, 5, 7)
    assert folds(corpus, 5, 7) != folds(corpus, 5, 8)
    corpus = Corpus(tuple(example(f"text {n}", "positive" if n % 2 else "negative") for n in range(10)))
    assert hold_out(corpus, 0.2, seed=0) == ([0, 1, 3, 4, 6, 7, 8, 9], [2, 5])


@given(n=st.integers(2, 6), sizes=st.lists(st.integers(1, 9), min_size=6, max_size=30), seed=st.integers(0, 99))
def test_folds_are_disjoint_cover_everything_and_are_never_empty(n: int, sizes: list[int], seed: int) -> None:
    labels = ("positive", None, "negative")
    corpus = Corpus(tuple(example(f"s {s}", labels[(s + k) % 3]) for s, size in enumerate(sizes) for k in range(size)))
    parts = folds(corpus, n, seed)
    assert len(parts) == n
    assert all(parts)
    assert sorted(position for part in parts for position in part) == list(range(len(corpus)))
    homes = [{corpus[position].sentence_id for position in part} for part in parts]
    assert sum(map(len, homes)) == len(sizes)


def test_every_part_gets_a_sentence_where_there_are_just_enough() -> None:
    corpus = Corpus((example("one", "positive"), example("two", "negative")))
    trained, held_out = hold_out(corpus, 0.01, seed=0)
    assert (len(trained), len(held_out)) == (1, 1)


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.2, 20.0, float("nan")])
def test_a_fraction_outside_zero_to_one_is_refused(fraction: float) -> None:
    with pytest.raises(InputError, match="expected more than 0 and less than 1"):
        hold_out(synthetic(10), fraction, seed=0)


def test_too_few_sentences_are_refused() -> None:
    corpus = Corpus((example("one", "positive"), example("One", "negative")))
    with pytest.raises(InputError, match="1 different sentences cannot be split"):
        hold_out(corpus, 0.5, seed=0)
    with pytest.raises(InputError, match="0 different sentences cannot be split"):
        folds(Corpus(()), 3, seed=0)
    with pytest.raises(InputError, match="the number of folds is 1"):
        folds(synthetic(10), 1, seed=0)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", ["laptop", "rest", "twitter"])
def test_real_corpora_are_parted_by_sentence_with_the_same_shares_of_labels(shared_data: Path, name: str) -> None:
    corpus = read(shared_data / name / "train.txt")
    whole = shares(corpus, list(range(len(corpus))))
    trained, held_out = hold_out(corpus, 0.2, seed=0)
    assert len(held_out) / len(corpus) == pytest.approx(0.2, abs=0.002)
    assert shares(corpus, held_out) == pytest.approx(whole, abs=0.01)
    assert {corpus[n].text.casefold() for n in trained}.isdisjoint(corpus[n].text.casefold() for n in held_out)
