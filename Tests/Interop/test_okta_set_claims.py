"""Tokens that are wrong on purpose, and how each client library handles them.

Nearly all refuse nearly all of them. Where one does not, the table says why, and an app that relies on that library
must check for itself.
"""

import re
import time

import jose
import jwt
import pytest
import requests
from cryptojwt.exception import JWKESTException as CryptoJWTError
from idpyoidc.exception import OidcMsgError as IdpyoidcError
from jwkest import JWKESTException
from joserfc.errors import JoseError
from jwskate import InvalidSignature
from oic.exception import PyoidcError
from okta_clients import FLOWS, VERIFIERS, signed_in
from okta_jwt_verifier.exceptions import JWTValidationException
from okta_world import NATIVE, WEB
from requests_oauth2client import InvalidIdToken

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

DAY = 86_400
OTHER = "https://somebody-else.example.test"

# The claims of the ID token, by what is wrong with them; and what the error must be about, in its name or its text.
CLAIMS = {
    "wrong-nonce": ({"nonce": "another"}, "nonce"),
    "no-nonce": ({"nonce": None}, "nonce"),
    "expired": ({"iat": int(time.time()) - DAY, "exp": int(time.time()) - DAY // 2}, "expir"),
    "issued-in-future": ({"iat": int(time.time()) + DAY, "exp": int(time.time()) + 2 * DAY}, "iat|future"),
    "wrong-issuer": ({"iss": OTHER}, "iss"),
    "wrong-audience": ({"aud": OTHER}, "aud|NotForMe"),
    "audience-array": ({"aud": [NATIVE.id, WEB.id, OTHER]}, "azp"),
    "wrong-at-hash": ({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, "at_hash|Token hash"),
    "no-subject": ({"sub": None}, "sub"),
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
    "issued-in-future": {
        "okta_jwt_verifier": "it reads iat only if told to", "python_jose": "it wants a number, of any size",
        "requests_oauth2client": "it does not read iat"},
    "wrong-issuer": {"requests_oauth2client": "it compares with the iss of the redirect, which Okta does not send"},
    "audience-array": dict.fromkeys(
        ["okta_jwt_verifier", "pyjwt", "python_jose", "joserfc", "okta_client_python", "requests_oauth2client"],
        ONE_AUDIENCE),
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
@pytest.mark.parametrize("name", CLAIMS)
def test_a_client_refuses_a_token_with_wrong_claims(org, name, client):
    claims, about = CLAIMS[name]
    org.set_claims(claims, **{"in": "id"})
    said = refusal(client, org)
    if client in LENIENT.get(name, {}):
        assert said is None
    else:
        assert said and re.search(about, said, re.IGNORECASE), said
    changed = org.entries(route="token.create")[0]["intervention"]
    assert changed == [{"set_claims": ", ".join(claims), "of": "id"}]


# What the journal says


def test_the_journal_tells_whether_the_app_used_the_wrong_token(org):
    org.set_claims({"exp": 1, "role": "admin"}, **{"in": "access"})
    tokens = signed_in(org)
    assert org.last("token.create")["intervention"] == [{"set_claims": "exp, role", "of": "access"}]
    proof = {"where": {"failure": "access-token-expired", "route": "userinfo.get"}}
    org.control("POST", "journal/verify", {"exactly": 0, **proof})
    answer = requests.get(org.endpoint("userinfo"), headers={"authorization": f"Bearer {tokens.access}"})
    assert answer.status_code == 401
    org.control("POST", "journal/verify", {"exactly": 1, **proof})


def test_claims_that_were_set_hold_until_others_take_their_place(org):
    org.set_claims({"exp": 1})
    for _ in range(2):
        assert "expir" in refusal("pyjwt", org).lower()
    org.set_claims({})
    assert refusal("pyjwt", org) is None
    assert "intervention" not in org.last("token.create")
