"""HTML from jinja2 templates, every text escaped: the environment, heat maps to embed, and pages of heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pssa.display import percent
from pssa.report import heat_map
from pssa.report.heat_map import by_sentence, clean, pairs
from pssa.runs.answers import Explanation

_TEMPLATES = Path(__file__).parent / "templates"
_GLOBALS = (
    *("ACCENT", "FULL", "HEAT_COLOUR", "LEVELS", "NAMED"),
    *("alt_text", "changes", "level", "opacity", "scores", "segments", "thickness", "warning"),
)


def make_environment(*folders: Path) -> Environment:
    """Return an environment that escapes every text; templates in `folders` may extend and import those of this package."""
    environment = Environment(
        loader=FileSystemLoader([*folders, _TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )
    environment.globals |= {name: getattr(heat_map, name) for name in _GLOBALS}
    environment.filters |= {"percent": percent, "share": heat_map.format_share}
    return environment


_ENVIRONMENT = make_environment()


def render(template: str, **values: Any) -> str:
    """Fill in a template of this package."""
    return _ENVIRONMENT.get_template(template).render(values)


HEAT_STYLE = render("heat_map.css.jinja")


def to_html(
    explanations: Sequence[Explanation],
    *,
    versus: Sequence[Explanation] | None = None,
    title: str = "Heat maps",
    names: tuple[str, str] = ("this run", "versus"),
) -> str:
    """Return a whole page: aspects of one sentence below each other, beside those of another run, `versus`."""
    return render("heat_maps.html.jinja", title=title, names=names, sentences=by_sentence(pairs(explanations, versus)))


def html_fragment(explanation: Explanation, name: str = "") -> str:
    """Return the heat map of one explanation, for a page with the style `HEAT_STYLE`; `name` is that of the run."""
    macros: Any = _ENVIRONMENT.get_template("heat_map.html.jinja").module
    return str(macros.heat_map(explanation, name)).strip()
