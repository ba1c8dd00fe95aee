"""From the record of every epoch to lines."""

from __future__ import annotations

from tests.report.documents import parse

from pssa.report.chart import Line
from pssa.report.curves import show_training, stage_lines
from pssa.training import EpochRecord


def epoch(stage: str, number: int, loss: float, dev: float | None = None, penalty: float = 0.0) -> EpochRecord:
    return EpochRecord(stage, number, loss, penalty, 0.5, dev, dev)


def loss_of(record: EpochRecord) -> float:
    return record.loss


def test_stages_are_lines_the_last_training_first() -> None:
    history = [epoch("search", 1, 3.0), epoch("initial", 1, 2.0), epoch("initial", 2, 1.0), epoch("final", 1, 4.0)]
    assert stage_lines(history, loss_of) == [
        Line("final", ((1.0, 4.0),)),
        Line("initial", ((1.0, 2.0), (2.0, 1.0))),
        Line("search", ((1.0, 3.0),)),
    ]


def test_rounds_follow_one_another() -> None:
    history = [epoch("round-2", 1, 1.0), epoch("round-2", 2, 2.0), epoch("round-10", 1, 4.0), epoch("round-3", 1, 3.0)]
    assert stage_lines(history, loss_of) == [Line("rounds", ((1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)))]


def test_stages_that_do_the_same_work_are_one_line_through_their_means() -> None:
    history = [
        epoch("initial-fold-1", 1, 1.0),
        epoch("initial-fold-2", 1, 3.0),
        epoch("round-2-fold-1", 1, 5.0),
        epoch("round-2-fold-2", 1, 7.0),
        epoch("seed-1-fold-1", 1, 1.0),
        epoch("seed-1-fold-2", 1, 2.0),
        epoch("seed-2-fold-1", 1, 6.0),
        epoch("member-1", 1, 1.0),
        epoch("member-2", 1, 2.0),
    ]
    assert stage_lines(history, loss_of) == [
        Line("judges (3)", ((1.0, 3.0),)),
        Line("member (2)", ((1.0, 1.5),)),
        Line("miners (2)", ((1.0, 2.0),)),
        Line("rounds (2)", ((1.0, 6.0),)),
    ]


def test_what_is_missing_or_no_number_is_not_drawn() -> None:
    history = [epoch("search", 1, float("nan")), epoch("search", 2, 1.0, 0.5)]
    assert stage_lines(history, loss_of) == [Line("search", ((1.0, 1.0),))]
    assert stage_lines(history, lambda record: record.dev_macro_f1) == [Line("search", ((1.0, 0.5),))]
    assert stage_lines(history, lambda record: None) == []


def test_the_section_has_a_chart_for_each_number_that_there_is() -> None:
    plain = parse(show_training([epoch("final", 1, 1.0), epoch("final", 2, 0.5)]).body.source)
    assert len(plain.all("svg")) == 2
    history = [epoch("search", 1, 1.0, 0.25), epoch("final", 1, 0.5, penalty=0.125)]
    full = parse(show_training(history).body.source)
    assert len(full.all("svg")) == 4
    (numbers,) = full.all("details")
    rows = [[cell.text for cell in row.children] for row in numbers.all("tr")]
    assert rows[1:] == [
        ["search", "1", "1.0000", "0.0000", "50.00", "25.00", "25.00"],
        ["final", "1", "0.5000", "0.1250", "50.00", "", ""],
    ]


def test_a_long_history_is_cut_and_says_so() -> None:
    found = show_training([epoch(f"member-{number}", 1, 1.0) for number in range(450)]).body.source
    assert len(parse(found).all("tr")) == 401
    assert "50 more are in history.jsonl" in found
