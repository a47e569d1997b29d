"""Server, sandbox, clock and journal as a test suite uses them."""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import understudy as package
from conftest import BOOK
from understudy import (
    Forbidden, Invalid, NotFound, Refusal, StartFailed, TooLarge, Unauthorized, Understudy, UnmetExpectation, Unreachable,
)

NOW = 1_800_000_000


# Starting and attaching

def test_a_server_starts_and_ends(capfd):
    with Understudy.start() as server:
        assert server.is_own and server.ports["http"] > 0 and server.url.endswith(str(server.ports["http"]))
        assert server.health()["status"] == "ok"
        other = Understudy.attach(f"{server.url}/")
        assert not other.is_own and other.url == server.url and other.ports == {}
        assert other.stop() is None and server.version == other.version
    assert server.stop() == 0
    with pytest.raises(Unreachable, match="no answer from Understudy at http://127.0.0.1:"):
        server.health()
    assert capfd.readouterr() == ("", "")


def test_the_version_is_the_server_s(understudy):
    assert package.__version__ == understudy.version


def test_options_reach_the_server_and_so_does_its_token(tmp_path, monkeypatch):
    for name in ("UNDERSTUDY_URL", "UNDERSTUDY_BINARY"):
        monkeypatch.setenv(name, os.environ["UNDERSTUDY_BINARY"])  # neither is an option of the server
    with Understudy.start("--control-token", "steer", "--control-port", "0", "--seed", "7") as server:
        assert server.sandbox("seeded").clock.now == datetime(2027, 1, 15, 8, tzinfo=timezone.utc)
        assert server.page_url == f"http://127.0.0.1:{server.ports['control']}/_understudy/"
        assert server.page_url.split("/")[2] != server.url.split("/")[2]
        control_url = server.page_url[:-len("/_understudy/")]
        # health asks for no token, so attaching works.
        with pytest.raises(Unauthorized, match="token") as refused:
            Understudy.attach(server.url, control_url=control_url).sandboxes()
        assert (refused.value.status, refused.value.call) == (401, "GET sandboxes")
        assert Understudy.attach(server.url, control_url=control_url, token="steer").sandboxes()
        monkeypatch.setenv("UNDERSTUDY_CONTROL_TOKEN", "steer")
        assert Understudy.attach(server.url, control_url=control_url).sandboxes()


@pytest.mark.parametrize("options", [["--control-token=steer"], ["--control-token", "@FILE"], []])
def test_the_token_is_found_wherever_it_is_said(options, tmp_path):
    (tmp_path / "token").write_text("steer\n")
    options = [option.replace("FILE", str(tmp_path / "token")) for option in options]
    with Understudy.start(*options, environment={} if options else {"UNDERSTUDY_CONTROL_TOKEN": "steer"}) as server:
        assert server.sandboxes()
        with pytest.raises(Unauthorized):
            Understudy.attach(server.url).sandboxes()


def test_a_start_that_fails_says_why(tmp_path):
    with pytest.raises(StartFailed, match="there is no program .*nowhere"):
        Understudy.start(binary=tmp_path / "nowhere")
    with pytest.raises(StartFailed, match="ended with code 2:\n.*--seed soon"):
        Understudy.start("--seed", "soon")
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o755)
    with pytest.raises(StartFailed, match="did not start in time"):
        Understudy.start(binary=silent, timeout=0.2)


def test_the_installed_program_goes_after_what_is_named_and_before_path(server_package, monkeypatch):
    Understudy.start().stop()
    with pytest.raises(StartFailed, match="there is no program /nowhere"):
        Understudy.start(binary="/nowhere")
    monkeypatch.setenv("UNDERSTUDY_BINARY", "/nowhere")
    with pytest.raises(StartFailed, match="there is no program /nowhere; install the package understudy-server, "):
        Understudy.start()
    monkeypatch.delenv("UNDERSTUDY_BINARY")
    server_package.unlink()
    with pytest.raises(StartFailed, match="ended with code 3:\nthis is the one in PATH"):
        Understudy.start()


def test_it_speaks_tls(tmp_path):
    with Understudy.start("--https-port", "0", environment={"UNDERSTUDY_CA_DIRECTORY": str(tmp_path)}) as server:
        url = f"https://localhost:{server.ports['https']}"
        assert Understudy.attach(url, ca_file=tmp_path / "understudy-ca.pem").sandbox().clock.read().is_machine_time
        with pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
            Understudy.attach(url)


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(understudy, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert Understudy.attach(understudy.url).health()["status"] == "ok"


def test_where_nobody_or_somebody_else_answers_it_says_so():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(Unreachable, match="refused"):
            Understudy.attach(f"http://127.0.0.1:{unused.getsockname()[1]}")

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(502)
            self.end_headers()
            self.wfile.write(b"bad gateway")

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.handle_request, daemon=True).start()
        with pytest.raises(Unreachable, match="GET health .* answered 502, and not as Understudy does: bad gateway"):
            Understudy.attach(f"http://127.0.0.1:{other.server_port}")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    asked = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.server, self.headers["Authorization"]))
            self.send_response(status)
            self.send_header("Location", f"http://127.0.0.1:{target.server_port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as other, HTTPServer(("127.0.0.1", 0), Other) as target:
        for server in (other, target):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(Unreachable) as refused:
            Understudy.attach(f"http://127.0.0.1:{other.server_port}", token="steer")
        for server in (other, target):
            server.shutdown()
        assert asked == [(other, "Bearer steer")]
        assert str(refused.value) == (
            f"GET health at http://127.0.0.1:{other.server_port} answered {status}, and not as Understudy does:"
            f" a redirect to http://127.0.0.1:{target.server_port}/elsewhere, which is not followed")


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://127.0.0.1:1/~name"])
def test_what_is_no_base_url_is_not_asked(url):
    with pytest.raises(ValueError, match="not a base URL"):
        Understudy.attach(url)


# The end of the process that started a server

START = """
import os, signal, sys
from understudy import Understudy
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it for all that it starts
server = Understudy.start(binary=sys.argv[1])
"""


def outlives(folder, code, *arguments) -> bool:
    """Whether a server keeps running when the process that started it ends."""
    alive = folder / "alive"
    os.mkfifo(alive)
    variables = {**os.environ, "ALIVE": str(alive), "PROGRAM": os.environ["UNDERSTUDY_BINARY"]}
    observed = Path(__file__).parents[1] / "observed"
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    subprocess.run(
        [sys.executable, "-c", START + code, observed, *map(str, arguments)], env=variables, stderr=subprocess.DEVNULL,
        timeout=60)
    server = int(os.read(reader, 20))
    has_ended, _, _ = select.select([reader], [], [], 20)
    if not has_ended:
        os.kill(server, signal.SIGKILL)
    os.close(reader)
    return not has_ended


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_a_server_ends_with_the_process_that_started_it(tmp_path, which):
    assert not outlives(tmp_path, "os.kill(os.getpid(), int(sys.argv[2]))", which)


def test_a_forked_process_that_goes_on_does_not_keep_the_server(tmp_path):
    forked = tmp_path / "forked"
    code = """
import multiprocessing, time
def work():
    open(sys.argv[2], "w").write(str(os.getpid()))
    time.sleep(120)
worker = multiprocessing.get_context("fork").Process(target=work)
worker.start()
while not (os.path.exists(sys.argv[2]) and open(sys.argv[2]).read()):
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""
    try:
        assert not outlives(tmp_path, code, forked)
    finally:
        os.kill(int(forked.read_text()), signal.SIGKILL)


def test_a_child_process_that_goes_on_does_not_keep_the_server(tmp_path):
    code = """
import subprocess
child = subprocess.Popen(["sleep", "120"], close_fds=False)
print(child.pid, file=open(sys.argv[2], "w"), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    child = tmp_path / "child"
    try:
        assert not outlives(tmp_path, code, child)
    finally:
        os.kill(int(child.read_text()), signal.SIGKILL)


# Refusals

def test_a_refusal_has_a_type_and_the_server_s_words(sandbox):
    with pytest.raises(Invalid) as refused:
        sandbox.clock.set("soon")
    error = refused.value
    assert (error.status, error.code, error.call) == (400, "invalid", "PUT clock")
    assert "soon" in error.message and "RFC 3339" in error.message
    assert str(error) == f"{error.message} (PUT clock answered 400 invalid)"
    with pytest.raises(NotFound, match="nobody"):
        sandbox.state("nobody")
    with pytest.raises(NotFound):
        sandbox.mint("rezolve/other")
    with pytest.raises(TooLarge):
        sandbox.act("rezolve/register-customer", partner_entity_id="x" * (1 << 20))
    assert issubclass(Forbidden, Refusal) and issubclass(Refusal, package.UnderstudyError)


def test_a_host_s_name_that_a_web_page_could_have_is_forbidden(understudy, monkeypatch):
    # As a proxy would, the server itself takes calls for that name.
    monkeypatch.setenv("http_proxy", understudy.url)
    with pytest.raises(Forbidden, match="--allow-host mocks.example.test"):
        Understudy.attach("http://mocks.example.test")


@pytest.mark.parametrize("kind", ["login", "/login", "rezolve/", ""])
def test_half_a_name_is_not_sent(sandbox, kind):
    for call in (sandbox.mint, sandbox.act):
        with pytest.raises(ValueError, match="such as"):
            call(kind)


def test_what_a_name_holds_stays_in_its_place_of_the_path(sandbox):
    with pytest.raises(NotFound) as refused:
        sandbox.state("a/b c?d%é")
    assert refused.value.call == "GET state/a%2Fb%20c%3Fd%25%C3%A9" and "a/b c?d%é" in refused.value.message
    with pytest.raises(NotFound) as refused:
        sandbox.mint("rezolve/lo?gin/")
    assert refused.value.call == "POST tokens/rezolve/lo%3Fgin%2F"


def test_what_has_no_name_here_is_a_call_of_the_control_api(understudy, sandbox, call):
    drilled = sandbox.control("POST", "keys/ims/rotating/same-kid")
    assert drilled["issuer"] == "rotating" and drilled["keys"]
    assert sandbox.control("POST", "reset") is None
    call("GET")
    assert "POST {{base}}" in sandbox.control("GET", "journal?format=hurl")
    assert sandbox.control("POST", "journal/verify?wait=1ms", {"exactly": 3})["verified"] is False
    assert understudy.control("GET", "clock")["machine_time"]


# Sandboxes

def test_sandboxes_are_worlds_of_their_own(understudy, call):
    with understudy.sandbox("one") as one, understudy.sandbox("other") as other:
        one.clock.freeze(NOW)
        assert call("GET", base=one.base_url) == 403
        assert other.clock.read().is_machine_time and list(other.journal) == []
        assert len(one.journal.entries()) == 1
        assert call("GET", base=understudy.url, **one.headers) == 403
        assert len(one.journal.entries()) == 2
        assert {"one", "other"} <= {each["name"] for each in understudy.sandboxes()}
    assert not {"one", "other"} & {each["name"] for each in understudy.sandboxes()}


def test_a_sandbox_that_nobody_used_can_be_deleted(understudy):
    understudy.sandbox("unused").delete()


def test_names_are_new_or_refused(understudy):
    assert understudy.sandbox().name != understudy.sandbox().name
    made = understudy.sandbox_for("test_it.py::Test::test_é[one/two]-" + "x" * 60)
    assert made.name.startswith("test-it-py-test-test-one-two-xxx") and len(made.name) == 63
    assert made.name != understudy.sandbox_for("test_it.py").name
    assert understudy.sandbox_for("???").name.startswith("test-")
    for name in ("", "A", "a_b", "x" * 64, "a/b", "a\n"):
        with pytest.raises(ValueError, match="not a sandbox name"):
            understudy.sandbox(name)


def test_a_sandbox_may_have_a_time_to_live(understudy):
    with understudy.sandbox("brief", ttl=timedelta(minutes=10)):
        assert next(each for each in understudy.sandboxes() if each["name"] == "brief")["ttl_seconds"] == 600


# Time

def test_a_clock_is_frozen_moved_and_released(sandbox):
    clock = sandbox.clock
    assert clock.read().is_machine_time and abs(clock.now.timestamp() - datetime.now().timestamp()) < 60
    shown = clock.freeze(NOW)
    assert (shown.unix, shown.is_frozen, shown.is_machine_time) == (NOW, True, False)
    assert shown.now == datetime(2027, 1, 15, 8, tzinfo=timezone.utc)
    assert clock.advance(minutes=31).unix == NOW + 31 * 60
    assert clock.advance("-31m").unix == NOW
    assert clock.advance(timedelta(hours=1, milliseconds=1)).unix == pytest.approx(NOW + 3600.001, abs=1e-4)
    assert clock.advance(days=1, hours=-1).unix == pytest.approx(NOW + 86_400.001, abs=1e-4)
    assert clock.set("2027-01-15T08:00:00Z").unix == NOW
    assert clock.set(datetime(2027, 1, 15, 9, tzinfo=timezone(timedelta(hours=1)))).unix == NOW
    assert not clock.resume().is_frozen
    assert clock.freeze().is_frozen
    assert clock.use_machine_time().is_machine_time


def test_times_that_say_two_things_or_none_are_not_sent(sandbox):
    with pytest.raises(ValueError, match="no time zone"):
        sandbox.clock.set(datetime(2027, 1, 15))
    with pytest.raises(ValueError, match="not both"):
        sandbox.clock.advance("1m", minutes=1)


@pytest.mark.parametrize(("value", "text"), [
    ("2h", "2h"), (1.5, "1500ms"), (0.0001, "1ms"), (-0.0001, "-1ms"), (0, "0ms"), (0.29, "290ms"), (1.1, "1100ms"),
    (timedelta(days=1), "86400000ms"), (timedelta(microseconds=-1001), "-2ms")])
def test_durations_are_written_as_the_server_reads_them(value, text):
    from understudy.clock import duration
    assert duration(value) == text


# Tokens, behaviour, state

def test_tokens_are_minted_explained_and_refused(sandbox, call):
    token = sandbox.mint("rezolve/login", expires_in=900)
    assert call("GET", token=token) == 200
    [verdict] = sandbox.explain(token, vendor="rezolve", request={"device_id": "other"})
    assert (verdict["vendor"], verdict["kind"], verdict["accepted"]) == ("rezolve", "login", False)
    assert len(sandbox.explain(sandbox.mint("rezolve/login", defect="expired"))) > 1
    sandbox.clock.advance(minutes=16)
    assert call("GET", token=token) == 401
    entry = sandbox.journal.last()
    assert (entry.failure, entry.status, entry.vendor, entry.route) == ("token-expired", 401, "rezolve", "addressbook.list")
    assert entry.is_refused and entry.reason.startswith("expiry: ")
    [check] = entry.failed_checks
    assert check["check"] == "expiry" and check["source"] and check["expected"] and check["found"]


def test_switches_profiles_and_seeds_are_set(sandbox):
    sandbox.set_switch("rezolve.device-check", "off")
    sandbox.set_profile("observed", "ims")
    sandbox.set_seed(7)
    settings = sandbox.control("GET", "settings")
    assert settings["switches"]["rezolve.device-check"] == "off"
    assert (settings["profile"], settings["vendor_profiles"], settings["seed"]) == ("documented", {"ims": "observed"}, 7)
    sandbox.set_switch("rezolve.device-check", None)
    assert sandbox.control("GET", "settings")["switches"]["rezolve.device-check"] == "enforce"
    sandbox.set_profile("observed")
    sandbox.set_seed(None)
    settings = sandbox.control("GET", "settings")
    assert (settings["profile"], settings["seed"]) == ("observed", None)


def test_scenarios_are_activated_and_ended(sandbox):
    sandbox.activate("rezolve-busy-backend", "rezolve-customer-removed")
    active = [each["scenario"] for each in sandbox.control("GET", "scenarios")["active"]]
    assert active == ["rezolve-busy-backend", "rezolve-customer-removed"]
    sandbox.activate()
    assert sandbox.control("GET", "scenarios")["active"] == []


def test_faults_strike_and_are_disarmed(sandbox, call):
    token = sandbox.mint("rezolve/login")
    sandbox.arm({"route": "addressbook.list", "call": 2, "fail": "service-unavailable"})
    assert [call("GET", token=token) for _ in range(3)] == [200, 503, 200]
    sandbox.arm({"route": "addressbook.list", "times": "always", "respond": {"status": 418}})
    sandbox.arm()
    assert call("GET", token=token) == 200


def test_what_happens_behind_the_app_s_back_is_in_the_state(sandbox, call):
    token = sandbox.mint("rezolve/login")
    before = sandbox.state("rezolve")
    sandbox.act("rezolve/remove-customer", entity="entity123")
    assert call("GET", token=token) == 403
    assert sandbox.state("rezolve") != before
    assert sandbox.set_state("rezolve", before) == before
    assert call("GET", token=token) == 200
    sandbox.act("rezolve/remove-customer", entity="entity123")
    sandbox.reset()
    assert call("GET", token=sandbox.mint("rezolve/login")) == 200


# The journal

def test_the_journal_is_filtered_iterated_and_cleared(sandbox, call):
    call("GET", token=sandbox.mint("rezolve/login"))
    call("GET", token="a.b.c")
    call("GET", "/nowhere")
    journal = sandbox.journal
    assert [entry.status for entry in journal] == [200, 403, 404]
    assert [entry.status for entry in journal.entries(status="4xx")] == [403, 404]
    assert [entry.status for entry in journal.entries(status=200, route="addressbook.*", vendor="rezolve")] == [200]
    assert [entry.target for entry in journal.refusals()] == [BOOK]
    assert [entry.id for entry in journal.entries(after=1, last=1)] == [3]
    assert [entry.id for entry in journal.entries(unmatched=True)] == [3]
    assert journal.entries(since=datetime.now(timezone.utc) + timedelta(hours=1)) == []
    assert journal.last(route="addressbook.list").status == 403 and journal.last().status == 404
    assert journal.entry(2).failure == "masked-signature" and journal.entry(2).method == "GET"
    journal.clear()
    with pytest.raises(LookupError, match="was not called"):
        journal.last()


def test_the_journal_waits(sandbox, call):
    later = threading.Timer(0.2, call, ["GET"])
    later.start()
    found = sandbox.journal.wait_for(route="addressbook.list", within=30)
    assert [entry.status for entry in found] == [403]
    later.join()
    assert sandbox.journal.wait_for(2, within=timedelta(milliseconds=1), refused=True) == found or len(found) == 1


def test_entries_are_told_in_words(sandbox, call):
    assert sandbox.journal.describe() == f"Sandbox {sandbox.name} was not called."
    call("GET", token=sandbox.mint("rezolve/login"))
    call("GET", token=sandbox.mint("rezolve/login", defect="expired"))
    call("GET", "/v2/credential/ping")
    sandbox.arm({"route": "addressbook.list", "fail": "service-unavailable"})
    call("GET", token=sandbox.mint("rezolve/login"))
    title, *lines = sandbox.journal.describe().split("\n")
    assert title == f"Sandbox {sandbox.name}, newest last:"
    assert lines[:5] == [
        f"#1 GET {BOOK} (rezolve, addressbook.list)", "   answered 200",
        f"#2 GET {BOOK} (rezolve, addressbook.list)", "   answered 401: token-expired", "   failed rule: expiry"]
    assert lines[5].startswith("   reason: expiry: found ")
    assert lines[6:8] == ["#3 GET /v2/credential/ping (no vendor)", "   answered 404"]
    assert lines[8].startswith("   reason: no vendor owns this path; the nearest route is rezolve rua.ping: ")
    assert lines[9].startswith("   nearest routes: ")
    assert lines[11] == "   answered 503: service-unavailable"
    assert lines[-1].startswith("   intervention: ")
    assert sandbox.journal.describe(last=1).count("#") == 1


def test_expectations_are_met_or_say_what_came_closest(sandbox, call):
    assert sandbox.expect_calls(exactly=0) == []
    call("GET", token=sandbox.mint("rezolve/login"))
    call("GET", token="a.b.c")
    assert sandbox.expect_calls(route="addressbook.list", exactly=2) == [1, 2]
    assert sandbox.expect_calls({"header": {"x-rezolve-device-id": {"present": True}}}, failure="masked-signature") == [2]
    assert sandbox.expect_calls(at_least=1, at_most=2, within="1ms") == [1, 2]
    with pytest.raises(UnmetExpectation) as unmet:
        sandbox.expect_calls(route="addressbook.list", status=401, exactly=1)
    assert isinstance(unmet.value, AssertionError)
    lines = str(unmet.value).split("\n")
    assert lines[0].startswith("expected exactly 1 exchange, found 0; the nearest is entry ")
    assert lines[1].startswith("  #2 rezolve addressbook.list: GET ")
    assert lines[2] == "      status: expected 401, found 403"
    with pytest.raises(UnmetExpectation, match="entry 2"):
        sandbox.expect_calls(at_most=1)
    with pytest.raises(Invalid, match="colour"):
        sandbox.expect_calls(colour="red")


def test_a_sequence_is_met_or_says_which_step_is_missing(sandbox, call):
    call("GET", token=sandbox.mint("rezolve/login"))
    call("GET", token="a.b.c")
    step = {"route": "addressbook.list"}
    assert sandbox.expect_sequence({**step, "status": 200}, {**step, "token": "other", "within": "1m"}) == [1, 2]
    with pytest.raises(UnmetExpectation) as unmet:
        sandbox.expect_sequence({"failure": "masked-signature"}, {"route": "rua.ping"})
    assert str(unmet.value).startswith("no exchange after entry 2 is step 2 of 2 (route rua.ping); ")
    with pytest.raises(UnmetExpectation, match="entry 2"):
        sandbox.expect_sequence({"status": 200}, none_after={"failure": "masked-signature"})


def test_an_expectation_waits(sandbox, call):
    later = threading.Timer(0.2, call, ["GET"])
    later.start()
    assert sandbox.expect_calls(route="addressbook.list", within=30) == [1]
    later.join()
