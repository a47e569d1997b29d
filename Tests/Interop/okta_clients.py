"""Other people's clients, each of which signs Ada in at the emulated Okta and checks what it is given.

Each function runs one code flow at the server `default` as the library's documentation shows it, and raises the
library's own error if the library does not trust the answer. Apps find the server by discovery.
"""

import asyncio
import uuid
from dataclasses import dataclass

import jose.jwt
import jwt
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from idpyoidc.client.oauth2.stand_alone_client import StandAloneClient
from joserfc import jwt as joserfc_jwt
from joserfc.jwk import KeySet
from oic.oic import Client as OicClient
from oic.oic.message import AuthorizationResponse, RegistrationResponse
from oic.utils.authn.client import CLIENT_AUTHN_METHOD
from okta_client.authfoundation import ClientIdAuthorization, OAuth2ClientConfiguration
from okta_client.authfoundation import OAuth2Client as OktaClient
from okta_client.oauth2auth import AuthorizationCodeContext, AuthorizationCodeFlow
from okta_jwt_verifier import AccessTokenVerifier, IDTokenVerifier
from okta_world import AUDIENCE, NATIVE, WEB, Org, Registration, parameters
from requests_oauth2client import OAuth2Client, PublicApp

SCOPE = "openid profile email offline_access"


@dataclass
class Tokens:
    """What a sign-in gave, and the nonce that the app had chosen."""

    access: str
    id: str
    refresh: str
    nonce: str


def signed_in(org: Org, app: Registration = NATIVE, scope: str = SCOPE, **extra: str) -> Tokens:
    """The tokens of a code flow with PKCE, unchecked; further parameters go to `authorize`."""
    session = OAuth2Session(
        app.id, app.secret, scope=scope, redirect_uri=app.redirect, code_challenge_method="S256",
        token_endpoint_auth_method="client_secret_basic" if app.secret else "none")
    verifier, nonce = generate_token(48), generate_token(20)
    url, state = session.create_authorization_url(
        org.discovery["authorization_endpoint"], code_verifier=verifier, nonce=nonce, **extra)
    given = session.fetch_token(
        org.discovery["token_endpoint"], authorization_response=org.follow(url), state=state, code_verifier=verifier)
    return Tokens(given["access_token"], given.get("id_token"), given.get("refresh_token"), nonce)


# Libraries that verify tokens


def okta_jwt_verifier(org: Org) -> None:
    """Okta's own verifier for backends, on both tokens."""
    tokens = signed_in(org)
    IDTokenVerifier(org.issuer, NATIVE.id, AUDIENCE).verify_sync(tokens.id, nonce=tokens.nonce)
    AccessTokenVerifier(org.issuer, AUDIENCE).verify_sync(tokens.access)


def pyjwt(org: Org) -> None:
    """PyJWT with its key client; it checks neither nonce nor at_hash."""
    tokens = signed_in(org)
    key = jwt.PyJWKClient(org.discovery["jwks_uri"]).get_signing_key_from_jwt(tokens.id)
    jwt.decode(tokens.id, key, algorithms=["RS256"], audience=NATIVE.id, issuer=org.issuer)


def python_jose(org: Org) -> None:
    """python-jose, which checks at_hash, and not the nonce."""
    tokens = signed_in(org)
    jose.jwt.decode(
        tokens.id, org.keys, algorithms="RS256", audience=NATIVE.id, issuer=org.issuer, access_token=tokens.access)


def joserfc(org: Org) -> None:
    """joserfc with the claims that an app must ask for."""
    tokens = signed_in(org)
    token = joserfc_jwt.decode(tokens.id, KeySet.import_key_set(org.keys), algorithms=["RS256"])
    joserfc_jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": org.issuer}, aud={"essential": True, "value": NATIVE.id},
        nonce={"essential": True, "value": tokens.nonce}, sub={"essential": True}, exp={"essential": True},
    ).validate(token.claims)


def authlib(org: Org) -> None:
    """Authlib's rules for ID tokens, as its framework integrations apply them."""
    tokens = signed_in(org)
    token = joserfc_jwt.decode(tokens.id, KeySet.import_key_set(org.keys), algorithms=["RS256"])
    CodeIDToken(
        token.claims, token.header, {"iss": {"values": [org.issuer]}, "aud": {"values": [NATIVE.id]}},
        {"nonce": tokens.nonce, "client_id": NATIVE.id, "access_token": tokens.access},
    ).validate(leeway=120)


# Libraries that run the flow themselves


def okta_client_python(org: Org) -> None:
    """Okta's own client; it pushes its request and checks the ID token before it returns."""
    asyncio.run(okta_client_sign_in(org))


async def okta_client_sign_in(org: Org, context: AuthorizationCodeContext | None = None):
    """The client after a sign-in, and its token."""
    client = okta_client(org, NATIVE)
    flow = AuthorizationCodeFlow(client)
    url = await flow.start(context=context)
    return client, await flow.resume(org.follow(url))


def okta_client(org: Org, app: Registration, scope: str = SCOPE, authorization=None, issuer: str | None = None):
    return OktaClient(OAuth2ClientConfiguration(
        issuer=issuer or org.issuer, scope=scope, redirect_uri=app.redirect,
        client_authorization=authorization or ClientIdAuthorization(id=app.id)))


def requests_oauth2client(org: Org) -> None:
    """requests_oauth2client with its checks of the ID token; it wants no ports in addresses but for tests."""
    client = oauth2client(org, NATIVE)
    request = client.authorization_request(scope=SCOPE)
    answer = request.validate_callback(org.follow(request.uri))
    client.authorization_code(answer, validate=True)


def oauth2client(org: Org, app: Registration, auth=None, server: str = "", **options) -> OAuth2Client:
    return OAuth2Client.from_discovery_endpoint(
        issuer=server or org.issuer, auth=auth or PublicApp(app.id), redirect_uri=app.redirect, testing=True, **options)


def idpyoidc(org: Org) -> None:
    """idpyoidc, which also asks userinfo and compares the subject."""
    idpyoidc_sign_in(org, idpyoidc_client(org))


def idpyoidc_client(org: Org, **add_ons: dict) -> StandAloneClient:
    """The client of the web app, which has discovered the server."""
    client = StandAloneClient(config={
        "issuer": org.issuer, "client_id": WEB.id, "client_secret": WEB.secret, "client_type": "oidc",
        "redirect_uris": [WEB.redirect], "response_types_supported": ["code"], "scopes_supported": SCOPE.split(),
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        "client_authn_methods": ["client_secret_basic", "bearer_header"],
        "key_conf": {"key_defs": [{"type": "RSA", "use": ["sig"]}]},
        "id_token_signing_alg_values_supported": ["RS256"],
        "add_ons": {
            "pkce": {"function": "idpyoidc.client.oauth2.add_on.pkce.add_support",
                     "kwargs": {"code_challenge_length": 64, "code_challenge_method": "S256"}}, **add_ons}})
    client.do_provider_info()
    client.do_client_registration()
    return client


def idpyoidc_sign_in(org: Org, client: StandAloneClient) -> dict:
    """What the client says of a sign-in."""
    answer = client.finalize(parameters(org.follow(client.init_authorization())))
    assert "error" not in answer, answer
    return answer


def oic(org: Org) -> None:
    """oic, the strictest of the old ones, as a web app with a secret."""
    oic_sign_in(org)


def oic_sign_in(org: Org):
    """The client after a sign-in, its state and the answer of the token endpoint."""
    client = OicClient(client_authn_method=CLIENT_AUTHN_METHOD)
    client.provider_config(org.issuer)
    client.store_registration_info(RegistrationResponse(
        client_id=WEB.id, client_secret=WEB.secret, redirect_uris=[WEB.redirect], id_token_signed_response_alg="RS256"))
    state, nonce = uuid.uuid4().hex, uuid.uuid4().hex
    request = client.construct_AuthorizationRequest(request_args={
        "client_id": client.client_id, "response_type": "code", "scope": SCOPE.split(), "nonce": nonce,
        "redirect_uri": WEB.redirect, "state": state})
    redirect = org.follow(request.request(client.authorization_endpoint))
    answer = client.parse_response(
        AuthorizationResponse, info=redirect.partition("?")[2], sformat="urlencoded")
    tokens = client.do_access_token_request(
        state=state, request_args={"code": answer["code"], "redirect_uri": WEB.redirect},
        authn_method="client_secret_basic")
    assert "error" not in tokens, tokens
    client.verify_id_token(tokens["id_token"], request)
    return client, state, tokens


VERIFIERS = [okta_jwt_verifier, pyjwt, python_jose, joserfc, authlib]
FLOWS = [okta_client_python, requests_oauth2client, idpyoidc, oic]
