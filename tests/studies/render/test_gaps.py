"""What has no outcome yet is told in one line."""

from __future__ import annotations

from pssa.experiments.reading import pair, percent
from pssa.studies.exhibit import Figure, Line, Panel, Prose, Table
from pssa.studies.render.gaps import without_gaps

COLUMNS = ("model", "data", "seeds", "accuracy", "paper")
DONE, OPEN = ("MN", "REST", 2, "70.00", "71.00"), ("TNet", None, 0, None, "72.00")


def table(*rows: tuple[str | int | None, ...], outcomes: tuple[str, ...] = ("seeds", "accuracy")) -> Table:
    return Table("scores", "Scores", COLUMNS, rows, ("Points.",), outcomes)


def test_rows_without_an_outcome_are_named_below() -> None:
    (shown,) = without_gaps([table(DONE, OPEN)])
    assert isinstance(shown, Table)
    assert shown.rows == (DONE,)
    assert shown.notes == ("Points.", "No outcome yet: TNet.")


def test_a_reading_without_a_text_is_no_outcome() -> None:
    rows = [("MN", percent(share), None, pair(scores), None) for share, scores in ((0.5, (70.0, 60.0)), (0.75, None))]
    (shown,) = without_gaps([Table("scores", "Scores", COLUMNS, tuple(rows), (), ("accuracy",))])
    assert isinstance(shown, Table)
    assert shown.rows == (rows[0],)
    assert shown.notes == ("No outcome yet: MN 75.0%.",)


def test_a_measured_zero_is_an_outcome() -> None:
    rows = tuple((name, None, 0, value, None) for name, value in (("MN", 0), ("TNet", 0.0), ("none", None)))
    (shown,) = without_gaps([Table("words", "Words", COLUMNS, rows, (), ("seeds", "accuracy"))])
    assert isinstance(shown, Table)
    assert shown.rows == rows[:2]
    assert shown.notes == ("No outcome yet: none.",)


def test_many_rows_are_not_all_named() -> None:
    (shown,) = without_gaps([table(DONE, *((f"M{number}", "REST", 0, None, None) for number in range(14)))])
    assert isinstance(shown, Table)
    assert shown.notes[1].startswith("No outcome yet: M0 REST; M1 REST; ")
    assert shown.notes[1].endswith("M11 REST and 2 more.")


def test_a_whole_table_stays_as_it_is() -> None:
    whole, free = table(DONE), table(OPEN, outcomes=())
    assert without_gaps([whole, free, Prose("So.")]) == [whole, free, Prose("So.")]


def test_what_has_no_outcome_at_all_is_named_in_one_line() -> None:
    empty = Figure("curve", "Curve", "x", "y", (Panel("MN", ()),))
    assert without_gaps([table(OPEN), Prose("So."), empty]) == [
        Prose("So."),
        Prose("No outcome yet: Scores; Curve."),
    ]
    drawn = Figure("curve", "Curve", "x", "y", (Panel("MN", (Line("a", (1.0,), (2.0,)),)),))
    assert without_gaps([drawn]) == [drawn]
