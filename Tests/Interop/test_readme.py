"""Runs the blocks of the README and of the documentation's pages as printed; what cannot run is marked, with the reason."""

import json
import os
import re
import shutil
import subprocess
import textwrap

import pytest
import requests
from documents import BLOCKS, CATALOG, FILES, MARKS, README, Block
from world import BINARY, ROOT


class Reader:
    """A reader who has cloned the repository, started the server, and pastes a block into a shell."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        (folder / "bin").mkdir()
        (folder / "bin/understudy").symlink_to(BINARY)
        shutil.copytree(ROOT / "Fixtures", folder / "Fixtures", ignore=shutil.ignore_patterns("*.swift"))
        # A call that is refused fails its block.
        (folder / "strict").mkdir()
        (folder / "strict/.curlrc").write_text("fail-with-body\n")
        self.outputs: dict[str, str] = {}

    def run(self, block: Block) -> str:
        """What the block prints."""
        if str(block) not in self.outputs:
            text = block.text.replace("http://127.0.0.1:8080", self.server.url)
            text = text.replace("https://localhost:8443", f"https://localhost:{self.server.secure_port}")
            # Nothing happens during an example of waiting, so it need not wait.
            text = text.replace("swift run understudy", "understudy").replace("wait=5s", "wait=0s")
            for sandbox in {"default", *re.findall(r"/~([a-z0-9-]+)", text), *re.findall(r"--sandbox ([a-z0-9-]+)", text)}:
                requests.post(f"{self.server.url}/~{sandbox}/_understudy/reset", timeout=30).raise_for_status()
            environment = {
                **os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "UNDERSTUDY_PORT": str(self.server.port),
                "UNDERSTUDY_CA_DIRECTORY": str(self.server.authority.parent)}
            if block.mark != "refused":
                environment["CURL_HOME"] = str(self.folder / "strict")
            made = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text], cwd=self.folder, env=environment, capture_output=True, text=True,
                timeout=120)
            expected = int(block.detail) if block.mark == "exits" else 0
            assert made.returncode == expected, f"{block} ended with {made.returncode}:\n{made.stdout}{made.stderr}"
            self.outputs[str(block)] = made.stdout.replace(self.server.url, "http://127.0.0.1:8080")
        return self.outputs[str(block)]


@pytest.fixture(scope="module")
def reader(server, tmp_path_factory):
    return Reader(server, tmp_path_factory.mktemp("reader"))


def values(text: str) -> list:
    """The JSON values that a text is made of; none if it is something else."""
    decoder, found, rest = json.JSONDecoder(), [], text.strip()
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except ValueError:
            return []
        found.append(value)
        rest = rest[end:].strip()
    return found


def marked(mark: str) -> list[Block]:
    return [block for block in BLOCKS if block.mark == mark]


def test_every_block_is_run_or_says_why_not():
    for block in BLOCKS:
        assert block.mark in MARKS, f"{block} has the unknown mark “{block.mark}”"
        assert block.mark or block.language == "sh", f"{block} is neither a shell block nor marked"
        if block.mark == "not run":
            assert len(block.detail) > 10, f"{block} does not say why it is not run"
        if block.mark in ("run", "test", "install"):
            assert block.file == README or block.mark == "install", f"{block}: CI reads the README alone"
    # A fence that the pattern misses would never be looked at.
    for file in FILES:
        fences = len(re.findall(r"^\s*```", file.read_text(), re.M))
        assert fences == 2 * sum(block.file == file for block in BLOCKS), f"{file.name} has a fence that is not a block"


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.is_run], ids=str)
def test_a_block_runs(reader, block):
    printed = reader.run(block)
    assert printed, f"{block} prints nothing"
    if block.mark != "refused":
        assert [value for value in values(printed) if isinstance(value, dict) and "error" in value] == []


@pytest.mark.parametrize("block", marked("prints"), ids=str)
def test_a_block_prints_what_is_said(reader, block):
    assert block.above and block.above.is_run, f"{block} is the output of no block that is run"
    pattern = ".*".join(re.escape(part) for part in block.text.strip().split("…"))
    printed = "\n".join(line.rstrip() for line in reader.run(block.above).strip().split("\n"))
    assert re.fullmatch(pattern, printed, re.S), f"{block.above} prints:\n{printed}"


@pytest.mark.parametrize("block", marked("from"), ids=str)
def test_a_quotation_stands_in_its_file(block):
    lines, wanted = (ROOT / block.detail).read_text().split("\n"), block.text.rstrip("\n")
    count = len(wanted.split("\n"))
    assert any(
        textwrap.dedent("\n".join(lines[start:start + count])) == wanted for start in range(len(lines) - count + 1)
    ), f"{block} is not in {block.detail}"


@pytest.mark.parametrize("block", marked("tested"), ids=str)
def test_a_test_reads_the_block(block):
    assert block.file.name in (ROOT / block.detail).read_text()


@pytest.mark.parametrize("block", marked("fixture"), ids=str)
def test_a_fixture_is_one(tmp_path, block):
    file = tmp_path / block.detail
    file.parent.mkdir(parents=True)
    file.write_text(block.text)
    subprocess.run([BINARY, "fixtures", "check", tmp_path], check=True, cwd=tmp_path)
    if name := re.match(r"scenario: (\S+)", block.text):
        listed = subprocess.run(
            [BINARY, "routes", "--scenarios", "--fixtures", tmp_path], check=True, capture_output=True, text=True).stdout
        assert name[1] in listed


@pytest.mark.parametrize("block", marked("configuration"), ids=str)
def test_a_configuration_is_one(tmp_path, block):
    file = tmp_path / "understudy.yaml"
    file.write_text(block.text)
    subprocess.run([BINARY, "routes", "--config", file], check=True, capture_output=True, cwd=tmp_path)
    file.write_text(block.text + "nonsense: 1\n")
    assert subprocess.run([BINARY, "routes", "--config", file], capture_output=True, cwd=tmp_path).returncode == 2


def test_the_first_call_reads_an_address_book(reader):
    block = next(block for block in BLOCKS if block.file.name == "GettingStarted.md" and "addressbook" in block.text and not block.mark)
    assert [address["id"] for address in json.loads(reader.run(block))] == ["address-1"]


def page(name: str) -> str:
    return (CATALOG / f"{name}.md").read_text()


def test_the_commands_have_the_flags_that_the_page_names():
    text = page("CommandLine").partition("| command | does, with a running server |")[2]
    rows = re.findall(r"^\| `understudy (\w+)`.*$", text, re.M)
    assert rows == ["try", "journal", "coverage", "sandbox", "clock", "scenario"]
    for name in rows:
        row = next(line for line in text.splitlines() if line.startswith(f"| `understudy {name}`"))
        helped = subprocess.run([BINARY, name, "--help"], check=True, capture_output=True, text=True).stdout
        flags = re.findall(r"`(--[a-z-]+)`", row)
        assert flags and [flag for flag in flags if f"{flag} " not in helped and f"{flag}\n" not in helped] == []


def test_the_page_lists_every_command():
    def commands(command: dict, path: str):
        below = [each for each in command.get("subcommands", []) if each["commandName"] != "help"]
        for each in below:
            yield from commands(each, f"{path} {each['commandName']}")
        if not below:
            yield path

    told = json.loads(subprocess.run([BINARY, "--experimental-dump-help"], capture_output=True, check=True).stdout)
    for path in commands(told["command"], "understudy"):
        assert f"`{path}" in page("CommandLine"), path


def test_the_page_lists_every_option_of_serve():
    told = json.loads(subprocess.run([BINARY, "--experimental-dump-help"], capture_output=True, check=True).stdout)
    serve = next(each for each in told["command"]["subcommands"] if each["commandName"] == "serve")
    options = {f"--{name['name']}" for argument in serve["arguments"] for name in argument["names"] if name["kind"] == "long"}
    rows = re.findall(r"^\| `--.*$", page("Configuration"), re.M)
    listed = {flag for row in rows for flag in re.findall(r"`(--[a-z-]+)", row.split(" | ")[0])}
    # --config chooses the file, so it stands above the table.
    assert listed == options - {"--help", "--version", "--config"}


def test_completions_and_manual_pages_are_installed(tmp_path):
    [block] = marked("install")
    program = tmp_path / "bin" / "understudy"
    program.parent.mkdir()
    program.symlink_to(BINARY)
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text.replace(".build/debug/understudy", str(BINARY))], check=True, cwd=ROOT,
        env={**os.environ, "HOME": str(tmp_path), "PATH": f"{program.parent}:{os.environ['PATH']}"}, timeout=600)
    for file in (".local/share/bash-completion/completions/understudy", ".config/fish/completions/understudy.fish", ".zfunc/_understudy"):
        assert "journal" in (tmp_path / file).read_text()
    found = subprocess.run(
        ["man", "-M", str(tmp_path / ".local/share/man"), "understudy.journal"], capture_output=True, text=True, check=True)
    assert "--follow" in found.stdout


def test_the_control_api_has_an_example_of_each_call(server):
    described = requests.get(f"{server.url}/_understudy/openapi.json", timeout=30).json()["paths"]
    operations = {
        (method.upper(), path) for path, methods in described.items() for method in methods
        if method in ("get", "put", "post", "delete")}
    shown = set()
    for block in BLOCKS:
        if block.file.name == "ControlAPI.md" and block.is_run:
            for call in re.findall(r"curl -s (.*)", block.text):
                method = re.search(r"-X (\w+)", call)
                path = re.search(r"\$at(?:/~[a-z0-9-]+)?(/_understudy/[^ \"?]*)", call)
                if path:
                    shown.add((method[1] if method else "POST" if " -d " in call else "GET", path[1]))
    missing = [
        f"{method} {path}" for method, path in sorted(operations)
        if not any(
            method == verb and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), address)
            for verb, address in shown)]
    assert missing == []
