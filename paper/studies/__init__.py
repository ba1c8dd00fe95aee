"""Studies: every table and figure of the paper, and what goes beyond it, rebuilt by one command.

    from pathlib import Path

    from paper.experiments.resources import Resources, Scope
    from paper.studies.reproduce import reproduce

    resources = Resources.find(Path("data"), vectors=Path("glove.txt"), encoder=None)
    reproduce(["overall"], Scope(resources, seeds=5), Path("experiments"))

An exhibit (`exhibits/`) turns records of cells into tables and figures; the cells that it looks up are those it needs. The
schedule of `paper.experiments` executes each cell once and appends its record to the ledger, and `pages` writes the exhibit.
"""

from pssa.errors import import_extra

for _module in ("matplotlib", "pandas", "tabulate"):  # pandas writes Markdown with the last
    import_extra(_module, "report")
