"""The flows of apps, each run by client libraries as their documentation shows it."""

import asyncio
import base64
import logging
import time

import jwt
import pytest
import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import ClientSecretJWT, PrivateKeyJWT
from oauthlib.oauth2 import BackendApplicationClient, InvalidGrantError, LegacyApplicationClient
from oic.oauth2.message import ErrorResponse
from okta_client.authfoundation import ClientSecretAuthorization
from okta_client.authfoundation.oauth2.errors import OAuth2Error
from okta_client.oauth2auth import AuthorizationCodeContext, ResourceOwnerFlow
from okta_clients import (
    SCOPE, idpyoidc_client, idpyoidc_sign_in, oauth2client, oic_sign_in, okta_client, okta_client_sign_in, signed_in)
from okta_world import (
    ADA, ADA_ID, ADA_PASSWORD, AUDIENCE, NATIVE, SERVICE, SPA, WEB, Org, Registration, parameters, pem)
from requests_oauth2client import InvalidClient, InvalidRequest
from requests_oauthlib import OAuth2Session as OAuthlibSession

# oic and idpyoidc do not verify certificates of localhost when they fetch keys, and say so each time.
pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS request")


def claims(token: str) -> dict:
    return jwt.decode(token, options={"verify_signature": False})


def is_active(org: Org, token: str, app: Registration = NATIVE) -> bool:
    return requests.post(org.endpoint("introspect"), {"token": token, "client_id": app.id}).json()["active"]


# okta-client-python


def test_okta_client_python_pushes_its_request_and_shows_the_browser_two_parameters(org):
    _, token = asyncio.run(okta_client_sign_in(org))
    pushed, opened = org.last("par"), org.last("authorize")
    assert pushed["status"] == 200
    query = dict(pair.split("=") for pair in opened["request"]["target"].partition("?")[2].split("&"))
    assert set(query) == {"client_id", "request_uri"}
    assert token.id_token.subject == ADA_ID and token.scope == SCOPE.split()


def test_okta_client_python_uses_every_endpoint_with_one_token(org):
    async def use():
        client, token = await okta_client_sign_in(org)
        assert (await client.userinfo(token)).claims["sub"] == ADA_ID
        assert (await client.introspect(token.access_token)).claims["username"] == ADA
        renewed = await client.refresh(token)
        assert renewed.access_token != token.access_token
        assert renewed.id_token.subject == ADA_ID
        await client.revoke(renewed.refresh_token, "refresh_token")
        assert (await client.introspect(renewed.access_token)).claims == {"active": False}
        with pytest.raises(OAuth2Error, match="The refresh token is invalid or expired."):
            await client.refresh(renewed)

    asyncio.run(use())
    assert org.last("token.create")["failure"] == "refresh-token-invalid"


def test_okta_client_python_falls_back_to_a_plain_request_when_pushing_fails(org):
    org.control("PUT", "faults", {"route": "par", "fail": "internal-error"})
    _, token = asyncio.run(okta_client_sign_in(org))
    assert token.id_token.subject == ADA_ID
    assert org.last("par")["status"] == 500
    assert "code_challenge=" in org.last("authorize")["request"]["target"]


def test_a_server_that_demands_pushing_ends_that_fall_back(org):
    org.switch("okta.par-required", "all")
    org.control("PUT", "faults", {"route": "par", "fail": "internal-error"})
    with pytest.raises(OAuth2Error, match="The client must use a pushed authorization request."):
        asyncio.run(okta_client_sign_in(org))
    assert org.last("authorize")["failure"] == "par-required"


def test_okta_client_python_refuses_an_old_sign_in(org):
    org.set_claims({"auth_time": 1}, **{"in": "id"})
    with pytest.raises(ValueError, match="Token exceeds max_age"):
        asyncio.run(okta_client_sign_in(org, AuthorizationCodeContext(max_age=600)))


def test_okta_client_python_gets_the_acr_that_it_asks_for(org):
    context = AuthorizationCodeContext(acr_values=["urn:okta:loa:2fa:any"])
    _, token = asyncio.run(okta_client_sign_in(org, context))
    assert token.id_token.claims["acr"] == "urn:okta:loa:2fa:any"
    assert token.id_token.claims["amr"] == ["mfa", "otp", "pwd"]


def test_okta_client_python_signs_in_by_password(org):
    client = okta_client(org, WEB, authorization=ClientSecretAuthorization(id=WEB.id, secret=WEB.secret))
    token = asyncio.run(ResourceOwnerFlow(client).start(ADA, ADA_PASSWORD))
    assert token.id_token.claims["amr"] == ["pwd"]
    with pytest.raises(OAuth2Error):
        asyncio.run(ResourceOwnerFlow(client).start(ADA, "wrong"))
    assert org.last("token.create")["failure"] == "password-wrong"


# requests-oauthlib


def test_requests_oauthlib_signs_in_with_pkce_and_calls_userinfo(org):
    session = OAuthlibSession(NATIVE.id, redirect_uri=NATIVE.redirect, scope=SCOPE, pkce="S256")
    url, state = session.authorization_url(org.discovery["authorization_endpoint"])
    # The library takes a whole redirect only if it is https, which that of a native app never is.
    redirect = parameters(org.follow(url))
    assert redirect["state"] == state
    token = session.fetch_token(org.discovery["token_endpoint"], code=redirect["code"], include_client_id=True)
    assert token["scope"] == SCOPE.split()
    assert session.get(org.discovery["userinfo_endpoint"]).json()["sub"] == ADA_ID


def test_requests_oauthlib_renews_a_token_on_its_own(org):
    tokens, kept = signed_in(org), []
    session = OAuthlibSession(
        NATIVE.id, token={"access_token": tokens.access, "refresh_token": tokens.refresh, "expires_at": time.time() - 1,
                          "token_type": "Bearer"},
        auto_refresh_url=org.discovery["token_endpoint"], auto_refresh_kwargs={"client_id": NATIVE.id},
        token_updater=kept.append)
    assert session.get(org.discovery["userinfo_endpoint"]).status_code == 200
    assert kept[0]["access_token"] != tokens.access


def test_requests_oauthlib_signs_in_by_password_and_by_its_own_name(org):
    session = OAuthlibSession(client=LegacyApplicationClient(WEB.id, scope=SCOPE))
    place = org.discovery["token_endpoint"]
    token = session.fetch_token(place, username=ADA, password=ADA_PASSWORD, client_secret=WEB.secret)
    assert claims(token["access_token"])["uid"] == ADA_ID
    with pytest.raises(InvalidGrantError):
        session.fetch_token(place, username=ADA, password="wrong", client_secret=WEB.secret)
    machine = OAuthlibSession(client=BackendApplicationClient(SERVICE.id, scope="trips.read"))
    token = machine.fetch_token(place, client_secret=SERVICE.secret)
    assert claims(token["access_token"])["sub"] == SERVICE.id
    assert "id_token" not in token and "refresh_token" not in token


# Authlib


def service(org: Org, method: str, key: str, server: str = "default") -> OAuth2Session:
    session = OAuth2Session(SERVICE.id, key, token_endpoint_auth_method=method, scope="trips.read")
    place = org.endpoint("token", server)
    session.register_client_auth_method(
        PrivateKeyJWT(place) if method == "private_key_jwt" else ClientSecretJWT(place))
    return session


@pytest.mark.parametrize("method, key", [("private_key_jwt", pem("ck1")), ("client_secret_jwt", SERVICE.secret)])
def test_authlib_proves_a_service_by_an_assertion(org, method, key):
    token = service(org, method, key).fetch_token(org.endpoint("token"), grant_type="client_credentials")
    assert claims(token["access_token"])["scp"] == ["trips.read"]
    assert claims(token["access_token"])["aud"] == AUDIENCE


@pytest.mark.parametrize("method, key", [("private_key_jwt", pem("o1")), ("client_secret_jwt", "another" * 8)])
def test_authlib_is_refused_with_another_key(org, method, key):
    session = service(org, method, key)
    with pytest.raises(OAuthError, match="The client_assertion signature is invalid."):
        session.fetch_token(org.endpoint("token"), grant_type="client_credentials")
    assert org.last("token.create")["failure"] == "assertion-signature"


def test_an_assertion_for_another_endpoint_is_refused(org):
    session = service(org, "private_key_jwt", pem("ck1"), "org")
    with pytest.raises(OAuthError, match="The audience claim for client_assertion must be the endpoint invoked"):
        session.fetch_token(org.endpoint("token"), grant_type="client_credentials")
    assert org.last("token.create")["failure"] == "assertion-audience"


def test_authlib_introspects_and_revokes(org):
    tokens = signed_in(org, WEB)
    session = OAuth2Session(WEB.id, WEB.secret)
    asked = session.introspect_token(org.discovery["introspection_endpoint"], tokens.access).json()
    assert (asked["active"], asked["uid"], asked["client_id"]) == (True, ADA_ID, WEB.id)
    assert session.revoke_token(org.discovery["revocation_endpoint"], tokens.access).status_code == 200
    assert session.introspect_token(org.discovery["introspection_endpoint"], tokens.access).json() == {"active": False}
    assert session.introspect_token(org.discovery["introspection_endpoint"], tokens.refresh).json()["active"] is True


@pytest.mark.parametrize("ending", ["", ":"])
def test_a_public_client_revokes_with_its_id_alone_in_basic(org, ending):
    """As okta-auth-js signs out: its page puts the id there without a colon."""
    token = signed_in(org, NATIVE).access
    answer = requests.post(org.endpoint("revoke"), f"token_type_hint=access_token&token={token}", headers={
        "content-type": "application/x-www-form-urlencoded",
        "authorization": "Basic " + base64.b64encode((NATIVE.id + ending).encode()).decode()})
    assert (answer.status_code, answer.text) == (200, "")
    assert not is_active(org, token)


def test_a_code_that_is_used_twice_takes_its_tokens_along(org):
    session = OAuth2Session(
        NATIVE.id, scope=SCOPE, redirect_uri=NATIVE.redirect, code_challenge_method="S256",
        token_endpoint_auth_method="none")
    verifier = generate_token(48)
    url, state = session.create_authorization_url(org.discovery["authorization_endpoint"], code_verifier=verifier)
    redirect = org.follow(url)

    def redeem() -> dict:
        return session.fetch_token(
            org.discovery["token_endpoint"], authorization_response=redirect, state=state, code_verifier=verifier)

    token = redeem()["access_token"]
    with pytest.raises(OAuthError, match="The authorization code is invalid or has expired."):
        redeem()
    assert not is_active(org, token)


# Refresh tokens that rotate


def renew(org: Org, refresh: str) -> dict:
    session = OAuth2Session(SPA.id, token_endpoint_auth_method="none")
    return dict(session.refresh_token(org.discovery["token_endpoint"], refresh))


def test_an_old_refresh_token_works_within_its_leeway(org):
    first = signed_in(org, SPA).refresh
    second = renew(org, first)["refresh_token"]
    assert second != first
    org.set_clock(advance="20s")
    assert renew(org, first)["refresh_token"] == second


def test_a_refresh_token_that_is_used_again_later_ends_the_family(org):
    tokens = signed_in(org, SPA)
    second = renew(org, tokens.refresh)
    org.set_clock(advance="31s")
    with pytest.raises(OAuthError, match="The refresh token is invalid or expired."):
        renew(org, tokens.refresh)
    refused = org.last("token.create")
    assert refused["failure"] == "refresh-token-invalid"
    assert refused["reason"].startswith("refresh-token-reused (app.oauth2.as.token.detect_reuse)")
    with pytest.raises(OAuthError, match="The refresh token is invalid or expired."):
        renew(org, second["refresh_token"])
    assert [is_active(org, token, SPA) for token in (tokens.access, second["access_token"])] == [False, False]


def test_the_client_keeps_a_refresh_token_that_does_not_rotate(org):
    tokens = signed_in(org)
    session = OAuth2Session(NATIVE.id, token_endpoint_auth_method="none")
    assert session.refresh_token(org.discovery["token_endpoint"], tokens.refresh)["refresh_token"] == tokens.refresh


def test_the_third_refresh_gives_a_token_that_pyjwt_refuses(org):
    tokens = signed_in(org)
    org.control("PUT", "faults", {
        "route": "token.create", "call": 3, "do": {"set-claims": {"claims": [
            {"name": "iat", "value": 0}, {"name": "exp", "value": 1}]}}})
    key = jwt.PyJWKClient(org.discovery["jwks_uri"]).get_signing_key_from_jwt(tokens.access)
    session = OAuth2Session(NATIVE.id, token_endpoint_auth_method="none")
    for expected in (None, None, jwt.ExpiredSignatureError):
        token = session.refresh_token(org.discovery["token_endpoint"], tokens.refresh)["access_token"]
        if expected:
            with pytest.raises(expected):
                jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE)
        else:
            jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE)


# oic and idpyoidc


def test_oic_asks_userinfo_renews_and_logs_out(org):
    client, state, tokens = oic_sign_in(org)
    asked = client.do_user_info_request("GET", state=state, token_type="bearer", behavior="use_authorization_header")
    assert asked["sub"] == ADA_ID
    renewed = client.do_access_token_refresh(state=state, authn_method="client_secret_basic")
    assert not isinstance(renewed, ErrorResponse) and renewed["access_token"] != tokens["access_token"]
    request = client.construct_EndSessionRequest(state=state, request_args={"state": "bye"})
    answer = requests.get(request.request(client.end_session_endpoint), allow_redirects=False)
    assert answer.status_code == 302 and answer.headers["location"].endswith("/login/login.htm")
    assert org.last("logout")["failure"] is None


def test_a_logout_ends_the_session_of_the_browser_and_not_the_tokens(org):
    browser = requests.Session()
    ask = {"client_id": NATIVE.id, "redirect_uri": NATIVE.redirect, "response_type": "code", "scope": "openid",
           "state": "s", "prompt": "none", "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
           "code_challenge_method": "S256"}

    def silently() -> dict:
        answer = browser.get(org.endpoint("authorize"), params=ask, allow_redirects=False)
        return parameters(answer.headers["location"])

    assert silently()["error"] == "login_required"
    tokens = signed_in(org)
    browser.get(org.endpoint("authorize"), params={**ask, "prompt": "login"}, allow_redirects=False)
    assert "code" in silently()
    answer = browser.get(org.endpoint("logout"), allow_redirects=False, params={
        "id_token_hint": tokens.id, "post_logout_redirect_uri": "com.example.app:/logout", "state": "bye"})
    assert answer.headers["location"] == "com.example.app:/logout?state=bye"
    assert silently()["error"] == "login_required"
    assert is_active(org, tokens.access)


def test_idpyoidc_renews_and_asks_userinfo(org):
    client = idpyoidc_client(org)
    answer = idpyoidc_sign_in(org, client)
    assert answer["userinfo"]["sub"] == ADA_ID
    renewed = client.refresh_access_token(answer["state"])
    assert renewed["access_token"] != answer["token"]
    assert client.get_user_info(answer["state"])["name"] == "Ada L"


def test_idpyoidc_pushes_a_request_object_which_is_refused_by_name(org, caplog):
    caplog.set_level(logging.CRITICAL)
    client = idpyoidc_client(org, pushed_authorization={
        "function": "idpyoidc.client.oauth2.add_on.par.add_support", "kwargs": {"authn_method": "client_secret_basic"}})
    with pytest.raises(ConnectionError):
        client.init_authorization()
    assert org.last("par")["failure"] == "request-object-unsupported"


# Pushed requests by requests_oauth2client


def test_requests_oauth2client_pushes_a_request_that_is_used_up_by_its_code(org):
    client = oauth2client(org, NATIVE)
    request = client.authorization_request(scope=SCOPE)
    pushed = client.pushed_authorization_request(request)
    assert pushed.request_uri.startswith("urn:okta:")
    token = client.authorization_code(request.validate_callback(org.follow(pushed.uri)), validate=True)
    assert token.id_token.sub == ADA_ID
    again = requests.get(pushed.uri, allow_redirects=False)
    assert again.status_code == 400 and "The authorize request_uri is invalid." in again.text
    assert org.last("authorize")["failure"] == "request-uri-invalid"


def test_a_pushed_request_is_judged_before_the_browser_opens(org):
    client = oauth2client(org, NATIVE)
    with pytest.raises(Exception, match="invalid_scope|One or more scopes"):
        client.pushed_authorization_request(client.authorization_request(scope="openid nope"))
    assert org.entries(route="authorize") == []


def test_another_client_cannot_open_a_pushed_request(org):
    client = oauth2client(org, NATIVE)
    pushed = client.pushed_authorization_request(client.authorization_request(scope=SCOPE))
    answer = requests.get(org.endpoint("authorize"), allow_redirects=False, params={
        "client_id": WEB.id, "request_uri": pushed.request_uri})
    assert answer.status_code == 401
    assert org.last("authorize")["failure"] == "request-uri-client"


def test_a_secret_in_two_places_is_refused_once(org):
    client = oauth2client(org, WEB, auth=(WEB.id, WEB.secret))
    with pytest.raises(InvalidRequest, match="Cannot supply multiple client credentials"):
        client.session.auth = None
        client.token_request(
            {"grant_type": "refresh_token", "refresh_token": "x"},
            headers={"Authorization": requests.auth._basic_auth_str(WEB.id, WEB.secret)})
    with pytest.raises(InvalidClient):
        oauth2client(org, WEB, auth=(WEB.id, "wrong")).client_credentials(scope="trips.read")
