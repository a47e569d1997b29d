"""A client that openapi-python-client makes of the control API's description: nothing is left out, and it works."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import requests


@pytest.fixture(scope="module")
def description(server):
    return requests.get(f"{server.url}/_understudy/openapi.json", timeout=30).json()


@pytest.fixture(scope="module")
def generated(description, tmp_path_factory):
    """The folder of the generated package, and what the generator said."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(description))
    # It formats what it wrote with a tool that lies beside this interpreter.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    said = subprocess.run(
        [Path(sys.executable).parent / "openapi-python-client", "generate", "--path", folder / "openapi.json",
         "--output-path", folder / "understudy_control", "--meta", "none", "--fail-on-warning"],
        capture_output=True, text=True, env={**os.environ, "PATH": path}, timeout=300)
    return folder, said


def test_no_operation_is_skipped(description, generated):
    folder, said = generated
    assert said.returncode == 0 and "WARNING" not in said.stdout, said.stdout + said.stderr
    made = {path.stem for path in folder.glob("understudy_control/api/*/*.py") if path.stem != "__init__"}
    wanted = {
        operation["operationId"].replace(".", "_").replace("-", "_")
        for path in description["paths"].values() for operation in path.values() if "operationId" in operation}
    assert made == wanted


def test_it_sets_a_clock_and_arms_a_fault(server, sandbox, generated, monkeypatch):
    folder, _ = generated
    monkeypatch.syspath_prepend(str(folder))
    client = importlib.import_module("understudy_control").Client(base_url=sandbox.url)
    models = importlib.import_module("understudy_control.models")
    clock = importlib.import_module("understudy_control.api.clock.clock_set")
    shown = clock.sync(client=client, body=models.ClockChange.from_dict({"now": 1_800_000_000, "freeze": True}))
    assert (shown.unix, shown.frozen) == (1_800_000_000, True)
    faults = importlib.import_module("understudy_control.api.faults.faults_set")
    order = {"route": "rua.guest", "call": 1, "fault": {"delay": {"from": "0s", "to": "1ms"}}}
    assert faults.sync(client=client, body=models.FaultOrder.from_dict(order)).to_dict()["faults"]
