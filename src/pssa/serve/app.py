"""The application: `create_app` puts routes, pages and middleware around a batcher."""

# Annotations are evaluated here: FastAPI reads them, and some name values of one service.

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Query, Request, Response, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST

from pssa import __version__
from pssa.serve.access import AccessPolicy
from pssa.serve.access_log import AccessLog
from pssa.serve.batcher import Batcher
from pssa.serve.errors import RETRY, ApiError, add_error_handlers
from pssa.serve.handlers import CsvTable, choose_saliency, score_items, score_table
from pssa.serve.middleware import add_middleware
from pssa.serve.review.routes import review_router
from pssa.serve.review.session import Review
from pssa.serve.schemas import (
    AspectExplanation,
    AspectResult,
    ErrorResponse,
    ItemsResponse,
    ModelResponse,
    RunInfo,
    limited_requests,
)

_STATIC = Path(__file__).parent / "static"
_PAGE_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_COLUMNS = "names of the columns, such as text=review,aspect=term"
_ESCAPE = "put an apostrophe before cells that a spreadsheet would compute"
_MAX_COLUMNS = 2000  # characters of them
_ROW = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("text", "aspect", "from", "to")},
    "required": ["text", "aspect"],
    "additionalProperties": False,
    "description": "A row; a CSV may have other columns, which come back unchanged.",
}
_CSV_BODY = {
    "required": True,
    "content": {"text/csv": {"schema": {"type": "array", "items": _ROW, "minItems": 1}}},
}


def create_app(
    batcher: Batcher,
    access: AccessPolicy | None = None,
    review: Review | None = None,
    pages: Mapping[str, Response] | None = None,
    access_log: AccessLog | None = None,
) -> FastAPI:
    """Return the application around a batcher; it closes the batcher at its end.

    :param review: evidence to review at `/evidence`.
    :param pages: files of the pages by name; by default those of the package.
    :param access_log: gets a line for each request.
    """
    access = access or AccessPolicy()
    app = _empty_app(batcher)
    add_middleware(app, batcher, access, access_log)
    add_error_handlers(app)
    # The middleware checks the token; the dependency describes it in /openapi.json.
    bearer = [Security(HTTPBearer(scheme_name="token", auto_error=False))] if access.token else []
    reading = [] if access.only_changes else bearer
    app.include_router(_scoring_router(batcher), prefix="/v1", dependencies=reading)
    app.include_router(_model_router(batcher, review is not None), dependencies=reading)
    if review is not None:
        app.include_router(review_router(review, reading, bearer), prefix="/v1")
    app.include_router(_health_router(batcher))
    app.include_router(_page_router(read_pages() if pages is None else pages, review is not None))
    return app


def _empty_app(batcher: Batcher) -> FastAPI:
    """Return an application without routes."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(batcher.close)

    return FastAPI(
        title="pssa",
        version=__version__,
        summary="Aspect-based sentiment: labels, explanations and tables",
        description="Offsets count Unicode code points and are half-open.",
        responses={
            "default": {"model": ErrorResponse, "description": "The request was refused, or the service failed."}
        },
        lifespan=lifespan,
        docs_url=None,  # interactive documentation would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )


def _scoring_router(batcher: Batcher) -> APIRouter:
    predict_request, explain_request = limited_requests(
        batcher.limits,
        {name: served.saliencies for name, served in batcher.runs.items()},
        finds_aspects=batcher.finder is not None,
    )
    router = APIRouter()

    @router.post("/predict", responses={200: {"model": ItemsResponse[AspectResult]}})
    async def predict(body: predict_request, request: Request) -> Response:  # type: ignore[valid-type]
        """Label aspects; one that cannot be labelled has an `error` in its place. Without aspects, they are found."""
        return await score_items(batcher, body, None, request.receive)

    @router.post("/explain", responses={200: {"model": ItemsResponse[AspectExplanation]}})
    async def explain(body: explain_request, request: Request) -> Response:  # type: ignore[valid-type]
        """Label aspects and return the share of each word."""
        return await score_items(batcher, body, choose_saliency(batcher, body), request.receive)

    @router.post("/csv", response_class=Response, responses=_text("text/csv"), openapi_extra={"requestBody": _CSV_BODY})
    async def csv(
        request: Request,
        run: Annotated[Literal[*batcher.runs], Query()] = "first",  # type: ignore[valid-type]
        columns: Annotated[str, Query(description=_COLUMNS, max_length=_MAX_COLUMNS)] = "",
        escape_formulas: Annotated[bool, Query(description=_ESCAPE)] = False,
    ) -> Response:
        """Label the rows of a table; one that cannot be labelled has an `error`."""
        table = CsvTable.read(await request.body(), batcher.limits, columns, batcher.finder is not None)
        chunks = score_table(batcher, table, run, request.receive, escape_formulas)
        first = await anext(chunks)  # raises what is refused before the response begins
        headers = {"Content-Disposition": 'attachment; filename="scored.csv"'}
        return StreamingResponse(_chain(first, chunks), headers=headers, media_type="text/csv")

    return router


def _model_router(batcher: Batcher, has_evidence: bool) -> APIRouter:
    router = APIRouter()

    @router.get("/v1/model")
    async def model() -> ModelResponse:
        """Return the served runs, the limits and the version."""
        runs = {
            key: RunInfo(
                name=served.name,
                model=served.classifier.name,
                labels=list(served.classifier.labels),
                saliencies=list(served.saliencies),
                members=len(served.classifier.members),
            )
            for key, served in batcher.runs.items()
        }
        return ModelResponse(
            runs=runs,
            limits=asdict(batcher.limits),
            finds_aspects=batcher.finder is not None,
            evidence=has_evidence,
            version=__version__,
        )

    @router.get("/metrics", response_class=Response, responses=_text("text/plain"))
    async def metrics() -> Response:
        """Return counters for Prometheus."""
        return Response(batcher.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return router


def _health_router(batcher: Batcher) -> APIRouter:
    router = APIRouter()

    @router.get("/healthz")
    async def alive() -> dict[str, str]:
        """Return whether the service works; if not, restart it."""
        if not batcher.is_alive and not batcher.closing:
            raise ApiError(503, "dead", "the worker has ended; restart the service", RETRY)
        return {"status": "alive"}

    @router.get("/readyz")
    async def ready() -> dict[str, str]:
        """Return whether the service takes requests now."""
        if batcher.closing or batcher.is_full or not batcher.is_alive:
            code = "closing" if batcher.closing else "overloaded" if batcher.is_full else "dead"
            raise ApiError(503, code, "send requests elsewhere, or later", RETRY)
        return {"status": "ready"}

    return router


def read_pages(folder: Path = _STATIC) -> dict[str, Response]:
    """Read the files of the pages, by name; no path of a request ever opens a file."""
    pages = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.suffix in _PAGE_TYPES:
            content = path.read_bytes()
            headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()[:16]}"', "Cache-Control": "no-cache"}
            pages[path.name] = Response(content, headers=headers, media_type=_PAGE_TYPES[path.suffix])
    return pages


def _page_router(pages: Mapping[str, Response], has_evidence: bool) -> APIRouter:
    """Return the routes `/`, `/static/NAME` and, if there is evidence to review, `/evidence`."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def index(request: Request) -> Response:
        return _page(pages, "index.html", request)

    @router.get("/evidence")
    def evidence(request: Request) -> Response:
        if not has_evidence:
            message = "there is no evidence to review; start the service with --evidence FILE --corpus FILE"
            raise ApiError(404, "not_found", message)
        return _page(pages, "evidence.html", request)

    @router.get("/static/{name}")
    def file(name: str, request: Request) -> Response:
        return _page(pages, name, request)

    return router


def _page(pages: Mapping[str, Response], name: str, request: Request) -> Response:
    if name not in pages:
        raise ApiError(404, "not_found", "there is no such page")
    tag = pages[name].headers["etag"]
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag, "Cache-Control": "no-cache"})
    return pages[name]


def _text(media_type: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a response that is text."""
    return {200: {"content": {media_type: {"schema": {"type": "string"}}}}}


async def _chain(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk
