"""A pytest fixture for Python test suites: copy it; it needs only pytest and requests.

`pytest_plugins = ["understudy_fixture"]` in a conftest.py or a test file activates it; the environment variable
UNDERSTUDY names the program if it is not on the path. All tests share one server, and each has its own sandbox.
"""

import os
import re
import subprocess
import time
import uuid

import pytest
import requests


class Understudy:
    """The server from one test's point of view."""

    def __init__(self, base: str, name: str):
        self.url = f"{base}/~{name}"  # the base URL for the client under test

    def control(self, method: str, call: str, content=None):
        answer = requests.request(method, f"{self.url}/_understudy/{call}", json=content, timeout=30)
        if not answer.ok:
            problem = answer.json()
            raise AssertionError(problem.get("message") or problem["error"]["message"], problem.get("nearest"))
        return answer.json() if answer.content else None

    def mint(self, kind: str, **order) -> str:
        return self.control("POST", f"tokens/{kind}", order)["token"]

    def expect(self, where: dict, **count):
        """expect({"route": "rua.ping"}, exactly=1): fails with the nearest calls and what each missed."""
        self.control("POST", "journal/verify", {"where": where, **count})


@pytest.fixture(scope="session")
def understudy_base(tmp_path_factory):
    port_file = tmp_path_factory.mktemp("understudy") / "port"
    program = os.environ.get("UNDERSTUDY", "understudy")
    server = subprocess.Popen([program, "serve", "--port", "0", "--port-file", port_file, "--log", "off"])
    while not port_file.exists():
        assert server.poll() is None, "understudy did not start"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port_file.read_text().split()[1]}"
    server.terminate()
    assert server.wait(timeout=15) == 0


@pytest.fixture
def understudy(understudy_base, request):
    words = re.sub(r"[^a-z0-9]+", "-", request.node.nodeid.lower())[-54:].strip("-")
    name = f"{words}-{uuid.uuid4().hex[:8]}"  # two tests may differ in punctuation only
    yield Understudy(understudy_base, name)
    requests.delete(f"{understudy_base}/_understudy/sandboxes/{name}", timeout=30)
