"""The README's MTurk script runs as it is shown, against a served workplace, with boto3 as it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import httpx
import pytest

README = Path(__file__).parents[2] / "README.md"
HMC = [sys.executable, "-c", "from hmc_crowd.cli import main; main()"]


@pytest.fixture
def script() -> str:
    text = README.read_text(encoding="utf-8")
    return text.split("```py\n", 1)[1].split("\n```", 1)[0]


@pytest.fixture
def server(tmp_path):
    process = subprocess.Popen(
        [*HMC, "serve", "--port", "0", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    said = json.loads(process.stdout.readline())
    yield next(each["url"] for each in said["serving"] if each["what"].startswith("MTurk API")).rstrip("/")
    process.terminate()
    process.communicate(timeout=30)


def hmc(folder: Path, *words: str) -> str:
    return subprocess.run([*HMC, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def test_the_script_publishes_and_pays_once_what_came_in(script, server, tmp_path) -> None:
    assert script.count("http://127.0.0.1:8000") == 1
    code = script.replace("http://127.0.0.1:8000", server)
    lines = hmc(tmp_path, "keys", "issue", "--label", "my-script").splitlines()
    keys = dict(line.split("=", 1) for line in lines if line.startswith("AWS_"))

    def run(token: str = "judge-1") -> str:
        done = subprocess.run(
            [sys.executable, "-c", code.replace("judge-1", token)],
            env={**os.environ, **keys}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    said = run()
    assert "on hold" in said, said
    assert said.split()[2] == "0.30"
    link = hmc(tmp_path, "keys", "worker", "A1ANN", "--public-url", server).strip()
    with httpx.Client(base_url=server) as browser:
        assert "Judge a reply" in browser.get(link).text
        query = urlsplit(link).query
        accepted = browser.get(f"/mturk/accept?{query}&hitId={said.split()[1]}")
        assignment = accepted.headers["X-Assignment-Id"]
        form = {"assignmentId": assignment, "taskAnswers": '[{"yes":{"on":true},"no":{"on":false}}]'}
        assert browser.post("/mturk/externalSubmit", data=form).status_code == 200
    # The same token: MTurk refuses to make the HIT twice, and so does the workplace.
    assert "already exists" in run()
    for token in ("judge-2", "judge-3"):
        assert "on hold" in run(token)
    mturk = boto3.client(
        "mturk", region_name="us-east-1", endpoint_url=server, aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
    )  # fmt: skip
    assert mturk.get_assignment(AssignmentId=assignment)["Assignment"]["AssignmentStatus"] == "Approved"
    paid = mturk.list_bonus_payments(AssignmentId=assignment)["BonusPayments"]
    assert [(each["WorkerId"], each["BonusAmount"]) for each in paid] == [("A1ANN", "0.05")]
