"""Two examples of an app's tests: a renewal, and a failing backend."""

import json
import urllib.error
import urllib.request

import pytest
from conftest import API_KEY, BOOK, DEVICE


class App:
    """The client under test: it renews its token once on 401 and repeats the call once."""

    def __init__(self, backend: str, token: str):
        self.backend, self.token = backend, token

    def get(self, path: str):
        try:
            return self.send(path)
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise
        self.token = self.send("/v2/credentials/ping")["accessToken"].split(" ")[-1]
        return self.send(path)

    def send(self, path: str):
        fields = {"x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE, "authorization": f"Bearer {self.token}"}
        with urllib.request.urlopen(urllib.request.Request(self.backend + path, headers=fields), timeout=30) as answer:
            return json.load(answer)


def test_a_token_that_expires_in_mid_session_is_renewed_once(sandbox):
    # The third call answers 401 until a newer token is sent.
    sandbox.activate("rezolve-token-expires-mid-session")
    app = App(sandbox.base_url, sandbox.mint("rezolve/login", expires_in=900))
    assert [len(app.get(BOOK)) for _ in range(4)] == [1, 1, 1, 1]
    sandbox.expect_calls(failure="token-expired", exactly=1)
    sandbox.expect_calls(route="rua.ping", status=200, exactly=1)


def test_a_broken_backend_is_no_reason_to_renew(sandbox):
    sandbox.arm({"route": "addressbook.list", "fail": "service-unavailable"})
    app = App(sandbox.base_url, sandbox.mint("rezolve/login"))
    with pytest.raises(urllib.error.HTTPError, match="503"):
        app.get(BOOK)
    assert app.get(BOOK)[0]["id"] == "address-1"
    sandbox.expect_calls(route="rua.ping", exactly=0)
