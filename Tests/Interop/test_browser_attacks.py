"""Attacks by foreign web pages on a server that their visitor runs, in Chromium. None may work or reveal anything."""

import json
from urllib.parse import quote

import pytest
import requests
from browser import NoBrowser, visit
from messaging import A, App
from world import ADA, Sandbox

FROZEN = 1_800_000_000
# A page of this machine on another port, which browsers treat as same-site; one from elsewhere; one under localhost.
HOSTS = ["127.0.0.1", "evil.example", "stranger.localhost"]


def play(page: str, **options) -> dict:
    try:
        seen = visit(page, **options)
    except NoBrowser as problem:
        pytest.fail(str(problem), pytrace=False)
    assert "error" not in seen, seen["error"]
    return seen


class Prey:
    """The sandboxes of one page's attacks."""

    def __init__(self, server, name: str):
        self.server, self.name = server, name

    def __getitem__(self, attack: str) -> Sandbox:
        return Sandbox(self.server, f"{self.name}-{attack}")

    def attack(self, host: str, *attacks: str, **options) -> dict:
        return play(
            "attacks.html", host=host, **options, base=self.server.url, name=self.name, attacks=",".join(attacks))

    def names(self) -> set[str]:
        """The names of existing sandboxes, without the common prefix."""
        there = requests.get(f"{self.server.url}/_understudy/sandboxes", timeout=30).json()["sandboxes"]
        return {entry["name"].removeprefix(f"{self.name}-") for entry in there if entry["name"].startswith(f"{self.name}-")}


@pytest.fixture(params=HOSTS)
def host(request) -> str:
    return request.param


@pytest.fixture
def prey(server, host, request) -> Prey:
    return Prey(server, f"{request.node.originalname.split('_')[1]}-{HOSTS.index(host)}")


def freeze(sandbox: Sandbox) -> None:
    sandbox.set_clock(now=FROZEN, freeze=True)


def is_frozen(sandbox: Sandbox) -> bool:
    clock = sandbox.control("GET", "clock")
    return clock["frozen"] and clock["unix"] == FROZEN


def keys_of(sandbox: Sandbox) -> str:
    return json.dumps(sandbox.control("GET", "keys"))


def test_forms_of_a_page_change_nothing(prey, host):
    for attack in ("form-reset", "form-encoded", "form-parts", "form-drill"):
        freeze(prey[attack])
    keys = keys_of(prey["form-drill"])
    prey.attack(host, "forms")
    assert [is_frozen(prey[attack]) for attack in ("form-reset", "form-encoded", "form-parts")] == [True] * 3
    assert keys_of(prey["form-drill"]) == keys


def test_requests_of_a_page_change_nothing_and_tell_nothing(prey, host):
    seen = prey.attack(host, "fetches")
    assert [seen[name] for name in ("opaque", "untyped", "read", "changed")] == [{"error": "TypeError"}] * 4
    # A refused request creates no sandbox.
    assert prey.names() == set()
    for attack in ("no-cors", "untyped", "beacon"):
        customers = json.dumps(prey[attack].control("GET", "state/rezolve"))
        assert ADA in customers


def test_elements_of_a_page_load_nothing_and_make_no_sandboxes(prey, host):
    seen = prey.attack(host, "elements")
    assert (seen["script"], seen["image"], seen["style"]) == ("error",) * 3
    assert prey.names() == set()


def test_frames_of_a_page_show_nothing(prey, host):
    prey.attack(host, "frames", frames=4)


def test_uploads_of_a_page_never_become_pages_of_the_server(prey, host):
    sandbox = prey["takeover"]
    # Anyone who reads the fixtures can sign in, and so can a page.
    token = App(sandbox, "stranger").start().token
    seen = prey.attack(host, "takeover", space=A.id, token=token)
    assert "takenOver" not in seen, seen["takenOver"]
    assert seen["stayed"]
    reads = [entry for entry in sandbox.control("GET", "journal")["entries"] if entry["route"] == "content.read"]
    wanted = [dict(entry["request"]["headers"]).get("Sec-Fetch-Dest") for entry in reads]
    assert "iframe" in wanted and "document" in wanted, wanted
    assert not sandbox.control("GET", "clock")["frozen"]
    assert "10.0.0.1" not in json.dumps(sandbox.control("GET", "settings"))


def inside(server, name: str, base: str) -> dict:
    """Serves a page under that base, as if it had been there before the name pointed here; returns what it could do."""
    sandbox = Sandbox(server, name)
    here = quote(f"/~{name}/_understudy/", safe="")
    sandbox.control("PUT", "faults", {
        "route": "rua.ping", "times": "always",
        "respond": {
            "headers": {"content-type": "text/html"},
            "body": "<script src='{{request.query.from}}/inside.js?here=" + here + "'></script>"}})
    return play("inside.js", address=f"{base}/~{name}/v2/credentials/ping?from={{origin}}")


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example"])
def test_a_name_that_was_made_to_lead_here_opens_nothing(server, name):
    seen = inside(server, f"rebound-{len(name)}", f"http://{name}:{server.port}")
    assert seen["from"] == f"http://{name}:{server.port}"
    for call in ("journal", "clock", "drill", "health"):
        assert seen[call]["status"] == 403, seen[call]["text"]
        assert json.loads(seen[call]["text"])["error"]["code"] == "foreign-host"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_this_very_server_may_steer_it(server, name):
    seen = inside(server, f"own-{len(name)}", f"http://{name}:{server.port}")
    assert seen["from"] == f"http://{name}:{server.port}"
    assert [seen[call]["status"] for call in ("journal", "clock", "drill", "health")] == [200] * 4
