"""How the training data of a run was read, used again for other data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pssa.errors import InputError
from pssa.runs import Config
from pssa.runs.read_defaults import describe_defaults, find_read_defaults, find_row_defaults, read_as_trained

COLUMNS = {"text": "Kommentar", "aspect": "Thema", "label": "Sterne"}
TRAINED = {"columns": COLUMNS, "label_map": {"5": "positive", "1": "negative"}, "encoding": "windows-1252"}
ROWS = "Das Café war schön;Café;5\nThe soup was cold;soup;1\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "config.toml").write_text(Config().updated({"data": TRAINED}).to_toml())
    return tmp_path


def write(folder: Path, header: str = "Kommentar;Thema;Sterne", encoding: str = "windows-1252") -> Path:
    path = folder / "test.csv"
    path.write_bytes(f"{header}\n{ROWS}".encode(encoding))
    return path


def test_a_file_like_the_training_data_needs_no_option(run: Path) -> None:
    corpus = read_as_trained(run / "stages" / "initial", write(run))
    assert [(example.aspect_text, example.label) for example in corpus] == [("Café", "positive"), ("soup", "negative")]


def test_columns_and_encoding_are_used_where_they_fit(run: Path) -> None:
    assert find_read_defaults(run, write(run, encoding="utf-8"), {}).keys() == {"columns", "label_map"}
    assert find_read_defaults(run, write(run, "text;aspect;label"), {}).keys() == {"label_map", "encoding"}
    assert find_read_defaults(run, write(run, "kommentar;thema;rating"), {})["columns"].keys() == {"text", "aspect"}
    assert find_read_defaults(run, [{"Kommentar": "Good soup", "Thema": "soup"}], {})["columns"].keys() == {
        "text",
        "aspect",
    }


def test_what_is_given_wins(run: Path) -> None:
    given: dict[str, Any] = {"columns": "text=Kommentar,aspect=Thema", "encoding": "latin-1"}
    assert find_read_defaults(run, write(run), given) == {"label_map": TRAINED["label_map"]}
    with pytest.raises(InputError, match="label"):
        read_as_trained(run, write(run), **given)


def test_rows_to_be_labelled_keep_their_own_label(run: Path) -> None:
    first, second = write(run), run / "plain.jsonl"
    defaults = find_row_defaults(run, [first], {})
    assert defaults == {"columns": {"text": "Kommentar", "aspect": "Thema"}, "encoding": "windows-1252"}
    assert describe_defaults(defaults) == "--columns text=Kommentar,aspect=Thema --encoding windows-1252"
    second.write_text('{"text": "Good soup", "aspect": "soup"}\n')
    assert find_row_defaults(run, [first, second], {}) == {}


def test_without_a_configuration_or_data_nothing_is_recalled(run: Path, tmp_path: Path) -> None:
    assert find_read_defaults(run, tmp_path / "absent.csv", {}) == {}
    assert find_read_defaults(tmp_path / "absent", write(run), {}) == {}
    assert find_row_defaults(run, [], {}) == {}
