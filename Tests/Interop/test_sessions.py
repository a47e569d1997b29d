"""A session from registration to renewal, with tokens signed by others."""

import pytest
import signers
from world import AUTH_KEY, DEVICE, NOW, PARTNER, Sandbox

ADDRESS = {"short_name": "Work", "line_1": "2 Test Street", "city": "Brno", "zip": "60200", "country": "CZ"}


class Partner:
    """The partner's sign-in server, which signs tokens with one of the libraries."""

    def __init__(self, sign):
        self.sign = sign

    def registration(self, user: str, expiry: int) -> str:
        return self.sign({}, {"rezolve_entity_id": ":NONE:", "partner_entity_id": user, "exp": expiry}, AUTH_KEY)

    def login(self, entity: str, user: str, expiry: int, secret: str = AUTH_KEY) -> str:
        claims = {"rezolve_entity_id": entity, "partner_entity_id": user, "exp": expiry, "device_id": DEVICE}
        return self.sign({"auth": "v2"}, claims, secret)


@pytest.fixture(params=signers.ALL, ids=lambda sign: sign.__name__)
def partner(request):
    return Partner(request.param)


@pytest.mark.parametrize("by_header", [False, True], ids=["by-prefix", "by-header"])
def test_a_session_lives_until_its_token_expires_and_goes_on_with_a_new_one(server, partner, by_header):
    name = f"session-{partner.sign.__name__}-{'header' if by_header else 'prefix'}"
    sandbox = Sandbox(server, name, by_header)
    sandbox.set_clock(now=NOW, freeze=True)
    entity = register(sandbox, partner)
    token = partner.login(entity, "user-7", NOW + 1800)
    keep_an_address_book(sandbox, entity, token)

    book = sandbox.customer("addressbook", entity)
    sandbox.set_clock(advance="1799s")
    assert sandbox.call("GET", book, token).status_code == 200
    sandbox.set_clock(advance="1s")
    refused = sandbox.call("GET", book, token)
    assert (refused.status_code, refused.json()["code"]) == (401, "8")
    entry = sandbox.last_entry()
    assert entry["failure"] == "token-expired"
    assert entry["reason"].startswith("expiry: found ")

    renewed = partner.login(entity, "user-7", NOW + 3600)
    assert sandbox.call("GET", book, renewed).status_code == 200


def register(sandbox, partner) -> str:
    token = partner.registration("user-7", NOW + 1800)
    answer = sandbox.call("POST", "/api/v1/authentication/register", token, json={"email": "seven@example.test"})
    assert (answer.status_code, answer.json()["partner_id"]) == (200, PARTNER)
    return answer.json()["entity_id"]


def keep_an_address_book(sandbox, entity, token) -> None:
    """Creates, reads, changes and deletes an address."""
    book = sandbox.customer("addressbook", entity)
    phone = sandbox.call("POST", sandbox.customer("phonebook", entity), token, json={"name": "Work", "phone": "+15550102"})
    assert phone.status_code == 201
    created = sandbox.call("POST", book, token, json={**ADDRESS, "phone_id": phone.json()["id"]})
    assert created.status_code == 201
    address = f"{book}/{created.json()['id']}"
    assert sandbox.call("GET", address, token).json() == created.json()
    changed = sandbox.call("PUT", address, token, json={**ADDRESS, "city": "Olomouc", "phone_id": phone.json()["id"]})
    assert (changed.status_code, changed.json()["city"]) == (200, "Olomouc")
    assert sandbox.call("GET", book, token).json() == [changed.json()]
    assert sandbox.call("DELETE", address, token).status_code == 204
    assert sandbox.call("GET", address, token).status_code == 404
    assert sandbox.last_entry()["failure"] == "address-not-found"


def test_a_token_signed_with_another_secret_is_refused_and_only_the_journal_says_why(sandbox, partner):
    sandbox.set_clock(now=NOW, freeze=True)
    token = partner.login("entity123", "user-1001", NOW + 1800, secret="another-secret-" * 6)
    answer = sandbox.call("GET", sandbox.customer("addressbook"), token)
    assert answer.status_code == 403
    assert answer.json() == {"type": "Authentication", "code": "1", "message": "Access is denied."}
    entry = sandbox.last_entry()
    assert entry["failure"] == "masked-signature"
    assert entry["reason"].startswith("signature: ")
