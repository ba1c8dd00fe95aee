"""Write a lock file with hashes, and a software bill of materials, of everything that `constraints.txt` pins.

    python scripts/lock.py --out requirements.lock --sbom sbom.json
    pip install --require-hashes -r requirements.lock && pip install --no-deps .

The hashes are those of the files that pip would install here: for this Python, this platform and the index that pip is configured
with. Make the lock where you trust the index, and install from it elsewhere. The bill of materials is CycloneDX 1.5.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_HASH = "sha256"


def main() -> int:
    """Ask pip, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="lock file to write")
    parser.add_argument("--sbom", type=Path, help="bill of materials to write")
    parser.add_argument("--constraints", type=Path, default=ROOT / "constraints.txt")
    arguments = parser.parse_args()
    packages = _resolve(arguments.constraints)
    arguments.out.write_text(lock_text(packages), "utf-8")
    if arguments.sbom is not None:
        arguments.sbom.write_text(json.dumps(bill(packages), indent=2) + "\n", "utf-8")
    print(f"{len(packages)} packages in {arguments.out}")
    return 0


def _resolve(constraints: Path) -> list[dict[str, Any]]:
    """Return what pip would install for each pin, with the hash of its file; nothing is installed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--ignore-installed", "--quiet"]
        subprocess.run([*command, "--report", str(report), "-r", str(constraints)], check=True)
        found: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["install"]
    return sorted(found, key=lambda package: str(package["metadata"]["name"]).lower())


def lock_text(packages: list[dict[str, Any]]) -> str:
    """Return the lock file."""
    head = (
        f"# For Python {platform.python_version()} on {platform.system()} {platform.machine()}; see scripts/lock.py.\n"
    )
    return head + "".join(
        f"{package['metadata']['name']}=={package['metadata']['version']} --hash={_HASH}:{_digest(package)}\n"
        for package in packages
    )


def bill(packages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the bill of materials."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", "name": "pssa", "version": version("pssa")}},
        "components": [_component(package) for package in packages],
    }


def _component(package: dict[str, Any]) -> dict[str, Any]:
    metadata = package["metadata"]
    name = metadata["name"]
    component = {
        "type": "library",
        "name": name,
        "version": metadata["version"],
        "purl": f"pkg:pypi/{str(name).lower().replace('_', '-')}@{metadata['version']}",
        "hashes": [{"alg": "SHA-256", "content": _digest(package)}],
    }
    stated = metadata.get("license_expression") or metadata.get("license") or ""
    if stated and len(stated) < 100:  # some put the whole text there
        component["licenses"] = [{"license": {"name": stated}}]
    return component


def _digest(package: dict[str, Any]) -> str:
    return str(package["download_info"]["archive_info"]["hashes"][_HASH])


if __name__ == "__main__":
    sys.exit(main())
