import re

import pytest
from world import Sandbox, Server


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("understudy"))
    yield server
    assert server.stop() == 0, f"understudy ended with an error:\n{server.log.read_text()}"


@pytest.fixture
def sandbox(server, request):
    """A sandbox that bears the test's name."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    return Sandbox(server, name[-63:].strip("-"))
