"""Routes of the review under `/v1/evidence`: read sentences, change a word, undo, export.

A change carries the version of the sentence that the reviewer saw, so that two open pages cannot overwrite each other.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from pssa.serve.review import schemas
from pssa.serve.review.session import Review


def review_router(review: Review) -> APIRouter:
    """Return the routes of one review."""
    router = APIRouter(prefix="/evidence", tags=["evidence"])

    @router.get("/stats")
    def stats() -> schemas.ReviewStats:
        """Return what is reviewed, and counts."""
        return schemas.stats_view(review)

    @router.get("/sentences")
    def sentences(query: Annotated[schemas.SentenceFilter, Query()]) -> schemas.SentencePage:
        """Return the selected sentences in the order of the file, a page at a time."""
        return schemas.page_view(review, query)

    @router.get("/sentences/{index}")
    def sentence(index: Annotated[int, Path(ge=0)]) -> schemas.SentenceView:
        """Return one sentence as it is now."""
        return schemas.sentence_view(review.sentence(index))

    # Plain functions run in threads, so that waiting for the disk holds up no other request.
    @router.post("/changes")
    def change(body: schemas.Change) -> schemas.Changed:
        """Flip, drop or add a word; the change is on disk when the response comes."""
        return schemas.changed_view(review, review.change(body.index, body.version, body.action, body.word))

    @router.post("/undo")
    def undo(body: schemas.Undo) -> schemas.Changed:
        """Undo the last change."""
        return schemas.changed_view(review, review.undo(body.number))

    @router.post("/export")
    def export() -> schemas.Exported:
        """Write the reviewed evidence as a new file beside the old one, and return the command that trains with it."""
        path, edits = review.export()
        command = review.sources.training_command(review.header, path)
        return schemas.Exported(file=str(path), edits=list(edits), command=command)

    return router
