"""Two example tests that use the fixture of understudy_fixture.py: a renewal, and a failing backend.

Copy both files into the same folder and run pytest.
"""

import pytest
import requests

pytest_plugins = ["understudy_fixture"]

# Printed by `understudy serve` for its sample accounts.
API_KEY = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
DEVICE = "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"


class App:
    """The client under test: it renews its token once on 401 and repeats the call once."""

    def __init__(self, backend: str, token: str):
        self.backend, self.token = backend, token

    def get(self, path: str):
        answer = self.send(path)
        if answer.status_code == 401:
            self.token = self.send("/v2/credentials/ping").json()["accessToken"].removeprefix("Bearer ")
            answer = self.send(path)
        answer.raise_for_status()
        return answer.json()

    def send(self, path: str):
        fields = {"x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE,
                  "authorization": f"Bearer {self.token}"}
        return requests.get(self.backend + path, headers=fields, timeout=30)


BOOK = "/api/v1/partner/317/customer/entity123/addressbook"


def test_a_token_that_expires_in_mid_session_is_renewed_once(understudy):
    # The third call answers 401 until a newer token is sent.
    understudy.control("PUT", "scenarios", {"scenario": "rezolve-token-expires-mid-session"})
    app = App(understudy.url, understudy.mint("rezolve/login", expires_in=900))
    assert [len(app.get(BOOK)) for _ in range(4)] == [1, 1, 1, 1]
    understudy.expect({"failure": "token-expired"}, exactly=1)
    understudy.expect({"route": "rua.ping", "status": 200}, exactly=1)


def test_a_broken_backend_is_no_reason_to_renew(understudy):
    understudy.control("PUT", "faults", {"route": "addressbook.list", "fail": "service-unavailable"})
    app = App(understudy.url, understudy.mint("rezolve/login"))
    with pytest.raises(requests.HTTPError, match="503"):
        app.get(BOOK)
    assert app.get(BOOK)[0]["id"] == "address-1"
    understudy.expect({"route": "rua.ping"}, exactly=0)
