"""Batches: tensors of two sentences written out by hand, bucketing, hiding, and the way between positions and words."""

from __future__ import annotations

import pytest
import torch

from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.features import PADDING, SECOND, SPECIAL
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import Batch, IndexedCorpus, index_words

SHORT = Example.from_text("good screen", (5, 11), label="positive")
LONG = Example.from_text("the battery life is bad", (4, 16), label="negative")
# Ids: 3 bad, 4 battery, 5 good, 6 is, 7 life, 8 screen, 9 the.
VOCABULARY = Vocabulary.build([*SHORT.words, *LONG.words])


def index(*examples: Example) -> IndexedCorpus:
    return index_words(examples, VOCABULARY, DEFAULT_LABELS)


def of_lengths(lengths: list[int]) -> IndexedCorpus:
    """Sentences of these many words, the aspect first."""
    return index(*(Example.from_text("good " * length, (0, 4), label="neutral") for length in lengths))


def test_two_sentences_become_the_tensors_written_here() -> None:
    batch = index(SHORT, LONG).batch(torch.tensor([0, 1]))
    assert batch.positions.tolist() == [[5, 8, 0, 0, 0], [9, 4, 7, 6, 3]]
    assert batch.word_of.tolist() == [[0, 1, -1, -1, -1], [0, 1, 2, 3, 4]]
    assert batch.aspect.tolist() == [[8, 0], [4, 7]]
    assert batch.aspect_span.tolist() == [[1, 2], [1, 3]]
    assert batch.candidates.int().tolist() == [[1, 0, 0, 0, 0], [1, 0, 0, 1, 1]]
    assert batch.labels.tolist() == [0, 1]
    assert batch.index.tolist() == [0, 1]
    assert batch.lengths.tolist() == [2, 5]


@pytest.mark.parametrize(("multiple", "width"), [(1, 2), (3, 3), (4, 4), (8, 5)])
def test_widths_are_rounded_up_to_a_multiple_but_not_beyond_the_table(multiple: int, width: int) -> None:
    corpus = index(SHORT, LONG)
    batch = corpus.batch(torch.tensor([0]), multiple)
    assert batch.positions.tolist() == [[5, 8, 0, 0, 0][:width]]
    assert batch.word_of.tolist() == [[0, 1, PADDING, PADDING, PADDING][:width]]
    assert batch.candidates.int().tolist() == [[1, 0, 0, 0, 0][:width]]
    assert batch.aspect.tolist() == [[8, 0][: min(multiple, 2)]]


def test_an_epoch_of_rounded_batches_has_few_shapes_and_the_same_rows() -> None:
    corpus = of_lengths([1 + number % 9 for number in range(100)])

    def epoch(multiple: int) -> list[Batch]:
        return list(corpus.shuffled_batches(3, torch.Generator().manual_seed(0), multiple))

    assert {batch.positions.shape[1] for batch in epoch(4)} == {4, 8, 9}
    assert [batch.index.tolist() for batch in epoch(4)] == [batch.index.tolist() for batch in epoch(1)]


def test_a_hidden_word_has_the_mask_id_and_is_no_candidate_but_an_aspect_keeps_its_own_ids() -> None:
    batch = index(LONG.hide([1, 4])).batch(torch.tensor([0]))
    assert batch.positions.tolist() == [[9, Vocabulary.mask_id, 7, 6, Vocabulary.mask_id]]
    assert batch.aspect.tolist() == [[4, 7]]
    assert batch.candidates.int().tolist() == [[1, 0, 0, 1, 0]]


def test_hiding_in_tensors_is_hiding_in_examples_and_leaves_the_corpus_alone() -> None:
    words = torch.zeros(2, 5, dtype=torch.bool)
    words[0, 0] = words[1, 3] = words[1, 4] = True
    hidden = index(SHORT, LONG).hide(words)
    expected = index(SHORT.hide([0]), LONG.hide([3, 4]))
    assert torch.equal(hidden.table.positions, expected.table.positions)
    assert torch.equal(hidden.table.candidates, expected.table.candidates)
    corpus = index(SHORT, LONG)
    hidden = corpus.hide(torch.ones(2, 5, dtype=torch.bool))
    assert corpus.table.positions.tolist()[0] == [5, 8, 0, 0, 0]
    assert hidden.table.positions.tolist()[0] == [2, 2, 0, 0, 0]


def test_positions_of_pieces_follow_their_words() -> None:
    # [CLS] the bat ##tery life [SEP] bat ##tery [SEP] [PAD]: word 1 is the aspect, word 2 is hidden.
    batch = Batch(
        positions=torch.arange(10)[None],
        word_of=torch.tensor([[SPECIAL, 0, 1, 1, 2, SPECIAL, SECOND, SECOND, SECOND, PADDING]]),
        aspect=torch.tensor([[2, 3]]),
        aspect_span=torch.tensor([[1, 2]]),
        candidates=torch.tensor([[True, False, False]]),
        labels=torch.tensor([0]),
        index=torch.tensor([0]),
    )
    assert batch.real.int().tolist() == [[0, 1, 1, 1, 1, 0, 0, 0, 0, 0]]
    assert batch.present.int().tolist() == [[1, 1, 1, 1, 1, 1, 1, 1, 1, 0]]
    assert batch.second.int().tolist() == [[0, 0, 0, 0, 0, 0, 1, 1, 1, 0]]
    assert batch.aspect_positions.int().tolist() == [[0, 0, 1, 1, 0, 0, 0, 0, 0, 0]]
    assert batch.candidate_positions.int().tolist() == [[0, 1, 0, 0, 0, 0, 0, 0, 0, 0]]
    assert batch.lengths.tolist() == [3]


@pytest.mark.parametrize(("n", "size"), [(1, 4), (7, 2), (8, 2), (100, 3)])
def test_an_epoch_has_every_example_exactly_once(n: int, size: int) -> None:
    corpus = of_lengths([1 + number % 9 for number in range(n)])
    batches = list(corpus.shuffled_batches(size, torch.Generator().manual_seed(0)))
    assert sorted(row for batch in batches for row in batch.index.tolist()) == list(range(n))
    assert all(len(batch.labels) <= size for batch in batches)
    assert all(batch.positions.shape[1] == int(batch.lengths.max()) for batch in batches)


@pytest.mark.parametrize(("n_aspects", "size"), [([1, 3, 2] * 20, 8), ([2] * 3, 16), ([1] * 30, 4), ([9, 1, 30], 4)])
def test_sentences_stay_together_in_as_many_batches(n_aspects: list[int], size: int) -> None:
    texts = ["good " * (1 + number % 5) + "price " * number for number in range(len(n_aspects))]
    corpus = index(*(Example.from_text(texts[place], (0, 4)) for place, n in enumerate(n_aspects) for _ in range(n)))
    sentence = [place for place, n in enumerate(n_aspects) for _ in range(n)]
    batches = list(corpus.shuffled_batches(size, torch.Generator().manual_seed(0), by_sentence=True))
    assert sorted(row for batch in batches for row in batch.index.tolist()) == list(range(len(sentence)))
    assert len(batches) == -(-len(sentence) // size)
    for batch in batches:
        assert 0 < len(batch.labels) < 2 * size
        found = [sentence[row] for row in batch.index.tolist()]
        assert [bool(each) for each in batch.repeats] == [
            place > 0 and found[place] == found[place - 1] for place in range(len(found))
        ]
    places = [
        {number for number, batch in enumerate(batches) for row in batch.index.tolist() if sentence[row] == each}
        for each in range(len(n_aspects))
    ]
    # A bucket may end within a sentence; otherwise one is divided only if it is as large as a batch.
    assert sum(len(each) > 1 for each, n in zip(places, n_aspects, strict=True) if n < size // 2) <= len(sentence) // (
        size * 16
    )


def test_batches_follow_from_the_seed_and_leave_the_callers_random_state_alone() -> None:
    corpus = of_lengths([3] * 50)

    def order(seed: int) -> list[list[int]]:
        return [batch.index.tolist() for batch in corpus.shuffled_batches(8, torch.Generator().manual_seed(seed))]

    assert order(1) == order(1)
    assert order(1) != order(2)
    before = torch.get_rng_state()
    list(of_lengths([2] * 9).shuffled_batches(2, torch.Generator().manual_seed(0)))
    assert torch.equal(torch.get_rng_state(), before)


def test_rows_of_like_length_share_a_batch() -> None:
    # 16 batches of 4 make one bucket, so 64 rows are sorted as a whole: nothing is padded.
    corpus = of_lengths([1 + number % 4 for number in range(64)])
    for batch in corpus.shuffled_batches(4, torch.Generator().manual_seed(0)):
        assert len(set(batch.lengths.tolist())) == 1
    alone = list(corpus.shuffled_batches(4, torch.Generator().manual_seed(0), bucket_batches=1))
    assert any(len(set(batch.lengths.tolist())) > 1 for batch in alone)
    assert sorted(row for batch in alone for row in batch.index.tolist()) == list(range(64))


def test_a_selection_still_points_into_the_corpus_it_came_from() -> None:
    chosen = index(SHORT, LONG, SHORT).select([2, 1])
    assert len(chosen) == 2
    assert chosen.length_order().tolist() == [1, 0]
    assert of_lengths([2, 5, 2, 9]).length_order().tolist() == [3, 1, 0, 2]  # equals stay in place
    assert chosen.labels.tolist() == [0, 1]
    assert chosen.batch(torch.tensor([0])).index.tolist() == [2]
    assert chosen.batch(torch.tensor([0])).positions.tolist() == [[5, 8]]


def test_words_that_the_vocabulary_lacks_are_unknown_not_padding() -> None:
    example = Example.from_text("superb screen", (7, 13))
    batch = index(example).batch(torch.tensor([0]))
    assert batch.positions.tolist() == [[Vocabulary.unk_id, 8]]
    assert batch.labels.tolist() == [-1]


def test_an_empty_corpus_and_a_label_that_was_not_declared_are_refused() -> None:
    with pytest.raises(InputError, match="the corpus is empty"):
        index()
    with pytest.raises(InputError, match=r"label 'negative' is not one of .*good"):
        index_words([SHORT, LONG], VOCABULARY, ("good", "positive"))


@pytest.mark.parametrize(("place", "window"), [(0, (0, 7)), (10, (7, 14)), (19, (13, 20))])
def test_of_a_long_text_the_words_around_the_aspect_are_read(place: int, window: tuple[int, int]) -> None:
    words = [f"w{number}" for number in range(20)]
    text, start = " ".join(words), sum(len(word) + 1 for word in words[:place])
    example = Example.from_text(text, (start, start + len(words[place])))
    vocabulary = Vocabulary.build(words)
    with pytest.warns(UserWarning, match="1 of 1 texts is longer than 7 words"):
        corpus = index_words([example], vocabulary, ("good", "bad"), max_words=7)
    batch = corpus.batch(torch.tensor([0]))
    assert batch.word_of.tolist() == [list(range(*window))]
    assert batch.positions.tolist() == [vocabulary.encode(words[slice(*window)])]
    assert batch.aspect_positions.nonzero().tolist() == [[0, place - window[0]]]
    assert batch.candidates.nonzero()[:, 1].tolist() == [word for word in range(*window) if word != place]
    assert batch.lengths.tolist() == [7]
