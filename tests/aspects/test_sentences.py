"""Where sentences end: abbreviations, ellipses, lists, emoji, other scripts; and that nothing but white space is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pssa.aspects.sentences import split_review, split_sentences
from pssa.data.reviews import Opinion, Review
from pssa.data.tokenize import tokenize


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t ", []),
        ("One sentence", ["One sentence"]),
        ("Great food. The staff was rude!  Never again?", ["Great food.", "The staff was rude!", "Never again?"]),
        ("great food. the staff was rude", ["great food.", "the staff was rude"]),
        ('He said "wow!" Then we left.', ['He said "wow!"', "Then we left."]),
        ("(It was cold.) We left.", ["(It was cold.)", "We left."]),
        # abbreviations and initials
        ("Dr. Smith and Mrs. Jones came, e.g. for lunch.", ["Dr. Smith and Mrs. Jones came, e.g. for lunch."]),
        (
            "We had beer, wine etc. and left at 9 p.m. on Friday.",
            ["We had beer, wine etc. and left at 9 p.m. on Friday."],
        ),
        ("We had beer, wine etc. The bill was fine.", ["We had beer, wine etc.", "The bill was fine."]),
        ("Ask for J. Miller. He is nice.", ["Ask for J. Miller.", "He is nice."]),
        (
            "Table no. 5 is best. Is it quiet? No. It is loud.",
            ["Table no. 5 is best.", "Is it quiet?", "No.", "It is loud."],
        ),
        ("So did I. The end.", ["So did I.", "The end."]),
        # numbers and addresses
        ("It costs 3.50 at www.shop.com today.", ["It costs 3.50 at www.shop.com today."]),
        # ellipses
        ("The food ... was cold", ["The food ... was cold"]),
        ("The food was... well, cold... Never again…", ["The food was... well, cold...", "Never again…"]),
        ("Wait . . . what", ["Wait . . . what"]),
        # lists and lines
        (
            "Good:\n- screen\n- battery\nBad:\n1. keyboard\n2. price",
            ["Good:", "- screen", "- battery", "Bad:", "1. keyboard", "2. price"],
        ),
        ("a long line that is\nwrapped here. Next.", ["a long line that is\nwrapped here.", "Next."]),
        ("Title\n\nthe text", ["Title", "the text"]),
        ("Pros: light\r\nCons: loud", ["Pros: light", "Cons: loud"]),
        ("Great room.<br /><br>Bad food.", ["Great room.<br />", "<br>", "Bad food."]),
        # no white space after the mark
        ("It was good.The staff was rude!We left.", ["It was good.", "The staff was rude!", "We left."]),
        (
            "Try Booking.Com or ASP.NET or v2.The or example.org now",
            ["Try Booking.Com or ASP.NET or v2.The or example.org now"],
        ),
        # emoji
        ("Loved it 😍😍 Will come back 👍", ["Loved it 😍😍", "Will come back 👍"]),
        ("the 🍕 was great", ["the 🍕 was great"]),
        ("Great!!! 😀 thanks", ["Great!!!", "😀 thanks"]),
        # other scripts
        ("屏幕很好。电池不行！谢谢", ["屏幕很好。", "电池不行！", "谢谢"]),
        ("Еда была холодной. Персонал грубый.", ["Еда была холодной.", "Персонал грубый."]),
        ("खाना अच्छा था। सेवा धीमी थी।", ["खाना अच्छा था।", "सेवा धीमी थी।"]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from(".!?… \n-*1aA\"')😀。"))))
def test_sentences_are_in_order_and_only_white_space_is_left_out(text: str) -> None:
    spans = split_sentences(text)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert all(start < end and text[start:end] == text[start:end].strip() for start, end in spans)
    between = "".join(text[end:start] for end, start in zip(edges[::2], edges[1::2], strict=True))
    assert not between.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "." * 99_999 + "x",
        "a. " * 33_000,
        "\n" * 100_000,
        '\n"' * 50_000,
        "\n\x0b" * 50_000,
        "😀" * 100_000,
        "1. " * 33_000,
        ". " * 50_000 + "x",
        "a-" * 50_000,
        "<br" * 33_000,
    ],
)
def test_long_texts_take_no_long_time(text: str) -> None:
    began = time.process_time()
    spans = split_sentences(text)
    assert all(len(tokenize(text[start:end])) <= 200 for start, end in spans)
    assert time.process_time() - began < 5


def test_a_sentence_without_end_is_cut_at_its_commas_and_no_word_is_cut() -> None:
    text = "the screen is good, but well " * 3000
    found = sentences(text)
    assert all(len(each.split()) <= 200 for each in found)
    assert all(each.endswith(",") for each in found[:-1])
    assert " ".join(found) == text.strip()


def test_opinions_go_to_the_sentence_of_their_aspect() -> None:
    #       0    5         15            29   34
    text = "Dim screen . A loud fan , cheap. Not dim at all!"
    review = Review(
        text,
        (
            Opinion("negative", (4, 10), ((0, 3), (37, 40))),  # one of its words is elsewhere
            Opinion("negative", (20, 23), ((15, 19), (26, 36))),  # words that go on in the next sentence
            Opinion("positive", None, ((33, 40),)),
            Opinion("positive", (26, 36)),  # an aspect in two sentences
            Opinion("positive"),  # of the text as a whole
        ),
        line=3,
        tag="Home",
    )
    sentences, lost = split_review(review)
    assert sentences == [
        Review("Dim screen .", (Opinion("negative", (4, 10), ((0, 3),)),), tag="Home"),
        Review("A loud fan , cheap.", (Opinion("negative", (7, 10), ((2, 6), (13, 19))),), tag="Home"),
        Review("Not dim at all!", (Opinion("positive", None, ((0, 7),)),), tag="Home"),
    ]
    assert lost == {"words_in_another_sentence": 1, "aspect_across_sentences": 1, "implied_without_words": 1}
    assert {each.line for each in sentences} == {3}
    # In a text of one sentence an implied opinion needs no words.
    assert split_review(Review("Best vacuum ever!", (Opinion("positive"),)))[0][0].overall == "positive"
    assert split_review(Review(" ")) == ([], {})
