"""The table of overall results, on made-up records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import GOLD, blind, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.studies.exhibits import find

EXHIBIT = find("overall")
HERE = Place("laptop", "memnet", 0)
AW = (Mining(HERE, "aw-as"),)


def test_the_aim_stands_beside_what_was_reached(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "memnet", "tnet_att")
    marked = {name: replace(source, opinion_words=tmp_path) for name, source in scope.resources.sources.items()}
    scope = replace(scope, resources=replace(scope.resources, sources=marked))
    there = replace(HERE, model="tnet_att")
    records: dict[Cell, Record] = {
        **{Training(place): blind(curve=[]) for place in (HERE, there)},
        Training(HERE, evidence=(Mining(HERE, "pg-as"),)): knowing(curve=[]),
        Training(there, evidence=(Mining(there, "pg-as"),)): blind(curve=[]),
        Training(HERE, evidence=(Mining(HERE, "human"),)): knowing(curve=[]),
        Training(HERE, evidence=AW, settings=settings(gamma=0.0)): knowing(curve=[]),
    }
    aim, *_ = EXHIBIT.show(scope, FakeLookup(records))
    # MN alone has both controls: one knows nothing and one everything.
    measured, above, mean, both, *others = row_of(aim, "+PG-AS")
    assert (measured, above, mean, *others) == ("2 of 9", 1, "+41.67", 1, "100 % (1 measured)")
    assert str(both).startswith("+41.67 [+")
    assert row_of(aim, "+Consensus") == ("0 of 9", None, None, None, None, None)


def test_what_chance_explains_and_what_people_lose_count_for_nothing(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "memnet")
    marked = {name: replace(source, opinion_words=tmp_path) for name, source in scope.resources.sources.items()}
    scope = replace(scope, resources=replace(scope.resources, sources=marked))
    # One of twelve answers differs: a third of the resamples do not have it.
    nearly = knowing(curve=[], predicted=GOLD[:-1] + "0")
    records: dict[Cell, Record] = {
        Training(HERE): nearly,
        Training(HERE, evidence=(Mining(HERE, "pg-as"),)): knowing(curve=[]),
        Training(HERE, evidence=(Mining(HERE, "human"),)): blind(curve=[]),
    }
    aim, *_ = EXHIBIT.show(scope, FakeLookup(records))
    measured, above, _, _, sure, of_human = row_of(aim, "+PG-AS")
    assert (measured, above, sure, of_human) == ("1 of 9", 1, 0, None)
