"""The look of the page of exhibits: that of run reports, with contents at the side, boxes that scroll, and a dark side."""

from __future__ import annotations

from pssa.report.heat_map import ACCENT, LEVELS
from pssa.report.html import HEAT_STYLE, PAGE_STYLE

__all__ = ["STYLE"]

_DARK_ACCENT = "#f0a04b"
# From here on, dark letters are the better to read.
_HOT = ", ".join(f".h{level}" for level in range(7, LEVELS + 1))

_EXHIBITS = f"""\
:root {{ color-scheme: light dark; }}
html {{ scroll-padding-top: 0.5rem; }}
nav h2 {{ font-size: 0.95rem; margin: 0.6rem 0 0.2rem; border: 0; }}
nav ul {{ margin: 0; }}
.mark {{ font-size: 0.75rem; font-weight: 500; border: 1px solid; border-radius: 4px; padding: 0 0.4em; vertical-align: middle; }}
.wide:focus-visible {{ outline: 3px solid {ACCENT}; outline-offset: 2px; }}
.fields tbody th, .fields td {{ white-space: nowrap; }}
.fields thead th {{ vertical-align: bottom; text-wrap: balance; }}
.fields .long {{ white-space: normal; min-width: 18rem; }}
.fields .number {{ text-align: right; }}
.fields .several {{ white-space: normal; min-width: 8rem; }}
.fields thead th:first-child, .fields tbody th {{ position: sticky; left: 0; background: #fff; }}
.drawing {{ background: #fff; border-radius: 6px; }}
.drawing svg {{ min-width: 40rem; width: 100%; display: block; }}
.drawing.small {{ width: fit-content; max-width: 100%; }}
.drawing.small svg {{ min-width: 0; width: auto; }}
code {{ font: 0.875em ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }}
@media (min-width: 75rem) {{
  body {{ max-width: 84rem; display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 0 2.5rem; }}
  header {{ grid-column: 1 / -1; }}
  nav {{ position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; }}
  nav ul {{ display: block; }}
  nav li {{ margin: 0.15rem 0; }}
  main > section:first-child h2 {{ margin-top: 0.6rem; }}
}}
@media (max-width: 40rem) {{
  .fields .long {{ min-width: 13rem; }}
  .fields tbody th, .fields thead th:first-child {{ white-space: normal; min-width: 6rem; max-width: 9rem; }}
  .fields tbody th.long {{ min-width: 7.5rem; }}
}}
@media screen and (prefers-color-scheme: dark) {{
  html {{ color: #e8e6e3; background: #17181a; }}
  a {{ color: {_DARK_ACCENT}; }}
  h2 {{ border-color: #444; }}
  th, td {{ border-color: #3a3b3e; }}
  thead th {{ border-color: #777; }}
  pre {{ background: #222427; }}
  .note, .heat-map .by {{ color: #b5b3b0; }}
  .warning {{ border-color: {_DARK_ACCENT}; }}
  .heat i[data-n]::after {{ color: inherit; }}
  {_HOT} {{ color: #111; }}
  .heat .aspect {{ outline-color: #aaa; }}
  .fields thead th:first-child, .fields tbody th {{ background: #17181a; }}
  .drawing {{ color: #1a1a1a; padding: 0.4rem; }}
}}
"""

STYLE = PAGE_STYLE + HEAT_STYLE + _EXHIBITS
