"""Whatever is sent, the answer is one of those that are described, in its shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

JSON = {"Content-Type": "application/json"}
PLACES = st.text(max_size=6) | st.fixed_dictionaries({"from": st.integers(0, 30), "to": st.integers(0, 30)})
ITEMS = st.fixed_dictionaries({"text": st.text(max_size=30), "aspects": st.lists(PLACES, max_size=4)})


def check(answer: Any, n_items: int | None = None) -> None:
    """An answer of the right length, or a refusal in its shape."""
    found = answer.json()
    if answer.status_code == 200:
        assert n_items is None or len(found["items"]) == n_items
        return
    assert n_items is None
    assert answer.status_code in (400, 422)
    assert set(found) == {"error"}
    assert set(found["error"]) == {"code", "message", "example"}
    assert found["error"]["message"].encode("utf-8", "surrogatepass")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/v1/predict", "/v1/explain"])
@settings(max_examples=40, deadline=None)
@given(items=st.lists(ITEMS, max_size=4))
def test_every_item_that_keeps_to_the_schema_is_answered(client: TestClient, path: str, items: list[Any]) -> None:
    answer = client.post(path, content=json.dumps({"items": items}), headers=JSON)
    check(answer, len(items))
    for item, found in zip(items, answer.json()["items"], strict=True):
        for aspect, one in zip(item["aspects"], found["aspects"], strict=True):
            if "error" not in one:
                assert item["text"][one["from"] : one["to"]] == one["aspect"]
                assert isinstance(aspect, str) or aspect["from"] <= one["from"] < one["to"] <= aspect["to"]


@settings(max_examples=40, deadline=None)
@given(body=st.binary(max_size=200))
def test_any_bytes_are_answered(client: TestClient, body: bytes) -> None:
    check(client.post("/v1/predict", content=body, headers=JSON))


@settings(max_examples=40, deadline=None)
@given(rows=st.text(max_size=200) | st.binary(max_size=200))
def test_any_table_is_answered(client: TestClient, rows: str | bytes) -> None:
    content = b"text,aspect\n" + (rows.encode() if isinstance(rows, str) else rows)
    answer = client.post("/v1/csv", content=content, headers={"Content-Type": "text/csv"})
    assert answer.status_code == 200
    assert answer.text.startswith("text,aspect,label,")
