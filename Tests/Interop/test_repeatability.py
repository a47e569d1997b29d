"""With a seed, the same calls produce the same journals in two processes."""

import json
import re
import subprocess

import pytest
import requests
from world import BINARY, ROOT, Server

CASES = sorted((ROOT / "Fixtures").glob("*/contract/*.hurl"))


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    servers = [Server(tmp_path_factory.mktemp(f"seeded-{number}"), "--seed", "7") for number in (1, 2)]
    yield servers
    assert [server.stop() for server in servers] == [0, 0]


def without_keys(value):
    """Removes key pairs, which each process generates anew."""
    if isinstance(value, dict):
        return {name: "a key" if name == "public_key" else without_keys(member) for name, member in value.items()}
    return [without_keys(element) for element in value] if isinstance(value, list) else value


def journal(server: Server, cases, name: str) -> str:
    """The journal after a file of cases, without the server's own port."""
    url = f"{server.url}/~{name}"
    run = subprocess.run([BINARY, "contract", "run", cases, "--against", url], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    entries = requests.get(f"{url}/_understudy/journal").json()["entries"]
    assert entries
    text = "\n".join(json.dumps(without_keys(entry), ensure_ascii=False) for entry in entries)
    return re.sub(rf"\b{server.port}\b", "PORT", text)


@pytest.mark.parametrize("cases", CASES, ids=lambda cases: f"{cases.parent.parent.name}-{cases.stem}")
def test_two_processes_with_one_seed_leave_the_same_journal(seeded, cases):
    name = f"seeded-{cases.parent.parent.name}-{cases.stem}"
    first, second = (journal(server, cases, name) for server in seeded)
    assert first == second
