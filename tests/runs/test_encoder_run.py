"""Runs whose models read pieces of words with a pretrained encoder: what they keep, and what they need to be loaded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.runs.interrupted import interrupt

import pssa
from pssa.data.evidence_file import read_evidence
from pssa.data.example import Corpus, Example
from pssa.errors import InputError
from pssa.runs.explain import explain
from pssa.runs.featurizer import PieceFeaturizer
from pssa.runs.prepared_data import prepare
from pssa.runs.settings import Config
from pssa.runs.training_run import finish_run

TrainTiny = Callable[..., Path]
TEXT, ASPECT = "so so the screen of number 7 is great.", "screen"


@pytest.fixture(scope="module")
def run(train_tiny: TrainTiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that mined, to be read only."""
    out = tmp_path_factory.mktemp("runs") / "encoder"
    return train_tiny(out, model="bertabsa_att", method="pg-as", iterations=2, epsilon=9.0)


def test_a_run_keeps_configuration_and_tokenizer_and_its_card_names_no_path(run: Path, encoder: Path) -> None:
    kept = {path.name for path in run.iterdir()}
    assert {"model.safetensors", "model.json", "encoder", "evidence.jsonl"} <= kept
    assert "vocabulary.json" not in kept
    assert {"config.json", "tokenizer.json"} <= {path.name for path in (run / "encoder").iterdir()}
    assert not list((run / "encoder").glob("*.safetensors"))
    card = (run / "README.md").read_text()
    assert f"| encoder | `{encoder.name}` |" in card
    assert str(encoder) not in card


def test_a_run_loads_where_its_encoder_is_gone_and_so_does_its_initial_model(run: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(run, tmp_path / "moved")
    config = (moved / "config.toml").read_text()
    (moved / "config.toml").write_text(config.replace(str(Config.from_toml(run / "config.toml").data.encoder), "/gone"))
    assert pssa.load(moved).predict(TEXT, ASPECT) == pssa.load(run).predict(TEXT, ASPECT)
    initial = pssa.load(run / "stages" / "initial")
    assert initial.name == "bertabsa_att"
    assert initial.predict(TEXT, ASPECT) != pssa.load(run).predict(TEXT, ASPECT)


def test_evidence_speaks_of_words(run: Path, corpus: Corpus) -> None:
    evidence = read_evidence(run / "evidence.jsonl")
    evidence.check_corpus(corpus)
    assert evidence.header.iterations == 2
    found = [finding for example in evidence.examples for finding in example.findings]
    assert {finding.iteration for finding in found} == {1, 2}
    assert all(finding.word < len(example.words) for example in evidence.examples for finding in example.findings)


def test_evidence_of_pieces_speaks_of_pieces(train_tiny: TrainTiny, tmp_path: Path, corpus: Corpus) -> None:
    settings: dict[str, Any] = {"model": "bertabsa_att", "method": "aw-as", "unit": "piece", "iterations": 1}
    out = train_tiny(tmp_path / "run", epochs=1, epsilon=9.0, **settings)
    evidence = read_evidence(out / "evidence.jsonl")
    longer = [len(pieces.words) - len(example.spans) for pieces, example in zip(evidence.examples, corpus, strict=True)]
    assert max(longer) > 0
    with pytest.raises(InputError):
        evidence.check_corpus(corpus)
    again = train_tiny(
        tmp_path / "again", model="bertabsa_att", unit="piece", epochs=1, evidence=str(out / "evidence.jsonl")
    )
    assert (again / "model.safetensors").read_bytes() == (out / "model.safetensors").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("refine", ["random_head", "smallest_entropy", "average"])
@pytest.mark.parametrize("model", ["bertabsa", "bertabsa_cls"])
def test_self_attention_is_mined_and_supervised(train_tiny: TrainTiny, tmp_path: Path, model: str, refine: str) -> None:
    settings: dict[str, Any] = {"model": model, "method": "pg-as", "refine": refine, "iterations": 1, "epsilon": 9.0}
    out = train_tiny(tmp_path / "run", epochs=1, **settings)
    assert read_evidence(out / "evidence.jsonl").header.saliency == "self_attention"
    initial, final = (load_file(folder / "model.safetensors") for folder in (out / "stages" / "initial", out))
    assert not all(torch.equal(initial[name], final[name]) for name in initial)
    assert pssa.load(out).predict(TEXT, ASPECT).label in ("positive", "negative", "neutral")


def test_without_refinement_there_is_nothing_to_supervise_or_to_score_by(train_tiny: TrainTiny, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"passes nothing on .*options\.refine"):
        train_tiny(tmp_path / "run", model="bertabsa", method="pg-as")
    assert not (tmp_path / "run").exists()
    with pytest.raises(InputError, match="saliency self_attention needs a model"):
        train_tiny(tmp_path / "run", model="bertabsa_att", method="pg-as", saliency="self_attention")


@pytest.mark.slow
def test_an_ensemble_of_encoders_loads(train_tiny: TrainTiny, tmp_path: Path) -> None:
    out = train_tiny(tmp_path / "run", model="bertabsa_cls", method="boosting", epochs=1)
    assert len(pssa.load(out).torch.members) == 5


def test_a_run_is_not_resumed_with_other_weights(train_tiny: TrainTiny, encoder: Path, tmp_path: Path) -> None:
    own = shutil.copytree(encoder, tmp_path / "own")
    interrupt(train_tiny, tmp_path / "run", 1, model="bertabsa", encoder=str(own))
    weights = load_file(own / "model.safetensors")
    save_file({name: tensor + 1 for name, tensor in weights.items()}, own / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match="not those the run began with"):
        finish_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "bertabsa"}, "needs a pretrained encoder"),
        ({"model": "bertabsa", "encoder": ".", "vectors": "glove.txt"}, "does not use vectors"),
        ({"model": "memnet", "encoder": "."}, "model memnet reads words and does not use encoder"),
        ({"model": "memnet", "unit": "piece"}, "model memnet reads words and does not use unit piece"),
    ],
)
def test_what_does_not_go_together_is_refused(corpus: Corpus, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        prepare(corpus, None, Config().updated(settings))


def test_a_sentence_that_is_too_long_is_read_around_its_aspect_and_the_user_is_told(run: Path) -> None:
    classifier = pssa.load(run)
    assert isinstance(classifier.torch.featurizer, PieceFeaturizer)
    text = "so " * 200 + "the screen is great"
    start = text.index("screen")
    with pytest.warns(UserWarning, match="1 of 1 sentences are longer than 128"):
        corpus = classifier.torch.index([Example.from_text(text, (start, start + 6))])
    assert corpus.table.positions.shape == (1, 128)
    # The first words are out of the window; the words around the aspect are in it.
    assert corpus.table.candidates[0, [0, -4, -3, -2, -1]].tolist() == [False, True, False, True, True]


def test_fewer_pieces_can_be_asked_for_and_are_remembered(train_tiny: TrainTiny, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="longer than 8 pieces"):
        out = train_tiny(tmp_path / "run", model="bertabsa", max_pieces=8, epochs=1)
    assert json.loads((out / "model.json").read_text())["max_pieces"] == 8
    with pytest.warns(UserWarning, match="longer than 8 pieces"):
        pssa.load(out).predict(TEXT, ASPECT)


def test_a_wrong_encoder_is_found_before_writing(train_tiny: TrainTiny, encoder: Path, tmp_path: Path) -> None:
    own = shutil.copytree(encoder, tmp_path / "own")
    weights = load_file(own / "model.safetensors")
    weights.popitem()
    save_file(weights, own / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match="tensors are missing"):
        train_tiny(tmp_path / "run", model="bertabsa", encoder=str(own))
    with pytest.raises(InputError, match="max_pieces is 9999"):
        train_tiny(tmp_path / "run", model="bertabsa", max_pieces=9999)
    assert not (tmp_path / "run").exists()


def test_a_run_that_speaks_of_pieces_explains_pieces(train_tiny: TrainTiny, tmp_path: Path) -> None:
    out = train_tiny(tmp_path / "run", model="bertabsa_att", unit="piece", epochs=1)
    start = TEXT.index(ASPECT)
    example = Example.from_text(TEXT, (start, start + len(ASPECT)))
    (explanation,) = explain(pssa.load(out), [example])
    assert len(explanation.words) > len(example.words)
    assert len(explanation.shares) == len(explanation.words)
    assert sum(explanation.shares) == pytest.approx(1)


@pytest.mark.slow
def test_an_interrupted_run_looks_at_the_head_that_its_seed_drew(train_tiny: TrainTiny, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"model": "bertabsa", "refine": "random_head"}
    shares = set()
    for seed in range(4):
        out = tmp_path / str(seed)
        interrupt(train_tiny, out, 1, seed=seed, **settings)
        with pytest.warns(UserWarning, match="not a finished run"):
            found = pssa.load(out).torch.model.get_buffer("encoder.refinement.share")
        torch.testing.assert_close(found, pssa.load(finish_run(out)).torch.model.get_buffer("encoder.refinement.share"))
        shares.add(tuple(found.tolist()))
    assert len(shares) == 2  # of two heads, each was drawn


@pytest.mark.slow
def test_a_resumed_run_reads_with_its_own_tokenizer(train_tiny: TrainTiny, encoder: Path, tmp_path: Path) -> None:
    own = shutil.copytree(encoder, tmp_path / "own")
    train_tiny(tmp_path / "undisturbed", model="bertabsa", encoder=str(own))
    interrupt(train_tiny, tmp_path / "run", 1, model="bertabsa", encoder=str(own))
    tokenizer = json.loads((own / "tokenizer.json").read_text())
    words = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = dict(zip(words, reversed(words.values()), strict=True))
    (own / "tokenizer.json").write_text(json.dumps(tokenizer))
    finish_run(tmp_path / "run")
    first, second = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("run", "undisturbed"))
    assert first == second


def test_a_run_whose_encoder_is_gone_says_what_it_needs(train_tiny: TrainTiny, encoder: Path, tmp_path: Path) -> None:
    own = shutil.copytree(encoder, tmp_path / "own")
    interrupt(train_tiny, tmp_path / "run", 1, model="bertabsa", encoder=str(own))
    shutil.rmtree(own)
    with pytest.raises(InputError, match=f"run needs its encoder, {own}"):
        finish_run(tmp_path / "run")


def test_development_data_chooses_an_encoders_epochs(train_tiny: TrainTiny, corpus: Corpus, tmp_path: Path) -> None:
    out = train_tiny(tmp_path / "run", model="bertabsa", dev=corpus.select(range(6)), epochs=0, max_epochs=2)
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["dev"] is not None
    assert metrics["epochs"] in (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bertabsa_att", "bertabsa_cls"])
def test_a_run_answers_almost_the_same_in_half_the_space(train_tiny: TrainTiny, tmp_path: Path, model: str) -> None:
    out = train_tiny(tmp_path / "run", model=model, epochs=1)
    exact, narrow = pssa.load(out), pssa.load(out, precision="bfloat16")
    assert {parameter.dtype for parameter in narrow.torch.model.encoder.body.parameters()} == {torch.bfloat16}  # type: ignore[union-attr]
    first, second = (classifier.predict(TEXT, ASPECT).probabilities for classifier in (exact, narrow))
    assert first != second
    assert first == pytest.approx(second, abs=0.05)
    with pytest.raises(InputError, match="precision is 'half'"):
        pssa.load(out, precision="half")
