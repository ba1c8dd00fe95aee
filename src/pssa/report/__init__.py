"""Heat maps of explanations, and the report about a run.

explanations = explain(classifier, examples)
rich.print(to_terminal(explanations))
Path("map.html").write_text(to_html(explanations), "utf-8")
"""

from pssa.report.html import html_fragment, to_html
from pssa.report.svg import to_svg
from pssa.report.terminal import to_terminal

__all__ = ["html_fragment", "to_html", "to_svg", "to_terminal"]
