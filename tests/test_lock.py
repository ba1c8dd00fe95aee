"""The lock file and the bill of materials."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "lock.py"
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


def test_the_lock_pins_what_the_constraints_pin_and_hashes_all_of_it() -> None:
    locked = script().read_lock(ROOT / "requirements.lock")
    assert list(locked) == (ROOT / "constraints.txt").read_text("utf-8").split(), "run: make lock"
    assert [pin for pin, hashes in locked.items() if not hashes or any(len(each) != 64 for each in hashes)] == []


def test_all_files_of_a_version_are_locked_and_none_of_another(tmp_path: Path) -> None:
    names = [
        "a_b-1.2-py3-none-any.whl",
        "a_b-1.2%2Bcpu-cp311-cp311-win32.whl",
        "a_b-1.2.tar.gz",
        "a_b-1.20.tar.gz",
        "x",
    ]
    links = [f'<a href="../f/{name}#sha256={number:064x}">{name}</a>' for number, name in enumerate(names)]
    found = script().hashes_in("\n".join(links), "1.2")
    assert found == {f"{number:064x}" for number in range(3)}
    (tmp_path / "lock").write_text(script().lock_text({"a-b==1.2": found}), "utf-8")
    assert script().read_lock(tmp_path / "lock") == {"a-b==1.2": found}


def test_every_package_has_its_hash_in_the_bill() -> None:
    bill = script().bill([PACKAGE])
    assert (bill["bomFormat"], bill["components"][0]["purl"]) == ("CycloneDX", "pkg:pypi/some-thing@1.2")
    assert bill["components"][0]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert bill["components"][0]["licenses"] == [{"license": {"name": "MIT"}}]
