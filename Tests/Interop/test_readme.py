"""Runs the README's shell blocks as printed against the running server."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from world import BINARY, ROOT

README = (ROOT / "README.md").read_text()
BLOCKS = [
    block
    for block in re.findall(r"```sh\n(.*?)```", README, re.S)
    # The first two commands build and serve; CI runs them separately.
    if "bootstrap.sh" not in block
]


def run(server, block: str) -> str:
    block = block.replace("http://127.0.0.1:8080", server.url).replace("swift run understudy", str(BINARY))
    # Nothing happens during the README's example of waiting, so it need not wait.
    block = block.replace("wait=5s", "wait=0s")
    return subprocess.run(["bash", "-euo", "pipefail", "-c", block], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0])
def test_a_block_of_the_readme_runs_and_prints_json(server, block):
    decoder, rest = json.JSONDecoder(), run(server, block).strip()
    assert rest
    while rest:
        value, end = decoder.raw_decode(rest)
        assert "error" not in value
        rest = rest[end:].strip()


def test_the_readme_reads_an_address_book(server):
    block = next(block for block in BLOCKS if "addressbook" in block)
    assert [address["id"] for address in json.loads(run(server, block))] == ["address-1"]


def test_the_readme_s_commands_have_the_flags_it_names():
    rows = re.findall(r"^\| `understudy (\w+)`.*$", README, re.M)
    assert rows == ["journal", "sandbox", "clock", "scenario"]
    for name in rows:
        row = next(line for line in README.splitlines() if line.startswith(f"| `understudy {name}`"))
        helped = subprocess.run([BINARY, name, "--help"], check=True, capture_output=True, text=True).stdout
        flags = re.findall(r"`(--[a-z-]+)`", row)
        assert flags and [flag for flag in flags if f"{flag} " not in helped and f"{flag}\n" not in helped] == []


def test_the_readme_installs_completions_and_manual_pages(tmp_path):
    block = re.search(r"<!-- install -->\n```text\n(.*?)```", README, re.S)[1]
    program = tmp_path / "bin" / "understudy"
    program.parent.mkdir()
    program.symlink_to(BINARY)
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.replace(".build/debug/understudy", str(BINARY))], check=True, cwd=ROOT,
        env={**os.environ, "HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}"}, timeout=600)
    for file in (".local/share/bash-completion/completions/understudy", ".config/fish/completions/understudy.fish", ".zfunc/_understudy"):
        assert "journal" in (tmp_path / file).read_text()
    found = subprocess.run(
        ["man", "-M", str(tmp_path / ".local/share/man"), "understudy.journal"], capture_output=True, text=True, check=True)
    assert "--follow" in found.stdout


def test_the_readme_s_scenario_is_one(tmp_path):
    block = next(block for block in re.findall(r"```yaml\n(.*?)```", README, re.S) if block.startswith("scenario:"))
    folder = tmp_path / "rezolve" / "scenarios"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text(block)
    subprocess.run([BINARY, "fixtures", "check", tmp_path], check=True)
    listed = subprocess.run(
        [BINARY, "routes", "--scenarios", "--fixtures", tmp_path], check=True, capture_output=True, text=True).stdout
    assert "my-app-survives-a-bad-afternoon" in listed


def test_the_pytest_example_runs_when_it_is_copied(tmp_path):
    for name in ["understudy_fixture.py", "test_fixture_example.py"]:
        shutil.copy(ROOT / "Tests/Interop" / name, tmp_path)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_fixture_example.py"], cwd=tmp_path,
        capture_output=True, text=True, env={**os.environ, "UNDERSTUDY": str(BINARY)}, timeout=120)
    assert run.returncode == 0 and "2 passed" in run.stdout, run.stdout + run.stderr
