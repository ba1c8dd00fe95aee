"""Objects of a JSON list: found wherever the parts of a file end, and no character is read twice."""

from __future__ import annotations

import json

import pytest

from pssa.data.json_objects import _Scanner

OBJECTS = [{}, {"a": {"b": '}{"\\'}, "c": '"[,]\\"'}, {"text": "\\\\", "list": [{}, {"x": "\u2028😀"}]}, {}]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_objects_are_found_wherever_a_part_ends(size: int) -> None:
    text = "\ufeff[" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in OBJECTS) + "]"
    scanner = _Scanner()
    found = [each for start in range(0, len(text), size) for each in scanner.feed(text[start : start + size])]
    assert [json.loads(str(each)) for each in found] == OBJECTS
    assert scanner.unfinished() is None


@pytest.mark.parametrize("end", ["", "\\"])
def test_a_long_string_is_not_read_again_with_each_part(end: str) -> None:
    scanner = _Scanner()
    for part in ('[{"text": "', "x" * 1000, "y" * 1000 + end):
        assert list(scanner.feed(part)) == []
    assert scanner._place == len(scanner._text) - len(end)
    (found,) = scanner.feed(('"' if end else "") + '"}')
    assert len(json.loads(str(found))["text"]) == 2000 + len(end)
