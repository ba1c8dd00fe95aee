"""The review of evidence over HTTP, under `/v1/evidence`: read sentences, change a word, undo, export.

A change carries the version of the sentence that the reviewer saw, so that two open pages cannot overwrite each other.
Every refusal is `{"error": {"code", "message"}}`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.routing import APIRoute

from pssa.errors import RunError
from pssa.serve.errors import ApiError
from pssa.serve.review.export import export
from pssa.serve.review.filter import Filter, select
from pssa.serve.review.schemas import (
    Change,
    Changed,
    Exported,
    SentenceFields,
    Sentences,
    Stats,
    Undo,
    Wanted,
    changed_fields,
    page_fields,
    sentence_fields,
    stats_fields,
)
from pssa.serve.review.sentence import ReviewError
from pssa.serve.review.session import Review
from pssa.serve.schemas import Error

__all__ = ["review_router"]

_STATUS = {"missing": 404, "stale": 409, "refused": 409}
_INVALID: dict[int | str, dict[str, Any]] = {422: {"model": Error, "description": "not as this page says"}}
_MISSING: dict[int | str, dict[str, Any]] = {404: {"model": Error, "description": "no such sentence or word"}}
_WRITTEN: dict[int | str, dict[str, Any]] = {
    409: {"model": Error, "description": "changed elsewhere meanwhile, or not possible for this word"},
    503: {"model": Error, "description": "could not be written; nothing was changed"},
}


class _Route(APIRoute):
    """Answers what the review refuses in the one shape; faults of the request itself are the service's to answer."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with the review's errors caught."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except ReviewError as error:
                return ApiError(_STATUS[error.code], error.code, str(error)).response()
            except (RunError, OSError) as error:
                return ApiError(503, "unwritable", str(error)).response()

        return answer


def review_router(review: Review) -> APIRouter:
    """The routes of one review."""
    router = APIRouter(prefix="/v1/evidence", tags=["evidence"], route_class=_Route, responses=_INVALID)
    _add_reading(router, review)
    _add_writing(router, review)
    return router


def _add_reading(router: APIRouter, review: Review) -> None:
    @router.get("/stats")
    def stats() -> Stats:
        """What the review is about, and counts."""
        return stats_fields(review)

    @router.get("/sentences")
    def sentences(wanted: Annotated[Wanted, Query()]) -> Sentences:
        """Chosen sentences in the order of the file, a page at a time."""
        asked = wanted.model_dump(exclude={"start", "limit"})
        return page_fields(review, select(review, Filter(**asked), wanted.start, wanted.limit))

    @router.get("/sentences/{index}", responses=_MISSING)
    def sentence(index: Annotated[int, Path(ge=0)]) -> SentenceFields:
        """One sentence, as it is now."""
        return sentence_fields(review, review.sentence(index))


def _add_writing(router: APIRouter, review: Review) -> None:
    # Plain functions run in threads, so that waiting for the disk holds up nobody else.
    @router.post("/changes", responses=_MISSING | _WRITTEN)
    def change(given: Change) -> Changed:
        """Flip, drop or add a word; it is on disk when the answer comes."""
        return changed_fields(review, review.change(given.index, given.version, given.action, given.word))

    @router.post("/undo", responses=_WRITTEN)
    def undo(given: Undo) -> Changed:
        """Take the last change back."""
        return changed_fields(review, review.undo(given.number))

    @router.post("/export", responses=_WRITTEN)
    def write() -> Exported:
        """Write the reviewed evidence as a new file beside the old one, and say how to train with it."""
        made = export(review)
        return Exported(file=str(made.path), edits=list(made.edits), command=made.command)
