"""The application: `create_app` puts routes, pages and middleware around a batcher."""

# Annotations are evaluated here: FastAPI reads them, and some name values of one service.

import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import FastAPI, Query, Request, Response, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.params import Depends
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.datastructures import UploadFile

from pssa import __version__
from pssa.serve.access import AccessPolicy
from pssa.serve.batcher import Batcher
from pssa.serve.errors import RETRY, ApiError, add_error_handlers
from pssa.serve.handlers import attend, choose_saliency, score_items
from pssa.serve.middleware import Guard
from pssa.serve.monitoring import AccessLog
from pssa.serve.schemas import Item, limited_requests, response
from pssa.serve.tables import CsvTable, score_table

if TYPE_CHECKING:
    from pssa.serve.review.session import Review

_FOLDER = Path(__file__).parent
_PAGE_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_COLUMNS = "names of the columns, such as text=review,aspect=term"
_ESCAPE = "put an apostrophe before cells that a spreadsheet would compute"
_MAX_COLUMNS = 2000  # characters of them
_CSV_BODY = {
    "required": True,
    "content": {
        "text/csv": {"schema": {"$ref": "#/components/schemas/Table"}},
        "multipart/form-data": {"schema": {"$ref": "#/components/schemas/TableForm"}},
    },
}


def create_app(
    batcher: Batcher,
    access: AccessPolicy | None = None,
    review: "Review | None" = None,
    pages: Mapping[str, Response] | None = None,
    access_log: AccessLog | None = None,
) -> FastAPI:
    """Return the application around a batcher; it closes the batcher at its end.

    :param review: evidence to review at `/evidence`.
    :param pages: files of the pages by name; by default those of the package.
    :param access_log: gets a line for each request.
    """
    access = access or AccessPolicy()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(batcher.close)

    app = FastAPI(
        title="pssa",
        version=__version__,
        summary="Aspect-based sentiment: labels, explanations and tables",
        description="Offsets count Unicode code points and are half-open.",
        responses={"default": {"$ref": "#/components/responses/Refused"}},
        lifespan=lifespan,
        docs_url=None,  # FastAPI's page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(Guard, batcher=batcher, access=access, log=access_log)
    add_error_handlers(app)
    # The middleware checks the token; the dependency describes it in /openapi.json.
    bearer = [Security(HTTPBearer(scheme_name="token", auto_error=False))] if access.token else []
    reading = [] if access.only_changes else bearer
    _add_scoring(app, batcher, reading)
    _add_model(app, batcher, review is not None, reading)
    if review is not None:
        from pssa.serve.review.routes import add_review_routes  # which needs torch, as training does

        add_review_routes(app, review, reading, bearer)
    _add_health(app, batcher)
    _add_pages(app, read_pages(*page_folders()) if pages is None else pages, review is not None)
    _describe_responses(app)
    return app


def _describe_responses(app: FastAPI) -> None:
    """Describe the bodies of responses, which no code validates, by a file."""
    components = app.openapi().setdefault("components", {})  # of the description that the application keeps
    components["schemas"] = components.get("schemas", {}) | json.loads((_FOLDER / "responses.json").read_text("utf-8"))
    refused = response("ErrorResponse")[200] | {"description": "The request was refused, or the service failed."}
    components["responses"] = {"Refused": refused}


def _add_scoring(app: FastAPI, batcher: Batcher, dependencies: list[Depends]) -> None:
    predict_request, explain_request = limited_requests(
        batcher.limits,
        {name: served.classifier.saliencies for name, served in batcher.runs.items()},
        finds_aspects=batcher.finder is not None,
    )

    async def answer(body: Any, saliency: str | None, request: Request) -> Response:
        items: Sequence[Item] = getattr(body, "items", [body])
        work = score_items(batcher, items, body.run, saliency)
        return await attend(work, request.receive, batcher.limits.request_seconds)

    @app.post("/v1/predict", responses=response("Labels", takes_body=True), dependencies=dependencies)
    async def predict(body: predict_request, request: Request) -> Response:  # type: ignore[valid-type]
        """Label aspects; one that cannot be labelled has an `error` in its place. Without aspects, they are found."""
        return await answer(body, None, request)

    @app.post("/v1/explain", responses=response("Explanations", takes_body=True), dependencies=dependencies)
    async def explain(body: explain_request, request: Request) -> Response:  # type: ignore[valid-type]
        """Label aspects and return the share of each word."""
        return await answer(body, choose_saliency(batcher, body), request)

    @app.post(
        "/v1/csv",
        response_class=Response,
        responses=response("", takes_body=True) | _text("text/csv"),
        dependencies=dependencies,
        openapi_extra={"requestBody": _CSV_BODY},
    )
    async def csv(
        request: Request,
        run: Annotated[Literal[*batcher.runs], Query()] = "first",  # type: ignore[valid-type]
        columns: Annotated[str, Query(description=_COLUMNS, max_length=_MAX_COLUMNS)] = "",
        escape_formulas: Annotated[bool, Query(description=_ESCAPE)] = False,
    ) -> Response:
        """Label the rows of a table, sent as it is or as the file of a form; one that cannot be labelled has an `error`."""
        if request.headers.get("content-type", "").lower().startswith("multipart/"):
            async with request.form(max_files=1, max_fields=1) as form:  # as in `curl -F file=@reviews.csv`
                file = form.get("file")
                if not isinstance(file, UploadFile):
                    raise ApiError(422, "no_file", "the form has no file; send the table as its field `file`")
                content = await file.read()
        else:
            content = await request.body()
        table = CsvTable.read(content, batcher.limits, columns, batcher.finder is not None)
        chunks = score_table(batcher, table, run, request.receive, escape_formulas)
        first = await anext(chunks)  # raises what is refused before the response begins
        headers = {"Content-Disposition": 'attachment; filename="scored.csv"'}

        async def whole() -> AsyncIterator[bytes]:
            yield first
            async for chunk in chunks:
                yield chunk

        return StreamingResponse(whole(), headers=headers, media_type="text/csv")


def _add_model(app: FastAPI, batcher: Batcher, has_evidence: bool, dependencies: list[Depends]) -> None:
    @app.get("/v1/model", responses=response("ModelResponse"), dependencies=dependencies)
    async def model() -> dict[str, Any]:
        """Return the served runs, the limits and the version."""
        runs = {
            key: {
                "name": served.name,
                "model": served.classifier.name,
                "labels": list(served.classifier.labels),
                "saliencies": list(served.classifier.saliencies),  # the usual one first
                "members": len(runtime.members) if (runtime := served.classifier.runtime.in_torch) else 1,  # that vote
            }
            for key, served in batcher.runs.items()
        }
        finds = batcher.finder is not None
        about = {"finds_aspects": finds, "evidence": has_evidence, "version": __version__}
        return {"runs": runs, "limits": asdict(batcher.limits), **about}

    @app.get("/metrics", response_class=Response, responses=_text("text/plain"), dependencies=dependencies)
    async def metrics() -> Response:
        """Return counters for Prometheus."""
        return Response(batcher.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _add_health(app: FastAPI, batcher: Batcher) -> None:
    @app.get("/healthz")
    async def alive() -> dict[str, str]:
        """Return whether the service works; if not, restart it."""
        if not batcher.is_alive and not batcher.closing:
            raise ApiError(503, "dead", "the worker has ended; restart the service", RETRY)
        return {"status": "alive"}

    @app.get("/readyz")
    async def ready() -> dict[str, str]:
        """Return whether the service takes requests now."""
        if batcher.closing or batcher.is_full or not batcher.is_alive:
            code = "closing" if batcher.closing else "overloaded" if batcher.is_full else "dead"
            raise ApiError(503, code, "send requests elsewhere, or later", RETRY)
        return {"status": "ready"}


def page_folders() -> list[Path]:
    """Return the folders of the pages and of Swagger UI."""
    swagger = find_spec("fastapi_swagger")
    found = (swagger.submodule_search_locations if swagger else None) or ()
    return [_FOLDER / "static", *(Path(place) / "resources" for place in found)]


def read_pages(*folders: Path) -> dict[str, Response]:
    """Read the files of the pages, by name; no path of a request ever opens a file."""
    pages = {}
    for path in [path for folder in folders if folder.is_dir() for path in folder.iterdir()]:
        if path.suffix in _PAGE_TYPES:
            content = path.read_bytes()
            headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()[:16]}"', "Cache-Control": "no-cache"}
            pages[path.name] = Response(content, headers=headers, media_type=_PAGE_TYPES[path.suffix])
    return pages


def _add_pages(app: FastAPI, pages: Mapping[str, Response], has_evidence: bool) -> None:
    """Add `/`, `/docs`, `/static/NAME` and, if there is evidence to review, `/evidence`."""
    names = {"/": "index.html", "/docs": "docs.html", "/evidence": "evidence.html"}

    async def page(request: Request) -> Response:
        path = request.scope["path"]
        if path == "/evidence" and not has_evidence:
            message = "there is no evidence to review; start the service with --evidence FILE --corpus FILE"
            raise ApiError(404, "not_found", message)
        found = pages.get(names.get(path) or request.path_params["name"])
        if found is None:
            raise ApiError(404, "not_found", "there is no such page")
        if request.headers.get("if-none-match") == found.headers["etag"]:
            return Response(status_code=304, headers={"ETag": found.headers["etag"], "Cache-Control": "no-cache"})
        return found

    for path in (*names, "/static/{name}"):
        app.add_route(path, page, ["GET"], include_in_schema=False)


def _text(media_type: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a response that is text."""
    return {200: {"content": {media_type: {"schema": {"type": "string"}}}}}
