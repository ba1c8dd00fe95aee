"""The HTTP service: predictions, explanations, scored tables, and the pages that show them. Needs the extra `serve`."""

from __future__ import annotations

from importlib.util import find_spec

from pssa.errors import MissingExtra

__all__: list[str] = []

for _module in ("fastapi", "httptools", "prometheus_client", "python_multipart", "uvicorn"):
    if find_spec(_module) is None:
        raise MissingExtra(_module, "serve")
