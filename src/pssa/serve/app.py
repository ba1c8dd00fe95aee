"""`create_app`: the application, with its routes, its pages and its access."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from starlette.exceptions import HTTPException

from pssa import __version__
from pssa.serve import handlers
from pssa.serve.batcher import Batcher
from pssa.serve.errors import ApiError, of_http_exception, of_validation_error
from pssa.serve.metrics import CONTENT_TYPE
from pssa.serve.middleware import RETRY, AccessPolicy, Guard
from pssa.serve.openapi import describe
from pssa.serve.pages import Page, page_router, read_pages
from pssa.serve.schemas import (
    ExplainAnswer,
    ExplainRequest,
    ModelAnswer,
    PredictAnswer,
    PredictRequest,
    RunInfo,
    Runs,
    Status,
)
from pssa.serve.table import read_table, scored

if TYPE_CHECKING:
    from pssa.serve.review.session import Review

__all__ = ["Options", "create_app"]

_COLUMNS = "columns with names of their own, such as text=review,aspect=term"
_LONGEST_COLUMNS = 2000


@dataclass(frozen=True)
class Options:
    """What can be chosen about the application; sizes belong to the batcher."""

    access: AccessPolicy = field(default_factory=AccessPolicy)
    pages: Mapping[str, Page] = field(default_factory=read_pages)


def create_app(batcher: Batcher, options: Options, review: Review | None = None) -> FastAPI:
    """The application around a batcher, which it closes at its own end.

    :param review: evidence to be reviewed at `/evidence`.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(batcher.close)

    # Interactive documentation would load scripts from elsewhere; the description itself is at /openapi.json.
    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_middleware(Guard, batcher=batcher, access=options.access)
    app.add_exception_handler(RequestValidationError, of_validation_error)
    app.add_exception_handler(HTTPException, of_http_exception)
    app.include_router(_v1_router(batcher, review is not None))
    app.include_router(_operation_router(batcher))
    if review is not None:
        from pssa.serve.review.routes import review_router

        app.include_router(review_router(review))
    app.include_router(page_router(options.pages, review is not None))
    app.openapi = lambda: describe(app, batcher, options.access)  # type: ignore[method-assign]
    return app


def _v1_router(batcher: Batcher, with_evidence: bool) -> APIRouter:
    router = APIRouter(prefix="/v1")

    @router.post("/predict", responses={200: {"model": PredictAnswer}})
    async def predict(request: Request) -> Response:
        """Label aspects; one that cannot be judged has an `error` in its place."""
        asked = handlers.parse(PredictRequest, await handlers.body_of(request, "application/json"))
        return _json(await handlers.answer_items(batcher, request, asked, None))

    @router.post("/explain", responses={200: {"model": ExplainAnswer}})
    async def explain(request: Request) -> Response:
        """Label aspects and say how much each word counted."""
        asked = handlers.parse(ExplainRequest, await handlers.body_of(request, "application/json"))
        return _json(await handlers.answer_items(batcher, request, asked, handlers.saliency_of(batcher, asked)))

    @router.post("/csv", response_class=Response)
    async def csv(
        request: Request,
        run: Annotated[Literal["first", "versus"], Query()] = "first",
        columns: Annotated[str, Query(description=_COLUMNS, max_length=_LONGEST_COLUMNS)] = "",
    ) -> Response:
        """Label the rows of a table; one that cannot be judged has an `error`."""
        handlers.check_run(batcher, run)
        table = read_table(await handlers.body_of(request, "text/csv"), batcher.limits.characters, columns)
        pieces = scored(batcher, table, run, request.receive)
        first = await anext(pieces)  # what is refused is refused before the answer begins
        headers = {"Content-Disposition": 'attachment; filename="scored.csv"'}
        return StreamingResponse(_after(first, pieces), headers=headers, media_type="text/csv")

    @router.get("/model", response_model=ModelAnswer, response_model_exclude_none=True)
    async def model() -> ModelAnswer:
        """What is served."""
        return ModelAnswer(
            runs=Runs(**{name: _run_info(batcher, name) for name in batcher.runs}),
            limits=batcher.limits.as_dict(),
            evidence=with_evidence,
            version=__version__,
        )

    return router


def _operation_router(batcher: Batcher) -> APIRouter:
    router = APIRouter()

    @router.get("/healthz", response_model=Status)
    async def alive() -> Status:
        """Whether the service lives; if not, it should be started again."""
        if not batcher.alive and not batcher.closing:
            raise ApiError(503, "dead", "the worker has ended; start the service again", RETRY)
        return Status(status="alive")

    @router.get("/readyz", response_model=Status)
    async def ready() -> Status:
        """Whether requests should be sent here now."""
        if batcher.closing or batcher.full or not batcher.alive:
            reason = "closing" if batcher.closing else "overloaded" if batcher.full else "dead"
            raise ApiError(503, reason, "send requests elsewhere, or later", RETRY)
        return Status(status="ready")

    @router.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Counters for Prometheus."""
        return Response(batcher.metrics.text(), media_type=CONTENT_TYPE)

    return router


def _run_info(batcher: Batcher, name: str) -> RunInfo:
    served = batcher.runs[name]
    classifier = served.classifier
    return RunInfo(
        name=served.name,
        model=classifier.name,
        labels=list(classifier.labels),
        saliencies=list(served.saliencies),
        members=len(classifier.members),
    )


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


async def _after(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece
