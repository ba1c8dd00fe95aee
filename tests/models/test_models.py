"""The folder as a registry, and numbers of parameters counted by hand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.models.encoders import tiny_encoder

from pssa import models
from pssa.errors import InputError
from pssa.models import WordTable

# One direction of an LSTM from 6 values to 3: 4 gates of 3 x (6 + 3) weights and two biases.
LSTM = 4 * 3 * (6 + 3) + 2 * 4 * 3
MERGE, GATE = 12 * 6 + 6, 6 * 6 + 6
BODY = 4 * LSTM + MERGE + GATE
HEAD = 6 * 3 + 3


@pytest.mark.parametrize("name", ["bertabsa", "bertabsa_cls"])
def test_refined_self_attention_counts_as_attention(name: str) -> None:
    assert not models.attends(name, {"refine": "none", "dropout": 0.2})
    assert all(models.attends(name, {"refine": way}) for way in ("random_head", "smallest_entropy", "average"))
    with pytest.raises(InputError, match="refine is 'all'; it can be none"):
        models.attends(name, {"refine": "all"})


def test_a_model_refuses_to_start_from_the_wrong_thing(table: WordTable) -> None:
    with pytest.raises(InputError, match="bertabsa_cls reads pairs: it starts from"):
        models.build("bertabsa_cls", table, 3, {}, seed=0)
    with pytest.raises(InputError, match="memnet reads words: it starts from word"):
        models.build("memnet", tiny_encoder(), 3, {}, seed=0)


def test_an_unknown_model_is_refused_with_the_known_ones(table: WordTable) -> None:
    with pytest.raises(InputError, match=r"unknown model 'memnett'; known: .*memnet"):
        models.build("memnett", table, 3, {}, seed=0)
    with pytest.raises(InputError, match="unknown model '_tnet'"):
        models.option_defaults("_tnet")


def test_the_paper_is_the_default_but_for_what_held_out_data_chose() -> None:
    assert models.option_defaults("memnet")["hops"] == 3
    assert models.option_defaults("memnet")["dropout"] == 0.3
    assert models.option_defaults("memnet")["aspect_matrix"] is False
    assert models.option_defaults("tnet")["filters"] == 50
    assert models.option_defaults("bertabsa") == {"dropout": 0.1, "head": "linear", "refine": "none"}
    assert models.option_defaults("bertabsa_att") == {"dropout": 0.1, "context": 0}
    assert models.option_defaults("bertabsa_cls") == {"dropout": 0.1, "pooler": False, "refine": "none"}
    assert models.option_defaults("tnet_att") == {
        "hidden": 50,
        "tied": False,
        "gating": "lossless",
        "train_embeddings": False,
        "dropout": 0.3,
        "initial_bound": 0.05,
        "attend_aspect": False,
    }


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("memnet", {"train_embeddings": False}, 6 * 6 + HEAD),
        ("memnet", {"train_embeddings": False, "aspect_matrix": True}, 2 * 6 * 6 + HEAD),
        ("tnet_att", {"hidden": 3}, BODY - GATE + HEAD),
        ("tnet_att", {"hidden": 3, "tied": True}, BODY - GATE - 2 * LSTM + HEAD),
        ("tnet_att", {"hidden": 3, "gating": "adaptive"}, BODY + HEAD),
        ("tnet", {"hidden": 3, "filters": 4}, BODY - GATE + (4 * 6 * 3 + 4) + (4 * 3 + 3)),
    ],
)
def test_parameters_are_those_counted_by_hand(
    name: str, options: dict[str, Any], expected: int, table: WordTable
) -> None:
    assert models.count_parameters(models.build(name, table, 3, options, seed=0)) == expected


@pytest.mark.parametrize(
    ("name", "options", "head"),
    [
        ("bertabsa", {}, 16 + 16 * 3 + 3),  # the gate has no bias
        ("bertabsa", {"head": "dense"}, 16 + (16 * 16 + 16) + 16 * 3 + 3),
        ("bertabsa", {"refine": "random_head"}, 16 + 16 * 3 + 3),
        ("bertabsa_att", {}, 16 + 16 * 3 + 3),
        ("bertabsa_cls", {}, 16 * 3 + 3),
        ("bertabsa_cls", {"pooler": True}, (16 * 16 + 16) + 16 * 3 + 3),
    ],
)
def test_an_encoder_gets_a_small_head_and_no_pooler(name: str, options: dict[str, Any], head: int) -> None:
    encoder = tiny_encoder()
    norm, dense = 2 * 16, 16 * 16 + 16
    layer = 4 * dense + (16 * 24 + 24) + (24 * 16 + 16) + 2 * norm
    body = (encoder.config.vocab_size + 128 + 2) * 16 + norm + 2 * layer
    assert models.count_parameters(models.build(name, encoder, 3, options, seed=0)) == body + head


@pytest.mark.parametrize(("name", "copies"), [("memnet", 3), ("tnet", 1), ("tnet_att", 1)])
def test_trained_embeddings_count_the_training_words_alone(name: str, copies: int, table: WordTable) -> None:
    def count(trained: bool) -> int:
        return models.count_parameters(models.build(name, table, 3, {"train_embeddings": trained}, seed=0))

    assert count(True) - count(False) == copies * table.n_trained * 6
    assert table.n_trained == len(table.matrix) - 2
