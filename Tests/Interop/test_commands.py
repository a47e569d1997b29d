"""The commands that control and read a running server, as people use them: in a pipe and in a terminal."""

import json
import os
import pty
import re
import select
import subprocess
import threading
import time
import xml.etree.ElementTree as tree

import pytest
import requests
from payloads import PAYLOADS
from world import ADA, API_KEY, BINARY, DEVICE, PARTNER, Sandbox, Server

BOOK = f"/api/v1/partner/{PARTNER}/customer/{ADA}/addressbook"
RED, AMBER = "\x1b[31m", "\x1b[33m"


class Shell:
    """The program beside a running server."""

    def __init__(self, sandbox: Sandbox):
        self.sandbox = sandbox
        self.at = ["--server", sandbox.url]

    def run(self, *words: str, status: int = 0, environment: dict | None = None):
        done = subprocess.run(
            [BINARY, *words, *self.at], capture_output=True, text=True, timeout=60, env={**os.environ, **(environment or {})})
        assert done.returncode == status, f"{done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout if status == 0 else done.stderr

    def terminal(self, *words: str, environment: dict | None = None) -> str:
        """The program's output to a terminal."""
        process, screen = pty.fork()
        if process == 0:
            os.environ.update({"TERM": "xterm", **(environment or {})})
            os.execv(BINARY, [str(BINARY), *words, *self.at])
        with os.fdopen(screen, "rb", 0) as terminal:
            written = b""
            while select.select([terminal], [], [], 30)[0]:
                try:
                    piece = terminal.read(4096)
                except OSError:
                    # The terminal reports this once nothing has it open for writing.
                    break
                if not piece:
                    break
                written += piece
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
        return written.decode().replace("\r\n", "\n")

    def call(self, defect: str | None = None):
        token = self.sandbox.mint(**({"defect": defect} if defect else {}))
        return self.sandbox.call("GET", BOOK, token)


@pytest.fixture
def shell(sandbox):
    return Shell(sandbox)


# --- journal

def test_an_accepted_call_with_a_remark_has_a_mark_and_can_be_found(shell):
    shell.call()
    token = shell.sandbox.mint(claims={"exp": 1_800_000_000_000})
    assert shell.sandbox.call("GET", BOOK, token).status_code == 200
    plain, noted = shell.run("journal").splitlines()
    assert "  200    rezolve" in plain and "  200 *  rezolve" in noted
    assert "milliseconds-exp: exp looks like milliseconds" in noted
    assert shell.run("journal", "--noted").splitlines() == [noted]
    assert f"{AMBER}200 *\x1b[0m" in shell.terminal("journal", "--noted")


@pytest.fixture
def full(shell):
    """An accepted call, two refused ones, one with an unknown path, and one that a fault affects."""
    for defect in (None, "expired", "alg-none"):
        shell.call(defect)
    requests.get(f"{shell.sandbox.url}/api/api/v1/nothing")
    shell.sandbox.control("PUT", "faults", {"route": "addressbook.list", "fail": "token-expired"})
    shell.call()
    return shell


def test_the_journal_is_a_line_an_entry(full):
    lines = full.run("journal").splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3", "4", "5"]
    assert all(re.match(r" +\d  \d\d:\d\d:\d\d  \d{3} [ x?!]  ", line) for line in lines)
    assert "rezolve     addressbook.list" in lines[0] and "expiry: found" in lines[1] and "JWT page" in lines[1]
    assert "?" in lines[3] and "did you mean" in lines[3] or "nearest route" in lines[3]
    assert "armed fault" in lines[4]
    assert "\x1b" not in "".join(lines), "a pipe gets no colours"


@pytest.mark.parametrize(("words", "ids"), [
    (["--refused"], [2, 3, 5]), (["--last", "2"], [4, 5]), (["--route", "addressbook.*"], [1, 2, 3, 5]), (["--vendor", "rezolve"], [1, 2, 3, 5]),
    (["--status", "403"], [3]), (["--status", "2xx"], [1]), (["--vendor", "ims"], []), (["--since", "5m", "--last", "1"], [5]),
    (["--since", "2100-01-01T00:00:00Z"], []),
], ids=lambda value: " ".join(map(str, value)))
def test_the_journal_is_filtered(full, words, ids):
    assert [json.loads(line)["id"] for line in full.run("journal", "--json", *words).splitlines()] == ids
    assert [int(line.split()[0]) for line in full.run("journal", *words).splitlines()] == ids


def test_an_entry_is_shown_with_what_failed_first(full):
    lines = full.run("journal", "2").splitlines()
    assert lines[1] == "failure: token-expired"
    assert lines[2].split()[:2] == ["FAILED", "expiry"] and all(line.split()[0] == "passed" for line in lines[3:20])
    assert "response:" in lines
    assert json.loads(full.run("journal", "2", "--json"))["failure"] == "token-expired"


def test_colours_are_for_terminals_alone(full):
    shown = full.terminal("journal")
    refused, hit = shown.splitlines()[1], shown.splitlines()[4]
    assert f"{RED}401 x\x1b[0m" in refused and f"{AMBER}401 !\x1b[0m" in hit
    assert "\x1b" not in shown.splitlines()[0]
    assert f"{RED}  FAILED" in full.terminal("journal", "2")
    assert "\x1b" not in full.terminal("journal", environment={"NO_COLOR": "1"})
    plain = re.sub(r"\x1b\[\d+m", "", shown)
    assert plain == full.run("journal"), "the same lines, painted"


def test_the_journal_is_followed_also_past_a_reset(full):
    process = subprocess.Popen([BINARY, "journal", "--follow", "--refused", "--json", *full.at], stdout=subprocess.PIPE, text=True)
    lines: list[dict] = []
    reader = threading.Thread(target=lambda: lines.extend(json.loads(line) for line in process.stdout))

    def await_line(fits):
        end = time.monotonic() + 40
        while not any(map(fits, list(lines))):
            assert time.monotonic() < end and process.poll() is None, lines
            time.sleep(0.05)

    try:
        reader.start()
        await_line(lambda entry: entry["id"] == 5)
        full.call()
        full.call("wrong-secret")
        await_line(lambda entry: entry["id"] == 7)
        assert not any(entry["id"] == 6 for entry in lines), "what was answered is not followed"
        full.sandbox.control("POST", "reset")
        full.call("expired")
        await_line(lambda entry: entry["id"] == 1)
    finally:
        process.terminate()
        process.wait(10)
        reader.join(10)


@pytest.mark.parametrize(("words", "status", "complaint"), [
    (["journal", "99"], 1, "has no journal entry 99"),
    (["journal", "--route", "addresbook.list"], 1, "did you mean “addressbook.list”?"),
    (["journal", "--vendor", "rezolv"], 1, "did you mean “rezolve”?"),
    (["journal", "--status", "9xx"], 1, "status"),
    (["journal", "--since", "soon"], 1, "since"),
    (["journal", "--last", "many"], 2, "many"),
    (["journal", "3", "--refused", "--last", "2"], 2, "leave it out, or --refused, --last"),
    (["clock", "--advance", "soon"], 1, "advance is \"soon\"; expected a duration"),
    (["clock", "--now", "yesterday"], 1, "now is \"yesterday\""),
    (["clock", "--freeze", "--resume"], 2, "exclude each other"),
    (["clock", "--machine", "--freeze"], 2, "undoes every change"),
    (["sandbox", "Shop_42"], 1, "1 to 63 of a-z, 0-9 and hyphen"),
    (["sandbox", "shop-42", "--ttl", "long"], 1, "ttl is \"long\""),
    (["sandbox", "--reset"], 2, "name the sandbox"),
    (["sandbox", "shop-42", "--reset", "--delete"], 2, "exclude each other"),
    (["sandbox", "never-made", "--delete"], 1, "never-made"),
    (["scenario", "nope"], 1, "no scenario is called nope"),
    (["scenario", "rezolve-busy-backend", "--end"], 2, "takes no name"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_what_is_wrong_is_said_with_what_would_be_right(shell, words, status, complaint):
    # A name in the address and one as an argument must not conflict.
    said = shell.run(*words, status=status)
    assert complaint in said, said


def test_a_server_that_is_not_there_is_named(tmp_path):
    done = subprocess.run([BINARY, "clock", "--server", "http://127.0.0.1:1"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "127.0.0.1:1" in done.stderr and "refused" in done.stderr
    done = subprocess.run([BINARY, "clock", "--server", "nonsense"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "not a URL" in done.stderr


# --- sandbox, clock, scenario

def test_the_clock_is_read_moved_frozen_and_given_back(shell):
    assert shell.run("clock").endswith(" machine time\n")
    assert shell.run("clock", "--now", "2027-01-15T08:00:00Z", "--freeze") == "2027-01-15T08:00:00.000Z frozen\n"
    assert shell.run("clock", "--advance", "31m") == "2027-01-15T08:31:00.000Z frozen\n"
    assert shell.run("clock", "--advance=-1h") == "2027-01-15T07:31:00.000Z frozen\n"
    assert shell.run("clock", "--resume").endswith(" moved\n")
    assert shell.run("clock", "--machine").endswith(" machine time\n")


def test_sandboxes_are_made_reset_and_deleted(server):
    shell = Shell(Sandbox(server, "any"))
    shell.at = ["--server", server.url]
    rows = shell.run("sandbox", "made-by-command", "--ttl", "10m").splitlines()
    assert rows[0].split() == ["NAME", "AGE", "UNUSED", "CALLS", "JOURNAL", "SOCKETS", "CLOCK", "NOW"]
    assert any(row.startswith("made-by-command ") for row in rows)
    inside = Sandbox(server, "made-by-command")
    requests.get(f"{inside.url}/nothing")
    shell.run("sandbox", "made-by-command", "--reset")
    assert inside.control("GET", "journal")["entries"] == []
    assert "made-by-command" not in shell.run("sandbox", "made-by-command", "--delete")
    assert shell.run("journal", "--sandbox", "made-by-command") == ""


def test_scenarios_are_started_and_ended(shell):
    name = "rezolve-token-expires-mid-session"
    rows = {row.split()[0]: row.split()[1] for row in shell.run("scenario").splitlines()}
    assert rows[name] == "-" and len(rows) > 10
    rows = {row.split()[0]: row.split()[1] for row in shell.run("scenario", name, "rezolve-busy-backend").splitlines()}
    assert rows[name] == "fresh" and rows["rezolve-busy-backend"] != "-"
    rows = {row.split()[0]: row.split()[1] for row in shell.run("scenario", "--end").splitlines()}
    assert set(rows.values()) == {"STATE", "-"}


def test_the_control_token_and_the_control_port_are_found_by_themselves(tmp_path):
    server = Server(tmp_path, "--control-token", "steer", "--control-port", "0")
    try:
        at = {**os.environ, "UNDERSTUDY_PORT_FILE": str(tmp_path / "port")}
        without = subprocess.run([BINARY, "clock"], capture_output=True, text=True, timeout=60, env=at)
        assert without.returncode == 1 and "token" in without.stderr
        for words, more in (["clock", "--control-token", "steer"], {}), (["clock"], {"UNDERSTUDY_CONTROL_TOKEN": "steer"}):
            assert subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=60, env={**at, **more}).returncode == 0
        minted = subprocess.run(
            [BINARY, "token", "mint", "rezolve", "login", "--server", f"http://127.0.0.1:{server.ports['control']}"],
            capture_output=True, text=True, timeout=60, env={**at, "UNDERSTUDY_CONTROL_TOKEN": "steer"})
        assert minted.returncode == 0 and minted.stdout.startswith("eyJ")
    finally:
        assert server.stop() == 0


def test_a_control_port_can_be_set_in_the_environment(tmp_path):
    os.environ["UNDERSTUDY_CONTROL_PORT"] = "0"
    try:
        server = Server(tmp_path)
    finally:
        del os.environ["UNDERSTUDY_CONTROL_PORT"]
    assert server.ports["control"] != server.port
    assert server.stop() == 0
    assert "UNDERSTUDY_CONTROL_PORT" not in server.log.read_text()


# --- What must not happen

def test_no_text_of_a_call_steers_a_terminal(shell):
    evil = ["\x1b[2J\x1b[31mfake", "\x9b31m", "\r\nHTTP 200", "\u2028x", "\u202ex", "\u2066x", *PAYLOADS[::40]]
    for text in evil:
        token = shell.sandbox.mint(claims={"partner_entity_id": text, "device_id": text})
        requests.post(f"{shell.sandbox.url}{BOOK}?a={requests.utils.quote(text, safe='')}", json={text: text}, headers={
            "x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE, "authorization": f"Bearer {token}"})
    for words in (["journal"], *(["journal", str(number)] for number in range(1, len(evil) + 1))):
        shown = re.sub(r"\x1b\[(31|33|0)m", "", shell.terminal(*words))
        assert not [each for each in shown if (ord(each) < 32 and each != "\n") or 127 <= ord(each) < 160 or ord(each) in (0x2028, 0x2029, 0x202e, 0x2066)]
    assert len(shell.run("journal").splitlines()) == len(evil)


def test_no_name_of_a_file_of_cases_steers_a_terminal(shell, tmp_path):
    case = "GET {{base}}/nowhere\nHTTP 404\n"
    for name in ("\x1b[31mevil\x1b[2J.hurl", "two\nlines.hurl", "<b>&\"'.hurl"):
        (tmp_path / name).write_text(case)
    report = tmp_path / "report.xml"
    done = subprocess.run(
        [BINARY, "contract", "run", str(tmp_path), "--against", shell.sandbox.server.url, "--junit", str(report)],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\x1b" not in done.stdout + done.stderr and "3 of 3" in done.stdout
    assert len(done.stdout.splitlines()) == 4, "a line a case, and the summary"

    assert len(list(tree.parse(report).getroot().iter("testcase"))) == 3
