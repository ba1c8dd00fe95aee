"""Refusals: every answer that is not what was asked for has the one shape {"error": {"code", "message"}}."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from pssa.data.validation import format_error

__all__ = ["ApiError", "of_http_exception", "of_validation_error", "unusable"]

_MOST_FAULTS = 3
_LONGEST = 500


class ApiError(Exception):
    """A request that is not carried out, and why.

    :param code: for programs, such as `too_large`; the message is for people.
    """

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The answer to send."""
        # ASCII, since a message may repeat half a surrogate pair from the request.
        content = json.dumps({"error": {"code": self.code, "message": self.message}})
        return Response(content, self.status, self.headers, media_type="application/json")


def unusable(faults: Iterable[Mapping[str, Any]]) -> ApiError:
    """422 for a body or a parameter that breaks its schema; `faults` are pydantic's."""
    found = [f"{_place(fault['loc'])}: {fault['msg']}" for fault in faults]
    more = f"; and {len(found) - _MOST_FAULTS} more" if len(found) > _MOST_FAULTS else ""
    return ApiError(422, "unusable", "; ".join(found[:_MOST_FAULTS])[:_LONGEST] + more)


async def of_validation_error(request: Any, error: Exception) -> Response:
    """The answer where FastAPI finds a parameter or a body at fault."""
    assert isinstance(error, RequestValidationError)
    if any(fault["type"] == "json_invalid" for fault in error.errors()):
        return ApiError(400, "bad_json", "the body is no JSON").response()
    return unusable(error.errors()).response()


async def of_http_exception(request: Any, error: Exception) -> Response:
    """The answer where FastAPI or a route raises a status: no such path, no such method."""
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).name.lower()
    return ApiError(error.status_code, code, str(error.detail), error.headers).response()


def _place(steps: Iterable[int | str]) -> str:
    return ".".join(format_error(str(step)[:40]) if step != "" else "''" for step in steps) or "the body"
