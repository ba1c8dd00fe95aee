"""Variants: what is reversed, what stays, and where none is made."""

from __future__ import annotations

import hashlib

import pytest

from pssa.data import embedded
from pssa.data.evidence import ACTIVE, Evidence, Finding, Header
from pssa.data.example import Corpus, Example, sentence_key
from pssa.data.tokenize import split_on_space
from pssa.stress import KINDS, make_variants
from pssa.stress.variants import VERSION


def instance(text: str, aspect: str, label: str = "positive") -> Example:
    start = text.index(aspect)
    return Example.from_text(text, (start, start + len(aspect)), label=label, id="same")


def variant_of(kind: str, *examples: Example, words: dict[int, list[str]] | None = None) -> str | None:
    """Return the variant of the first example; `words` are marked opinion words by example."""
    corpus = Corpus(examples)
    found = make_variants(corpus, None if words is None else marked(corpus, words))
    return next((each.example.text for each in found.variants if each.kind == kind and each.index == 0), None)


def marked(corpus: Corpus, words: dict[int, list[str]]) -> Evidence:
    findings = [
        [
            Finding(example.words.index(word), ACTIVE, 1, 0.0, 1.0, str(example.label), str(example.label))
            for word in words.get(index, ())
        ]
        for index, example in enumerate(corpus)
    ]
    return Evidence.from_findings(Header("human", "human", None, 1, corpus.hash(), 0, "marks"), corpus, findings)


@pytest.mark.parametrize(
    ("text", "aspect", "label", "expected"),
    [
        ("The food was good.", "food", "positive", "The food was bad."),
        ("Good food.", "food", "positive", "Bad food."),
        ("GREAT food", "food", "positive", "TERRIBLE food"),
        ("They serve a great dessert.", "dessert", "positive", "They serve a terrible dessert."),
        ("It is an awful screen.", "screen", "negative", "It is a great screen."),
        ("We had a wonderful, amazing waiter.", "waiter", "positive", "We had a terrible, awful waiter."),
        ("The screen is not good.", "screen", "negative", "The screen is good."),
        ("The screen isn't that good.", "screen", "negative", "The screen is good."),
        ("the screen is n't good .", "screen", "negative", "the screen is good ."),
        ("the screen isn ' t good at all .", "screen", "negative", "the screen is good ."),
        ("I don't like the keyboard.", "keyboard", "negative", "I like the keyboard."),
        ("She did not enjoy the soup.", "soup", "negative", "She enjoyed the soup."),
        ("The fan does not work well.", "fan", "negative", "The fan works well."),
        ("It ran with no problems, said support.", "support", "positive", "It ran with many problems, said support."),
        ("I highly recommend the fish.", "fish", "positive", "I strongly advise against the fish."),
        ("The price is worth it.", "price", "positive", "The price is not worth it."),
        ("The service was a bit slow.", "service", "negative", "The service was fast."),
        ("The desserts are their best.", "desserts", "positive", "The desserts are their worst."),
    ],
)
def test_the_opinion_on_the_target_is_reversed(text: str, aspect: str, label: str, expected: str) -> None:
    assert variant_of("reverse_target", instance(text, aspect, label)) == expected


@pytest.mark.parametrize(
    ("text", "aspect", "label"),
    [
        ("The food was good.", "food", "neutral"),  # nothing to reverse
        ("The food was good.", "food", "negative"),  # the lexicon and the label disagree
        ("The food could be good.", "food", "positive"),
        ("The food is too good.", "food", "positive"),
        ("Was the food good?", "food", "positive"),
        ("The food was good, although I waited.", "food", "positive"),
        ("I do not think the food was good.", "food", "negative"),
        ("Nothing about the food was good.", "food", "negative"),
        ("They have desserts as well.", "desserts", "positive"),
        ("It looks like a keyboard.", "keyboard", "positive"),
        ("The hard drive has problems.", "hard drive", "negative"),  # nothing reverses a problem
        ("The pasta was good and I will rave about it.", "pasta", "positive"),  # one of two could be reversed
    ],
)
def test_no_variant_is_made_where_none_is_safe(text: str, aspect: str, label: str) -> None:
    assert variant_of("reverse_target", instance(text, aspect, label)) is None


def test_only_the_target_is_reversed_and_but_follows_suit() -> None:
    text = "The food was great but the service was slow."
    food, service = instance(text, "food"), instance(text, "service", "negative")
    assert variant_of("reverse_target", food, service) == "The food was terrible and the service was slow."
    assert variant_of("reverse_others", food, service) == "The food was great and the service was fast."
    text = "Great food and a friendly waiter."
    both = instance(text, "food"), instance(text, "waiter")
    assert variant_of("reverse_target", *both, words={0: ["Great"], 1: ["friendly"]}) == (
        "Terrible food but a friendly waiter."
    )
    assert variant_of("reverse_others", *both, words={0: ["Great"], 1: ["friendly"]}) == (
        "Great food but an unfriendly waiter."
    )


def test_a_shared_opinion_is_never_reversed_for_the_others_alone() -> None:
    text = "The food and service were great."
    both = instance(text, "food"), instance(text, "service")
    words = {0: ["great"], 1: ["great"]}
    assert variant_of("reverse_others", *both, words=words) is None
    assert variant_of("reverse_target", *both, words=words) == "The food and service were terrible."


def test_words_that_depend_on_their_noun_are_reversed_only_where_marked() -> None:
    long = instance("It has a long battery life.", "battery life")
    assert variant_of("reverse_target", long) is None
    assert variant_of("reverse_target", long, words={0: ["long"]}) == "It has a short battery life."
    steady = instance("The signal is steady.", "signal")
    assert variant_of("reverse_target", steady, words={0: ["steady"]}) == "The signal is unsteady."
    odd = instance("The screen is purple.", "screen")
    assert variant_of("reverse_target", odd, words={0: ["purple"]}) is None


def test_a_clause_of_the_file_with_the_opposite_opinion_follows() -> None:
    target = instance("The pizza was great.", "pizza")
    other = instance("The service was slow.", "service", "negative")
    assert variant_of("add_opposite", target, other) == "The pizza was great. But the service was slow."
    tokens = instance("the pizza was great", "pizza")
    assert variant_of("add_opposite", tokens, other) == "the pizza was great, but the service was slow."
    same_topic = instance("The pasta was awful.", "pasta", "negative")
    assert variant_of("add_opposite", target, same_topic) is None
    plural = instance("The drinks were awful.", "drinks", "negative")
    assert variant_of("add_opposite", target, plural) == "The pizza was great. But the drinks were awful."
    half = instance("The sushi and the service were awful.", "service", "negative")
    assert variant_of("add_opposite", target, half) is None  # "the service were"


def test_plain_variants_keep_the_label_the_aspect_and_every_opinion() -> None:
    example = instance("The keyboard of this machine is great.", "keyboard")
    found = {each.kind: each.example for each in make_variants(Corpus((example,))).variants}
    assert {"typos", "case", "add_neutral"} <= found.keys()
    for kind in ("typos", "case", "add_neutral"):
        assert (found[kind].label, found[kind].aspect_text.lower()) == ("positive", "keyboard")
        assert "great" in found[kind].text.lower()
        assert found[kind].text != example.text
    assert sorted(found["typos"].text) == sorted(example.text)
    assert found["add_neutral"].text.startswith(example.text)


def test_variants_are_the_same_each_time_and_split_as_their_original() -> None:
    text = "the food does n't taste bad ."
    tokens = Example.from_spans(
        text, split_on_space(text), (4, 8), label="positive", id="1", sentence_id=sentence_key(text)
    )
    corpus = Corpus((tokens, instance("The waiter was rude.", "waiter", "negative")))
    first = make_variants(corpus)
    assert first == make_variants(corpus)
    reversed_one = first.variants[0].example
    assert (reversed_one.text, reversed_one.label) == ("the food tastes bad .", "negative")
    assert reversed_one.words == ("the", "food", "tastes", "bad", ".")
    assert first.counts().keys() == set(KINDS)


def test_no_variant_has_a_label_that_was_not_declared() -> None:
    corpus = Corpus((instance("The food was good.", "food"),), ("positive", "other"))
    assert {each.example.label for each in make_variants(corpus).variants} == {"positive"}


def test_other_variants_need_another_version() -> None:
    found = make_variants(embedded.load("test").select(range(80))).variants
    text = "".join(f"{each.index} {each.kind} {each.example.text} {each.example.label}\n" for each in found)
    digests = {1: "04400a5a343c4874"}
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digests[VERSION], (
        "raise VERSION, and judge and measure again"
    )
