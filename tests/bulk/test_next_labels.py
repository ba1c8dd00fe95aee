"""`pssa data next`: what to label next."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import pssa
from pssa.bulk import next_labels
from pssa.bulk.job import Progress
from pssa.bulk.next_labels import PoolOptions, choose_next, propose
from pssa.cli import main
from pssa.data import embedded
from pssa.data.io import write
from pssa.errors import InputError


@pytest.fixture(scope="module")
def pool() -> list[dict[str, Any]]:
    """Rows of sentences that the run was not trained on, several aspects of some."""
    rows = embedded.load("test").select(range(24))
    return [
        {
            "text": each.text,
            "aspect": each.aspect_text,
            "from": each.aspect_chars[0],
            "to": each.aspect_chars[1],
            "shop": 7,
        }
        for each in rows
    ]


def test_it_proposes_texts_with_all_their_aspects_reasons_and_own_columns(
    run: Path, pool: list[dict[str, Any]]
) -> None:
    found = choose_next(run, pool, count=4)
    assert len(found.texts) == 4
    assert found.read == len({row["text"] for row in pool})
    for proposal in found.texts:
        given = {(row["from"], row["to"]) for row in pool if row["text"] == proposal.text}
        assert {(answer.start, answer.end) for answer in proposal.answers} == given
        assert proposal.fields == {"shop": 7}
        assert any(answer.aspect in proposal.reason for answer in proposal.answers)
    assert found == choose_next(run, pool, count=4)


def test_doubt_decides_and_the_rest_of_a_large_pool_is_forgotten(
    run: Path, pool: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(next_labels, "_LEAST_KEPT", 3)
    monkeypatch.setattr(next_labels, "_KEPT", 1)
    monkeypatch.setattr(next_labels, "default_window_rows", lambda model, device: 8)  # windows of two rows
    classifier = pssa.load(run)

    def doubt(row: dict[str, Any]) -> float:
        first, second = sorted(classifier.predict(row["text"], (row["from"], row["to"])).probabilities.values())[:-3:-1]
        return float(1 - (first - second))

    by_text: dict[str, list[float]] = {}
    for row in pool:
        by_text.setdefault(row["text"], []).append(doubt(row))
    mean = {text: sum(each) / len(each) for text, each in by_text.items()}
    found = choose_next(run, pool, count=3)
    assert {each.text for each in found.texts} == set(sorted(mean, key=lambda text: -mean[text])[:3])
    assert [each.doubt for each in found.texts] == pytest.approx([mean[each.text] for each in found.texts], abs=1e-5)


def test_labelled_rows_and_texts_of_the_training_are_left_out(run: Path, pool: list[dict[str, Any]]) -> None:
    trained = embedded.load("train")[0]
    rows = [
        pool[0] | {"label": "positive"},
        {"text": trained.text, "aspect": trained.aspect_text, "ordinal": 0},
        pool[5],
    ]
    found = choose_next(run, rows)
    assert [each.text for each in found.texts] == [pool[5]["text"]]
    assert found.labelled == 2


def test_judges_that_disagree_are_doubt(run: Path, pool: list[dict[str, Any]]) -> None:
    alone, judged = (choose_next(run, pool, count=2, judges=judges) for judges in ((), (run,)))
    assert "models agree" not in alone.texts[0].reason
    assert "2 of 2 models agree" in judged.texts[0].reason
    assert judged.texts[0].doubt == pytest.approx(alone.texts[0].doubt / 2)  # the same run never disagrees


def test_aspects_are_found_where_there_are_none(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "pool.txt"
    path.write_text("The screen is huge, the price is low.\n\nNothing here.\nScreen and price.\n")
    found = choose_next(run, path, aspects="screen,price")
    assert sorted((each.line, tuple(answer.aspect for answer in each.answers)) for each in found.texts) == [
        (1, ("screen", "price")),
        (4, ("Screen", "price")),
    ]
    assert (found.read, found.empty) == (2, 1)
    assert len(choose_next(run, ["The screen is huge."], aspects=["screen"]).texts) == 1
    with pytest.raises(InputError, match="aspects_from"):
        choose_next(run, ["The screen is huge."])


def test_invalid_rows_fail_or_are_counted(run: Path, pool: list[dict[str, Any]]) -> None:
    rows = [*pool[:3], {"text": "no such thing", "aspect": "menu"}]
    with pytest.raises(InputError, match=r"records, line 4: aspect 'menu' is not in the text.*errors='skip'"):
        choose_next(run, rows)
    assert choose_next(run, rows, errors="skip").rejected == 1
    for count in (0, 1.5):
        with pytest.raises(InputError, match="count"):
            choose_next(run, rows, count=count)  # type: ignore[arg-type]


def test_what_is_saved_can_be_labelled_and_trained_on(run: Path, pool: list[dict[str, Any]], tmp_path: Path) -> None:
    found = choose_next(run, pool, count=3)
    found.save(tmp_path / "tasks.json")
    tasks = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    for task in tasks:  # somebody accepts the predictions
        task["annotations"] = [{"result": task["predictions"][0]["result"]}]
    (tmp_path / "export.json").write_text(json.dumps(tasks), "utf-8")
    accepted = pssa.read(tmp_path / "export.json")
    expected = [(each.text, answer.aspect, answer.label) for each in found.texts for answer in each.answers]
    assert [(each.text, each.aspect_text, each.label) for each in accepted] == expected
    found.save(tmp_path / "label.csv")
    with (tmp_path / "label.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["label"] for row in rows} == {""}
    assert [(row["text"], row["aspect"], row["predicted"]) for row in rows] == expected
    with pytest.raises(InputError, match=r"Label Studio"):
        found.save(tmp_path / "label.parquet")


def test_annotated_tasks_are_no_longer_proposed(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    write(embedded.load("test").select([0]), path, format="label_studio")
    assert choose_next(run, path, aspects="screen").labelled == 1


def test_progress_ends_at_the_end_of_the_pool(run: Path, pool: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in pool), "utf-8")
    seen: list[Progress] = []
    propose(run, path, 1, PoolOptions(), seen.append)
    assert (seen[-1].read, seen[-1].total) == (path.stat().st_size,) * 2


def test_a_pool_without_anything_to_label_says_so(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tasks.json"
    write(embedded.load("test").select([0]), path, format="label_studio")
    assert main(["data", "next", str(run), "--input", str(path), "--aspects", "screen"]) == 0
    assert capsys.readouterr().out == "no text is left to label; 1 labelled or trained on already\n"
