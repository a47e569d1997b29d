"""Tokens bound to a key (RFC 9449), and the proofs that clients make with it."""

import time
from collections.abc import Callable

import pytest
import requests
from binapy import BinaPy
from jwskate import Jwk
from okta_clients import idpyoidc_client, idpyoidc_sign_in, oauth2client, signed_in
from okta_world import ADA, ADA_ID, AUDIENCE, BANK, NATIVE, OPS, SERVICE, Org, pem
from requests_oauth2client import (
    BearerToken, DPoPKey, DPoPToken, InvalidDPoPProof, OAuth2Client, OAuth2Error, PrivateKeyJwt,
    validate_dpop_proof)

SCOPE = "openid profile offline_access"


def assertion_key(app: str) -> PrivateKeyJwt:
    return PrivateKeyJwt(app, Jwk.from_pem(pem("ck1")).with_kid_thumbprint(), alg="RS256")


def bank(org: Org, **options) -> OAuth2Client:
    """The bank's app, which pushes its requests and binds its tokens."""
    return oauth2client(org, BANK, auth=assertion_key(BANK.id), dpop_bound_access_tokens=True, **options)


def redeem(org: Org, client: OAuth2Client, key: DPoPKey | None = None) -> DPoPToken:
    request = client.authorization_request(scope=SCOPE, dpop_key=key)
    pushed = client.pushed_authorization_request(request)
    # With validate=True the library loses the key of a bound token, and fails.
    return client.authorization_code(request.validate_callback(org.follow(pushed.uri)), validate=False)


def failures(org: Org, route: str = "token.create") -> list[str | None]:
    return [entry["failure"] for entry in org.entries(route=route)]


def key(**odd: Callable | str) -> DPoPKey:
    return DPoPKey.generate(**odd)


def ask_userinfo(org: Org, token: BearerToken, **headers: str) -> requests.Response:
    return requests.get(org.endpoint("userinfo"), auth=token, headers=headers)


@pytest.mark.parametrize("algorithm", ["ES256", "ES384", "ES512", "RS256"])
def test_requests_oauth2client_fetches_a_nonce_and_a_bound_token(org, algorithm):
    client = bank(org, dpop_alg=algorithm)
    token = redeem(org, client)
    assert failures(org) == ["dpop-nonce", None]
    assert token.token_type == "DPoP"
    assert client.introspect_token(token)["cnf"] == {"jkt": token.dpop_key.dpop_jkt}
    assert client.introspect_token(token)["token_type"] == "DPoP"
    assert client.userinfo(token)["sub"] == ADA_ID
    renewed = client.refresh_token(token)
    assert renewed.dpop_key.dpop_jkt == token.dpop_key.dpop_jkt
    assert client.userinfo(renewed)["sub"] == ADA_ID


def test_a_nonce_is_asked_for_once(org):
    client, reused = bank(org), key()
    redeem(org, client, reused)
    redeem(org, client, reused)
    assert failures(org) == ["dpop-nonce", None, None]


def test_no_nonce_is_asked_for_where_the_switch_says_so(org):
    org.switch("okta.dpop-nonce", "off")
    redeem(org, bank(org))
    assert failures(org) == [None]


def test_a_resource_may_ask_for_a_nonce_of_its_own(org):
    client = bank(org)
    token = redeem(org, client)
    org.switch("okta.dpop-resource-nonce", "require")
    assert ask_userinfo(org, token).json()["sub"] == ADA_ID
    first, second = org.entries(route="userinfo.get")
    assert (first["status"], second["status"]) == (401, 200)
    challenge = dict(first["response"]["headers"])["WWW-Authenticate"]
    assert challenge.startswith('DPoP algs="RS256 ')
    assert 'error="use_dpop_nonce", error_description="Resource server requires nonce in DPoP proof", ' in challenge


def test_a_client_without_a_proof_gets_no_token(org):
    with pytest.raises(OAuth2Error, match="The DPoP proof JWT header is missing."):
        bank(org).token_request({"grant_type": "refresh_token", "refresh_token": "x"}, dpop=False)
    assert failures(org) == ["dpop-missing"]


@pytest.mark.parametrize("odd, failure, text", [
    ({"jwt_typ": "JWT"}, "dpop-typ", "'typ' must be 'dpop\\+jwt'"),
    ({"iat_generator": lambda: int(time.time()) - 310}, "dpop-too-old", "more than five minutes in the past"),
    ({"iat_generator": lambda: int(time.time()) + 90}, "dpop-future", "issued in the future"),
    ({"iat_generator": lambda: "now"}, "dpop-iat", "'iat' claim"),
])
def test_an_odd_proof_is_refused_before_the_nonce_is_asked_for(org, odd, failure, text):
    with pytest.raises(OAuth2Error, match=text):
        redeem(org, bank(org), key(**odd))
    assert failures(org) == [failure]


@pytest.mark.parametrize("number", ["", 7])
def test_a_proof_needs_an_identifier(org, number):
    with pytest.raises(OAuth2Error, match="'jti' claim"):
        redeem(org, bank(org), key(jti_generator=lambda: number))
    assert failures(org) == ["dpop-nonce", "dpop-jti"]


def test_a_proof_serves_once(org):
    client, frozen = bank(org), key(jti_generator=lambda: "always-the-same")
    token = redeem(org, client, frozen)
    with pytest.raises(OAuth2Error, match="The DPoP proof JWT has already been used."):
        client.refresh_token(token)
    answer = ask_userinfo(org, token)
    assert answer.status_code == 400
    assert ('error="invalid_dpop_proof", error_description="The DPoP proof JWT has already been used.", '
            in answer.headers["www-authenticate"])
    assert failures(org) == ["dpop-nonce", None, "dpop-replayed"]
    assert org.last("userinfo.get")["failure"] == "dpop-replayed"


def test_a_replayed_proof_costs_the_client_neither_its_code_nor_its_refresh_token(org):
    client, names = bank(org), iter(["a", "b", "c", "c", "d"])
    # Names of the proofs at par, without a nonce, with it, and of two renewals.
    token = redeem(org, client, key(jti_generator=lambda: next(names)))
    with pytest.raises(OAuth2Error, match="already been used"):
        client.refresh_token(token)
    assert client.refresh_token(token).token_type == "DPoP"


def test_a_stolen_token_is_useless_without_its_key(org):
    token = redeem(org, bank(org))
    thief = DPoPToken(token.access_token, _dpop_key=key())
    said = ask_userinfo(org, thief).headers["www-authenticate"]
    assert "The access_token is not bound to the provided DPoP proof." in said
    said = ask_userinfo(org, BearerToken(token.access_token)).headers["www-authenticate"]
    assert said.startswith("DPoP ") and 'error="invalid_request"' in said
    assert failures(org, "userinfo.get") == ["dpop-key-mismatch", "dpop-scheme"]
    with pytest.raises(OAuth2Error, match="Invalid DPoP Public Key binding in refresh token"):
        bank(org).refresh_token(token.refresh_token, dpop_key=key())
    assert failures(org)[-1] == "dpop-refresh-key"


def test_a_proof_for_another_token_is_refused(org):
    client, own = bank(org), key()
    first, second = redeem(org, client, own), redeem(org, client, own)
    proof = own.proof(htm="GET", htu=org.endpoint("userinfo"), ath=hash_of(second.access_token))
    answer = requests.get(org.endpoint("userinfo"), headers={
        "authorization": f"DPoP {first.access_token}", "dpop": str(proof)})
    assert answer.status_code == 400 and org.last("userinfo.get")["failure"] == "dpop-ath"


@pytest.mark.parametrize("method, path, failure", [
    ("POST", "userinfo", "dpop-htm"), ("GET", "token", "dpop-htu"), ("GET", "userinfo?a=b", None)])
def test_a_proof_names_the_call_that_it_is_made_for(org, method, path, failure):
    token = redeem(org, bank(org))
    proof = token.dpop_key.proof(htm=method, htu=org.endpoint(path), ath=hash_of(token.access_token))
    answer = requests.get(org.endpoint("userinfo"), headers={
        "authorization": token.authorization_header(), "dpop": str(proof)})
    assert answer.status_code == (400 if failure else 200)
    assert org.last("userinfo.get")["failure"] == failure


def test_an_unbound_token_is_refused_as_a_bound_one(org):
    tokens = signed_in(org)
    # The library takes each 401 under DPoP for a demand of a nonce, and this one has none.
    with pytest.raises(Exception, match="nonce"):
        ask_userinfo(org, DPoPToken(tokens.access, _dpop_key=key()))
    assert org.last("userinfo.get")["failure"] == "dpop-not-bound"


def test_a_client_that_needs_no_proof_gets_bearer_tokens_in_spite_of_it(org):
    def sign_in() -> DPoPToken:
        client = oauth2client(org, NATIVE)
        request = client.authorization_request(scope=SCOPE, dpop=True)
        return client.authorization_code(request.validate_callback(org.follow(request.uri)), validate=False)

    assert sign_in().token_type == "Bearer", "the library leaves this check to the app"
    org.switch("okta.dpop-optional", "bind")
    assert sign_in().token_type == "DPoP"


def test_requests_oauth2client_accepts_the_proofs_that_the_control_api_mints(org):
    redeem(org, bank(org))
    place = org.endpoint("userinfo")
    order = {"key": "DK1", "method": "GET", "url": place, "nonce": "current"}
    proof = org.control("POST", "tokens/okta/dpop-proof", order)["token"]
    checked = validate_dpop_proof(proof, htm="GET", htu=place, algs=["ES256"])
    assert Jwk(checked.headers["jwk"]).thumbprint() == Jwk.from_pem(pem("dk1")).thumbprint()
    for defect in ("typ-other", "private-jwk", "wrong-htm", "wrong-htu", "too-old"):
        proof = org.control("POST", "tokens/okta/dpop-proof", {**order, "defect": defect})["token"]
        with pytest.raises(InvalidDPoPProof):
            validate_dpop_proof(proof, htm="GET", htu=place, algs=["ES256"])


def test_a_minted_token_that_is_bound_to_a_key_works_with_that_key(org):
    own = DPoPKey(Jwk.from_pem(pem("dk1")), alg="ES256")
    minted = org.control("POST", "tokens/okta/access", {
        "client": NATIVE.id, "user": ADA, "scopes": ["openid", "profile"], "jkt": own.dpop_jkt})["token"]
    assert ask_userinfo(org, DPoPToken(minted, _dpop_key=own)).json()["sub"] == ADA_ID


@pytest.mark.parametrize("app, scope, server", [
    (SERVICE, "trips.read", "default"), (OPS, "okta.users.read", "org")])
def test_a_service_binds_its_tokens_where_the_switch_lets_it(org, app, scope, server):
    org.switch("okta.dpop-optional", "bind")
    client = oauth2client(
        org, app, auth=assertion_key(app.id), server=org.base if server == "org" else "", dpop_bound_access_tokens=True)
    token = client.client_credentials(scope=scope)
    assert token.token_type == "DPoP" and token.expires_in > 3590
    assert client.introspect_token(token)["aud"] == (org.base if server == "org" else AUDIENCE)


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_idpyoidc_binds_a_token_and_then_shows_it_as_bearer(org, caplog):
    """Its add-on knows no nonces, and its userinfo call names the scheme that it would have without the add-on."""
    caplog.set_level("CRITICAL")
    org.control("PUT", "settings", {"switches": {"okta.dpop-optional": "bind", "okta.dpop-nonce": "off"}})
    client = idpyoidc_client(org, dpop={
        "function": "idpyoidc.client.oauth2.add_on.dpop.add_support",
        "kwargs": {"dpop_signing_alg_values_supported": ["ES256"]}})
    with pytest.raises(Exception, match="400"):
        idpyoidc_sign_in(org, client)
    assert org.last("token.create")["response"]["body"]["token_type"] == "DPoP"
    assert org.last("userinfo.get")["failure"] == "dpop-scheme"


def hash_of(token: str) -> str:
    return BinaPy(token).to("sha256").to("b64u").decode()
