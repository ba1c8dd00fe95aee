"""Numbers that README.md and results/ideas.md tell in sentences are those of the tables beside them.

Each sentence is written here once more, with a field for every number; a table that changes makes the told one fail.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SETS = ("laptop", "rest", "twitter")


def cells(table: str, *row: object) -> dict[str, Any]:
    """The fields of the one row that begins with these, by column."""
    content = json.loads((ROOT / "results" / f"{table}.json").read_text())
    (found,) = (fields for fields in content["rows"] if fields[: len(row)] == list(row))
    return dict(zip(content["columns"], found, strict=True))


def scores(data: str, model: str) -> str:
    """Mean accuracy and macro-F1 as sentences have them."""
    found = cells(f"overall/overall-{data}", model)
    return f"{found['accuracy']['mean']:.1f} / {found['macro-F1']['mean']:.1f}"


def best_on_test(data: str, model: str) -> str:
    found = cells(f"overall/overall-{data}", model)["best epoch on test"]
    return f"{found['accuracy']:.1f} / {found['macro-F1']:.1f}"


def gain(model: str, data: str, row: str, digits: int = 1) -> str:
    return f"{cells('overall/overall-gains', model, data.upper())[row]['macro-F1']:.{digits}f}"


def averaged(model: str, row: str, over: str) -> float:
    points: float = cells("overall/overall-average", model, row)[over]["macro-F1"]
    return points


def reached() -> str:
    """What TNet-ATT scores, and what choosing its epoch on test would have added."""
    own, chosen = ([of(data, "TNet-ATT") for data in SETS] for of in (scores, best_on_test))
    return (
        f"TNet-ATT reaches {own[0]}, {own[1]} and {own[2]} on LAPTOP, REST and TWITTER where the paper has 72.6 / 67.1, "
        "79.3 / 67.7 and 71.7 / 70.2; choosing the epoch on the test set, as the published code does, would have given "
        f"{chosen[0]}, {chosen[1]} and {chosen[2]}."
    )


def gained() -> str:
    mined, again = ([gain("BERTABSA-ATT", data, row) for data in SETS] for row in ("+AW-AS", "again"))
    return (
        f"Mining by attention gains BERTABSA-ATT on MPNet {mined[0]}, {mined[1]} and {mined[2]} points of macro-F1; training the "
        f"same baseline a second time gains {again[0]}, {again[1]} and {again[2]}"
    )


def advised() -> str:
    own = cells("overall/overall-laptop", "BERTABSA")
    return f"accuracy {own['accuracy']['mean']:.1f}, macro-F1 {own['macro-F1']['mean']:.1f} on LAPTOP"


def best_of_mining() -> str:
    mean = averaged("BERTABSA-ATT", "+AW-AS", "on other tests")
    shares = [f"+{gain('BERTABSA-ATT', data, '+AW-AS', 2)}" for data in SETS]
    return f"{shares[0]}, {shares[1]} and {shares[2]} on LAPTOP, REST and TWITTER, +{mean:.2f} on average"


def over_again() -> str:
    again = averaged("BERTABSA-ATT", "again", "on other tests")
    return (
        f"which gains {again:.2f} itself, +{averaged('BERTABSA-ATT', '+AW-AS', 'over a second training'):.2f} with p ="
    )


def consensus() -> str:
    means = [f"{averaged(model, '+Consensus', 'on other tests'):+.1f}" for model in ("MN", "TNet-ATT", "BERTABSA-ATT")]
    return f"no better than the paper's way in any model: {means[0]}, {means[1]} and {means[2]}."


def words_of_consensus() -> str:
    laptop, rest = (
        cells(f"human-agreement/mined-{data}", "TNet-ATT", "consensus, as it supervises") for data in SETS[:2]
    )
    return (
        f"human opinion words in {100 * laptop['precision']:.1f} % (LAPTOP) and {100 * rest['precision']:.1f} % (REST) of its "
        f"picks, for {100 * laptop['coverage']:.0f} and {100 * rest['coverage']:.0f} % of the instances."
    )


def costs() -> str:
    """Multiples of one training; rounded as in the sentence."""
    whole, all_of_it = (
        cells("speed/speed-tnet_att", "LAPTOP", f"TNet-ATT ({row})")["training, x"] for row in ("+AW-AS", "+Consensus")
    )
    return f"costs {whole:.1f} plain trainings of TNet-ATT, of `consensus` {all_of_it:.1f}"


@pytest.mark.parametrize("sentence", [reached, gained, advised, costs])
def test_the_readme_tells_what_the_tables_have(sentence: Callable[[], str]) -> None:
    assert sentence() in told("README.md")


@pytest.mark.parametrize("sentence", [best_of_mining, over_again, consensus, words_of_consensus])
def test_the_ideas_tell_what_the_tables_have(sentence: Callable[[], str]) -> None:
    assert sentence() in told("results/ideas.md")


def told(page: str) -> str:
    return " ".join((ROOT / page).read_text().split())
