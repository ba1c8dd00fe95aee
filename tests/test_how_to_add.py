"""The examples of "Add a part": each is added as one file, found by its name, and used."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch
from tests.models.variants import EXAMPLES, VARIANTS, index
from tests.paper.experiments.rooms import FakeLookup, tiny_resources

import pssa
from paper.experiments.cells import Place, Training
from paper.experiments.resources import Scope
from paper.studies import exhibits
from paper.studies.exhibit import Table
from pssa import models, saliency
from pssa.cli import main
from pssa.data import embedded, read, write
from pssa.data.example import Example
from pssa.runs import methods
from pssa.runs.training_run import write_run

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "add-a-part.md").read_text("utf-8")
Add = Callable[[str, str, str], ModuleType]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Add]:
    """Adds the example below a heading to a package, as a file of this name."""
    added = []

    def add_file(heading: str, package: str, name: str) -> ModuleType:
        section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
        folder = tmp_path / package
        folder.mkdir()
        (folder / f"{name}.py").write_text(code, "utf-8")
        home = importlib.import_module(package)
        monkeypatch.setattr(home, "__path__", [*home.__path__, str(folder)])
        importlib.invalidate_caches()
        added.append((home, name))
        return importlib.import_module(f"{package}.{name}")

    yield add_file
    for home, name in added:
        sys.modules.pop(f"{home.__name__}.{name}", None)
        vars(home).pop(name, None)


def test_a_model(add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    add("Add a model", "pssa.models", "bag_of_words")
    contract = importlib.import_module("tests.models.test_contract")
    variants = importlib.import_module("tests.models.variants")
    assert "bag_of_words" in models.names()
    monkeypatch.setitem(VARIANTS, "bag_of_words", {})
    monkeypatch.setattr(contract, "ATTENDING", (*contract.ATTENDING, "bag_of_words"))
    corpus, start = index("bag_of_words"), variants.start_of("bag_of_words")
    batch = corpus.batch(torch.arange(len(EXAMPLES)))
    contract.test_shapes_are_those_of_the_protocol("bag_of_words", batch, start)
    contract.test_padding_never_changes_a_logit("bag_of_words", corpus, batch, start)
    contract.test_every_parameter_is_trained("bag_of_words", batch, start)
    contract.test_a_word_model_draws_random_numbers_by_our_dropout_alone("bag_of_words", batch, start)


def test_a_saliency(add: Add) -> None:
    add("Add a saliency", "pssa.saliency", "distance")
    batch = index("memnet").batch(torch.tensor([1]))  # `battery life poor`: the aspect is the first two words
    assert saliency.build("distance", {"power": 2.0})(None, batch).tolist() == [[1, 1, 1]]  # type: ignore[arg-type]
    batch = index("memnet").batch(torch.tensor([0]))  # the aspect is the second of nine words
    found = saliency.build("distance", {})(None, batch)  # type: ignore[arg-type]
    torch.testing.assert_close(found, torch.tensor([[1, 1, 1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 7]]))


def test_a_file_format(add: Add, tmp_path: Path) -> None:
    add("Add a file format", "pssa.data.formats", "lat")
    example = Example.from_text("a fine menu", (7, 11), label="positive")
    write([example], tmp_path / "a.lat")
    assert (tmp_path / "a.lat").read_text() == "positive\tmenu\ta fine menu\n"
    (back,) = read(tmp_path / "a.lat")
    assert (back.text, back.aspect, back.label) == (example.text, example.aspect, "positive")
    with (tmp_path / "a.lat").open("a") as file:
        file.write("no tabs\n")
    with pytest.raises(pssa.InputError, match=r"a\.lat, line 2: has 1 fields; expected"):
        read(tmp_path / "a.lat")


def test_an_exhibit(add: Add, tmp_path: Path) -> None:
    add("Add an exhibit", "paper.studies.exhibits", "seed_luck")
    exhibit, scope = exhibits.find("seed-luck"), Scope(tiny_resources(tmp_path), seeds=3)
    cells = [Training(Place("laptop", "tnet_att", seed)) for seed in range(3)]
    assert list(exhibit.cells(scope)) == cells
    lookup = FakeLookup({cells[0]: {"accuracy": 0.7}, cells[2]: {"accuracy": 0.5}})
    (table,) = exhibit.show(scope, lookup)
    assert isinstance(table, Table)
    assert table.rows == (("LAPTOP", 2, 50.0, 70.0),)


def test_a_command(add: Add, capsys: pytest.CaptureFixture[str]) -> None:
    add("Add a command", "pssa.cli", "words")
    assert main(["words", "The screen is huge."]) == 0
    assert capsys.readouterr().out == "The | screen | is | huge | .\n"


@pytest.mark.slow
def test_a_method(add: Add, tmp_path: Path) -> None:
    add("Add a method", "pssa.runs.methods", "snapshots")
    assert "snapshots" in methods.names()
    run = write_run(embedded.load("train")[:12], tmp_path / "run", model="memnet", method="snapshots", epochs=1)
    assert len(pssa.load(run).torch.members) == 3
