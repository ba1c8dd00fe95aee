"""Presets: exactly what the paper and its released code have, below everything that is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from pssa.errors import InputError
from pssa.runs.resolve import resolve
from pssa.runs.settings import Config


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


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"preset": "released"}, "preset is 'released'; it can be paper, "),
        ({"preset": "release", "model": "tnet"}, "tnet"),
    ],
)
def test_an_unknown_preset_and_one_of_other_models_are_refused(changes: dict[str, str], wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        Config().updated(changes)
