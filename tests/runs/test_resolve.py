"""Defaults that follow from model and method, combinations that are refused, settings that are not used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pssa.data.example import Corpus, Example
from pssa.errors import InputError
from pssa.runs import Config, methods, mine, train
from pssa.runs.resolve import (
    check_mining,
    check_supervision,
    loop_settings,
    resolve,
    unused_settings,
    warn_of_absent_labels,
    warn_of_unused,
)
from pssa.runs.settings import non_default_settings


def config(**changes: Any) -> Config:
    return Config().updated(changes)


def check_both(given: Config) -> None:
    check_mining(given)
    check_supervision(given)


def test_methods_that_mine_are_known() -> None:
    assert methods.mining_names() == ("aw-as", "pg-as", "rm-as", "consensus")


@pytest.mark.parametrize(
    ("model", "method"),
    [
        *(("memnet", name) for name in methods.names()),
        *(("tnet", name) for name in ("base", "kt", "boosting", "adaboost")),
    ],
)
def test_every_method_goes_with_attention_and_those_without_supervision_with_any_model(model: str, method: str) -> None:
    check_both(config(model=model, method=method))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"model": "tnet", "method": "aw-as"}, "method aw-as needs a model that attends: .*memnet, tnet_att"),
        ({"model": "tnet", "method": "consensus"}, "model tnet has no attention"),
        ({"model": "tnet", "evidence": "e.jsonl"}, "model tnet has no attention"),
        ({"method": "pg-as", "evidence": "e.jsonl"}, "needs method base; pg-as mines"),
        ({"start": "anew"}, "start is 'anew'; it can be continue or restart"),
        ({"words": "all"}, "words is 'all'; it can be both, active, misleading"),
        ({"penalty": "strict"}, "penalty is 'strict'; it can be tuned, letter, release"),
        ({"gamma": -2.0}, r"gamma is -2\.0; it must be at least 0"),
        ({"gamma": float("nan")}, "gamma is nan"),
        ({"gamma": float("inf")}, "gamma is inf"),
        ({"iterations": 0}, "iterations is 0; it must be at least 1"),
        ({"round_epochs": -1}, "round_epochs is -1; it must be at least 0"),
        ({"folds": 1}, r"folds is 1; it can be 0 \(no cross-fitting\) or at least 2"),
        ({"folds": -2}, "folds is -2"),
        ({"saliency": "grad"}, "unknown saliency 'grad'; known: attention,.* gradient"),
        ({"epsilon": 0.0}, r"epsilon is 0\.0; it must be greater than 0"),
        ({"consensus_models": 0}, "consensus_models is 0; it must be at least 1"),
        ({"consensus_folds": 1}, "consensus_folds is 1; it must be at least 2"),
        ({"weighting": "even"}, "weighting is 'even'; it can be equal, round, score, confidence"),
        ({"weighting": "score", "penalty": "release"}, "weighting is 'score', but this penalty"),
        ({"ramp": 1.5}, r"ramp is 1\.5; it must be at most 1"),
        ({"ramp": float("nan")}, "ramp is nan"),
        ({"consensus_right": 4}, "consensus_right is 4; it must be at most consensus_models, 3"),
        ({"consensus_threshold": 1.0}, r"threshold is 1\.0; it is a share"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        check_both(config(**changes))


REFINED = {"model": "bertabsa", "method": "consensus", "options.refine": "random_head"}


@pytest.mark.parametrize("saliency", ["attention", "self_attention"])
def test_models_of_a_consensus_do_not_judge_by_heads_of_their_own(saliency: str) -> None:
    message = (
        f"refine is random_head, and each of the 3 models of a consensus would score by {saliency} of a head of its own"
    )
    with pytest.raises(InputError, match=message):
        check_both(config(**REFINED, saliency=saliency))
    check_both(config(**REFINED))
    check_both(config(**REFINED, saliency=saliency, consensus_models=1, consensus_right=1))
    check_both(config(**REFINED | {"options.refine": "average"}, saliency=saliency))
    check_both(config(**REFINED | {"method": "pg-as"}, saliency=saliency))


def test_what_a_run_filled_in_by_its_method_does_not_outlive_the_method() -> None:
    asked = config(method="pg-as", iterations=3)
    assert resolve(asked).mining.epsilon == 4.0
    assert non_default_settings(resolve(asked)) == {"mining.iterations": 3}
    own = config(method="pg-as", epsilon=2.5)
    assert non_default_settings(resolve(own)) == {"mining.epsilon": 2.5}


def test_a_default_that_depends_on_another_setting_is_told_from_a_choice() -> None:
    chosen = config(model="bertabsa_att", method="pg-as", saliency="attention", penalty="letter")
    found = non_default_settings(resolve(chosen))
    assert found == {"mining.saliency": "attention", "supervision.penalty": "letter"}


@pytest.mark.parametrize(
    ("method", "asked", "unused"),
    [
        ("base", {"iterations": 1, "epsilon": 2.0, "epochs": 1}, ("iterations", "epsilon")),
        ("base", {"gamma": 1.0, "evidence": "e.jsonl"}, ()),
        ("kt", {"supervision.gamma": 1.0}, ("gamma",)),
        ("boosting", {"mining": {"folds": 2}, "data": {"dimension": 3}}, ("folds",)),
        ("aw-as", {"consensus_right": 3, "epsilon": 2.0, "gamma": 1.0}, ("consensus_right",)),
        ("consensus", {"consensus_right": 3, "mining.folds": 2, "gamma": 1.0}, ("folds",)),
        ("consensus", {"saliency": "gradient", "samples": 3}, ()),
    ],
)
def test_what_a_method_makes_no_use_of(method: str, asked: dict[str, Any], unused: tuple[str, ...]) -> None:
    config = Config(method=method).updated(asked)
    assert unused_settings(config, asked) == unused


def test_a_warning_names_what_a_method_ignores_unless_the_method_is_unknown() -> None:
    with pytest.warns(UserWarning, match="method base ignores epsilon, folds"):
        warn_of_unused(Config(), {"epsilon": 2.0, "mining.folds": 2})
    with pytest.warns(UserWarning, match="method aw-as ignores consensus_right"):
        warn_of_unused(Config(method="aw-as"), {"consensus_right": 3})
    with pytest.raises(InputError, match="unknown method 'as'"):
        warn_of_unused(Config(method="as"), {"epsilon": 2.0})


def test_a_training_warns_of_keywords_not_of_its_file(train_tiny: Callable[..., Path], tmp_path: Path) -> None:
    train_tiny(tmp_path / "quiet", epochs=1, config=Config().updated({"epsilon": 2.0}))
    with pytest.warns(UserWarning, match="method base ignores epsilon"):
        train_tiny(tmp_path / "warned", epochs=1, epsilon=2.0)


def test_labels_that_no_training_instance_has_are_named_with_the_remedy(corpus: Corpus) -> None:
    two = Corpus(tuple(example for example in corpus if example.label != "neutral"))
    with pytest.warns(UserWarning, match="neutral, .*labels='positive,negative'$"):
        warn_of_absent_labels(two)
    with pytest.warns(UserWarning, match="instance is conflict, .*conflict='keep'$"):
        warn_of_absent_labels(Corpus(corpus.examples, (*corpus.labels, "conflict")))
    numbers = Corpus(tuple(replace(example, label="-1") for example in corpus.examples), ("-1", "1"))
    with pytest.warns(UserWarning, match="training instance is 1, .*labels='-1'$"):
        warn_of_absent_labels(numbers)
    warn_of_absent_labels(corpus)
    warn_of_absent_labels(Corpus(two.examples, ("negative", "positive")))


def test_training_and_mining_warn_of_labels_that_no_instance_has(corpus: Corpus, tmp_path: Path) -> None:
    two = Corpus(tuple(example for example in corpus if example.label != "neutral"))
    tiny: dict[str, Any] = {"model": "memnet", "dimension": 8, "epochs": 1, "device": "cpu"}
    with pytest.warns(UserWarning, match="no training instance is neutral"):
        train(two, tmp_path / "run", **tiny)
    with pytest.warns(UserWarning, match="no training instance is neutral"):
        mine(two, tmp_path / "evidence.jsonl", method="aw-as", iterations=1, **tiny)


def instances(number: int) -> Corpus:
    """Instances in a language that the starter does not know, so that no training starts from it."""
    texts = (f"wort{place} ding" for place in range(number))
    return Corpus(tuple(Example.from_text(text, (0, text.index(" ")), label="positive") for text in texts))


def lengthened(n_instances: int, **settings: Any) -> Config:
    return resolve(config(**settings), instances(n_instances))


@pytest.mark.parametrize(
    ("model", "n_instances", "epochs"),
    [
        *(("tnet_att", n, epochs) for n, epochs in ((64, 400), (512, 50), (640, 0), (2291, 0))),
        # An encoder takes enough steps: one, 8 and 144 an epoch.
        *(("bertabsa_att", n, epochs) for n, epochs in ((16, 400), (115, 50), (2291, 6))),
    ],
)
def test_little_data_is_not_divided_for_a_search(model: str, n_instances: int, epochs: int) -> None:
    assert lengthened(n_instances, model=model).known_epochs == epochs


@pytest.mark.parametrize("settings", [{"epochs": 3}, {"usual_epochs": 3}, {"max_epochs": 3}, {"min_steps": 0}])
def test_a_length_that_is_set_stays(settings: dict[str, Any]) -> None:
    found, plain = lengthened(16, model="bertabsa_att", **settings), resolve(config(model="bertabsa_att", **settings))
    assert (found.epochs, found.mining) == (plain.epochs, plain.mining)
    assert found.training.max_epochs == plain.training.max_epochs
    assert found.training.usual_epochs == plain.training.usual_epochs


@pytest.mark.parametrize(
    ("n_instances", "settings", "context"),
    [
        *((64, settings, 3) for settings in ({}, {"epochs": 20})),
        (64, {"context": 1}, 1),
        # The model of the paper, and that of a run.
        (2291, {}, None),
        *(
            (64, settings, None)
            for settings in ({"preset": "paper"}, {"from_pretrained": "run"}, {"model": "tnet_att"})
        ),
    ],
)
def test_few_labels_have_a_model_that_reads_around_the_aspect(
    n_instances: int, settings: dict[str, Any], context: int | None
) -> None:
    chosen = lengthened(n_instances, **{"model": "bertabsa_att"} | settings)
    assert (chosen.options.get("context") or None) == context
    assert non_default_settings(chosen).get("options.context") == settings.get("context"), "derived is not chosen"


def test_judges_keep_their_share_of_the_epochs() -> None:
    assert lengthened(115, model="bertabsa_att", method="consensus").mining.consensus_epochs == 25
    assert lengthened(115, model="bertabsa_att", method="consensus", consensus_epochs=4).mining.consensus_epochs == 4
    assert lengthened(115, model="tnet_att", method="consensus").mining.consensus_epochs == 0


def test_development_data_may_search_for_as_long() -> None:
    longer = lengthened(64, model="tnet_att", usual_epochs=0)
    assert (longer.known_epochs, longer.training.max_epochs, longer.training.patience) == (0, 400, 80)


def test_what_follows_from_the_size_of_the_data_is_no_choice_of_the_user() -> None:
    for settings in ({}, {"usual_epochs": 0}, {"method": "consensus"}):
        longer = lengthened(64, model="bertabsa_att", **settings)
        assert longer.training.derived
        found = non_default_settings(longer)
        assert not found.keys() & {"training.derived", *longer.training.derived}
        # So the configuration of one run serves another of any size.
        again = Config(model=longer.model, method=longer.method).updated(found)
        assert resolve(again, instances(5000)).training.derived == ()
    assert non_default_settings(lengthened(64, model="bertabsa_att", patience=9))["training.patience"] == 9


@pytest.mark.parametrize(("is_native", "precision"), [(True, "bfloat16"), (False, "float32")])
def test_encoders_train_in_native_numbers(monkeypatch: pytest.MonkeyPatch, is_native: bool, precision: str) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx512_bf16": is_native}, raising=False)
    encoder = loop_settings(resolve(Config("bertabsa_att")), torch.device("cpu"))
    assert (encoder.precision, encoder.share_sentences) == (precision, True)
    words = loop_settings(resolve(Config("memnet")), torch.device("cpu"))
    assert (words.precision, words.share_sentences) == ("float32", False)


def test_a_run_of_an_earlier_version_goes_on_as_it_began(tmp_path: Path) -> None:
    lines = resolve(Config("bertabsa_att")).to_toml().splitlines()
    (tmp_path / "config.toml").write_text("\n".join(line for line in lines if "share_sentences" not in line))
    assert not loop_settings(Config.from_toml(tmp_path / "config.toml"), torch.device("cpu")).share_sentences
