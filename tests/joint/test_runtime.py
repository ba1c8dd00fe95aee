"""The answers of the joint model, from an encoder whose states are written down: every number follows by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from pssa.data.reviews import Opinion, Review
from pssa.joint.decoding import choose_decoding
from pssa.joint.pieces import SPECIAL, WordPieces
from pssa.joint.runtime import Decoding, JointRuntime, KeptStates, spans_of
from pssa.runs.answers import Question

# The state of a piece: one place for each thing that a word can be. Of the sixteen, these are used:
ASPECT, MENTION, GOOD, BAD, WHOLE = 0, 1, 2, 3, 4
WIDTH = 16


def make_pieces(words: tuple[str, ...], max_positions: int = 64) -> WordPieces:
    """A tokenizer whose pieces are words; one that it does not know is [UNK]."""
    vocabulary = {word: number for number, word in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    roles = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=roles)
    return WordPieces(tokenizer, max_positions)


def make_runtime(words: dict[str, list[int]]) -> JointRuntime:
    """A model that knows these words: what each is."""
    pieces = make_pieces(tuple(words))
    known = {pieces.tokenizer.token_to_id(word): kinds for word, kinds in words.items()}

    def encode(ids: np.ndarray, present: np.ndarray) -> np.ndarray:
        states = np.zeros((*ids.shape, WIDTH), np.float32)
        for row, place in product(*map(range, ids.shape)):
            for kind in known.get(int(ids[row, place]), []) if present[row, place] else []:
                states[row, place, kind] = 1
        # [CLS] knows whether any word is about the whole.
        states[:, 0, WHOLE] = states[:, 1:, WHOLE].max(1)
        return states

    zeros = {name: np.zeros(shape, np.float32) for name, shape in _shapes().items()}
    tags, label, overall = zeros["tags.weight"], zeros["label.weight"], zeros["overall.weight"]
    tags[0, ASPECT] = tags[2, MENTION] = 20
    zeros["tags.bias"][4] = 10
    # An aspect asks for good and bad words with all its might.
    zeros["aspect_query.bias"][[GOOD, BAD]] = 40
    zeros["overall_query.bias"][[GOOD, BAD]] = 40
    label[0, GOOD] = label[1, BAD] = overall[0, GOOD] = overall[1, BAD] = 8
    overall[3, WIDTH + WHOLE] = -20
    zeros["overall.bias"][3] = 10
    return JointRuntime(encode, zeros, pieces, ("positive", "negative", "neutral"))


def _shapes() -> dict[str, tuple[int, ...]]:
    linear = {"tags": (5, WIDTH), "aspect_query": (WIDTH, WIDTH), "overall_query": (WIDTH, WIDTH)}
    linear |= {"label": (3, 2 * WIDTH), "overall": (4, 2 * WIDTH), "gate": (1, WIDTH)}
    weights = {f"{name}.weight": shape for name, shape in linear.items()}
    return weights | {f"{name}.bias": shape[:1] for name, shape in linear.items() if name != "gate"}


WORDS = {"food": [ASPECT], "water": [MENTION], "good": [GOOD], "bad": [BAD], "love": [GOOD, WHOLE]}
TEXT = "The food was good. The food was bad and the water was here."


@pytest.fixture
def runtime() -> JointRuntime:
    return make_runtime(WORDS)


def test_each_aspect_is_judged_in_its_own_sentence_and_words_of_the_text_say_why(runtime: JointRuntime) -> None:
    first, second = runtime.start([Question(TEXT)])()[0]
    assert (first.aspect, first.start, first.label) == ("food", 4, "positive")
    assert (second.aspect, second.start, second.label) == ("food", 23, "negative")
    assert sum(first.probabilities.values()) == pytest.approx(1)
    assert first.score is not None
    assert first.score > 0.99
    for answer in (first, second):
        top = max(answer.words, key=lambda word: word.share)
        assert TEXT[top.start : top.end] == {"positive": "good", "negative": "bad"}[answer.label]
        assert sum(word.share for word in answer.words) == pytest.approx(1, abs=1e-5)


def test_a_mention_is_answered_on_request(runtime: JointRuntime) -> None:
    with_mentions = replace(runtime, mentions=True).start([Question(TEXT)])()[0]
    assert [(answer.aspect, answer.is_mention) for answer in with_mentions] == [
        ("food", False),
        ("food", False),
        ("water", True),
    ]


def test_an_opinion_about_the_whole_has_no_aspect(runtime: JointRuntime) -> None:
    (answer,) = runtime.start([Question("I love it!")])()[0]
    assert (answer.aspect, answer.start, answer.end, answer.label) == ("", 0, 0, "positive")
    assert max(answer.words, key=lambda word: word.share).start == 2
    assert runtime.start([Question("It is here.")])()[0] == []


def test_named_aspects_are_answered_in_the_order_of_the_question(runtime: JointRuntime) -> None:
    asked = ((23, 27), (4, 8))
    answers = runtime.start([Question(TEXT, asked)])()[0]
    assert [(answer.start, answer.label, answer.score) for answer in answers] == [
        (23, "negative", None),
        (4, "positive", None),
    ]


def test_an_aspect_across_two_sentences_is_read_with_both(runtime: JointRuntime) -> None:
    (answer,) = runtime.start([Question("It was good. Here it is.", ((7, 17),))])()[0]
    assert answer.aspect == "good. Here"


def test_a_bias_to_no_aspect_finds_none(runtime: JointRuntime) -> None:
    none = replace(runtime, decoding=Decoding(outside_bias=30))
    assert none.start([Question(TEXT)])()[0] == []


@pytest.mark.parametrize("text", ["", "   ", "\n", "😀", "<p></p>", "x" * 100_000, "这个很好吃。"])
def test_odd_texts_have_an_answer_of_their_own(runtime: JointRuntime, text: str) -> None:
    assert runtime.start([Question(text), Question("The food was good.")])()[1][0].label == "positive"
    assert runtime.start([Question(text)])()[0] == []


def test_answers_do_not_depend_on_what_else_is_in_the_batch(runtime: JointRuntime) -> None:
    alone = runtime.start([Question(TEXT)])()[0]
    others = [Question(f"The food was {'very ' * n}bad.") for n in range(9)]
    assert replace(runtime, sentences_at_once=4).start([*others, Question(TEXT)])()[-1] == alone


def best_by_trying(chances: np.ndarray) -> float:
    """The best sum of any sequence of B, I and O in which I follows B or I."""
    best = -np.inf
    for tags in product(range(3), repeat=len(chances)):
        allowed = all(tag != 1 or (place > 0 and tags[place - 1] != 2) for place, tag in enumerate(tags))
        if allowed:
            best = max(best, float(sum(chances[place, tag] for place, tag in enumerate(tags))))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_the_spans_are_those_of_the_best_sequence(seed: int) -> None:
    chances = np.log(np.random.default_rng(seed).dirichlet(np.ones(3), size=6)).astype(np.float32)
    tags = np.full(6, 2)
    for first, end in spans_of(chances, 0.0):
        tags[first], tags[first + 1 : end] = 0, 1
    assert float(chances[np.arange(6), tags].sum()) == pytest.approx(best_by_trying(chances), abs=1e-4)


def test_pieces_belong_to_the_word_in_which_they_begin_and_the_last_are_lost_if_too_many() -> None:
    (sentence,) = make_pieces(("food",)).read(["The food was good."])
    inside = sentence.piece_words[sentence.piece_words != SPECIAL]
    assert sentence.piece_words[0] == sentence.piece_words[-1] == SPECIAL
    assert sorted({*inside.tolist()}) == list(range(len(sentence.words)))
    (sentence,) = make_pieces(("food",), 16).read(["food " * 100])
    assert len(sentence.ids) == 16
    assert sentence.piece_words[-1] == SPECIAL


def test_held_out_reviews_choose_a_bias_for_a_rare_label(runtime: JointRuntime) -> None:
    def review(word: str, label: str) -> Review:
        return Review(f"The food was {word}.", (Opinion(label, (4, 8)),))

    # Without a cue all labels are equally likely, and the first is answered.
    reviews = [*[review("good", "positive")] * 30, *[review("bad", "negative")] * 15, *[review("here", "neutral")] * 12]
    chosen = choose_decoding(runtime, [reviews])
    assert chosen.label_biases[2] > max(chosen.label_biases[:2])
    ask = Question("The food was here.", ((4, 8),))
    assert replace(runtime, decoding=chosen).start([ask])()[0][0].label == "neutral"
    assert choose_decoding(runtime, [reviews[:48]]).label_biases == ()  # three are too few to choose by


def test_an_aspect_that_seems_a_mention_is_neutral_whatever_the_words_about_it(runtime: JointRuntime) -> None:
    """The tags of *water* favour a mention by 20, those of *food* an opinion; *good* adds 8 to positive."""
    text = "The water was good. The food was good."
    even, odd = replace(runtime, decoding=Decoding(mention_margin=20.0)), Decoding(mention_margin=40.0)
    water, food = even.start([Question(text, ((4, 9), (24, 28)))])()[0]
    positive = np.exp(8) / (np.exp(8) + 2)
    assert water.probabilities["positive"] == pytest.approx(positive / 2)
    assert water.probabilities["neutral"] == pytest.approx(1 / 2 + (1 - positive) / 4)
    assert food.probabilities["positive"] == pytest.approx(positive)
    surer = replace(runtime, decoding=odd)
    (water,) = surer.start([Question(text, ((4, 9),))])()[0]
    assert (water.label, water.is_mention) == ("positive", False)
    stricter = replace(runtime, decoding=Decoding(mention_margin=10.0))
    (water,) = stricter.start([Question(text, ((4, 9),))])()[0]
    assert (water.label, water.is_mention) == ("neutral", True)
    found = replace(surer, mentions=True).start([Question(text)])()[0]  # nobody named it, so no margin
    assert [(answer.aspect, answer.label) for answer in found] == [("water", "neutral"), ("food", "positive")]
    other = replace(stricter, labels=("good", "bad", "mixed"))  # no label means that there is no opinion
    (water,) = other.start([Question(text, ((4, 9),))])()[0]
    assert (water.label, water.is_mention) == ("good", False)


def test_the_strictest_margin_of_mentions_is_chosen_that_costs_no_opinion(runtime: JointRuntime) -> None:
    def reviews(aspect: str, word: str, label: str) -> list[Review]:
        return [Review(f"The {aspect} was {word}.", (Opinion(label, (4, 4 + len(aspect))),))] * 30

    opinions = reviews("food", "good", "positive") + reviews("food", "bad", "negative")
    mentions = reviews("water", "here", "neutral")
    assert choose_decoding(runtime, [opinions], mentions).mention_margin == 2
    assert choose_decoding(runtime, [opinions]).mention_margin is None  # nothing to learn it from
    started = replace(runtime, decoding=Decoding(mention_margin=4.5))
    assert choose_decoding(started, [opinions]).mention_margin == 4.5  # that of the start, which costs nothing here
    costly = reviews("water", "good", "positive") + reviews("water", "bad", "negative")
    assert choose_decoding(runtime, [costly], costly).mention_margin is None
    assert choose_decoding(started, [costly]).mention_margin is None


def test_a_sentence_is_read_once_whatever_it_stands_beside() -> None:
    asked: list[int] = []

    def encode(ids: Any, present: Any) -> Any:
        asked.append(len(ids))
        return np.repeat(ids[..., None], 2, axis=2).astype(np.float32) * present[..., None]

    kept, plain = KeptStates(encode, most=2), encode
    long, short = np.array([[5, 6, 7]]), np.array([[8, 9]])
    both, present = np.array([[5, 6, 7], [8, 9, 0]]), np.array([[1, 1, 1], [1, 1, 0]])
    for ids, shown in ((long, present[:1]), (short, present[1:, :2]), (both, present), (long, present[:1])):
        assert np.array_equal(kept(ids, shown), plain(ids, shown))
    assert asked == [1, 1, 1, 1, 2, 1]  # of `kept` the first and the third, of `plain` the rest
    other = np.array([[1, 2]])
    for _ in range(2):
        assert np.array_equal(kept(other, present[1:, :2]), plain(other, present[1:, :2]))  # no more are kept
