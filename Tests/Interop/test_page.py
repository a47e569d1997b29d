"""The page in a browser, read as a person reads it: by role and name."""

import concurrent.futures
import contextlib
import json
import os
import queue
import re
import socket
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
import requests
from browser import NoBrowser
from devtools import PLACE, Browser
from messaging import NEW_YEAR, TRIP, App
from payloads import PAYLOADS
from world import ADA, API_KEY, DEVICE, PARTNER, Sandbox, Server

BOOK = f"/api/v1/partner/{PARTNER}/customer/{ADA}/addressbook"
VIEWS = ["journal", "tokens", "explain", "sandboxes", "settings", "scenarios", "faults", "keys", "state", "routes", "sources"]


@pytest.fixture(scope="module")
def browser():
    try:
        browser = Browser()
    except NoBrowser as problem:
        pytest.fail(str(problem), pytrace=False)
    yield browser
    browser.close()


class Visit:
    """A sandbox and the page opened for it."""

    def __init__(self, browser, server, name: str, **options):
        self.browser, self.options = browser, options
        self.sandbox = Sandbox(server, name)
        self.tabs = []

    def open(self, view: str = "journal", query: str = "", **options):
        address = f"{self.sandbox.url}/_understudy/#/{view}{'?' + query if query else ''}"
        tab = self.browser.open(address, **{**self.options, **options})
        self.tabs.append(tab)
        tab.until("document.querySelector('main')?.childElementCount > 0")
        return tab

    def close(self):
        for tab in self.tabs:
            tab.run("1")
            tab.close()
        complaints = [each for tab in self.tabs for each in tab.complaints]
        assert complaints == [], "the page, or its Content-Security-Policy, complained"
        elsewhere = {url for tab in self.tabs for url in tab.requested if not url.startswith((self.sandbox.server.url, "about:", "devtools:"))}
        assert elsewhere == set(), "the page asked for something elsewhere"
        assert [each for tab in self.tabs for each in tab.dialogs] == []


@pytest.fixture
def visit(browser, server, request):
    name = request.node.name.replace("_", "-").split("[")[0].removeprefix("test-")[:50].strip("-")
    visit = Visit(browser, server, name)
    yield visit
    visit.close()


def call(sandbox, defect=None, **headers):
    token = sandbox.mint(**({"defect": defect} if defect else {}))
    return requests.get(sandbox.url + BOOK, headers={
        "x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE, "authorization": f"Bearer {token}", **headers})


# --- Served content

def files(server):
    page = requests.get(f"{server.url}/_understudy/", headers={"accept": "text/html"})
    names = ["api.js", "app.js", "checks.js", "compare.js", "copies.js", "description.js", "dom.js", "entry.js", "explain.js", "faults.js", "feed.js", "icon.svg", "journal.js", "keys.js",
             "routes.js", "rows.js", "sample.js", "sandboxes.js", "scenarios.js", "settings.js", "socket.js", "sources.js", "state.js", "style.css", "timeline.js", "token.js", "tokens.js", "words.js"]
    return [page, *(requests.get(f"{server.url}/_understudy/page/{name}") for name in names)]


def test_the_page_is_small_and_strict(server):
    answers = files(server)
    assert [answer.status_code for answer in answers] == [200] * len(answers)
    assert sum(len(answer.content) for answer in answers) <= 130_000
    for answer in answers:
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["referrer-policy"] == "no-referrer"
        again = requests.get(answer.url, headers={"accept": "text/html", "if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        text = answer.text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "").replace("`http://${location.hostname}:${place.port}`", "")
        assert "innerHTML" not in text and "eval(" not in text


def test_what_the_page_says_without_javascript_leads_to_the_journal(server):
    at = f"{server.url}/~unscripted/_understudy/"
    page = requests.get(at, headers={"accept": "text/html"}).text
    target = re.search(r'<noscript>.*<a href="([^"]+)">', page)[1]
    assert "entries" in requests.get(at + target, headers={"accept": "text/html"}).json()


def test_a_file_of_the_page_has_under_250_lines(server):
    for answer in files(server):
        assert answer.text.count("\n") < 250, answer.url


def test_the_front_door_leads_browsers_to_the_page_and_others_to_an_index(server):
    to = requests.get(f"{server.url}/", headers={"accept": "text/html,*/*;q=0.8"}, allow_redirects=False)
    assert to.status_code == 303 and to.headers["location"] == "_understudy/"
    assert requests.get(f"{server.url}/~door/", headers={"accept": "text/html"}).url == f"{server.url}/~door/_understudy/"
    for client in [f"{server.url}/", f"{server.url}/_understudy/", f"{server.url}/~door/"]:
        index = requests.get(client).json()
        assert index["name"] == "Understudy" and requests.get(index["dashboard"], headers={"accept": "text/html"}).ok
    names = {each["name"] for each in requests.get(f"{server.url}/_understudy/sandboxes").json()["sandboxes"]}
    assert "door" not in names, "looking at the page makes no sandbox"


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "http://evil.example"}])
def test_the_page_makes_no_exception_from_the_rules_of_control_calls(server, headers):
    for path in ["/", "/_understudy/", "/_understudy/page/app.js"]:
        answer = requests.get(server.url + path, headers={"accept": "text/html", **headers})
        assert answer.status_code == 403 and "error" in answer.json()


# --- The journal

def test_the_journal_follows_and_filters_and_can_be_linked(visit):
    tab = visit.open()
    tab.see("No calls yet")
    call(visit.sandbox)
    call(visit.sandbox, "expired")
    requests.get(f"{visit.sandbox.url}/api/api/v1/nothing")
    tab.see("token expired", "addressbook.list", "did you mean")
    tab.click("checkbox", "Refused")
    tab.until("location.hash.includes('refused=true')")
    tab.until("document.querySelectorAll('[role=row] a').length === 1")
    linked = visit.open(query="refused=true&vendor=rezolve&route=addressbook.*&status=4xx&since=5m")
    linked.see("token expired")
    linked.until("document.querySelectorAll('[role=row] a').length === 1")
    tab.click("checkbox", "Refused")
    tab.type("searchbox", "Free text", "did nothing")
    tab.see("No entry matches these filters")
    tab.click("button", "Clear the filters")
    tab.until("document.querySelectorAll('[role=row] a').length === 3")
    tab.click("checkbox", "Unmatched")
    tab.until("document.querySelectorAll('[role=row] a').length === 1")
    tab.run("history.back()")
    tab.until("document.querySelectorAll('[role=row] a').length === 3")
    tab.choose("Status", "2xx")
    tab.until("document.querySelectorAll('[role=row] a').length === 1")


def test_a_wrong_filter_is_refused_in_the_apis_words(visit):
    tab = visit.open(query="route=addresbook.list")
    tab.see("no route is called addresbook.list")


def test_pause_keeps_what_comes_above_a_line(visit):
    tab = visit.open()
    call(visit.sandbox)
    tab.see("addressbook.list")
    tab.click("button", "Pause")
    call(visit.sandbox, "expired")
    tab.see("1 new")
    assert "token expired" not in tab.text()
    tab.click("button", "1 new")
    tab.see("token expired")
    tab.click("button", "Resume")


def test_keys_lead_through_the_journal(visit):
    for defect in (None, "expired", "alg-none"):
        call(visit.sandbox, defect)
    tab = visit.open()
    tab.see("algorithm")
    tab.press("j")
    tab.press("j")
    tab.press("k")
    tab.press("j")
    tab.press("Enter")
    tab.find("article", "Entry 2")
    tab.run("window.copy = null; document.addEventListener('copied', event => { window.copy = event.detail; }); document.activeElement.blur()")
    tab.press("c")
    assert "curl -i -X GET -g " in tab.until("window.copy")
    tab.press("Escape")
    tab.until("!location.hash.includes('entry')")
    tab.press("?")
    tab.find("dialog", "Keys")
    tab.click("button", "Close")
    tab.until("!document.querySelector('dialog')")
    tab.press("/")
    tab.until("document.activeElement.getAttribute('aria-label') === 'Free text'")


REFUSALS = [
    # the token's defect, other fields, and a word from the cause
    ("expired", {}, "token expired"), ("not-yet-valid", {}, "not valid until"), ("alg-none", {}, "none"), ("wrong-secret", {}, "signature"),
    ("wrong-alg", {}, "algorithm"), ("tampered-payload", {}, "signature"), ("bad-signature", {}, "signature"), ("truncated-signature", {}, "signature"),
    ("padded-base64", {}, "base64"), ("two-parts", {}, "parts"), ("four-parts", {}, "parts"), ("string-exp", {}, "exp"),
    ("missing-exp", {}, "exp"), ("missing-device_id", {}, "device_id"), ("other-user", {}, "entity"), ("alg-hs256", {}, "algorithm"),
    ("secret-base64-decoded", {}, "signature"), (None, {"x-rezolve-device-id": "another"}, "device"),
    (None, {"x-rezolve-partner-apikey": "nobody"}, "api key"), (None, {"authorization": "nothing"}, "token"),
]


@pytest.mark.parametrize(("defect", "headers", "cause"), REFUSALS, ids=[f"{d or next(iter(h))}" for d, h, _ in REFUSALS])
def test_from_a_refused_call_to_its_cause_in_two_clicks(browser, server, defect, headers, cause):
    visit = Visit(browser, server, f"cause-{[each[:2] for each in REFUSALS].index((defect, headers))}")
    answer = call(visit.sandbox, defect, **headers)
    assert answer.status_code in (401, 403)
    tab = visit.open()
    name = tab.until("document.querySelector('[role=row] a')?.textContent")
    assert cause in name, "the cause is already in the list"
    tab.click("link", name)
    tab.find("article", "Entry 1")
    tab.see("Why:", "The app sees", "What really happened", "Fix:")
    why = tab.run("document.querySelector('.why').innerText + document.querySelector('.proof').innerText")
    assert cause in why
    entry = visit.sandbox.last_entry()
    failed = next(each for each in entry["findings"] if each["outcome"] == "failed")
    # The failed check is visible in the table without another click.
    tab.find("rowheader", failed["check"].replace("-", " "))
    assert str(entry["status"]) in tab.run("document.querySelector('.contrast').innerText")
    visit.close()


def test_an_entry_shows_its_proof_and_can_be_copied(visit):
    call(visit.sandbox)
    call(visit.sandbox, "expired")
    tab = visit.open(query="entry=2")
    tab.find("article", "Entry 2")
    tab.see("token-expired", "Your token has expired", "JWT page, HTTP Error Responses, 401", "failed: expiry", "Fix: Renew the token")
    assert "passed" in tab.text()
    tab.click("button", "failed: expiry")
    tab.until("document.activeElement.dataset.check === 'expiry'")
    for fold in ("Show 26 passed checks", "Request", "Answer"):
        tab.unfold(fold)
    tab.see("x-rezolve-device-id", "path partner")
    line = tab.copied("button", "Copy as curl")
    headers = dict(part.split(": ", 1) for part in [each.split("'")[1] for each in line.split("\\\n")[1:]])
    assert "***" not in line
    assert requests.get(line.split("'")[1], headers=headers).status_code == 200, "the fresh token is right"
    hurl = tab.copied("button", "Copy as Hurl case")
    assert "HTTP 401" in hurl and "/tokens/rezolve/login" in hurl
    swift = tab.copied("button", "Copy as Swift expectation")
    assert swift == 'await server.expectCalls(.atLeast(1), where: ["vendor": "rezolve", "route": "addressbook.list", "failure": "token-expired", "status": 401])'
    link = tab.copied("button", "Copy link")
    assert "entry=2" in link
    other = visit.browser.open(link)
    other.find("article", "Entry 2")
    other.close()
    tab.type("spinbutton", "Entry to compare with", "1")
    tab.click("button", "Compare")
    tab.find("article", "Entries 2 and 1")
    tab.see("check expiry", "token-expired")
    assert 0 < tab.run("document.querySelectorAll('.entry tbody tr').length") < 30, "only what differs"


def test_a_reason_is_said_once_with_what_differs_marked_and_what_to_do(visit):
    call(visit.sandbox, **{"x-rezolve-device-id": f"{DEVICE[:-1]}b"})
    tab = visit.open(query="entry=1")
    tab.see("Why: device is not what the rule expects", "Fix: The header x-rezolve-device-id must say the same as the claim device_id.")
    assert tab.run("[...document.querySelectorAll('.proof td:last-child')].map(each => each.innerText)") == [f"{DEVICE[:-1]}b", DEVICE]
    assert tab.run("[...document.querySelectorAll('mark')].map(each => each.textContent)") == ["b", "a"]
    assert tab.run("document.querySelectorAll('.checks tr.failed').length") == 0
    assert tab.text().count("must say the same as the claim device_id") == 1
    call(visit.sandbox)
    answered = visit.open(query="entry=2")
    answered.see("Answered; no rule refused it.", "The app sees 200")
    assert "What really happened" not in answered.text()


def test_a_remark_on_an_accepted_call_stands_in_the_list(visit):
    token = visit.sandbox.mint(claims={"exp": 1_900_000_000_000})
    answer = requests.get(visit.sandbox.url + BOOK, headers={"x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE, "authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    tab = visit.open()
    tab.see("exp looks like milliseconds")
    tab.find("image", "accepted with a remark")


def test_a_bar_of_the_timeline_leads_to_its_calls(visit):
    visit.sandbox.set_clock(now=NEW_YEAR, freeze=True)
    call(visit.sandbox)
    visit.sandbox.set_clock(now=NEW_YEAR + 60, freeze=True)
    call(visit.sandbox, "expired")
    call(visit.sandbox)
    tab = visit.open()
    tab.see("last 5 min, at most 0.4 calls/s")
    tab.until("document.querySelectorAll('[role=row] a').length === 3")
    tab.find("link", "00:00:00: 1 call, 1 fine")
    tab.click("link", "00:01:00: 2 calls, 1 fine, 1 refused")
    tab.until(f"location.hash.includes('at={NEW_YEAR + 60}')")
    tab.until("document.querySelectorAll('[role=row] a').length === 2")
    tab.click("link", "only 00:01:00 ✕")
    tab.until("document.querySelectorAll('[role=row] a').length === 3")
    visit.sandbox.set_clock(advance="10m")
    tab.see("no calls in the last 5 min")


def test_a_source_leads_to_what_it_stands_for(visit):
    call(visit.sandbox, **{"x-rezolve-device-id": "another"})
    tab = visit.open(query="entry=1")
    tab.click("link", "JWT page, Terminology: deviceId; switch device-check")
    tab.find("heading", "Sources")
    tab.until("document.querySelectorAll('tr.chosen').length === 1")
    assert "the page on JWT authentication" in tab.run("document.querySelector('tr.chosen').innerText")
    assert tab.run("[...document.querySelectorAll('main a')].every(({href, rel}) => href.startsWith('https://') && rel === 'noreferrer noopener')")
    tab.run("history.back()")
    tab.find("article", "Entry 1")


def test_an_entry_says_with_how_many_others_its_answer_is_shared(visit):
    call(visit.sandbox, "wrong-secret")
    alike = next(each for each in visit.sandbox.control("GET", "vendors")["vendors"][0]["failures"] if each["failure"] == "masked-signature")["lookalikes"]
    assert {"masked-api-key", "masked-no-auth-key", "masked-token-missing", "masked-missing-fields", "masked-other-user"} <= set(alike)
    tab = visit.open(query="entry=1")
    name = f"One of {len(alike) + 1} reasons for the same answer"
    tab.see(name)
    tab.unfold(name)
    tab.see(*(f"{each}: " for each in alike))
    call(visit.sandbox, "expired")
    visit.open(query="entry=2").see("token-expired", "Why:")
    assert "reasons for the same answer" not in visit.tabs[-1].text()


def test_what_an_empty_view_offers_makes_it_full(visit):
    """Each suggested line runs unchanged, and then the view is no longer empty."""
    def run_line(tab):
        done = subprocess.run(["sh", "-c", tab.copied("button", "Copy the line")], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and " 20" in done.stdout.splitlines()[0], (done.stdout, done.stderr)

    tab = visit.open("faults")
    tab.see("No fault is armed")
    run_line(tab)
    tab.find("button", "Disarm fault 1")
    visit.sandbox.control("DELETE", "faults")
    tab = visit.open("keys")
    tab.see("No keys were fetched yet")
    run_line(tab)
    tab.until("!document.body.innerText.includes('No keys were fetched yet')")
    visit.sandbox.control("DELETE", "journal")
    tab = visit.open()
    tab.see("No calls yet")
    run_line(tab)
    tab.until("document.querySelectorAll('[role=row] a').length === 1")
    tab.run("location.hash = '#/routes?text=nothing-is-called-so'")
    tab.see("No route or failure matches these filters.")
    tab.click("button", "Clear the filters")
    tab.see("addressbook.list")
    tab.run("location.hash = '#/settings?text=nothing-is-called-so'")
    tab.see("No switch matches this filter.")
    tab.click("button", "Clear the filters")
    tab.see("device-check")


def test_an_intervention_is_shown(visit):
    visit.sandbox.control("PUT", "faults", {"route": "addressbook.list", "fail": "token-expired"})
    call(visit.sandbox)
    tab = visit.open(query="entry=1")
    tab.see("Why: armed fault, call 1: fail token-expired", "! Rezolve addressbook.list")
    tab.click("link", "See the faults")
    tab.see("No fault is armed")
    # One that the vendor refuses keeps its reason, whatever a fault does besides.
    visit.sandbox.control("PUT", "faults", {"route": "addressbook.list", "fault": {"delay": "1ms"}})
    call(visit.sandbox, **{"x-rezolve-device-id": "another"})
    tab = visit.open(query="entry=2")
    tab.see("✕ Rezolve addressbook.list", "Why: device is", "; armed fault, call 1: fault delay 0.001s", "Fix:")


def test_frames_of_a_socket_are_a_timeline(visit):
    frames = [{"from": "client", "at": "2027-01-15T08:00:00.000Z", "message": {"a": 1}, "findings": []},
              {"from": "server", "at": "2027-01-15T08:00:01.000Z", "message": "b", "findings": []}]
    tab = visit.open()
    tab.run(f"""import('./page/socket.js').then(({{socketView}}) => document.querySelector('main').replaceChildren(socketView({{
        received: 2, sent: 1, closed: {{code: 1001, reason: 'away', at: '2027-01-15T08:00:02.000Z'}}, findings: [], frames: {json.dumps(frames)}}}, {{}}, () => {{}})))""")
    tab.see("1 older messages", "08:00:00 → in", "08:00:01 ← out", "Closed with 1001 away")


def test_the_messages_of_an_open_socket_lead_to_the_calls_that_caused_them(visit):
    visit.sandbox.set_clock(now=NEW_YEAR, freeze=True)
    mira, bob = (App(visit.sandbox, user).start() for user in ("mira", "bob"))
    mira.expect(201, "POST", "/conversations", {"id": TRIP, "name": "Trip", "participants": [{"id": "bob"}]})
    with mira.listen() as ear:
        opening = visit.sandbox.last_entry()["id"]
        tab = visit.open(query=f"entry={opening}")
        tab.see("Socket: 0 in, 1 out", "← out socket.info", "Still open.")
        bob.post("Hello <b>there</b>")
        posting = visit.sandbox.last_entry()["id"]
        while ear.hear()["name"] != "conversationMessage.sent":
            pass
        ear.send('{"name": "<i>unknown</i>"}')
        tab.until(f"fetch('/_understudy/journal/{opening}', {{headers: {{'X-Understudy-Sandbox': {json.dumps(visit.sandbox.url.rsplit('~')[-1])}}}}}).then(answer => answer.json()).then(entry => entry.socket.received)")
        tab.click("button", "Refresh")
        tab.see("→ in ! ignored frame <i>unknown</i>", "← out conversationMessage.sent")
        assert "Hello <b>there</b>" not in tab.text(), "a line for each message"
        tab.unfold("00:00:00 ← out conversationMessage.sent*")
        tab.see("Hello <b>there</b>", f", entry {posting}")
        lanes = tab.run("[...document.querySelectorAll('.lanes > li')].map(lane => lane.className)")
        assert lanes[0] == "out" and lanes[-1] == "in" and "b" not in tab.run("[...document.querySelectorAll('.lanes *')].map(each => each.localName)")
        tab.click("link", f"*, entry {posting}")
        tab.find("article", f"Entry {posting}")
        assert f"entry={posting}" in tab.run("location.hash")
    tab.run("history.back()")
    tab.find("article", f"Entry {opening}")
    tab.see("Closed with 1000")


# --- Copies

@contextlib.contextmanager
def recorder():
    """A server that keeps the bytes of what it is sent."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        got = queue.Queue()

        def listen():
            with contextlib.suppress(OSError):
                while True:
                    stream, _ = listening.accept()
                    with stream, stream.makefile("rb") as lines:
                        head = b"".join(iter(lines.readline, b"\r\n"))
                        length = re.search(rb"(?i)^content-length: (\d+)", head, re.MULTILINE)
                        got.put((head.decode(), lines.read(int(length[1])) if length else b""))
                        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", got


def record(sandbox, method, target, fields, body):
    """Sends a request byte for byte."""
    address = urlsplit(sandbox.url)
    head = "".join(f"{name}: {value}\r\n" for name, value in [("host", address.netloc), ("connection", "close"), *fields])
    with socket.create_connection((address.hostname, address.port)) as stream:
        stream.sendall(f"{method} {address.path}{target} HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        assert stream.makefile("rb").readline().startswith(b"HTTP/1.1 ")


JSON_TYPE = ("content-type", "application/json")
COPIES = {
    "json-string": ("POST", BOOK, [JSON_TYPE], b'"@/etc/hostname"'),
    "no-type": ("POST", BOOK, [], b'{"a":1}'),
    "quotes": ("POST", BOOK, [JSON_TYPE], '{"a":"it\'s $HOME `id` !1 é \\\\n\\n\\u001b"}'.encode()),
    "numbers": ("POST", BOOK, [JSON_TYPE], b'{"big":12345678901234567890,"exact":1.0}'),
    "number": ("POST", BOOK, [JSON_TYPE], b"7"),
    "globs": ("GET", "/x/{a,b}[1-3]?q=[1-2]{c}", [], b""),
    "dots": ("GET", "/x/../y/./z", [], b""),
    "empty-field": ("GET", "/x", [("x-empty", ""), ("x-quote", "it's \"@y\"")], b""),
    "head": ("HEAD", "/x", [], b""),
}


@pytest.mark.parametrize("case", COPIES)
def test_a_copied_curl_line_sends_what_came(visit, case):
    method, target, fields, body = COPIES[case]
    record(visit.sandbox, method, target, fields, body)
    line = visit.open(query=f"entry={visit.sandbox.last_entry()['id']}").copied("button", "Copy as curl")
    with recorder() as (url, got):
        done = subprocess.run(["bash", "-c", line.replace(visit.sandbox.url, url)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (line, done.stderr)
        head, sent = got.get(timeout=10)
        assert got.empty(), line
    first, *rest = head.splitlines()
    assert (first, sent) == (f"{method} {target} HTTP/1.1", body), line
    own = [each.lower() for each in rest if not re.match("(?i)(host|user-agent|accept|content-length):", each)]
    assert sorted(own) == sorted(f"{name}: {value}".strip().lower() for name, value in fields), line


@pytest.mark.parametrize(("path", "fields", "body", "remark"), [
    ("/x", [("content-type", "image/png")], b"\x89PNG\xff", "# The body was not kept: 5 bytes"),
    (BOOK, [JSON_TYPE], b'{"cut": "o', "# The body was not kept: 10 bytes"),
    ("/oauth2/default/v1/token", [("content-type", "application/x-www-form-urlencoded")], b"password=hidden", "# The body was not kept: 15 bytes"),
    ("/x?access_token=hidden", [("authorization", "Basic aGlkZGVu")], b"", "# The journal masks secrets with asterisks in the target and the fields: put yours there"),
    ("/v2/credentials/login", [JSON_TYPE, ("x-rezolve-partner-apikey", API_KEY)], b'{"username":"u","password":"hidden"}', "# The journal masks secrets with asterisks in the body: put yours there"),
], ids=["bytes", "cut", "form", "fields", "password"])
def test_a_copied_curl_line_says_what_it_lacks(visit, path, fields, body, remark):
    record(visit.sandbox, "POST", path, fields, body)
    line = visit.open(query=f"entry={visit.sandbox.last_entry()['id']}").copied("button", "Copy as curl")
    assert line.startswith(f"{remark}\ncurl -i -X POST -g "), line
    assert "bytes)" not in line and "hidden" not in line and "aGlkZGVu" not in line
    assert ("--data-raw" in line) == ("in the body" in remark), line
    # An interactive shell may take no comments: then it acts on the words.
    assert not set(remark) & set("'\"`$();&|<>*?[]{}!\\~")


# --- Tokens

def test_tokens_are_judged_by_all_vendors_and_not_stored(visit):
    tab = visit.open("tokens")
    token = visit.sandbox.mint(defect="expired")
    tab.type("textbox", "Token", f"Bearer {token}")
    tab.find("region", "Rezolve refuses it")
    tab.see("Rezolve refuses it: token-expired", "IMS refuses it", "Bloomreach refuses it", "Comapi refuses it", "exp")
    tab.find("rowheader", "expiry")
    assert tab.run("document.querySelectorAll('.verdicts > section').length") == 1, "the others are folded"
    tab.unfold("IMS refuses it*")
    tab.find("region", "IMS refuses it")
    tab.click("button", "failed: expiry")
    tab.until("document.activeElement.dataset.check === 'expiry'")
    kept = tab.run("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
    assert token[:40] not in kept
    tab.choose("Kind", "1")
    tab.click("button", "Mint a valid one")
    tab.find("region", "Rezolve accepts it")
    tab.choose("Defect", "wrong-secret")
    tab.click("button", "Mint with this defect")
    tab.find("region", "Rezolve refuses it")
    tab.see("Minted with defect wrong-secret")
    tab.choose("Defect", "missing-CLAIM")
    tab.type("textbox", "Claim that is missing", "device_id")
    tab.click("button", "Mint with this defect")
    tab.see("Minted with defect missing-device_id")
    assert len(tab.copied("button", "Copy token").split(".")) == 3
    tab.click("button", "Clear")
    tab.until("!document.querySelector('.verdicts').childElementCount")
    assert visit.sandbox.control("GET", "journal")["entries"] == []


# --- Calls of real servers

def explain(tab, sandbox):
    """Pastes a call that a real server refused."""
    address = "https://shop.example.com" + BOOK
    headers = {"x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": "my-phone", "authorization": f"Bearer {sandbox.mint()}"}
    tab.unfold("What was answered, if the call does not say")
    tab.type("textbox", "status", "403")
    tab.type("textbox", "Call", " ".join([f"curl '{address}'", *(f"-H '{name}: {value}'" for name, value in headers.items())]))
    tab.click("button", "Explain it")
    tab.find("region", f"GET {address}")


def test_a_pasted_call_of_a_real_server_is_explained(visit):
    tab = visit.open("explain")
    tab.see("Nothing leaves this machine")
    tab.click("button", "Explain it")
    tab.see("Paste a call first")
    explain(tab, visit.sandbox)
    tab.see("1. masked-device-mismatch: the call breaks this rule", "the real server answered 403", "my-phone")
    assert visit.sandbox.control("GET", "journal")["entries"] == []


def test_a_dropped_har_is_explained_without_its_other_calls(visit):
    tab = visit.open("explain")
    file = Path(__file__).parent.parent / "UnderstudyTests/Recordings/chrome-rezolve-no-device.har"
    tab.run(f"""(() => {{
        const data = new DataTransfer();
        data.items.add(new File([{json.dumps(file.read_text())}], 'a.har'));
        document.querySelector('textarea').dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, cancelable: true }}));
    }})()""")
    tab.find("region", "GET https://shop.rezolve.example/api/v1/partner/9041/customer/ent-88213/addressbook")
    tab.see("1. masked-missing-fields: the call breaks this rule")
    assert "app.js" not in tab.run("document.querySelector('textarea').value")


# --- Sandboxes and their clock

def test_sandboxes_come_and_go_and_what_is_lost_can_be_kept(visit):
    name = "made-by-page"
    tab = visit.open("sandboxes")
    tab.type("textbox", "Name", name)
    tab.type("textbox", "Time to live", "10m")
    tab.click("button", "Create")
    tab.see(f"Sandbox {name} was created.", "removed in")
    tab.click("button", f"Delete {name}")
    tab.see("It happens in 5 s.")
    tab.click("button", "Undo")
    tab.gone("button", "Undo")
    tab.click("button", f"Delete {name}")
    tab.click("button", "Now")
    tab.until(f"!document.querySelector('table').innerText.includes({json.dumps(name)})")
    call(visit.sandbox)
    tab.click("button", f"Reset {visit.sandbox.url.rsplit('~')[-1]}")
    tab.click("button", "Now")
    tab.until("!document.querySelector('.pending')")
    assert visit.sandbox.control("GET", "journal")["entries"] == []
    tab.type("textbox", "Time to live", "soon")
    tab.type("textbox", "Name", "other")
    tab.click("button", "Create")
    tab.see("ttl is \"soon\"")


def test_a_list_drawn_again_takes_neither_a_click_nor_the_focus(visit):
    tab = visit.open("sandboxes")
    name = visit.sandbox.url.rsplit("~")[-1]
    link = f"[...document.querySelectorAll('td a')].find(each => each.textContent === '{name}')"
    tab.find("link", name)
    tab.run(f"window.first = {link}; window.first.focus()")
    # Its age has changed.
    tab.until("!window.first.isConnected")
    assert tab.run(f"document.activeElement === {link}")
    x, y = tab.call(tab.find("link", name), PLACE)
    tab.send("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
    tab.run("performance.clearResourceTimings()")
    tab.until("performance.getEntriesByType('resource').filter(each => each.name.endsWith('/sandboxes')).length > 2")
    tab.send("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)
    tab.until("location.hash.startsWith('#/journal')")


def test_of_300_sandboxes_those_with_refusals_are_found_and_deleted_together(browser, tmp_path):
    server = Server(tmp_path)
    try:
        red = {f"red-{number}": number for number in (3, 1, 2)}
        for name, count in red.items():
            for _ in range(count):
                call(Sandbox(server, name), "expired")
        for number in range(300):
            Sandbox(server, f"green-{number:03}").set_clock(freeze=True)
        tab = browser.open(f"{server.url}/_understudy/#/sandboxes")
        rows = lambda: tab.run("[...document.querySelectorAll('tbody tr')].map(row => row.innerText.split('\\t').slice(0, 2).map(text => text.trim()))")
        tab.see("Delete these 303", "104 more: search for them.")
        assert tab.run("document.querySelector('header select').options.length") < 40
        tab.click("checkbox", "Has refusals")
        tab.see("Delete these 3")
        tab.choose("Order", "refusals")
        tab.until("document.querySelector('tbody tr').innerText.startsWith('red-3')")
        assert rows() == [["red-3", "✕ 3"], ["red-2", "✕ 2"], ["red-1", "✕ 1"]]
        tab.click("link", "✕ 3")
        tab.until("document.querySelectorAll('[role=row] a').length === 3")
        tab.run("history.back()")
        tab.type("searchbox", "Free text", "red-2")
        tab.until("document.querySelectorAll('tbody tr').length === 1")
        tab.click("checkbox", "Has refusals")
        tab.type("searchbox", "Free text", "green")
        tab.click("button", "Delete these 300")
        tab.see("Delete 300 sandboxes, green-000 to green-299: this removes 0 journal entries")
        tab.click("button", "Now")
        tab.until("!document.querySelector('.pending')")
        tab.see("No sandbox matches these filters.")
        assert {each["name"] for each in requests.get(f"{server.url}/_understudy/sandboxes").json()["sandboxes"]} == {"default", *red}
        tab.choose("Sandbox", "red-1")
        tab.until("document.title.includes('red-1')")
        assert tab.complaints == []
        tab.close()
    finally:
        assert server.stop() == 0


@pytest.mark.parametrize("width", [1280, 360])
def test_a_moved_clock_is_amber_and_says_how_far(visit, width):
    visit.sandbox.set_clock(advance="2h")
    tab = visit.open("faults", width=width)
    tab.until("document.querySelector('.clock').innerText.includes('moved, 2 h ahead')")
    look = lambda: tab.run("[getComputedStyle(document.querySelector('.clock')).color, document.querySelector('.clock .date').getClientRects().length]")
    assert look() == ["rgb(138, 83, 0)", 1]
    visit.sandbox.set_clock(now=NEW_YEAR - 86400 * 3650, freeze=True)
    tab.until("/frozen, .* behind/.test(document.querySelector('.clock').innerText)")
    visit.sandbox.control("DELETE", "clock")
    tab.until("!document.querySelector('.clock.moved')")
    assert look()[1] == (1 if width == 1280 else 0)


def test_the_clock_is_moved_frozen_and_let_go(visit):
    tab = visit.open()
    tab.until("document.querySelector('.clock').textContent.length > 10")
    says = lambda word: tab.until(f"document.querySelector('.clock').textContent.includes('{word}')")
    tab.click("button", "Freeze the clock")
    says("frozen")
    before = visit.sandbox.control("GET", "clock")["unix"]
    tab.click("button", "+1 m")
    tab.click("button", "+31 m")
    tab.until("!document.querySelector('.bad')")
    last = time.monotonic() + 10
    while visit.sandbox.control("GET", "clock")["unix"] != before + 32 * 60:
        assert time.monotonic() < last
        time.sleep(0.05)
    tab.click("button", "Resume the clock")
    says("moved")
    tab.click("button", "now")
    tab.until("!document.querySelector('.clock').textContent.includes('moved')")
    tab.click("button", "Undo")
    says("moved")
    tab.click("button", "now")
    tab.until("!document.querySelector('.clock').textContent.includes('moved')")
    assert visit.sandbox.control("GET", "clock")["machine_time"]


def test_the_sandbox_is_chosen_on_top(visit):
    call(visit.sandbox)
    name = visit.sandbox.url.rsplit("~")[-1]
    tab = visit.open()
    tab.see("addressbook.list")
    tab.until("document.querySelector('header select').options.length > 1")
    tab.choose("Sandbox", "default")
    tab.until("location.hash.includes('sandbox=default')")
    tab.run("history.back()")
    tab.until(f"document.querySelector('header select').value === {json.dumps(name)}")
    tab.see("addressbook.list")


# Holds back the answers to calls that a test names by `method path`, until it lets them go.
HOLD = """(() => {
    const send = fetch, waiting = [];
    window.hold = null;
    window.letGo = () => { window.hold = null; waiting.splice(0).forEach(go => go()); };
    window.fetch = async (path, options) => {
        const answer = await send(path, options);
        if (window.hold === `${options.method} ${path}`) await new Promise(go => { window.held = waiting.push(go); });
        return answer;
    };
})()"""


def two_sandboxes(visit):
    """The sandbox of the page, another one with a clock, a scenario and a fault of its own, and what each of them holds."""
    one, two = visit.sandbox, Sandbox(visit.sandbox.server, f"{visit.sandbox.url.rsplit('~')[-1]}-b")
    one.control("POST", "reset")
    two.set_clock(now=NEW_YEAR, freeze=True)
    two.control("PUT", "scenarios", {"scenario": "ims-keys-unreachable"})
    two.control("PUT", "faults", {"vendor": "ims", "fail": "token-malformed", "times": "always"})
    return one, two, *(each.url.rsplit("~")[-1] for each in (one, two))


def held_by(sandbox):
    return [sandbox.control("GET", what) for what in ("clock", "scenarios", "faults")]


def test_an_undo_restores_the_clock_of_the_sandbox_it_was_pressed_in(visit):
    one, two, name, other = two_sandboxes(visit)
    kept = held_by(two)
    tab = visit.open()
    says = lambda word: tab.until(f"document.querySelector('.clock').textContent.includes('{word}')")
    tab.click("button", "+31 m")
    says("moved")
    tab.click("button", "Freeze the clock")
    says("frozen")
    frozen = one.control("GET", "clock")
    tab.click("button", "now")
    tab.see(f"In sandbox {name}: The clock shows the machine’s time and no longer")
    assert one.control("GET", "clock")["machine_time"]
    tab.choose("Sandbox", other)
    says("frozen")
    shown = tab.run("document.querySelector('.clock').textContent")
    tab.click("button", "Undo")
    tab.gone("button", "Undo")
    assert one.control("GET", "clock") == frozen
    assert held_by(two) == kept
    assert tab.run("document.querySelector('.clock').textContent") == shown, "the clock shown is of the sandbox shown"


@pytest.mark.parametrize(("view", "change", "button", "said"), [
    ("scenarios", ("scenarios", {"scenario": "rezolve-busy-backend"}), "End rezolve-busy-backend", "rezolve-busy-backend has ended."),
    ("scenarios", ("scenarios", {"scenario": "rezolve-busy-backend"}), "Restart rezolve-busy-backend", "rezolve-busy-backend was restarted."),
    ("faults", ("faults", {"vendor": "rezolve", "fail": "token-expired", "times": "always"}), "Disarm fault 1", "Fault 1 is disarmed."),
    ("faults", ("faults", {"vendor": "rezolve", "fail": "token-expired", "times": "always"}), "Disarm all", "All are disarmed."),
], ids=["scenario-ended", "scenario-anew", "fault", "all-faults"])
def test_an_undo_restores_what_was_taken_from_its_own_sandbox(visit, view, change, button, said):
    one, two, name, other = two_sandboxes(visit)
    one.control("PUT", *change)
    before, kept = held_by(one)[1:], held_by(two)
    tab = visit.open(view)
    tab.click("button", button)
    tab.see(f"In sandbox {name}: {said}")
    tab.choose("Sandbox", other)
    tab.until(f"document.title.includes({json.dumps(other)})")
    tab.click("button", "Undo")
    tab.gone("button", "Undo")
    assert held_by(one)[1:] == before
    assert held_by(two) == kept


def test_a_delayed_act_is_of_the_sandbox_that_it_names_and_moves_nothing_else(visit):
    one, two, name, other = two_sandboxes(visit)
    call(one)
    call(two)
    tab = visit.open("sandboxes")
    tab.run(HOLD)
    tab.click("button", f"Reset {name}")
    tab.see(f"Reset sandbox {name}: this removes 1 journal entry")
    tab.choose("Sandbox", other)
    tab.until("document.querySelector('.clock').textContent.includes('frozen')")
    tab.run("window.hold = 'POST /_understudy/reset'; 1")
    tab.click("button", "Now")
    tab.until("window.held")
    # While the reset is not answered, other calls are of the sandbox that is shown.
    tab.click("button", "+1 m")
    tab.until("document.querySelector('.clock').textContent.includes('00:01:00')")
    tab.run("letGo()")
    tab.until("!document.querySelector('.pending')")
    assert one.control("GET", "journal")["entries"] == [] and one.control("GET", "clock")["machine_time"]
    assert len(two.control("GET", "journal")["entries"]) == 1
    assert two.control("GET", "clock")["unix"] == NEW_YEAR + 60


def test_an_answer_that_comes_late_is_not_shown_in_another_sandbox(visit):
    one, two, name, other = two_sandboxes(visit)
    one.control("PUT", "faults", {"vendor": "rezolve", "fail": "token-expired", "times": "always"})
    tab = visit.open("faults")
    tab.find("button", "Disarm fault 1")
    tab.run(HOLD)
    for method, what, act in [("PUT", "clock", lambda: tab.click("button", "+31 m")), ("GET", "faults", lambda: None)]:
        tab.run(f"window.held = 0; window.hold = '{method} /_understudy/{what}'; 1")
        act()
        tab.until("window.held")
        tab.choose("Sandbox", other)
        tab.until(f"document.title.includes({json.dumps(other)})")
        if method == "PUT":
            tab.until("document.querySelector('.clock').textContent.includes('2027-01-01 00:00:00')")
            tab.see("token-malformed")
        tab.run("""window.strange = []; new MutationObserver(() => {
            const text = document.body.innerText;
            if (text.includes('401 token-expired, always') || !/2027-01-01 00:00:00|…/.test(document.querySelector('.clock').textContent)) strange.push(text);
        }).observe(document.body, {subtree: true, childList: true, characterData: true}); letGo()""")
        tab.see("token-malformed")
        # Long enough for what was held to be shown: the answers come from here.
        tab.run("new Promise(done => setTimeout(done, 300))")
        assert tab.run("window.strange") == []
        tab.choose("Sandbox", name)
        tab.see("answers 401 token-expired")
    one.set_clock(now="9999-12-31T23:59:00Z", freeze=True)
    tab.run("window.held = 0; window.hold = 'PUT /_understudy/clock'; 1")
    tab.click("button", "+31 m")
    tab.until("window.held")
    tab.choose("Sandbox", other)
    tab.until("document.querySelector('.clock').textContent.includes('2027-01-01 00:00:00')")
    tab.run("letGo()")
    tab.see(f"✕ In sandbox {name}: ")
    tab.choose("Sandbox", name)
    tab.until("!document.querySelector('header .bad')?.textContent")


def test_a_page_at_a_sandboxs_own_host_does_not_act_in_another(browser, server):
    own = Sandbox(server, "own-host")
    call(own)
    call(Sandbox(server, "own-host-b"))
    tab = browser.open(f"http://own-host.localhost:{server.port}/_understudy/#/sandboxes")
    tab.click("button", "Reset own-host-b")
    tab.click("button", "Now")
    tab.see("This address acts in own-host alone; choose own-host-b above.")
    assert len(own.control("GET", "journal")["entries"]) == 1
    tab.close()


def test_a_pasted_token_is_judged_in_the_sandbox_that_is_chosen_next(visit):
    _, two, _, other = two_sandboxes(visit)
    tab = visit.open("tokens")
    tab.type("textbox", "Token", visit.sandbox.mint())
    tab.find("region", "Rezolve accepts it")
    two.set_clock(advance="366d")
    tab.choose("Sandbox", other)
    tab.find("region", "Rezolve refuses it")
    tab.see("Rezolve refuses it: token-expired")


# --- Settings, scenarios, faults, keys, state, routes

def test_settings_and_switches(visit):
    tab = visit.open("settings")
    tab.see("device-check", "whether the device header must equal the claim device_id", "JWT page")
    tab.choose("rezolve.device-check", "off")
    tab.see("Changed; the next call sees it.")
    assert visit.sandbox.control("GET", "settings")["switches"]["rezolve.device-check"] == "off"
    tab.click("button", "rezolve.device-check back to the profile")
    tab.until("document.querySelector('[aria-label=\"rezolve.device-check\"]').value === 'enforce'")
    tab.type("textbox", "rezolve.max-lifetime-seconds", "soon")
    tab.see("✕")
    tab.choose("Profile*", "observed")
    tab.until("document.querySelector('[aria-label=\"rezolve.device-check\"]').value === 'off'")
    assert visit.sandbox.control("GET", "settings")["profile"] == "observed"
    tab.type("searchbox", "Free text", "comapi")
    tab.until("!document.querySelector('[aria-label=\"rezolve.device-check\"]')")


def test_a_scenario_is_drawn_and_its_state_lit(visit):
    name = "rezolve-token-expires-mid-session"
    tab = visit.open("scenarios")
    tab.find("image", f"{name}: 2 states, fresh to expired, expired to fresh")
    tab.click("button", f"Activate {name}")
    tab.find("image", f"{name}: 2 states, fresh to expired, expired to fresh; now fresh")
    tab.see("in state fresh", "0 such calls so far")
    for _ in range(3):
        call(visit.sandbox)
    tab.find("image", f"{name}: 2 states, fresh to expired, expired to fresh; now expired")
    assert "expired" in tab.run("document.querySelector('.current').textContent")
    tab.click("button", f"Restart {name}")
    tab.see("in state fresh")
    tab.click("button", "Undo")
    tab.see("in state expired")
    tab.click("button", f"End {name}")
    tab.until("!document.querySelector('.current')")
    tab.click("button", "Undo")
    tab.see("in state expired")
    tab.click("button", f"End {name}")
    tab.until("!document.querySelector('.current')")
    assert visit.sandbox.control("GET", "scenarios")["active"] == []


def test_a_fault_is_armed_by_the_form(visit):
    tab = visit.open("faults")
    tab.see("No fault is armed", "Choose what goes wrong")
    assert tab.run("document.querySelector('[type=submit]').disabled"), "a fault without effect cannot be armed"
    tab.type("combobox", "Route", "addressbook.list")
    tab.choose("Answer with failure", "token-expired")
    tab.choose("Which calls", "call")
    tab.type("spinbutton", "Number", "3")
    tab.choose("Which calls", "every")
    tab.type("textbox", "How often", "2")
    tab.see("Every 3rd call of addressbook.list answers 401 token-expired, twice.")
    tab.type("textbox", "How often", "")
    tab.choose("Which calls", "call")
    tab.type("spinbutton", "Number", "2")
    tab.see("The 2nd call of addressbook.list answers 401 token-expired.")
    tab.click("button", "Arm")
    tab.see("Armed.")
    assert [call(visit.sandbox).status_code for _ in range(3)] == [200, 401, 200]
    tab.see("No fault is armed")
    tab.choose("Which calls", "")
    tab.type("textbox", "How often", "always")
    tab.click("button", "Arm")
    tab.find("button", "Disarm fault 1")
    tab.click("button", "Disarm all")
    tab.click("button", "Undo")
    tab.find("button", "Disarm fault 1")
    assert len(visit.sandbox.control("GET", "faults")["faults"]) == 1
    tab.click("button", "Disarm fault 1")
    tab.see("No fault is armed")
    tab.type("combobox", "Route", "nothing")
    tab.click("button", "Arm")
    tab.see("nothing")
    tab.until("!!document.querySelector('.bad')")


def test_keys_and_their_drills(visit):
    tab = visit.open("keys")
    tab.find("region", "IMS rotating")
    tab.see("fetched 0 times", "Shared secrets")
    tab.click("button", "break IMS rotating")
    tab.see("IMS rotating: the keys can no longer be fetched.", "nobody can fetch them")
    tab.click("button", "repair IMS rotating")
    tab.until("!document.body.innerText.includes('nobody can fetch them')")
    issuers = {each["issuer"]: each for each in visit.sandbox.control("GET", "keys")["issuers"]}
    assert not issuers["rotating"]["broken"]


def test_state_and_its_actions(visit):
    tab = visit.open("state")
    tab.see("customers: 2 records")
    tab.unfold("customers*")
    tab.see("0: entity123")
    tab.type("textbox", "entity (required)*", "entity456")
    tab.click("button", "Do remove-customer")
    tab.see("remove-customer is done.", "customers: 1 record")
    tab.click("button", "Undo")
    tab.see("customers: 2 records")
    assert len(visit.sandbox.control("GET", "state/rezolve")["customers"]) == 2
    tab.choose("Vendor", "comapi")
    tab.see("What Comapi remembers")


def test_a_sample_call_of_a_route_leads_to_its_entry(visit):
    tab = visit.open("routes", query="vendor=rezolve")
    tab.see("addressbook.list", "documented", "failures")
    tab.type("searchbox", "Free text", "addressbook.list")
    tab.until("document.querySelectorAll('tbody tr').length === 1")
    tab.click("link", "Try it")
    tab.find("form", "Try addressbook.list")
    tab.click("button", "Send")
    tab.see("Answered 200.", "1 Test Street")
    tab.click("link", "Open its entry")
    tab.find("article", "Entry 1")
    assert visit.sandbox.last_entry()["status"] == 200


def test_a_route_shows_what_it_reads_and_answers_and_how_it_fails(visit):
    tab = visit.open("routes", query="vendor=rezolve&text=addressbook.create")
    tab.click("link", "Details")
    tab.find("region", "Details of addressbook.create")
    tab.find("table", "What addressbook.create reads")
    tab.see("short_name", "An answer with 201", "masked-signature", "token malformed, wrong algorithm, or signature does not match")
    tab.click("link", "Close")
    tab.until("!document.querySelector('[aria-label=\"Details of addressbook.create\"]')")


# --- What must not happen

# Records every added element that no view creates, and every active attribute.
WATCH = """window.found = []; new MutationObserver(all => all.forEach(each => each.addedNodes.forEach(node => {
    if (!node.querySelectorAll) return;
    for (const bad of [node, ...node.querySelectorAll('*')]) {
        const isElement = ['SCRIPT', 'IFRAME', 'IMG', 'OBJECT', 'EMBED', 'BASE', 'META', 'LINK', 'VIDEO', 'AUDIO', 'STYLE', 'B', 'I', 'MARQUEE', 'MATH'].includes(bad.tagName.toUpperCase());
        const isActing = ({name, value}) => /^on/.test(name) || (name === 'href' && /^(javascript|data|vbscript):/i.test(value));
        if (isElement || [...bad.attributes].some(isActing)) window.found.push(bad.outerHTML);
    }
}))).observe(document, {subtree: true, childList: true}); 1"""
# Opens all folds in a part of the page, including nested ones.
UNFOLD = """(async part => {
    for (let turn = 0; turn < 6; turn++) {
        for (const each of document.querySelectorAll(`${part} details:not([open]) > summary`)) each.click();
        await new Promise(done => setTimeout(done, 50));
    }
})"""


def test_no_text_becomes_markup(visit):
    sandbox = visit.sandbox

    def send(payloads):
        names = [quote(payload, safe="")[:500] for payload in payloads]
        texts = [payload.encode("ascii", "ignore").decode().replace("\n", " ")[:900] for payload in payloads]
        claims = {payload[:50]: payload for payload in payloads}
        token = sandbox.mint(claims={"partner_entity_id": "".join(payloads), "x": payloads, **claims})
        requests.post(
            f"{sandbox.url}{BOOK}/{'/'.join(names)}?{'&'.join(f'a={name}' for name in names)}",
            json={payload: payload for payload in payloads}, headers={
                "x-rezolve-partner-apikey": " ".join(texts), "x-rezolve-device-id": " ".join(texts), "authorization": f"Bearer {token}",
                **{f"x-hostile-{number}": text for number, text in enumerate(texts)}})
        return sandbox.last_entry()["id"]

    # Five at once, since a view of an entry takes the page a fifth of a second.
    ids = [send(PAYLOADS[start::len(PAYLOADS) // 5]) for start in range(len(PAYLOADS) // 5)]
    tab = visit.open()
    tab.until("document.querySelectorAll('[role=row] a').length > 5")
    tab.run(WATCH)
    # Waiting in the page itself takes a tenth of the time.
    tab.run("""window.come = async found => {
        for (const end = performance.now() + 30000; performance.now() < end; await new Promise(done => setTimeout(done, 5))) if (found()) return;
        throw new Error(`${found} did not come true`);
    }; 1""")
    for number in ids:
        tab.run(f"""(async () => {{
            location.hash = '#/journal?entry={number}';
            await come(() => document.querySelector('[aria-label="Entry {number}"]'));
            for (const each of document.querySelectorAll('.entry details:not([open]) > summary')) each.click();
            await come(() => ![...document.querySelectorAll('.entry details')].some(each => !each.open || !each.lastElementChild.childElementCount));
        }})()""")
    tab.until("document.querySelector('.entry').innerText.split('x-hostile-4').length === 2")
    for payload in PAYLOADS[::8]:
        tab.run(f"location.hash = '#/journal?text=' + encodeURIComponent({json.dumps(payload)}) + '&failure=' + encodeURIComponent({json.dumps(payload[:100])})")
        tab.run("new Promise(done => setTimeout(done, 60))")
        tab.run(f"location.hash = '#/routes?text=' + encodeURIComponent({json.dumps(payload)}) + '&try=' + encodeURIComponent({json.dumps(payload)})")
        tab.run("new Promise(done => setTimeout(done, 60))")
    tab.run("location.hash = '#/tokens'")
    for payload in PAYLOADS[::4]:
        token = sandbox.mint(claims={"partner_entity_id": payload, payload[:50]: payload})
        tab.type("textbox", "Token", token)
        tab.see("partner_entity_id")
        tab.type("textbox", "Token", payload)
    sandbox.control("POST", "state/rezolve/register-customer", {"partner_entity_id": PAYLOADS[0], "email": PAYLOADS[1]})
    tab.run("location.hash = '#/state'")
    tab.see("customers: 3 records")
    tab.run(f"{UNFOLD}('main')")
    for view in VIEWS:
        tab.run(f"location.hash = '#/{view}?sandbox=' + encodeURIComponent({json.dumps(PAYLOADS[0])})")
        tab.run("new Promise(done => setTimeout(done, 100))")
    assert tab.run("window.found") == []
    assert tab.run("window.hit") is None and tab.run("document.title").endswith("Understudy")


def test_no_name_of_a_sandbox_is_mistaken(browser, server):
    """The most hostile names that the server accepts: JavaScript words, and names that look like options or numbers."""
    names = ["constructor", "prototype", "-" * 63, "--------script--------", "0", "null", "undefined", "a" * 63]
    visit = Visit(browser, server, names[0])
    for name in names:
        call(Sandbox(server, name), "expired")
    tab = visit.open("sandboxes")
    tab.run(WATCH)
    for name in names:
        # Other tests have filled this server: the list at the top may name only some of its sandboxes, and its own.
        tab.click("link", name)
        tab.until(f"document.title.includes({json.dumps(' ' + name + ' ')})")
        tab.see("token expired")
        assert tab.run("document.querySelector('header select').value") == name
        own = visit.browser.open(f"{server.url}/~{name}/_understudy/#/journal?entry=1")
        own.find("article", "Entry 1")
        assert f"/~{name}/api/" in own.copied("button", "Copy as curl")
        own.close()
        tab.run("location.hash = location.hash.replace(/^#\\/[a-z]+/, '#/sandboxes')")
    assert tab.run("window.found") == []
    visit.close()


def test_no_name_of_a_file_becomes_markup(visit):
    visit.sandbox.set_clock(now=NEW_YEAR, freeze=True)
    mira = App(visit.sandbox, "mira").start()
    # A line break ends a header field, and a quote the name.
    names = [name for name in PAYLOADS[::5] if name.isascii() and "\n" not in name and len(name) < 200]
    for number, name in enumerate(names):
        if number % 2:
            answer = mira.call("POST", "/content?folder=x", files={"file": (name, b"abc", "image/png")})
        else:
            answer = mira.call("POST", "/content", {"data": "YWJj", "name": name, "type": "image/png"})
        assert answer.status_code == 200 and answer.json()["name"]
    tab = visit.open("state", query="vendor=comapi")
    tab.run(WATCH)
    tab.see(f"contents: {len(names)} records")
    tab.run(f"{UNFOLD}('main')")
    tab.see(*names[::2])
    last = visit.sandbox.last_entry()["id"]
    for entry in range(last - len(names) + 1, last + 1):
        tab.run(f"location.hash = '#/journal?entry={entry}'")
        tab.find("article", f"Entry {entry}")
        tab.run(f"{UNFOLD}('.entry')")
    tab.see("content-disposition" if len(names) % 2 == 0 else names[-1])
    assert tab.run("window.found") == []
    assert tab.run("window.hit") is None


def test_an_entry_stays_open_under_500_new_ones_a_second(visit):
    sandbox = visit.sandbox
    call(sandbox, "expired")
    tab = visit.open(query="entry=1")
    tab.find("article", "Entry 1")
    tab.run("window.kept = document.querySelector('.entry'); document.querySelector('.detail').scrollTop = 40")
    scrolled = tab.run("document.querySelector('.detail').scrollTop")
    row = tab.until("document.querySelector('.row.chosen').getBoundingClientRect().top")
    done, sent = threading.Event(), []

    def flood():
        """500 calls a second, ten at once: waiting for each answer would be too slow on a busy machine."""
        path = f"/{sandbox.url.split('/', 3)[3]}{BOOK}"
        calls = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode() * 10
        with socket.create_connection(("127.0.0.1", sandbox.server.port)) as stream:
            threading.Thread(target=lambda: all(iter(lambda: stream.recv(1 << 20), b"")), daemon=True).start()
            began = time.monotonic()
            while not done.is_set():
                stream.sendall(calls)
                sent.append(10)
                time.sleep(max(0, began + sum(sent) / 500 - time.monotonic()))
            stream.shutdown(socket.SHUT_WR)

    first = sandbox.control("GET", "journal?format=brief&last=1")["newest"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        flooding = pool.submit(flood)
        began = time.monotonic()
        try:
            while time.monotonic() - began < 4:
                assert tab.run("window.kept === document.querySelector('.entry')"), "the entry was drawn again"
                assert tab.run("document.querySelector('.detail').scrollTop") == scrolled
                assert tab.run("document.querySelector('.row.chosen').getBoundingClientRect().top") == row
                time.sleep(0.2)
            came = sandbox.control("GET", "journal?format=brief&last=1")["newest"] - first
        finally:
            done.set()
    flooding.result()
    tab.see(" new")
    assert came > 0


def test_ten_thousand_entries_take_rows_for_what_is_seen_alone(visit):
    tab = visit.open()
    most = tab.run("""import('./page/rows.js').then(({Rows}) => {
        const rows = new Rows({link: () => "#"});
        document.querySelector('main').replaceChildren(rows.element);
        rows.element.style.height = '600px';
        const all = Array.from({length: 10000}, (_, index) => ({id: index + 1, at: '2027-01-15T08:00:00.000Z', vendor: 'rezolve', route: 'addressbook.list',
            status: 401, failure: 'token-expired', reason: 'expiry: found 1; expected later than 2', method: 'GET', target: '/x'}));
        rows.set(all);
        let most = 0;
        for (let turn = 0; turn < 100; turn++) {
            rows.scroller.scrollTop = turn * 3000;
            rows.draw();
            most = Math.max(most, document.querySelectorAll('.row').length);
        }
        return most;
    })""")
    assert 0 < most < 100


def test_the_first_paint_comes_within_100_ms_of_the_answer(visit):
    tab = visit.open()
    gaps = []
    # The best of several, since the machine may be busy.
    while min(gaps, default=100) >= 100 and len(gaps) < 20:
        tab.reload()
        gaps.append(tab.until("""(() => { const paint = performance.getEntriesByName('first-paint')[0], [navigation] = performance.getEntriesByType('navigation');
            return paint ? Math.max(1, paint.startTime - navigation.responseEnd) : 0; })()"""))
    print(f"first paint {min(gaps):.0f} ms after the answer")
    assert min(gaps) < 100, gaps


def test_the_page_comes_back_when_the_server_does(browser, tmp_path):
    server = Server(tmp_path)
    tab = browser.open(f"{server.url}/_understudy/")
    tab.see("No calls yet", "live")
    port = server.port
    assert server.stop() == 0
    tab.see("server gone; trying again", seconds=40)
    assert "does not answer" not in tab.text(), "it is said once"
    again = Server(tmp_path, "--port", str(port))
    try:
        tab.see("● live", seconds=40)
    finally:
        tab.close()
        assert again.stop() == 0


def test_a_control_token_is_asked_for_once_and_kept_for_the_tab(browser, tmp_path):
    server = Server(tmp_path, "--control-token", "steer")
    try:
        tab = browser.open(f"{server.url}/_understudy/")
        tab.find("dialog", "Control token")
        tab.see("✕ not signed in")
        assert "This is not the token." not in tab.text()
        tab.type("textbox", "Control token", "guess")
        tab.click("button", "Continue")
        tab.see("✕ This is not the token.", "✕ not signed in")
        tab.type("textbox", "Control token", "steer")
        tab.click("button", "Continue")
        tab.see("No calls yet")
        tab.gone("dialog", "Control token")
        tab.reload()
        tab.see("No calls yet")
        assert tab.run("Object.values(sessionStorage).includes('steer') && !Object.keys(localStorage).length")
        tab.run("location.hash = '#/faults'")
        line = tab.copied("button", "Copy the line")
        assert "steer" not in line and "steer" not in tab.text()
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, env={**os.environ, "UNDERSTUDY_CONTROL_TOKEN": "steer"})
        assert " 200 " in done.stdout.splitlines()[0], done
        tab.close()
        other = browser.open(f"{server.url}/_understudy/")
        other.find("dialog", "Control token")
        other.close()
    finally:
        assert server.stop() == 0


def test_a_control_port_has_the_page_and_the_control_api_alone(browser, tmp_path):
    server = Server(tmp_path, "--control-port", "0")
    try:
        control = f"http://127.0.0.1:{server.ports['control']}"
        assert requests.get(f"{control}/_understudy/health").status_code == 200
        for path in ["/_understudy/health", "/_understudy/", "/~a/_understudy/journal"]:
            answer = requests.get(server.url + path, headers={"accept": "text/html"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no-control-here")
        assert requests.get(control + BOOK).json()["error"]["code"] == "no-vendor-here"
        requests.get(server.url + BOOK)
        tab = browser.open(f"{control}/")
        tab.see("addressbook.list")
        tab.run("location.hash = '#/journal?entry=1'")
        tab.find("article", "Entry 1")
        assert server.url in tab.copied("button", "Copy as curl"), "the vendors' address, not that of the page"
        tab.close()
    finally:
        assert server.stop() == 0


# --- Other readers

AUDIT = """(() => {
    const problems = [];
    const say = (what, element) => problems.push(`${what}: ${element.outerHTML.slice(0, 120)}`);
    const seen = element => element.getClientRects().length && getComputedStyle(element).visibility !== 'hidden';
    const parse = text => { const [r, g, b, a] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a ?? 1]; };
    const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
    const ground = element => { for (let at = element; at; at = at.parentElement) { const colour = parse(getComputedStyle(at).backgroundColor); if (colour[3] > 0.99) return colour; } return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255]; };
    for (const element of document.querySelectorAll('body *')) {
        if (!seen(element) || element.closest('svg')) continue;
        const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
        if (hasText && !element.classList.contains('skip') && element.tagName !== 'OPTION') {
            const [one, two] = [light(parse(getComputedStyle(element).color)), light(ground(element))].sort((a, b) => b - a);
            const ratio = (one + 0.05) / (two + 0.05);
            if (ratio < 4.5) say(`contrast ${ratio.toFixed(2)}`, element);
        }
        if (element.tagName === 'BUTTON' && !element.textContent.trim() && !element.getAttribute('aria-label')) say('button without name', element);
        if (element.tagName === 'A' && element.hasAttribute('href') && !element.textContent.trim() && !element.getAttribute('aria-label')) say('link without name', element);
        if (['INPUT', 'SELECT', 'TEXTAREA'].includes(element.tagName) && !element.labels?.length && !element.getAttribute('aria-label')) say('control without label', element);
        if (element.closest('td, th') && !element.closest('code, pre, a[rel]')) for (const node of element.childNodes) for (const {index, 0: {length}} of node.nodeType === 3 ? node.data.matchAll(/(?<!\\p{L})\\p{L}{2,20}(?!\\p{L})/gu) : []) {
            const word = document.createRange();
            word.setStart(node, index);
            word.setEnd(node, index + length);
            if (word.getClientRects().length > 1) say(`broken word ${word}`, element);
        }
        if (element.id && document.querySelectorAll(`[id="${CSS.escape(element.id)}"]`).length > 1) say('id twice', element);
        if (element.tabIndex > 0) say('tabindex over 0', element);
        if (element.tagName === 'TH' && !element.scope) say('th without scope', element);
        if (element.getAttribute('role') === 'row' && !element.closest('[role=table]')) say('row outside a table', element);
        if (element.scrollWidth > element.clientWidth + 2 && getComputedStyle(element).overflowX === 'visible' && element === document.body) say('wider than the window', element);
    }
    if (document.documentElement.lang !== 'en') problems.push('no language');
    if (document.querySelectorAll('main').length !== 1 || document.querySelectorAll('nav').length !== 1) problems.push('landmarks');
    if (document.documentElement.scrollWidth > innerWidth) problems.push(`wider than the window by ${document.documentElement.scrollWidth - innerWidth}`);
    return problems;
})()"""


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")])
def test_every_view_has_names_contrast_and_room(browser, server, width, scheme):
    visit = Visit(browser, server, f"audit-{width}-{scheme}", width=width, scheme=scheme)
    call(visit.sandbox)
    call(visit.sandbox, "expired")
    requests.get(f"{visit.sandbox.url}/nothing")
    visit.sandbox.control("PUT", "scenarios", {"scenario": "rezolve-token-expires-mid-session"})
    visit.sandbox.control("PUT", "faults", {"route": "addressbook.list", "fail": "token-expired", "times": "always"})
    call(visit.sandbox)
    tab = visit.open()
    problems = {}
    for view in [*VIEWS, "journal?entry=2", "journal?entry=4", "journal?entry=2&with=1", "routes?vendor=comapi"]:
        tab.run(f"location.hash = '#/{view}'")
        tab.until(f"location.hash === '#/{view}'")
        tab.settle()
        if view == "tokens":
            tab.type("textbox", "Token", visit.sandbox.mint(defect="expired"))
            tab.find("region", "Rezolve refuses it")
        if view == "explain":
            explain(tab, visit.sandbox)
        if found := tab.run(AUDIT):
            problems[view] = found[:5]
    assert problems == {}
    visit.close()
