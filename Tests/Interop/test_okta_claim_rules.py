"""Tokens that are wrong on purpose, and how each client library takes them.

Nearly all refuse nearly all of them. Where one does not, the table says why, and an app that relies on that library
must check for itself.
"""

import re

import jose
import jwt
import pytest
import requests
from authlib.oauth2.rfc6749.errors import MismatchingStateException
from cryptojwt.exception import JWKESTException as CryptoJWTError
from idpyoidc.exception import OidcMsgError as IdpyoidcError
from jwkest import JWKESTException
from joserfc.errors import JoseError
from jwskate import InvalidSignature
from oic.exception import PyoidcError
from okta_client.authfoundation.oauth2.errors import OAuth2Error as OktaClientError
from okta_clients import FLOWS, VERIFIERS, signed_in
from okta_jwt_verifier.exceptions import JWTValidationException
from okta_world import ADA, NATIVE
from requests_oauth2client import InvalidAuthResponse, InvalidIdToken

CLIENTS = {client.__name__: client for client in [*VERIFIERS, *FLOWS]}

# What each library raises for a token that it does not trust. Some let the error of a library below them through.
ERRORS = {
    "okta_jwt_verifier": JWTValidationException,
    "pyjwt": jwt.PyJWTError,
    "python_jose": jose.JOSEError,
    "joserfc": JoseError,
    "authlib": JoseError,
    "okta_client_python": (ValueError, TypeError, jwt.PyJWTError),
    "requests_oauth2client": (InvalidIdToken, InvalidSignature, AttributeError),
    "idpyoidc": (ValueError, IdpyoidcError, CryptoJWTError),
    "oic": (PyoidcError, JWKESTException, ValueError, KeyError),
}

# What the error must be about, in its name or its text.
RULES = {
    "wrong-nonce": "nonce",
    "no-nonce": "nonce",
    "expired-at-birth": "expir",
    "expires-before-issue": "expir",
    "issued-in-future": "iat|future",
    "wrong-issuer": "iss",
    "wrong-audience": "aud|NotForMe",
    "audience-array": "azp",
    "bad-signature": "signature",
    "unknown-kid": "kid|key|JWK",
    "alg-hs256": "alg|key|Expected a string or bytes",
    "wrong-at-hash": "at_hash|Token hash",
    "no-subject": "sub",
}

NO_NONCE = "it has no rule for nonces"
NO_AT_HASH = "it does not compare at_hash"
NO_SUBJECT = "it does not ask for a subject"
ONE_AUDIENCE = "an array of this one audience is good enough, by OpenID Connect Core section 2"
LENIENT = {
    "no-nonce": {
        "okta_jwt_verifier": "it compares the nonce of a token that has one", "pyjwt": NO_NONCE,
        "python_jose": NO_NONCE},
    "wrong-nonce": {"pyjwt": NO_NONCE, "python_jose": NO_NONCE},
    "expires-before-issue": {
        "okta_jwt_verifier": "a second is within its leeway", "authlib": "a second is within its leeway"},
    "issued-in-future": {
        "okta_jwt_verifier": "it reads iat only if told to", "python_jose": "it wants a number, of any size",
        "requests_oauth2client": "it does not read iat"},
    "wrong-issuer": {"requests_oauth2client": "it compares with the iss of the redirect, which Okta does not send"},
    "audience-array": dict.fromkeys(
        ["okta_jwt_verifier", "pyjwt", "python_jose", "joserfc", "okta_client_python", "requests_oauth2client"],
        ONE_AUDIENCE),
    "unknown-kid": {
        "python_jose": "it tries every key", "okta_client_python": "without the key it tries the first one"},
    "wrong-at-hash": dict.fromkeys(["okta_jwt_verifier", "pyjwt", "joserfc", "idpyoidc", "oic"], NO_AT_HASH),
    "no-subject": dict.fromkeys(
        ["okta_jwt_verifier", "pyjwt", "python_jose", "okta_client_python", "requests_oauth2client"], NO_SUBJECT),
}

# oic and idpyoidc do not verify certificates of localhost when they fetch keys, and say so each time.
pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS request")


def refusal(client: str, org) -> str | None:
    """The error of a library that does not trust what it was given."""
    try:
        CLIENTS[client](org)
    except ERRORS[client] as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_trusts_what_the_server_gives(org, client):
    assert refusal(client, org) is None
    assert org.entries(refused="true") == []


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("rule", RULES)
def test_a_client_refuses_a_token_that_a_rule_made_wrong(org, rule, client):
    org.spoil(rule)
    said = refusal(client, org)
    if client in LENIENT.get(rule, {}):
        assert said is None
    else:
        assert said and re.search(RULES[rule], said, re.IGNORECASE), said
    spoiled = org.entries(route="token.create")[0]["intervention"]
    assert {each["claim_rule"] for each in spoiled} == {rule}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_refuses_a_signature_by_a_key_that_is_not_published(org, client):
    org.spoil("signed-by-a-retired-key", of="id", defect="retired-key")
    said = refusal(client, org)
    assert said and re.search("key|JWK|signature", said, re.IGNORECASE), said


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_refuses_a_token_without_a_signature(org, client):
    org.spoil("unsigned", of="id", defect="alg-none")
    said = refusal(client, org)
    if client == "oic":
        assert said is None, "OpenID Connect Core 3.1.3.7 lets TLS stand in for the signature, and oic does"
    else:
        assert said and re.search("alg", said, re.IGNORECASE), said


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_accepts_the_next_key_which_is_published_before_it_signs(org, client):
    org.spoil("signed-by-the-next-key", of="id", defect="next-key")
    assert refusal(client, org) is None


@pytest.mark.parametrize("rule", ["other-state", "no-state"])
@pytest.mark.parametrize("client, error, words", [
    ("authlib", MismatchingStateException, "state"), ("okta_client_python", OktaClientError, "state_mismatch"),
    ("requests_oauth2client", InvalidAuthResponse, "state"), ("idpyoidc", KeyError, "state"),
    ("oic", PyoidcError, "state"),
])
def test_a_client_refuses_a_redirect_with_a_foreign_state_or_none(org, rule, client, error, words):
    org.spoil(rule)
    with pytest.raises(error, match=words):
        CLIENTS[client](org)
    assert org.entries(route="token.create") == [], "the code must not be spent"
    assert org.last("authorize")["intervention"][0]["claim_rule"] == rule


@pytest.mark.parametrize("client, error", [
    ("requests_oauth2client", InvalidAuthResponse), ("idpyoidc", IdpyoidcError), ("oic", PyoidcError)])
def test_a_client_that_knows_rfc_9207_refuses_a_redirect_by_another_issuer(org, client, error):
    org.spoil("other-issuer")
    with pytest.raises(error, match="(?i)iss"):
        CLIENTS[client](org)
    assert org.entries(route="token.create") == []


# What the journal says


def test_the_journal_says_what_the_rule_changed(org):
    org.spoil("wrong-nonce", client=NATIVE.id)
    tokens = signed_in(org)
    assert org.last("token.create")["intervention"] == [{
        "claim_rule": "wrong-nonce", "of": "id", "left": 0,
        "changes": [{"member": "nonce", "would_be": tokens.nonce, "is": "understudy-wrong-nonce"}]}]
    again = signed_in(org)
    assert jwt.decode(again.id, options={"verify_signature": False})["nonce"] == again.nonce
    assert "intervention" not in org.last("token.create")


def test_the_journal_tells_whether_the_app_used_the_wrong_token(org):
    org.spoil("admin", of="access", set={"exp": {"add": -7200}, "role": "admin"}, user=ADA)
    tokens = signed_in(org)
    proof = {"where": {"claim_rule": "admin", "route": "userinfo.get"}}
    org.control("POST", "journal/verify", {"exactly": 0, **proof})
    answer = requests.get(org.endpoint("userinfo"), headers={"authorization": f"Bearer {tokens.access}"})
    assert answer.status_code == 401
    assert org.last("userinfo.get")["failure"] == "access-token-expired"
    org.control("POST", "journal/verify", {"exactly": 1, **proof})


def test_a_rule_that_always_holds_ends_when_it_is_removed(org):
    org.spoil("expired-at-birth", times="always")
    for _ in range(2):
        assert "expir" in refusal("pyjwt", org).lower()
    org.act("remove-claim-rule", name="expired-at-birth")
    assert refusal("pyjwt", org) is None
