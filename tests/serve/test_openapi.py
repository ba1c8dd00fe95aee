"""The description of the service."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient
from tests.serve.conftest import Start

from pssa.serve.middleware import AccessPolicy


def description(client: TestClient) -> Any:
    return client.get("/openapi.json").json()


def test_limits_are_part_of_the_schema(start: Start) -> None:
    schemas = description(start(items=3, aspects=2, characters=9))["components"]["schemas"]
    assert schemas["PredictRequest"]["properties"]["items"]["maxItems"] == 3
    item = schemas["Item"]["properties"]
    assert (item["text"]["maxLength"], item["aspects"]["maxItems"]) == (9, 2)
    assert item["aspects"]["items"]["anyOf"][0] == {"type": "string", "maxLength": 9}


def test_runs_and_saliencies_are_those_that_are_served(start: Start, client: TestClient) -> None:
    alone = description(start())
    explain = alone["components"]["schemas"]["ExplainRequest"]
    assert explain["properties"]["run"]["const"] == "first"
    assert "attention" in explain["properties"]["saliency"]["enum"]
    assert "if" not in explain
    assert alone["paths"]["/v1/csv"]["post"]["parameters"][0]["schema"]["const"] == "first"
    both = description(client)["components"]["schemas"]["ExplainRequest"]
    assert both["properties"]["run"]["enum"] == ["first", "versus"]
    assert "attention" in both["else"]["properties"]["saliency"]["enum"]
    assert "attention" not in both["then"]["properties"]["saliency"]["enum"]


def test_every_refusal_has_the_one_shape(client: TestClient) -> None:
    found = description(client)
    assert "HTTPValidationError" not in found["components"]["schemas"]
    for operations in found["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if not status.startswith("2"):
                    schema = response["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/ErrorResponse"}


def test_statuses_are_those_that_can_come_back(start: Start) -> None:
    predict = description(start())["paths"]["/v1/predict"]["post"]
    assert set(predict["responses"]) == {"200", "400", "403", "408", "413", "415", "422", "500", "503"}
    access = AccessPolicy("secret", frozenset({"localhost"}))
    guarded = description(start(access=access))
    assert {"400", "401"} <= set(guarded["paths"]["/v1/predict"]["post"]["responses"])
    assert "400" in guarded["paths"]["/v1/model"]["get"]["responses"]
    assert guarded["paths"]["/v1/model"]["get"]["security"] == [{"token": []}]
    assert guarded["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
    assert "security" not in guarded["paths"]["/healthz"]["get"]


def test_every_reference_leads_somewhere(client: TestClient) -> None:
    found = description(client)

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return own + [one for inner in value.values() for one in references(inner)]
        return [one for inner in value for one in references(inner)] if isinstance(value, list) else []

    names = {one.removeprefix("#/components/schemas/") for one in references(found)}
    assert names <= set(found["components"]["schemas"])
    assert "PredictRequest" in names
