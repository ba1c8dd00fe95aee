"""The fingerprint of a job: everything that decides its output. A job is resumed only if its fingerprint has not changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pssa import __version__
from pssa.data.files import require_regular
from pssa.data.rows import Columns
from pssa.data.validation import shorten
from pssa.errors import setting

if TYPE_CHECKING:
    from pssa.predict.job import Job
    from pssa.predict.source import Source

RESUME = setting("begin", "resume", option="--resume")
REPLACE = setting("begin", "replace", option="--force")
BEGIN_AGAIN = f"begin again with {REPLACE}"

_RUN_FILES = (
    "config.toml",
    "model.json",
    "calibration.json",
    "inputs.json",
    "tagger.json",
    "vocabulary.json",
    "tokenizer.json",
    "*.onnx",
    "*.safetensors",
    "encoder/**/*",
    "members/**/*",
)
_UNFINISHED_RUN_FILES = ("stages/initial/*.safetensors", "stages/*/checkpoint.safetensors")


def job_fingerprint(job: Job, sources: Sequence[Source]) -> dict[str, Any]:
    """Return the fingerprint as plain values, under the names that an error uses for them.

    Left out is what may change before a job is resumed: whether bad rows are skipped, since the rows written so far are good;
    the engine, since all engines compute the same; the batch size, which changes how numbers are rounded, since a job that ran
    out of memory must be able to continue.
    """
    scoring, finding = job.scoring, job.finding
    ignores_case = all(source.format == "csv" for source in sources)
    columns = {
        name: column.lower() if ignores_case else column for name, column in sorted(Columns.of(job.columns).pairs)
    }
    found = {
        "the tagger": run_digest(finding.tagger) if finding.tagger else None,
        "aspects": list(finding.names),
        "keep_empty": finding.keep_empty,
        "min_score": finding.min_score,
        "mentions": finding.mentions,
    }
    return {
        "the version of pssa": __version__,
        "the run": run_digest(job.run),
        "the inputs": {
            f"input {source.name}": {
                f"the format of {source.name}": source.format,
                f"the size of {source.name}": source.size,
                f"the time of {source.name}": source.modified,
            }
            for source in sources
        },
        "the order of the inputs": hashlib.sha256("\0".join(one.name for one in sources).encode()).hexdigest(),
        "the output's format": job.output_format,
        **({"escape_formulas": True} if job.escape_formulas else {}),  # as jobs of earlier versions
        "the file of rejected rows": str(job.rejected_path),
        "columns": str(Columns.of(columns)) or None,
        "encoding": job.encoding,
        "saliency": scoring.saliency,
        "device": scoring.chosen_device,
        "precision": scoring.precision,
        "abstain": scoring.abstain,
        "abstain_risk": scoring.abstain_risk,
        **(found if finding.finds else {}),
    }


def find_difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return an error message about the first value that differs between two fingerprints; empty if none does."""
    for name in dict.fromkeys((*now, *before)):
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict) and (inner := find_difference(old, new)):
            return inner
        if old != new:
            option = "--explain" if name == "saliency" else ""
            changed = setting(name, option=option) if name.isidentifier() else name
            return f"{changed} has changed since the job began (now {shorten(new)}, then {shorten(old)}); {BEGIN_AGAIN}"
    return ""


def run_digest(run: Path) -> str:
    """Return a digest of all files that decide what a run predicts."""
    digest = hashlib.sha256()
    is_saved = (run / "model.safetensors").exists() or (run / "members").exists()
    patterns = _RUN_FILES if is_saved else _RUN_FILES + _UNFINISHED_RUN_FILES
    for path in sorted({path for pattern in patterns for path in run.glob(pattern) if path.is_file()}):
        require_regular(path)
        digest.update(f"{path.relative_to(run)}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
