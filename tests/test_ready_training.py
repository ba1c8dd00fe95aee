"""What the ready model learns from: annotations without the tests, mentions, and what its teachers say."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from tests.models.encoders import write_encoder

from pssa.aspects.sentences import split_sentences
from pssa.data.reviews import Opinion, Review
from pssa.joint.model import JointModel
from pssa.joint.pieces import WordPieces
from pssa.joint.run import runtime_of
from pssa.joint.runtime import FoundSpan
from pssa.models import Pretrained
from pssa.runs.answers import Question

FOLDERS = ("amazon", "roast", "mams", "tsa_md", "laptop", "rest", "aspect_terms")


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "scripts"))


@pytest.fixture
def corpora(scripts: None) -> ModuleType:
    return importlib.import_module("ready.corpora")


def test_texts_and_sentences_of_a_test_are_left_out(corpora: ModuleType, tmp_path: Path) -> None:
    """One training source and one test, made by hand."""
    long = "the two of us have been using it on the kitchen table every day for over a year now"
    training = (
        "The Fan -- is loud .####[([1], [4], 'NEG')]",  # the test's, but for case and punctuation
        f"Frankly , {long} .####[]",  # nearly a text of the test
        "I like the brush . It was delivered on the very next day !####[([3], [1], 'POS'), ([-1], [8, 12], 'POS')]",
        "Works well . A nice brush .####[([5], [4], 'POS')]",
    )
    test = (
        "the fan is loud####[([1], [3], 'NEG')]",
        f"{long} and still####[]",
        "A dim lamp . it was delivered on the very next day####[]",
        "Works well . A dim lamp .####[]",  # an everyday phrase
    )
    (tmp_path / "train.txt").write_text("\n".join(training))
    (tmp_path / "test.txt").write_text("\n".join(test))
    found = corpora.read_training(tmp_path, {"one": ("train.txt",)}, ("test.txt",))
    assert [review.line for review in found.reviews["one"]] == [3, 4]
    assert [each.text for each in found.sentences["one"]] == ["I like the brush .", "Works well .", "A nice brush ."]
    assert found.left_out["one"] == {"text_in_test": 1, "text_nearly_in_test": 1, "sentence_in_test": 1}
    with pytest.raises(SystemExit, match="more"):
        corpora.read_training(tmp_path, {"one": ("train.txt",)}, ("test.txt", "more.txt"))


@pytest.mark.usefixtures("scripts")
def test_a_name_that_is_an_aspect_elsewhere_is_a_mention_where_nobody_marked_it() -> None:
    def opinion(text: str, aspect: str) -> Review:
        start = text.index(aspect)
        return Review(text, (Opinion("positive", (start, start + len(aspect))),))

    marked = [opinion("The cable case is good.", "cable case"), opinion("My cable case is fine.", "cable case")]
    marked += [
        opinion("It works well.", "works"),
        opinion("Still works.", "works"),
        opinion("A cable is good.", "cable"),
    ]
    texts = ("I put it in the cable case, and it works.", "A second cable.", "One cable, the best cable case.")
    sentences = [*marked, *map(Review, texts[:2]), opinion(texts[2], "cable case")]
    found = importlib.import_module("ready.mentions").unmarked_mentions(sentences)
    named = [[each.text[start:end] for start, end in spans] for each, spans in zip(sentences, found, strict=True)]
    # "cable" was marked once, and "works" is no name.
    assert named == [[]] * 5 + [["cable case"], [], []]


@pytest.mark.usefixtures("scripts")
def test_teachers_say_the_mean_of_their_probabilities(tmp_path: Path) -> None:
    training = importlib.import_module("ready.self_training")
    write_encoder(tmp_path)
    pretrained = Pretrained.open(str(tmp_path))
    pieces = WordPieces(pretrained.tokenizer.backend_tokenizer, 64)
    models = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        models.append(JointModel(pretrained.body(None, 0.0), pretrained.dimension, 3).eval())
    texts = ["The food was good.", "It is here and the waiter was bad, very bad."]
    (short, long) = training.teach([training.Teacher(model, pieces) for model in models], texts, pieces)
    for example, text in ((short, texts[0]), (long, texts[1])):
        ids, numbers = example.sentence.ids, len(example.sentence.words)
        runtimes = [runtime_of(model, pieces, ("positive", "negative", "neutral")) for model in models]
        states = [runtime.encode(ids[None], np.ones_like(ids)[None])[0] for runtime in runtimes]
        words = [next(each.states(each.parts([Question(text)]), 1))[2] for each in runtimes]
        tags = np.mean([np.exp(each.tag_chances(mine)[0]) for each, mine in zip(runtimes, words, strict=True)], axis=0)
        assert example.tags == pytest.approx(tags, abs=1e-5)
        spans = [FoundSpan(*span) for span in example.aspects]
        labels, attention = zip(
            *(
                each.label(spans, mine, each.without_opinion(spans, mine))
                for each, mine in zip(runtimes, words, strict=True)
            ),
            strict=True,
        )
        assert np.asarray(example.labels).reshape(-1, 3) == pytest.approx(np.mean(labels, axis=0), abs=1e-5)
        assert np.asarray(example.evidence)[:-1] == pytest.approx(np.mean(attention, axis=0), abs=1e-5)
        whole = [each.overall(own[0], mine)[0] for each, own, mine in zip(runtimes, states, words, strict=True)]
        assert example.overall == pytest.approx(np.mean(whole, axis=0), abs=1e-5)
        assert np.asarray(example.evidence).shape == (len(spans) + 1, numbers)


@pytest.mark.shared
@pytest.mark.slow
def test_no_training_text_is_a_test_text(corpora: ModuleType, shared_data: Path) -> None:
    for name in FOLDERS:
        if not (shared_data / name).is_dir():
            pytest.skip(f"{shared_data / name} is not here")
    found = corpora.read_training(shared_data)
    tests = [*corpora.read_tests(shared_data)]
    assert len(tests) > 9_000
    known = {corpora.normalise(text) for text in tests}
    sentences = {corpora.normalise(text[start:end]) for text in tests for start, end in split_sentences(text)}
    for name, reviews in found.reviews.items():
        assert reviews, name
        assert not [review.text for review in reviews if corpora.normalise(review.text) in known]
        for sentence in found.sentences[name]:
            assert corpora.is_phrase(sentence.text) or corpora.normalise(sentence.text) not in sentences
    # The ten sentences of MAMS that REST test has.
    assert found.left_out["mams"]["text_in_test"] == 10
