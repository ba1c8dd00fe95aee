"""Heat maps of explanations: in the terminal, as HTML, as SVG.

explanations = explain(classifier, examples)
rich.print(to_terminal(explanations))
Path("map.html").write_text(to_html(explanations), "utf-8")
"""

from __future__ import annotations

from pssa.report.html import STYLE, comparison_fragment, html_fragment, legend, to_html
from pssa.report.svg import to_svg
from pssa.report.terminal import to_terminal

__all__ = ["STYLE", "comparison_fragment", "html_fragment", "legend", "to_html", "to_svg", "to_terminal"]
