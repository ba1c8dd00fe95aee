"""Routes of the review under `/v1/evidence`: read sentences, change a word, undo, export.

A change carries the version of the sentence that the reviewer saw, so that two open pages cannot overwrite each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Path, Query

from pssa.errors import RunError
from pssa.serve.errors import ApiError, error_responses
from pssa.serve.review.schemas import (
    Change,
    Changed,
    Exported,
    ReviewStats,
    SentenceFilter,
    SentencePage,
    SentenceView,
    Undo,
    changed_view,
    page_view,
    sentence_view,
    stats_view,
)
from pssa.serve.review.session import Review, ReviewError

_STATUS = {"missing": 404, "stale": 409, "refused": 409}


def review_router(review: Review) -> APIRouter:
    """Return the routes of one review."""
    router = APIRouter(prefix="/evidence", tags=["evidence"], responses=error_responses(422, 503))
    _add_reading(router, review)
    _add_writing(router, review)
    return router


def _add_reading(router: APIRouter, review: Review) -> None:
    @router.get("/stats")
    def stats() -> ReviewStats:
        """Return what is reviewed, and counts."""
        return stats_view(review)

    @router.get("/sentences")
    def sentences(query: Annotated[SentenceFilter, Query()]) -> SentencePage:
        """Return the selected sentences in the order of the file, a page at a time."""
        return page_view(review, query)

    @router.get("/sentences/{index}", responses=error_responses(404))
    def sentence(index: Annotated[int, Path(ge=0)]) -> SentenceView:
        """Return one sentence as it is now."""
        with _api_errors():
            return sentence_view(review, review.sentence(index))


def _add_writing(router: APIRouter, review: Review) -> None:
    # Plain functions run in threads, so that waiting for the disk holds up no other request.
    writing = APIRouter(responses=error_responses(403, 408, 409, 413))

    @writing.post("/changes", responses=error_responses(400, 404))
    def change(given: Change) -> Changed:
        """Flip, drop or add a word; the change is on disk when the response comes."""
        with _api_errors():
            return changed_view(review, review.change(given.index, given.version, given.action, given.word))

    @writing.post("/undo", responses=error_responses(400))
    def undo(given: Undo) -> Changed:
        """Undo the last change."""
        with _api_errors():
            return changed_view(review, review.undo(given.number))

    @writing.post("/export")
    def write() -> Exported:
        """Write the reviewed evidence as a new file beside the old one, and return the command that trains with it."""
        with _api_errors():
            path, edits = review.export()
        command = review.sources.training_command(review.header, path)
        return Exported(file=str(path), edits=list(edits), command=command)

    router.include_router(writing)


@contextmanager
def _api_errors() -> Iterator[None]:
    try:
        yield
    except ReviewError as error:
        raise ApiError(_STATUS[error.code], error.code, str(error)) from error
    except (RunError, OSError) as error:
        raise ApiError(503, "unwritable", str(error)) from error
