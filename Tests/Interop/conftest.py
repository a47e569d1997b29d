import re
import resource

import pytest
from okta_world import OktaServer, Org
from probe import Probe
from world import Sandbox, Server


def pytest_configure():
    """Allows a thousand sockets here and in the servers, which inherit the limit."""
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if most == resource.RLIM_INFINITY else min(4096, most)
    if limit != resource.RLIM_INFINITY and limit < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("understudy"))
    yield server
    assert server.stop() == 0, f"understudy ended with an error:\n{server.log.read_text()}"


@pytest.fixture(scope="session")
def probe(tmp_path_factory):
    probe = Probe(tmp_path_factory.mktemp("probe"))
    yield probe
    assert probe.stop() == 0, f"the probe ended with an error:\n{probe.log.read_text()}"


@pytest.fixture(params=["http", "https"])
def door(request, probe):
    """The probe's endpoints, without and with TLS."""
    return probe.doors[request.param]


@pytest.fixture
def sandbox(server, request):
    """A sandbox named after the test."""
    return Sandbox(server, sandbox_name(request))


def sandbox_name(request) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    return name[-63:].strip("-")


@pytest.fixture(scope="session")
def okta_server(tmp_path_factory):
    server = OktaServer(tmp_path_factory.mktemp("okta"))
    yield server
    assert server.stop() == 0, f"understudy ended with an error:\n{server.log.read_text()}"


@pytest.fixture
def org(okta_server, request, monkeypatch):
    """An org named after the test, whose certificate this process trusts."""
    # requests reads the first variable, and what builds on Python's ssl module the second.
    for variable in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.setenv(variable, str(okta_server.authority))
    return Org(okta_server, sandbox_name(request))
