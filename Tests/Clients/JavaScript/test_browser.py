"""The JavaScript module in a page of Chromium: where it may make control calls, and where it says that it may not."""

import http.client
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser import Handler, NoBrowser, visit

MODULE = Path(__file__).resolve().parents[3] / "Sources/Clients/JavaScript/understudy.js"
# Printed by `understudy serve` for its sample accounts.
API_KEY = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
DEVICE = "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"


def handler_for(url: str) -> type[Handler]:
    """Serves the page and the module; passes on to the server what is the server's, as a development server does."""

    class DevelopmentServer(Handler):
        folder = Path(__file__).parent
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if self.path == "/understudy.js":
                content = MODULE.read_bytes()
                self.send_response(200)
                self.send_header("content-type", "text/javascript")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            elif not self.passes_on():
                super().do_GET()

        def do_POST(self):
            if not self.passes_on():
                super().do_POST()

        def do_PUT(self):
            assert self.passes_on()

        do_DELETE = do_PUT

        def passes_on(self) -> bool:
            if not self.path.startswith(("/_understudy/", "/~")):
                return False
            connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
            content = self.rfile.read(int(self.headers.get("content-length", 0)))
            # All fields as they came, the host among them.
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() != "connection":
                    connection.putheader(name, value)
            connection.endheaders(content)
            answer = connection.getresponse()
            body = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() in ("content-type", "content-length"):
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            connection.close()
            return True

    return DevelopmentServer


def play(understudy, **options) -> dict:
    try:
        seen = visit("page.html", handler=handler_for(understudy.url), key=API_KEY, device=DEVICE, **options)
    except NoBrowser as problem:
        pytest.fail(str(problem), pytrace=False)
    assert "error" not in seen, seen["error"]
    return seen


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_page_whose_origin_leads_to_the_server_controls_it(understudy, host):
    seen = play(understudy, host=host)
    assert seen["statuses"] == [200, 401]
    assert "answered 401: token-expired\n   failed rule: expiry\n   reason: expiry: found " in seen["words"]
    assert seen["unmet"] == "UnmetExpectation"
    assert seen["refusal"] == {"name": "Refusal", "status": 400, "code": "invalid"}
    assert seen["frozen"] == 1_800_000_000
    assert not [name for name in seen["left"] if name.startswith("a-page")]


# A page of this machine at another port is foreign as well.
@pytest.mark.parametrize("host", ["127.0.0.1", "app.example"])
def test_a_page_of_another_origin_is_told_why_it_controls_nothing(understudy, host):
    foreign = play(understudy, host=host, foreign=understudy.url)["foreign"]
    assert foreign["name"] == "Unreachable" and foreign["is"]
    assert f"only those of its own origin reach it, and this one is of http://{host}:" in foreign["message"]


def test_a_page_starts_no_server(understudy):
    start = play(understudy)["start"]
    assert start["is"] and start["message"] == "only Node starts a server; elsewhere attach to a running one"
