"""Trainings that start from a trained run or from sentences that show the labels: what they keep, add and refuse."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.runs.interrupted import Interrupting, contents

import pssa
from pssa.data.example import Corpus, Example
from pssa.errors import InputError
from pssa.evaluation import predict_logits
from pssa.runs import Config
from pssa.runs.featurizer import WordFeaturizer
from pssa.runs.prepared_data import PreparedData, prepare
from pssa.runs.run_context import RunContext
from pssa.runs.saved_model import Description
from pssa.runs.torch_runtime import TorchRuntime
from pssa.runs.training_run import finish_run, write_run
from pssa.runs.warm_start import fit_biases, init_output_layer, merge_settings
from pssa.training import Observer

# Two of the labels that the run knows, at other places, and a new one.
LABELS = ("mixed", "negative", "positive")
_RENAMED = {"positive": "positive", "negative": "negative", "neutral": "mixed"}


def _other(example: Example) -> Example:
    text = example.text.replace("number", "gadget")
    start = text.index(example.aspect_text)
    end = start + len(example.aspect_text)
    return Example.from_text(text, (start, end), label=_RENAMED[example.label or ""], id=example.id)


@pytest.fixture(scope="module")
def further(corpus: Corpus) -> Corpus:
    """Twelve instances with a word and a label that the finished run does not know."""
    return Corpus(tuple(map(_other, corpus.examples[:12])), LABELS)


def begin(data: Corpus, run: Path, **settings: Any) -> tuple[Config, PreparedData]:
    config = merge_settings(Config(), {"from_pretrained": str(run), "device": "cpu", **settings})
    return prepare(data, None, config)


def test_known_words_keep_their_rows_and_new_ones_are_added(finished_run: Path, further: Corpus) -> None:
    config, prepared = begin(further, finished_run)
    assert (config.model, config.data.dimension) == ("memnet", 8)
    old, featurizer = pssa.load(finished_run), prepared.featurizer
    assert isinstance(featurizer, WordFeaturizer)
    assert isinstance(old.torch.featurizer, WordFeaturizer)
    assert prepared.start is not None
    before, after = old.torch.featurizer.vocabulary, featurizer.vocabulary
    assert "gadget" in after.training_words
    assert set(before.words) < set(after.words)
    weights = old.torch.model.state_dict()
    for name in ("memory", "aspect", "words"):  # three tables that training has made different
        places = [after.index(word) for word in before.training_words]
        known = [before.index(word) for word in before.training_words]
        assert torch.equal(prepared.start[name][places], weights[name][known])
    assert prepared.start["words"][after.index("gadget")].abs().max() > 0
    assert torch.equal(prepared.start["match"], weights["match"])


def test_a_joint_model_is_no_start_of_another() -> None:
    with pytest.raises(InputError, match=r"starter is a joint model.*from_pretrained"):
        merge_settings(Config(), {"from_pretrained": "starter", "method": "pg-as"})


def test_labels_are_matched_by_name(finished_run: Path, further: Corpus) -> None:
    _, prepared = begin(further, finished_run)
    assert prepared.start is not None
    weights, found = pssa.load(finished_run).torch.model.state_dict(), prepared.start
    for name in ("output.weight", "output.bias"):
        assert torch.equal(found[name][1:], weights[name][[1, 0]])
    assert not torch.equal(found["output.weight"][0], weights["output.weight"][2])


def test_new_words_take_rows_of_a_vector_file(finished_run: Path, further: Corpus, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("gadget 1 2 3 4 5 6 7 8\nscreen 8 7 6 5 4 3 2 1\nunheard 0 0 0 0 0 0 0 1\n")
    _, prepared = begin(further, finished_run, vectors=str(vectors))
    assert isinstance(prepared.featurizer, WordFeaturizer)
    assert prepared.start is not None
    words, rows = prepared.featurizer.vocabulary, prepared.start["words"]
    assert rows[words.index("gadget")].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert rows[words.index("screen")].tolist() != [8, 7, 6, 5, 4, 3, 2, 1]
    assert "unheard" in words.words
    vectors.write_text("gadget 1 2 3\n")
    with pytest.raises(InputError, match=r"3 values.* 8"):
        begin(further, finished_run, vectors=str(vectors))


def test_an_untrained_copy_answers_like_its_run(finished_run: Path, corpus: Corpus) -> None:
    config, prepared = begin(corpus, finished_run)
    model = RunContext(config, None, prepared, Observer()).new_model(seed=7)
    old = pssa.load(finished_run)
    copy = pssa.Classifier(TorchRuntime(config.model, corpus.labels, prepared.featurizer, (model.eval(),), (1.0,)))
    assert torch.allclose(copy.torch.probabilities(corpus), old.torch.probabilities(corpus), atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "tnet_att"}, "model is tnet_att.*memnet"),
        ({"dimension": 9}, "dimension is 9.* 8"),
        ({"hops": 2}, "hops is 2.* 3"),
        ({"train_embeddings": False}, "train_embeddings is False"),
        ({"encoder": "minilm"}, "leave out encoder='minilm'"),
        ({"from_digest": "0123"}, "has changed"),
    ],
)
def test_what_contradicts_the_run_is_refused(finished_run: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        merge_settings(Config(), {"from_pretrained": str(finished_run), **settings})


def test_settings_that_weights_do_not_depend_on_may_differ(finished_run: Path) -> None:
    config = merge_settings(Config(), {"from_pretrained": str(finished_run), "options.dropout": 0.1, "dimension": 8})
    assert (config.options["dropout"], config.options["hops"]) == (0.1, 3)
    scratch = merge_settings(Config(), {"model": "memnet"})
    assert scratch == Config().updated({"model": "memnet"})


def test_a_run_without_a_trained_model_is_refused(copied_run: Path) -> None:
    (copied_run / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"no trained model.*resume"):
        merge_settings(Config(), {"from_pretrained": str(copied_run)})


def test_other_labels_are_pointed_out(finished_run: Path, further: Corpus) -> None:
    stars = {"positive": "5", "negative": "1", "mixed": "3"}
    data = Corpus(
        tuple(Example.from_text(e.text, e.aspect_chars, label=stars[e.label or ""]) for e in further), ("1", "3", "5")
    )
    with pytest.warns(UserWarning, match="label_map='1=LABEL'"):
        begin(data, finished_run)


@pytest.mark.slow
def test_an_encoder_run_serves_data_of_other_labels(
    train_tiny: Callable[..., Path], further: Corpus, tmp_path: Path
) -> None:
    source = train_tiny(tmp_path / "source", model="bertabsa_att", epochs=1)
    described = Description.load(source)
    assert described.options["context"] == 3  # since its labels were few
    stars = {"positive": "5", "negative": "1", "mixed": "3"}
    rows = [f"{example.text},{example.aspect_text},{stars[example.label or '']}" for example in further]
    (tmp_path / "mine.csv").write_text("\n".join(["text,aspect,label", *rows]), "utf-8")
    given = {"from_pretrained": str(source), "label_map": "5=positive,1=negative,3=neutral", "occurrence": "first"}
    config, prepared = prepare(tmp_path / "mine.csv", None, merge_settings(Config(), given))
    assert (config.model, config.options["context"], config.data.label_texts) == ("bertabsa_att", 3, None)
    assert prepared.start is not None
    old = pssa.load(source, precision="float32").torch.model.state_dict()
    assert prepared.start.keys() == old.keys()
    assert all(torch.equal(prepared.start[name], old[name]) for name in old)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "method"), [("memnet", "pg-as"), ("tnet_att", "consensus"), ("bertabsa_att", "base")]
)
def test_an_interrupted_run_ends_with_the_same_files_without_the_other(
    train_tiny: Callable[..., Path], further: Corpus, tmp_path: Path, model: str, method: str
) -> None:
    source = train_tiny(tmp_path / "source", model=model)
    settings: dict[str, Any] = {"from_pretrained": source, "method": method, "epochs": 2, "device": "cpu"}
    write_run(further, tmp_path / "undisturbed", **settings)
    with pytest.raises(KeyboardInterrupt):
        write_run(further, tmp_path / "interrupted", observer=Interrupting(3 if method != "base" else 1), **settings)
    shutil.rmtree(source)
    run = finish_run(tmp_path / "interrupted")
    assert contents(run) == contents(tmp_path / "undisturbed")
    saved = Config.from_toml(run / "config.toml")
    assert saved.data.from_pretrained == str(source)
    assert saved.data.from_digest
    assert saved.data.from_digest in (run / "README.md").read_text()
    assert pssa.load(run).labels == LABELS


@pytest.mark.slow
def test_the_command_lets_the_starter_go_on_and_repeats_it(corpus: Corpus, tmp_path: Path) -> None:
    from pssa.cli import main

    corpus.write(tmp_path / "train.jsonl")
    out = tmp_path / "run"
    assert main(["train", "--train", str(tmp_path / "train.jsonl"), "--epochs", "1", "--out", str(out)]) == 0
    assert pssa.load(out).name == "joint"
    again = ["train", "--config", str(out / "config.toml"), "--out", str(tmp_path / "again")]
    assert main(again) == 0
    assert (tmp_path / "again" / "model.safetensors").read_bytes() == (out / "model.safetensors").read_bytes()


GERMAN = {"positive": "{aspect} ist gut", "negative": "{aspect} ist schlecht", "neutral": "{aspect}"}


@pytest.fixture
def context(corpus: Corpus, encoder: Path) -> RunContext:
    return open_context(corpus, encoder)


def open_context(corpus: Corpus, encoder: Path, **settings: Any) -> RunContext:
    chosen = {"model": "bertabsa_att", "encoder": str(encoder), "device": "cpu", **settings}
    config, data = prepare(corpus, None, Config().updated(chosen))
    return RunContext(config, None, data, Observer())


def test_few_english_labels_have_texts_unless_something_else_is_set(corpus: Corpus, encoder: Path) -> None:
    texts = open_context(corpus, encoder).config.data.label_texts
    assert texts is not None
    assert set(texts) == set(corpus.labels)
    settings: dict[str, Any]
    for settings in ({"label_texts": {}}, {"min_steps": 0}, {"preset": "paper"}):
        assert not open_context(corpus, encoder, **settings).config.data.label_texts
    assert open_context(corpus, encoder, label_texts=GERMAN).config.data.label_texts == GERMAN
    foreign = Corpus(tuple(Example.from_text("qwertz uiopü", (0, 6), label=one.label) for one in corpus), corpus.labels)
    assert open_context(foreign, encoder).config.data.label_texts is None


def test_texts_that_cannot_be_used_are_refused(corpus: Corpus, encoder: Path) -> None:
    with pytest.raises(InputError, match="no text for the label neutral"):
        open_context(corpus, encoder, label_texts={key: GERMAN[key] for key in ("positive", "negative")})
    with pytest.raises(InputError, match="model memnet has no encoder"):
        prepare(corpus, None, Config().updated({"model": "memnet", "label_texts": GERMAN}))


def test_each_label_is_most_likely_for_its_own_sentence(context: RunContext) -> None:
    model, sentences = context.new_model().eval(), context.label_sentences
    output = model.get_submodule("output")
    assert isinstance(output, torch.nn.Linear)
    torch.nn.init.zeros_(output.bias)  # which is that of the training data
    logits = predict_logits(model, sentences)
    means = torch.stack([logits[sentences.labels == label].mean(dim=0) for label in range(3)])
    assert (means - means.mean(dim=0)).argmax(dim=1).tolist() == [0, 1, 2]
    torch.testing.assert_close(output.weight.sum(dim=0), torch.zeros(16), atol=1e-5, rtol=0)
    assert model.training is False


def test_models_of_other_seeds_start_alike_and_training_data_gives_the_biases(context: RunContext) -> None:
    model = context.new_model(seed=5)
    before = model.get_parameter("output.bias").clone()
    labels = torch.zeros_like(context.train_data.labels)
    one_sided = replace(context.train_data, table=replace(context.train_data.table, labels=labels))
    init_output_layer(model, context.label_sentences, one_sided)
    after = model.get_parameter("output.bias")
    assert (after - before).argmax() == 0
    assert after.isfinite().all()


def test_biases_do_not_depend_on_the_scale_of_scores_and_make_an_absent_label_rare() -> None:
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(300) % 2
    scores = torch.nn.functional.one_hot(labels, 3) + torch.randn(300, 3, generator=generator)
    scale, bias = fit_biases(scores, labels)
    logits = scores * scale + bias
    assert float((scores * scale).std()) == pytest.approx(2, rel=1e-4)
    assert logits.isfinite().all()
    assert (logits.argmax(dim=1) == 2).sum() < 0.05 * len(labels) < (scores.argmax(dim=1) == 2).sum()
    other_scale, other_bias = fit_biases(40 * scores + 7, labels)
    torch.testing.assert_close((40 * scores + 7) * other_scale + other_bias, logits, atol=1e-2, rtol=0)
