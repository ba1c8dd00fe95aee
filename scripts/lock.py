"""Write the lock file: every pin of `constraints.txt` with the hashes of all its files; and a bill of materials.

    python scripts/lock.py
    pip install --require-hashes --no-deps -r requirements.lock

The lock holds for every platform and Python, since it lists every file that the index offers for a pin. Of torch it lists the CPU
builds, which need no other packages and have an index of their own; if that cannot be reached, the hashes that the lock has for
the pin stay. The bill of materials (CycloneDX 1.5) is that of what pip would install here.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[1]
INDEX = "https://pypi.org/simple"
OTHER_INDEXES = {"torch": "https://download.pytorch.org/whl/cpu"}
_HASH = "sha256"
_LINK = re.compile(r'href="[^"]*?([^"/#]+)#sha256=([0-9a-f]{64})"')
_HEAD = "# Pins of constraints.txt with the hashes of all their files; written by scripts/lock.py.\n"


def main() -> int:
    """Ask the indexes, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "requirements.lock", help="lock file to write or update")
    parser.add_argument("--sbom", type=Path, help="bill of materials to write")
    parser.add_argument("--constraints", type=Path, default=ROOT / "constraints.txt")
    parser.add_argument("--index", default=INDEX, help="address of the package index")
    arguments = parser.parse_args()
    known = read_lock(arguments.out) if arguments.out.exists() else {}
    pins = arguments.constraints.read_text("utf-8").split()
    with ThreadPoolExecutor(8) as pool:
        offered = list(pool.map(lambda pin: _offered(pin, arguments.index), pins))
    locked = {pin: hashes or known.get(pin, set()) for pin, hashes in zip(pins, offered, strict=True)}
    if empty := [pin for pin, hashes in locked.items() if not hashes]:
        print(f"lock.py: no index has a file of {', '.join(empty)}; nothing is written", file=sys.stderr)
        return 1
    arguments.out.write_text(lock_text(locked), "utf-8")
    if arguments.sbom is not None:
        arguments.sbom.write_text(json.dumps(bill(_resolve(arguments.constraints)), indent=2) + "\n", "utf-8")
    print(f"{len(locked)} packages in {arguments.out}")
    return 0


def read_lock(path: Path) -> dict[str, set[str]]:
    """Return the hashes in a lock file, by pin."""
    entries = path.read_text("utf-8").replace("\\\n", " ").splitlines()
    words = [entry.split() for entry in entries if entry and not entry.startswith("#")]
    return {pin: {each.removeprefix(f"--hash={_HASH}:") for each in hashes} for pin, *hashes in words}


def lock_text(locked: dict[str, set[str]]) -> str:
    """Return the content of a lock file."""
    lines = ([pin, *(f"    --hash={_HASH}:{each}" for each in sorted(hashes))] for pin, hashes in locked.items())
    return _HEAD + "".join(" \\\n".join(entry) + "\n" for entry in lines)


def hashes_in(page: str, wanted: str) -> set[str]:
    """Return the hashes of a version's files on the page that an index has about a package."""
    found = ((unquote(name), digest) for name, digest in _LINK.findall(page))
    return {digest for name, digest in found if _version_of(name) == Version(wanted)}


def _version_of(name: str) -> Version | None:
    """Return the version in the name of a file, without the part that tells builds of it apart."""
    try:
        found = parse_wheel_filename(name)[1] if name.endswith(".whl") else parse_sdist_filename(name)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    return Version(found.public)


def _offered(pin: str, index: str) -> set[str]:
    name, _, wanted = pin.partition("==")
    project = re.sub(r"[-_.]+", "-", name).lower()
    page = f"{OTHER_INDEXES.get(project, index)}/{project}/"
    try:
        answer = httpx.get(page, headers={"Accept": "text/html"}, follow_redirects=True, timeout=60)
        return hashes_in(answer.raise_for_status().text, wanted)
    except httpx.HTTPError as error:
        print(f"lock.py: {page} cannot be read ({error}); hashes of {pin} stay as they are", file=sys.stderr)
        return set()


def _resolve(constraints: Path) -> list[dict[str, Any]]:
    """Return what pip would install for each pin, with the hash of its file; nothing is installed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--ignore-installed", "--quiet"]
        subprocess.run([*command, "--report", str(report), "-r", str(constraints)], check=True)
        found: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["install"]
    return sorted(found, key=lambda package: str(package["metadata"]["name"]).lower())


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
        "hashes": [{"alg": "SHA-256", "content": package["download_info"]["archive_info"]["hashes"][_HASH]}],
    }
    stated = metadata.get("license_expression") or metadata.get("license") or ""
    if stated and len(stated) < 100:  # some put the whole text there
        component["licenses"] = [{"license": {"name": stated}}]
    return component


if __name__ == "__main__":
    sys.exit(main())
