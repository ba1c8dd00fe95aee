"""The notebook of the documentation runs from the first cell to the last, and its kept outputs are current and small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"


def shown(notebook: Any) -> str:
    """All HTML that the notebook's cells show."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "".join(output.get("data", {}).get("text/html", "") for output in outputs)


def test_its_outputs_are_kept_and_say_nothing_of_the_machine() -> None:
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert NOTEBOOK.stat().st_size < 100_000
    for part in ("heat-map", "Corpus of 864 instances", "Evaluation on", "Evidence in"):
        assert part in shown(notebook)
    assert "/tmp" not in NOTEBOOK.read_text("utf-8")  # noqa: S108
    assert "Traceback" not in NOTEBOOK.read_text("utf-8")


@pytest.mark.slow
def test_it_runs_from_the_first_cell_to_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:
        cell.pop("outputs", None) if cell.cell_type == "markdown" else cell.update(outputs=[])
    client = nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    for part in ("heat-map", "Evaluation on", "done after"):
        assert part in shown(notebook)
