"""The look of pages: system fonts, dark on light, one accent colour, and heat that survives greyscale and a printer.

Heat is the opacity of the accent behind a word and, for who sees no colour, the thickness of the line under it. There are only
classes, no style attributes, so that the fragments also work where a page forbids those.
"""

from __future__ import annotations

from pssa.report.heat import LEVELS

__all__ = ["ACCENT", "HEAT", "HEAT_STYLE", "PAGE_STYLE", "REPORT_STYLE", "opacity", "thickness"]

ACCENT = "#b45309"
HEAT = (245, 158, 11)  # red, green, blue
_THICK = (0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4)  # of the line under a word, in pixels, by level


def opacity(level: int) -> float:
    """Of the accent behind a word."""
    return round(0.85 * level / LEVELS, 3)


def thickness(level: int) -> int:
    """Of the line under a word, in pixels."""
    return _THICK[level]


def _levels() -> str:
    red, green, blue = HEAT
    return "".join(
        f".h{level} {{ background: rgba({red}, {green}, {blue}, {opacity(level)}); "
        f"border-bottom: {thickness(level)}px solid {ACCENT}; }}\n"
        for level in range(1, LEVELS + 1)
    )


HEAT_STYLE = """\
.heat-map { margin: 0.8rem 0; min-width: 0; }
.heat-map figcaption { margin-bottom: 0.2rem; }
.heat-map .by { color: #555; }
.heat { margin: 0; line-height: 2.1; overflow-wrap: anywhere; }
.heat i { font-style: normal; padding: 0.1em 0; border-radius: 2px; print-color-adjust: exact;
  -webkit-print-color-adjust: exact; }
.heat i[data-n]::after { content: attr(data-n); font-size: 0.62em; color: #333; vertical-align: super; margin-left: 0.1em; }
.heat .aspect { outline: 1.5px solid #555; outline-offset: 1px; border-radius: 2px; margin: 0 0.15em; }
.side-by-side { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2rem; }
@media (max-width: 50rem) { .side-by-side { grid-template-columns: minmax(0, 1fr); } }
""" + _levels()

PAGE_STYLE = f"""\
html {{ color: #1a1a1a; background: #fff; font: 100%/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }}
body {{ max-width: 62rem; margin: 0 auto; padding: 1rem; }}
h1 {{ font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.25rem; margin: 2.2rem 0 0.5rem; border-bottom: 1px solid #ccc; overflow-wrap: anywhere; }}
h3 {{ font-size: 1.05rem; margin: 1.4rem 0 0.4rem; overflow-wrap: anywhere; }}
a {{ color: {ACCENT}; }}
a:focus-visible, summary:focus-visible {{ outline: 3px solid {ACCENT}; outline-offset: 2px; }}
nav ul {{ list-style: none; display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; padding: 0; }}
.wide {{ overflow-x: auto; margin: 0.8rem 0; }}
table {{ border-collapse: collapse; min-width: min(100%, 22rem); font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; font-weight: 600; padding-bottom: 0.3rem; }}
th, td {{ padding: 0.2rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }}
thead th {{ border-bottom: 2px solid #999; }}
tbody th {{ font-weight: 500; }}
.numbers th:not(:first-child), .numbers td {{ text-align: right; }}
.text td {{ overflow-wrap: anywhere; }}
figure {{ margin: 0.8rem 0; }}
figcaption {{ overflow-wrap: anywhere; }}
summary {{ cursor: pointer; padding: 0.3rem 0; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f6f6; padding: 0.8rem; font-size: 0.85rem; }}
svg {{ max-width: 100%; height: auto; }}
.note {{ color: #444; }}
.warning {{ border-left: 4px solid {ACCENT}; padding: 0.2rem 0.8rem; font-weight: 600; }}
.sentence {{ padding: 0 0 0.4rem; }}
.numbers td {{ white-space: nowrap; }}
@media (max-width: 40rem) {{
  table {{ font-size: 0.78rem; }}
  th, td {{ padding: 0.2rem; }}
  .numbers td {{ white-space: normal; }}
}}
@media print {{
  body {{ max-width: none; padding: 0; font-size: 10pt; }}
  nav {{ display: none; }}
  a {{ color: inherit; }}
  figure, tr, .sentence {{ break-inside: avoid; }}
  h2, h3, caption {{ break-after: avoid; }}
}}
"""

REPORT_STYLE = """\
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0 2rem; }
.beside > * { min-width: 0; }
.rounds td { overflow-wrap: normal; }
.rounds td:nth-child(2) { min-width: 14rem; overflow-wrap: anywhere; }
.rounds td:nth-child(3) { white-space: nowrap; }
.rounds .heat { line-height: 1.7; }
.rounds s { color: #666; text-decoration: none; font-style: italic; font-size: 0.85em; border-bottom: 1px dotted #666; }
.heat .misleading { border-bottom-style: dashed; }
@media (max-width: 40rem) {
  .rounds thead { display: none; }
  .rounds tr { display: grid; grid-template-columns: auto 1fr auto auto; padding: 0.3rem 0; border-bottom: 1px solid #ddd; }
  .rounds th, .rounds td { border: 0; }
  .rounds tbody th::before { content: "round "; }
  .rounds td:nth-child(2) { grid-row: 2; grid-column: 1 / -1; min-width: 0; }
  .rounds td:nth-child(4) { white-space: nowrap; }
  .rounds td:nth-child(4)::after { content: " bits"; }
}
"""
