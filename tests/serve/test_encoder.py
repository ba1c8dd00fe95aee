"""A run with an encoder behind the service: windows are warned of, and odd characters do no harm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.models.encoders import write_encoder

from pssa.data import embedded
from pssa.runs.training_run import write_run
from pssa.serve.app import create_app
from pssa.serve.batcher import open_batcher
from pssa.serve.limits import Limits

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("encoder")
    write_encoder(folder / "encoder", "bert")
    settings: dict[str, Any] = {
        "model": "bertabsa_att",
        "encoder": str(folder / "encoder"),
        "epochs": 1,
        "device": "cpu",
    }
    run = write_run(embedded.load("train").select(range(30)), folder / "run", **settings)
    with TestClient(create_app(open_batcher([run], Limits()), pages={})) as client:
        yield client


def answers(client: TestClient, path: str, *texts: str) -> list[dict[str, Any]]:
    answer = client.post(path, json={"items": [{"text": text, "aspects": ["screen"]} for text in texts]})
    assert answer.status_code == 200
    return [item["aspects"][0] for item in answer.json()["items"]]


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/explain"])
def test_a_sentence_that_is_read_in_a_window_says_so_and_no_other_does(
    client: TestClient, path: str, recwarn: pytest.WarningsRecorder
) -> None:
    long = "so " * 90 + "the screen is huge" + " so" * 90
    found = answers(client, path, "the screen is huge", long, "a poor screen")
    assert ["warning" in one for one in found] == [False, True, False]
    assert "longer than 128 pieces" in found[1]["warning"]
    assert not recwarn.list
    if path == "/v1/explain":
        assert len(found[1]["words"]) == 184


def test_an_aspect_that_the_tokenizer_drops_is_scored(client: TestClient) -> None:
    answer = client.post("/v1/explain", json={"items": [{"text": "a \0 b", "aspects": ["\0", {"from": 2, "to": 3}]}]})
    assert ["error" in one for one in answer.json()["items"][0]["aspects"]] == [False, False]
