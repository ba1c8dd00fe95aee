"""Copies of instances, joined with sentences of another label: their tensors, and trainings with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial

import pytest
import torch
from tests.models.encoders import tiny_encoder
from tests.runs.interrupted import Interrupting
from tests.training.toys import Memory, new_model, parameters
from torch import Tensor

from pssa.data.example import DEFAULT_LABELS, Corpus, Example
from pssa.data.vocabulary import Vocabulary
from pssa.errors import InputError
from pssa.models import Batch, IndexedCorpus, index_words
from pssa.training import Settings, Supervision, Task, fit
from pssa.training.contrast import Contrast, ContrastOptions, Copies, shift_rows
from pssa.training.fit import count_steps, reserve_copies, rows_of_epoch

TEXTS = {
    "the screen is great": ("screen", "positive"),
    "such a poor screen of glass": ("screen", "negative"),
    "a keyboard that is usual": ("keyboard", "neutral"),
    "so great a battery life": ("battery life", "positive"),
    "the mouse is poor and slow": ("mouse", "negative"),
    "this price": ("price", "neutral"),
}


def example(text: str, aspect: str, label: str) -> Example:
    start = text.index(aspect)
    return Example.from_text(text, (start, start + len(aspect)), label=label)


CORPUS = Corpus(tuple(example(text, *known) for text, known in TEXTS.items()))
VOCABULARY = Vocabulary.build([word for each in CORPUS for word in each.words], extra=["but", "it", "and", "."])
Index = Callable[[Sequence[Example]], IndexedCorpus]


def by_words(examples: Sequence[Example]) -> IndexedCorpus:
    return index_words(examples, VOCABULARY, DEFAULT_LABELS)


def by_pieces(examples: Sequence[Example], pair: bool) -> IndexedCorpus:
    return IndexedCorpus.of(tiny_encoder("bert").cutter(pair=pair).features(examples, DEFAULT_LABELS))


INDEXERS: dict[str, Index] = {
    "words": by_words,
    "pieces": partial(by_pieces, pair=False),
    "pairs": partial(by_pieces, pair=True),
}


class OfAnyAspect(Contrast):
    """Partners may mention the aspect: whether they do differs between words and pieces."""

    def _mentions(self, data: IndexedCorpus, rows: Tensor, drawn: Tensor) -> Tensor:
        return torch.zeros(rows.shape, dtype=torch.bool)


def draw(
    index: Index = by_words, corpus: Corpus = CORPUS, seed: int = 0, kind: type[Contrast] = Contrast, **options: object
) -> Copies:
    contrast = kind.of(corpus, ContrastOptions(**options), index, 100)  # type: ignore[arg-type]
    # All are as distant, whether by words or by pieces: the first that fits is the partner.
    contrast = replace(contrast, topics=torch.zeros(len(corpus), 1))
    copies = contrast.draw(index(corpus.examples), torch.Generator().manual_seed(seed))
    assert copies is not None
    return copies


def joined_texts(copies: Copies) -> list[Example]:
    """What each copy says, by trying every pair of sentences, order and glue."""
    places = {
        f"{one.text} {glue} {other.text}": (one, other)
        for one in CORPUS
        for other in CORPUS
        for glue in ("but", "and", ".")
    }
    by_ids = {tuple(VOCABULARY.encode(text.split())): text for text in places}
    found = []
    for row, origin in enumerate(copies.origin.tolist()):
        text = by_ids[tuple(copies.data.table.positions[row][copies.data.table.real[row]].tolist())]
        own = CORPUS[origin]
        start = text.rindex(own.text) if places[text][1] == own else 0
        start += own.aspect_chars[0]
        found.append(Example.from_text(text, (start, start + len(own.aspect_text)), label=own.label))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", INDEXERS)
def test_a_copy_has_the_tensors_of_the_joined_text(kind: str) -> None:
    index = INDEXERS[kind]
    for seed in range(3):
        expected = index(joined_texts(draw(seed=seed, kind=OfAnyAspect)))
        copies = draw(index, seed=seed, kind=OfAnyAspect)
        assert torch.equal(copies.data.widths, expected.widths)
        for field in fields(Batch):
            ours, theirs = getattr(copies.data.table, field.name), getattr(expected.table, field.name)
            ours = ours[:, : theirs.shape[1]] if field.name == "aspect" else ours
            assert torch.equal(ours, theirs), field.name


def test_a_partner_has_another_label_and_does_not_mention_the_aspect() -> None:
    for seed in range(5):
        for origin, text in zip(draw(seed=seed).origin.tolist(), joined_texts(draw(seed=seed)), strict=True):
            own = CORPUS[origin]
            rest = text.text.replace(own.text, "", 1)
            (partner,) = (each for each in CORPUS if each.text in rest)
            assert partner.label != own.label == text.label
            assert own.aspect_text not in rest


def test_a_share_of_the_instances_has_copies_of_bounded_length() -> None:
    assert len(draw(share=0.5).origin) == 3
    copies = draw(words=9)
    assert 0 < len(copies.origin) < 6
    assert int(copies.data.widths[:, 2].max()) <= 9


def test_the_partner_is_the_most_distant_of_those_drawn() -> None:
    topics = torch.ones(len(CORPUS), 1)
    topics[5] = -1  # "this price" is unlike all others
    contrast = replace(Contrast.of(CORPUS, ContrastOptions(), by_words, 100), topics=topics)
    copies = contrast.draw(by_words(CORPUS.examples), torch.Generator().manual_seed(3))
    assert copies is not None
    texts = dict(zip(copies.origin.tolist(), joined_texts(copies), strict=True))
    partners = {origin: text.text.replace(CORPUS[origin].text, "", 1) for origin, text in texts.items()}
    assert [TEXTS["this price"][0] in partners[origin] for origin in (0, 1, 3, 4)] == [True] * 4


def test_hidden_words_stay_hidden_and_are_no_candidates() -> None:
    hidden = replace(CORPUS, examples=tuple(each.hide([0]) for each in CORPUS))
    for copies, n_hidden in ((draw(), 0), (draw(corpus=hidden), 2)):
        table = copies.data.table
        assert ((table.positions == VOCABULARY.mask_id).sum(dim=1) == n_hidden).all()
        lengths = copies.data.widths[:, 2] - (table.aspect_span[:, 1] - table.aspect_span[:, 0])
        assert torch.equal(table.candidates.sum(dim=1), lengths - n_hidden)


def test_the_full_stop_of_the_first_sentence_is_left_out() -> None:
    ended = Corpus(tuple(example(f"{text} .", *known) for text, known in TEXTS.items()))
    stop = VOCABULARY.encode(["."])[0]
    table = draw(corpus=ended).data.table
    n_stops = (table.positions == stop).sum(dim=1)
    glued = (table.positions == VOCABULARY.encode(["but"])[0]).any(dim=1)
    assert (n_stops[glued] == 1).all()
    # Words stay numbered without a gap, which models on words rely on.
    lengths = table.present.sum(dim=1)
    assert torch.equal(table.word_of.amax(dim=1) + 1, lengths)
    assert torch.equal(table.candidates.sum(dim=1), lengths - (table.aspect_span[:, 1] - table.aspect_span[:, 0]))


def test_rows_move_to_the_right_with_zeros_around_them() -> None:
    values = torch.tensor([[1.0, 2.0, 0.0, 0.0], [3.0, 4.0, 0.0, 0.0]])
    assert shift_rows(values, torch.tensor([0, 2]), torch.tensor([1, 2])).tolist() == [[1, 0, 0, 0], [0, 0, 3, 4]]


@pytest.mark.parametrize("options", [{"share": 0.0}, {"share": 1.5}, {"weight": -1.0}, {"words": 3}])
def test_options_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match=f"contrast_{next(iter(options))} is"):
        ContrastOptions(**options)  # type: ignore[arg-type]


SETTINGS = Settings(batch_size=4, learning_rate=0.01)


@pytest.fixture
def contrast_task(corpus: IndexedCorpus) -> Task:
    """A supervised training with copies; no sentence has a word of an aspect, so that each can be a partner."""
    glue, unheard = torch.tensor([2]), torch.full_like(corpus.table.aspect, 1)
    corpus = replace(corpus, table=replace(corpus.table, aspect=unheard))
    options = ContrastOptions(share=0.5, weight=0.5, words=24)
    glues, glue_words = (glue,) * 3, (torch.zeros_like(glue),) * 3
    contrast = Contrast(options, torch.arange(18), glues, glue_words, 0, 100, topics=torch.zeros(18, 1))
    supervised = torch.zeros(corpus.table.candidates.shape, dtype=torch.bool)
    supervised[:, 1] = True
    supervision = Supervision(torch.arange(18.0)[:, None] * supervised, supervised, gamma=0.5)
    return Task(corpus, 5, "final", supervision=supervision, contrast=contrast)


def test_copies_expect_what_their_instances_do_at_the_words_new_places(contrast_task: Task) -> None:
    task = reserve_copies(contrast_task)
    assert task.supervision
    assert task.supervision.weights is not None
    assert task.weights is not None
    rows = rows_of_epoch(task, 1)
    copies = rows.table.take(torch.arange(18, len(rows)))
    assert len(rows) == 27
    assert copies.index.tolist() == list(range(18, 27))
    shifts = copies.aspect_span[:, 0]  # the aspect is the first word
    assert 0 in shifts
    assert shifts.max() > 0
    for row, (index, shift) in enumerate(zip(copies.index.tolist(), shifts.tolist(), strict=True)):
        expected = task.supervision.expected[index]
        assert task.supervision.supervised[index].nonzero().tolist() == [[shift + 1]]
        origin = int(expected[shift + 1])
        assert rows.labels[origin] == copies.labels[row]
    assert task.weights[:18].tolist() == [1.0] * 18
    assert task.weights[18:].tolist() == task.supervision.weights[18:].tolist() == [0.5] * 9


def test_epochs_differ_and_each_is_drawn_alike_again(contrast_task: Task) -> None:
    task = reserve_copies(contrast_task)
    first, second = (rows_of_epoch(task, epoch) for epoch in (1, 2))
    assert len(first) == len(second) == 27
    assert not torch.equal(first.widths, second.widths)
    assert torch.equal(rows_of_epoch(task, 1).widths, first.widths)
    assert count_steps(task, SETTINGS, 3) == 7 + 7 + 7


def test_a_stopped_training_resumes_alike(contrast_task: Task) -> None:
    whole, resumed, store = new_model(), new_model(), Memory()
    fit(whole, contrast_task, SETTINGS, 3)
    with pytest.raises(KeyboardInterrupt):
        fit(new_model(), contrast_task, SETTINGS, 3, store, Interrupting(1))
    fit(resumed, contrast_task, SETTINGS, 3, store)
    assert torch.equal(parameters(whole), parameters(resumed))
    plain = new_model()
    fit(plain, replace(contrast_task, contrast=None), SETTINGS, 3)
    assert not torch.equal(parameters(whole), parameters(plain))
