"""Heat maps of explanations, and the report about a run.

explanations = explain(classifier, examples)
rich.print(to_terminal(explanations))
Path("map.html").write_text(to_html(explanations), "utf-8")
"""

from __future__ import annotations

from pssa.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
