"""Everything that was asked for, shown: each exhibit with what it misses and where it comes from, then what is around them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pssa.data.files import write_atomically
from pssa.experiments.cells import Cell, name_of, with_needs
from pssa.experiments.ledger import Record
from pssa.experiments.provenance import Provenance, shares
from pssa.experiments.schedule import Failure
from pssa.experiments.scope import Findings, Scope
from pssa.models import uses_encoder
from pssa.report.markup import Markup, join
from pssa.studies.exhibit import Exhibit, Part, Prose, Table
from pssa.studies.render.files import write_exhibit, write_page
from pssa.studies.render.gaps import without_gaps
from pssa.studies.render.plain import cells_as_csv
from pssa.studies.render.section import Section, inline, table_box

__all__ = ["Showing"]


@dataclass(frozen=True)
class Showing:
    """Exhibits with the cells of each, what came of them, and where all goes."""

    folder: Path
    scope: Scope
    findings: Findings
    provenance: Provenance
    cells: Mapping[Exhibit, Sequence[Cell]]
    records: Sequence[Record]  # all that there are, of other exhibits too

    def write_exhibits(self) -> dict[str, str]:
        """Show and write every exhibit; returns those that could not be shown, with the reason."""
        broken = {}
        for exhibit, cells in self.cells.items():
            try:
                parts = list(exhibit.show(self.scope, self.findings))
            except Exception as error:
                # What is wrong with one exhibit must not cost the others, which may have taken days.
                broken[exhibit.name] = f"{type(error).__name__}: {error}"
                continue
            try:
                shown = without_gaps(parts)
                about = [*self._starts(cells), *self._missing(cells)]
                write_exhibit(self.folder, exhibit, [*about, *shown, self._origin(cells)])
            except ValueError as error:
                broken[exhibit.name] = str(error)
        return broken

    def write_rest(self, notes: Sequence[str], failures: Sequence[Failure]) -> Path:
        """Write the page, the table of cells and the provenance; returns the page."""
        found = list(self._found(with_needs(cell for each in self.cells.values() for cell in each)))
        made = shares(record for _, record in found)
        plain = json.dumps(self.provenance.plain(made), ensure_ascii=False, indent=1) + "\n"
        write_atomically(self.folder / "provenance.json", plain.encode())
        write_atomically(self.folder / "cells.csv", cells_as_csv(self.records).encode())
        about = [_failed(failures)] if failures else []
        origin = inline(self.provenance.paragraph(made)).source
        about.append(Section("provenance", "Provenance", f"<h2>Provenance</h2>\n<p>{origin}</p>"))
        return write_page(self.folder, notes, about)

    def _found(self, cells: Iterable[Cell]) -> Iterator[tuple[Cell, Record]]:
        for cell in cells:
            record = self.findings.of(cell)
            if record is not None:
                yield cell, record

    def _starts(self, cells: Sequence[Cell]) -> list[Part]:
        """What the models started from, which the paper's did not."""
        kinds = {uses_encoder(cell.place.model) for cell in cells}
        resources = self.scope.resources
        vectors, encoder = resources.vectors, resources.encoder
        told = [f"word vectors `{vectors.name}`"] if vectors and False in kinds else []
        told += (
            [f"the encoder `{resources.encoder_name or encoder.name}`, where the paper has BERT-large"]
            if encoder and True in kinds
            else []
        )
        return [Prose(f"Models start from {' and '.join(told)}.")] if told else []

    def _missing(self, cells: Sequence[Cell]) -> list[Part]:
        count = len(cells) - sum(1 for _ in self._found(cells))
        if not count:
            return []
        return [
            Prose(
                f"Incomplete: {count} of {len(cells)} cells have no outcome yet, or failed; their fields are empty or left out."
            )
        ]

    def _origin(self, cells: Sequence[Cell]) -> Prose:
        return Prose(self.provenance.paragraph(shares(record for _, record in self._found(with_needs(cells)))))


def _failed(failures: Sequence[Failure]) -> Section:
    rows = tuple((name_of(failure.cell), failure.reason) for failure in failures)
    table = Table("failed", "Cells that failed", ("cell", "reason"), rows)
    head = Markup('<h2 id="failed-cells">Cells that failed</h2>')
    return Section("failed", "Cells that failed", join([head, table_box(table, "failed-cells")]).source)
