"""Okta's own SDK for the management API, as the service app `ops`, and second factors by pyotp.

The SDK's models are made from Okta's OpenAPI description and refuse bodies that do not fit it. To import it takes
seconds, and every worker reads this file, so only its tests do that.
"""

import asyncio
import contextlib
import logging
import ssl
import time

import aiohttp
import jwt
import pyotp
import pytest
import requests
from okta_client.oauth2auth import AuthorizationCodeContext
from okta_clients import okta_client_sign_in, signed_in
from okta_world import (
    ADA, ADA_ID, ADA_PASSWORD, API_TOKEN, CLEO, CLEO_ID, CLEO_PASSWORD, DIRECT, NATIVE, OPS, Org, parameters, pem)

PUSH = "opfunderstudyada0001"
MFA_OTP = "http://auth0.com/oauth/grant-type/mfa-otp"
MFA_OOB = "http://auth0.com/oauth/grant-type/mfa-oob"

# The SDK logs each refusal as an error.
logging.getLogger("okta-sdk-python").setLevel(logging.CRITICAL)


class Refused(Exception):
    """What the SDK hands back as an error."""


class Desk:
    """The SDK with its calls made plain: each gives its value, or raises what was wrong."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, call: str):
        async def made(*arguments, **options):
            answer = await getattr(self.client, call)(*arguments, **options)
            if answer[-1] is not None:
                raise Refused(str(answer[-1]))
            return answer[0]
        return made


@contextlib.asynccontextmanager
async def desk(org: Org, *scopes: str, **options):
    from okta.client import Client
    client = Client({
        "orgUrl": org.base, "authorizationMode": "PrivateKey", "clientId": OPS.id, "privateKey": pem("ck1"),
        "scopes": list(scopes) or ["okta.users.read", "okta.users.manage"], "rateLimit": {"maxRetries": 0}, **options})
    # aiohttp reads the system's certificates when it is imported, so they are set here.
    trust = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=org.server.authority))
    async with aiohttp.ClientSession(connector=trust) as session:
        client.get_request_executor()._http_client.set_session(session)
        yield Desk(client)


def asks_for(org: Org, user: str, **asked: str) -> dict:
    """The redirect that the native app gets for this user."""
    answer = requests.get(org.endpoint("authorize"), allow_redirects=False, params={
        "client_id": NATIVE.id, "redirect_uri": NATIVE.redirect, "response_type": "code", "scope": "openid",
        "state": "s", "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256",
        "login_hint": user, **asked})
    return parameters(answer.headers["location"])


def new_user(name: str, password: str | None = None):
    from okta.models import CreateUserRequest, PasswordCredential, UserCredentialsWritable, UserProfile
    login = f"{name.lower()}@example.test"
    return CreateUserRequest(
        profile=UserProfile(first_name=name, last_name="D", email=login, login=login),
        credentials=UserCredentialsWritable(password=PasswordCredential(value=password)) if password else None)


# Users


def test_the_sdk_reads_users_and_their_factors(org):
    async def read():
        async with desk(org) as ops:
            assert (await ops.get_user(ADA)).id == (await ops.get_user(ADA_ID)).id == ADA_ID
            assert [user.profile.login for user in await ops.list_users()] == [ADA, "ben@example.test", CLEO]
            assert [user.profile.login for user in await ops.list_users(limit=1)] == [ADA]
            kinds = {factor.factor_type.value for factor in await ops.list_factors(ADA_ID)}
            assert kinds == {"push", "token:software:totp", "sms"}
            with pytest.raises(Refused, match=r"E0000007 Not found: Resource not found: nobody \(User\)"):
                await ops.get_user("nobody")

    asyncio.run(read())
    assert len(org.entries(route="token.create")) == 1, "the SDK keeps its token"


def test_the_sdk_creates_a_user_who_then_signs_in(org):
    async def create():
        async with desk(org) as ops:
            dora = await ops.create_user(new_user("Dora", "not-a-secret-4"))
            assert (dora.status.value, dora.activated is not None) == ("ACTIVE", True)
            with pytest.raises(Refused, match="E0000001 Api validation failed: login"):
                await ops.create_user(new_user("Dora", "not-a-secret-4"))
            assert (await ops.create_user(new_user("Elli"))).status.value == "PROVISIONED"
            assert (await ops.create_user(new_user("Fritz"), activate=False)).status.value == "STAGED"
            return dora.id

    dora = asyncio.run(create())
    tokens = signed_in(org, login_hint="dora@example.test")
    assert jwt.decode(tokens.id, options={"verify_signature": False})["sub"] == dora
    assert asks_for(org, "elli@example.test")["error"] == "access_denied"


def test_a_suspended_user_is_locked_out_until_the_suspension_ends(org):
    tokens = signed_in(org)

    def renew() -> requests.Response:
        return requests.post(org.endpoint("token"), {
            "grant_type": "refresh_token", "refresh_token": tokens.refresh, "client_id": NATIVE.id})

    async def suspend():
        async with desk(org) as ops:
            await ops.suspend_user(ADA_ID)
            assert (await ops.get_user(ADA_ID)).status.value == "SUSPENDED"
            assert renew().json()["error"] == "invalid_grant"
            with pytest.raises(Refused, match="E0000001 Api validation failed: status"):
                await ops.suspend_user(ADA_ID)
            await ops.unsuspend_user(ADA_ID)

    asyncio.run(suspend())
    assert renew().status_code == 200
    assert org.entries(route="user.lifecycle", refused="true")[0]["failure"] == "user-status"


def test_a_deactivated_user_loses_all_tokens(org):
    tokens = signed_in(org)

    async def deactivate():
        async with desk(org) as ops:
            await ops.deactivate_user(ADA_ID)
            return (await ops.get_user(ADA_ID)).status.value

    assert asyncio.run(deactivate()) == "DEPROVISIONED"
    asked = requests.post(org.endpoint("introspect"), {"token": tokens.access, "client_id": NATIVE.id})
    assert asked.json() == {"active": False}


def test_the_sdk_ends_sessions_and_tokens(org):
    tokens = signed_in(org)

    async def end():
        async with desk(org) as ops:
            await ops.revoke_user_sessions(ADA_ID, oauth_tokens=True)

    asyncio.run(end())
    asked = requests.post(org.endpoint("introspect"), {"token": tokens.refresh, "client_id": NATIVE.id})
    assert asked.json() == {"active": False}
    assert org.last("user.sessions")["status"] == 204


def test_an_expired_password_signs_nobody_in(org):
    async def expire():
        async with desk(org) as ops:
            assert (await ops.expire_password(ADA_ID)).status.value == "PASSWORD_EXPIRED"
            # Without a mail the answer has the address that the mail would have.
            assert "/reset_password/" in (await ops.reset_password(ADA_ID, send_email=False)).reset_password_url
            return (await ops.get_user(ADA_ID)).status.value

    assert asyncio.run(expire()) == "RECOVERY"
    assert asks_for(org, ADA)["error"] == "access_denied"


def test_a_scope_that_was_not_asked_for_is_missing_later(org):
    async def overreach():
        async with desk(org, "okta.users.read") as ops:
            await ops.get_user(ADA_ID)
            with pytest.raises(Refused, match="E0000006 You do not have permission to perform the requested action"):
                await ops.suspend_user(ADA_ID)

    asyncio.run(overreach())
    assert org.last("user.lifecycle")["failure"] == "access-denied-api"


def test_a_scope_that_was_not_granted_is_not_given(org):
    async def overreach():
        async with desk(org, "okta.apps.manage") as ops:
            with pytest.raises(Refused, match="You are not allowed any of the requested scopes."):
                await ops.get_user(ADA_ID)

    asyncio.run(overreach())
    assert org.last("token.create")["failure"] == "org-scopes"


def test_the_sdk_also_signs_in_by_api_token(org):
    """It sends `SSWS00…`, without the blank that Okta documents, and is Okta's own."""
    async def read(token: str):
        async with desk(org, authorizationMode="SSWS", token=token) as ops:
            return (await ops.get_user(ADA_ID)).profile.login

    assert asyncio.run(read(API_TOKEN)) == ADA
    with pytest.raises(Refused, match="E0000011 Invalid token provided"):
        asyncio.run(read("00another-token"))


def test_the_sdk_gives_up_at_the_rate_limit_if_it_may_not_wait(org):
    org.control("PUT", "settings", {"switches": {"okta.rate-limit": "enforce", "okta.rate-limit-quota": "2"}})

    async def hurry():
        async with desk(org) as ops:
            for user in (ADA_ID, CLEO_ID):
                await ops.get_user(user)
            with pytest.raises(Refused, match="E0000047"):
                await ops.get_user(ADA)

    asyncio.run(hurry())
    assert ["X-Rate-Limit-Remaining", "0"] in org.last("user.get")["response"]["headers"]


# The SDK with DPoP


@pytest.fixture
def short_keys(monkeypatch):
    """The SDK makes keys of 3,072 bits, each of which takes seconds."""
    monkeypatch.setattr("okta.dpop.RSA_KEY_SIZE_BITS", 2048)


def test_the_sdk_binds_its_token_and_proves_each_call(org, short_keys):
    org.switch("okta.dpop-optional", "bind")

    async def read():
        async with desk(org, dpopEnabled=True) as ops:
            assert (await ops.get_user(ADA_ID)).profile.login == ADA
            assert len(await ops.list_users(limit=2)) == 2
            await ops.suspend_user(ADA_ID)

    asyncio.run(read())
    first, second = org.entries(route="token.create")
    assert (first["failure"], second["failure"]) == ("dpop-nonce", None)
    assert second["response"]["body"]["token_type"] == "DPoP"
    assert org.entries(refused="true") == [first]


def test_the_sdk_proves_a_call_whose_path_it_has_escaped(org, short_keys):
    """The SDK proves `/users/ada%40example.test`, and aiohttp sends `/users/ada@example.test`: the same address."""
    org.switch("okta.dpop-optional", "bind")

    async def read():
        async with desk(org, dpopEnabled=True) as ops:
            return (await ops.get_user(ADA)).id

    assert asyncio.run(read()) == ADA_ID


def test_the_sdk_takes_bearer_where_the_app_is_not_bound(org, short_keys):
    async def read():
        async with desk(org, dpopEnabled=True) as ops:
            return (await ops.get_user(ADA_ID)).profile.login

    assert asyncio.run(read()) == ADA
    assert [entry["failure"] for entry in org.entries(route="token.create")] == [None]


# Second factors


def send_code(org: Org, factor: str, call: str, code: str) -> requests.Response:
    """Sends a code as Okta documents it; the models of the SDK leave `passCode` out of the body."""
    return requests.post(
        f"{org.base}/api/v1/users/{CLEO_ID}/factors/{factor}/{call}", json={"passCode": code},
        headers={"authorization": f"SSWS {API_TOKEN}"})


def wrong(code: str) -> str:
    return f"{(int(code) + 500_000) % 1_000_000:06}"


def test_a_factor_is_enrolled_with_the_codes_of_pyotp(org):
    from okta.models import UserFactorTokenSoftwareTOTP

    async def enroll():
        async with desk(org) as ops:
            return await ops.enroll_factor(CLEO_ID, UserFactorTokenSoftwareTOTP(
                factor_type="token:software:totp", provider="OKTA"))

    assert asks_for(org, CLEO, acr_values="urn:okta:loa:2fa:any")["error"] == "unmet_authentication_requirements"
    made = asyncio.run(enroll())
    assert made.status.value == "PENDING_ACTIVATION"
    code = pyotp.TOTP(made.embedded["activation"]["sharedSecret"]).now()
    refused = send_code(org, made.id, "lifecycle/activate", wrong(code))
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "E0000068")
    assert send_code(org, made.id, "lifecycle/activate", code).json()["status"] == "ACTIVE"
    context = AuthorizationCodeContext(acr_values=["urn:okta:loa:2fa:any"], login_hint=CLEO)
    _, token = asyncio.run(okta_client_sign_in(org, context))
    assert (token.id_token.subject, token.id_token.claims["acr"]) == (CLEO_ID, "urn:okta:loa:2fa:any")


def test_the_sdk_sends_a_push_and_waits_for_its_answer(org):
    async def push():
        async with desk(org) as ops:
            sent = await ops.verify_factor(ADA_ID, PUSH)
            assert sent.factor_result.value == "WAITING"
            transaction = sent.links.poll.href.rpartition("/")[2]
            assert (await ops.get_factor_transaction_status(ADA_ID, PUSH, transaction)) is not None
            org.act("answer-push", user=ADA, result="APPROVE")
            return await ops.get_factor_transaction_status(ADA_ID, PUSH, transaction)

    assert asyncio.run(push()).factor_result == "SUCCESS"


@pytest.fixture
def secret(org) -> str:
    """The secret of a factor that Cleo has from now on; pyotp takes none under 112 bits, as RFC 4226 asks."""
    made = pyotp.random_base32()
    org.act("enroll-factor", user=CLEO, type="token:software:totp", secret=made)
    return made


def direct(org: Org, **form: str) -> requests.Response:
    return requests.post(org.endpoint("token"), {"client_id": DIRECT.id, **form})


def begin(org: Org, user: str, password: str) -> str:
    answer = direct(
        org, grant_type="password", username=user, password=password, scope="openid",
        grant_types_supported=f"password {MFA_OTP} {MFA_OOB}")
    assert (answer.status_code, answer.json()["error"]) == (403, "mfa_required")
    return answer.json()["mfa_token"]


def test_a_code_of_pyotp_serves_once(org, secret):
    factor = org.control("GET", "state/okta")["factors"][-1]["id"]
    code = pyotp.TOTP(secret).now()
    assert send_code(org, factor, "verify", wrong(code)).json()["errorCode"] == "E0000068"
    assert send_code(org, factor, "verify", code).json() == {"factorResult": "SUCCESS"}
    refused = send_code(org, factor, "verify", code)
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "E0000082")
    assert org.entries(refused="true", last=1)[0]["failure"] == "factor-code-used"


@pytest.mark.parametrize("steps, accepted", [(0, True), (-1, True), (-2, False), (2, False)])
def test_a_code_counts_in_its_step_and_the_ones_beside_it(org, secret, steps, accepted):
    # No library looks at the clock here, and so no step ends in the middle of the test.
    now = int(time.time())
    org.set_clock(now=now, freeze=True)
    token = begin(org, CLEO, CLEO_PASSWORD)
    code = pyotp.TOTP(secret).at(now + 30 * steps)
    answer = direct(org, grant_type=MFA_OTP, mfa_token=token, otp=code)
    if accepted:
        assert answer.status_code == 200
        claims = jwt.decode(answer.json()["id_token"], options={"verify_signature": False})
        assert claims["amr"] == ["mfa", "otp", "pwd"] and "nonce" not in claims
    else:
        assert answer.json()["error_description"] == (
            "The 'otp' provided is either empty or incorrect. Use the correct OTP and try again.")
        assert org.last("token.create")["failure"] == "direct-otp-wrong"


def test_a_push_is_waited_for(org):
    token = begin(org, ADA, ADA_PASSWORD)
    challenge = requests.post(org.endpoint("challenge"), {
        "client_id": DIRECT.id, "mfa_token": token, "channel_hint": "push",
        "challenge_types_supported": MFA_OOB}).json()
    assert challenge["interval"] == 5

    def poll() -> requests.Response:
        return direct(org, grant_type=MFA_OOB, mfa_token=token, oob_code=challenge["oob_code"])

    assert poll().json()["error"] == "authorization_pending"
    org.act("answer-push", user=ADA, result="APPROVE")
    claims = jwt.decode(poll().json()["id_token"], options={"verify_signature": False})
    assert claims["amr"] == ["mfa", "pwd", "swk"]
