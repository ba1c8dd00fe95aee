"""An exported run in every place that answers, in processes that cannot import torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.joint.test_run import LINES
from tests.models.encoders import write_encoder

import pssa
from pssa.runs.training_run import write_run

pytestmark = pytest.mark.slow

TEXTS = ("The food was good. The waiter was bad.", "Love it!", "")
BLOCKED = """
import json, sys
sys.modules["torch"] = sys.modules["transformers"] = None
import pssa
"""
COMMAND = BLOCKED + "from pssa.cli import main\nsys.exit(main(sys.argv[1:]))\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a tiny encoder, and its export in `exported`."""
    folder = tmp_path_factory.mktemp("joint")
    write_encoder(folder / "encoder")
    (folder / "reviews.txt").write_text("\n".join(LINES * 6) + "\n")
    settings: dict[str, Any] = {"model": "joint", "encoder": str(folder / "encoder"), "epochs": 2}
    run = write_run(folder / "reviews.txt", folder / "run", progress=False, **settings)
    exported = pssa.load(run).export_onnx(folder / "exported")
    # So little training finds nothing; a model that leans to find something has answers to compare.
    described = json.loads((exported / "model.json").read_bytes())
    described["decoding"] |= {"outside_bias": -50.0, "min_overall": 0.0}
    (exported / "model.json").write_text(json.dumps(described))
    rows = [{"text": text} for text in TEXTS] + [{"text": TEXTS[0], "aspect": "waiter"}]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def printed(program: str, *arguments: object) -> str:
    """What a process prints."""
    words = [sys.executable, "-c", program, *map(str, arguments)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def expected(folder: Path) -> list[list[list[object]]]:
    """Aspect and offsets of each answer about each text, by `predict`."""
    program = BLOCKED + f"found = pssa.load({str(folder / 'exported')!r}).predict({list(TEXTS)})\n"
    program += "print(json.dumps([[[a.aspect, a.start, a.end, a.label] for a in each] for each in found]))"
    found: list[list[list[object]]] = json.loads(printed(program))
    assert found[-1] == []
    assert sum(map(len, found)) > 0  # else nothing would be compared
    return found


def test_pssa_try(folder: Path, expected: list[list[list[object]]]) -> None:
    found = json.loads(printed(COMMAND, "try", *TEXTS[:2], "--run", folder / "exported", "--json"))["items"]
    places = [[[each[key] for key in ("aspect", "from", "to", "label")] for each in item["aspects"]] for item in found]
    assert places == expected[:2]
    assert all(each["words"] for item in found for each in item["aspects"])
    assert printed(COMMAND, "try", *TEXTS[:2], "--run", folder / "exported")


def test_pssa_predict(folder: Path, expected: list[list[list[object]]], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    printed(COMMAND, "predict", folder / "exported", "--input", folder / "rows.jsonl", "--output", out, "--explain")
    *found, named = [json.loads(line) for line in out.read_text().splitlines()]
    assert [[row["aspect"] or "", row["from"] or 0, row["to"] or 0, row["label"]] for row in found] == [
        answer for inside in expected for answer in inside
    ]
    assert (named["aspect"], named["from"]) == ("waiter", TEXTS[0].index("waiter"))
    assert all(row["explanation"]["words"] for row in found)
    assert all(row["from"] is None for row in found if not row["aspect"])  # about the text as a whole


def test_pssa_insights(folder: Path, tmp_path: Path) -> None:
    words = (folder / "exported", "--input", folder / "rows.jsonl", "--out", tmp_path / "page.html")
    printed(COMMAND, "insights", *words)
    assert (tmp_path / "page.html").is_file()


def test_the_service(folder: Path, expected: list[list[list[object]]]) -> None:
    program = (
        BLOCKED
        + f"""
from pathlib import Path
from typing import Any
from starlette.testclient import TestClient
from pssa.serve.app import create_app
from pssa.serve.batcher import open_batcher
from pssa.serve.limits import Limits
app = create_app(open_batcher([Path({str(folder / "exported")!r})], Limits()))
with TestClient(app, base_url="http://localhost") as client:
    items = [{{"text": text}} for text in {TEXTS[:2]!r}] + [{{"text": {TEXTS[0]!r}, "aspects": ["waiter"]}}]
    answers = [client.post(f"/v1/{{kind}}", json={{"items": items}}) for kind in ("predict", "explain")]
    print(json.dumps([answer.json()["items"] for answer in answers] + [client.get("/v1/model").json()]))
"""
    )
    predicted, explained, about = json.loads(printed(program))
    for found in (predicted, explained):
        places = [
            [[each[key] for key in ("aspect", "from", "to", "label")] for each in item["aspects"]] for item in found
        ]
        assert places[:2] == expected[:2]
        assert all(0 < each["score"] <= 1 for item in found[:2] for each in item["aspects"])
        assert places[2][0][0] == "waiter"
    assert all(each["words"] for item in explained for each in item["aspects"])
    assert about["finds_aspects"]
    assert about["runs"]["first"]["saliencies"] == ["attention"]
