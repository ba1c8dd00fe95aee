"""JSON of texts with targets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pssa.data import check, read
from pssa.data.reviews import Opinion, read_reviews
from pssa.errors import InputError


def target(text: str, begin: int, sentiment: str) -> dict[str, Any]:
    return {"text": text, "location": {"begin": begin, "end": begin + len(text)}, "sentiment": sentiment}


TEXTS = [
    {
        "text": "A lousy hotel , a fine bar .",
        "targets": [target("hotel", 8, "negative"), target("bar", 23, "positive"), target("A lousy", 0, "mixed")],
    },
    {"text": "We arrived late .", "targets": []},
]


def save(tmp_path: Path, texts: Any) -> Path:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(texts, indent=1))
    return path


def test_targets_are_instances_with_offsets(tmp_path: Path) -> None:
    path = save(tmp_path, TEXTS)
    corpus = read(path)
    assert [(each.id, each.aspect_chars, each.label) for each in corpus] == [
        ("1:0", (8, 13), "negative"),
        ("1:1", (23, 26), "positive"),
    ]
    assert corpus.dropped == {"conflict": 1, "no_aspect": 1}


def test_texts_are_reviews_those_without_targets_too(tmp_path: Path) -> None:
    (first, second), dropped = read_reviews(save(tmp_path, TEXTS))
    assert first.aspects == {(0, 7): None, (8, 13): "negative", (23, 26): "positive"}
    assert first.opinions[0] == Opinion("negative", (8, 13))
    assert (second.text, second.opinions, dropped) == ("We arrived late .", (), {})


@pytest.mark.parametrize(
    "bad",
    [
        {"targets": []},
        {"text": "a bar", "targets": {}},
        {"text": "a bar", "targets": [3]},
        {"text": "a bar", "targets": [{"text": "bar", "sentiment": "positive"}]},
        {"text": "a bar", "targets": [target("bar", 1, "positive")]},  # it is at 2
        {"text": "a bar", "targets": [target("bar", 2, "fine")]},
    ],
)
def test_what_cannot_be_read_is_a_problem_of_its_text(tmp_path: Path, bad: dict[str, Any]) -> None:
    path = save(tmp_path, [*TEXTS, bad])
    report = check(path)
    assert [problem.line for problem in report.problems if problem.rejected] == [3]
    assert report.instances == 2
    with pytest.raises(InputError, match=r"a\.json, line 3"):
        read_reviews(path)
    assert read_reviews(path, errors="skip")[1] == {"invalid": 1}
