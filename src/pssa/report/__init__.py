"""Pictures for people: heat maps of explanations, and a run's report page."""

from pssa.report.heat_map import html_fragment, to_html, to_svg, to_terminal

__all__ = ["html_fragment", "to_html", "to_svg", "to_terminal"]
