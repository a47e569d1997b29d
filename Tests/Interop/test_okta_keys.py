"""Keys that rotate, vanish and come back, and what client libraries with a cache make of it."""

import asyncio
import re
from collections.abc import Callable

import jwt
import pytest
import requests
from joserfc import jwt as joserfc_jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from okta_clients import idpyoidc_client, idpyoidc_sign_in, okta_client_sign_in, signed_in
from okta_jwt_verifier import AccessTokenVerifier
from okta_jwt_verifier.exceptions import JWTValidationException
from okta_world import AUDIENCE, Org

Verify = Callable[[str], object]

# idpyoidc does not verify certificates of localhost when it fetches keys, and says so each time.
pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS request")


def with_okta_jwt_verifier(org: Org) -> Verify:
    """Okta's verifier, which fetches once more for an unknown kid."""
    return AccessTokenVerifier(org.issuer, AUDIENCE).verify_sync


def with_pyjwt(org: Org) -> Verify:
    """PyJWT's key client, which fetches once more for an unknown kid, by default only every 30 s."""
    keys = jwt.PyJWKClient(org.discovery["jwks_uri"], cooldown_duration=0)

    def verify(token: str) -> dict:
        key = keys.get_signing_key_from_jwt(token)
        return jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, issuer=org.issuer)

    return verify


def with_keys_fetched_once(org: Org) -> Verify:
    """joserfc with a key set that the app fetched at its start, as many apps do."""
    keys = KeySet.import_key_set(org.keys)
    return lambda token: joserfc_jwt.decode(token, keys, algorithms=["RS256"])


CACHES = [with_okta_jwt_verifier, with_pyjwt, with_keys_fetched_once]
REFRESHING = [with_okta_jwt_verifier, with_pyjwt]
# What these libraries raise.
DISTRUST = (JWTValidationException, jwt.PyJWTError, JoseError)


def fetches(org: Org) -> int:
    """How often the keys were fetched."""
    return len(org.entries(route="keys.list"))


def kid(token: str) -> str:
    return jwt.get_unverified_header(token)["kid"]


@pytest.mark.parametrize("cache", CACHES)
def test_an_overlap_costs_no_client_anything(org, cache):
    verify = cache(org)
    old = signed_in(org).access
    verify(old)
    before = fetches(org)
    org.drill("overlap")
    new = signed_in(org).access
    assert kid(new) != kid(old)
    verify(new)
    verify(old)
    assert fetches(org) == before, "the next key had been published before it signed"
    assert len(org.keys["keys"]) == 3


def test_after_many_overlaps_three_keys_are_published(org):
    published = []
    for _ in range(5):
        org.drill("overlap")
        published.append([key["kid"] for key in org.keys["keys"]])
    assert {len(kids) for kids in published} == {3}
    assert published[-1][2] == published[-2][0], "the old key is the last one that signed"


@pytest.mark.parametrize("cache", CACHES)
def test_a_stale_cache_trusts_a_retired_key_and_a_fresh_one_does_not(org, cache):
    verify = cache(org)
    old = signed_in(org).access
    verify(old)
    org.drill("overlap")
    org.drill("retire")
    assert kid(old) not in {key["kid"] for key in org.keys["keys"]}
    verify(old)
    with pytest.raises(DISTRUST, match="(?i)jwk|key|kid"):
        cache(org)(old)
    answer = requests.get(org.endpoint("userinfo"), headers={"authorization": f"Bearer {old}"})
    assert answer.status_code == 401, "the server itself has no cache"


@pytest.mark.parametrize("cache", REFRESHING)
def test_a_replaced_key_costs_one_fetch(org, cache):
    verify = cache(org)
    verify(signed_in(org).access)
    before = fetches(org)
    # Twice, since the first replacement signs with the key that was published as the next one.
    org.drill("replace")
    org.drill("replace")
    new = signed_in(org).access
    verify(new)
    verify(new)
    assert fetches(org) == before + 1


def test_a_key_set_that_is_never_fetched_again_misses_a_replaced_key(org):
    verify = with_keys_fetched_once(org)
    org.drill("replace")
    org.drill("replace")
    with pytest.raises(InvalidKeyIdError):
        verify(signed_in(org).access)


@pytest.mark.parametrize("cache", CACHES)
def test_new_material_under_the_old_kid_locks_a_cache_out(org, cache):
    verify = cache(org)
    old = signed_in(org).access
    verify(old)
    before = fetches(org)
    org.drill("same-kid")
    new = signed_in(org).access
    assert kid(new) == kid(old)
    with pytest.raises(DISTRUST, match="(?i)signature"):
        verify(new)
    assert fetches(org) == before, "nothing makes the cache fetch"
    cache(org)(new)


@pytest.mark.parametrize("cache", CACHES)
def test_a_broken_key_endpoint_hurts_only_who_has_no_keys_yet(org, cache):
    verify = cache(org)
    token = signed_in(org).access
    verify(token)
    org.drill("break")
    verify(token)
    assert requests.get(org.endpoint("keys")).status_code == 500
    # The last of them imports what it fetched, and an error is no key set.
    with pytest.raises((*DISTRUST, KeyError)):
        cache(org)(token)
    org.drill("repair")
    cache(org)(token)


def test_okta_client_python_fetches_the_keys_of_each_sign_in(org):
    first = kid(asyncio.run(okta_client_sign_in(org))[1].id_token.raw)
    org.drill("replace")
    org.drill("replace")
    assert kid(asyncio.run(okta_client_sign_in(org))[1].id_token.raw) != first


def test_idpyoidc_fetches_again_for_a_key_that_it_does_not_know(org):
    client = idpyoidc_client(org)
    idpyoidc_sign_in(org, client)
    before = fetches(org)
    org.drill("replace")
    org.drill("replace")
    idpyoidc_sign_in(org, client)
    assert fetches(org) == before + 1


@pytest.mark.parametrize("value, header", [
    ("long", "max-age=3832304, must-revalidate"), ("short", "max-age=60, must-revalidate"),
    ("none", "no-cache, no-store")])
def test_the_switch_says_how_long_keys_may_be_kept(org, value, header):
    org.switch("okta.keys-cache-control", value)
    assert requests.get(org.endpoint("keys")).headers["cache-control"] == header


def test_keys_have_six_texts_each_and_thumbprints_for_names(org):
    for key in org.keys["keys"]:
        assert set(key) == {"alg", "e", "kid", "kty", "n", "use"}
        assert {type(value) for value in key.values()} == {str}
        assert KeySet.import_key_set({"keys": [key]}).keys[0].thumbprint() == key["kid"]
        assert re.fullmatch("[A-Za-z0-9_-]{43}", key["kid"])
