"""What the ready model learns from, and that no test is among it."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from pssa.aspects.sentences import split_sentences

FOLDERS = ("amazon", "roast", "mams", "tsa_md", "laptop", "rest", "aspect_terms")


@pytest.fixture
def corpora(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "scripts"))
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
