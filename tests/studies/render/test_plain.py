"""Tables for programs."""

from __future__ import annotations

import csv
import io
import json
import math

from pssa.experiments.cells import Look, Mining, Place, Training, describe, settings
from pssa.experiments.ledger import Record
from pssa.experiments.reading import missing, pair, percent
from pssa.studies.exhibit import Table
from pssa.studies.render.plain import cells_as_csv, table_as_csv, table_as_json

TABLE = Table("t", 'Ti"tle', ("name", "x, y"), (("a\nb", 0.1 + 0.2), ("c", None), ('"', 7)), ("note",))


def test_csv_has_the_values_in_full() -> None:
    assert table_as_csv(TABLE) == 'name,"x, y"\n"a\nb",0.30000000000000004\nc,\n"""",7\n'


def test_json_keeps_the_kinds_of_values() -> None:
    assert json.loads(table_as_json(TABLE)) == {
        "name": "t",
        "title": 'Ti"tle',
        "columns": ["name", "x, y"],
        "rows": [["a\nb", 0.1 + 0.2], ["c", None], ['"', 7]],
        "notes": ["note"],
    }


READINGS = Table(
    *("t", "T", ("corpus", "model", "gain", "paper")),
    (
        (percent(0.25, 0), "MN", pair((0.125, -2.0), "+"), pair(None)),
        (percent(0.5, 0), "TNet", pair((math.nan, 1.0)), pair(None)),
        (missing("share"), "none", None, pair(None)),
    ),
)


def test_what_a_reading_is_made_of_has_columns_of_its_own() -> None:
    assert table_as_csv(READINGS).splitlines() == [
        "corpus,model,gain accuracy,gain macro-F1,paper accuracy,paper macro-F1",
        "0.25,MN,0.125,-2.0,,",
        "0.5,TNet,,1.0,,",
        ",none,,,,",
    ]


def test_json_has_what_a_reading_shows_and_what_it_is_made_of() -> None:
    assert json.loads(table_as_json(READINGS))["rows"] == [
        *(
            [
                {"shown": "25%", "share": 0.25},
                "MN",
                {"shown": "+0.12 / -2.00", "accuracy": 0.125, "macro-F1": -2.0},
                None,
            ],
            [{"shown": "50%", "share": 0.5}, "TNet", {"shown": "nan / 1.00", "accuracy": None, "macro-F1": 1.0}, None],
        ),
        [None, "none", None, None],
    ]


def test_what_is_not_finite_is_missing() -> None:
    table = Table("t", "T", ("a", "b", "c"), ((math.nan, math.inf, 1.5),))
    assert json.loads(table_as_json(table))["rows"] == [[None, None, 1.5]]
    assert table_as_csv(table) == "a,b,c\n,,1.5\n"


def test_every_cell_is_a_line_with_what_was_measured() -> None:
    place = Place("rest", "memnet", 3, share=0.5)
    mining = Mining(place, "aw-as", settings(epsilon=2.0))
    training = Training(place, evidence=(mining,), rounds=2, settings=settings(words="active"))
    elsewhere = Place("rest", "memnet", 3, held_out=True)
    records: list[Record] = [
        {"key": "k1", "cell": describe(training), "accuracy": 0.5, "macro_f1": 0.25, "epochs": 7, "seconds": 1.5},
        {"key": "k2", "cell": describe(mining), "with_active": 12, "seconds": 2.5},
        {"key": "k3", "cell": describe(Look(training, "trust")), "found": {}, "seconds": 1},
        {"key": "k4", "cell": describe(Training(elsewhere, "boosting")), "accuracy": 0.75},
    ]
    trained, mined, looked, other = csv.DictReader(io.StringIO(cells_as_csv(records)))
    assert (trained["key"], trained["kind"], trained["data"], trained["seed"]) == ("k1", "training", "rest", "3")
    assert (trained["share"], trained["held_out"]) == ("0.5", "False")
    assert (trained["method"], trained["evidence"]) == ("base", "aw-as [epsilon=2.0]")
    assert (trained["rounds"], trained["settings"]) == ("2", "words=active")
    assert (trained["accuracy"], trained["macro_f1"], trained["epochs"], trained["seconds"]) == (
        "0.5",
        "0.25",
        "7",
        "1.5",
    )
    assert (mined["kind"], mined["method"], mined["settings"]) == ("mining", "aw-as", "epsilon=2.0")
    assert (mined["evidence"], mined["accuracy"], mined["with_active"]) == ("", "", "12")
    # Looks are told apart by what they look at.
    assert (looked["kind"], looked["what"], looked["evidence"]) == ("look", "trust", "aw-as [epsilon=2.0]")
    assert (looked["rounds"], looked["settings"]) == ("2", "words=active")
    assert (other["held_out"], other["method"], other["share"]) == ("True", "boosting", "1.0")
