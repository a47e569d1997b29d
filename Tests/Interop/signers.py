"""Three independent ways to sign an HS512 token."""

import base64
import json
import subprocess

import jwt
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT


def pyjwt(header: dict, claims: dict, secret: str) -> str:
    return jwt.encode(claims, secret, algorithm="HS512", headers=header)


def jwcrypto(header: dict, claims: dict, secret: str) -> str:
    key = JWK(kty="oct", k=base64url(secret.encode()))
    token = JWT(header={**header, "alg": "HS512", "typ": "JWT"}, claims=claims)
    token.make_signed_token(key)
    return token.serialize()


def openssl(header: dict, claims: dict, secret: str) -> str:
    """Signs with the openssl command; everything else is done here."""
    parts = [{**header, "alg": "HS512", "typ": "JWT"}, claims]
    signed = ".".join(base64url(json.dumps(part).encode()) for part in parts)
    # The key in hexadecimal: openssl would interpret a colon or a comma in the text.
    command = ["openssl", "dgst", "-sha512", "-mac", "HMAC", "-macopt", f"hexkey:{secret.encode().hex()}", "-binary"]
    signature = subprocess.run(command, input=signed.encode(), check=True, capture_output=True).stdout
    return f"{signed}.{base64url(signature)}"


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


ALL = [pyjwt, jwcrypto, openssl]
