"""Errors of the API: every one has the body {"error": {"code", "message"}}."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from pssa.data.validation import format_error
from pssa.errors import PssaError, RunError

RETRY = {"Retry-After": "1"}
_MAX_FAULTS = 3  # of a request that are reported
_MAX_CHARACTERS = 500  # of their description


class ApiError(PssaError):
    """A request that is refused.

    :param code: for programs, such as `too_large`; the message is for people.
    """

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """Return the response to send."""
        # ASCII, since a message may quote half a surrogate pair of the request.
        content = json.dumps({"error": {"code": self.code, "message": str(self)}})
        return Response(content, self.status, self.headers, media_type="application/json")


def add_error_handlers(app: FastAPI) -> None:
    """Give errors that FastAPI or the review's files raise the same body."""
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RunError, _run_error)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    if faults[0]["type"] == "json_invalid":
        return ApiError(400, "bad_json", "the body is not valid JSON").response()
    # A fault's place begins with where the value comes from: the body or the query.
    found = [f"{_path(fault['loc'][1:])}: {fault['msg']}" for fault in faults[:_MAX_FAULTS]]
    more = f"; and {len(faults) - _MAX_FAULTS} more" if len(faults) > _MAX_FAULTS else ""
    return ApiError(422, "unusable", "; ".join(found)[:_MAX_CHARACTERS] + more).response()


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    # 400 is FastAPI's word for a body that its JSON parser gave up on: nested too deep, or not UTF-8.
    code = "bad_json" if status == 400 else HTTPStatus(status).name.lower()
    return ApiError(status, code, str(error.detail), error.headers).response()


async def _run_error(request: Request, error: Exception) -> Response:
    return ApiError(503, "unwritable", str(error)).response()


def _path(steps: Iterable[int | str]) -> str:
    return ".".join(format_error(str(step)[:40]) if step != "" else "''" for step in steps) or "the body"
