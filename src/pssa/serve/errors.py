"""Errors of the API: every one has the body {"error": {"code", "message"}}, and a 4xx also an `example` of a right request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Scope

from pssa.data.validation import format_error
from pssa.errors import RunError
from pssa.serve.access import HOST
from pssa.serve.schemas import ITEMS_TAG, TEXT_TAG

RETRY = {"Retry-After": "1"}
_MAX_FAULTS = 3  # of a request that are reported
_MAX_CHARACTERS = 500  # of their description
_JSON = "-H 'Content-Type: application/json' -d"
# By path, what follows the address in a command that is answered.
_EXAMPLES = {
    "/v1/predict": f"""{_JSON} '{{"text": "The screen is bright.", "aspects": ["screen"]}}'""",
    "/v1/explain": f"""{_JSON} '{{"text": "The screen is bright.", "aspects": ["screen"]}}'""",
    "/v1/csv": "-F file=@reviews.csv",
    "/v1/evidence/changes": f"""{_JSON} '{{"index": 0, "version": 0, "action": "drop", "word": 3}}'""",
    "/v1/evidence/drops": f"""{_JSON} '{{"text": "screen", "kind": "active"}}'""",
    "/v1/evidence/undo": f"""{_JSON} '{{"number": 1}}'""",
    "/v1/evidence/export": "-X POST",
    "/v1/evidence/sentences": "",
    "/v1/evidence/stats": "",
    "/v1/model": "",
    "/metrics": "",
}


class ApiError(HTTPException):
    """A request that is refused.

    :param code: for programs, such as `too_large`; the message is for people.
    """

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, dict(headers or {}))
        self.code = code

    def __str__(self) -> str:
        return str(self.detail)


def error_response(
    scope: Scope, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response of a refused request."""
    error = {"code": code, "message": message}
    if 400 <= status < 500:
        error["example"] = _example(scope, code)
    # ASCII, since a message may quote half a surrogate pair of the request.
    return Response(json.dumps({"error": error}), status, headers, media_type="application/json")


def add_error_handlers(app: FastAPI) -> None:
    """Give every error that a route raises the same body."""
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(
        RunError, lambda request, error: error_response(request.scope, 503, "unwritable", str(error))
    )


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    if faults[0]["type"] == "json_invalid":
        return error_response(request.scope, 400, "bad_json", "the body is not valid JSON")
    found = []
    for fault in faults[:_MAX_FAULTS]:
        # A fault's place begins with where the value comes from: the body or the query.
        steps = [str(step)[:40] for step in fault["loc"][1:] if step not in (ITEMS_TAG, TEXT_TAG)]
        place = ".".join(format_error(step) if step else "''" for step in steps) or "the body"
        found.append(f"{place}: {fault['msg']}")
    more = f"; and {len(faults) - _MAX_FAULTS} more" if len(faults) > _MAX_FAULTS else ""
    return error_response(request.scope, 422, "unusable", "; ".join(found)[:_MAX_CHARACTERS] + more)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    # 400 is FastAPI's word for a body that its JSON or form parser gave up on.
    bad = "bad_form" if request.url.path == "/v1/csv" else "bad_json"
    usual = bad if status == 400 else HTTPStatus(status).name.lower()
    code = error.code if isinstance(error, ApiError) else usual
    return error_response(request.scope, status, code, str(error.detail), error.headers)


def _example(scope: Scope, code: str) -> str:
    """Return a command that sends a right request: to the path that was asked, if there is one."""
    headers = Headers(scope=scope)
    host, scheme = headers.get("host", ""), scope.get("scheme", "http")
    if code == "wrong_host" or not HOST.fullmatch(host):
        host, scheme = f"127.0.0.1:{(scope.get('server') or ('', 8000))[1]}", "http"
    is_served = any(getattr(route, "path", "") == scope["path"] for route in scope["app"].routes)
    path = scope["path"] if scope["path"] in _EXAMPLES and is_served else "/v1/predict"
    token = " -H 'Authorization: Bearer TOKEN'" if code == "unauthorized" or "authorization" in headers else ""
    return f"curl {scheme}://{host}{path}{token} {_EXAMPLES[path]}".rstrip()
