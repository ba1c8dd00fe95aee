"""`create_app`: the application, with its routes, its pages and its door."""

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
from pssa.serve import asking
from pssa.serve.desk import Desk
from pssa.serve.guard import RETRY, Door, Guard
from pssa.serve.metrics import CONTENT_TYPE
from pssa.serve.openapi import describe
from pssa.serve.pages import Page, page_router, read_pages
from pssa.serve.refusal import Refusal, of_http_exception, of_validation_error
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
    from pssa.serve.review import Review

__all__ = ["Options", "create_app"]

_COLUMNS = "columns with names of their own, such as text=review,aspect=term"
_LONGEST_COLUMNS = 2000


@dataclass(frozen=True)
class Options:
    """What can be chosen about the application; sizes belong to the desk."""

    door: Door = field(default_factory=Door)
    pages: Mapping[str, Page] = field(default_factory=read_pages)


def create_app(desk: Desk, options: Options, review: Review | None = None) -> FastAPI:
    """The application around a desk, which it closes at its own end.

    :param review: evidence to be reviewed at `/evidence`.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(desk.close)

    # Interactive documentation would load scripts from elsewhere; the description itself is at /openapi.json.
    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.add_middleware(Guard, desk=desk, door=options.door)
    app.add_exception_handler(RequestValidationError, of_validation_error)
    app.add_exception_handler(HTTPException, of_http_exception)
    app.include_router(_v1_router(desk, review is not None))
    app.include_router(_operation_router(desk))
    if review is not None:
        from pssa.serve.review_api import review_router

        app.include_router(review_router(review))
    app.include_router(page_router(options.pages, review is not None))
    app.openapi = lambda: describe(app, desk, options.door)  # type: ignore[method-assign]
    return app


def _v1_router(desk: Desk, with_evidence: bool) -> APIRouter:
    router = APIRouter(prefix="/v1")

    @router.post("/predict", responses={200: {"model": PredictAnswer}})
    async def predict(request: Request) -> Response:
        """Label aspects; one that cannot be judged has an `error` in its place."""
        asked = asking.parse(PredictRequest, await asking.body_of(request, "application/json"))
        return _json(await asking.answer_items(desk, request, asked, None))

    @router.post("/explain", responses={200: {"model": ExplainAnswer}})
    async def explain(request: Request) -> Response:
        """Label aspects and say how much each word counted."""
        asked = asking.parse(ExplainRequest, await asking.body_of(request, "application/json"))
        return _json(await asking.answer_items(desk, request, asked, asking.saliency_of(desk, asked)))

    @router.post("/csv", response_class=Response)
    async def csv(
        request: Request,
        run: Annotated[Literal["first", "versus"], Query()] = "first",
        columns: Annotated[str, Query(description=_COLUMNS, max_length=_LONGEST_COLUMNS)] = "",
    ) -> Response:
        """Label the rows of a table; one that cannot be judged has an `error`."""
        asking.check_run(desk, run)
        table = read_table(await asking.body_of(request, "text/csv"), desk.limits.characters, columns)
        pieces = scored(desk, table, run, request.receive)
        first = await anext(pieces)  # what is refused is refused before the answer begins
        headers = {"Content-Disposition": 'attachment; filename="scored.csv"'}
        return StreamingResponse(_after(first, pieces), headers=headers, media_type="text/csv")

    @router.get("/model", response_model=ModelAnswer, response_model_exclude_none=True)
    async def model() -> ModelAnswer:
        """What is served."""
        return ModelAnswer(
            runs=Runs(**{name: _run_info(desk, name) for name in desk.runs}),
            limits=desk.limits.as_dict(),
            evidence=with_evidence,
            version=__version__,
        )

    return router


def _operation_router(desk: Desk) -> APIRouter:
    router = APIRouter()

    @router.get("/healthz", response_model=Status)
    async def alive() -> Status:
        """Whether the service lives; if not, it should be started again."""
        if not desk.alive and not desk.closing:
            raise Refusal(503, "dead", "the worker has ended; start the service again", RETRY)
        return Status(status="alive")

    @router.get("/readyz", response_model=Status)
    async def ready() -> Status:
        """Whether requests should be sent here now."""
        if desk.closing or desk.full or not desk.alive:
            reason = "closing" if desk.closing else "overloaded" if desk.full else "dead"
            raise Refusal(503, reason, "send requests elsewhere, or later", RETRY)
        return Status(status="ready")

    @router.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Counters for Prometheus."""
        return Response(desk.metrics.text(), media_type=CONTENT_TYPE)

    return router


def _run_info(desk: Desk, name: str) -> RunInfo:
    served = desk.runs[name]
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
