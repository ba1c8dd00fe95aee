"""The table of overall results, on made-up records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.paper.experiments.rooms import FakeLookup
from tests.paper.studies.exhibits.toys import ALL_OF_IT, GOLD, blind, knowing, row_of, toy_scope

from paper.experiments.cells import Cell, Mining, Place, Training, settings
from paper.experiments.ledger import Record
from paper.studies.exhibits import find

EXHIBIT = find("overall")
HERE = Place("laptop", "memnet", 0)
AW = (Mining(HERE, "aw-as"),)


def test_a_model_has_the_rows_of_the_paper_and_ours(tmp_path: Path) -> None:
    found = list(EXHIBIT.cells(toy_scope(tmp_path, "memnet")))
    # Plain, KT, two ensembles, six of AS, two with the paper's penalty, consensus and the control; human words are not there.
    assert len(found) == 14
    assert Training(HERE, evidence=AW, settings=settings(gamma=0.1, penalty="letter")) in found
    assert Training(HERE, "adaboost") in found
    assert Training(HERE, evidence=AW, settings=settings(words="misleading")) in found
    assert not any("human" in str(cell) for cell in found)


def test_models_that_do_not_attend_have_two_rows(tmp_path: Path) -> None:
    place = Place("laptop", "tnet", 0)
    assert list(EXHIBIT.cells(toy_scope(tmp_path, "tnet"))) == [Training(place), Training(place, "kt")]


def test_ensembles_have_three_seeds_and_the_others_all(tmp_path: Path) -> None:
    found = list(EXHIBIT.cells(toy_scope(tmp_path, "tnet", seeds=5)))
    assert [cell.place.seed for cell in found] == [0, 1, 2, 3, 4, 0, 1, 2]


def test_human_words_count_where_people_marked_them(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "memnet")
    marked = {name: replace(source, opinion_words=tmp_path) for name, source in scope.resources.sources.items()}
    scope = replace(scope, resources=replace(scope.resources, sources=marked))
    assert Training(HERE, evidence=(Mining(HERE, "human"),)) in list(EXHIBIT.cells(scope))


def test_fields_stand_beside_the_paper_s_and_beside_what_choosing_on_test_would_report(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        Training(HERE): blind(curve=[[0.2, 0.1], [1 / 3, 1 / 6]]),
        Training(HERE, evidence=AW): knowing(curve=[[1.0, 1.0], [0.5, 0.9]]),
    }
    _, _, gains, _, table, _ = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(gains, "MN", "LAPTOP") == (ALL_OF_IT, None, None, None, None)
    plain = (1, "33.33", "16.67", None, None, "68.97 / 63.28", "-35.64 / -46.61", "33.33 / 16.67")
    assert row_of(table, "MN") == plain
    supervised = row_of(table, "MN (+AW-AS)")
    assert supervised[3:5] == (ALL_OF_IT, None)
    assert supervised[-1] == "100.00 / 100.00"
    assert row_of(table, "MN (+Boosting)") == (0, None, None, None, None, "69.28 / 64.17", None, None)


def test_the_paper_s_penalty_has_the_gamma_of_the_data_set_and_one_data_set_of_encoders(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "memnet", "bertabsa_att")
    source = scope.resources.sources["laptop"]
    scope = replace(scope, resources=replace(scope.resources, sources={"laptop": source, "rest": source}))
    letters = [cell for cell in EXHIBIT.cells(scope) if isinstance(cell, Training) and "letter" in str(cell.settings)]
    found = {(cell.place.model, cell.place.data, dict(cell.settings)["gamma"]) for cell in letters}
    assert found == {("memnet", "laptop", 0.1), ("memnet", "rest", 0.5), ("bertabsa_att", "laptop", 0.1)}


def test_rows_of_tnet_att_are_compared_with_tnet(tmp_path: Path) -> None:
    place = Place("laptop", "tnet_att", 0)
    records: dict[Cell, Record] = {
        Training(Place("laptop", "tnet", 0)): blind(curve=[]),
        Training(place): blind(curve=[]),
        Training(place, evidence=(Mining(place, "aw-as"),)): knowing(curve=[]),
    }
    *_, table, _ = EXHIBIT.show(toy_scope(tmp_path, "tnet", "tnet_att"), FakeLookup(records))
    assert row_of(table, "TNet")[4] is None
    assert row_of(table, "TNet-ATT (+AW-AS)")[4] == ALL_OF_IT


def test_costly_rows_have_fewer_data_sets(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "memnet", "bertabsa_att")
    sources = dict.fromkeys(("laptop", "rest", "twitter"), scope.resources.sources["laptop"])
    cells = list(EXHIBIT.cells(replace(scope, resources=replace(scope.resources, sources=sources))))
    boosted = {cell.place for cell in cells if isinstance(cell, Training) and cell.method == "boosting"}
    assert {(place.model, place.data) for place in boosted} == {
        *(("memnet", data) for data in ("laptop", "rest")),
        ("bertabsa_att", "laptop"),
    }


def test_supervision_is_compared_with_a_second_training_too(tmp_path: Path) -> None:
    records: dict[Cell, Record] = {
        Training(HERE): blind(curve=[]),
        Training(HERE, evidence=AW): knowing(curve=[]),
        Training(HERE, evidence=AW, settings=settings(gamma=0.0)): knowing(curve=[]),
    }
    _, _, gains, control, *_ = EXHIBIT.show(toy_scope(tmp_path, "memnet"), FakeLookup(records))
    assert row_of(gains, "MN", "LAPTOP") == (ALL_OF_IT, None, None, None, ALL_OF_IT)
    assert row_of(control, "MN", "LAPTOP") == ("+0.00 / +0.00", None, None, None)


def test_gains_are_averaged_over_the_data_sets_that_have_both_rows(tmp_path: Path) -> None:
    scope = toy_scope(tmp_path, "memnet")
    source = scope.resources.sources["laptop"]
    sources = dict.fromkeys(("laptop", "rest", "twitter"), source)
    scope = replace(scope, resources=replace(scope.resources, sources=sources))
    there = replace(HERE, data="rest")
    records: dict[Cell, Record] = {
        **{Training(place): blind(curve=[]) for place in (HERE, there)},
        Training(HERE, evidence=AW): knowing(curve=[]),
        Training(there, evidence=(Mining(there, "aw-as"),)): blind(curve=[]),
        Training(HERE, evidence=AW, settings=settings(gamma=0.0)): knowing(curve=[]),
    }
    _, averages, *_ = EXHIBIT.show(scope, FakeLookup(records))
    # 66.67 / 83.33 on one set and nothing on the other; over the second training there is one set alone.
    half = "+33.33** / +41.67**"
    assert row_of(averages, "MN", "+AW-AS") == (2, 1, half, half, "+0.00 / +0.00", "+0.00 to +0.00")
    assert row_of(averages, "MN", "again") == (1, 1, ALL_OF_IT, ALL_OF_IT, None, None)
    assert row_of(averages, "MN", "+PG-AS") == (None, None, None, None, None, None)


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
