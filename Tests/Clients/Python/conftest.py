import urllib.error
import urllib.request

import pytest

# Printed by `understudy serve` for its sample accounts.
API_KEY = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
DEVICE = "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"
BOOK = "/api/v1/partner/317/customer/entity123/addressbook"


@pytest.fixture
def call(sandbox):
    """Calls a vendor as an app would, and returns the status."""

    def send(method: str, path: str = BOOK, token: "str | None" = None, base: str = sandbox.base_url, **headers) -> int:
        fields = {"x-rezolve-partner-apikey": API_KEY, "x-rezolve-device-id": DEVICE, **headers}
        if token is not None:
            fields["authorization"] = f"Bearer {token}"
        try:
            with urllib.request.urlopen(urllib.request.Request(base + path, method=method, headers=fields), timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            with error:
                return error.status

    return send
