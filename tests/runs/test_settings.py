"""The configuration: names bare and dotted, presets, TOML there and back, and errors that say what is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pssa.errors import InputError
from pssa.runs.resolve import resolve
from pssa.runs.setting_types import parse_value
from pssa.runs.settings import Config, DataConfig, TrainingConfig


@pytest.mark.parametrize(
    "names", [("patience", "dev_fraction", "hidden"), ("training.patience", "data.dev_fraction", "options.hidden")]
)
def test_values_are_set_by_bare_and_by_dotted_names(names: tuple[str, str, str]) -> None:
    config = Config().updated(dict(zip(names, (3, 0.5, 7), strict=True)))
    assert config.training == TrainingConfig(patience=3)
    assert config.data == DataConfig(dev_fraction=0.5)
    assert config.options == {"hidden": 7}


def test_options_are_those_of_the_model_wherever_it_stands() -> None:
    assert Config().updated({"filters": 9, "model": "tnet"}).options == {"filters": 9}
    assert Config().updated({"options.filters": 9, "model": "tnet"}).options == {"filters": 9}


def test_a_whole_number_may_stand_for_a_real_one() -> None:
    config = Config().updated({"clip_norm": 3, "dropout": 0})
    assert type(config.training.clip_norm) is float
    assert type(config.options["dropout"]) is float


@pytest.mark.parametrize("labels", ["good,bad", ["good", "bad"], ("good", "bad")])
def test_labels_are_given_as_a_list_or_separated_by_commas(labels: Any) -> None:
    assert Config().updated({"labels": labels}).data.labels == ("good", "bad")


def test_unknown_names_options_and_models_are_refused() -> None:
    with pytest.raises(InputError, match="unknown setting 'xyz'; "):
        Config().updated({"xyz": 1})
    with pytest.raises(InputError, match=r"unknown setting 'hops' of model tnet_att; it is one of memnet, .*'memnet'"):
        Config().updated({"hops": 3})
    with pytest.raises(InputError, match="unknown option 'hidden' of model memnet"):
        Config().updated({"model": "memnet", "options.hidden": 3})
    with pytest.raises(InputError, match="unknown model 'lstm'; known: "):
        Config().updated({"model": "lstm", "options.hidden": 3})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gama", "gamma"),
        ("training.patienc", "training.patience"),
        ("trainings.patience", "training.patience"),
        ("model.patience", "training.patience"),
        ("data.train.format", "data.format"),
        ("val", "dev"),
        ("valdation", "dev"),
        ("options.attend_aspct", "attend_aspect"),
        ("num_epochs", "epochs"),
        ("leanring_rate", "learning_rate"),
    ],
)
def test_a_name_that_is_nearly_known_is_refused_with_the_one_that_was_meant(name: str, meant: str) -> None:
    with pytest.raises(InputError, match=rf"'{name.removeprefix('options.')}'.*; did you mean {meant}\?$"):
        Config().updated({name: 1})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("patience", "3", "patience is '3'; expected int"),
        ("patience", True, "patience is True; expected int"),
        ("patience", 2.5, "patience is 2.5; expected int"),
        ("learning_rate", "fast", "learning_rate is 'fast'; expected float"),
        ("tied", 1, "tied is 1; expected bool"),
        ("model", 3, "model is 3; expected str"),
        ("labels", [1, 2], r"labels is \[1, 2\]; expected tuple"),
        ("data", 1, "data is 1; expected DataConfig"),
        ("columns", 7, "columns is 7; expected a dict"),
        ("columns", {"txt": "review"}, "unknown field 'txt'"),
        *((name, None, f"{name} is None; expected") for name in ("patience", "seed", "folds", "model")),
        *((name, 0, f"{name} is 0; it ") for name in ("patience", "dimension", "batch_size")),
        *((name, -1, f"{name} is -1; it ") for name in ("epochs", "seed", "vector_rows", "usual_epochs", "max_pieces")),
        *((name, -1.0, rf"{name} is -1\.0; it ") for name in ("learning_rate", "warmup")),
        *(("dev_fraction", share, rf"dev_fraction is {share}; it ") for share in (0.0, 1.0)),
        ("seed", 2**64, "seed is 18446744073709551616; it must be less than"),
        ("class_weights", "equal", "class_weights is 'equal'; it can be"),
        *((name, "x", f"{name} is 'x'; it can be") for name in ("gate", "final_start", "final_epochs", "penalty_on")),
        ("unit", "letter", "unit is 'letter'; it can be"),
        ("precision", "half", "precision is 'half'; it can be"),
        ("preset", "released", "preset is 'released'; it can be paper, "),
    ],
)
def test_a_value_of_another_type_or_out_of_range_is_refused(name: str, value: Any, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        Config().updated({name: value})


def test_a_configuration_survives_its_file(tmp_path: Path) -> None:
    changes = {
        "model": "tnet",
        "filters": 9,
        "gating": "lossless",
        "dropout": 0.1,
        "labels": "good,bad",
        "train": 'a "strange"\\path\n.csv',
        "learning_rate": 1e-5,
        "ramp": 0.25,
        "weighting": "round",
        "seed": 11,
    }
    config = Config().updated(changes)
    path = tmp_path / "config.toml"
    path.write_text(config.to_toml(), "utf-8")
    assert Config.from_toml(path) == config
    assert Config.from_toml(path).to_toml() == config.to_toml()


def test_a_file_names_every_value_also_defaults() -> None:
    text = Config().to_toml()
    for line in ('model = "tnet_att"', "[data]", "dev_fraction = 0.2", "[training]", "patience = 8"):
        assert line in text.splitlines()


OLD_UNSET = {
    "epochs": 0,
    "data.train": "",
    "data.dev": "",
    "data.format": "",
    "data.vectors": "",
    "data.encoder": "",
    "data.max_pieces": 0,
    "mining.saliency": "",
    "mining.epsilon": -1.0,
    "mining.consensus_epochs": -1,
    "mining.consensus_threshold": -1.0,
    "supervision.evidence": "",
    "supervision.gamma": -1.0,
}


def test_a_setting_that_is_not_set_is_left_out_of_the_file() -> None:
    names = Config().flat()
    unset = {name for name, value in names.items() if value is None}
    assert set(OLD_UNSET) < unset
    later = {"data.from_pretrained", "data.from_digest", "data.label_texts", "mining.consensus_folds"}
    later |= {"training.share_sentences"}
    assert unset - set(OLD_UNSET) == {"preset", *(f"training.{name}" for name in TRAINING), *later}
    written = {line.partition(" =")[0] for line in Config().to_toml().splitlines()}
    assert not {name.rpartition(".")[2] for name in unset} & written


TRAINING = (
    "learning_rate",
    "head_learning_rate",
    "batch_size",
    "clip_norm",
    "schedule",
    "warmup",
    "usual_epochs",
    "max_epochs",
)


def test_values_that_meant_not_set_in_old_files_still_do(tmp_path: Path) -> None:
    assert Config().updated(OLD_UNSET) == Config()
    path = tmp_path / "config.toml"
    path.write_text(
        'epochs = 0\n[data]\ntrain = ""\n[mining]\nepsilon = -1\nstop_drop = 0\n'
        'consensus_words = 2\nconsensus_saliencies = ["gradient"]\n'
        "[training]\ncompile = true\ncontrast_epochs = 2\ncontrast_partner = 'any'\n"
        "[supervision]\ngamma = -1.0\n"
    )
    assert Config.from_toml(path) == Config()
    assert Config().updated({"epochs": 3, "gamma": 0.5}).updated({"epochs": None, "gamma": None}) == Config()


def test_what_a_file_does_not_name_keeps_its_default(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('filters = 9\nmodel = "tnet"\n[training]\npatience = 2\n')
    assert Config.from_toml(path) == Config().updated({"model": "tnet", "filters": 9, "patience": 2})


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"seed = ", "not a TOML file"),
        (b"\xff\xfe", "not a TOML file"),
        (b"colour = 1", "unknown setting 'colour'; "),
        (b"[training]\nspeed = 1", r"unknown setting 'training\.speed'"),
        (b"[extra]\nspeed = 1", r"unknown setting 'extra\.speed'"),
        (b"[training.more]\nspeed = 1", r"more"),
        (b"training = 3", r"training"),
        (b"seed = 'one'", "seed is 'one'; expected int"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path, content: bytes, what: str) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=what) as caught:
        Config.from_toml(path)
    assert str(caught.value).startswith(str(path))
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        Config.from_toml(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("true", True), ("'a b'", "a b"), ("lossless", "lossless"), ("[1, 2]", [1, 2]), ("", "")],
)
def test_a_value_on_the_command_line_is_toml_and_else_a_string(text: str, value: Any) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize("name", ["columns", "data.columns"])
@pytest.mark.parametrize("value", [{"text": "review", "label": "stars, 1-5"}, "text=review,label=stars, 1-5"])
def test_columns_are_a_table_or_what_the_option_takes(tmp_path: Path, name: str, value: Any) -> None:
    config = Config().updated({name: value, "seed": 3})
    assert config.data.columns == {"text": "review", "label": "stars, 1-5"}
    path = tmp_path / "config.toml"
    path.write_text(config.to_toml())
    assert Config.from_toml(path) == config
    assert config.updated({"data": {"columns": {"id": "no"}}}).data.columns == {"id": "no"}


@pytest.mark.parametrize("texts", [{}, {"positive": "the {aspect} is great", "negative": '"{aspect}" = bad'}])
def test_label_texts_are_kept_also_where_there_are_none(tmp_path: Path, texts: dict[str, str]) -> None:
    config = Config().updated({"label_texts": texts})
    (tmp_path / "config.toml").write_text(config.to_toml(), "utf-8")
    assert Config.from_toml(tmp_path / "config.toml").data.label_texts == texts


def test_what_is_given_wins_over_a_preset_wherever_it_stands() -> None:
    once = Config().updated({"start": "continue", "preset": "release", "mining.samples": 3})
    before = Config().updated({"mining.samples": 3}).updated({"preset": "release"})
    after = Config().updated({"preset": "release"}).updated({"samples": 3, "start": "continue"})
    assert (once.mining.start, once.mining.samples, once.options["tied"]) == ("continue", 3, True)
    assert (before.mining.start, before.mining.samples, before.options["tied"]) == ("restart", 3, True)
    assert after == once


def test_a_preset_survives_its_file(tmp_path: Path) -> None:
    chosen = resolve(Config().updated({"preset": "release-rest", "method": "aw-as", "epochs": 3}))
    (tmp_path / "config.toml").write_text(chosen.to_toml(), "utf-8")
    assert Config.from_toml(tmp_path / "config.toml") == chosen
    # A file cannot say that a value is unset, so nothing that a preset sets can be.
    assert Config().updated({"preset": "release", "epochs": None}).epochs == 50


def test_a_preset_of_other_models_is_refused() -> None:
    with pytest.raises(InputError, match="tnet"):
        Config().updated({"preset": "release", "model": "tnet"})
