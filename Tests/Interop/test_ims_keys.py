"""IMS verifies tokens signed by others, with keys that others publish: correctly, incorrectly, and not at all."""

import asyncio
import base64
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import jwt
import pytest
import requests
from certificates import Certified, certify, openssl
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import RSAAlgorithm
from keyserver import KeyServer
from signers import base64url
from world import NOW

OPERATOR = {"x-ims-operator-key": "ims-operator-test-key"}
USER = "EMP-0001"


@dataclass
class Key:
    """A key pair for one test run."""

    name: str
    private: rsa.RSAPrivateKey

    @property
    def private_pem(self) -> bytes:
        return self.private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    @property
    def public_pem(self) -> str:
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def jwk(self) -> dict:
        members = json.loads(RSAAlgorithm.to_jwk(self.private.public_key()))
        members.pop("key_ops", None)
        return {**members, "kid": self.name, "use": "sig", "alg": "RS256"}


def make(name: str) -> Key:
    return Key(name, rsa.generate_private_key(public_exponent=65537, key_size=2048))


@pytest.fixture(scope="module")
def keys():
    return [make("first"), make("second")]


@pytest.fixture(scope="module")
def key_server(tmp_path_factory):
    server = KeyServer(tmp_path_factory.mktemp("keys"))
    yield server
    server.stop()


def claims(issuer: str, **changes) -> dict:
    return {"iss": issuer, "sub": USER, "iat": NOW, "exp": NOW + 600, **changes}


def by_pyjwt(key: Key, payload: dict, kid: str | None = None, **header) -> str:
    headers = {"kid": kid} if kid else {}
    return jwt.encode(payload, key.private_pem, algorithm="RS256", headers={**headers, **header})


def by_openssl(key: Key, payload: dict, kid: str | None = None, **header) -> str:
    """Signs with the openssl command; everything else is done here."""
    head = {"alg": "RS256", "typ": "JWT", **({"kid": kid} if kid else {}), **header}
    signed = ".".join(base64url(json.dumps(part).encode()) for part in (head, payload))
    file = Path(f"/tmp/understudy-test-{key.name}-{id(key)}.pem")
    file.write_bytes(key.private_pem)
    try:
        command = ["openssl", "dgst", "-sha256", "-sign", file, "-binary"]
        signature = subprocess.run(command, input=signed.encode(), check=True, capture_output=True).stdout
    finally:
        file.unlink()
    return f"{signed}.{base64url(signature)}"


SIGNERS = [by_pyjwt, by_openssl]


class Issuer:
    """An issuer that was onboarded in a sandbox."""

    def __init__(self, sandbox, keys: dict, iss: str = "https://issuer.example.test/interop", **members):
        self.sandbox, self.iss = sandbox, iss
        self.sandbox.set_clock(now=NOW, freeze=True)
        body = {"name": "interop", "issuer": iss, "tenant": "demo", "keys": keys, **members}
        answer = requests.post(f"{sandbox.url}/ims/v1/issuers", json=body, headers=OPERATOR)
        assert answer.status_code == 201, answer.text
        self.answer = answer.json()

    def me(self, token: str) -> requests.Response:
        return requests.get(f"{self.sandbox.url}/ims/v1/me", headers={"authorization": f"Bearer {token}"})

    def accepts(self, token: str) -> bool:
        answer = self.me(token)
        assert answer.status_code in (200, 401, 503), answer.text
        return answer.status_code == 200

    def refusal(self, token: str) -> tuple:
        """Status and code of the answer; the journal's failure must equal the code."""
        answer = self.me(token)
        code = answer.json()["error"]["code"]
        assert self.sandbox.last_entry()["failure"] == code
        return answer.status_code, code

    def finding(self, check: str) -> dict:
        """A check's result in the last exchange."""
        return next(entry for entry in self.sandbox.last_entry()["findings"] if entry["check"] == check)

    @property
    def fetches(self) -> int:
        listed = self.sandbox.control("GET", "keys")["fetched"]
        return next(entry["fetches"] for entry in listed if entry["issuer"] == "interop")


def certificate(folder: Path, key: Key) -> str:
    """A certificate of the key, made with openssl."""
    file = folder / f"{key.name}.key"
    file.write_bytes(key.private_pem)
    return openssl("req", "-x509", "-key", file, "-subj", f"/CN=Understudy test {key.name}", "-days", "3650")


# Keys given directly


@pytest.mark.parametrize("sign", SIGNERS, ids=lambda sign: sign.__name__)
@pytest.mark.parametrize("source", ["pem-public-key", "pem-certificate", "jwks", "cert-map", "pkcs1"])
def test_what_others_sign_holds_by_every_kind_of_key_that_can_be_handed_over(sandbox, keys, tmp_path, sign, source):
    key, other = keys
    pkcs1 = key.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.PKCS1).decode()
    sources = {
        "pem-public-key": lambda: {"type": "pem-public-key", "pem": key.public_pem},
        "pkcs1": lambda: {"type": "pem-public-key", "pem": pkcs1},
        "pem-certificate": lambda: {"type": "pem-certificate", "pem": certificate(tmp_path, key)},
        "jwks": lambda: {"type": "jwks", "jwks": {"keys": [other.jwk, key.jwk]}},
        "cert-map": lambda: {"type": "cert-map", "certs": {key.name: certificate(tmp_path, key)}},
    }
    issuer = Issuer(sandbox, sources[source]())
    assert issuer.accepts(sign(key, claims(issuer.iss), key.name))
    assert issuer.refusal(sign(other, claims(issuer.iss), key.name)) == (401, "signature-invalid")


def test_other_algorithms_are_refused_whatever_their_signature(sandbox, keys):
    key = keys[0]
    curve = ec.generate_private_key(ec.SECP256R1())
    issuer = Issuer(sandbox, {"type": "pem-public-key", "pem": key.public_pem})
    payload = claims(issuer.iss)
    for algorithm in ["RS384", "RS512", "PS256"]:
        assert issuer.refusal(jwt.encode(payload, key.private_pem, algorithm=algorithm)) == (401, "alg-not-allowed")
    assert issuer.refusal(jwt.encode(payload, curve, algorithm="ES256")) == (401, "alg-not-allowed")
    assert issuer.refusal(jwt.encode(payload, None, algorithm="none")) == (401, "alg-not-allowed")
    # PyJWT refuses a PEM text as a secret, so the attack is built by hand.
    head = base64url(json.dumps({"alg": "HS256", "typ": "JWT"}).encode())
    signed = f"{head}.{base64url(json.dumps(payload).encode())}"
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key.public_pem.encode().hex()}", "-binary"]
    code = subprocess.run(command, input=signed.encode(), check=True, capture_output=True).stdout
    assert issuer.refusal(f"{signed}.{base64url(code)}") == (401, "alg-not-allowed")


def test_a_type_that_is_absent_or_another_is_refused(sandbox, keys):
    issuer = Issuer(sandbox, {"type": "pem-public-key", "pem": keys[0].public_pem})
    assert issuer.accepts(by_pyjwt(keys[0], claims(issuer.iss), typ="jwt"))
    assert issuer.refusal(by_pyjwt(keys[0], claims(issuer.iss), typ="at+jwt")) == (401, "typ-not-allowed")
    assert issuer.refusal(by_pyjwt(keys[0], claims(issuer.iss), typ=None)) == (401, "typ-not-allowed")


# Fetched keys


def publish(key_server, sandbox, keys: list, **options) -> str:
    path = f"/{sandbox.url.rsplit('~')[-1]}/jwks.json"
    return key_server.publish(path, {"keys": [key.jwk for key in keys]}, **options)


@pytest.mark.parametrize("sign", SIGNERS, ids=lambda sign: sign.__name__)
def test_a_published_set_is_fetched_once_and_again_when_its_lifetime_is_over(sandbox, keys, key_server, sign):
    url = publish(key_server, sandbox, keys[:1], Cache_Control="public, max-age=120")
    path = url.removeprefix(key_server.url)
    issuer = Issuer(sandbox, {"type": "jwks-url", "url": url})
    assert issuer.answer["keys"]["kids"] == ["first"]
    token = sign(keys[0], claims(issuer.iss), "first")
    assert all(issuer.accepts(token) for _ in range(3))
    assert (key_server.count(path), issuer.fetches) == (1, 1)
    sandbox.set_clock(advance="120s")
    assert issuer.accepts(token)
    assert (key_server.count(path), issuer.fetches) == (2, 2)
    found = issuer.finding("keys-fetched")
    assert (found["outcome"], found["found"]) == ("passed", "200, 1 key: first")
    assert url in found["expected"]


def test_a_rotation_is_noticed_by_the_unknown_name_and_not_before_the_cool_down(sandbox, keys, key_server):
    old, new = keys
    url = publish(key_server, sandbox, [old])
    path = url.removeprefix(key_server.url)
    issuer = Issuer(sandbox, {"type": "jwks-url", "url": url})
    publish(key_server, sandbox, [new, old])
    token = by_pyjwt(new, claims(issuer.iss), "second")
    assert issuer.refusal(token) == (401, "kid-unknown")
    assert key_server.count(path) == 1
    sandbox.set_clock(advance="30s")
    assert issuer.accepts(token)
    assert issuer.accepts(by_pyjwt(old, claims(issuer.iss), "first"))
    assert key_server.count(path) == 2


def test_new_material_under_an_old_name_stays_refused_until_the_lifetime_is_over(sandbox, keys, key_server):
    old, new = keys
    url = publish(key_server, sandbox, [old], Cache_Control="max-age=300")
    issuer = Issuer(sandbox, {"type": "jwks-url", "url": url})
    key_server.publish(url.removeprefix(key_server.url), {"keys": [{**new.jwk, "kid": "first"}]})
    token = by_pyjwt(new, claims(issuer.iss), "first")
    sandbox.set_clock(advance="60s")
    assert issuer.refusal(token) == (401, "signature-invalid")
    assert issuer.fetches == 1
    sandbox.set_clock(advance="240s")
    assert issuer.accepts(token)


BAD = {
    "stall": "the answer was not complete within 5 s",
    "promise-more": "the connection ended before the answer was complete.",
    "promise-less": "the content is not JSON: ",
    "redirect": "status 302 is a redirect; redirects are not followed",
    "fail": "status 500; expected 200",
    "page": "the content is not JSON: ",
    "large": "the answer has more than 262144 bytes",
    "endless": "the answer has more than 262144 bytes",
}


@pytest.mark.parametrize("mode", BAD)
def test_each_way_of_failing_has_its_own_reason_and_the_old_keys_stay_usable(sandbox, keys, key_server, mode):
    url = publish(key_server, sandbox, keys[:1])
    path = url.removeprefix(key_server.url)
    target = publish(key_server, sandbox, keys[:1]) + "?target"
    issuer = Issuer(sandbox, {"type": "jwks-url", "url": url})
    publish(key_server, sandbox, keys[:1], mode=mode, Location=target)
    sandbox.set_clock(advance="600s")
    token = by_pyjwt(keys[0], claims(issuer.iss, exp=NOW + 100_000), "first")
    assert issuer.accepts(token)
    found = issuer.finding("keys-fetched")
    assert found["outcome"] == "noted"
    assert found["found"].startswith(BAD[mode]), found
    assert key_server.count(path + "?target") == 0
    # During the cool-down nothing is fetched; a day later the old keys are too old.
    assert issuer.accepts(token)
    assert (key_server.count(path), issuer.fetches) == (2, 2)
    sandbox.set_clock(advance="86400s")
    answer = issuer.me(token)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "keys-unavailable")
    assert answer.headers["retry-after"] == "30"
    publish(key_server, sandbox, keys[:1])
    sandbox.set_clock(advance="30s")
    assert issuer.accepts(token)


SECRET = "key-skipped: key 0: a shared secret (oct); expected a public key"


@pytest.mark.parametrize("body, skipped", [
    ([], []), ({"keys": []}, []), ({"keys": {}}, []), ({"kid": "x"}, []), ({"keys": [{"kty": "oct", "k": "AAAA"}]}, [SECRET])])
def test_a_set_of_another_form_or_without_a_usable_key_is_none(sandbox, keys, key_server, body, skipped):
    path = f"/{sandbox.url.rsplit('~')[-1]}/jwks.json"
    issuer = Issuer(sandbox, {"type": "jwks-url", "url": key_server.publish(path, body)})
    assert issuer.answer["warnings"] == ["jwks-unreachable", *skipped]
    assert issuer.refusal(by_pyjwt(keys[0], claims(issuer.iss), "first")) == (503, "keys-unavailable")


def test_what_cannot_be_used_in_a_set_is_left_out_and_told(sandbox, keys, key_server):
    encryption = {**keys[1].jwk, "kid": "enc", "use": "enc"}
    secret = {"kty": "oct", "kid": "secret", "k": base64.urlsafe_b64encode(b"x" * 32).decode().rstrip("=")}
    small = json.loads(RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 1024).public_key()))
    path = f"/{sandbox.url.rsplit('~')[-1]}/jwks.json"
    body = {"keys": [encryption, secret, {**small, "kid": "small"}, {**keys[0].jwk, "n": "AA" + keys[0].jwk["n"]}, keys[1].jwk]}
    url = key_server.publish(path, body)
    issuer = Issuer(sandbox, {"type": "jwks-url", "url": url})
    assert "second" in issuer.answer["keys"]["kids"]
    sandbox.set_clock(advance="600s")
    assert issuer.accepts(by_openssl(keys[1], claims(issuer.iss, exp=NOW + 6000), "second"))
    assert "enc" in issuer.finding("keys-fetched")["note"]
    assert issuer.refusal(by_openssl(keys[1], claims(issuer.iss, exp=NOW + 6000), "enc"))[0] == 401


def test_two_thousand_requests_with_an_unknown_name_cause_one_fetch(sandbox, keys, key_server):
    url = publish(key_server, sandbox, keys[:1])
    path = url.removeprefix(key_server.url)
    issuer = Issuer(sandbox, {"type": "jwks-url", "url": url})
    sandbox.set_clock(advance="30s")
    tokens = [by_pyjwt(keys[0], claims(issuer.iss, jti=str(number)), "unknown") for number in range(20)]

    async def ask(session, token):
        async with session.get(f"{sandbox.url}/ims/v1/me", headers={"authorization": f"Bearer {token}"}) as answer:
            return answer.status, (await answer.json())["error"]["code"]

    async def storm():
        connector = aiohttp.TCPConnector(limit=500)
        async with aiohttp.ClientSession(connector=connector) as session:
            return await asyncio.gather(*(ask(session, tokens[number % 20]) for number in range(2000)))

    assert set(asyncio.run(storm())) == {(401, "kid-unknown")}
    assert (key_server.count(path), issuer.fetches) == (2, 2)


def test_a_stalling_issuer_holds_up_nobody_else(sandbox, keys, key_server, server):
    url = publish(key_server, sandbox, keys[:1], mode="stall")
    issuer = Issuer(sandbox, {"type": "pem-public-key", "pem": keys[0].public_pem})
    threads = server.thread_count

    async def storm():
        async with aiohttp.ClientSession() as session:
            body = {"name": "stalling", "issuer": "https://stalling.example.test", "tenant": "demo",
                    "keys": {"type": "jwks-url", "url": url}}
            slow = asyncio.create_task(session.post(f"{sandbox.url}/ims/v1/issuers", json=body, headers=OPERATOR))
            await asyncio.sleep(0.2)
            token = by_pyjwt(keys[0], claims(issuer.iss))
            for _ in range(50):
                headers = {"authorization": f"Bearer {token}"}
                async with session.get(f"{sandbox.url}/ims/v1/me", headers=headers) as answer:
                    assert answer.status == 200
            assert not slow.done()
            assert server.thread_count <= threads + 8
            async with await slow as answer:
                return answer.status, await answer.json()

    status, answer = asyncio.run(storm())
    assert (status, answer["warnings"]) == (201, ["jwks-unreachable"])


def test_many_stalling_issuers_hold_up_nobody_else(sandbox, keys, key_server, server):
    stalling = publish(key_server, sandbox, keys[:1], mode="stall")
    path = stalling.removeprefix(key_server.url)
    healthy = key_server.publish(path + "?healthy", {"keys": [keys[0].jwk]})
    sandbox.set_clock(now=NOW, freeze=True)
    threads = server.thread_count

    async def onboard(session, name, url):
        body = {"name": name, "issuer": f"https://{name}.example.test", "tenant": "demo", "keys": {"type": "jwks-url", "url": url}}
        async with session.post(f"{sandbox.url}/ims/v1/issuers", json=body, headers=OPERATOR) as answer:
            return answer.status, await answer.json()

    async def storm():
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            slow = [asyncio.create_task(onboard(session, f"stalling-{number}", stalling)) for number in range(60)]
            while await asyncio.to_thread(key_server.count, path) < 40:
                await asyncio.sleep(0)
            status, answer = await onboard(session, "healthy", healthy)
            # The last issuer got its answer in time while others hang. At most 64 threads fetch; those of the pool begin
            # when they are first needed, maybe here.
            assert (status, answer["warnings"]) == (201, [])
            assert not all(task.done() for task in slow)
            assert server.thread_count <= threads + 64 + 8
            return await asyncio.gather(*slow)

    assert {(status, *answer["warnings"]) for status, answer in asyncio.run(storm())} == {(201, "jwks-unreachable")}
    listed = sandbox.control("GET", "keys")["fetched"]
    problems = {entry["problem"] for entry in listed if entry["issuer"].startswith("stalling-")}
    assert problems == {"the answer was not complete within 5 s"}


def test_a_set_over_https_is_believed_by_our_own_authority_and_no_other(sandbox, server, keys, tmp_path_factory):
    folder = tmp_path_factory.mktemp("secure")
    authority = Certified(server.authority, server.authority.with_name("understudy-ca-key.pem"))
    trusted = certify(folder, "trusted", issuer=authority)
    stranger = certify(folder, "stranger")
    # A self-signed certificate is its own authority.
    for identity, signer, is_believed in [(trusted, authority, True), (stranger, stranger, False)]:
        place = folder / f"served-{is_believed}"
        place.mkdir()
        key_server = KeyServer(place, identity, signer.certificate)
        try:
            url = key_server.publish("/jwks.json", {"keys": [keys[0].jwk]})
            sandbox.control("POST", "reset")
            issuer = Issuer(sandbox, {"type": "jwks-url", "url": url})
            assert issuer.accepts(by_pyjwt(keys[0], claims(issuer.iss), "first")) == is_believed
        finally:
            key_server.stop()


@pytest.mark.parametrize("url", [
    "http://example.com/jwks.json", "https://example.com/jwks.json", "ftp://127.0.0.1/jwks.json", "file:///etc/passwd",
    "http://127.0.0.1@example.com/", "http://10.0.0.1/jwks.json", "http://169.254.169.254/latest/meta-data"])
def test_urls_outside_the_allow_list_are_refused(sandbox, url):
    body = {"name": "far", "issuer": "https://far.example.test", "tenant": "demo", "keys": {"type": "jwks-url", "url": url}}
    answer = requests.post(f"{sandbox.url}/ims/v1/issuers", json=body, headers=OPERATOR)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "jwks-url-not-allowed")


def test_places_that_a_token_names_are_never_asked(sandbox, keys, key_server):
    url = publish(key_server, sandbox, keys)
    issuer = Issuer(sandbox, {"type": "pem-public-key", "pem": keys[0].public_pem})
    token = by_pyjwt(keys[1], claims(issuer.iss), jku=url, x5u=url, jwk=keys[1].jwk)
    assert issuer.refusal(token) == (401, "signature-invalid")
    assert key_server.count(url.removeprefix(key_server.url)) == 0


# Third-party issuers


def test_an_issuer_of_firebases_shape(sandbox, keys, key_server, tmp_path):
    first, second = keys
    path = f"/{sandbox.url.rsplit('~')[-1]}/certs"
    certificates = {key.name: certificate(tmp_path, key) for key in keys}
    url = key_server.publish(path, {"first": certificates["first"]}, Cache_Control="public, max-age=21600, must-revalidate")
    iss = "https://securetoken.google.com/understudy-interop"
    issuer = Issuer(sandbox, {"type": "cert-map-url", "url": url}, iss, preset="firebase")

    def token(key, **changes):
        payload = {
            "auth_time": NOW, "user_id": USER, "firebase": {"sign_in_provider": "password", "identities": {}},
            "aud": "understudy-interop", **changes}
        return by_pyjwt(key, claims(iss, **payload), key.name)

    assert issuer.accepts(token(first))
    assert issuer.refusal(token(first, aud="another")) == (401, "audience-mismatch")
    assert issuer.refusal(by_pyjwt(first, claims(iss, aud="understudy-interop"))) == (401, "kid-required")
    key_server.publish(path, certificates)
    sandbox.set_clock(advance="31s")
    assert issuer.accepts(token(second))
    unsigned = jwt.encode(claims(iss, aud="understudy-interop"), None, algorithm="none")
    assert issuer.refusal(unsigned) == (401, "alg-not-allowed")


def test_an_issuer_of_cognitos_shape(sandbox, keys, key_server):
    path = f"/{sandbox.url.rsplit('~')[-1]}/.well-known/jwks.json"
    url = key_server.publish(path, {"keys": [key.jwk for key in keys]})
    iss = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Interop01"
    issuer = Issuer(sandbox, {"type": "jwks-url", "url": url}, iss, preset="cognito", audience="client-1")
    payload = claims(iss, aud="client-1", token_use="id", **{"cognito:username": USER})
    # Such tokens carry no typ.
    assert issuer.accepts(by_pyjwt(keys[0], payload, "first", typ=None))
    access = {**claims(iss), "client_id": "client-1", "token_use": "access"}
    assert issuer.refusal(by_pyjwt(keys[0], access, "first", typ=None))[1] in {"audience-mismatch", "token-use-mismatch"}
    assert issuer.refusal(by_pyjwt(keys[0], payload, typ=None)) == (401, "kid-required")
