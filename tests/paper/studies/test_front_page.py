"""The first page of results: what its sentences say is in the tables, and a page of one's own stays."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from paper.studies import exhibits
from paper.studies.exhibit import FormattedValue, StripPlot, Table, TableLookup, TableRow, number_in
from paper.studies.findings import FINDINGS
from paper.studies.front_page import PICTURE, find_finding, findings_of, front_page, read_exhibits, write_front_page
from paper.studies.pages import write_exhibit
from paper.studies.strip_plot import draw_strip_plot

RESULTS = Path(__file__).parents[3] / "results"
TRANSFER = exhibits.find("transfer")
AIM = ("row", "measured", "above again", "mean gain", "p < .05", "over the first", "over both controls")


def interval(value: float, part: str = "macro-F1") -> FormattedValue:
    return FormattedValue(f"{value:+.2f}", {part: value, "low": value - 1, "high": value + 1})


def transfer_tables(consensus: float = 1.5) -> list[Table]:
    rows = {"+Random": -0.25, "+PG-AS": 0.5, "+Consensus": consensus, "+Human": 2.0}
    measured = FormattedValue("2 of 6", {"count": 2, "of": 6})
    aim = tuple((name, measured, 2, points(gain), 1, points(gain), interval(gain)) for name, gain in rows.items())
    both = FormattedValue("+1.00 / +3.00", {"accuracy": 1.0, "macro-F1": 3.0})
    gains: tuple[TableRow, ...] = (
        ("MN", "LAPTOP", "REST", *[both] * 5),
        ("MN", "LAPTOP", "TWITTER", *[both] * 5),
        ("BERTABSA-ATT", "LAPTOP", "REST", both, None, None, None, both),
    )
    return [
        Table("transfer-aim", "Aim", AIM, aim),
        Table("transfer-gains", "Gains", ("model", "trained on", "tested on", *rows, "again"), gains),
    ]


def points(value: float) -> FormattedValue:
    return FormattedValue(f"{value:+.2f}", {"points": value})


def test_a_sentence_has_the_numbers_of_the_tables_and_a_dot_for_each_complete_pair() -> None:
    found = find_finding("transfer", {table.name: table for table in transfer_tables()})
    assert found is not None
    assert re.findall(r"[+-]\d\.\d", found.answer) == ["+1.5", "+0.5", "+2.5", "+0.5", "-0.5", "+1.5", "-0.2"]
    assert "4 of 6 pairs are not measured yet" in found.more
    # Over the second control 3, and this is 3 over the first: over both it is half of that more.
    assert [row.values for row in found.plot.rows] == [(4.5,)] * 4


def test_what_is_not_measured_is_not_said() -> None:
    aim, gains = transfer_tables()
    assert find_finding("transfer", {"transfer-aim": aim}) is None
    assert find_finding("transfer", {"transfer-aim": replace(aim, rows=aim.rows[:2]), "transfer-gains": gains}) is None
    with pytest.raises(LookupError):
        number_in(None)
    with pytest.raises(LookupError):
        TableLookup({}).rows("nothing")


def test_the_page_follows_the_tables_and_leaves_other_text_alone(tmp_path: Path) -> None:
    write_exhibit(tmp_path, TRANSFER, transfer_tables())
    write_front_page(tmp_path)
    page = tmp_path / "README.md"
    first = page.read_text("utf-8")
    assert "+1.5 [" in first
    assert "(stress.md#evidence-in-another-domain)" in first
    assert f"transfer/{PICTURE}" in first
    page.write_text(first.replace("# Results", "# Ours") + "\nOur own words.\n")
    write_exhibit(tmp_path, TRANSFER, transfer_tables(-0.7))
    write_front_page(tmp_path)
    second = page.read_text("utf-8")
    assert second.startswith("# Ours\n")
    assert second.endswith("\nOur own words.\n")
    assert "-0.7" in second
    assert "+1.5 [" not in second
    assert (tmp_path / "transfer" / PICTURE).read_text("utf-8").count("<circle") == 8


def test_the_page_says_which_tables_are_incomplete(tmp_path: Path) -> None:
    write_exhibit(tmp_path, TRANSFER, transfer_tables(), "3 of 40")
    assert "3 of 40 cells missing" in front_page(read_exhibits(tmp_path))
    write_exhibit(tmp_path, TRANSFER, transfer_tables())
    assert "missing" not in front_page(read_exhibits(tmp_path))


@pytest.mark.parametrize(("low", "pays"), [(0.5, True), (-0.5, False)])
def test_the_method_is_said_to_pay_only_where_its_interval_lies_above_zero(low: float, pays: bool) -> None:
    gains = {"+AW-AS": low + 1, "+PG-AS": 2.0, "+Consensus": 1.0, "+Human": 4.0, "+Contrast": 9.0, "+Random": -0.5}
    columns = ("row", "over both controls")
    over = tuple((method, interval(gain, "all right")) for method, gain in gains.items())
    place = tuple((f"MN ({method})", gain, 0) for method, gain in over)
    tables = [
        Table("stress-gains", "G", columns, over),
        Table("stress-laptop-memnet", "MN", ("model", *columns[1:], "over again"), place),
    ]
    found = find_finding("stress", {table.name: table for table in tables})
    assert found is not None
    assert ("pays" in found.answer) == pays
    assert "+9.0 with word vectors;" in found.more


def test_the_results_of_this_repository_have_every_finding_and_its_picture() -> None:
    shown = read_exhibits(RESULTS)
    findings = findings_of(shown)
    assert set(findings) == FINDINGS.keys() & {each.name for each in shown}
    assert list(findings)[:3] == ["overall", "stress", "transfer"]
    assert front_page(shown) in (RESULTS / "README.md").read_text("utf-8"), "run: python scripts/update_docs.py"
    for name, finding in findings.items():
        assert isinstance(finding.plot, StripPlot)
        assert (RESULTS / name / PICTURE).read_text("utf-8") == draw_strip_plot(finding.plot), name


def test_the_first_page_leads_to_every_page() -> None:
    text = (RESULTS / "README.md").read_text("utf-8")
    pages = {path.name for path in RESULTS.glob("*.md")} - {"README.md"}
    assert sorted(name for name in pages if f"]({name})" not in text) == []
    assert len(pages) <= 12
