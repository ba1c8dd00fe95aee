"""The folder as a registry, and numbers of parameters counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from pssa import models
from pssa.errors import InputError
from pssa.models import WordTable

# One direction of an LSTM from 6 values to 3: 4 gates of 3 x (6 + 3) weights and two biases.
LSTM = 4 * 3 * (6 + 3) + 2 * 4 * 3
MERGE, GATE = 12 * 6 + 6, 6 * 6 + 6
BODY = 4 * LSTM + MERGE + GATE
HEAD = 6 * 3 + 3


def test_the_files_of_the_folder_are_the_models() -> None:
    assert {"memnet", "tnet", "tnet_att"} <= set(models.names())
    assert not any(name.startswith("_") for name in models.names())
    assert list(models.names()) == sorted(models.names())


def test_only_models_with_attention_weights_attend() -> None:
    assert [models.attends(name) for name in ("memnet", "tnet", "tnet_att")] == [True, False, True]


def test_an_unknown_model_is_refused_with_the_known_ones(table: WordTable) -> None:
    with pytest.raises(InputError, match=r"unknown model 'memnett'; known: .*memnet, tnet, tnet_att"):
        models.build("memnett", table, 3, {}, seed=0)
    with pytest.raises(InputError, match="unknown model '_tnet'"):
        models.option_defaults("_tnet")


def test_the_paper_is_the_default() -> None:
    assert models.option_defaults("memnet")["dropout"] == 0.3
    assert models.option_defaults("memnet")["aspect_matrix"] is False
    assert models.option_defaults("tnet")["filters"] == 50
    assert models.option_defaults("tnet_att") == {
        "hidden": 50,
        "tied": False,
        "gating": "adaptive",
        "train_embeddings": False,
        "dropout": 0.3,
        "initial_bound": 0.01,
        "attend_aspect": False,
    }


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("memnet", {"train_embeddings": False}, 6 * 6 + HEAD),
        ("memnet", {"train_embeddings": False, "aspect_matrix": True}, 2 * 6 * 6 + HEAD),
        ("tnet_att", {"hidden": 3}, BODY + HEAD),
        ("tnet_att", {"hidden": 3, "tied": True}, BODY - 2 * LSTM + HEAD),
        ("tnet_att", {"hidden": 3, "gating": "lossless"}, BODY - GATE + HEAD),
        ("tnet", {"hidden": 3, "filters": 4}, BODY + (4 * 6 * 3 + 4) + (4 * 3 + 3)),
    ],
)
def test_the_number_of_parameters_is_the_one_counted_by_hand(
    name: str, options: dict[str, Any], expected: int, table: WordTable
) -> None:
    assert models.count_parameters(models.build(name, table, 3, options, seed=0)) == expected


@pytest.mark.parametrize(("name", "copies"), [("memnet", 3), ("tnet", 1), ("tnet_att", 1)])
def test_trained_embeddings_count_the_training_words_alone(name: str, copies: int, table: WordTable) -> None:
    def count(trained: bool) -> int:
        return models.count_parameters(models.build(name, table, 3, {"train_embeddings": trained}, seed=0))

    assert count(True) - count(False) == copies * table.n_trained * 6
    assert table.n_trained == len(table.matrix) - 2
