"""What a run learns from, and that a resumed run reads it back as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pssa.data.example import Corpus, Example
from pssa.data.tokenize import split_on_space
from pssa.errors import InputError
from pssa.runs.directory import RunDirectory
from pssa.runs.featurizer import WordFeaturizer
from pssa.runs.prepared_data import PreparedData, prepare
from pssa.runs.settings import Config

CONFIG = Config().updated({"dimension": 4})


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    """An empty folder for a run."""
    (tmp_path / "run").mkdir()
    return RunDirectory(tmp_path / "run")


def words_of(prepared_data: PreparedData) -> WordFeaturizer:
    assert isinstance(prepared_data.featurizer, WordFeaturizer)
    return prepared_data.featurizer


def test_with_vectors_rows_are_the_files_and_unseen_words_follow(
    corpus: Corpus, tmp_path: Path, directory: RunDirectory
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("unheard 1 2\nscreen 3 4\nlater 5 6\n")
    prepared_data = prepare(corpus, None, CONFIG.updated({"vectors": str(path), "vector_rows": 1}))[1]
    featurizer = words_of(prepared_data)
    assert featurizer.vocabulary.words[featurizer.vocabulary.n_trained :] == ("unheard",)
    rows = featurizer.table.matrix[featurizer.vocabulary.encode(["screen", "unheard"])]
    assert rows.tolist() == [[3.0, 4.0], [1.0, 2.0]]
    assert prepared_data.coverage is not None
    assert prepared_data.coverage.covered_types == 1
    prepared_data.save(directory)
    assert PreparedData.load(directory, CONFIG).coverage == prepared_data.coverage


def test_development_words_do_not_join_the_vocabulary(corpus: Corpus) -> None:
    dev = Corpus((Example.from_text("a splendid screen", (11, 17), label="positive"),))
    assert "splendid" not in words_of(prepare(corpus, dev, CONFIG)[1]).vocabulary.words


def test_materials_are_read_back_as_they_were(corpus: Corpus, directory: RunDirectory) -> None:
    text = "do n't buy 3.5mm jacks"
    tokens = Example.from_spans(text, split_on_space(text), (17, 22), label="negative", id="own", sentence_id="s")
    corpus = replace(corpus, examples=(*corpus.examples, tokens))
    dev = corpus.select([3, 1])
    saved = prepare(corpus, dev, CONFIG)[1]
    saved.save(directory)
    found = PreparedData.load(directory, CONFIG)
    assert found.corpus == corpus
    assert found.dev is not None
    assert found.dev.examples == dev.examples
    words, kept = words_of(saved), words_of(found)
    assert kept.vocabulary == words.vocabulary
    assert torch.equal(kept.table.matrix, words.table.matrix)
    assert kept.table.n_trained == words.table.n_trained


def test_labels_of_ones_own_are_read_back(directory: RunDirectory, corpus: Corpus) -> None:
    labels = ("conflict", "Gut", "schlecht")
    own = tuple(replace(example, label=labels[number % 3]) for number, example in enumerate(corpus))
    config = CONFIG.updated({"labels": labels})
    prepare(Corpus(own, labels), None, config)[1].save(directory)
    assert PreparedData.load(directory, config).corpus.examples == own


def test_what_cannot_be_learned_from_is_refused(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="data has 9 instances; at least 10 are"):
        prepare(corpus.select(range(9)), None, CONFIG)[1]
    examples = (*corpus.examples, replace(corpus[0], id="bare", label=None))
    with pytest.raises(InputError, match="instance bare of the training data has"):
        prepare(Corpus(examples), None, CONFIG)[1]
    alike = corpus.select([row for row in range(24) if corpus[row].label == "neutral"] * 2)
    with pytest.raises(InputError, match="every training instance is neutral; at"):
        prepare(alike, None, CONFIG)[1]
