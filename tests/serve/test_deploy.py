"""What deploy/ ships: nginx in front of the service, the systemd unit, and the token and certificate for compose."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serve.conftest import Folders
from tests.serve.live import Live, serving

from pssa.serve.batcher import open_batcher
from pssa.serve.limits import Limits

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from attacks import DEPLOY, NGINX, Target, proxy

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def live(folders: Folders) -> Iterator[Live]:
    with serving(open_batcher([folders.first], Limits())) as live:
        yield live


@pytest.fixture(scope="module")
def behind(live: Live) -> Iterator[Target]:
    if NGINX is None:
        pytest.skip("nginx is not installed")
    with proxy(int(live.url.rpartition(":")[2])) as target:
        yield target


@pytest.fixture
def client(behind: Target) -> Iterator[httpx.Client]:
    context = behind.context
    assert context is not None
    with httpx.Client(base_url=f"https://localhost:{behind.port}", verify=context, timeout=60) as client:
        yield client


def error_of(answer: httpx.Response) -> tuple[int, str]:
    error: dict[str, Any] = answer.json()["error"]
    assert {"code", "message"} <= set(error)
    assert answer.status_code >= 500 or "curl" in error["example"]
    return answer.status_code, error["code"]


def test_requests_pass_through_nginx_as_it_is_shipped(client: httpx.Client, live: Live) -> None:
    answer = client.post("/v1/predict", json={"text": "The screen is huge.", "aspects": ["screen"]})
    direct = httpx.post(f"{live.url}/v1/predict", json={"text": "The screen is huge.", "aspects": ["screen"]})
    assert (answer.status_code, answer.json()) == (200, direct.json())
    assert answer.headers["strict-transport-security"].startswith("max-age=")
    assert [client.get(path).status_code for path in ("/healthz", "/readyz", "/openapi.json", "/metrics")] == [200] * 4
    table = b"text,aspect\n" + b"The screen is huge.,screen\n" * 5000
    scored = client.post("/v1/csv", files={"file": ("reviews.csv", table)})
    assert (scored.status_code, scored.text.count("\n")) == (200, 5001)


def test_what_nginx_refuses_has_the_shape_of_other_refusals(client: httpx.Client) -> None:
    assert error_of(client.post("/v1/predict", content=b" " * (2 << 20))) == (413, "too_large")
    assert error_of(client.post("/v1/predict", content=b"x")) == (415, "wrong_type")
    absent = client.get("/v1/nothing")
    assert error_of(absent) == (404, "not_found")
    assert absent.json()["error"]["example"].startswith(f"curl {client.base_url}/v1/predict ")
    with ThreadPoolExecutor(30) as pool:
        found = pool.map(lambda _: client.post("/v1/explain", content=b" " * 200_000), range(30))
        assert {error_of(answer) for answer in found} == {(415, "wrong_type"), (429, "too_many")}


def test_nginx_says_so_where_the_service_is_gone() -> None:
    if NGINX is None:
        pytest.skip("nginx is not installed")
    with proxy(1) as target:
        context = target.context
        assert context is not None
        answer = httpx.get(f"https://localhost:{target.port}/v1/model", verify=context, timeout=60)
    assert error_of(answer) == (503, "unavailable")


def test_the_unit_is_one_for_systemd(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "pssa.service"
    # The program need not be installed to check the rest.
    unit.write_text((DEPLOY / "pssa.service").read_text("utf-8").replace("/opt/pssa/bin/pssa", sys.executable), "utf-8")
    done = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True)
    about = [line for line in (done.stdout + done.stderr).splitlines() if "pssa.service" in line]
    assert (done.returncode, about) == (0, [])


def test_the_token_and_the_certificate_are_made_once(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    shutil.copy(DEPLOY / "prepare.sh", tmp_path)
    kept = []
    for _ in range(2):
        subprocess.run(["sh", str(tmp_path / "prepare.sh"), "pssa.example"], check=True, capture_output=True)
        kept.append({path.name: path.read_bytes() for path in (tmp_path / "secrets").iterdir()})
    assert set(kept[0]) == {"token", "fullchain.pem", "privkey.pem"}
    assert kept[0] == kept[1]
    assert (tmp_path / ".env").read_text() == "PSSA_HOST=pssa.example\n"
    assert len(kept[0]["token"].strip()) == 32
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0


def test_the_image_and_compose_name_what_is_there() -> None:
    compose = (DEPLOY / "compose.yaml").read_text("utf-8")
    copied = [
        word
        for line in (DEPLOY / "Dockerfile").read_text("utf-8").splitlines()
        if line.startswith("COPY")
        for word in line.split()[1:-1]
    ]
    for name in (
        *(name for name in copied if not name.startswith(("-", "/"))),
        "deploy/Dockerfile",
        "deploy/nginx.conf",
    ):
        assert (DEPLOY.parent / name).exists(), name
    assert "dockerfile: deploy/Dockerfile" in compose
    assert json.dumps("-") in compose  # the access log goes to standard output
