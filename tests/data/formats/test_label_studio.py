"""Label Studio's JSON, as it is exported and imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from defusedxml import ElementTree

from pssa.aspects import read_sentences
from pssa.data.check import check
from pssa.data.example import DEFAULT_LABELS, Example
from pssa.data.formats import column_names, label_studio
from pssa.data.io import format_of, read, write
from pssa.data.rows import Columns, Row
from pssa.data.text_file import InputFile
from pssa.errors import InputError

TEXT = "The screen is great"


def _span(start: int, end: int, text: str | None = None, choice: str | None = "Positive", **more: Any) -> list[Any]:
    """One region as Label Studio exports it: the span and, with the same id, its choice."""
    name = f"r{start}{choice}"
    value = {"start": start, "end": end} | ({} if text is None else {"text": text})
    label = {
        "id": name,
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": {**value, "labels": ["Aspect"]},
    }
    chosen = {"id": name, "from_name": "sentiment", "type": "choices", "value": {**value, "choices": [choice]}}
    return [label | more, *([] if choice is None else [chosen])]


def _task(*results: list[Any], text: str = TEXT, **more: Any) -> dict[str, Any]:
    annotations = [
        {"completed_by": {"id": n}, "result": result, "was_cancelled": False} for n, result in enumerate(results)
    ]
    return {"id": 7, "data": {"text": text}, "annotations": annotations, "predictions": [], **more}


def _file(folder: Path, *tasks: Any, indent: int | None = None) -> Path:
    path = folder / "export.json"
    path.write_text(json.dumps(list(tasks), indent=indent), "utf-8")
    return path


def _found(path: Path, **options: Any) -> list[tuple[str, tuple[int, int], str | None]]:
    return [(example.aspect_text, example.aspect_chars, example.label) for example in read(path, **options)]


@pytest.mark.parametrize("indent", [None, 2])
def test_an_export_is_recognised_and_read(tmp_path: Path, indent: int | None) -> None:
    relation = {"from_id": "a", "to_id": "b", "type": "relation", "direction": "right"}
    whole = {"id": "w", "type": "choices", "from_name": "tone", "value": {"choices": ["angry"]}}
    path = _file(tmp_path, _task([*_span(4, 10, "screen"), relation, whole]), indent=indent)
    assert format_of(path, None) == "label_studio"
    assert column_names(path, "label_studio") == ()  # what a run was trained with says nothing about it
    assert _found(path) == [("screen", (4, 10), "positive")]


def test_spans_labelled_with_their_polarity_are_read_and_opinion_words_are_not_aspects(tmp_path: Path) -> None:
    (span,) = _span(4, 10, "screen", choice=None)
    (opinion,) = _span(14, 19, "great", choice=None)
    span["value"]["labels"], opinion["value"]["labels"] = ["NEG"], ["Opinion"]
    assert _found(_file(tmp_path, _task([span, opinion]))) == [("screen", (4, 10), "negative")]


def test_an_aspect_without_a_polarity_is_named_by_its_task(tmp_path: Path) -> None:
    path = _file(tmp_path, _task(_span(4, 10, choice=None)), _task(_span(4, 10, "screen")))
    with pytest.raises(InputError, match="line 1: no `label`; expected one of"):
        read(path)
    assert len(read_sentences(path)) == 2  # a tagger needs none


@pytest.mark.parametrize(
    ("text", "start", "end", "quoted", "expected"),
    [
        ("😀 food 😀 ok", 2, 6, "food", (2, 6)),  # characters, as it counts today
        ("😀 food 😀 ok", 3, 7, "food", (2, 6)),  # UTF-16 units, as it once did
        ("fish &amp; chips", 5, 12, "&amp; c", (5, 12)),  # `Text` shows escapes as they are
        ("fish &amp; chips", 7, 12, "chips", (7, 12)),  # `HyperText` does not: the text is fish & chips
        ("a  menu\r\nhere", 3, 7, "menu", (3, 7)),
        ("a  menu\r\nhere", 2, 6, "menu", (3, 7)),  # a browser joins white space
        ("the food ok", 3, 9, " food ", (4, 8)),
    ],
)
def test_spans_are_found_whatever_their_offsets_count(
    tmp_path: Path, text: str, start: int, end: int, quoted: str, expected: tuple[int, int]
) -> None:
    ((_, span, _),) = _found(_file(tmp_path, _task(_span(start, end, quoted), text=text)))
    assert span == expected


def test_a_span_that_is_not_in_the_text_is_refused_with_its_task(tmp_path: Path) -> None:
    path = _file(tmp_path, _task(_span(4, 10, "keyboard")), _task(_span(4, 10, "screen")))
    with pytest.raises(InputError, match="1: task 7: the span 4-10, 'keyboard', is"):
        read(path)
    with pytest.warns(UserWarning, match="1 line was skipped"):
        assert len(read(path, errors="skip")) == 1


def test_annotators_vote_and_what_is_disputed_is_dropped(tmp_path: Path) -> None:
    yes, no, other = _span(4, 10, "screen"), _span(4, 10, "screen", "negative"), _span(14, 19, "great")
    path = _file(tmp_path, _task(yes, yes, no), _task(yes, no), _task(yes, [*yes, *other]))
    assert _found(path) == [("screen", (4, 10), "positive")] * 2
    assert read(path).dropped == {"annotators_disagree": 2}


def test_ground_truth_decides_and_a_persons_last_annotation_counts(tmp_path: Path) -> None:
    yes, no = _span(4, 10, "screen"), _span(4, 10, "screen", "negative")
    decided, again = _task(yes, yes, no), _task(yes, no)
    decided["annotations"][2]["ground_truth"] = True
    for each, time in zip(again["annotations"], ("2026-02", "2026-01"), strict=True):
        each |= {"completed_by": 1, "updated_at": time}
    labels = [label for _, _, label in _found(_file(tmp_path, decided, again))]
    assert labels == ["negative", "positive"]


def test_skipped_and_unannotated_tasks_are_counted_and_texts_without_aspects_are_kept(tmp_path: Path) -> None:
    skipped, proposed, empty = _task(_span(4, 10)), _task(), _task([], text="No.")
    skipped["annotations"][0]["was_cancelled"] = True
    proposed["predictions"] = [{"result": _span(4, 10)}]
    path = _file(tmp_path, skipped, proposed, empty, _task(_span(4, 10)))
    assert check(path).dropped == {"not_annotated": 2, "no_aspect": 1}
    assert [(each.text, each.aspects) for each in read_sentences(path)] == [("No.", ()), (TEXT, ((4, 10),))]
    # Where texts are enough, what nobody has annotated is a row: a pool to choose from.
    rows = [event for event in label_studio.scan(InputFile(path), Columns(text_only=True)) if isinstance(event, Row)]
    assert [row.fields.get("aspect") for row in rows] == [None, None, "screen"]


def test_spans_of_two_tasks_may_have_the_same_id(tmp_path: Path) -> None:
    tasks = [_task(_span(4, 10)) | {"id": number} for number in (1, 2)]
    assert not check(_file(tmp_path, *tasks)).problems


def test_the_text_may_have_another_name(tmp_path: Path) -> None:
    task = _task(_span(4, 10, "screen"))
    task["data"] = {"review": TEXT, "label": "7", "stars": 4}
    assert len(_found(_file(tmp_path, task), columns="text=review")) == 1
    with pytest.raises(InputError, match="`data` has no text 'text'; found review"):
        read(_file(tmp_path, task))
    del task["data"]["label"]
    assert len(_found(_file(tmp_path, task))) == 1  # the only text that it has


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('[{"id": 1, "data": {"text": "a"}, "annotations": [{"result": "x"}]}]', "task 1: `result` is 'x'"),
        ('[{"id": 1, "data": {"text": "a"}, "annotations": [3]}]', "`annotations` is"),
        ('[{"id": 1, "data": "a", "annotations": []}]', "`data` is 'a'; expected an object"),
        (
            '[{"text": "a", "annotator": 1, "annotation_id": 4, "label": []}]',
            "JSON-MIN.* export the project again as JSON",
        ),
        ('[{"id": 1, "data": {"text": "a"}, "annotations": [', "line 1: is not valid JSON, or cut short"),
        ('[7, {"data": {"text": "a"}}]', "line 1: begins with '7"),
        ('[{"id": 1, "data": {"text": "a",}, "annotations": []}]', "line 1: is not valid JSON"),
    ],
)
def test_what_is_no_export_is_refused_in_one_line(tmp_path: Path, content: str, what: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(content)
    with pytest.raises(InputError, match=what) as caught:
        read(path, format="label_studio")
    assert str(caught.value).startswith(str(path))


def test_objects_that_lie_across_the_parts_of_a_file_are_whole(tmp_path: Path) -> None:
    long = 'x \\" } ' * 20_000 + "screen"
    tasks = [_task(_span(4, 10, "screen")), _task(_span(len(long) - 6, len(long), "screen"), text=long)] * 2
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join(map(json.dumps, tasks)), "utf-8")
    events = list(label_studio.scan(InputFile(path)))
    assert [isinstance(event, Row) for event in events] == [True] * 4


def test_what_is_written_is_read_again_with_its_words_and_tags(tmp_path: Path) -> None:
    one = Example("a", "s", "don't 😀 menu", ((0, 5), (6, 7), (8, 12)), (2, 3), "neutral", tags=("x",))
    two = Example.from_text("the menu", (4, 8), label="negative", id="a")
    path = tmp_path / "tasks.json"
    write([one, two], path, format="label_studio")
    assert read(path)[0] == one
    assert (read(path)[1].sentence_id, read(path)[1].label) == (two.sentence_id, "negative")


def test_the_labelling_interface_of_the_documentation_names_the_controls_that_are_written() -> None:
    (task,) = json.loads(label_studio.encode([Example.from_text("a menu", (2, 6), label="a<b")]))
    page = (Path(__file__).parents[3] / "docs" / "reference" / "file-formats.md").read_text("utf-8")
    view = ElementTree.fromstring(page[page.index("<View>") : page.index("</View>") + len("</View>")])
    spans, choices = view.find("Labels"), view.find("Choices")
    assert spans is not None
    assert choices is not None
    result = task["annotations"][0]["result"]
    assert [item["from_name"] for item in result] == [spans.get("name"), choices.get("name")]
    assert [each.get("value") for each in choices] == list(DEFAULT_LABELS)
    assert choices.get("perRegion") == "true"
    (label,) = spans
    assert result[0]["value"]["labels"] == [label.get("value")]
