"""The lock file and the bill of materials."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "lock.py"
PACKAGE = {
    "metadata": {"name": "Some_Thing", "version": "1.2", "license_expression": "MIT"},
    "download_info": {"archive_info": {"hashes": {"sha256": "ab" * 32}}},
}


def script() -> Any:
    spec = importlib.util.spec_from_file_location("lock", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_package_has_its_hash_in_the_lock_and_in_the_bill() -> None:
    head, line = script().lock_text([PACKAGE]).splitlines()
    assert head.startswith("# For Python 3")
    assert line == f"Some_Thing==1.2 --hash=sha256:{'ab' * 32}"
    bill = script().bill([PACKAGE])
    assert (bill["bomFormat"], bill["components"][0]["purl"]) == ("CycloneDX", "pkg:pypi/some-thing@1.2")
    assert bill["components"][0]["licenses"] == [{"license": {"name": "MIT"}}]
