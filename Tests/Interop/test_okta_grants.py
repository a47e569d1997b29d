"""Grants without a redirect: devices and exchanged tokens."""

import asyncio

import jwt
import pytest
from okta_client.authfoundation.oauth2.errors import OAuth2Error as OktaClientError
from okta_client.oauth2auth import (
    TokenDescriptor, TokenExchangeContext, TokenExchangeFlow, TokenExchangeParameters, TokenType)
from okta_clients import oauth2client, okta_client, signed_in
from okta_jwt_verifier import AccessTokenVerifier
from okta_world import ADA, ADA_ID, API, AUDIENCE, NATIVE, TV, Org
from requests_oauth2client import (
    AccessDenied, AuthorizationPending, BearerToken, ClientSecretBasic, DeviceAuthorizationPollingJob,
    DeviceAuthorizationResponse, ExpiredToken, InvalidGrant, InvalidScope, InvalidTarget, OAuth2Client, OAuth2Error,
    SlowDown, UnauthorizedClient)

DEVICE_SECRET = "urn:x-oath:params:oauth:token-type:device-secret"


def claims(token: str) -> dict:
    return jwt.decode(token, options={"verify_signature": False})


# Devices, by requests_oauth2client


def tv(org: Org, server: str = "default") -> OAuth2Client:
    # The library does not read this address from the discovery document.
    return oauth2client(
        org, TV, server=org.base if server == "org" else "",
        device_authorization_endpoint=org.endpoint("device/authorize", server))


def begin(org: Org) -> tuple[OAuth2Client, DeviceAuthorizationResponse]:
    client = tv(org)
    return client, client.authorize_device(scope="openid offline_access")


def test_a_device_polls_until_the_user_has_agreed(org):
    org.switch("okta.device-interval", "1")
    client, device = begin(org)
    assert device.verification_uri == f"{org.base}/activate" and device.interval == 1
    poll = DeviceAuthorizationPollingJob(client, device)
    assert poll() is None
    org.act("approve-device", user_code=device.user_code, user=ADA)
    token = poll()
    assert token.id_token.sub == ADA_ID and "nonce" not in token.id_token.claims
    assert client.refresh_token(token).access_token != token.access_token
    with pytest.raises(InvalidGrant, match="The device code is invalid or has expired."):
        client.device_code(device)


def test_a_device_that_polls_too_fast_is_slowed_down(org):
    client, device = begin(org)
    with pytest.raises(AuthorizationPending):
        client.device_code(device)
    with pytest.raises(SlowDown):
        client.device_code(device)
    org.set_clock(advance="9s")
    with pytest.raises(SlowDown):
        client.device_code(device)
    org.set_clock(advance="16s")
    with pytest.raises(AuthorizationPending):
        client.device_code(device)
    assert [entry["failure"] for entry in org.entries(route="token.create")] == [
        "device-pending", "device-slow-down", "device-slow-down", "device-pending"]


@pytest.mark.parametrize("action, error, status", [
    ("deny-device", AccessDenied, 403), ("expire-device", ExpiredToken, 400)])
def test_a_device_learns_that_it_will_not_be_let_in(org, action, error, status):
    client, device = begin(org)
    org.act(action, user_code=device.user_code)
    with pytest.raises(error):
        client.device_code(device)
    assert org.last("token.create")["status"] == status


def test_a_device_code_belongs_to_its_client(org):
    _, device = begin(org)
    with pytest.raises(UnauthorizedClient):
        oauth2client(org, NATIVE).device_code(device)
    with pytest.raises(OAuth2Error, match="No scopes were requested."):
        tv(org).authorize_device()


def test_the_org_server_lets_devices_in_too(org):
    client = tv(org, "org")
    device = client.authorize_device(scope="openid")
    org.act("approve-device", user_code=device.user_code)
    token = client.device_code(device)
    assert claims(token.access_token)["iss"] == org.base and token.id_token.issuer == org.base


# Exchanges on behalf of a user


def service(org: Org) -> OAuth2Client:
    return oauth2client(org, API, auth=ClientSecretBasic(API.id, API.secret))


def exchange(org: Org, token: str, **changed: str) -> BearerToken:
    asked = {"scope": "trips.read", "audience": AUDIENCE, **changed}
    return service(org).token_exchange(subject_token=token, subject_token_type="access_token", **asked)


def test_a_service_gets_a_token_for_the_user_whose_token_it_has(org):
    tokens = signed_in(org)
    given = exchange(org, tokens.access)
    AccessTokenVerifier(org.issuer, AUDIENCE).verify_sync(given.access_token)
    said = claims(given.access_token)
    assert (said["cid"], said["sub"], said["uid"], said["scp"]) == (API.id, ADA, ADA_ID, ["trips.read"])
    assert said["auth_time"] == claims(tokens.access)["auth_time"]
    assert given.id_token is None and given.refresh_token is None
    assert given.issued_token_type == "urn:ietf:params:oauth:token-type:access_token"


@pytest.mark.parametrize("changed, error, failure", [
    ({"audience": "api://other"}, InvalidTarget, "exchange-audience"),
    ({"audience": ""}, InvalidTarget, "exchange-audience"),
    ({"scope": "openid"}, InvalidScope, "exchange-openid"),
    ({"subject_token": "no token"}, OAuth2Error, "exchange-subject"),
])
def test_an_exchange_that_is_not_offered_is_refused(org, changed, error, failure):
    token = changed.get("subject_token") or signed_in(org).access
    with pytest.raises(error):
        exchange(org, token, **{name: value for name, value in changed.items() if name != "subject_token"})
    assert org.last("token.create")["failure"] == failure


def test_an_app_that_is_no_service_may_not_act_for_users(org):
    with pytest.raises(OAuth2Error, match="Only service clients may use on-behalf token exchange."):
        oauth2client(org, TV).token_exchange(
            subject_token=signed_in(org).access, subject_token_type="access_token", scope="trips.read",
            audience=AUDIENCE)


def test_a_revoked_token_is_not_exchanged(org):
    tokens = signed_in(org)
    oauth2client(org, NATIVE).revoke_access_token(tokens.access)
    with pytest.raises(InvalidGrant, match="either expired or the session associated with it was terminated"):
        exchange(org, tokens.access)
    assert org.last("token.create")["failure"] == "exchange-subject-expired"


# One sign-in for several apps of a device, by okta-client-python


def sign_in_with_device_secret(org: Org) -> dict:
    """The answer of the token endpoint to an app that asks for a device secret, checked by requests_oauth2client."""
    client = oauth2client(org, NATIVE)
    request = client.authorization_request(scope="openid offline_access device_sso")
    token = client.authorization_code(request.validate_callback(org.follow(request.uri)), validate=True)
    return {"id": str(token.id_token), "secret": token.device_secret, "refresh": token.refresh_token}


async def second_app(org: Org, first: dict, actor: str = DEVICE_SECRET):
    parameters = TokenExchangeParameters(
        subject=TokenDescriptor(TokenType.ID_TOKEN, first["id"]), actor=TokenDescriptor(actor, first["secret"]),
        audience=AUDIENCE)
    client = okta_client(org, TV)
    context = TokenExchangeContext(scope=["openid", "offline_access"])
    return client, await TokenExchangeFlow(client).start(parameters, context=context)


def test_a_second_app_signs_in_with_the_device_secret_of_the_first(org):
    async def both():
        client, token = await second_app(org, sign_in_with_device_secret(org))
        assert token.id_token.subject == ADA_ID and token.id_token.audience == [TV.id]
        assert (await client.refresh(token)).access_token != token.access_token

    asyncio.run(both())


def test_the_second_app_is_signed_out_with_the_device_secret(org):
    async def both():
        first = sign_in_with_device_secret(org)
        client, token = await second_app(org, first)
        asked = oauth2client(org, NATIVE).introspect_token(first["secret"])
        assert (asked["active"], asked["token_type"], asked["sid"]) == (True, DEVICE_SECRET, claims(first["id"])["sid"])
        oauth2client(org, NATIVE).revoke_token(first["secret"])
        with pytest.raises(OktaClientError, match="The refresh token is invalid or expired."):
            await client.refresh(token)
        with pytest.raises(OktaClientError, match="either expired or the session associated"):
            await second_app(org, first)

    asyncio.run(both())
    assert org.last("token.create")["failure"] == "exchange-subject-expired"


def test_a_wrong_device_secret_signs_nobody_in(org):
    with pytest.raises(OktaClientError, match="'actor_token' is invalid"):
        asyncio.run(second_app(org, {**sign_in_with_device_secret(org), "secret": "guessed"}))
    assert org.last("token.create")["failure"] == "exchange-actor"


def test_the_library_s_own_name_for_device_secrets_is_not_okta_s(org):
    with pytest.raises(OktaClientError, match="'actor_token_type' is invalid or not supported."):
        asyncio.run(second_app(org, sign_in_with_device_secret(org), TokenType.DEVICE_SECRET))
    assert org.last("token.create")["failure"] == "exchange-actor-type"
