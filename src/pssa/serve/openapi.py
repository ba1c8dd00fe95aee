"""The description at `/openapi.json`, made true: bodies with the limits that hold, and every status that can come back."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from pssa import __version__
from pssa.serve.batcher import Batcher
from pssa.serve.middleware import ASKING, AccessPolicy, protected
from pssa.serve.schemas import Error, ExplainRequest, PredictRequest

__all__ = ["describe"]

_REF = "#/components/schemas/{model}"
_BODIES = {"/v1/predict": PredictRequest, "/v1/explain": ExplainRequest}
_MEANING = {
    400: "the body is no JSON",
    401: "the token is missing or wrong",
    403: "a page of another site asks",
    408: "the body arrives too slowly",
    413: "the body is too large",
    415: "the body is of another type",
    421: "the service is not called by this name",
    422: "the request breaks its schema or a limit",
    500: "the service failed",
    503: "the queue is full or the service is closing",
}


def describe(app: FastAPI, batcher: Batcher, access: AccessPolicy) -> dict[str, Any]:
    """The OpenAPI description of the application as it was started."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title="pssa",
            version=__version__,
            summary="Aspect-based sentiment: labels, explanations and tables",
            description="Offsets count Unicode code points and are half-open.",
            routes=app.routes,
        )
        _add_schemas(schema, batcher)
        _add_bodies(schema)
        schema["paths"]["/v1/csv"]["post"]["parameters"][0]["schema"]["enum"] = list(batcher.runs)
        for path, operations in schema["paths"].items():
            for method, operation in operations.items():
                _add_refusals(operation, path, method, access)
        if access.token:
            schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        app.openapi_schema = schema
    return app.openapi_schema


def _add_schemas(schema: dict[str, Any], batcher: Batcher) -> None:
    models = [(kind, "validation") for kind in (PredictRequest, ExplainRequest, Error)]
    _, made = models_json_schema(models, ref_template=_REF)  # type: ignore[arg-type]
    schemas = schema.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(made["$defs"])
    # FastAPI's own shape of a refusal, which is never sent.
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    limits = batcher.limits
    schemas["Item"]["properties"]["text"]["maxLength"] = limits.characters
    aspects = schemas["Item"]["properties"]["aspects"]
    aspects["maxItems"] = limits.aspects
    aspects["items"]["anyOf"][0]["maxLength"] = limits.characters
    for name in ("PredictRequest", "ExplainRequest"):
        schemas[name]["properties"]["items"]["maxItems"] = limits.items
        schemas[name]["properties"]["run"]["enum"] = list(batcher.runs)
    _add_saliencies(schemas["ExplainRequest"], batcher)


def _add_saliencies(schema: dict[str, Any], batcher: Batcher) -> None:
    """The saliencies of each run; they differ between models."""
    usable = {name: list(served.saliencies) for name, served in batcher.runs.items()}
    every = sorted(set().union(*usable.values()))
    schema["properties"]["saliency"] = {"type": "string", "enum": every}
    if len({*map(tuple, usable.values())}) > 1:
        schema["if"] = {"properties": {"run": {"const": "versus"}}, "required": ["run"]}
        schema["then"] = {"properties": {"saliency": {"enum": usable["versus"]}}}
        schema["else"] = {"properties": {"saliency": {"enum": usable["first"]}}}


def _add_bodies(schema: dict[str, Any]) -> None:
    for path, kind in _BODIES.items():
        content = {"application/json": {"schema": {"$ref": _REF.format(model=kind.__name__)}}}
        schema["paths"][path]["post"]["requestBody"] = {"required": True, "content": content}
    columns = {name: {"type": "string"} for name in ("text", "aspect", "from", "to")}
    row = {
        "type": "object",
        "properties": columns,
        "required": ["text", "aspect"],
        "additionalProperties": False,
        "description": "A row; a CSV may have other columns, which come back as they are.",
    }
    table = {"type": "array", "items": row, "minItems": 1}
    operation = schema["paths"]["/v1/csv"]["post"]
    operation["requestBody"] = {"required": True, "content": {"text/csv": {"schema": table}}}
    operation["responses"]["200"]["content"] = {"text/csv": {"schema": {"type": "string"}}}
    schema["paths"]["/metrics"]["get"]["responses"]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}


def _add_refusals(operation: dict[str, Any], path: str, method: str, access: AccessPolicy) -> None:
    if protected(path) and access.token:
        operation["security"] = [{"token": []}]
    responses = operation["responses"]
    for status in sorted(_refusals(operation, path, method, access)):
        responses.setdefault(str(status), {"description": _MEANING[status]})
    for status, response in responses.items():
        if not status.startswith("2"):
            response["content"] = {"application/json": {"schema": {"$ref": _REF.format(model="Error")}}}
    if path in ASKING:
        responses["503"]["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "seconds"}}


def _refusals(operation: dict[str, Any], path: str, method: str, access: AccessPolicy) -> set[int]:
    """Statuses that do not come from the route itself."""
    return {
        500,
        *([401] if protected(path) and access.token else []),
        *([421] if access.hosts is not None else []),
        *([503] if path.startswith("/v1/") or path in ("/healthz", "/readyz") else []),
        *([403, 408, 413] if method != "get" else []),
        *([400] if "requestBody" in operation else []),
        *([415, 422] if path in ASKING else []),
    }
