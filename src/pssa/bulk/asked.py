"""What decides about a job's output, in plain values: a job that is resumed must find all of it unchanged."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pssa import __version__
from pssa.bulk.job import Job
from pssa.bulk.window import Reading
from pssa.data.read import Columns

__all__ = ["asked_of", "run_digest"]

_FILES = ("config.toml", "model.json", "vocabulary.json", "*.safetensors", "encoder/**/*", "members/**/*")
_UNFINISHED = ("stages/initial/*.safetensors", "stages/*/checkpoint.safetensors")


def asked_of(job: Job, reading: Reading) -> dict[str, Any]:
    """By the names that an error gives them. What may change is not among them: whether bad rows are skipped, since
    those written were good; who computes, since all compute the same; the size of batches, which changes how numbers are rounded,
    since who ran out of memory must be able to go on.
    """
    scoring = job.scoring
    return {
        "the version of pssa": __version__,
        "the run": run_digest(job.run),
        "the inputs": {
            f"input {source.name}": {
                f"the format of {source.name}": source.format,
                f"the size of {source.name}": source.size,
                f"the time of {source.name}": source.modified,
            }
            for source in reading.sources
        },
        "the order of the inputs": hashlib.sha256("\0".join(s.name for s in reading.sources).encode()).hexdigest(),
        "`columns` (--columns)": _columns(job, reading),
        "the output's format": job.output_format,
        "the file of rejected rows": str(job.side),
        "`saliency` (--explain)": scoring.saliency,
        "`device` (--device)": scoring.chosen_device,
        "`precision` (--precision)": scoring.precision,
        "`runtime` (--runtime)": scoring.runtime,
        "`quantize` (--quantize)": scoring.quantize,
    }


def _columns(job: Job, reading: Reading) -> str | None:
    named = Columns.of(job.columns)
    if all(source.format == "csv" for source in reading.sources):  # where upper and lower case are the same
        named = named.lowered()
    return str(named.in_order()) or None


def run_digest(run: Path) -> str:
    """A digest of all files that decide what the run says."""
    digest = hashlib.sha256()
    patterns = _FILES if (run / "model.safetensors").exists() or (run / "members").exists() else _FILES + _UNFINISHED
    for path in sorted({path for pattern in patterns for path in run.glob(pattern) if path.is_file()}):
        digest.update(f"{path.relative_to(run)}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
