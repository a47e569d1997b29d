"""Card numbers encrypted by another library with the served public key."""

import base64

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

NUMBER = "4200000000000000"
CARD = {
    "type": "credit", "brand": "visa", "pan6": "420000", "pan4": "0000", "short_name": "Mine", "name_on_card": "Ada L",
    "valid_from": "1026", "expires_on": "1030", "address_id": "address-1",
}


@pytest.fixture
def ada(sandbox):
    """A function that calls as Ada, with the switch for decrypting card numbers on."""
    sandbox.switch("rezolve.pan-check", "decrypt")
    token = sandbox.mint()
    return lambda method, path, **options: sandbox.call(method, sandbox.customer(path), token, **options)


def encrypt(pem: str, number: str, hash_function=hashes.SHA1) -> str:
    key = serialization.load_pem_public_key(pem.encode())
    assert key.key_size == 2048
    oaep = padding.OAEP(mgf=padding.MGF1(hash_function()), algorithm=hash_function(), label=None)
    return base64.b64encode(key.encrypt(number.encode(), oaep)).decode()


def test_a_number_encrypted_under_the_served_key_is_read_and_never_answered(ada, sandbox):
    cipher = encrypt(ada("GET", "publickey").json()["public_key"], NUMBER)
    created = ada("POST", "wallet", json={**CARD, "pan": cipher})
    assert created.status_code == 201
    assert created.json() == {"id": created.json()["id"], **CARD}
    entry = str(sandbox.last_entry())
    assert cipher not in entry and NUMBER not in entry


@pytest.mark.parametrize(("pan", "change", "reason"), [
    (lambda pem: encrypt(pem, NUMBER), {"pan4": "9999"}, "pan6 and pan4 are not those of the decrypted number"),
    (lambda pem: encrypt(pem, "4200-0000-0000"), {}, "expected 12 to 19 digits"),
    (lambda pem: encrypt(pem, NUMBER, hashes.SHA256), {}, "pan does not decrypt; expected RSA-OAEP with SHA-1"),
    (lambda pem: NUMBER + "!", {}, "is not base64"),
], ids=["other-digits", "not-digits", "other-hash", "not-base64"])
def test_a_number_that_does_not_fit_is_refused_with_its_reason(ada, sandbox, pan, change, reason):
    pem = ada("GET", "publickey").json()["public_key"]
    refused = ada("POST", "wallet", json={**CARD, **change, "pan": pan(pem)})
    assert refused.status_code == 400
    entry = sandbox.last_entry()
    assert entry["failure"] == "body-wrong-type"
    assert reason in entry["reason"]
    assert [card["id"] for card in ada("GET", "wallet").json()] == ["card-1"]
