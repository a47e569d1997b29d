"""With a seed, the same calls produce the same journals in two processes, while the clock is frozen."""

import json
import subprocess

import pytest
import requests
from world import BINARY, ROOT, Server

CASES = sorted((ROOT / "Fixtures").glob("*/contract/*.hurl"))


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    # The same port, since tokens name their issuer: the second server has another address of the loopback.
    first = Server(tmp_path_factory.mktemp("seeded-1"), "--seed", "7")
    second = Server(
        tmp_path_factory.mktemp("seeded-2"), "--seed", "7", "--host", "127.0.0.2", "--port", str(first.port))
    second.url = f"http://127.0.0.2:{second.port}"
    servers = [first, second]
    yield servers
    assert [server.stop() for server in servers] == [0, 0]


def without_keys(value):
    """Removes key pairs, which each process generates itself."""
    if isinstance(value, dict):
        return {name: "a key" if name == "public_key" else without_keys(member) for name, member in value.items()}
    return [without_keys(element) for element in value] if isinstance(value, list) else value


def journal(server: Server, cases, name: str) -> str:
    """The journal after a file of cases, without the server's own address."""
    url = f"{server.url}/~{name}"
    run = subprocess.run([BINARY, "contract", "run", cases, "--against", url], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    entries = requests.get(f"{url}/_understudy/journal").json()["entries"]
    assert entries
    text = "\n".join(json.dumps(without_keys(entry), ensure_ascii=False) for entry in entries)
    return text.replace(server.url.removeprefix("http://"), "ADDRESS")


def course(server: Server, name: str) -> list:
    """The calls and their results, for cases whose clock runs: moments differ then."""
    entries = requests.get(f"{server.url}/~{name}/_understudy/journal").json()["entries"]
    return [[entry["vendor"], entry["route"], entry["status"], entry["failure"]] for entry in entries]


@pytest.mark.parametrize("cases", CASES, ids=lambda cases: f"{cases.parent.parent.name}-{cases.stem}")
def test_two_processes_with_one_seed_leave_the_same_journal(seeded, cases):
    name = f"seeded-{cases.parent.parent.name}-{cases.stem}"
    first, second = (journal(server, cases, name) for server in seeded)
    if '{"freeze":false}' in cases.read_text():
        first, second = (course(server, name) for server in seeded)
    assert first == second
