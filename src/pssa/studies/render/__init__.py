"""Exhibits as files: Markdown, LaTeX, CSV, JSON, SVG, PNG, and one page that holds them all."""

from pssa.studies.render.files import write_exhibit, write_page

__all__ = ["write_exhibit", "write_page"]
