"""What was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pssa.errors import InputError
from pssa.experiments.cells import Cell, Place, Training
from pssa.experiments.resources import Resources, Source
from pssa.experiments.scope import Scope
from pssa.studies import exhibits
from pssa.studies.exhibit import Exhibit
from pssa.studies.filters import Wanted, choose, lacks

PLACE = Place("laptop", "memnet", 0)
BARE = Scope(Resources({"laptop": Source(Path("train.txt"))}))


def exhibit(name: str, *cells: Cell, needs: tuple[str, ...] = ()) -> Exhibit:
    return Exhibit(name, name.title(), lambda scope: cells, lambda scope, findings: (), needs)


def test_exhibits_are_chosen_by_name_each_once() -> None:
    own = exhibit("own")
    assert [found.name for found in choose(["overall", own, "overall"])] == ["overall", "own"]


def test_all_is_every_exhibit_there_is() -> None:
    assert [found.name for found in choose(["all", "overall"])] == list(exhibits.names())


def test_an_unknown_exhibit_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"unknown exhibit 'overal'; known: all, .*overall"):
        choose(["overal"])


@pytest.mark.parametrize(
    ("needs", "reason"),
    [
        ((), ""),
        (("laptop",), ""),
        (("vectors",), "needs --vectors"),
        (("encoder", "rest"), "needs --encoder and data set rest"),
        (("opinion_words",), "needs a data set with opinion words"),
    ],
)
def test_what_an_exhibit_lacks_is_named(needs: tuple[str, ...], reason: str) -> None:
    assert lacks(exhibit("x", needs=needs), BARE) == reason


def test_what_is_there_is_not_lacked() -> None:
    source = Source(Path("train.txt"), opinion_words=Path("words"))
    full = Scope(Resources({"laptop": source, "rest": Source(Path("t"))}, Path("vectors.txt"), Path("encoder")))
    wanting = exhibit("x", needs=("vectors", "encoder", "opinion_words", "rest"))
    assert lacks(wanting, full) == ""
    # Words of a data set that nobody asked for do not count.
    assert lacks(wanting, replace(full, data_sets=("rest",))) == "needs a data set with opinion words"


def test_cells_of_all_exhibits_are_wanted_once() -> None:
    base, kt = Training(PLACE), Training(PLACE, "kt")
    wanted = Wanted.find([exhibit("a", base, kt, base), exhibit("b", kt), exhibit("c", needs=("encoder",))], BARE)
    assert [(found.name, cells) for found, cells in wanted.exhibits.items()] == [("a", (base, kt)), ("b", (kt,))]
    assert wanted.cells == [base, kt]
    assert wanted.skipped == {"c": "needs --encoder"}


def test_an_exhibit_that_fails_to_plan_does_not_cost_the_others() -> None:
    def cells(scope: Scope) -> Iterator[Cell]:
        yield Training(PLACE)
        raise KeyError("rest")

    broken = Exhibit("broken", "Broken", cells, lambda scope, findings: ())
    wanted = Wanted.find([broken, exhibit("sound", Training(PLACE))], BARE)
    assert [found.name for found in wanted.exhibits] == ["sound"]
    assert wanted.broken == {"broken": "KeyError: 'rest'"}


def test_where_nothing_can_be_shown_the_reasons_are_told() -> None:
    with pytest.raises(InputError, match="nothing can be shown: a needs --encoder; b needs --vectors"):
        Wanted.find([exhibit("a", needs=("encoder",)), exhibit("b", needs=("vectors",))], BARE)
    with pytest.raises(InputError, match="nothing can be shown: no exhibit was named"):
        Wanted.find([], BARE)
